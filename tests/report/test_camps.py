"""Camps are people: their sizes, small groups, and rankings that are no groups."""

import numpy as np
import pytest

import plurank
from plurank.models.summary import DIRECTIONS, are_directions, describe_mixing
from plurank.report.camps import camps_of, describe_camps, show_count, show_parts
from tests.report.conftest import Told


def camps(*sizes, weight=0.9, **options):
    """A model of two rankings, with so many people who follow each."""
    weights = [[weight, 1 - weight]] * sizes[0] + [[1 - weight, weight]] * sizes[1]
    model = Told([[0, 1, 2], [2, 1, 0]], [0.5, 0.5], weights, votes=3)
    return camps_of(model, **options)


def test_a_camp_is_told_by_its_people_and_their_votes():
    first, second = camps(30, 12)
    assert (
        first.sentence
        == "30 people follow it most, 30 of them with a weight of 80% or more; together they cast 90 votes."
    )
    assert (first.caution, second.caution) == ("", "")
    assert describe_camps([first, second]) == "30 people follow ranking 1 most and 12 people ranking 2."


def test_a_ranking_of_a_handful_of_people_is_flagged():
    _, second = camps(30, 7)
    assert "rests on a handful of people" in second.caution


def test_a_ranking_that_nobody_follows_alone_is_a_direction():
    first, _ = camps(30, 20, weight=0.6)
    assert "none of them with a weight of 80% or more" in first.sentence
    assert "direction of taste, not as a group" in first.caution


def test_small_groups_are_not_stated_unless_asked_for():
    first, second = camps(41, 3)
    assert second.sentence == "Fewer than 5 people follow it most."
    assert first.sentence.startswith("About 40 people follow it most")  # or 44 less 41 would say it
    assert describe_camps([first, second]) == "About 40 people follow ranking 1 most and fewer than 5 people ranking 2."
    first, second = camps(41, 3, with_people=True)
    assert (first.shown, second.shown) == ("41", "3")
    assert second.sentence.endswith("together they cast 9 votes.")


def test_nobody_is_nobody_and_one_is_one_person():
    assert camps(30, 0)[1].sentence == "Nobody follows it most."
    assert camps(30, 1, with_people=True)[1].sentence.startswith("1 person follows it most")


@pytest.mark.parametrize(
    ("n", "shown"), [(0, "0"), (1, "fewer than 5"), (4, "fewer than 5"), (5, "5"), (1234, "1,234")]
)
def test_few_people_are_fewer_than_five(n, shown):
    assert show_count(n) == shown


def test_no_sum_gives_away_a_group_that_is_not_stated():
    assert show_parts([20, 30]) == ["20", "30"]
    assert show_parts([3, 28, 0, 30]) == ["fewer than 5", "about 30", "0", "about 30"]


def test_where_hardly_anybody_follows_one_ranking_they_are_directions():
    blended = Told([[0, 1], [1, 0]], [0.5, 0.5], [[0.55, 0.45]] * 120 + [[0.9, 0.1]] * 2)
    assert are_directions(blended)
    assert DIRECTIONS in describe_mixing(blended)
    assert "Fewer than 5 people follow one ranking at 80% or more" in describe_mixing(blended, 5)
    assert not are_directions(Told([[0, 1], [1, 0]], [0.5, 0.5], [[1, 0], [0, 1]]))


def test_people_are_drawn_without_giving_small_groups_away(mixed, models, small):
    from plurank.report.figures.data import draw_comparisons
    from plurank.report.figures.people import draw_people

    model = models("TopicRanking")
    exact = np.histogram(model.user_weights_[:, 0], 20, (0.0, 1.0))[0]
    spec = draw_people(model, 5).to_dict()
    drawn = next([row["people"] for row in rows] for rows in spec["datasets"].values() if "people" in rows[0])
    assert drawn == [4 if 0 < n < 5 else n for n in exact]
    assert ("Grey: fewer than 5 people." in spec["description"]) == any(0 < n < 5 for n in exact)
    uneven = plurank.Comparisons.from_arrays([1, 1, 2, 2, 2], ["a", "b", "a", "b", "c"], ["b", "c", "c", "a", "a"])
    assert "(grey: fewer than 5 people)" in str(draw_comparisons(uneven, 5).to_dict())
