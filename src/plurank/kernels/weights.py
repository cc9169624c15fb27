"""User weights given strict rankings, one user at a time."""

import numpy as np
from numba import njit, prange


@njit(cache=True, parallel=True)
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
        votes = np.empty(n_rankings)
        agrees = np.empty(n_rankings)
        total = 0.0
        for e in range(offsets[u], offsets[u + 1]):
            total += weights[e] if weights.size else 1.0
        for _ in range(max_rounds):
            shared = 0.0
            votes[:] = 0.0
            for e in range(offsets[u], offsets[u + 1]):
                i = winners[e]
                j = losers[e]
                agreeing = 0.0
                for k in range(n_rankings):
                    agrees[k] = 1.0 if places[i, k] < places[j, k] else 0.0
                    agreeing += agrees[k] * theta[k]
                share = (weights[e] if weights.size else 1.0) / (flip + gain * agreeing)
                shared += share
                for k in range(n_rankings):
                    votes[k] += share * agrees[k]
            moved = 0.0
            for k in range(n_rankings):
                count = theta[k] * (flip * shared + gain * votes[k])
                new = (count + prior[k]) / (total + prior_total)
                moved = max(moved, abs(new - theta[k]))
                theta[k] = new
            if moved < tolerance:
                break
    return out


@njit(cache=True, parallel=True)
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
