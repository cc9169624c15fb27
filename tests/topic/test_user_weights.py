"""Every user's weights, and the flip probability."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from plurank import kernels, simulate
from plurank.metrics.rankings import places_of
from plurank.topic.orders import win_probabilities
from plurank.topic.weights import (
    TOLERANCE,
    fit_flip,
    flip_behind,
    infer_weights,
)
from tests.oracles.small_data import draw_comparisons, flipped, repeated, users_of, weighted

seeds = st.integers(0, 2**32 - 1)


def draw_case(seed, n_rankings, is_weighted=False):
    rng = np.random.default_rng(seed)
    c = draw_comparisons(rng, weighted=is_weighted)
    rankings = np.stack([rng.permutation(c.n_items) for _ in range(n_rankings)])
    return c, rankings, rng


def agreement(c, rankings):
    """[ranking k puts the winner of comparison e first], (n, K)."""
    return np.array([[list(r).index(w) < list(r).index(x) for r in rankings.tolist()] for w, x in pairs_of(c)])


def pairs_of(c):
    return zip(c.winners.tolist(), c.losers.tolist(), strict=True)


def log_posterior(c, rankings, flip, prior, theta):
    """Of every user, up to a constant: comparisons, and a Dirichlet(prior) density in the softmax basis."""
    chances = flip + (1 - 2 * flip) * (agreement(c, rankings) * theta[users_of(c)]).sum(axis=1)
    weights = np.ones(len(c)) if c.weights is None else c.weights
    return np.bincount(users_of(c), weights * np.log(chances), c.n_users) + (prior * np.log(theta)).sum(axis=1)


@given(seed=seeds, n_rankings=st.integers(1, 4), is_weighted=st.booleans())
def test_no_round_of_em_lowers_the_posterior(seed, n_rankings, is_weighted):
    c, rankings, rng = draw_case(seed, n_rankings, is_weighted)
    flip, prior = rng.uniform(0.001, 0.4), rng.uniform(0.01, 3.0, n_rankings)
    theta = rng.dirichlet(np.ones(n_rankings), c.n_users)
    before = log_posterior(c, rankings, flip, prior, theta)
    for _ in range(6):
        theta = kernels.map_user_weights(
            c.offsets, c.winners, c.losers, c.kernel_weights, places_of(rankings), flip, prior, theta, 1, 0.0
        )
        after = log_posterior(c, rankings, flip, prior, theta)
        assert (after >= before - 1e-9).all()
        before = after


@given(seed=seeds, n_rankings=st.integers(1, 4), is_weighted=st.booleans())
def test_weights_are_on_the_simplex(seed, n_rankings, is_weighted):
    c, rankings, rng = draw_case(seed, n_rankings, is_weighted)
    theta = infer_weights(c, rankings, 0.01, rng.uniform(0.01, 3.0, n_rankings))
    assert theta.shape == (c.n_users, n_rankings)
    assert (theta >= 0).all()
    np.testing.assert_allclose(theta.sum(axis=1), 1.0, atol=1e-9)


@given(seed=seeds)
def test_weight_two_speaks_like_the_row_twice(seed):
    c, rankings, rng = draw_case(seed, 3)
    times, prior = rng.integers(1, 4, len(c)), rng.uniform(0.1, 2.0, 3)
    once = infer_weights(weighted(c, times), rankings, 0.05, prior)
    over = infer_weights(repeated(c, times), rankings, 0.05, prior)
    np.testing.assert_allclose(once, over, atol=TOLERANCE)  # rounding may decide in which round the last step is taken
    flips = [fit_flip(data, rankings, once) for data in (weighted(c, times), repeated(c, times))]
    assert flips[0] == pytest.approx(flips[1], abs=1e-6)  # the search ends when its step is below 1e-7


def test_the_best_weight_of_two_rankings_is_where_a_fine_grid_has_it():
    rankings = np.array([[0, 1, 2], [2, 1, 0]])
    c = repeated(draw_comparisons(np.random.default_rng(0), n_users=6, n_items=3), 3)
    flip, prior = 0.05, np.array([0.7, 0.4])
    grid = np.linspace(0.001, 0.999, 999)
    values = [log_posterior(c, rankings, flip, prior, np.tile([g, 1 - g], (c.n_users, 1))) for g in grid]
    best = grid[np.argmax(values, axis=0)]
    # EM stops when a round moves the weights by less than a thousandth
    np.testing.assert_allclose(infer_weights(c, rankings, flip, prior)[:, 0], best, atol=0.02)


def test_a_ranking_that_nobody_was_expected_to_follow_can_still_win_a_user():
    rankings = np.array([[0, 1, 2], [2, 1, 0]])
    c = repeated(draw_comparisons(np.random.default_rng(0), n_users=3, n_items=3), 1)
    all_reversed = type(c)(
        np.maximum(c.winners, c.losers), np.minimum(c.winners, c.losers), c.offsets, c.items, c.users
    )
    theta = infer_weights(all_reversed, rankings, 0.001, np.array([1.0, 0.0]), np.tile([1.0, 0.0], (3, 1)))
    assert (theta[:, 1] > 0).all()


@given(seed=seeds, n_rankings=st.integers(1, 4), is_weighted=st.booleans())
def test_the_flip_probability_maximises_the_likelihood(seed, n_rankings, is_weighted):
    c, rankings, rng = draw_case(seed, n_rankings, is_weighted)
    theta = rng.dirichlet(np.ones(n_rankings), c.n_users)
    agreeing = (agreement(c, rankings) * theta[users_of(c)]).sum(axis=1)
    weights = np.ones(len(c)) if c.weights is None else c.weights
    least = 0.5 / (weights.sum() + 1)

    def loss(flip):
        return -float(weights @ np.log(flip + (1 - 2 * flip) * agreeing))

    exact = minimize_scalar(loss, bounds=(least, 0.5), method="bounded", options={"xatol": 1e-9})
    found = fit_flip(c, rankings, theta)
    assert least <= found <= 0.5
    assert loss(found) <= exact.fun + 1e-4


def test_comparisons_on_which_all_rankings_agree_count_although_their_weights_round_above_one():
    # a fixed bug: 0.1 + 0.2 + 0.7 and the like can be 1 + 2e-16, and such comparisons were left out
    s = simulate(200, 6, 3, 30, random_state=0)
    c = flipped(s.comparisons, 0.1, np.random.default_rng(1))
    theta = np.full((200, 3), (1 + 1e-15) / 3)
    assert theta.sum(axis=1).max() > 1
    exact = fit_flip(c, s.rankings, np.full((200, 3), 1 / 3))
    assert fit_flip(c, s.rankings, theta) == pytest.approx(exact, abs=1e-6)


def test_with_one_ranking_the_flip_probability_is_the_share_of_comparisons_against_it():
    s = simulate(300, 8, 1, 20, random_state=0)
    c = flipped(s.comparisons, 0.2, np.random.default_rng(1))
    share = 1 - agreement(c, s.rankings).mean()
    assert fit_flip(c, s.rankings, np.ones((300, 1))) == pytest.approx(share, abs=1e-5)


def test_no_comparison_is_impossible_even_where_all_data_fit():
    s = simulate(50, 5, 1, 10, random_state=0)
    flip = fit_flip(s.comparisons, s.rankings, np.ones((50, 1)))
    assert 0.5 / 501 <= flip < 2 / 500


def test_where_all_data_fit_flips_are_as_rare_as_half_of_one_more_comparison():
    assert flip_behind(np.ones(9), None) == pytest.approx(0.05, abs=1e-5)
    assert flip_behind(np.ones(2), np.array([4.0, 5.0])) == pytest.approx(0.05, abs=1e-5)


def test_probabilities_of_the_two_orders_sum_to_one():
    agreeing = np.linspace(0, 1, 11)
    np.testing.assert_allclose(win_probabilities(agreeing, 0.1) + win_probabilities(1 - agreeing, 0.1), 1.0)
    assert win_probabilities(np.array([0.0, 1.0]), 0.1).tolist() == pytest.approx([0.1, 0.9])
