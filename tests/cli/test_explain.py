"""plurank explain, and what plurank show says of covariates."""

import json

import numpy as np
import polars as pl
import pytest

import plurank
from tests.report.made_effects import make_effects, with_effects


@pytest.fixture
def explained(mixed_file, monkeypatch):
    """A model file that has effects when it is loaded."""
    load = plurank.load
    monkeypatch.setattr(plurank, "load", lambda path: with_effects(load(path)))
    return mixed_file


def test_explain_prints_the_shares_of_every_level(run, explained):
    text = run("explain", explained).stdout
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[1].startswith("Attribute Level People Ranking 1")
    assert any(line.startswith("style bold ~410 ") for line in lines)
    assert any(line.startswith("<i>fruity</i> ~655 ") for line in lines)
    assert any(line.startswith("nutty under 5 not shown not shown") for line in lines)
    words = " ".join(text.split())
    assert "No clear difference was found by gender and cups. 1 level with fewer than 5 people is not shown." in words
    assert "and do not say why." in words
    assert words.endswith("With two rankings, the intervals may be a little too narrow.")


def test_explain_shows_the_attributes_asked_for(run, explained):
    text = run("explain", explained, "--attribute", "gender", "--attribute", "cups").stdout
    assert "female" in text
    assert "cups" in text
    assert "style" not in text
    assert "there is no attribute 'height'" in run("explain", explained, "--attribute", "height", code=2).stderr


def test_explain_gives_json(run, explained):
    found = json.loads(run("explain", explained, "--json", "--attribute", "style").stdout)
    assert {entry["attribute"] for entry in found} == {"style"}
    assert found[0].keys() == set(make_effects().columns)
    assert [entry["share"] for entry in found if entry["people"] < 5].count(None) == len(found) // 4


def test_explain_names_what_a_model_without_covariates_needs(run, mixed_file):
    message = run("explain", mixed_file, code=2).stderr
    assert "was fitted without covariates. Name a table of people with --people, or fit with one" in message


def test_show_prints_the_covariates_that_tell_most(run, explained):
    text = run("show", explained).stdout
    assert "Who follows which ranking (all covariates: plurank explain MODEL):" in text
    assert "fruity" in text
    assert "gender" in text
    assert "cups" not in text


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    """Votes of people in the north, who mostly follow one ranking, and in the south; and a table of the people."""
    made = plurank.simulate(120, 6, 2, 15, concentration=1, random_state=0)
    folder = tmp_path_factory.mktemp("survey")
    made.comparisons.to_frame().write_csv(folder / "votes.csv")
    region = ["north" if weight > 0.5 else "south" for weight in made.user_weights[:, 0]]
    people = pl.DataFrame({"user": made.comparisons.users, "region": region, "wave": 1, "code": range(120)})
    people.head(115).write_csv(folder / "people.csv")
    return folder


def test_a_model_is_fitted_with_a_table_of_people_saved_and_explained(run, survey, tmp_path):
    model, options = tmp_path / "m.plurank", ("-k", 2, "--mixing", "probability", "--people", survey / "people.csv")
    told = run("fit", survey / "votes.csv", *options, "-o", model).stderr
    assert "1 of 3 columns left out: the same for everyone (wave)." in told
    assert "5 of 120 users have no row in the table of people" in told
    found = json.loads(run("explain", model, "--json", "--attribute", "region").stdout)
    assert [entry["level"] for entry in found] == ["north", "north", "south", "south"]
    assert abs(found[2]["difference"]) > 0.2
    assert "covariates" in run("show", model).stdout


def test_a_model_without_covariates_is_explained_with_a_table(run, survey, tmp_path):
    model = tmp_path / "m.plurank"
    run("fit", survey / "votes.csv", "-k", 2, "--mixing", "probability", "-o", model)
    text = run("explain", model, "--people", survey / "people.csv", "--attribute", "region").stdout
    assert "north" in text
    assert "The intervals leave out the uncertainty of the rankings and may be too narrow." in " ".join(text.split())


