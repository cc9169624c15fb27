"""plurank demo."""

import json
from functools import cache

import pytest

import plurank
from plurank.cli import demo


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The demo writes its page into the current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


tell = cache(lambda seed: demo._tell(seed, lambda stage, done: None))


@pytest.fixture
def no_page(monkeypatch):
    """Leave out the page, which takes longer than the rest."""
    monkeypatch.setattr(plurank, "write_report", lambda *_, **__: None, raising=False)


@pytest.fixture(autouse=True)
def told_once(monkeypatch):
    """Every story takes a while, and is the same whoever asks for it."""
    tell(0)
    monkeypatch.setattr(demo, "_tell", lambda seed, on_progress: tell(seed))


def test_demo_says_that_its_people_are_simulated_and_what_to_do_next(run, no_page):
    text = run("demo").stdout
    assert "simulated" in text[:100]
    for camp in demo.CAMPS:
        assert camp in text
    assert "Ada 1" in text
    assert "by the paper's method" in text
    assert "one ranking for everybody" in text
    assert "plurank fit votes.csv -o model.plurank" in text.split("Next, with your own file")[1]


def test_demo_writes_a_page_with_its_quality_and_names_it(run, folder):
    assert "plurank-demo-report.html" in run("demo").stdout
    page = (folder / "plurank-demo-report.html").read_text(encoding="utf-8")
    assert "3,200" in page.split("How well it predicts")[1]
    assert [path.name for path in folder.iterdir()] == ["plurank-demo-report.html"]


def test_demo_comes_close_to_the_truth(run, no_page):
    found = json.loads(run("demo", "--json").stdout)
    assert found["simulated"] is True
    assert found["model"] == "MixedRanking"
    assert found["ranking_error"] < 0.05
    assert found["paper_ranking_error"] < 0.05
    # 3,200 held-out choices: two standard errors of an accuracy are below 0.02, the difference is about 0.15
    assert found["held_out"]["three_rankings"]["accuracy"] > found["held_out"]["one_ranking"]["accuracy"] + 0.05


def test_demo_fits_a_narrow_terminal(run, no_page, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    text = run("demo").stdout.split("Next, with your own file")[0]
    assert max(len(line) for line in text.splitlines()) <= 60


def test_demo_hands_on_its_seed(run, no_page, monkeypatch):
    asked = []
    monkeypatch.setattr(demo, "_tell", lambda seed, on_progress: asked.append(seed) or tell(0))
    run("demo", "--seed", 7, "--json")
    assert asked == [7]


def test_camps_rank_the_same_things():
    assert len({frozenset(items) for items in demo.CAMPS.values()}) == 1
    assert {len(items) for items in demo.CAMPS.values()} == {12}
