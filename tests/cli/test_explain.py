"""plurank explain, and what plurank show says of covariates."""

import json

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
    assert "Intervals of models with two rankings may be too narrow." in words
    assert words.endswith("and do not say why.")


def test_explain_shows_the_attributes_asked_for(run, explained):
    text = run("explain", explained, "--attribute", "gender", "--attribute", "cups").stdout
    assert "female" in text
    assert "cups" in text
    assert "style" not in text
    assert "there is no covariate 'height'" in run("explain", explained, "--attribute", "height", code=2).stderr


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
    assert "These intervals are too narrow: they leave out that the rankings are uncertain." in " ".join(text.split())


def test_options_of_covariates_that_have_no_use_are_refused(run, survey, tmp_path):
    votes, people = survey / "votes.csv", survey / "people.csv"
    command = ("fit", votes, "-k", 2, "-o", tmp_path / "m.plurank")
    assert "--formula requires a table of people" in run(*command, "--formula", "region", code=2).stderr
    message = run(*command, "--people", people, "--method", "topic", code=2).stderr
    assert "--people and --formula belong to --method mixed" in message
