"""Passes over comparisons, predictions and the search for orders equal their plain twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plurank import kernels
from plurank.data.encoding import index_pairs
from plurank.engine.blocks import cut_users
from tests.kernels.twins import NOTHING, both, twin_of, users_and_items

# near the maximum the last digit of the posterior decides whether a step of about its root, 1e-8, is kept
ONE_LAST_STEP = {"rtol": 1e-6, "atol": 1e-6}


@st.composite
def passes(draw):
    """The columns of comparisons, a start and a prior (1, K) or (M, K), and the rest of what a pass takes."""
    offsets, winners, losers, weights, n_items, rng = draw(users_and_items())
    n_rankings, n_users = draw(st.integers(1, 13)), offsets.size - 1
    init = rng.dirichlet(np.full(n_rankings, 5.0), n_users)
    prior = rng.uniform(0.1, 2.0, (draw(st.sampled_from([1, max(n_users, 1)])), n_rankings))
    edges = cut_users(offsets, 0) if n_users and draw(st.booleans()) else np.array([0, n_users])
    columns = (edges, offsets, winners, losers, weights)
    return columns, n_items, init, prior, draw(st.integers(0, 6)), rng


@pytest.mark.parametrize("name", ["probability_pass", "utility_pass"])
@given(case=passes(), spread=st.sampled_from([0.1, 1.0, 4.0, 300.0]), informed=st.booleans())
def test_the_passes_over_scores_equal_their_twins(name, case, spread, informed):
    columns, n_items, init, prior, n_rounds, rng = case
    scores = spread * rng.standard_normal((n_items, init.shape[1]))
    tolerance = ONE_LAST_STEP if n_rounds else {"rtol": 1e-9, "atol": 1e-9}
    theta, *_ = both(name, *columns, scores, init, prior, n_rounds, informed, **tolerance)
    np.testing.assert_allclose(theta.sum(axis=1), 1.0, atol=1e-9)


@given(case=passes())
def test_the_pass_over_places_equals_its_twin(case):
    columns, n_items, init, prior, n_rounds, rng = case
    places, laws = draw_orders(rng, n_items, init.shape[1])
    tolerance = ONE_LAST_STEP if n_rounds else {}
    theta, *_ = both("places_pass", *columns, places, laws, init, prior, n_rounds, **tolerance)
    np.testing.assert_allclose(theta.sum(axis=1), 1.0, atol=1e-9)


def draw_orders(rng, n_items, n_rankings):
    """Places (Q, K) and laws (K, 2 Q - 1), any probabilities."""
    places = np.stack([rng.permutation(n_items) for _ in range(n_rankings)], axis=1).astype(np.int32)
    return places, rng.uniform(0.05, 0.95, (n_rankings, 2 * n_items - 1))


@given(data=users_and_items(), n_rankings=st.integers(1, 4), spread=st.sampled_from([1.0, 50.0, 1000.0]))
def test_mixed_predictions_equal_their_twins_and_are_probabilities(data, n_rankings, spread):
    offsets, left, right, _, n_items, rng = data
    users = np.repeat(np.arange(offsets.size - 1, dtype=np.int32), np.diff(offsets))
    theta = rng.dirichlet(np.ones(n_rankings), offsets.size - 1)
    scores = spread * rng.standard_normal((n_items, n_rankings))
    for name, parts in (
        ("mix_probabilities", (scores, theta)),
        ("mix_utilities", (scores, theta, 100.0 * rng.random(len(theta)))),
        ("mix_places", (*draw_orders(rng, n_items, n_rankings), theta)),
    ):
        p = both(name, users, left, right, *parts)
        assert ((p >= 0.0) & (p <= 1.0)).all()
    both("mean_wins", scores, spread * rng.standard_normal((3, n_rankings)))


@given(data=users_and_items(), n_rankings=st.integers(1, 4))
def test_expected_wins_equal_their_twin_and_share_out_every_comparison(data, n_rankings):
    offsets, winners, losers, weights, n_items, rng = data
    rows, lower, _ = index_pairs(winners, losers, n_items)
    order, begins = kernels.group(rows, 2 * lower.size)
    users = np.repeat(np.arange(offsets.size - 1, dtype=np.int32), np.diff(offsets))[order]
    theta = rng.dirichlet(np.ones(n_rankings), offsets.size - 1)
    weights = weights[order] if weights.size else NOTHING
    probabilities = rng.uniform(0.05, 0.95, (2 * lower.size, n_rankings))
    wins = both("expected_wins", begins, users, weights, probabilities, theta, 20.0 * rng.random(len(theta)))
    np.testing.assert_allclose(wins.sum(), weights.sum() if weights.size else winners.size)


@given(
    n_items=st.integers(2, 8),
    n_rankings=st.integers(1, 3),
    density=st.sampled_from([0.3, 1.0]),
    steps=st.booleans(),
    reach=st.integers(1, 9),
    seed=st.integers(0, 999),
)
def test_the_search_for_orders_and_the_place_errors_equal_their_twins(n_items, n_rankings, density, steps, reach, seed):
    rng = np.random.default_rng(seed)
    wins = rng.gamma(1.0, 3.0, (n_items, n_items, n_rankings))
    first, second = np.nonzero(np.triu(rng.random((n_items, n_items)) < density, 1))
    items, partners = np.concatenate([first, second]), np.concatenate([second, first])
    order = np.argsort(items, kind="stable")
    items, partners = items[order], partners[order].astype(np.int32)
    meetings = (np.searchsorted(items, np.arange(n_items + 1)), partners, wins[items, partners], wins[partners, items])
    leads = np.arange(1 - n_items, n_items)
    laws = np.log(np.tile(0.5 + 0.4 * np.sign(leads) if steps else 1.0 / (1.0 + np.exp(-leads)), (n_rankings, 1)))
    rankings = np.stack([rng.permutation(n_items) for _ in range(n_rankings)])
    found = both("improve_orders", rankings, *meetings, laws, reach, 10)
    assert (np.sort(found, axis=1) == np.arange(n_items)).all()
    both("place_errors", found, *meetings, laws, reach, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["probability_pass", "utility_pass"])
@pytest.mark.parametrize("weighted", [False, True])
def test_what_is_no_number_stays_so_in_the_log_posterior(name, weighted, rng):
    offsets, winners = np.array([0, 9]), np.zeros(9, np.int32)
    weights = rng.random(9) + 0.1 if weighted else NOTHING
    columns = (np.array([0, 1]), offsets, winners, winners + np.int32(1), weights)
    scores, theta = rng.standard_normal((2, 3)), np.full((1, 3), 1.0 / 3.0)
    scores[1, 2] = np.nan
    with np.errstate(invalid="ignore"):
        for function in (getattr(kernels, name), twin_of(name)):
            assert np.isnan(function(*columns, scores, theta, np.ones((1, 3)), 2, False)[1])
