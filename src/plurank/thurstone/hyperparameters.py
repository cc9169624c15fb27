"""Priors of items, user weights, thresholds and factors, and how they are drawn given what they are priors of.

Ours. Items: Gaussian with a Normal-Wishart prior, as in Bayesian matrix factorisation; without thresholds its scales
are drawn, too, so that standard deviations are half-t (Huang and Wand 2013) and data say how far rankings lie apart.
Weights: Dirichlet, with a log-normal prior of its concentration and a uniform one of its mean. Thresholds of a user, as
the first and the logarithms of the gaps: Gaussian with a Normal-Wishart prior. Factors of a user: unit Gaussian around
a regression on exposure.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import ndtri

from plurank.types import Floats

ITEM_FREEDOM, ITEM_SCALE, ITEM_COUNT = 2.0, 1.0, 1.0  # degrees beyond the dimension, scale of deviations, items' worth
CUT_FREEDOM, CUT_SCALE, CUT_COUNT = 2.0, 0.5, 0.1
FIRST_SPREAD = 1.2  # of utilities, by which initial thresholds are wider than those of a standard normal
LEAST_GAP = 0.05
FIRST_PRECISION, PRECISION_SHAPE, PRECISION_RATE = 10.0, 1.0, 0.05  # of coefficients of exposure; its Gamma prior
CONCENTRATION_SHARE, CONCENTRATION_ERROR = 2 / 3, 1.0  # median of the concentration over K, sd of its logarithm
FIRST_ERROR, ERROR_SPREAD = 2.5, 0.75  # of comparisons: median, and standard deviation of the logarithm
SLICE_WIDTH, FARTHEST_LOG = 1.0, 8.0
SMALLEST_WEIGHT = 1e-300
NO_SLOPES = np.zeros((0, 0))


class Population(NamedTuple):
    """What all users share: item vectors (Q, width); their mean (D,) and precision (D, D); Dirichlet counts (K,), where
    there are covariates those of users with covariates 0; mean (C,) and precision (C, C) of thresholds; coefficients
    (G, F) of factors on exposure, and their precision; slopes (P, K) of the logarithms of counts on covariates; and,
    where features of the items are known, slopes (P, D) of item vectors on these; and the standard deviation of errors
    of comparisons, 0 of other data."""

    items: Floats
    item_mean: Floats
    item_precision: Floats
    counts: Floats
    cut_mean: Floats
    cut_precision: Floats
    coefficients: Floats
    coefficient_precision: float = FIRST_PRECISION
    slopes: Floats = NO_SLOPES
    item_slopes: Floats = NO_SLOPES
    error: float = 0.0

    @property
    def errors(self) -> Floats:
        """The same as kernels take it, with nothing else to try, (2,)."""
        return np.full(2, self.error or 1.0)

    @property
    def unit(self) -> float:
        """What utilities are multiplied by so that the difference of two has a variance of 2, errors included."""
        return 1.0 / math.sqrt(1.0 + self.error**2 / 2.0)


class UserSums(NamedTuple):
    """Sums over users that priors are drawn from: number of users, logarithms of weights (K,), thresholds (C,) and
    their products (C, C), products of exposure and factors (G, F), and the log-likelihood: with the errors of
    comparisons as they are, with those tried, and with these in other units."""

    n: int
    log_weights: Floats
    cuts: Floats
    cut_products: Floats
    exposed_factors: Floats
    log_likelihood: float
    log_likelihood_tried: float
    log_likelihood_in_units: float

    @classmethod
    def of(cls, weights: Floats, cuts: Floats, factors: Floats, exposure: Floats, logs: Floats) -> "UserSums":
        """Sum over users: weights (m, K), thresholds (m, C), factors (m, F), exposure (m, G), log-likelihoods
        (m, 3)."""
        log_weights = np.log(np.maximum(weights, SMALLEST_WEIGHT)).sum(axis=0)
        sums = cuts.sum(axis=0), cuts.T @ cuts, exposure.T @ factors
        return cls(len(logs), log_weights, *sums, *logs.sum(axis=0).tolist())

    def merge(self, other: "UserSums") -> "UserSums":
        """Add the sums over other users."""
        sums: list[Any] = [one + another for one, another in zip(self, other, strict=True)]  # type: ignore[operator]
        return UserSums(*sums)


def first_cuts(level_counts: Floats) -> Floats:
    """Return thresholds (C,), as the first and the logarithms of the gaps, by how frequent the levels are, (C + 1,)."""
    shares = np.cumsum(level_counts)[:-1] / level_counts.sum()
    cuts = FIRST_SPREAD * ndtri(np.clip(shares, 1e-3, 1 - 1e-3))
    return np.concatenate([cuts[:1], np.log(np.maximum(np.diff(cuts), LEAST_GAP))])


def first_counts(n_rankings: int) -> Floats:
    """Return the counts of the Dirichlet prior that a chain begins with, (K,)."""
    return np.full(n_rankings, CONCENTRATION_SHARE)


def draw_item_scales(precision: Floats, rng: np.random.Generator) -> Floats:
    """Draw the diagonal (D,) of the inverse scale of the items' precision (D, D), given that.

    With it, the standard deviations of items are half-t with ``ITEM_FREEDOM + 1`` degrees of freedom.
    """
    freedom = ITEM_FREEDOM + 1.0
    rates = ITEM_SCALE**-2 + freedom * np.diagonal(precision)
    return np.asarray(2.0 * freedom * rng.gamma(0.5 * (freedom + len(precision)), size=len(precision)) / rates)


def draw_normal_wishart(
    n: int, sums: Floats, products: Floats, mean: Floats, count: float, freedom: float, scale: float | Floats,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:  # fmt: skip
    """Draw mean (D,) and precision (D, D) of a Gaussian, given the sums (D,) and products (D, D) of n draws from it.

    The prior is Normal-Wishart: mean ``mean``, known as from ``count`` draws; ``D + freedom`` degrees of freedom, and
    the inverse of the precision's scale is diagonal, ``scale`` or (D,).
    """
    size = len(mean)
    centre = sums / max(n, 1)
    scatter = products - n * np.outer(centre, centre)
    total = count + n
    apart = centre - mean
    inverse_scale = scale * np.eye(size) + scatter + count * n / total * np.outer(apart, apart)
    precision = draw_wishart(size + freedom + n, inverse_scale, rng)
    root = np.linalg.cholesky(total * precision)
    drawn = (count * mean + sums) / total + solve_triangular(root.T, rng.standard_normal(size), lower=False)
    return drawn, precision


def draw_wishart(freedom: float, inverse_scale: Floats, rng: np.random.Generator) -> Floats:
    """Draw from a Wishart distribution by Bartlett's decomposition."""
    size = len(inverse_scale)
    root = np.linalg.cholesky(np.linalg.inv((inverse_scale + inverse_scale.T) / 2.0))
    below = np.tril(rng.standard_normal((size, size)), -1)
    below[np.diag_indices(size)] = np.sqrt(rng.chisquare(freedom - np.arange(size)))
    factor = root @ below
    return factor @ factor.T


