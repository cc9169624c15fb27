"""What draws predict: probabilities of pairs and of levels, against people who are simulated."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plurank.thurstone.draws import LEAST_CHANCE, Draw, DrawnUsers, as_thresholds, level_chances, preference

Q, M, C = 6, 5, 3
N_SIMULATED = 40_000
LARGEST_Z = 4.5  # of the 200 numbers here one exceeds it by chance with probability 0.0014


def make_draw(rng, n_factors=2, n_rankings=2, **changes):
    made = Draw(
        scores=rng.standard_normal((Q, n_rankings)), item_factors=rng.standard_normal((Q, n_factors)),
        weights=rng.dirichlet(np.ones(n_rankings), M), user_factors=rng.standard_normal((M, n_factors)),
        cuts=rng.normal([-1.0, 0.0, 0.0], 0.3, (M, C)), counts=rng.uniform(0.4, 2.0, n_rankings),
        cut_mean=np.array([-1.0, 0.0, 0.1]), cut_precision=4.0 * np.eye(C), coefficients=np.zeros((0, n_factors)),
    )  # fmt: skip
    return replace(made, **changes)


@pytest.fixture
def draws(rng):
    return [make_draw(rng), make_draw(rng, share=0.5)]


@pytest.fixture
def pairs(rng):
    """Questions: rows of users, -1 for unknown ones, and two items."""
    left = rng.integers(Q, size=40)
    right = (left + rng.integers(1, Q, 40)) % Q
    return rng.integers(-1, M, 40), left, right


def users_of(draws):
    return [draw.known() for draw in draws]


def simulate_levels(draw, rng):
    """Levels that the users of a draw give to all items, many times over, (n, M, Q)."""
    mean = draw.weights @ draw.scores.T + draw.user_factors @ draw.item_factors.T
    utilities = mean + rng.standard_normal((N_SIMULATED, M, Q))
    gaps = np.exp(draw.cuts[:, 1:])
    thresholds = draw.cuts[:, :1] + np.concatenate([np.zeros((M, 1)), np.cumsum(gaps, axis=1)], axis=1)
    return utilities, (utilities[..., None] > thresholds[:, None]).sum(axis=3)


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=8), st.integers(1, 4))
def test_thresholds_ascend_whatever_their_coordinates(cuts, n):
    found = as_thresholds(np.tile(cuts, (n, 1)))
    assert found.shape == (n, len(cuts))
    assert (np.diff(found, axis=1) > 0).all()
    np.testing.assert_allclose(found[0, 0], cuts[0])
    np.testing.assert_allclose(np.log(np.diff(found[0])), cuts[1:], atol=1e-6)


def test_no_thresholds_stay_none():
    assert as_thresholds(np.zeros((4, 0))).shape == (4, 0)


@pytest.mark.parametrize("rated", [False, True])
def test_probabilities_of_a_pair_sum_to_one_with_the_sides_swapped(draws, pairs, rated):
    rows, left, right = pairs
    one = preference(draws, users_of(draws), rows, left, right, rated=rated)
    other = preference(draws, users_of(draws), rows, right, left, rated=rated)
    np.testing.assert_allclose(one + other, 1.0, rtol=1e-12)
    assert ((one > 0) & (one < 1)).all()


def test_users_prefer_items_as_often_as_simulated_ones(rng):
    draw = make_draw(rng)
    utilities, levels = simulate_levels(draw, rng)
    items = np.arange(1, Q, dtype=np.int32)
    for user in range(M):
        asked = [draw], [draw.known()], np.full(Q - 1, user, np.int32), np.zeros(Q - 1, np.int32), items
        wins = utilities[:, user, :1] > utilities[:, user, 1:]
        expected = preference(*asked)
        error = np.sqrt(expected * (1 - expected) / N_SIMULATED)
        assert np.abs((wins.mean(axis=0) - expected) / error).max() < LARGEST_Z
        higher, lower = (levels[:, user, :1] > levels[:, user, 1:]), (levels[:, user, :1] < levels[:, user, 1:])
        differ = (higher | lower).sum(axis=0)
        expected = preference(*asked, rated=True)
        error = np.sqrt(expected * (1 - expected) / differ)
        assert np.abs((higher.sum(axis=0) / differ - expected) / error).max() < LARGEST_Z


def test_users_give_levels_as_often_as_simulated_ones(rng):
    draw = make_draw(rng)
    _, levels = simulate_levels(draw, rng)
    rows, items = (grid.ravel().astype(np.int32) for grid in np.meshgrid(np.arange(M), np.arange(Q), indexing="ij"))
    expected = level_chances([draw], [draw.known()], rows, items)
    found = np.stack([(levels == level).mean(axis=0).ravel() for level in range(C + 1)], axis=1)
    error = np.sqrt(expected * (1 - expected) / N_SIMULATED)
    assert np.abs((found - expected) / error).max() < LARGEST_Z


def test_chances_of_levels_sum_to_one_for_known_and_unknown_users(draws, pairs):
    rows, items, _ = pairs
    chances = level_chances(draws, users_of(draws), rows, items)
    assert chances.shape == (40, C + 1)
    assert (chances >= 0).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=1e-12)


def test_draws_count_by_their_share(draws, pairs):
    rows, items, _ = pairs
    one, other = (level_chances([draw], [draw.known()], rows, items) for draw in draws)
    np.testing.assert_allclose(level_chances(draws, users_of(draws), rows, items), (2.0 * one + other) / 3.0)
    rows, left, right = pairs
    one, other = (preference([draw], [draw.known()], rows, left, right) for draw in draws)
    np.testing.assert_allclose(preference(draws, users_of(draws), rows, left, right), (2.0 * one + other) / 3.0)


def test_somebody_unknown_is_like_people_drawn_from_the_prior(rng):
    draw = make_draw(rng, counts=np.array([30.0, 60.0]), item_factors=0.3 * rng.standard_normal((Q, 2)))
    n = 20_000
    weights, factors = rng.dirichlet(draw.counts, n), rng.standard_normal((n, 2))
    people = DrawnUsers(weights, factors, np.tile(draw.cut_mean, (n, 1)))
    rows, zeros, ones = np.arange(n, dtype=np.int32), np.zeros(n, np.int32), np.ones(n, np.int32)
    nobody = np.array([-1], np.int32)
    own = preference([draw], [people], rows, zeros, ones)
    expected = preference([draw], [people], nobody, zeros[:1], ones[:1])
    # a Dirichlet of concentration 90 is nearly normal, so that they differ by less than 0.003 and chance
    assert abs(own.mean() - expected[0]) < 0.003 + LARGEST_Z * own.std() / np.sqrt(n)
    levels = level_chances([draw], [people], rows, zeros)
    expected = level_chances([draw], [people], nobody, zeros[:1])[0]
    assert (np.abs(levels.mean(axis=0) - expected) < 0.003 + LARGEST_Z * levels.std(axis=0) / np.sqrt(n)).all()


def test_a_model_without_users_predicts_for_unknown_ones(draws):
    nobody = [DrawnUsers(draw.weights[:0], draw.user_factors[:0], draw.cuts[:0]) for draw in draws]
    asked = np.full(3, -1, np.int32), np.arange(3, dtype=np.int32), np.arange(3, 6, dtype=np.int32)
    for rated in (False, True):
        with_users = preference(draws, users_of(draws), *asked, rated=rated)
        np.testing.assert_allclose(preference(draws, nobody, *asked, rated=rated), with_users, rtol=1e-12)


def test_utilities_that_were_drawn_decide_themselves(rng):
    draw = make_draw(rng)
    keys, own = np.array([0 * Q + 1, 0 * Q + 4, 2 * Q + 1]), np.array([2.0, -2.0, -3.0])
    users = replace(draw.known(), keys=keys, own=own, cuts=np.tile([-1.0, 0.0, 0.0], (M, 1)))
    rows, items = np.array([0, 0, 2, 1], np.int32), np.array([1, 4, 1, 1], np.int32)
    chances = level_chances([draw], [users], rows, items)
    np.testing.assert_array_equal(chances[:3].argmax(axis=1), [3, 0, 0])  # thresholds are -1, 0 and 1
    np.testing.assert_allclose(chances[:3].max(axis=1), 1.0)
    assert chances[3].max() < 1.0
    sure = preference([draw] * 50, [users] * 50, rows[:1], items[:1], items[1:2])
    assert sure[0] == 1.0 - 0.1 / 50  # as few draws say no more
    assert preference([draw], [draw.known()], rows[:1], items[:1], items[1:2])[0] <= 1.0 - LEAST_CHANCE


@pytest.mark.parametrize("rated", [False, True])
def test_the_order_of_rankings_and_factors_that_are_zero_change_no_prediction(rng, pairs, rated):
    draw = make_draw(rng, n_rankings=3)
    for other in (draw.reorder(np.array([2, 0, 1])), draw.pad(5, 2)):
        one, another = (preference([each], [each.known()], *pairs, rated=rated) for each in (draw, other))
        np.testing.assert_allclose(one, another, rtol=1e-9)
    assert draw.pad(5, 2).coefficients.shape == (2, 5)
    assert draw.pad(5, 2).shape == (3, 5)


def test_new_users_come_after_those_they_join(rng):
    one, other = make_draw(rng).known(), make_draw(rng).known()
    joined = one.join(other)
    np.testing.assert_array_equal(joined.weights[M:], other.weights)
    np.testing.assert_array_equal(joined.thresholds()[:M], one.thresholds())
