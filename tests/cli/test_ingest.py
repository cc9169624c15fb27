"""plurank ingest, and plurank show of what it makes."""

import json
import signal
import sys
import time

import numpy as np
import polars as pl
import pytest

import plurank

VOTES = ("user,winner,loser", "ann,tea,coffee", "bob,coffee,tea", "ann,tea,cocoa", "cleo,🍵,tea")


def same(left, right):
    return left.to_frame().equals(right.to_frame())


def test_ingest_makes_a_store_of_what_would_be_read(run, write, tmp_path):
    file = write("votes.csv", *VOTES)
    result = run("ingest", file, "-o", tmp_path / "votes.store")
    assert " ".join(result.stdout.split()) == (
        f"Wrote {tmp_path / 'votes.store'}: 4 comparisons of 3 users and 4 items, in 1 shard. "
        f"Next: plurank show {tmp_path / 'votes.store'}"
    )
    assert same(plurank.open_store(tmp_path / "votes.store").to_comparisons(), plurank.read_comparisons(file))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["votes.csv", "votes.store"]


def test_ingest_reads_files_of_a_folder_whose_name_looks_like_a_glob(run, tmp_path):
    (tmp_path / "votes [1]").mkdir()
    (tmp_path / "votes [1]" / "votes.csv").write_text("\n".join(VOTES))
    store = tmp_path / "votes [1]" / "votes.store"
    run("ingest", tmp_path / "votes [1]" / "votes.csv", "-o", store)
    assert same(plurank.open_store(store).to_comparisons(), plurank.read_comparisons(store.with_name("votes.csv")))


def test_ingest_takes_several_files_globs_columns_and_ties(run, write, tmp_path):
    for name in ("a.csv", "b.csv"):
        write(name, "who,left,right,winner", "u,x,y,tie", f"{name},x,y,left")
    store = tmp_path / "store"
    args = ("--column", "user=who", "--ties", "drop", "--memory", "1GB", "--json")
    found = json.loads(run("ingest", tmp_path / "*.csv", "-o", store, *args).stdout)
    size = found.pop("n_bytes")
    assert size > 100
    expected = {
        "output": str(store), "n_users": 2, "n_items": 2, "n_comparisons": 2, "min_per_user": 1, "median_per_user": 1.0,
        "max_per_user": 1, "is_weighted": False, "total_weight": 2.0, "n_shards": 1,
        "excluded": [{"what": "row", "n": 2, "total": 4, "reason": "ties"}],
    }  # fmt: skip
    assert {name: found[name] for name in expected} == expected
    assert found == {**expected, **plurank.open_store(store).summary()}
    assert plurank.open_store(store).users.tolist() == ["a.csv", "b.csv"]


def test_show_describes_a_store(run, write, tmp_path):
    run("ingest", write("votes.csv", *(f"{line},{n + 1}" if n else f"{line},weight" for n, line in enumerate(VOTES))),
        "-o", tmp_path / "store")  # fmt: skip
    lines = [line.split() for line in run("show", tmp_path / "store").stdout.splitlines()]
    assert ["users", "3"] in lines
    assert ["items", "4"] in lines
    assert ["comparisons", "4"] in lines
    assert ["total", "weight", "14"] in lines
    assert ["shards", "1"] in lines
    found = json.loads(run("show", tmp_path / "store", "--json").stdout)
    assert (found["n_users"], found["total_weight"], found["max_per_user"]) == (3, 14.0, 2)


def test_show_refuses_a_damaged_store_and_a_user_of_a_store(run, refuse, write, tmp_path):
    run("ingest", write("votes.csv", *VOTES), "-o", tmp_path / "store")
    assert "--user requires a model file, but store is not one" in refuse("show", tmp_path / "store", "--user", "ann")
    (tmp_path / "store" / "items.parquet").write_bytes(b"")
    assert f"{tmp_path / 'store' / 'items.parquet'} is damaged" in refuse("show", tmp_path / "store")
    (tmp_path / "store" / "manifest.json").unlink()
    assert "is not a store" in refuse("show", tmp_path / "store")


def test_ingest_replaces_a_store_only_if_asked_to(run, refuse, write, tmp_path):
    file = write("votes.csv", *VOTES)
    run("ingest", file, "-o", tmp_path / "store")
    assert "--overwrite" in refuse("ingest", file, "-o", tmp_path / "store")
    write("votes.csv", *VOTES[:3])
    run("ingest", file, "-o", tmp_path / "store", "--overwrite")
    assert len(plurank.open_store(tmp_path / "store")) == 2


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (("user,winner,loser", "u,a,a"), "votes.csv: row 1: an item is compared with itself ('a'). Drop such rows."),
        (("user,thing", "u,a"), "--column user=NAME --column winner=NAME --column loser=NAME"),
        ((), "votes.csv is empty"),
    ],
)
def test_ingest_refuses_bad_data_and_leaves_nothing(refuse, write, tmp_path, lines, sentence):
    assert sentence in refuse("ingest", write("votes.csv", *lines), "-o", tmp_path / "store")


