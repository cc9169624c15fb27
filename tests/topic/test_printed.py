"""Algorithm 2 against its box in the paper."""

import numpy as np
import pytest

from plurank import Comparisons, NotIdentifiableError
from plurank.topic.moments import pair_moments
from plurank.topic.printed import detect_printed, project
from tests.oracles.dense_moments import DenseMoments
from tests.oracles.exact_moments import ExactMoments, dirichlet_correlation, draw_mu, draw_separable
from tests.oracles.plain_algorithms import plain_novel_pairs
from tests.oracles.small_data import draw_comparisons


def draw_model(seed, has_diagonal=True):
    rng = np.random.default_rng(seed)
    a = rng.dirichlet(np.full(3, 3.0))
    rankings = draw_separable(5, 3, rng)
    return ExactMoments(rankings, draw_mu(5, rng, False), a, dirichlet_correlation(a, 1.0), has_diagonal)


def distances_of(E, projections, statistic):
    if statistic == "entries":
        E = (E + E.T) / 2
        return np.diagonal(E)[:, None] + np.diagonal(E) - 2 * E
    return ((projections[:, None] - projections[None]) ** 2).mean(axis=2) / len(E)


@pytest.mark.parametrize("statistic", ["entries", "rows"])
@pytest.mark.parametrize("seed", range(4))
def test_pairs_and_solid_angles_of_exact_moments_equal_those_of_the_plain_algorithm(seed, statistic):
    model = draw_model(seed, has_diagonal=statistic == "entries")
    found = detect_printed(model, 3, 70, 0.01, "gaussian", rng=np.random.default_rng(seed))
    projections = project(model, 70, "gaussian", rng=np.random.default_rng(seed)).astype(float)
    distances = distances_of(model.E, projections, statistic)
    rows, angles = plain_novel_pairs(model.E, model.p > 0, projections, 3, distances, 0.01)
    assert found.statistic == statistic
    assert found.rows.tolist() == rows
    np.testing.assert_allclose(found.solid_angles, angles[rows])


@pytest.mark.parametrize("seed", range(6))
def test_pairs_and_solid_angles_of_noisy_data_equal_those_of_the_plain_algorithm(seed):
    rng = np.random.default_rng(seed)
    c = draw_comparisons(rng, n_users=40, n_items=4, most=12)
    moments, dense = pair_moments(c, 0), DenseMoments(c, 0)
    projections = project(moments, 70, "sphere", rng=np.random.default_rng(seed)).astype(float)
    occurs = dense.X_b.sum(axis=1) > 0
    statistic = "entries" if (np.diagonal(dense.E)[occurs] > 0).all() else "rows"
    distances = distances_of(dense.E, projections, statistic)
    rows, angles = plain_novel_pairs(dense.E, occurs, projections, 2, distances, 0.05)
    if len(rows) < 2:
        with pytest.raises(NotIdentifiableError, match="only 1 pair"):
            detect_printed(moments, 2, 70, 0.05, "sphere", rng=np.random.default_rng(seed))
        return
    found = detect_printed(moments, 2, 70, 0.05, "sphere", rng=np.random.default_rng(seed))
    assert found.statistic == statistic
    assert found.rows.tolist() == rows
    np.testing.assert_allclose(found.solid_angles, angles[rows])


@pytest.mark.parametrize("concentration", [0.1, 1.0, 10.0])
def test_pairs_that_never_occur_take_no_share_of_the_solid_angles(concentration):
    # where all rankings agree on a pair, its reverse never occurs and its row of E is zero
    rankings, a = np.array([[1, 0, 2, 3, 4, 5], [0, 1, 3, 2, 4, 5], [0, 1, 2, 3, 5, 4]]), np.full(3, 1 / 3)
    model = ExactMoments(rankings, draw_mu(6, None, True), a, dirichlet_correlation(a, concentration))
    assert (model.p == 0).sum() == 12
    found = detect_printed(model, 3, 3000, 1e-3, "gaussian", rng=np.random.default_rng(0))
    assert found.solid_angles.sum() == pytest.approx(1.0)


def test_the_statistic_is_entries_where_users_repeat_pairs_and_rows_where_nobody_does(easy):
    repeated = detect_printed(pair_moments(easy.comparisons, 0), 3, 200, 0.01, "gaussian", rng=np.random.default_rng(0))
    assert repeated.statistic == "entries"
    users = np.repeat(np.arange(50), 10)
    low, high = (np.tile(side, 50) for side in np.triu_indices(5, 1))
    turn = np.random.default_rng(0).random(500) < 0.5
    once = Comparisons.from_arrays(users, np.where(turn, low, high), np.where(turn, high, low))
    found = detect_printed(pair_moments(once, 0), 2, 200, 0.01, "gaussian", rng=np.random.default_rng(0))
    assert found.statistic == "rows"


@pytest.mark.parametrize("directions", ["gaussian", "sphere"])
def test_projections_are_products_with_directions_of_unit_covariance(directions):
    model = draw_model(0)
    values = project(model, 40_000, directions, rng=np.random.default_rng(0)).astype(float)
    exact = model.E @ model.E.T
    # an entry of the mean of 40,000 products strays by at most 2 |E_i| |E_j| / 200
    np.testing.assert_allclose(values @ values.T / 40_000, exact, atol=6 * 2 * np.diagonal(exact).max() / 200)
    assert np.abs(values.mean(axis=1)).max() < 6 * np.sqrt(np.diagonal(exact).max()) / 200


def test_directions_on_the_sphere_have_one_length():
    model = draw_model(0)
    model.E = np.eye(len(model.E))
    lengths = np.linalg.norm(project(model, 50, "sphere", rng=np.random.default_rng(0)), axis=0)
    np.testing.assert_allclose(lengths, np.sqrt(len(model.E)), rtol=1e-5)
