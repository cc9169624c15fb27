"""plurank predict."""

import csv
import json
from io import StringIO

import numpy as np
import polars as pl
import pytest

import plurank

PAIRS = ("user,left,right", "7,1,2", "8,3,4", "nobody,5,0")


def test_predict_prints_csv_with_the_models_probabilities(run, write, model_file, easy_model):
    rows = list(csv.DictReader(StringIO(run("predict", model_file, write("pairs.csv", *PAIRS)).stdout)))
    assert [row["user"] for row in rows] == ["7", "8", "nobody"]
    frame = pl.DataFrame({"user": [7, 8, -1], "left": [1, 3, 5], "right": [2, 4, 0]})
    assert [float(row["probability"]) for row in rows] == easy_model.predict_proba(frame).tolist()


def test_predict_prints_rows_as_json(run, write, model_file):
    rows = json.loads(run("predict", model_file, write("pairs.csv", *PAIRS), "--json").stdout)
    assert [row["left"] for row in rows] == ["1", "3", "5"]
    assert all(0 <= row["probability"] <= 1 for row in rows)


def test_predict_reads_a_model_of_either_method(run, write, mixed_file, mixed_model):
    rows = json.loads(run("predict", mixed_file, write("pairs.csv", *PAIRS), "--json").stdout)
    frame = pl.DataFrame({"user": [7, 8, -1], "left": [1, 3, 5], "right": [2, 4, 0]})
    assert [row["probability"] for row in rows] == mixed_model.predict_proba(frame).tolist()


def test_predict_writes_a_file_and_keeps_stdout_empty(run, write, model_file, tmp_path):
    pairs = write("pairs.csv", *PAIRS)
    printed = run("predict", model_file, pairs).stdout
    assert run("predict", model_file, pairs, "-o", tmp_path / "out.csv").stdout == ""
    assert (tmp_path / "out.csv").read_text() == printed
    run("predict", model_file, pairs, "-o", tmp_path / "out.parquet")
    assert pl.read_parquet(tmp_path / "out.parquet").columns == ["user", "left", "right", "probability"]


def test_predict_understands_other_column_names(run, write, model_file):
    lines = [line.replace("user,left,right", "judge,first,model_b") for line in PAIRS]
    result = run("predict", model_file, write("pairs.csv", *lines), "--column", "left=first")
    assert result.stdout == run("predict", model_file, write("plain.csv", *PAIRS)).stdout


def test_predict_gives_nothing_for_no_pairs(run, write, model_file):
    assert run("predict", model_file, write("pairs.csv", PAIRS[0])).stdout == "user,left,right,probability\n"


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (
            ["user,left,right", "7,1,sushi"],
            "pairs.csv: row 1: right is an item the model does not know ('sushi')",
        ),
        (["user,left,right", "7,1,2", "7,3,3"], "row 2: left and right are the same item"),
        (["user,winner,loser", "7,1,2"], "no column for the left"),
        ([], "pairs.csv is empty"),
    ],
)
def test_predict_refuses_bad_pairs_with_a_sentence(refuse, write, model_file, lines, sentence):
    assert sentence in refuse("predict", model_file, write("pairs.csv", *lines))


def test_predict_refuses_a_model_that_is_none(refuse, write, votes):
    assert "not a plurank model" in refuse("predict", votes, write("pairs.csv", *PAIRS))


def test_predict_does_not_write_over_its_inputs(refuse, write, model_file):
    pairs = write("pairs.csv", *PAIRS)
    assert "also the input" in refuse("predict", model_file, pairs, "-o", pairs)


def test_predict_leaves_no_half_file_when_writing_fails(run, write, model_file, tmp_path, monkeypatch):
    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    result = run("predict", model_file, write("pairs.csv", *PAIRS), "-o", tmp_path / "out.csv", code=2)
    assert "No space left on device" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.csv"]


def test_predict_gives_ratings_when_it_is_given_ratings(run, write, model_file, easy_model):
    stars = np.random.default_rng(0).integers(1, 6, (30, 6)).tolist()
    rows = [(user, item, stars[user][item]) for user in range(30) for item in range(6)]
    ratings = write("ratings.csv", "user,item,stars", *(",".join(map(str, row)) for row in rows))
    asked = write("asked.csv", "user,item", "7,1", "nobody,nothing")
    found = json.loads(run("predict", model_file, asked, "--ratings", ratings, "--json").stdout)
    frame = pl.DataFrame(rows, schema=["user", "item", "rating"], orient="row")
    expected = plurank.RatingPredictor(easy_model).fit(frame).predict(pl.DataFrame({"user": [7, -1], "item": [1, -1]}))
    np.testing.assert_allclose([row["rating"] for row in found], expected)
    assert found[1]["user"] == "nobody"


def test_predict_refuses_ratings_and_questions_of_another_form(refuse, write, model_file):
    ratings = write("ratings.csv", "user,item,rating", "1,2,5", "1,3,4")
    pairs = write("pairs.csv", *PAIRS)
    assert "pairs.csv" in refuse("predict", model_file, pairs, "--ratings", ratings)
    asked = write("asked.csv", "user,item", "1,2")
    assert "pairs.csv" in refuse("predict", model_file, asked, "--ratings", pairs)
    assert "asked.csv is also the input" in refuse("predict", model_file, asked, "--ratings", ratings, "-o", asked)
