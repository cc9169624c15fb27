"""What mixed rankings predict."""

import numpy as np
from numba import prange

from plurank.kernels.compiling import kernel
from plurank.kernels.simplex import FAST


@kernel(parallel=True)
def mix_probabilities(rows, left, right, scores, theta):
    """``out[e] = (theta[rows[e]] / (1 + exp(scores[right[e]] - scores[left[e]]))).sum()``"""
    n_rankings = scores.shape[1]
    out = np.zeros(left.size)
    for e in prange(left.size):
        total = 0.0
        for k in range(n_rankings):
            total += theta[rows[e], k] / (1.0 + np.exp(scores[right[e], k] - scores[left[e], k]))
        out[e] = min(total, 1.0)  # weights may sum to a little more than 1
    return out


@kernel(parallel=True)
def mix_utilities(rows, left, right, scores, theta, evidence):
    """Average ``sigmoid(theta . x)``, x = scores[left] - scores[right], over Dirichlet(n theta), n the evidence (m,).

    With v = (theta . x^2 - (theta . x)^2) / (n + 1), the variance: ``sigmoid(theta . x / sqrt(1 + pi v / 8))``.
    """
    n_rankings = scores.shape[1]
    out = np.zeros(left.size)
    for e in prange(left.size):
        lead = 0.0
        square = 0.0
        for k in range(n_rankings):
            apart = scores[left[e], k] - scores[right[e], k]
            lead += theta[rows[e], k] * apart
            square += theta[rows[e], k] * apart * apart
        variance = max(square - lead * lead, 0.0) / (evidence[rows[e]] + 1.0)
        out[e] = 1.0 / (1.0 + np.exp(-lead / np.sqrt(1.0 + np.pi / 8.0 * variance)))
    return out


@kernel(parallel=True)
def mix_places(rows, left, right, places, laws, theta):
    """``out[e] = sum_k theta[rows[e], k] laws[k, places[right[e], k] - places[left[e], k] + Q - 1]``"""
    n_items, n_rankings = places.shape
    out = np.zeros(left.size)
    for e in prange(left.size):
        total = 0.0
        for k in range(n_rankings):
            total += theta[rows[e], k] * laws[k, places[right[e], k] - places[left[e], k] + n_items - 1]
        out[e] = min(total, 1.0)  # weights may sum to a little more than 1
    return out


@kernel(parallel=True, fastmath=FAST)
def mean_wins(scores, opponents):
    """``out[i, k] = (1 / (1 + exp(opponents[:, k] - scores[i, k]))).mean()``; scores (n, K), opponents (m, K)."""
    out = np.empty(scores.shape)
    for i in prange(scores.shape[0]):
        for k in range(scores.shape[1]):
            total = 0.0
            for j in range(opponents.shape[0]):
                total += 1.0 / (1.0 + np.exp(opponents[j, k] - scores[i, k]))
            out[i, k] = total / opponents.shape[0]
    return out