def test_ingest_refuses_options_that_make_no_sense(run, refuse, write, tmp_path):
    file = write("votes.csv", *VOTES)
    store = tmp_path / "store"
    lots = refuse("ingest", file, "-o", store, "--memory", "lots")
    assert lots.startswith("Error: --memory must be a size such as '2GB' or '800MB', got 'lots'.")
    assert "--memory must be at least 500MB, got '1MB'." in refuse("ingest", file, "-o", store, "--memory", "1MB")
    assert "there is no such file" in refuse("ingest", tmp_path / "no.csv", "-o", tmp_path / "store")
    assert "there is no folder" in refuse("ingest", file, "-o", tmp_path / "no" / "store")
    assert "exists and is not a store" in refuse("ingest", file, "-o", file)
    run("ingest", file, "-o", store)
    sentence = "store already exists. Use another name, or replace it with --overwrite."
    assert sentence in " ".join(refuse("ingest", file, "-o", store).split())


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent as a POSIX signal")
def test_ctrl_c_leaves_what_the_same_command_goes_on_with(start, run, tmp_path):
    rng = np.random.default_rng(0)
    users, winners = rng.integers(0, 10**6, 10**6), rng.integers(0, 50, 10**6)
    data, store = tmp_path / "votes.csv", tmp_path / "store"
    pl.DataFrame({"user": users, "winner": winners, "loser": winners + 1}).write_csv(data)
    command = ("ingest", data, "-o", store, "--memory", "500MB")
    process = start(*command)
    while not (tmp_path / "store.part" / "runs" / "000000" / "run.json").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, complaint = process.communicate(timeout=60)
    assert process.returncode == 130, complaint
    assert output == ""
    assert complaint.strip().endswith(
        f"Stopped; progress is stored in {store}.part; run the same command again to resume."
    )
    assert not store.exists()
    run(*command)
    assert same(plurank.open_store(store).to_comparisons(), plurank.read_comparisons(data))


def test_ingest_and_show_say_what_was_left_out(run, write, tmp_path):
    file = write("votes.csv", "user,left,right,winner", "u,x,y,tie", "u,x,y,left")
    assert "1 of 2 rows left out: ties." in run("ingest", file, "-o", tmp_path / "store", "--ties", "drop").stdout
    assert "1 of 2 rows: ties" in run("show", tmp_path / "store").stdout


@pytest.mark.filterwarnings("ignore::plurank.ConvergenceWarning")  # chains are short
def test_ingest_makes_a_store_of_ratings_that_fit_and_show_read(run, write, tmp_path):
    rows = [f"u{user},i{item},{1 + (user * item) % 5}" for user in range(12) for item in range(4)]
    file, store = write("stars.csv", "user,item,rating", *rows, "u0,i9,"), tmp_path / "stars.store"
    result = run("ingest", file, "-o", store)
    assert " ".join(result.stdout.split()) == (
        f"Wrote {store}: 12 users, 4 items, 48 ratings, in 1 shard. ! 1 of 49 rows left out: without a rating. "
        f"Next: plurank show {store}"
    )
    shown = [line.split() for line in run("show", store).stdout.splitlines()]
    assert ["ratings", "48"] in shown
    found = json.loads(run("show", store, "--json").stdout)
    assert (found["kind"], found["n_comparisons"], found["n_unranked"]) == ("rating", 48, 0)
    fit = ("-k", "1", "--factors", "0", "--max-iter", "4")
    for source, model in ((store, "disk.plurank"), (file, "memory.plurank")):
        run("fit", source, "-o", tmp_path / model, *fit)
    disk, memory = (plurank.load(tmp_path / f"{name}.plurank") for name in ("disk", "memory"))
    np.testing.assert_array_equal(disk.scores_, memory.scores_)


@pytest.mark.parametrize(("listed", "n_unranked"), [("all", 1), ("offered.txt", 3)])
def test_ingest_adds_items_on_offer(listed, n_unranked, run, write, tmp_path):
    file = write("ballots.csv", "user,item,rank", "1,7,1", "1,8,2", "2,7,1")
    write("offered.txt", "7", "8", "9")
    offered = listed if listed == "all" else tmp_path / listed
    found = json.loads(run("ingest", file, "-o", tmp_path / "store", "--offered", offered, "--json").stdout)
    assert (found["kind"], found["n_unranked"]) == ("rank", n_unranked)
    assert ["offered,", "not", "ranked", str(n_unranked)] in [
        line.split() for line in run("show", tmp_path / "store").stdout.splitlines()
    ]
