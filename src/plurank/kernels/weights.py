"""User weights given strict rankings, one user at a time."""

import numpy as np
from numba import prange

from plurank.kernels.compiling import kernel


@kernel(parallel=True, fastmath={"reassoc", "contract"})
def map_user_weights(offsets, winners, losers, weights, places, flip, prior, start, max_rounds, tolerance):
    """Find each user's most probable weights by EM.

    One comparison has probability ``flip + (1 - 2 flip) sum_k theta_k [places[winner, k] < places[loser, k]]``.
    EM: ``n_k = sum_e r_k(e)``, ``theta_k = (n_k + prior_k) / (N + sum prior)``: the maximum of the posterior in the
    softmax basis, where a Dirichlet(prior) density has exponents prior_k instead of prior_k - 1 and so never piles up
    on the border. places (Q, K) int32, prior (K,), start (M, K) -> (M, K).
    """
    n_rankings = places.shape[1]
    gain = 1.0 - 2.0 * flip
    prior_total = prior.sum()
    out = start.copy()
    for u in prange(offsets.size - 1):
        theta = out[u]
        first = offsets[u]
        n = offsets[u + 1] - first
        # one row a ranking, so that the loops over comparisons are long and plain
        agrees = np.empty((n_rankings, n), np.float32)
        shares = np.empty(n)
        total = 0.0
        for e in range(n):
            total += weights[first + e] if weights.size else 1.0
        bits = np.empty(n, np.uint64)
        for begin in range(0, n_rankings, 64):
            end = min(begin + 64, n_rankings)
            for e in range(n):
                word = np.uint64(0)
                for k in range(begin, end):
                    ahead = places[winners[first + e], k] < places[losers[first + e], k]
                    word |= np.uint64(ahead) << np.uint64(k - begin)
                bits[e] = word
            for k in range(begin, end):
                shift = np.uint64(k - begin)
                for e in range(n):
                    agrees[k, e] = (bits[e] >> shift) & np.uint64(1)
        for _ in range(max_rounds):
            shares[:] = flip
            for k in range(n_rankings):
                part = gain * theta[k]
                for e in range(n):
                    shares[e] += part * agrees[k, e]
            for e in range(n):
                shares[e] = (weights[first + e] if weights.size else 1.0) / shares[e]
            shared = shares.sum()
            moved = 0.0
            for k in range(n_rankings):
                votes = 0.0
                for e in range(n):
                    votes += agrees[k, e] * shares[e]
                new = (theta[k] * (flip * shared + gain * votes) + prior[k]) / (total + prior_total)
                moved = max(moved, abs(new - theta[k]))
                theta[k] = new
            if moved < tolerance:
                break
    return out


@kernel(parallel=True)
def mixture_of_wins(users, winners, losers, places, theta):
    """Give the share of each user's weight on rankings that put the winner first.

    ``out[e] = (theta[users[e]] * (places[winners[e]] < places[losers[e]])).sum()``
    """
    n_rankings = places.shape[1]
    out = np.zeros(winners.size)
    for e in prange(winners.size):
        agreeing = 0.0
        for k in range(n_rankings):
            if places[winners[e], k] < places[losers[e], k]:
                agreeing += theta[users[e], k]
        out[e] = agreeing
    return out