def log_density_of_counts(logs: Floats, n: int, log_weights: Floats) -> float:
    """Log posterior density of the logarithms (K,) of a Dirichlet's counts, given the sums of logarithms (K,) of n
    draws, up to a constant; the prior is log-normal in their total and uniform in the mean weights."""
    counts = [math.exp(value) for value in logs.tolist()]  # a few numbers: faster than arrays
    total, n_rankings = sum(counts), len(counts)
    likelihood = n * (math.lgamma(total) - sum(map(math.lgamma, counts)))
    likelihood += sum((count - 1.0) * value for count, value in zip(counts, log_weights.tolist(), strict=True))
    usual = math.log(CONCENTRATION_SHARE * n_rankings)
    prior = -0.5 * ((math.log(total) - usual) / CONCENTRATION_ERROR) ** 2
    return likelihood + prior + sum(logs.tolist()) - n_rankings * math.log(total)


def draw_counts(counts: Floats, n: int, log_weights: Floats, rng: np.random.Generator) -> Floats:
    """Draw the counts (K,) of a Dirichlet, given the sums of logarithms (K,) of n draws from it, by slice sampling."""
    if len(counts) == 1:
        return counts
    logs = np.log(counts)
    for k in range(len(counts)):
        logs = _slice(lambda point: log_density_of_counts(point, n, log_weights), logs, k, rng)
    return np.exp(logs)


def _slice(log_density: Callable[[Floats], float], x: Floats, k: int, rng: np.random.Generator) -> Floats:
    """Draw one coordinate by slice sampling with stepping out and shrinkage (Neal 2003)."""

    def at(value: float) -> float:
        moved = x.copy()
        moved[k] = value
        return float(log_density(moved))

    height = at(x[k]) + np.log(rng.random())
    low = x[k] - SLICE_WIDTH * rng.random()
    high = low + SLICE_WIDTH
    while low > -FARTHEST_LOG and at(low) > height:
        low -= SLICE_WIDTH
    while high < FARTHEST_LOG and at(high) > height:
        high += SLICE_WIDTH
    value = x[k]
    while high - low > 1e-9:
        drawn = low + (high - low) * rng.random()
        if at(drawn) >= height:
            value = drawn
            break
        low, high = (drawn, high) if drawn < x[k] else (low, drawn)
    moved = x.copy()
    moved[k] = value
    return moved


def log_gain_of_errors(errors: Floats) -> float:
    """Return by how much the log prior density grows where errors of comparisons go from the first to the second
    standard deviation (2,)."""
    first, second = np.log(errors / FIRST_ERROR) / ERROR_SPREAD
    return float(0.5 * (first**2 - second**2))


def log_gain_of_units(item_precision: Floats, scales: Floats, growth: float) -> float:
    """Return by how much the log prior density of items and of their mean and precision (D, D) grows, with the
    Jacobian, where items and mean grow by a factor and the precision shrinks by its square; scales: the inverse scale
    of the precision's prior, (D,)."""
    size = len(item_precision)
    shrunk = float(scales @ np.diagonal(item_precision)) * (1.0 - growth**-2)
    return 0.5 * shrunk - size * (size + ITEM_FREEDOM) * math.log(growth)


def draw_exposure_effects(
    exposed_factors: Floats, exposure_products: Floats, precision: float, rng: np.random.Generator
) -> tuple[Floats, float]:
    """Draw the regression of factors on exposure, (G, F), given their products (G, F) and those of exposure (G, G); and
    then the precision of its coefficients, by which exposure that says nothing is left out."""
    if not exposed_factors.size:
        return exposed_factors, precision
    total = exposure_products + precision * np.eye(len(exposure_products))
    root = np.linalg.cholesky(total)
    noise = solve_triangular(root.T, rng.standard_normal(exposed_factors.shape), lower=False)
    drawn = np.asarray(np.linalg.solve(total, exposed_factors) + noise)
    rate = PRECISION_RATE + 0.5 * float((drawn**2).sum())
    return drawn, float(rng.gamma(PRECISION_SHAPE + 0.5 * drawn.size, 1.0 / rate))
