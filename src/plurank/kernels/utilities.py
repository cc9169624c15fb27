"""One pass over the comparisons where every user blends the rankings' scores into one taste of their own."""

import numpy as np
from numba import prange

from plurank.kernels.compiling import kernel, put
from plurank.kernels.mixing import NEGLIGIBLE, add_product, sum_blocks
from plurank.kernels.simplex import FAST, evidence_of, integrate_weights, mean_weights, newton_direction, shift_of_mean


@kernel(fastmath=FAST)
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


@kernel(fastmath=FAST)
def _evaluate(x, n_own, ahead, behind, counts, n, theta, utility, chance, pull):
    """Log likelihood of one user, its slope in the utilities of their items (pull), and P(what happened) (chance)."""
    for a in range(n_own):
        total = 0.0
        for k in range(theta.size):
            total += x[a, k] * theta[k]
        utility[a] = total
        pull[a] = 0.0
    value = 0.0
    for e in range(n):
        i, j = ahead[e], behind[e]
        lead = utility[i] - utility[j]
        small = np.exp(-abs(lead))
        large = 1.0 / (1.0 + small)
        value += counts[e] * (min(lead, 0.0) + np.log(large))
        chance[e] = large if lead >= 0.0 else small * large
        miss = counts[e] * (small * large if lead >= 0.0 else large)
        pull[i] += miss
        pull[j] -= miss
    return value


@kernel(fastmath=FAST)
def _bend_of(x, n_own, ahead, behind, counts, n, chance, theta, prior, mass, bent, bend):
    """Curvature of the posterior in theta, ``sum_e b_e (x_i - x_j)(x_i - x_j)^T + diag(prior / theta^2)``.

    b is the curvature of a comparison in its lead. Fills mass (n_own,), the sums of b by item, and bent (n_own, K),
    those of ``b_e (x_i - x_j)`` for i and of the opposite for j: then bend is ``x^T bent`` plus the prior's part.
    """
    mass[:n_own] = 0.0
    bent[:n_own] = 0.0
    for e in range(n):
        i, j = ahead[e], behind[e]
        b = counts[e] * chance[e] * (1.0 - chance[e])
        mass[i] += b
        mass[j] += b
        for k in range(theta.size):
            bent[i, k] -= b * x[j, k]
            bent[j, k] -= b * x[i, k]
    bend[:] = 0.0
    for a in range(n_own):
        for k in range(theta.size):
            bent[a, k] += mass[a] * x[a, k]
        for k in range(theta.size):
            part = x[a, k]
            for m in range(k + 1):
                bend[k, m] += part * bent[a, m]
    for k in range(theta.size):
        bend[k, k] += prior[k] / (theta[k] * theta[k])


@kernel(fastmath=FAST)
def _turn(rows, n, covariance, turned):
    """``turned[:n] = rows[:n] @ covariance``"""
    for a in range(n):
        turned[a] = 0.0
        for m in range(covariance.shape[0]):
            part = rows[a, m]
            for k in range(covariance.shape[0]):
                turned[a, k] += part * covariance[m, k]


@kernel(fastmath=FAST)
def _mean_pulls(x, n_own, ahead, behind, counts, n, chance, prior, theta, covariance, turned, rest, slope, shift):
    """Fill rest (n_own,): what averaging over theta adds to the slopes in utilities, to second order.

    With C the covariance of theta, d a comparison's lead, s = sigmoid(d), x the difference of its items and v the shift
    of theta's mean: ``- s' (1 - 2 s) x^T C x / 2 - s' v . x``. slope and shift, v, are filled, turned (n_own, K) used.
    """
    _turn(x, n_own, covariance, turned)
    rest[:n_own] = 0.0
    for e in range(n):
        i, j = ahead[e], behind[e]
        square = 0.0
        for k in range(theta.size):
            square += (x[i, k] - x[j, k]) * (turned[i, k] - turned[j, k])
        less = counts[e] * chance[e] * (1.0 - chance[e]) * (0.5 - chance[e]) * square
        rest[i] -= less
        rest[j] += less
    slope[:] = 0.0
    for a in range(n_own):
        for k in range(theta.size):
            slope[k] += rest[a] * x[a, k]
    shift_of_mean(theta, prior, covariance, slope, shift)
    along = turned[:, 0]
    for a in range(n_own):
        total = 0.0
        for k in range(theta.size):
            total += x[a, k] * shift[k]
        along[a] = total
    for e in range(n):
        i, j = ahead[e], behind[e]
        less = counts[e] * chance[e] * (1.0 - chance[e]) * (along[i] - along[j])
        rest[i] -= less
        rest[j] += less


