"""Algorithm 2 on the rank-K estimate of E."""

import numpy as np
import pytest

from plurank import Comparisons, NotIdentifiableError, TopicRanking, ranking_error, simulate
from plurank.topic.moments import pair_moments
from plurank.topic.projections import (
    NoisyRows,
    Separation,
    choose_distinct,
    detect_novel_pairs,
    estimate_solid_angles,
    find_highest,
    find_largest,
)
from plurank.topic.whitened import embed
from plurank.types import silent
from tests.oracles.exact_moments import ExactMoments, draw_mu, draw_separable
from tests.oracles.small_data import draw_comparisons


def correlated_weights(n_rankings, rng):
    """Mean and second moment of weights that are not Dirichlet: a softmax of correlated normals."""
    loadings = rng.standard_normal((n_rankings, 2)) + np.eye(n_rankings, 2)
    normals = rng.standard_normal((200_000, 2)) @ loadings.T + 0.5 * rng.standard_normal((200_000, n_rankings))
    weights = np.exp(2.0 * normals)
    weights /= weights.sum(axis=1, keepdims=True)
    return weights.mean(axis=0), weights.T @ weights / len(weights)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n_items", "n_rankings"), [(5, 2), (8, 3), (10, 4)])
def test_pairs_novel_to_different_rankings_are_found_where_weights_are_correlated(n_items, n_rankings, seed):
    rng = np.random.default_rng([seed, n_items])
    mean, second = correlated_weights(n_rankings, rng)
    rankings = draw_separable(n_items, n_rankings, rng)
    model = ExactMoments(rankings, draw_mu(n_items, rng, uniform=False), mean, second)
    found = detect_novel_pairs(model, n_rankings, 150 * n_rankings, 1e-6, rng=rng)
    assert sorted(model.novel_to[found.rows]) == list(range(n_rankings))
    # x_i . x_j is E_ij, up to what rounding leaves of it
    np.testing.assert_allclose(found.targets, model.E[:, found.rows], atol=1e-6)


def plain_row_noise(c, counts, row_of, points):
    """The covariance of row_noise, comparison by comparison."""
    scale = (counts[:, None] * points**2).sum(axis=0) / counts.sum()
    around = np.zeros((points.shape[1],) * 2)
    for begin, end in zip(c.offsets[:-1], c.offsets[1:], strict=True):
        if end - begin < 2:
            continue
        u = sum(points[row_of[e]] for e in range(begin, end)) / (end - begin - 1) / scale
        for e in range(begin, end):
            around += np.outer(u, u) - np.outer(points[row_of[e]], points[row_of[e]])
    values, vectors = np.linalg.eigh(around / np.maximum(counts - 1.0, 0.0).sum())
    return vectors @ np.diag(np.maximum(values, 0.0)) @ vectors.T


@pytest.mark.parametrize("seed", range(5))
def test_the_noise_of_rows_is_that_of_single_comparisons_around_them(seed):
    rng = np.random.default_rng(seed)
    c = draw_comparisons(rng, n_users=12)
    moments = pair_moments(c, 0)
    points = rng.standard_normal((len(moments.counts), 3))
    company = np.repeat(np.diff(c.offsets) >= 2, np.diff(c.offsets))
    row_of = np.full(len(c), -1)
    row_of[company] = moments.index.rows(c.select(company))
    expected = plain_row_noise(c, moments.counts, row_of, points)
    np.testing.assert_allclose(moments.row_noise(points), expected, atol=1e-9)


def test_a_comparison_of_weight_two_is_noise_as_two_comparisons_are(rng):
    users, winners, losers = [0, 0, 1, 1, 1], [0, 1, 0, 2, 0], [1, 2, 1, 1, 2]
    weighted = Comparisons.from_arrays(users, winners, losers, weights=[2.0, 1.0, 1.0, 1.0, 1.0])
    twice = Comparisons.from_arrays([0, *users], [0, *winners], [1, *losers])
    one, other = (pair_moments(c, 0) for c in (weighted, twice))
    points = rng.standard_normal((len(one.counts), 2))
    np.testing.assert_allclose(one.row_noise(points), other.row_noise(points))


