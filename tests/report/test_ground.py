"""Common ground: what the posterior supports, and nothing else."""

import re

import numpy as np
import pytest

import plurank
from plurank import ParameterError
from plurank.report import ground
from plurank.report.ground import (
    CONTESTED,
    DISLIKED,
    LIKED,
    SAME,
    find_ground,
)
from tests.report.conftest import Told

# a is first and i last for all, e is in the middle for all, b and h change places
ORDERS = [list("abcdefghi"), list("ahdcegfbi")]


def told(*, error=0.01, n_votes=200, agree=None, **options):
    """A model of nine items in two rankings, with votes."""
    orders = [["abcdefghi".index(item) for item in order] for order in ORDERS]
    model = Told(orders, [0.6, 0.4], [[0.9, 0.1]] * 30 + [[0.1, 0.9]] * 20, error=error, votes=10, **options)
    model.item_votes_ = model.item_people_ = np.full(9, n_votes)
    if agree is not None:
        sides = np.array([[sign == "+" for sign in signs] for signs in agree]).T
        model.camp_votes_ = np.stack([np.where(sides, 90, 10), np.full((9, 2), 3), np.where(sides, 10, 90)], axis=2)
        model.dissenter_votes_ = np.where(sides.all(axis=1)[:, None], [9, 1], [1, 9])
    return model


def named(model):
    return {name: model.items_[codes].tolist() for name, codes in find_ground(model).lists.items()}


def test_liked_disliked_same_position_and_contested_are_different_things():
    lists = named(told())
    assert "a" in lists[LIKED]
    assert "i" in lists[DISLIKED]
    assert set(lists[CONTESTED]) == {"b", "h"}
    assert "e" in lists[SAME]
    assert "e" not in lists[LIKED] + lists[DISLIKED]


def test_nothing_is_said_where_scores_are_not_known():
    vague = told(error=20.0)
    assert not any(named(vague).values())
    found = find_ground(vague)
    sentence = ground.describe_ground(vague, found)
    assert sentence.startswith("All camps like no items and dislike none. No items are contested.")
    assert "9 are undecided" in sentence
    assert ground.list_ground(vague, found, 1) == []
    with pytest.raises(ParameterError, match="nothing to draw"):
        vague.plot.contested()


def test_items_with_a_vote_or_two_are_counted_and_not_judged():
    model = told()
    model.item_votes_[[0, 8]] = 1
    lists = named(model)
    assert not {"a", "i"} & {item for found in lists.values() for item in found}
    found = find_ground(model)
    assert "Of 9 items, 2 have not enough votes to tell" in ground.describe_ground(model, found)
    rows = {row[0]: row for row in ground.ground_table(model, found).rows}
    assert rows["a"][1:3] == ("not enough votes", "1")


def test_of_votes_liked_means_agreed_with_however_high_it_stands():
    lists = named(told(agree=["++++++++-", "++++++++-"]))
    assert set(lists[LIKED]) == set("abcdefgh")
    assert lists[DISLIKED] == ["i"]
    assert lists[CONTESTED] == []
    divided = named(told(agree=["++++---+-", "+-++---+-"]))
    assert divided[CONTESTED] == ["b"]
    nothing = told(agree=["-" * 9, "-" * 9])
    assert named(nothing)[LIKED] == []
    assert "All camps agree with no items and reject 9." in ground.describe_ground(nothing, find_ground(nothing))


def test_every_entry_of_a_list_has_its_votes():
    model = told(agree=["++++---+-", "+-++---+-"])
    lists = ground.list_ground(model, find_ground(model), 5)
    entries = [remark for found in lists for _, remark in found["entries"]]
    assert len(entries) > 6
    assert all(remark.startswith("200 votes") for remark in entries)
    agreed = next(found for found in lists if found["heading"] == "Agreed with by all camps")
    assert re.search(r"camp \d: 90% \(\d+% to \d+%\) agree", agreed["entries"][0][1])


def test_shares_of_camps_have_intervals_and_counts_and_small_ones_are_hidden():
    model = told(agree=["+" * 9, "+" * 9])
    model.camp_votes_[2, 1] = [3, 0, 0]  # agree, pass, disagree of the second camp on c
    found = find_ground(model)
    rows = {
        row[0]: [cell.replace("\u00a0", " ") for cell in row] for row in ground.agreement_table(model, found, 5).rows
    }
    assert rows["a"][1].startswith("90% (")
    assert rows["a"][1].endswith("of 100")
    assert rows["c"][2] == "fewer than 5 votes"
    assert ground.agreement_table(model, found, 1).rows != ground.agreement_table(model, found, 5).rows


def test_figures_draw_intervals_of_what_is_listed():
    model = told(agree=["++++---+-", "+-++---+-"], error=0.4)
    spec = model.plot.contested().to_dict()
    rows = [row for rows in spec["datasets"].values() for row in rows]
    assert all(row["lower"] <= row["at"] <= row["upper"] for row in rows)
    shares = model.plot.agreement().to_dict()
    assert {row["ranking"] for rows in shares["datasets"].values() for row in rows} == {"1", "2"}
    with pytest.raises(ParameterError, match="not fitted to votes"):
        told().plot.agreement()


@pytest.mark.parametrize("kind", ["TopicRanking", "ClusteredRanking", "FJS", "PairTopics"])
def test_models_without_uncertainty_say_nothing_of_common_ground(kind, models, tmp_path):
    with pytest.raises(ParameterError):
        find_ground(models(kind))
    with pytest.raises(ParameterError):
        models(kind).plot.contested()
    plurank.write_report(models(kind), tmp_path / "report.html")
    assert ground.NO_UNCERTAINTY in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_with_one_ranking_nothing_is_contested(models, tmp_path):
    plurank.write_report(models("SingleRanking"), tmp_path / "report.html")
    assert ground.ONE_RANKING in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_lists_show_the_texts_of_items():
    texts = [f"Statement {item} is one that somebody wrote down at length." for item in "abcdefghi"]
    model = told(texts=texts)
    liked = ground.list_ground(model, find_ground(model), 1)[0]
    assert liked["heading"] == "Liked by all camps"
    assert liked["entries"][0][0] == texts[0]
