"""One pass over the comparisons where every user blends the rankings' scores into one taste of their own."""

import numpy as np
from numba import njit, prange

from plurank.kernels.mixing import NEGLIGIBLE, _sum_blocks, _sum_values
from plurank.kernels.simplex import FAST, evidence_of, integrate_weights, newton_direction


@njit(cache=True, fastmath=FAST)
def _number_own_items(winners, losers, local, items, ahead, behind):
    """Number a user's items from 0 in order of appearance; gives how many there are. local (Q,) is -1 and stays so."""
    n_own = 0
    for e in range(winners.size):
        for side in range(2):
            item = winners[e] if side == 0 else losers[e]
            if local[item] < 0:
                local[item] = n_own
                items[n_own] = item
                n_own += 1
            if side == 0:
                ahead[e] = local[item]
            else:
                behind[e] = local[item]
    for a in range(n_own):
        local[items[a]] = -1
    return n_own


@njit(cache=True, fastmath=FAST)
def _evaluate(x, n_own, ahead, behind, counts, n, theta, utility, pull, mass):
    """Log likelihood of one user, its slope (pull) and curvature (mass) in the utilities of the user's items."""
    for a in range(n_own):
        total = 0.0
        for k in range(theta.size):
            total += x[a, k] * theta[k]
        utility[a] = total
        pull[a] = 0.0
        mass[a] = 0.0
    value = 0.0
    for e in range(n):
        i, j = ahead[e], behind[e]
        lead = utility[i] - utility[j]
        small = np.exp(-abs(lead))
        large = 1.0 / (1.0 + small)
        value += counts[e] * (min(lead, 0.0) + np.log(large))
        miss = counts[e] * (small * large if lead >= 0.0 else large)
        pull[i] += miss
        pull[j] -= miss
        bend = counts[e] * small * large * large
        mass[i] += bend
        mass[j] += bend
    return value


@njit(cache=True, fastmath=FAST)
def _bend_of(x, n_own, mass, theta, prior, bend):
    """Curvature of the posterior in theta, from the curvature by item: exact where all pairs of items weigh alike."""
    scale = n_own / (n_own - 1.0)
    bend[:] = 0.0
    for a in range(n_own):
        for k in range(theta.size):
            part = scale * mass[a] * x[a, k]
            for m in range(k + 1):
                bend[k, m] += part * x[a, m]
    for k in range(theta.size):
        bend[k, k] += prior[k] / (theta[k] * theta[k])


@njit(cache=True, fastmath=FAST)
def _mean_pulls(x, n_own, ahead, behind, counts, n, theta, utility, mass, covariance, pull, turned):
    """Average the slopes in utilities over theta, to second order: C is its covariance, d the lead, s = sigmoid(d).

    ``pull`` gains ``- s' (1 - 2 s) x^T C x / 2`` of every comparison, x the difference of its two items; what is to be
    taken from the slope in scores besides, ``s' C x``, is summed by item into turned (n_own, K) as in _bend_of.
    """
    scale = n_own / (n_own - 1.0)
    for a in range(n_own):
        for k in range(theta.size):
            total = 0.0
            for m in range(theta.size):
                total += covariance[k, m] * x[a, m]
            turned[a, k] = total
    for e in range(n):
        i, j = ahead[e], behind[e]
        square = 0.0
        for k in range(theta.size):
            square += (x[i, k] - x[j, k]) * (turned[i, k] - turned[j, k])
        sigmoid = 1.0 / (1.0 + np.exp(utility[j] - utility[i]))
        less = 0.5 * counts[e] * sigmoid * (1.0 - sigmoid) * (1.0 - 2.0 * sigmoid) * square
        pull[i] -= less
        pull[j] += less
    for a in range(n_own):
        for k in range(theta.size):
            turned[a, k] *= scale * mass[a]