def test_no_row_that_noise_can_explain_is_separated():
    points = np.array([[1.0, 0.0], [1.0, 2.0], [1.0, -2.0], [1.0, 2.2]])
    often, seldom = np.full(4, 1e6), np.array([1e6, 1.0, 1.0, 1.0])
    for counts, separated in ((often, True), (seldom, False)):
        rows = NoisyRows(points, counts, 4.0 * np.eye(2))
        found = Separation.of(rows, 0.01, 2.0).between(np.array([1]), np.array([2, 3]))
        assert found.tolist() == [[separated, False]]  # the last is near: within a quarter of the way to the mean


def test_solid_angles_are_the_shares_of_directions_in_which_a_vertex_is_highest(rng):
    triangle = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0], [1.0, 1.0]])  # the last lies within
    rows = NoisyRows(triangle, np.full(4, 1e9), np.zeros((2, 2)))
    highest = find_highest(rows, 20_000, 4, rng, silent)
    assert (np.diff(np.sort(highest, axis=1)) == 1).all()
    angles = estimate_solid_angles(Separation.of(rows, 0.01, 2.0), highest)
    root = np.linalg.cholesky(triangle.T @ triangle)
    directions = root @ np.random.default_rng(0).standard_normal((2, 20_000))
    expected = np.bincount((triangle @ directions).argmax(axis=0), minlength=4) / 20_000
    np.testing.assert_allclose(angles, expected, atol=4 * np.sqrt(2 * 0.25 / 20_000))  # four standard errors
    assert choose_distinct(Separation.of(rows, 0.01, 2.0), angles, 3).tolist() == np.argsort(-angles)[:3].tolist()


@pytest.mark.parametrize(("n_users", "per_user"), [(3_000, 100), (20_000, 20)])
@pytest.mark.parametrize("seed", range(3))
def test_rankings_are_found_exactly_from_enough_users(n_users, per_user, seed):
    truth = simulate(n_users, 20, 4, per_user, random_state=seed)
    model = TopicRanking(4, "projections", random_state=seed).fit(truth.comparisons)
    assert ranking_error(model.rankings_, truth.rankings) == 0.0
    assert model.separation_statistic_ == "rank K"


def test_more_rankings_than_there_are_novel_pairs_are_refused_with_a_sentence():
    rng = np.random.default_rng(0)
    rankings = draw_separable(6, 3, rng)
    model = ExactMoments(rankings, draw_mu(6, rng, uniform=True), np.full(3, 1 / 3), np.eye(3) / 3)
    with pytest.raises(NotIdentifiableError, match=r"3 rankings were asked for, but only \d pairs? of items"):
        detect_novel_pairs(model, 3, 300, 1e6, rng=rng)


def test_one_ranking_is_found_as_well():
    truth = simulate(100, 6, 1, 30, random_state=0)
    assert (
        ranking_error(TopicRanking(1, "projections", random_state=0).fit(truth.comparisons).rankings_, truth.rankings)
        == 0
    )


def test_the_embedding_has_a_row_of_zeros_for_a_pair_that_never_occurs():
    c = Comparisons.from_arrays([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 2, 1], [1, 2, 1, 2, 1, 0])
    moments = pair_moments(c, 0)
    points = embed(moments, 2, rng=np.random.default_rng(0))
    assert (points[moments.counts == 0] == 0).all()


@pytest.mark.parametrize(("n", "n_largest"), [(1, 1), (50, 50), (50, 7), (101, 100), (9_900, 200)])
def test_the_largest_values_of_every_line_are_found_in_order(n, n_largest):
    values = np.round(np.random.default_rng(0).standard_normal((3, n)), 2)  # some are equal
    found = find_largest(values, n_largest)
    assert all(len(set(line)) == n_largest for line in found.tolist())
    assert np.array_equal(np.take_along_axis(values, found, axis=1), -np.sort(-values, axis=1)[:, :n_largest])
