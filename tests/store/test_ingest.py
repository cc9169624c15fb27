"""The law of the store: what is ingested in pieces is what would have been read at once."""

import gzip
import json
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plurank
from plurank import Comparisons, open_store, read_comparisons
from plurank.store.batches import Budget
from tests.data.test_laws import data_sets
from tests.store.ingesting import build, content

quickly = settings(max_examples=15, deadline=None)
DIGITS = st.sampled_from(["7", "10", "9", "-3", "007", "x", "8", "+1", "99999999999999999999"])


def write(frame, path):
    """Write a frame as the ending of the name says."""
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    writers = {
        ".csv": frame.write_csv,
        ".tsv": lambda target: frame.write_csv(target, separator="\t"),
        ".parquet": frame.write_parquet,
        ".jsonl": frame.write_ndjson,
    }
    writers[plain.suffix](plain)
    if plain != path:
        path.write_bytes(gzip.compress(plain.read_bytes()))
        plain.unlink()
    return path


def cut(frame, cuts):
    """Cut a frame into parts that all have rows."""
    edges = sorted({0, len(frame), *(round(cut * len(frame)) for cut in cuts)})
    return [frame[begin:end] for begin, end in pairwise(edges)]


@quickly
@given(
    data=data_sets(),
    ending=st.sampled_from(["csv", "tsv", "parquet", "jsonl", "csv.gz", "parquet.gz", "jsonl.gz"]),
    cuts=st.lists(st.floats(0, 1), max_size=2),
)
def test_a_store_is_what_would_have_been_read_at_once(data, ending, cuts, assert_same, tmp_path_factory):
    folder, frame = tmp_path_factory.mktemp("law"), pl.DataFrame(data)
    parts = [write(part, folder / f"part-{n}.{ending}") for n, part in enumerate(cut(frame, cuts))]
    store = build(parts, folder / "store")
    assert_same(store.to_comparisons(), read_comparisons(write(frame, folder / f"whole.{ending}")))
    assert store.rated is None


@quickly
@given(
    rows=st.lists(st.tuples(DIGITS, DIGITS, DIGITS).filter(lambda row: row[1] != row[2]), min_size=1, max_size=30),
    cuts=st.lists(st.floats(0, 1), max_size=2),
)
def test_ids_of_text_files_are_numbers_only_if_all_of_them_are(rows, cuts, assert_same, tmp_path_factory):
    folder = tmp_path_factory.mktemp("law")
    frame = pl.DataFrame(rows, schema=["user", "winner", "loser"], orient="row")
    parts = [write(part, folder / f"part-{n}.csv") for n, part in enumerate(cut(frame, cuts))]
    assert_same(build(parts, folder / "store").to_comparisons(), read_comparisons(write(frame, folder / "whole.csv")))


def attempt(work, *args, **options):
    """Give what comes out, or the sentence with which it is refused."""
    try:
        return work(*args, **options)
    except plurank.DataError as error:
        return str(error)


@quickly
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from("uvw"),
            st.permutations(["a", "b", "c", "left"]),
            st.sampled_from([0, 1, 2]),
            st.sampled_from([0.5, 1.0, 2.0]),
        ),
        min_size=1,
        max_size=30,
    ),
    names_items=st.booleans(),
    ties=st.sampled_from(["half", "drop"]),
    is_weighted=st.booleans(),
    ending=st.sampled_from(["csv", "parquet"]),
)
def test_outcomes_ties_and_weights_are_read_as_they_would_be_at_once(
    rows, names_items, ties, is_weighted, ending, assert_same, tmp_path_factory
):
    frame = pl.DataFrame(
        {
            "user": [row[0] for row in rows],
            "left": [row[1][0] for row in rows],
            "right": [row[1][1] for row in rows],
            "winner": [(*(row[1][:2] if names_items else ("left", "right")), "tie")[row[2]] for row in rows],
            "weight": [row[3] for row in rows],
        }
    )
    folder = tmp_path_factory.mktemp("law")
    path = write(frame if is_weighted else frame.drop("weight"), folder / f"votes.{ending}")
    expected, store = attempt(read_comparisons, path, ties=ties), attempt(build, path, folder / "store", ties=ties)
    if isinstance(expected, str):
        assert store in (expected, expected.removeprefix(f"{path.name}: "))
    else:
        assert_same(store.to_comparisons(), expected)
        assert store.total_weight == expected.total_weight
        assert store.is_weighted == (expected.weights is not None)