@njit(cache=True, parallel=True, fastmath=FAST)
def utility_pass(edges, offsets, winners, losers, weights, scores, start, prior, n_rounds):
    """Mix utilities: ``P(i over j) = sigmoid(sum_k theta_k (scores_ik - scores_jk))``.

    A user's likelihood depends on the utilities of their own items alone, so most of the work does not grow with K.
    Gives theta (M, K), the log posterior, its slope and curvature in scores (Q, K), and the evidence behind each
    user's weights (M,). See ``mixing`` for prior and start, and for how weights are integrated out.
    """
    n_items, n_rankings = scores.shape
    n_blocks = edges.size - 1
    slopes = np.zeros((n_blocks, n_items, n_rankings))
    bends = np.zeros((n_blocks, n_items, n_rankings))
    values = np.zeros(n_blocks)
    weighed = start.copy()
    evidence = np.zeros(offsets.size - 1)
    for b in prange(n_blocks):
        most = 0
        for u in range(edges[b], edges[b + 1]):
            most = max(most, offsets[u + 1] - offsets[u])
        local = np.full(n_items, -1, np.int32)
        room = min(n_items, 2 * most)
        items = np.empty(room, np.int32)
        ahead = np.empty(most, np.int32)
        behind = np.empty(most, np.int32)
        counts = np.ones(most)
        x = np.empty((room, n_rankings))
        utility = np.empty(room)
        pulls = np.empty((2, room))
        masses = np.empty((2, room))
        bend = np.empty((n_rankings, n_rankings))
        covariance = np.empty((n_rankings, n_rankings))
        turned = np.empty((room, n_rankings))
        slope = np.empty(n_rankings)
        step = np.empty(n_rankings)
        ones = np.empty(n_rankings)
        trial = np.empty(n_rankings)
        for u in range(edges[b], edges[b + 1]):
            first, last = offsets[u], offsets[u + 1]
            n = last - first
            if n == 0:
                continue
            own = prior[min(u, prior.shape[0] - 1)]
            theta = weighed[u]
            n_own = _number_own_items(winners[first:last], losers[first:last], local, items, ahead, behind)
            for k in range(n_rankings):
                mean = 0.0
                for a in range(n_own):
                    x[a, k] = scores[items[a], k]
                    mean += x[a, k]
                for a in range(n_own):
                    x[a, k] -= mean / n_own
            if weights.size:
                counts[:n] = weights[first:last]
            trial[:] = theta
            best = -np.inf
            kept = 0
            length = 1.0
            for turn in range(n_rounds + 1):
                value = _evaluate(x, n_own, ahead, behind, counts, n, trial, utility, pulls[1 - kept], masses[1 - kept])
                for k in range(n_rankings):
                    value += own[k] * np.log(trial[k])
                if value >= best:
                    done = value - best < NEGLIGIBLE * abs(value)
                    theta[:] = trial
                    best = value
                    kept = 1 - kept
                    if done or turn == n_rounds:
                        break
                    for k in range(n_rankings):
                        slope[k] = own[k] / theta[k]
                    for a in range(n_own):
                        for k in range(n_rankings):
                            slope[k] += pulls[kept, a] * x[a, k]
                    _bend_of(x, n_own, masses[kept], theta, own, bend)
                    length = newton_direction(theta, slope, bend, ones, step)
                else:
                    length *= 0.3
                for k in range(n_rankings):
                    trial[k] = theta[k] + length * step[k]
            pull, mass = pulls[kept], masses[kept]
            _bend_of(x, n_own, mass, theta, own, bend)
            values[b] += best + integrate_weights(theta, bend, covariance, ones, step)
            evidence[u] = evidence_of(theta, covariance)
            for a in range(n_own):
                total = 0.0
                for k in range(n_rankings):
                    total += x[a, k] * theta[k]
                utility[a] = total
            _mean_pulls(x, n_own, ahead, behind, counts, n, theta, utility, mass, covariance, pull, turned)
            for a in range(n_own):
                i = items[a]
                for k in range(n_rankings):
                    slopes[b, i, k] += pull[a] * theta[k] - turned[a, k]
                    bends[b, i, k] += mass[a] * (theta[k] * theta[k] + covariance[k, k])
    return weighed, _sum_values(values), _sum_blocks(slopes), _sum_blocks(bends), evidence
