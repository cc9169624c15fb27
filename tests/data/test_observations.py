"""Comparisons made from ratings or rankings are told from others, and count as what was observed."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import plurank
from plurank import Comparisons
from plurank.data.split import count_items, look_rated, weigh_observations


def ratings(n_users=40, n_items=12, n_stars=5, seed=0):
    rng = np.random.default_rng(seed)
    users, items = np.nonzero(rng.random((n_users, n_items)) < 0.7)
    return pl.DataFrame({"user": users, "item": items, "rating": rng.integers(1, n_stars + 1, len(users))})


@pytest.mark.parametrize("pairs", ["full", "partial"])
@pytest.mark.parametrize("ties", ["ignore", "both"])
def test_comparisons_made_from_ratings_look_so_when_nobody_says(pairs, ties):
    made = Comparisons.from_ratings(ratings(), pairs, ties, random_state=0)
    assert look_rated(replace(made, rated=None))


def test_comparisons_made_from_rankings_look_so_when_nobody_says():
    frame = ratings(n_stars=1000).rename({"rating": "rank"})
    assert look_rated(replace(Comparisons.from_rankings(frame), rated=None))


def test_comparisons_remember_that_they_were_made_from_ratings():
    made = Comparisons.from_ratings(ratings(), ties="random", random_state=0)
    assert look_rated(made)
    assert not look_rated(replace(made, rated=None))  # ties that were tossed hide it
    assert not look_rated(replace(made, rated=False))
    train, test = made.split(0.5, random_state=0)
    assert train.rated is True
    assert test.block(0, 3).rated is True
    assert plurank.simulate(5, 4, 1, 3, random_state=0).comparisons.rated is None


def test_half_a_win_each_way_is_a_tie_of_ratings():
    votes = [("a", "b", "left"), ("b", "c", "tie"), ("a", "c", "left")]
    rows = [(user, *vote) for user in range(10) for vote in votes]
    frame = pl.DataFrame(rows, schema=["user", "left", "right", "winner"], orient="row")
    assert look_rated(Comparisons.from_frame(frame))


def test_people_who_contradict_themselves_were_asked_pair_by_pair():
    assert not look_rated(plurank.simulate(100, 6, 3, 30, concentration=3.0, random_state=0).comparisons)


def test_repeated_comparisons_were_asked_pair_by_pair():
    users = np.repeat(np.arange(20), 6)
    assert not look_rated(Comparisons.from_arrays(users, np.full(120, "a"), np.full(120, "b")))
    columns = np.repeat(np.arange(20), 3), ["a", "b", "a"] * 20, ["b", "c", "c"] * 20
    assert look_rated(Comparisons.from_arrays(*columns))
    assert not look_rated(Comparisons.from_arrays(*columns, [1.0, 1.0, 2.0] * 20))


def test_a_few_people_who_do_not_contradict_themselves_prove_nothing():
    columns = np.repeat(np.arange(19), 3), ["a", "b", "a"] * 19, ["b", "c", "c"] * 19
    assert not look_rated(Comparisons.from_arrays(*columns))


def test_people_who_could_not_contradict_themselves_say_nothing():
    assert not look_rated(Comparisons.from_arrays(["u", "u", "v"], ["a", "b", "a"], ["b", "c", "c"]))


def test_all_comparisons_of_n_items_count_as_n_minus_one_observations():
    frame = ratings(n_stars=1000).unique(["user", "rating"])
    c = Comparisons.from_ratings(frame)
    n_items = count_items(c)
    np.testing.assert_allclose(weigh_observations(c).weights_of_users(), n_items - 1)
    twice = weigh_observations(c, 2.0).weights_of_users()
    np.testing.assert_allclose(twice, np.diff(c.offsets) / (1 + (n_items - 2) / 4))
    assert (twice >= n_items - 1).all()
    assert (twice < 2 * n_items).all()
    np.testing.assert_allclose(weigh_observations(c, 1e12).weights, 1.0)


def test_comparisons_that_share_no_item_count_in_full():
    c = Comparisons.from_arrays(["u", "u", "v"], ["a", "c", "a"], ["b", "d", "b"])
    np.testing.assert_array_equal(weigh_observations(c).weights, 1.0)


def test_what_one_item_did_to_many_counts_less_than_what_many_did_to_many():
    star = Comparisons.from_arrays(["u"] * 4, ["a", "b", "c", "d"], ["z"] * 4)
    chain = Comparisons.from_arrays(["u"] * 4, ["a", "b", "c", "d"], ["b", "c", "d", "z"])
    assert weigh_observations(star).total_weight == pytest.approx(4 / (1 + 1.5 / 2))
    assert weigh_observations(chain).total_weight > weigh_observations(star).total_weight


def test_a_weight_of_two_counts_as_the_row_twice():
    heavy = Comparisons.from_arrays(["u"] * 3, ["a", "b", "a"], ["b", "c", "c"], [2.0, 1.0, 1.0])
    twice = Comparisons.from_arrays(["u"] * 4, ["a", "a", "b", "a"], ["b", "b", "c", "c"])
    found = weigh_observations(twice).weights
    np.testing.assert_allclose(weigh_observations(heavy).weights, [found[:2].sum(), *found[2:]])


def test_halves_of_a_tie_are_one_comparison():
    tie = Comparisons.from_arrays(["u"] * 2, ["a", "b"], ["b", "a"], [0.5, 0.5])
    np.testing.assert_array_equal(weigh_observations(tie).weights, 0.5)