def test_signed_comparisons_and_named_columns_are_ingested(tmp_path, assert_same):
    frame = pl.DataFrame(
        {"who": list("abcabc"), "l": list("xyzxyz"), "r": list("yzxzxy"), "sign": [1, 0, -1, 1, 0, -2]}
    )
    path = write(frame, tmp_path / "votes.csv")
    columns = {"user": "who", "left": "l", "right": "r", "comparison": "sign"}
    store = build(path, tmp_path / "store", columns=columns)
    assert_same(store.to_comparisons(), read_comparisons(path, columns=columns))


def test_files_of_different_forms_go_into_one_store(tmp_path, triples):
    first = write(pl.DataFrame({"user": ["u"], "winner": ["a"], "loser": ["b"]}), tmp_path / "1.csv")
    sides = {"judge": ["u", "v"], "model_a": ["c", "a"], "model_b": ["a", "b"], "winner": ["model_b", "tie"]}
    second = write(pl.DataFrame(sides), tmp_path / "2.parquet")
    store = build([first, second], tmp_path / "store")
    assert triples(store.to_comparisons()) == [
        ("u", "a", "b", 1),
        ("u", "a", "c", 1),
        ("v", "a", "b", 0.5),
        ("v", "b", "a", 0.5),
    ]


def test_whole_numbers_of_text_files_join_those_of_typed_files(tmp_path, triples):
    first = write(pl.DataFrame({"user": ["9", "10"], "winner": ["a", "b"], "loser": ["b", "a"]}), tmp_path / "1.csv")
    second = write(pl.DataFrame({"user": [9], "winner": ["b"], "loser": ["a"]}), tmp_path / "2.parquet")
    expected = [(9, "a", "b"), (9, "b", "a"), (10, "b", "a")]
    assert triples(build([first, second], tmp_path / "store").to_comparisons()) == expected


def test_numbers_that_a_typed_file_says_are_text_stay_text(tmp_path):
    frame = pl.DataFrame({"user": ["9", "10"], "winner": ["1", "2"], "loser": ["2", "1"]})
    paths = [write(frame, tmp_path / "1.csv"), write(frame, tmp_path / "2.parquet")]
    store = build(paths, tmp_path / "store")
    assert store.users.tolist() == ["10", "9"]
    assert store.items.tolist() == ["1", "2"]


def test_a_json_line_may_lack_what_nobody_asks_for(tmp_path, triples):
    votes = [{"user": n, "winner": "a", "loser": "b", **({"note": 1} if n == 7 else {})} for n in range(9)]
    (tmp_path / "votes.jsonl").write_text("\n".join(json.dumps(vote) for vote in votes))
    store = build(tmp_path / "votes.jsonl", tmp_path / "store")
    assert triples(store.to_comparisons()) == [(n, "a", "b") for n in range(9)]


def test_columns_nobody_asks_for_are_not_read(tmp_path, triples):
    frame = pl.DataFrame({"user": ["u"] * 9, "winner": ["a"] * 9, "loser": ["b"] * 9, "text": [["long"] * 99] * 9})
    store = build(write(frame, tmp_path / "votes.parquet"), tmp_path / "store")
    assert triples(store.to_comparisons()) == [("u", "a", "b")] * 9