@kernel(fastmath=FAST)
def _one_pull(first, second, turned, turned_second, chance, count, theta, shift, pull):
    """Fill pull (K,), the slope of one comparison in the scores of its winner, averaged over theta; see _mean_pulls."""
    miss, bend = count * (1.0 - chance), count * chance * (1.0 - chance)
    square, along = 0.0, 0.0
    for k in range(theta.size):
        square += (first[k] - second[k]) * (turned[k] - turned_second[k])
        along += (first[k] - second[k]) * shift[k]
    mean = miss - bend * ((0.5 - chance) * square + along)
    for k in range(theta.size):
        pull[k] = mean * theta[k] + miss * shift[k] - bend * (turned[k] - turned_second[k])


@kernel(parallel=True, fastmath=FAST)
def utility_pass(edges, offsets, winners, losers, weights, scores, start, prior, n_rounds, informed):
    """Mix utilities: ``P(i over j) = sigmoid(sum_k theta_k (scores_ik - scores_jk))``.

    A user's likelihood depends on the utilities of their own items alone, so that little of the work grows with K.
    Gives theta (M, K), the log posterior, its slope and curvature in scores (Q, K), the posterior mean of each user's
    weights (M, K) and the evidence behind them (M,), and where ``informed`` the information about each item's scores
    (Q, K, K), as probability_pass does.
    See ``mixing`` for prior and start, and for how weights are integrated out.
    """
    n_items, n_rankings = scores.shape
    n_blocks = edges.size - 1
    slopes = np.zeros((n_blocks, n_items, n_rankings))
    bends = np.zeros((n_blocks, n_items, n_rankings))
    products = np.zeros((n_blocks, n_items if informed else 0, n_rankings, n_rankings))
    values = np.zeros(n_blocks)
    weighed = start.copy()
    means = start.copy()
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
        chances = np.empty((2, most))
        pulls = np.empty((2, room))
        rest = np.empty(room)
        mass = np.empty(room)
        bent = np.empty((room, n_rankings))
        turned = np.empty((room, n_rankings))
        bend = np.empty((n_rankings, n_rankings))
        covariance = np.empty((n_rankings, n_rankings))
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
            for a in range(n_own):
                put(scores[items[a]], x[a])
            if weights.size:
                put(weights[first:last], counts[:n])
            put(theta, trial)
            best = -np.inf
            kept = 0
            length = 1.0
            for turn in range(n_rounds + 1):
                other = 1 - kept
                value = _evaluate(x, n_own, ahead, behind, counts, n, trial, utility, chances[other], pulls[other])
                for k in range(n_rankings):
                    value += own[k] * np.log(trial[k])
                if value >= best:
                    done = value - best < NEGLIGIBLE * abs(value)
                    put(trial, theta)
                    best = value
                    kept = other
                    if done or turn == n_rounds:
                        break
                    for k in range(n_rankings):
                        slope[k] = own[k] / theta[k]
                    for a in range(n_own):
                        for k in range(n_rankings):
                            slope[k] += pulls[kept, a] * x[a, k]
                    _bend_of(x, n_own, ahead, behind, counts, n, chances[kept], theta, own, mass, bent, bend)
                    length = newton_direction(theta, slope, bend, ones, step)
                else:
                    length *= 0.3
                for k in range(n_rankings):
                    trial[k] = theta[k] + length * step[k]
            pull, chance = pulls[kept], chances[kept]
            _bend_of(x, n_own, ahead, behind, counts, n, chance, theta, own, mass, bent, bend)
            values[b] += best + integrate_weights(theta, bend, covariance, ones)
            shift = step
            _mean_pulls(x, n_own, ahead, behind, counts, n, chance, own, theta, covariance, turned, rest, slope, shift)
            mean_weights(theta, shift, means[u])
            evidence[u] = evidence_of(means[u], covariance)
            _turn(bent, n_own, covariance, turned)
            for a in range(n_own):
                i = items[a]
                for k in range(n_rankings):
                    slopes[b, i, k] += (pull[a] + rest[a]) * theta[k] + pull[a] * shift[k] - turned[a, k]
                    bends[b, i, k] += mass[a] * (theta[k] * theta[k] + covariance[k, k])
            if informed:
                _turn(x, n_own, covariance, turned)
                for e in range(n):
                    i, j = ahead[e], behind[e]
                    _one_pull(x[i], x[j], turned[i], turned[j], chance[e], counts[e], theta, shift, ones)
                    add_product(ones, counts[e], products[b, items[i]], products[b, items[j]])
    sums = sum_blocks(slopes), sum_blocks(bends)
    return weighed, sum_blocks(values[:, None])[0], *sums, means, evidence, sum_blocks(products)
