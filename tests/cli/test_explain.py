"""plurank explain, and what plurank show says of covariates."""

import json

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
