"""plurank simulate."""

import json

import polars as pl
import pytest

import plurank

SMALL = ("--users", 300, "--items", 8, "-k", 2, "--per-user", 40)


def test_simulate_writes_what_the_library_draws(run, tmp_path):
    run("simulate", "-o", tmp_path / "votes.csv", *SMALL, "--seed", 4, "--concentration", 0.5)
    made = plurank.simulate(300, 8, 2, 40, 0.5, random_state=4)
    assert pl.read_csv(tmp_path / "votes.csv").equals(made.comparisons.to_frame())


def test_simulate_writes_parquet_by_the_names_ending(run, tmp_path):
    run("simulate", "-o", tmp_path / "votes.csv", *SMALL)
    run("simulate", "-o", tmp_path / "votes.parquet", *SMALL)
    assert pl.read_parquet(tmp_path / "votes.parquet").equals(pl.read_csv(tmp_path / "votes.csv"))


def test_fit_finds_the_truth_that_simulate_wrote_down(run, tmp_path):
    run("simulate", "-o", tmp_path / "votes.csv", "--truth", tmp_path / "truth.json", *SMALL)
    truth = json.loads((tmp_path / "truth.json").read_text())
    found = json.loads(run("fit", tmp_path / "votes.csv", "-k", 2, "-o", tmp_path / "m", "--json").stdout)
    rankings = [ranking["items"] for ranking in found["rankings"]]
    assert plurank.ranking_error(rankings, truth["rankings"]) == pytest.approx(0, abs=1e-9)
    assert sum(truth["mean_weights"]) == pytest.approx(1)
    assert len(truth["users"]) == len(truth["user_weights"]) == 300


def test_simulate_says_what_it_wrote(run, tmp_path):
    text = run("simulate", "-o", tmp_path / "votes.csv", *SMALL).stdout
    assert "12,000 comparisons of 300 users and 8 items" in " ".join(text.split())
    found = json.loads(run("simulate", "-o", tmp_path / "votes.csv", *SMALL, "--json").stdout)
    assert found["n_comparisons"] == 12_000


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (("-o", "votes.xls"), ".csv, .parquet"),
        (("-o", "nowhere/votes.csv"), "there is no folder"),
        (("-o", "votes.csv", "--truth", "votes.csv"), "the same file"),
        (("-o", "votes.csv", "--truth", "nowhere/truth.json"), "there is no folder"),
        (("-o", "votes.csv", "--concentration", "nan"), "concentration"),
        (("-o", "votes.csv", "--users", "0"), "--users"),
    ],
)
def test_simulate_refuses_what_makes_no_sense(refuse, tmp_path, monkeypatch, args, sentence):
    monkeypatch.chdir(tmp_path)
    assert sentence in refuse("simulate", *args)
