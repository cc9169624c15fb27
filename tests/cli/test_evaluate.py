"""plurank evaluate."""

import json

import pytest


def test_evaluate_gives_the_models_scores(run, votes, model_file, easy, easy_model):
    found = json.loads(run("evaluate", model_file, votes, "--json").stdout)
    assert found["log_likelihood"] == pytest.approx(easy_model.score(easy.comparisons))
    assert found["accuracy"] == pytest.approx(easy_model.accuracy(easy.comparisons))
    assert found["n_comparisons"] == 40_000
    assert found["known_users_share"] == 1.0
    assert found["guessing"] == {"log_likelihood": pytest.approx(-0.6931, abs=1e-4), "accuracy": 0.5}


def test_evaluate_reads_a_model_of_either_method(run, few_votes, mixed_file, few, mixed_model):
    found = json.loads(run("evaluate", mixed_file, few_votes, "--json").stdout)
    assert found["log_likelihood"] == pytest.approx(mixed_model.score(few.comparisons))
    assert found["accuracy"] == pytest.approx(mixed_model.accuracy(few.comparisons))
    assert f"{mixed_model.score(few.comparisons):.3f}" in run("evaluate", mixed_file, few_votes).stdout


def test_evaluate_prints_scores_beside_guessing(run, votes, model_file, easy, easy_model):
    text = run("evaluate", model_file, votes).stdout
    assert f"{easy_model.score(easy.comparisons):.3f}" in text
    assert "-0.693" in text
    assert "0.500" in text
    assert "800 of 800 (100%)" in text


def test_evaluate_says_when_guessing_is_better(run, votes, model_file, easy, tmp_path):
    assert "Worse than guessing" not in run("evaluate", model_file, votes).stdout
    frame = easy.comparisons.to_frame()
    frame.rename({"winner": "loser", "loser": "winner"}).write_csv(tmp_path / "swapped.csv")
    assert "Worse than guessing" in run("evaluate", model_file, tmp_path / "swapped.csv").stdout


def test_evaluate_counts_users_the_model_does_not_know(run, write, model_file):
    test = write("test.csv", "user,winner,loser", "7,1,2", "7,3,2", "stranger,1,2", "other,2,1")
    found = json.loads(run("evaluate", model_file, test, "--json").stdout)
    assert (found["n_users"], found["n_known_users"]) == (3, 1)
    assert "population's mean weights" in run("evaluate", model_file, test).stdout


def test_evaluate_refuses_items_the_model_does_not_know(refuse, write, model_file):
    test = write("test.csv", "user,winner,loser", "7,1,sushi")
    assert "test.csv: the model does not know 1 of the items compared ('sushi')" in refuse("evaluate", model_file, test)


def test_evaluate_refuses_a_test_file_that_is_not_there(refuse, model_file, tmp_path):
    assert "there is no such file" in refuse("evaluate", model_file, tmp_path / "no.csv")