def test_files_globs_and_folders_are_ingested_in_order(tmp_path, triples):
    for name in ("b.csv", "a.csv", "c.tsv", "_notes.csv", ".hidden.csv", "readme.md"):
        separator = "\t" if name.endswith("tsv") else ","
        (tmp_path / name).write_text(f"user,winner,loser\nu,{name},x\n".replace(",", separator))
    for inputs in (
        tmp_path,
        [tmp_path / "*.csv", tmp_path / "c.tsv"],
        [str(tmp_path / "[ab].csv"), tmp_path / "c.tsv"],
    ):
        c = build(inputs, tmp_path / "store", overwrite=True).to_comparisons()
        expected = ["_notes.csv"] * ("*" in str(inputs)) + ["a.csv", "b.csv", "c.tsv"]
        assert [row[1] for row in triples(c)] == expected


def test_items_whose_hashes_are_equal_stay_apart(tmp_path, monkeypatch, assert_same):
    rows = [(f"u{n % 3}", f"i{n % 7}", f"i{(n + 1) % 7}") for n in range(40)]
    path = write(pl.DataFrame(rows, ["user", "winner", "loser"], orient="row"), tmp_path / "votes.csv")
    expected = build(path, tmp_path / "expected")
    monkeypatch.setattr(pl.Series, "hash", lambda series: pl.Series(np.zeros(len(series), np.uint64)))
    store = build(path, tmp_path / "store")
    assert content(store.path) == content(expected.path)
    assert_same(store.to_comparisons(), read_comparisons(path))


@pytest.mark.parametrize("name", ["votes [1]", "what?", "a*b"])
@pytest.mark.parametrize("file", ["v.csv", "v.csv.gz", "v.tsv", "v.parquet", "v.parquet.gz", "v.jsonl", "v.jsonl.gz"])
def test_a_folder_whose_name_looks_like_a_glob_holds_files_like_any_other(tmp_path, name, file):
    rows = pl.DataFrame([("u", "a", "b"), ("v", "b", "a")], ["user", "winner", "loser"], orient="row")
    (tmp_path / name).mkdir()
    (tmp_path / "votes 1").mkdir()  # which the name would mean as a glob
    write(rows.reverse(), tmp_path / "votes 1" / file)
    path = write(rows, tmp_path / name / file)
    assert read_comparisons(path).to_frame().equals(rows)
    for inputs in (path, path.with_name(f"*.{file.partition('.')[2]}"), path.parent):
        store = plurank.ingest(inputs, path.with_name("made"), overwrite=True)
        assert open_store(store.path).to_comparisons().to_frame().equals(rows)


def test_a_file_whose_name_looks_like_a_glob_is_itself(tmp_path):
    path = write(pl.DataFrame({"user": ["u"], "winner": ["a"], "loser": ["b"]}), tmp_path / "votes[1].csv")
    assert len(build(path, tmp_path / "store")) == 1


def test_records_longer_than_a_piece_of_text_are_read(tmp_path, assert_same):
    frame = pl.DataFrame({"user": ["u", "two\nlines " * 50, "v"], "winner": ["a"] * 3, "loser": ["b"] * 3})
    path = write(frame, tmp_path / "votes.csv")
    assert_same(build(path, tmp_path / "store").to_comparisons(), read_comparisons(path))


def test_users_with_very_many_comparisons_have_shards_of_their_own(tmp_path, assert_same):
    users = ["b"] * 30 + ["a", "c", "d"] * 2
    frame = pl.DataFrame({"user": users, "winner": ["x"] * 36, "loser": ["y"] * 36})
    path = write(frame.sample(fraction=1, shuffle=True, seed=0), tmp_path / "votes.parquet")
    store = build(path, tmp_path / "store")
    assert store.n_shards == 3
    assert_same(store.to_comparisons(), read_comparisons(path))


