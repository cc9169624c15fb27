"""Users who follow one ranking alone tell the kinds of users apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import cKDTree

from plurank import Comparisons, simulate
from plurank.mixed.init import _neighbours, find_user_vertices
from tests.oracles.small_data import draw_comparisons, weighted


@given(n_rankings=st.integers(1, 5), n_users=st.integers(1, 12), has_weights=st.booleans(), seed=st.integers(0, 999))
def test_rows_lie_on_the_simplex_and_nobody_has_weight_zero(n_rankings, n_users, has_weights, seed):
    c = draw_comparisons(np.random.default_rng(seed), n_users=n_users, n_items=4, weighted=has_weights)
    weights = find_user_vertices(c, n_rankings, rng=np.random.default_rng(0))
    assert weights.shape == (n_users, n_rankings)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)
    assert (weights > 0).all()


@pytest.mark.parametrize("n_rankings", [2, 3])
@pytest.mark.parametrize("has_weights", [False, True])
def test_users_of_different_rankings_are_told_apart(n_rankings, has_weights):
    s = simulate(
        150, 12, n_rankings, 60, concentration=0, random_state=5, mean_weights=np.ones(n_rankings) / n_rankings
    )
    c = weighted(s.comparisons, np.full(len(s.comparisons), 2.0)) if has_weights else s.comparisons
    kinds = find_user_vertices(c, n_rankings, rng=np.random.default_rng(0)).argmax(axis=1)
    truth = s.user_weights.argmax(axis=1)
    table = np.zeros((n_rankings, n_rankings))
    np.add.at(table, (truth, kinds), 1)
    assert (np.sort(table.argmax(axis=1)) == np.arange(n_rankings)).all()
    assert table.max(axis=1).sum() >= 0.98 * c.n_users


def test_what_kind_somebody_is_does_not_depend_on_how_much_they_said():
    low, high = np.triu_indices(5, 1)
    users = np.repeat(np.arange(40), np.where(np.arange(40) < 20, 10, 300))  # of two kinds, with opposite tastes
    first, second = np.resize(low, len(users)), np.resize(high, len(users))
    winners, losers = np.where(users % 2, first, second), np.where(users % 2, second, first)
    weights = find_user_vertices(Comparisons.from_arrays(users, winners, losers), 2, rng=np.random.default_rng(0))
    assert (weights.max(axis=1) > 0.9).all()
    kinds = weights.argmax(axis=1)
    assert (kinds[::2] == kinds[0]).all()
    assert (kinds[1::2] == 1 - kinds[0]).all()


@pytest.mark.parametrize(("n_points", "n_dimensions"), [(1, 3), (4, 2), (11, 4), (1200, 10)])
def test_neighbours_are_the_nearest_points(rng, n_points, n_dimensions):
    points, n = rng.standard_normal((n_points, n_dimensions)), min(10, n_points)
    _, nearest = cKDTree(points).query(points, k=np.arange(1, n + 1))
    np.testing.assert_array_equal(_neighbours(points, n), np.sort(nearest, axis=1))
