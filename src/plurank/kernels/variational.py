"""What a user's comparisons say about their weights, as a Dirichlet (the E-step of variational LDA)."""

import numpy as np
from numba import prange

from plurank.kernels.compiling import kernel, put

SERIES_FROM = 10.0  # the asymptotic series is good to 1e-15 from here on


@kernel()
def _digamma(x):
    """The derivative of ``log Gamma(x)``: up by ``digamma(x) = digamma(x + 1) - 1 / x``, then the asymptotic series."""
    below = 0.0
    while x < SERIES_FROM:
        below += 1.0 / x
        x += 1.0
    square = 1.0 / (x * x)
    tail = 1.0 / 132.0 - square * (691.0 / 32760.0 - square / 12.0)
    tail = 1.0 / 252.0 - square * (1.0 / 240.0 - square * tail)
    tail = square * (1.0 / 12.0 - square * (1.0 / 120.0 - square * tail))
    return np.log(x) - 0.5 / x - tail - below


@kernel(parallel=True)
def infer_dirichlets(offsets, likelihoods, weights, prior, start, max_rounds, tolerance):
    """Fit a Dirichlet(gamma) to every user's posterior by coordinate ascent, and give the comparisons' part of the
    bound.

    With ``a_k = exp(digamma(gamma_k) - digamma(sum gamma))`` one round is ``gamma_k = prior_k + sum_e c_e a_k p_ek /
    sum_j a_j p_ej``, and the part of the bound is ``sum_e c_e log(sum_k a_k p_ek)``. Rounds end when gamma moves by at
    most tolerance, relative to its sum. likelihoods p (n, K), weights c (n,) or empty, prior (K,), start (M, K) ->
    gamma (M, K), values (M,).
    """
    n_rankings = prior.size
    found = start.copy()
    values = np.zeros(offsets.size - 1)
    for u in prange(offsets.size - 1):
        gamma = found[u]
        logs = np.empty(n_rankings)
        shares = np.empty(n_rankings)
        sums = np.empty(n_rankings)
        for turn in range(max_rounds + 1):
            for k in range(n_rankings):
                logs[k] = _digamma(gamma[k])
            highest = logs.max()
            for k in range(n_rankings):
                shares[k] = np.exp(logs[k] - highest)
            sums[:] = 0.0
            value = 0.0
            total = 0.0
            for e in range(offsets[u], offsets[u + 1]):
                mixed = 0.0
                for k in range(n_rankings):
                    mixed += shares[k] * likelihoods[e, k]
                count = weights[e] if weights.size else 1.0
                total += count
                value += count * np.log(mixed)
                for k in range(n_rankings):
                    sums[k] += count / mixed * likelihoods[e, k]
            values[u] = value + total * (highest - _digamma(gamma.sum()))
            moved = 0.0
            for k in range(n_rankings):
                sums[k] = prior[k] + shares[k] * sums[k]
                moved = max(moved, abs(sums[k] - gamma[k]))
            if turn == max_rounds or moved <= tolerance * gamma.sum():
                break
            put(sums, gamma)
    return found, values
