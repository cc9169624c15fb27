"""The population's mean weights and how much people differ, given the rankings, from moments.

Paper: section 6.3 fits a Dirichlet prior given the rankings, as for separable topic models. With S the ranking matrix
(W, K), B = mu (flip + (1 - 2 flip) S) and H = S^T B (K, K): ``S^T counts = H a`` and ``S^T F S = H R H^T``, where
a and R are the first and second moments of user weights. For a Dirichlet, ``trace R = (c |a|^2 + 1) / (c + 1)``.
"""

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.components.strict import ranking_matrix
from plurank.statistics.pair_moments import Moments

Floats = NDArray[np.float64]
CONCENTRATION_RANGE = (0.01, 1000.0)
PART_BYTES = 2**28  # of columns of S that are multiplied at a time


def weight_moments(moments: Moments, sigma: Floats, flip: float) -> tuple[Floats, Floats]:
    """Estimate the mean (K,), on the simplex, and the second moment (K, K) of user weights, given S (W, K)."""
    counts, n_rankings = moments.counts, sigma.shape[1]
    total = counts.sum()
    shown = np.repeat(counts.reshape(-1, 2).sum(axis=1), 2) / total
    law, second = np.empty((2, n_rankings, n_rankings))
    size = max(PART_BYTES // (8 * len(counts)), 1)
    for begin in range(0, n_rankings, size):
        some = np.ascontiguousarray(sigma[:, begin : begin + size])
        law[:, begin : begin + size] = sigma.T @ (shown[:, None] * (flip + (1.0 - 2.0 * flip) * some))  # H
        second[:, begin : begin + size] = sigma.T @ moments.cooccurrence(some) / total
    first = sigma.T @ counts / total
    mean = kernels.regress_on_simplex(law.T @ law, (law.T @ first)[None], 1e-12, 10_000)[0]
    inverse = np.linalg.pinv(law)
    return mean, inverse @ second @ inverse.T


def fit_prior(moments: Moments, rankings: NDArray[np.int64], flip: float) -> tuple[Floats, float]:
    """Fit a Dirichlet prior of rankings: mean weights (K,) and concentration."""
    return fit_topic_prior(moments, ranking_matrix(rankings, moments.lower, moments.higher).astype(float), flip)


def fit_topic_prior(moments: Moments, sigma: Floats, flip: float) -> tuple[Floats, float]:
    """Fit a Dirichlet prior of topics: S (W, K) may be how often each prefers a pair, and need not be rankings."""
    mean, second = weight_moments(moments, sigma, flip)
    purity, least = float(np.trace(second)), float(mean @ mean)
    if len(mean) == 1 or purity <= least:
        return mean, CONCENTRATION_RANGE[1]
    return mean, float(np.clip((1.0 - purity) / (purity - least), *CONCENTRATION_RANGE))