def test_options_of_covariates_that_have_no_use_are_refused(run, survey, tmp_path):
    votes, people = survey / "votes.csv", survey / "people.csv"
    command = ("fit", votes, "-k", 2, "-o", tmp_path / "m.plurank")
    assert "--formula requires a table of people" in run(*command, "--formula", "region", code=2).stderr
    message = run(*command, "--people", people, "--method", "topic", code=2).stderr
    assert "--people, --formula and --features belong to --method mixed" in message


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """Votes on 16 items, of which all like the sweet ones, a table of the items, and the model fitted with both."""
    rng = np.random.default_rng(0)
    sweet, colour = rng.standard_normal(16), rng.choice(["red", "blue"], 16)
    users, first = np.repeat(np.arange(80), 20), rng.integers(16, size=1600)
    second = (first + 1 + rng.integers(15, size=1600)) % 16
    wins = rng.random(1600) < 1.0 / (1.0 + np.exp(-1.5 * (sweet[first] - sweet[second])))
    folder = tmp_path_factory.mktemp("shop")
    sides = {"winner": np.where(wins, first, second), "loser": np.where(wins, second, first)}
    pl.DataFrame({"user": users, **sides}).write_csv(folder / "votes.csv")
    items = pl.DataFrame({"item": range(16), "sweet": sweet.round(3), "colour": colour, "code": range(100, 116)})
    items.with_columns(shape=pl.lit("round")).head(15).write_csv(folder / "items.csv")
    return folder


@pytest.fixture(scope="module")
def fitted_shop(shop):
    model = plurank.MixedRanking(2, mixing="utility", random_state=0)
    model.fit(pl.read_csv(shop / "votes.csv"), items=shop / "items.csv").save(shop / "m.plurank")
    return shop / "m.plurank"


def test_a_model_is_fitted_with_a_table_of_features_and_says_what_was_left_out(run, shop, tmp_path):
    options = ("-k", 2, "--mixing", "utility", "--features", shop / "items.csv", "-o", tmp_path / "m.plurank")
    told = run("fit", shop / "votes.csv", *options).stderr
    assert "the same for everyone (shape)" in told
    assert "1 of 16 items has no row in the table of features" in told
    assert plurank.load(tmp_path / "m.plurank").item_features.attributes[0].name == "sweet"


def test_explain_and_show_print_what_each_ranking_rewards(run, fitted_shop):
    for words in (("explain", fitted_shop, "--features"), ("show", fitted_shop)):
        text = run(*words).stdout
        assert "sweet" in text
        assert "In log odds, compared with an item that is average in all features." in " ".join(text.split())
    assert "colour" in run("explain", fitted_shop, "--features").stdout
    assert "colour" not in run("show", fitted_shop).stdout.split("rewards")[-1]
    unclear = " ".join(run("explain", fitted_shop, "--features", "--attribute", "colour").stdout.split())
    assert unclear.startswith("No ranking clearly rewards any of the features: all intervals contain 0.")
    assert (
        "What each ranking rewards (all features: plurank explain MODEL --features):" in run("show", fitted_shop).stdout
    )


def test_explain_gives_what_rankings_reward_as_json(run, fitted_shop):
    found = json.loads(run("explain", fitted_shop, "--features", "--json", "--attribute", "sweet").stdout)
    assert {entry["attribute"] for entry in found} == {"sweet"}
    best = [entry for entry in found if entry["level"].startswith("90%")]
    assert all(entry["lower"] > 0.5 for entry in best)
    wrong = run("explain", fitted_shop, "--features", "--attribute", "height", code=2).stderr
    assert "there is no attribute 'height'" in wrong


def test_features_are_asked_of_models_that_have_some(run, mixed_file, fitted_shop, shop):
    message = run("explain", mixed_file, "--features", code=2).stderr
    assert "was fitted without features of its items" in message
    both = run("explain", fitted_shop, "--features", "--people", shop / "items.csv", code=2).stderr
    assert "--people is about users, --features about items" in both


def test_features_that_predict_nothing_are_said_to(run, shop, tmp_path):
    items = pl.read_csv(shop / "items.csv").select("item", colour=pl.col("colour"))
    model = plurank.MixedRanking(2, mixing="utility", random_state=0)
    model.fit(pl.read_csv(shop / "votes.csv"), items=items).save(tmp_path / "m.plurank")
    text = " ".join(run("explain", tmp_path / "m.plurank", "--features").stdout.split())
    assert text.startswith("Features do not predict the scores of items held out")
