"""Commands on stores: fit, evaluate, select, transform, and fits that go on."""

import json
import signal
import time

import polars as pl
import pytest

import plurank
from tests.contracts.equality import assert_same_model


@pytest.fixture
def store(votes, tmp_path):
    return plurank.ingest(votes, tmp_path / "votes.store").path


def test_a_store_is_fitted_as_the_file_it_was_made_from(run, few_votes, tmp_path):
    plurank.ingest(few_votes, tmp_path / "few.store")
    for source in (few_votes, tmp_path / "few.store"):
        told = run("fit", source, "-k", 2, "-o", tmp_path / f"{source.name}.plurank", "--json")
        assert json.loads(told.stdout)["data"]["n_users"] == plurank.read_comparisons(few_votes).n_users
    assert_same_model(*(plurank.load(file) for file in sorted(tmp_path.glob("*.plurank"))), apart_from=["data_"])


def test_the_papers_method_takes_a_store(run, store, votes, tmp_path):
    for source in (votes, store):
        run("fit", source, "-k", 3, "--method", "topic", "-o", tmp_path / f"{source.name}.plurank")
    assert_same_model(*(plurank.load(file) for file in sorted(tmp_path.glob("*.plurank"))), apart_from=["data_"])


def test_evaluate_takes_a_store(run, store, votes, model_file):
    here, there = (json.loads(run("evaluate", model_file, data, "--json").stdout) for data in (votes, store))
    assert here.keys() == there.keys()
    for name in ("log_likelihood", "accuracy"):
        assert here.pop(name) == pytest.approx(there.pop(name), abs=1e-12)
    assert here == there


@pytest.mark.parametrize("which", ["votes", "store"])
def test_transform_writes_the_weights_of_everybody(which, run, request, model_file, easy_model, easy, tmp_path):
    source = request.getfixturevalue(which)
    told = json.loads(run("transform", model_file, source, "-o", tmp_path / "weights.parquet", "--json").stdout)
    assert told["n_users"] == 800
    table = pl.read_parquet(tmp_path / "weights.parquet")
    assert table.columns == ["user", "ranking 1", "ranking 2", "ranking 3"]
    assert table.drop("user").to_numpy() == pytest.approx(easy_model.transform(easy.comparisons))
    assert "weights of 800 users" in run("transform", model_file, source, "-o", tmp_path / "weights.parquet").stdout


def test_transform_refuses_other_kinds_of_files(refuse, votes, model_file, tmp_path):
    assert "ending in .csv, .parquet" in refuse("transform", model_file, votes, "-o", tmp_path / "weights.txt")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--engine", "dask"), "--engine dask requires a store"),
        (("--scheduler", "tcp://127.0.0.1:1"), "--scheduler requires --engine dask"),
        (("--checkpoint", "folder"), "checkpoints require a store"),
        (("--method", "topic", "--checkpoint", "folder"), "belong to --method mixed"),
    ],
)
def test_options_for_stores_are_refused_for_files(options, message, refuse, votes, tmp_path):
    assert message in refuse("fit", votes, "-k", 2, "-o", tmp_path / "m.plurank", *options)


def test_options_of_ingest_are_refused_for_a_store(refuse, store, tmp_path):
    said = refuse("fit", store, "-k", 2, "-o", tmp_path / "m.plurank", "--column", "user=voter")
    assert "use --column and --ties with `plurank ingest`" in said


def test_a_folder_that_is_no_store_is_refused(refuse, tmp_path):
    (tmp_path / "folder").mkdir()
    assert "is not a store" in refuse("fit", tmp_path / "folder", "-k", 2, "-o", tmp_path / "m.plurank")


def test_a_fit_stopped_by_ctrl_c_says_how_to_go_on_and_does(run, start, tmp_path):
    file = tmp_path / "votes.csv"
    plurank.simulate(300, 12, 3, 30, random_state=0).comparisons.to_frame().write_csv(file)
    store = plurank.ingest(file, tmp_path / "votes.store").path
    command = ("fit", store, "-k", 3, "--mixing", "utility", "-o", tmp_path / "m.plurank")
    command = (*command, "--checkpoint", tmp_path / "kept", "--ensemble", 3)  # more fits, so that there is time to stop
    process = start(*command)
    for _ in range(6000):
        if (tmp_path / "kept" / "checkpoint.npz").exists() or process.poll() is not None:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    if (tmp_path / "m.plurank").exists():
        pytest.skip("the fit was done before it could be stopped")
    assert process.returncode == 130
    assert "with --resume to continue" in said
    run(*command, "--resume")
    assert not (tmp_path / "kept").exists()
    whole = plurank.MixedRanking(3, mixing="utility", ensemble=3, random_state=0).fit(plurank.open_store(store))
    assert_same_model(plurank.load(tmp_path / "m.plurank"), whole)
