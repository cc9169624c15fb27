"""With the exact moments of infinitely many users, Algorithm 1 returns the true rankings exactly."""

from functools import cache

import numpy as np
import pytest

from plurank import ranking_error
from plurank.topic.printed import detect_printed
from plurank.topic.recover import recover_rankings
from plurank.topic.rounding import estimate_ranking_matrix, round_to_rankings
from plurank.topic.weights import fit_prior, weight_moments
from plurank.topic.whitened import detect_whitened, embed
from tests.oracles.exact_moments import ExactMoments, dirichlet_correlation, draw_mu, draw_separable

SIZES = [(3, 1), (3, 2), (3, 3), (4, 3), (5, 4), (6, 2), (6, 5), (8, 3), (10, 5), (12, 4)]
PRIORS = ["one ranking each", 0.1, 1.0, 5.0]
STATISTICS = {"entries": True, "rows": False}


@cache
def draw_rankings(n_items, n_rankings, seed):
    return draw_separable(n_items, n_rankings, np.random.default_rng([seed, n_items, n_rankings]))


def draw_model(n_items, n_rankings, prior, uniform=True, has_diagonal=True, seed=0):
    rankings = draw_rankings(n_items, n_rankings, seed)
    rng = np.random.default_rng(seed)
    a = rng.dirichlet(np.full(n_rankings, 3.0))
    R = np.diag(a) if prior == "one ranking each" else dirichlet_correlation(a, prior)
    return ExactMoments(rankings, draw_mu(n_items, rng, uniform), a, R, has_diagonal)


def separation_tol(model, statistic):
    """Half of what the appendix says lies between a novel row and rows of other rankings (d, or d_2^2 / W).

    Lengths of rows are estimated from projections, so there a quarter.
    """
    least, most = model.eigenvalues
    d_2 = (1.0 - model.b) * least
    return d_2**2 / most / 2.0 if statistic == "entries" else d_2**2 / len(model.p) / 4.0


def recover(model, detection, tol=0.01, directions="gaussian", regression_tol=1e-4, seed=1):
    n_rankings = len(model.rankings)
    return recover_rankings(
        model,
        n_rankings,
        detection,
        n_projections=150 * n_rankings,
        separation_tol=tol,
        regression_tol=regression_tol,
        directions=directions,
        rng=np.random.default_rng(seed),
    )


@pytest.mark.parametrize("uniform", [True, False], ids=["uniform mu", "uneven mu"])
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(("n_items", "n_rankings"), SIZES)
def test_whitened_detection_recovers_the_rankings_from_exact_moments(n_items, n_rankings, prior, uniform):
    for seed in range(2):
        model = draw_model(n_items, n_rankings, prior, uniform, seed=seed)
        found = recover(model, "whitened")
        assert ranking_error(found.rounded.rankings, model.rankings) == 0
        assert (found.rounded.n_intransitive == 0).all()
        assert found.is_stable


@pytest.mark.parametrize(("statistic", "directions"), [("entries", "gaussian"), ("rows", "sphere")])
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize(("n_items", "n_rankings"), SIZES)
def test_projections_recover_the_rankings_from_exact_moments(n_items, n_rankings, prior, statistic, directions):
    for uniform in (True, False):
        model = draw_model(n_items, n_rankings, prior, uniform, STATISTICS[statistic])
        found = recover(model, "printed", separation_tol(model, statistic), directions)
        assert found.novel.statistic == statistic
        assert ranking_error(found.rounded.rankings, model.rankings) == 0
        assert (found.rounded.n_intransitive == 0).all()


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("detection", ["whitened", "entries", "rows"])
def test_the_pairs_found_are_novel_to_different_rankings(detection, prior):
    model = draw_model(8, 4, prior, False, STATISTICS.get(detection, True))
    if detection == "whitened":
        found = detect_whitened(model, 4, rng=np.random.default_rng(0))
    else:
        tol = separation_tol(model, detection)
        found = detect_printed(model, 4, 600, tol, "gaussian", rng=np.random.default_rng(0))
    assert sorted(model.novel_to[found.rows]) == [0, 1, 2, 3]


