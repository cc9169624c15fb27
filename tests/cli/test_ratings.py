"""Commands on ratings, votes and rankings: fitted directly, and models of them used by all other commands."""

import json

import numpy as np
import polars as pl
import pytest

import plurank
from tests.oracles.simulated_ratings import simulate_ratings

SHORT = ("-k", 2, "--max-iter", 5, "--factors", 0)


@pytest.fixture(scope="module")
def truth():
    return simulate_ratings(60, 8, 1)


@pytest.fixture(scope="module")
def stars(truth, tmp_path_factory):
    """A file of ratings."""
    file = tmp_path_factory.mktemp("stars") / "ratings.csv"
    truth.frame.write_csv(file)
    return file


@pytest.fixture(scope="module")
def fitted(stars, tmp_path_factory):
    """A file of a model of them, which did not converge."""
    file = tmp_path_factory.mktemp("fitted") / "stars.plurank"
    with pytest.warns(plurank.ConvergenceWarning):
        model = plurank.MixedRanking(2, max_iter=5, n_factors=0, random_state=0).fit(plurank.Ratings.from_file(stars))
    model.save(file)
    return file


@pytest.mark.filterwarnings("always::plurank.ConvergenceWarning")
def test_fit_models_ratings_directly_and_says_so(run, stars, fitted, truth, tmp_path):
    result = run("fit", stars, *SHORT, "-o", tmp_path / "m.plurank")
    model, expected = plurank.load(tmp_path / "m.plurank"), plurank.load(fitted)
    assert model.observed_ == "ratings"
    np.testing.assert_array_equal(model.scores_, expected.scores_)
    n = f"{len(truth.frame)} ratings"
    assert f"60 users, 8 items, {n}" in result.stderr
    for words in ("Ranking 1", "Ranking 2", n, "4 thresholds", "R-hat", "m.plurank"):
        assert words in result.stdout
    assert "chains of" in result.stderr
    assert "Try a larger --max-iter." in result.stderr


@pytest.mark.filterwarnings("always::plurank.ConvergenceWarning")
def test_fit_prints_json_of_what_it_observed(run, stars, truth, tmp_path):
    found = json.loads(run("fit", stars, *SHORT, "-o", tmp_path / "m.plurank", "--json").stdout)
    assert found["observed"] == "ratings"
    assert found["settings"]["n_factors"] == 0
    assert found["convergence"]["n_chains"] == 2
    assert found["data"]["n_comparisons"] == found["n_votes"] == len(truth.frame)
    assert found["data"]["n_users"] == 60


@pytest.mark.filterwarnings("always::plurank.ConvergenceWarning")
def test_fit_chooses_factors_and_the_number_of_rankings(run, stars, tmp_path):
    found = json.loads(run("fit", stars, "--max-iter", 2, "-o", tmp_path / "m.plurank", "--json").stdout)
    assert found["selection"]["n_rankings"] == found["n_rankings"]
    assert found["settings"]["n_factors"] == "auto"


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (("--method", "topic"), plurank.TopicRanking),
        (("--mixing", "probability", "--max-iter", 200), plurank.MixedRanking),
        (("--component", "strict"), plurank.MixedRanking),
    ],
)
def test_fit_compares_ratings_where_the_method_needs_it(run, stars, tmp_path, options, kind):
    result = run("fit", stars, "-k", 2, *options, "-o", tmp_path / "m.plurank")
    model = plurank.load(tmp_path / "m.plurank")
    assert type(model) is kind
    assert model.posterior is None
    assert "Any two with different ratings of a user are compared" in result.stderr


@pytest.mark.filterwarnings("always::plurank.ConvergenceWarning")
def test_fit_models_votes_and_rankings_directly(run, truth, tmp_path):
    votes, ballots = tmp_path / "votes.csv", tmp_path / "ballots.csv"
    truth.frame.with_columns(rating=(pl.col("rating") - 3).sign()).write_csv(votes)
    truth.ballots.write_csv(ballots)
    for file, observed, noun in ((votes, "votes", "votes"), (ballots, "rankings", "ranked items")):
        result = run("fit", file, *SHORT, "-o", tmp_path / "m.plurank", "--json")
        assert json.loads(result.stdout)["observed"] == observed
        assert noun in result.stderr


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (("a,x,1", "a,y,2", "a,x,3"), "bad.csv: row 3: the user already has a rating for this item."),
        (("a,x,1", "a,y,good"), "bad.csv: row 2: rating is not a number."),
        (("a,,1",), "bad.csv: row 1: item is missing"),
        (("a,x,", "a,y,"), "bad.csv: there are no ratings: all of them are missing."),
        (("a,x,1",), "expected at least two ratings or ranked items to learn from"),
    ],
)
def test_bad_ratings_are_refused_with_a_sentence_and_nothing_is_written(refuse, write, tmp_path, lines, sentence):
    file = write("bad.csv", "user,item,rating", *lines)
    assert sentence in refuse("fit", file, "-k", 1, "-o", tmp_path / "m.plurank")


