"""Priors are drawn from the distributions that they have given what they are priors of."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln, ndtri

from plurank.engine.local import one_blas_thread
from plurank.thurstone import hyperparameters as hyper
from plurank.thurstone.draws import as_thresholds

LARGEST_Z = 4.5  # of the 60 numbers here one exceeds it by chance with probability 0.0004


@pytest.fixture(autouse=True)
def as_in_fits():
    """Fits limit BLAS to one thread; several would only wait for each other."""
    with one_blas_thread():
        yield


def z_scores(draws, expected):
    """How far means of draws (n, ...) are from what is expected, in standard errors."""
    return (draws.mean(axis=0) - expected) / (draws.std(axis=0) / np.sqrt(len(draws)))


def test_a_wishart_has_its_mean_and_its_variances(rng):
    root = rng.standard_normal((3, 3))
    inverse_scale, freedom = root @ root.T + np.eye(3), 6.5
    draws = np.array([hyper.draw_wishart(freedom, inverse_scale, rng) for _ in range(3000)])
    scale = np.linalg.inv(inverse_scale)
    variances = freedom * (scale**2 + np.outer(np.diag(scale), np.diag(scale)))
    assert np.abs(z_scores(draws, freedom * scale)).max() < LARGEST_Z
    assert np.abs(z_scores((draws - freedom * scale) ** 2, variances)).max() < LARGEST_Z


def test_a_gaussian_is_drawn_from_its_normal_wishart_posterior(rng):
    data = rng.normal([1.0, -2.0], [0.5, 2.0], (30, 2))
    mean, count, freedom, scale = np.array([0.5, 0.5]), 2.0, 3.0, 0.7
    n, centre = len(data), data.mean(axis=0)
    draws = [
        hyper.draw_normal_wishart(n, data.sum(axis=0), data.T @ data, mean, count, freedom, scale, rng)
        for _ in range(3000)
    ]
    means, precisions = (np.array(part) for part in zip(*draws, strict=True))
    total, degrees = count + n, 2 + freedom + n
    inverse_scale = (
        scale * np.eye(2)
        + (data - centre).T @ (data - centre)
        + count * n / total * np.outer(centre - mean, centre - mean)
    )
    expected = (count * mean + n * centre) / total
    covariance = inverse_scale / total / (degrees - 2 - 1)  # of a multivariate t with degrees - D + 1 degrees
    products = (means - expected)[:, :, None] * (means - expected)[:, None, :]
    assert np.abs(z_scores(means, expected)).max() < LARGEST_Z
    assert np.abs(z_scores(products, covariance)).max() < LARGEST_Z
    assert np.abs(z_scores(precisions, degrees * np.linalg.inv(inverse_scale))).max() < LARGEST_Z


def test_without_data_a_gaussian_has_its_prior(rng):
    none = np.zeros(2), np.zeros((2, 2))
    draws = [hyper.draw_normal_wishart(0, *none, np.array([1.0, 3.0]), 4.0, 5.0, 2.0, rng) for _ in range(2000)]
    means, precisions = (np.array(part) for part in zip(*draws, strict=True))
    assert np.abs(z_scores(means, [1.0, 3.0])).max() < LARGEST_Z
    assert np.abs(z_scores(precisions, 7.0 / 2.0 * np.eye(2))).max() < LARGEST_Z


def draw_exactly(n, log_weights, size, rng):
    """Draw counts of two rankings from their posterior, (size, 2), on a fine grid of the concentration and the mean."""
    logs, shares = (np.linspace(-5.0, 6.0, 700)[:, None], ((np.arange(500) + 0.5) / 500)[None])
    total = np.exp(logs)
    first, second = total * shares, total * (1.0 - shares)
    log_density = (
        n * (gammaln(total) - gammaln(first) - gammaln(second))
        + (first - 1.0) * log_weights[0]
        + (second - 1.0) * log_weights[1]
        - 0.5 * (logs - np.log(4 / 3)) ** 2  # the median of the concentration is 2/3 a ranking; its mean is uniform
    )
    density = np.exp(log_density - log_density.max()).ravel()
    at = rng.choice(density.size, size, p=density / density.sum())
    return np.stack([first.ravel()[at], second.ravel()[at]], axis=1)


@pytest.mark.parametrize("n", [0, 3, 40])
def test_the_prior_of_weights_stays_in_its_posterior_and_moves(n, rng):
    log_weights = np.log(np.maximum(rng.dirichlet([0.5, 1.5], n), 1e-12)).sum(axis=0)
    before = draw_exactly(n, log_weights, 1500, rng)
    after = np.array([hyper.draw_counts(counts, n, log_weights, rng) for counts in before])

    def numbers(counts):
        total = counts.sum(axis=1)
        values = np.stack([np.log(total), counts[:, 0] / total], axis=1)
        return np.concatenate([values, values**2, values[:, :1] * values[:, 1:]], axis=1)

    # drawn from the posterior and moved once, they are draws from it again; those before and after depend on each other
    expected = numbers(draw_exactly(n, log_weights, 200_000, rng)).mean(axis=0)
    assert np.abs(z_scores(numbers(after), expected)).max() < LARGEST_Z
    assert (after != before).all()
    assert abs(np.corrcoef(numbers(before)[:, 1], numbers(after)[:, 1])[0, 1]) < 0.9


def test_deviations_of_items_are_half_t_and_scales_keep_their_prior(rng):
    """Scales from their prior, precisions given these, and scales given precisions have the same distributions."""
    n, size, freedom = 4000, 3, hyper.ITEM_FREEDOM + 1.0
    scales = 2.0 * freedom * hyper.ITEM_SCALE**2 * rng.gamma(0.5, size=(n, size))
    precisions = [hyper.draw_wishart(size + hyper.ITEM_FREEDOM, np.diag(each), rng) for each in scales]
    deviations = np.sqrt(np.diagonal(np.linalg.inv(precisions), axis1=1, axis2=2)) / hyper.ITEM_SCALE
    again = np.array([hyper.draw_item_scales(precision, rng) for precision in precisions])
    for k in range(size):
        assert stats.kstest(deviations[:, k], lambda x: 1.0 - 2.0 * stats.t.sf(x, freedom)).pvalue > 1e-3
        assert stats.ks_2samp(again[:, k], scales[:, k]).pvalue > 1e-3
    # they depend on the precision: given one of small deviations, they are small, too
    small, large = (hyper.draw_item_scales(precision * np.eye(size), rng) for precision in (1e4, 1e-4))
    assert small.max() < 0.1 < large.min()


def test_one_ranking_has_nothing_to_draw(rng):
    counts = np.array([0.6])
    assert hyper.draw_counts(counts, 10, np.zeros(1), rng) is counts


def test_coefficients_are_drawn_from_a_ridge_regression(rng):
    exposure, factors, precision = rng.standard_normal((20, 2)), rng.standard_normal((20, 3)), 4.0
    given = exposure.T @ factors, exposure.T @ exposure
    draws, precisions = zip(*(hyper.draw_exposure_effects(*given, precision, rng) for _ in range(2500)), strict=True)
    covariance = np.linalg.inv(given[1] + precision * np.eye(2))
    mean, found = covariance @ given[0], np.array(draws)
    assert np.abs(z_scores(found, mean)).max() < LARGEST_Z
    apart = found - mean
    products = apart[:, :, None, :] * apart[:, None, :, :]
    assert np.abs(z_scores(products, covariance[:, :, None])).max() < LARGEST_Z
    # given coefficients, the precision is Gamma with so many observations of variance
    shape, rate = hyper.PRECISION_SHAPE + 3.0, hyper.PRECISION_RATE + 0.5 * (found**2).sum(axis=(1, 2))
    assert abs(z_scores(np.array(precisions) * rate, shape)) < LARGEST_Z


def test_no_exposure_has_no_coefficients(rng):
    empty = np.zeros((0, 2))
    found, precision = hyper.draw_exposure_effects(empty, np.zeros((0, 0)), 7.0, rng)
    assert found.shape == (0, 2)
    assert precision == 7.0


@pytest.mark.parametrize("counts", [[5, 5], [1, 2, 3, 4], [1000, 1, 1, 1000], [0, 5, 0, 0, 7], [1, 10**9]])
def test_first_thresholds_ascend_and_are_those_of_the_levels_shares(counts):
    counts = np.array(counts, float)
    thresholds = as_thresholds(hyper.first_cuts(counts))
    assert len(thresholds) == len(counts) - 1
    assert (np.diff(thresholds) > 0).all()
    if counts.min() > 0.01 * counts.sum():
        np.testing.assert_allclose(thresholds, 1.2 * ndtri(np.cumsum(counts)[:-1] / counts.sum()))


def test_sums_over_users_are_those_of_their_parts(rng):
    n, shapes = 7, (2, 3, 1, 2)
    tables = [rng.dirichlet(np.ones(2), n), *(rng.standard_normal((n, size)) for size in shapes[1:])]
    logs = rng.standard_normal((n, 3))
    whole = hyper.UserSums.of(*tables, logs)
    parts = [hyper.UserSums.of(*(table[own] for table in tables), logs[own]) for own in (slice(3), slice(3, None))]
    merged = parts[0].merge(parts[1])
    assert merged.n == whole.n == n
    for one, other in zip(merged, whole, strict=True):
        np.testing.assert_allclose(one, other)
    np.testing.assert_allclose(whole.exposed_factors, tables[3].T @ tables[2])
