"""Algorithm 3: regression on the simplex."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from plurank.topic.rounding import estimate_ranking_matrix


def solve(vertices, point):
    """The nearest mixture by a general solver."""
    n = len(vertices)
    found = minimize(
        lambda b: ((point - b @ vertices) ** 2).sum(),
        np.full(n, 1 / n),
        bounds=[(0, 1)] * n,
        constraints={"type": "eq", "fun": lambda b: b.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return found.x


@given(seed=st.integers(0, 10_000), n_rankings=st.integers(1, 5))
def test_every_row_is_the_nearest_mixture_of_the_vertices_scaled_by_its_count(seed, n_rankings):
    rng = np.random.default_rng(seed)
    vertices, points = rng.standard_normal((n_rankings, 6)), rng.standard_normal((4, 6))
    counts = rng.integers(1, 9, 4).astype(float)
    matrix = estimate_ranking_matrix(vertices @ vertices.T, points @ vertices.T, counts, 1e-10)
    for w in range(4):
        share = matrix[w] * counts.sum() / counts[w]
        assert share.min() >= 0
        assert share.sum() == pytest.approx(1.0)
        best = ((points[w] - solve(vertices, points[w]) @ vertices) ** 2).sum()
        assert ((points[w] - share @ vertices) ** 2).sum() <= best + 1e-4


@given(seed=st.integers(0, 10_000), n_rankings=st.integers(2, 5))
def test_mixtures_come_back_exactly_and_columns_sum_to_the_mean_weights(seed, n_rankings):
    rng = np.random.default_rng(seed)
    vertices = np.eye(n_rankings) + 0.1 * rng.standard_normal((n_rankings, n_rankings))
    shares = rng.dirichlet(np.ones(n_rankings), 8)
    counts = rng.integers(1, 9, 8).astype(float)
    matrix = estimate_ranking_matrix(vertices @ vertices.T, shares @ vertices @ vertices.T, counts, 1e-12)
    np.testing.assert_allclose(matrix, shares * (counts / counts.sum())[:, None], atol=1e-8)


def test_the_regression_tolerance_bounds_how_far_the_objective_is_from_its_minimum(rng):
    # the gap of gradients bounds f(b) - min f, here relative to the mean of the diagonal of the Gram matrix
    vertices, points = rng.standard_normal((5, 5)), rng.standard_normal((200, 5))
    gram, targets, counts = vertices @ vertices.T, points @ vertices.T, np.ones(200)
    exact = estimate_ranking_matrix(gram, targets, counts, 1e-13) * 200
    for tolerance in (1e-1, 1e-2, 1e-4):
        rough = estimate_ranking_matrix(gram, targets, counts, tolerance) * 200
        values = [((points - b @ vertices) ** 2).sum(axis=1) / 2 for b in (rough, exact)]
        assert (values[0] - values[1]).max() <= tolerance * np.trace(gram) / 5 + 1e-9


def test_rows_that_never_occur_get_nothing():
    matrix = estimate_ranking_matrix(np.eye(2), np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([3.0, 0.0]), 1e-4)
    assert matrix.tolist() == [[1.0, 0.0], [0.0, 0.0]]
