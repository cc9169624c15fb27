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
        (("a,x,1",), "expected at least two observations to learn from"),
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


def test_select_chooses_the_number_of_rankings_of_ratings_directly(run, stars):
    found = json.loads(run("select", stars, "--candidates", "1,2", "--json").stdout)
    assert {row["mixing"] for row in found["candidates"]} == {"utility"}
    assert [row["n_rankings"] for row in found["candidates"]] == [1, 2]
    pairs = json.loads(run("select", stars, "--candidates", "1", "--mixing", "probability", "--json").stdout)
    assert [row["mixing"] for row in pairs["candidates"]] == ["probability"]
    direct = plurank.select_rankings(plurank.Ratings.from_file(stars), [1, 2], random_state=0)
    assert direct.table["held_out"].to_list() == [row["held_out"] for row in found["candidates"]]
    with pytest.raises(plurank.ParameterError, match="concentration is for fits of comparisons"):
        plurank.select_rankings(plurank.Ratings.from_file(stars), [1], concentration=1.0)


def test_evaluate_predicts_ratings_themselves_and_pairs_of_them(run, fitted, stars):
    shown = run("evaluate", fitted, stars).stdout
    assert "log-likelihood per rating" in shown
    assert "root mean squared error of ratings" in shown
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


@pytest.mark.filterwarnings("ignore::plurank.ConvergenceWarning")
def test_update_learns_from_ratings_and_from_comparisons(run, fitted, stars, write, tmp_path):
    more = write("more.csv", "user,item,rating", "new,i00,5", "new,i01,1", "u000,another,3")
    target = tmp_path / "updated.plurank"
    said = run("update", fitted, more, "-o", target).stdout
    assert "Added 3 ratings, with 1 new user and 1 new item." in said
    found = json.loads(run("update", target, write("p.csv", "user,winner,loser", "late,i02,another"), "--json").stdout)
    assert (found["n_comparisons"], found["n_new_users"], found["n_users"]) == (1, 1, 62)
    model = plurank.load(target)
    assert (len(model.users_), len(model.items_), model.data_["n_updates"]) == (62, 9, 2)


BALLOTS = ("user,item,rank", "ann,1,1", "ann,2,2", "bob,3,1", "bob,1,2", "cat,2,1")


def pairs_in(file):
    return set(pl.read_csv(file).rows())


@pytest.mark.parametrize("name", ["all", "offered.txt", "offered.csv"])
def test_items_offered_and_not_ranked_are_below_those_ranked(name, run, write, tmp_path):
    ballots = write("ballots.csv", *BALLOTS)
    offered = "all"
    if name.endswith("txt"):
        offered = write(name, "1", "2", "3")
    elif name.endswith("csv"):
        offered = write(name, "item,text,hidden", "1,one,false", "2,two,false", "3,three,false", "4,four,true")
    run("convert", ballots, "-o", tmp_path / "pairs.csv", "--offered", offered)
    expected = {("ann", 1, 2), ("ann", 1, 3), ("ann", 2, 3), ("bob", 3, 1), ("bob", 3, 2), ("bob", 1, 2)}
    assert pairs_in(tmp_path / "pairs.csv") == expected | {("cat", 2, 1), ("cat", 2, 3)}


@pytest.mark.filterwarnings("ignore::plurank.ConvergenceWarning")
def test_all_commands_that_read_rankings_take_what_was_offered(run, write, tmp_path):
    ballots, model = write("ballots.csv", *BALLOTS), tmp_path / "m.plurank"
    run("fit", ballots, "-k", 1, "--max-iter", 3, "--factors", 0, "-o", model, "--offered", "all")
    assert plurank.load(model).data_["n_comparisons"] == 9
    whole = json.loads(run("evaluate", model, ballots, "--json", "--offered", "all").stdout)
    assert whole["n_comparisons"] == 8
    run("transform", model, ballots, "-o", tmp_path / "w.csv", "--offered", "all")
    assert pl.read_csv(tmp_path / "w.csv").height == 3
    run("update", model, ballots, "-o", tmp_path / "u.plurank", "--offered", "all")
    pairs = run("fit", ballots, "-k", 1, "--mixing", "probability", "-o", model, "--offered", "all")
    assert "8 comparisons" in pairs.stderr


def test_what_was_offered_is_for_rankings_alone(run, fitted, stars, write, tmp_path):
    target = tmp_path / "x.csv"
    assert "--offered is for rankings, got ratings" in run("evaluate", fitted, stars, "--offered", "all", code=2).stderr
    assert (
        "--offered is for rankings, got ratings"
        in run("convert", stars, "-o", target, "--offered", "all", code=2).stderr
    )
    ballots = write("ballots.csv", *BALLOTS)
    refused = run("convert", ballots, "-o", target, "--offered", "all", "--ties", "both", code=2).stderr
    assert "--offered goes with --ties ignore" in refused
    few = write("few.txt", "1", "2")
    assert (
        "1 item was ranked and not offered, such as 3"
        in run("convert", ballots, "-o", target, "--offered", few, code=2).stderr
    )
    assert not target.exists()
