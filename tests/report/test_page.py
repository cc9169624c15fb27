"""The page: whole, safe, and without anything from elsewhere."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import polars as pl
import pytest

import plurank
from plurank import DataError
from plurank.data.coded import Exclusion
from tests.report.conftest import MAKERS

SECTIONS = ("rankings", "people", "agreement", "quality", "data", "settings", "reading")


class Reader(HTMLParser):
    """Collects what a page contains, and whether tags are closed in order."""

    VOID = ("meta", "br", "img", "hr")

    def __init__(self):
        super().__init__()
        self.tags, self.ids, self.links, self.open, self.text = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name in ("href", "src", "xlink:href", "action")]
        assert not [name for name, _ in attrs if name.startswith("on")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_data(self, data):
        self.text.append(data)


def read(path):
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    assert not reader.open
    return reader


@pytest.fixture(scope="module")
def page(mixed, small, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    train, test = small.split(random_state=0)
    plurank.write_report(mixed, path, train, test=test, title="Odd <i>things</i>")
    return path


@pytest.mark.parametrize("kind", MAKERS)
def test_every_model_has_all_sections_without_comparisons(kind, models, tmp_path):
    plurank.write_report(models(kind), tmp_path / "report.html")
    found = read(tmp_path / "report.html")
    missing = set(SECTIONS) - set(found.ids)
    assert missing == ({"people"} if kind == "SingleRanking" else set())
    measured = getattr(models(kind), "quality_", None) is not None
    assert ("plurank report MODEL COMPARISONS -o report.html" in " ".join(found.text)) != measured
    assert found.tags.count("h1") == 1


def test_a_page_with_comparisons_has_quality_beside_one_ranking_and_the_datas_health(page):
    text = " ".join(read(page).text)
    assert "one ranking for everybody" in text
    assert "Predicted and observed" in text
    assert "What the comparisons cover" in text


def test_a_page_loads_nothing_and_runs_nothing(page):
    found, text = read(page), page.read_text(encoding="utf-8")
    assert "http:" not in text
    assert "https:" not in text
    assert {"script", "link", "img", "iframe", "object", "foreignObject"}.isdisjoint(found.tags)
    assert all(link.startswith("#") for link in found.links)
    assert not re.search(r"@import|url\((?!#)", text)


def test_labels_and_titles_cannot_become_markup(page):
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "Odd &lt;i&gt;things&lt;/i&gt;" in text


def test_names_in_a_page_are_used_once_and_figures_have_words(page):
    found = read(page)
    assert len(found.ids) == len(set(found.ids))
    assert found.tags.count("figure") == found.tags.count("figcaption") == found.tags.count("svg") == 5
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r'aria-labelledby="([^"]*)"', text)) <= set(found.ids)


def test_the_same_seed_gives_the_same_page(models, small, tmp_path):
    for name in ("one.html", "two.html"):
        plurank.write_report(models("TopicRanking"), tmp_path / name, small, random_state=3)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_a_model_that_forgot_its_data_still_has_a_page(models, tmp_path, monkeypatch):
    model = models("PairTopics")
    monkeypatch.setattr(model, "data_", None)
    plurank.write_report(model, tmp_path / "report.html")
    assert "does not remember" in " ".join(read(tmp_path / "report.html").text)


def test_what_cannot_be_measured_is_said(models, tmp_path):
    few = plurank.Comparisons.from_arrays([1], ["a, b; c"], ["line\nbreak"])
    plurank.write_report(models("TopicRanking"), tmp_path / "report.html", few)
    assert "could not be measured: 1 comparison of 1 user" in " ".join(read(tmp_path / "report.html").text)


def test_a_page_that_cannot_be_written_leaves_the_old_one(models, tmp_path, monkeypatch):
    model = models("SingleRanking")
    (tmp_path / "report.html").write_text("old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        plurank.write_report(model, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_a_place_that_is_none_is_refused_with_a_sentence(models, tmp_path):
    with pytest.raises(DataError, match="there is no folder"):
        plurank.write_report(models("SingleRanking"), tmp_path / "nowhere" / "report.html")
    with pytest.raises(DataError, match="is a folder"):
        plurank.write_report(models("SingleRanking"), tmp_path)


def polled():
    """A poll of two camps about four long statements, one of them with a name that is an address."""
    votes = [
        (f"{user}@example.org", item, 1 if (user < 20) == (item < 2) else -1) for user in range(32) for item in range(4)
    ]
    frame = pl.DataFrame(votes, schema=["user", "item", "rating"], orient="row")
    texts = tuple(
        f"Statement number {n} is long enough to be one, and goes on until it is two lines." for n in range(4)
    )
    left_out = (Exclusion("user", 7, 39, "cast a single vote"), Exclusion("item", 2, 6, "was moderated out"))
    return replace(plurank.Comparisons.from_ratings(frame), texts=texts, excluded=left_out)


@pytest.fixture(scope="module")
def poll_text(tmp_path_factory):
    """What the page of a poll says."""
    path = tmp_path_factory.mktemp("poll") / "report.html"
    plurank.write_report(plurank.MixedRanking(2, mixing="probability", random_state=0).fit(polled()), path)
    return " ".join(" ".join(read(path).text).split())


def test_nobody_is_named_and_who_was_left_out_is_said(poll_text):
    assert "@example.org" not in poll_text
    assert "128 votes on 4 items by 32 of 39 people (7 left out: cast a single vote)" in poll_text
    assert "7 of 39: cast a single vote" in poll_text
    assert "2 of 6: was moderated out" in poll_text
    assert poll_text.count("left out: cast a single vote") == 1  # not again among the problems


def test_camp_sizes_stand_in_the_story_and_beside_every_ranking(poll_text):
    assert "20 people follow ranking 1 most and 12 people ranking 2." in poll_text
    assert re.search(r"12 people follow it most, \w+ of them with a weight of 80% or more; .* 48 votes\.", poll_text)


def test_statements_are_shown_in_full_and_no_stop_is_doubled(poll_text):
    assert "Statement number 2 is long enough to be one, and goes on until it is two lines." in poll_text
    assert ".." not in poll_text.replace("...", "")


def test_people_are_named_on_request(tmp_path):
    model = plurank.MixedRanking(2, mixing="probability", random_state=0).fit(polled())
    plurank.write_report(model, tmp_path / "report.html", with_people=True)
    assert "@example.org" in " ".join(read(tmp_path / "report.html").text)


def test_a_model_that_rests_on_few_people_says_so(mixed, tmp_path, monkeypatch):
    influence = plurank.Influence(60, 2, 0.03, 0.01, 0.002, 0.001, 2, ("ann", "bob"), True)
    monkeypatch.setattr(mixed, "influence_", influence.to_dict())
    plurank.write_report(mixed, tmp_path / "report.html")
    text = " ".join(read(tmp_path / "report.html").text)
    assert text.count("The gain over one ranking rests on 2 of 60 people") == 2
    assert "bob" not in text


def test_a_committee_is_named_where_items_are_things_to_choose(tmp_path, poll_text):
    made = plurank.simulate(120, 10, 2, 30, random_state=0)
    model = plurank.MixedRanking(2, mixing="probability", random_state=0, max_iter=10).fit(made.comparisons)
    plurank.write_report(model, tmp_path / "report.html")
    text = " ".join(" ".join(read(tmp_path / "report.html").text).split())
    assert "A committee of 3" in text
    assert re.search(
        r"serve the most people: \d+% of people \(\d+% to \d+%\) have one of them among their first 1", text
    )
    assert "committee" not in poll_text