@pytest.mark.parametrize("detection", ["whitened", "entries", "rows"])
def test_the_estimated_matrix_is_the_weighted_ranking_matrix_times_the_mean_weights(detection):
    model = draw_model(7, 3, 1.0, False, STATISTICS.get(detection, True))
    if detection == "whitened":
        found = recover(model, "whitened", regression_tol=1e-12)
    else:
        found = recover(model, "printed", separation_tol(model, detection), regression_tol=1e-12)
    order = model.novel_to[found.novel.rows]
    # row distances come from projections held in single precision
    np.testing.assert_allclose(found.matrix, (model.B * model.a)[:, order], atol=1e-4 if detection == "rows" else 1e-8)
    np.testing.assert_allclose(found.matrix.sum(axis=0), model.a[order], atol=1e-4 if detection == "rows" else 1e-8)


@pytest.mark.parametrize("prior", PRIORS)
def test_the_embedding_has_the_inner_products_of_e(prior):
    model = draw_model(6, 3, prior, False)
    points = embed(model, 3, rng=np.random.default_rng(0))
    np.testing.assert_allclose(points @ points.T, model.E, atol=1e-8)


def test_whitened_detection_recovers_rankings_when_some_pairs_are_never_shown():
    model = draw_model(9, 3, 1.0)
    mu = model.mu[0::2].copy()
    hidden = np.flatnonzero(model.sigma[0::2].sum(axis=1) % 3 == 0)  # pairs that all rankings order alike
    assert hidden.size
    mu[hidden[:2]] = 0.0
    cut = ExactMoments(model.rankings, mu / mu.sum(), model.a, model.R)
    matrix = recover(cut, "whitened", regression_tol=1e-12).matrix
    shown = cut.p > 0
    wrong = (matrix[shown, :, None] > 0) != (cut.sigma[shown, None] > 0)
    order = wrong.sum(axis=0).argmin(axis=0)
    assert sorted(order) == [0, 1, 2]
    np.testing.assert_allclose(matrix[:, order], cut.B * cut.a, atol=1e-8)


@pytest.mark.parametrize("prior", [0.1, 1.0, 5.0])
def test_mean_weights_correlation_and_concentration_come_out_exactly(prior):
    model = draw_model(8, 4, prior, False)
    mean, second = weight_moments(model, model.sigma.astype(float), 0.0)
    np.testing.assert_allclose(mean, model.a, atol=1e-6)
    np.testing.assert_allclose(second, model.R, atol=1e-9)
    _, concentration = fit_prior(model, model.rankings, 0.0)
    assert concentration == pytest.approx(prior, rel=1e-4)


def test_mean_weights_correlation_and_concentration_come_out_exactly_where_choices_are_flipped():
    model = draw_model(8, 4, 1.0, False)
    flip = 0.1
    model.B = model.mu[:, None] * (flip + (1 - 2 * flip) * model.sigma)
    model.p, model.F = model.B @ model.a, model.B @ model.R @ model.B.T
    mean, second = weight_moments(model, model.sigma.astype(float), flip)
    np.testing.assert_allclose(mean, model.a, atol=1e-6)
    np.testing.assert_allclose(second, model.R, atol=1e-9)


def test_algorithms_3_and_4_recover_the_rankings_from_the_true_novel_pairs():
    model = draw_model(10, 5, 1.0, False)
    rows = np.array([np.flatnonzero(model.novel_to == k)[0] for k in range(5)])
    matrix = estimate_ranking_matrix(model.E[np.ix_(rows, rows)], model.E[:, rows], model.counts, 1e-4)
    rounded = round_to_rankings(matrix, model.lower, model.higher, model.n_items)
    np.testing.assert_array_equal(rounded.rankings, model.rankings)
