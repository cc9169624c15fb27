"""Polishing keeps what is right and repairs what is slightly wrong."""

import numpy as np
import pytest

from plurank import ranking_error, simulate
from plurank.topic.moments import pair_moments
from plurank.topic.rounding import estimate_ranking_matrix, polish_rankings, round_to_rankings
from plurank.topic.whitened import detect_whitened, embed
from tests.oracles.exact_moments import ExactMoments, dirichlet_correlation, draw_mu, draw_separable


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    a = np.array([0.5, 0.3, 0.2])
    return ExactMoments(draw_separable(7, 3, rng), draw_mu(7, rng, False), a, dirichlet_correlation(a, 1.0))


def test_the_exact_matrix_stays_as_it_is(model):
    points = embed(model, 3, rng=np.random.default_rng(0))
    matrix, rounded, n_rounds, is_stable = polish_rankings(model, points, model.B * model.a, 1e-10)
    np.testing.assert_allclose(matrix, model.B * model.a, atol=1e-8)
    np.testing.assert_array_equal(rounded.rankings, model.rankings)
    assert (n_rounds, is_stable) == (1, True)


def test_a_matrix_with_a_few_wrong_pairs_is_repaired(model):
    points = embed(model, 3, rng=np.random.default_rng(0))
    wrong = model.B * model.a
    k, (first, second) = 0, model.rankings[0][:2]
    p = int(np.flatnonzero((model.lower == min(first, second)) & (model.higher == max(first, second)))[0])
    wrong[[2 * p, 2 * p + 1], k] = wrong[[2 * p + 1, 2 * p], k]  # the best two items of ranking 0 change places
    init = round_to_rankings(wrong, model.lower, model.higher, 7)
    assert ranking_error(init.rankings, model.rankings) > 0
    _, rounded, _, _ = polish_rankings(model, points, wrong, 1e-10)
    assert ranking_error(rounded.rankings, model.rankings) == 0


def test_polishing_helps_on_noisy_data():
    # mean error over a few seeds, before and after
    before, after = [], []
    for seed in range(4):
        s = simulate(300, 30, 4, 30, random_state=seed, mean_weights=np.full(4, 0.25))
        moments = pair_moments(s.comparisons, 0)
        found = detect_whitened(moments, 4, rng=np.random.default_rng(0))
        matrix = estimate_ranking_matrix(found.gram, found.targets, moments.counts, 1e-4)
        before.append(ranking_error(round_to_rankings(matrix, moments.lower, moments.higher, 30).rankings, s.rankings))
        after.append(ranking_error(polish_rankings(moments, found.points, matrix, 1e-4)[1].rankings, s.rankings))
    assert np.mean(after) < np.mean(before)


def test_progress_is_told_round_by_round(model):
    points = embed(model, 3, rng=np.random.default_rng(0))
    told = []
    polish_rankings(model, points, model.B * model.a, 1e-10, lambda stage, done: told.append((stage, done)))
    assert told
    assert all(stage and 0 <= done <= 1 for stage, done in told)
