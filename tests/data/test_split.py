"""Splits by item, splits that do not tell on each other, and blocks of users."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plurank import (
    Comparisons,
    DataError,
    ParameterError,
    simulate,
)
from plurank.data.split import some_users, split_safely
from plurank.engine.blocks import cut_users
from plurank.random import uniforms_of
from tests.oracles.small_data import build, draw_comparisons


def items_by_user(c):
    """The set of items of every user label."""
    return {
        user: {*c.winners[b:e].tolist(), *c.losers[b:e].tolist()}
        for user, (b, e) in zip(c.users.tolist(), pairwise(c.offsets), strict=True)
    }


@given(seed=st.integers(0, 999), size=st.sampled_from([0.3, 0.5, 0.6]), weighted=st.booleans())
def test_by_item_no_user_has_an_item_on_both_sides(seed, size, weighted):
    c = draw_comparisons(np.random.default_rng(seed), n_users=40, n_items=6, most=15, weighted=weighted)
    train, test = c.split(size, "item", seed)
    trained, tested = items_by_user(train), items_by_user(test)
    assert all(not trained[user] & tested[user] for user in trained.keys() & tested.keys())
    rows = c.to_frame().rows()
    assert all(row in rows for row in train.to_frame().rows() + test.to_frame().rows())
    assert train.n_items == test.n_items == c.n_items


def test_by_item_the_share_of_held_out_items_is_about_the_one_asked_for(easy):
    # a comparison has two items, so 0.3^2 and 0.7^2 of 40,000 comparisons, of 8,000 drawn items: five deviations
    train, test = easy.comparisons.split(0.3, "item", 1)
    assert len(test) / 40_000 == pytest.approx(0.09, abs=0.016)
    assert len(train) / 40_000 == pytest.approx(0.49, abs=0.036)


def test_by_item_the_same_seed_splits_the_same_way_and_another_does_not(easy, assert_same):
    once, again, other = (easy.comparisons.split(0.3, "item", seed)[1] for seed in (1, 1, 2))
    assert_same(once, again)
    assert len(once) != len(other) or (once.winners != other.winners).any()


@pytest.mark.parametrize("test_size", [0, 1.0, -1, "half"])
def test_by_item_a_test_size_that_is_no_share_is_refused(small, test_size):
    with pytest.raises(ParameterError, match="test_size must be a number between 0 and 1, got"):
        small.split(test_size, by="item")


def test_by_item_an_empty_side_is_refused_with_a_sentence():
    one = Comparisons.from_arrays([1], ["x"], ["y"])
    with pytest.raises(DataError) as caught:
        one.split(0.5, by="item", random_state=0)
    assert str(caught.value) == (
        "cannot hold out 0.5 of 1 comparison by item: one side would be empty. Use more data or another test_size."
    )


def test_a_safe_split_holds_out_items_of_circular_users_and_comparisons_of_the_others(rng):
    chain = np.arange(7)  # six comparisons of seven items close no circle
    first, second = np.triu_indices(4, 1)  # six comparisons of four items do
    users = np.repeat(np.arange(200), 6)
    winners = np.concatenate([np.tile(chain[:-1], 100), np.tile(first, 100)])
    losers = np.concatenate([np.tile(chain[1:], 100), np.tile(second, 100)])
    c = build(users, winners, losers, None, np.arange(7))
    kept, held_out = split_safely(c, 0.4, rng)
    assert not (kept & held_out).any()
    circular = users >= 100
    assert (kept | held_out)[~circular].all()
    assert held_out[~circular].mean() == pytest.approx(0.4, abs=0.1)  # 600 draws: five deviations
    trained, tested = (items_by_user(c.select(marks & circular)) for marks in (kept, held_out))
    assert tested
    assert all(not trained[user] & tested[user] for user in trained.keys() & tested.keys())


def test_a_safe_split_holds_out_items_of_everybody_whose_comparisons_are_made_from_ratings(rng):
    users = np.repeat(np.arange(300), 6)
    c = build(users, np.tile(np.arange(6), 300), np.tile(np.arange(1, 7), 300), None, np.arange(7))
    for rated, marked in ((True, c), (None, replace(c, rated=True))):
        kept, held_out = split_safely(marked, 0.4, rng, rated)
        trained, tested = (items_by_user(c.select(marks)) for marks in (kept, held_out))
        assert tested
        assert all(not trained[user] & tested[user] for user in trained.keys() & tested.keys())
    kept, held_out = split_safely(replace(c, rated=True), 0.4, rng, False)
    assert (kept | held_out).all(), "whoever denies it is believed"


def test_draws_of_keys_lie_in_the_unit_interval_and_depend_on_seed_and_key_alone():
    keys = np.array([0, 1, 2**40, 5, 1, 2**62])
    draws = uniforms_of(12345, keys)
    assert ((draws >= 0) & (draws < 1)).all()
    assert draws[1] == draws[4]
    assert len(set(draws.tolist())) == 5
    np.testing.assert_array_equal(uniforms_of(12345, keys[::-1]), draws[::-1])
    assert (uniforms_of(12346, keys) != draws).all()
    assert ((uniforms_of(2**63 - 1, keys) >= 0) & (uniforms_of(2**63 - 1, keys) < 1)).all()


def test_draws_of_neighbouring_keys_and_seeds_are_uniform_and_unrelated():
    # 40,000 draws: a share of 1/20 strays by 0.0011 and a correlation by 0.005, so five times that
    draws = uniforms_of(7, np.arange(40_000))
    np.testing.assert_allclose(np.histogram(draws, 20, (0, 1))[0] / 40_000, 0.05, atol=0.0055)
    for other in (uniforms_of(8, np.arange(40_000)), uniforms_of(7, np.arange(40_000) + 1)):
        assert abs(np.corrcoef(draws, other)[0, 1]) < 0.025


@given(per_user=st.lists(st.integers(0, 30), max_size=300), bytes_per_block=st.sampled_from([0, 10**6, 10**9]))
def test_blocks_cover_all_users_in_order(per_user, bytes_per_block):
    offsets = np.concatenate([[0], np.cumsum(per_user)]).astype(np.int64)
    edges = cut_users(offsets, bytes_per_block)
    assert edges.dtype == np.int64
    assert edges[0] == 0
    assert edges[-1] == len(per_user)
    assert (np.diff(edges) > 0).all()
    assert len(edges) <= 65


def test_blocks_have_about_as_many_comparisons_each_and_are_fewer_where_they_are_large(easy):
    offsets = easy.comparisons.offsets
    sizes = np.diff(offsets[cut_users(offsets, 0)])
    assert len(sizes) == 64
    assert sizes.max() - sizes.min() <= 50
    assert len(cut_users(offsets, 10**9)) == 5


def test_a_sample_has_enough_comparisons_and_enough_users(rng):
    c = simulate(200, 6, 2, 10, random_state=0).comparisons
    assert some_users(c, 2000, rng) is c
    assert some_users(c, 95, rng).n_users == 10
    assert some_users(c, 95, rng, least_users=40).n_users == 40
    assert some_users(c, 95, rng, least_users=200) is c


def test_items_are_held_out_of_made_comparisons_even_where_tossed_ties_contradict_each_other():
    rng = np.random.default_rng(0)
    users, items = np.nonzero(rng.random((30, 20)) < 0.9)
    frame = pl.DataFrame({"user": users, "item": items, "rating": rng.integers(1, 4, len(users))})
    made = Comparisons.from_ratings(frame, ties="random", random_state=0)
    kept, held_out = split_safely(made, 0.3, np.random.default_rng(1))
    for user in range(made.n_users):
        own = made.user_of_each() == user
        trained = {*made.winners[own & kept], *made.losers[own & kept]}
        assert not trained & {*made.winners[own & held_out], *made.losers[own & held_out]}
