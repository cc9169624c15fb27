"""Comparisons by ordered pair, entry by entry."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from plurank import kernels
from plurank.topic.orders import PairCounts
from tests.oracles.small_data import draw_comparisons, users_of


def draw(seed, weighted):
    rng = np.random.default_rng(seed)
    c = draw_comparisons(rng, weighted=weighted)
    return c, PairCounts.of(c), rng


@given(seed=st.integers(0, 999), weighted=st.booleans())
def test_every_comparison_stands_once_with_its_ordered_pair(seed, weighted):
    c, pairs, _ = draw(seed, weighted)
    counts = np.ones(len(c)) if c.weights is None else c.weights
    rows = np.repeat(np.arange(len(pairs.winners)), np.diff(pairs.begins))
    own = pairs.weights if pairs.weights.size else np.ones(len(rows))
    columns = (pairs.winners[rows], pairs.losers[rows], pairs.users, own)
    expected = (c.winners, c.losers, users_of(c), counts)
    assert sorted(zip(*map(np.ndarray.tolist, columns), strict=True)) == sorted(
        zip(*map(np.ndarray.tolist, expected), strict=True)
    )
    assert (pairs.lower < pairs.higher).all()
    assert len({*zip(pairs.lower.tolist(), pairs.higher.tolist(), strict=True)}) == len(pairs.lower)


@given(seed=st.integers(0, 999), weighted=st.booleans())
def test_expected_wins_equal_the_shares_summed_one_by_one(seed, weighted):
    c, pairs, rng = draw(seed, weighted)
    theta, p = rng.dirichlet(np.ones(3), c.n_users), rng.uniform(0.05, 0.95, (len(pairs.winners), 3))
    user_concentration = rng.uniform(0.0, 50.0, c.n_users)
    row_of = {pair: w for w, pair in enumerate(zip(pairs.winners.tolist(), pairs.losers.tolist(), strict=True))}
    expected = np.zeros(p.shape)
    for e, u in enumerate(users_of(c)):
        w = row_of[int(c.winners[e]), int(c.losers[e])]
        mixed = theta[u] @ p[w]
        score_scale = theta[u] @ p[w] ** 2 / mixed**2 - 1.0
        share = (
            theta[u] * p[w] * np.maximum(1.0 + (score_scale - p[w] / mixed + 1.0) / (user_concentration[u] + 1.0), 0.0)
        )
        expected[w] += (1.0 if c.weights is None else c.weights[e]) * share / share.sum()
    np.testing.assert_allclose(pairs.expected_wins(p, theta, user_concentration), expected, atol=1e-12)


@given(seed=st.integers(0, 999))
def test_meetings_list_every_partner_of_every_item_with_wins_and_losses(seed):
    _, pairs, rng = draw(seed, False)
    wins = rng.random((len(pairs.winners), 2))
    table = np.zeros((pairs.n_items, pairs.n_items, 2))
    table[pairs.winners, pairs.losers] = wins
    begins, partners, won, lost = pairs.meetings(wins)
    assert begins[-1] == len(partners) == 2 * len(pairs.lower)
    for i in range(pairs.n_items):
        own = slice(begins[i], begins[i + 1])
        met = set(pairs.losers[pairs.winners == i].tolist())
        assert set(partners[own].tolist()) == met
        assert len(partners[own]) == len(met)
        np.testing.assert_array_equal(won[own], table[i, partners[own]])
        np.testing.assert_array_equal(lost[own], table[partners[own], i])


def test_expected_wins_are_near_the_mean_over_a_dirichlet_of_weights(rng):
    quantiles = (np.arange(20_000) + 0.5) / 20_000
    one, none = np.array([0, 1]), np.empty(0)
    for user_concentration in (20.0, 80.0):
        theta, p = rng.dirichlet(np.full(2, 3.0)), rng.uniform(0.1, 0.9, 2)
        first = beta.ppf(quantiles, *(user_concentration * theta))
        exact = (first * p[0] / (first * p[0] + (1.0 - first) * p[1])).mean()
        found = kernels.expected_wins(
            one, np.zeros(1, np.int32), none, p[None], theta[None], np.array([user_concentration])
        )
        plain = theta[0] * p[0] / (theta @ p)
        # to second order: what is left falls with the square of the evidence
        assert abs(found[0, 0] - exact) < min(2.0 / user_concentration**2, 0.3 * abs(plain - exact))
        np.testing.assert_allclose(found.sum(), 1.0)