def test_a_store_does_not_depend_on_the_memory_given(tmp_path, assert_same):
    people = plurank.simulate(200, 10, 2, 20, random_state=0).comparisons
    path = write(people.to_frame(), tmp_path / "votes.parquet")
    whole = plurank.ingest(path, tmp_path / "whole", memory="500MB")
    assert whole.n_shards == 1
    assert_same(whole.to_comparisons(), read_comparisons(path))
    pieces = build(
        path, tmp_path / "pieces", budget=Budget(data_bytes=10**9, text_bytes=1, batch_rows=700, shard_rows=900)
    )
    assert pieces.n_shards > 4
    assert_same(pieces.to_comparisons(), whole.to_comparisons())


def test_progress_goes_from_reading_to_sorting_and_only_forward(tmp_path):
    frame = pl.DataFrame({"user": [*range(20)], "winner": ["a"] * 20, "loser": ["b"] * 20})
    paths = [write(frame, tmp_path / "1.csv"), write(frame, tmp_path / "2.csv.gz")]
    told = []
    build(paths, tmp_path / "store", on_progress=lambda stage, done: told.append((stage, done)))
    stages = list(dict.fromkeys(stage for stage, _ in told))
    assert stages == ["reading 1.csv", "reading 2.csv.gz", "sorting users"]
    for begin in ("reading", "sorting"):
        shares = [done for stage, done in told if stage.startswith(begin)]
        assert shares == sorted(shares)
        assert shares[-1] == 1


def test_a_store_that_is_there_is_replaced_only_if_asked_for(tmp_path):
    first = write(pl.DataFrame({"user": ["u"], "winner": ["a"], "loser": ["b"]}), tmp_path / "1.csv")
    second = write(pl.DataFrame({"user": ["u", "v"], "winner": ["a", "a"], "loser": ["b", "b"]}), tmp_path / "2.csv")
    build(first, tmp_path / "store")
    with pytest.raises(plurank.DataError, match=r"store already exists\. .*replace it with overwrite=True\."):
        build(second, tmp_path / "store")
    assert len(open_store(tmp_path / "store")) == 1
    assert len(build(second, tmp_path / "store", overwrite=True)) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.csv", "2.csv", "store"]


def test_what_is_no_store_is_never_replaced(tmp_path):
    path = write(pl.DataFrame({"user": ["u"], "winner": ["a"], "loser": ["b"]}), tmp_path / "votes.csv")
    (tmp_path / "photos").mkdir()
    for name in ("photos", "votes.csv"):
        with pytest.raises(plurank.DataError, match="exists and is not a store"):
            build(path, tmp_path / name, overwrite=True)
    (tmp_path / "store.part").mkdir()
    (tmp_path / "store.part" / "plan.json").write_text("{}")
    with pytest.raises(plurank.DataError, match="exists and was not created by an ingest"):
        build(path, tmp_path / "store")


@pytest.mark.parametrize("ids", [np.arange(20, dtype=np.uint8), np.arange(20, dtype=np.int32)])
def test_whole_numbers_of_every_width_become_int64(ids, tmp_path):
    frame = pl.DataFrame({"user": ids, "winner": ids, "loser": np.roll(ids, 1)})
    store = build(write(frame, tmp_path / "votes.parquet"), tmp_path / "store")
    assert store.users.dtype == store.items.dtype == np.int64
    expected = Comparisons.from_frame(frame)
    assert store.users.tolist() == expected.users.tolist()


def test_categories_are_text(tmp_path):
    frame = pl.DataFrame(
        {"user": list("ab"), "winner": list("xy"), "loser": list("yx")}, schema_overrides={"user": pl.Categorical}
    )
    assert build(write(frame, tmp_path / "votes.parquet"), tmp_path / "store").users.tolist() == ["a", "b"]


def test_the_smallest_pieces_do(tmp_path, assert_same):
    people = plurank.simulate(10, 6, 2, 3, random_state=0).comparisons
    path = write(people.to_frame(), tmp_path / "votes.csv")
    store = build(path, tmp_path / "store", budget=Budget(data_bytes=10**6, text_bytes=2, batch_rows=1, shard_rows=1))
    assert store.n_shards == 10
    assert_same(store.to_comparisons(), read_comparisons(path))