def test_options_that_do_not_suit_ratings_are_refused(refuse, stars, tmp_path):
    target = ("-o", tmp_path / "m.plurank")
    assert "--factors" in refuse("fit", stars, "-k", 2, *target, "--factors", -1)
    message = refuse("fit", stars, "-k", 2, *target, "--checkpoint", tmp_path / "run")
    assert message == "Error: --checkpoint is for fits of comparisons in a store; ratings are sampled without."
    message = refuse("fit", stars, "-k", 2, *target, "--method", "topic", "--factors", 1)
    assert "--factors belongs to --method mixed" in message
    assert "61 rankings cannot be told apart by 60 users" in refuse("fit", stars, "-k", 61, *target)


def test_transform_writes_the_weights_of_everybody_who_rated(run, fitted, write, tmp_path):
    new = write("new.csv", "user,item,rating", "a,i00,5", "a,i01,1", "b,i00,3", "b,i01,3", "c,i02,4")
    result = run("transform", fitted, new, "-o", tmp_path / "weights.csv")
    assert "Wrote the weights of 3 users" in result.stdout
    frame = pl.read_csv(tmp_path / "weights.csv")
    assert frame["user"].to_list() == ["a", "b", "c"]
    expected = plurank.load(fitted).transform(plurank.Ratings.from_file(new))
    np.testing.assert_allclose(frame.drop("user").to_numpy(), expected)


def test_transform_takes_comparisons_as_well_and_refuses_unknown_items(run, refuse, fitted, write, tmp_path):
    pairs = write("pairs.csv", "user,winner,loser", "a,i00,i01", "b,i01,i00")
    run("transform", fitted, pairs, "-o", tmp_path / "weights.parquet")
    assert len(pl.read_parquet(tmp_path / "weights.parquet")) == 2
    unknown = write("unknown.csv", "user,item,rating", "a,i00,5", "a,no such item,1")
    assert "does not know 1 of the items" in refuse("transform", fitted, unknown, "-o", tmp_path / "other.csv")


def test_show_prints_the_model_and_one_user(run, fitted):
    shown = run("show", fitted).stdout
    for words in ("Ranking 1", "4 thresholds", "not converged", "ratings"):
        assert words in shown
    found = json.loads(run("show", fitted, "--json").stdout)
    assert found["observed"] == "ratings"
    assert "u000" in run("show", fitted, "--user", "u000").stdout


def test_predict_gives_probabilities_of_pairs_and_ratings(run, fitted, stars, write):
    pairs = write("pairs.csv", "user,left,right", "u000,i00,i01", "u000,i01,i00", "nobody,i00,i01")
    found = pl.read_csv(run("predict", fitted, pairs).stdout.encode())
    assert found["probability"][:2].sum() == pytest.approx(1.0)
    assert found["probability"].is_between(0, 1, closed="none").all()
    asked = write("asked.csv", "user,item", "u000,i00", "nobody,i01", "u001,no such item")
    predicted = pl.read_csv(run("predict", fitted, asked, "--ratings", stars).stdout.encode())
    assert predicted["rating"].is_between(1, 5).all()


def test_evaluate_predicts_ratings_by_pairs_of_them(run, fitted, stars):
    found = json.loads(run("evaluate", fitted, stars, "--json").stdout)
    expected = plurank.load(fitted).evaluate(plurank.Ratings.from_file(stars))
    assert {name: found[name] for name in expected} == expected
    assert found["accuracy"] > 0.65


def test_a_report_of_ratings_is_written(run, fitted, tmp_path):
    run("report", fitted, "-o", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "<html" in page
    assert "i00" in page


def test_a_report_with_ratings_leaves_nobody_out_whom_the_model_knows(run, fitted, stars, tmp_path):
    run("report", fitted, stars, "-o", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "left out" not in page.split("The shared rankings")[0]


def test_update_says_that_a_model_of_ratings_cannot_learn_more(run, fitted, stars, tmp_path):
    result = run("update", fitted, stars, "-o", tmp_path / "updated.plurank", code=2)
    assert "a model fitted to ratings cannot be updated. Fit again with all of them" in result.stderr
    assert not (tmp_path / "updated.plurank").exists()
