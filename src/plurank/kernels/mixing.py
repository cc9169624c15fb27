"""One pass over the comparisons: every user's weights, and what they say about the rankings.

All passes cut the users into fixed blocks with private sums, so that nothing depends on the number of threads. A user's
weights maximise ``log likelihood + sum_k prior_k log theta_k``: the posterior in the softmax basis, where a Dirichlet
has exponents prior_k instead of prior_k - 1. It is concave, so Newton steps that are kept only where they help get
there quickly; start (M, K) is where they begin. prior is (1, K), or (M, K) with a row for every user.

The weights are then integrated out (Laplace): what is maximised is the posterior of the rankings alone, and a slope is
the mean slope over a user's weights, to second order: exactly the slope of what is maximised. Otherwise scores spread
too far and weights too little.
"""

import numpy as np
from numba import prange

from plurank.kernels.compiling import kernel, put
from plurank.kernels.simplex import FAST, evidence_of, integrate_weights, mean_weights, newton_direction, shift_of_mean

NEGLIGIBLE = 1e-12  # relative gain of the posterior at which a user's weights are done
CHUNK = 256  # comparisons whose probabilities stay in the nearest cache
TINY = 1e-250
FARTHEST = 600.0  # from 0 that a score may lie for its strength to be a number


@kernel(fastmath=FAST)
def _mix_part(p, begin, end, shares, mixed):
    """``mixed[:] = shares @ p[:, begin:end]``, four rows at a time, so that mixed is read and written less often."""
    mixed[:] = 0.0
    n_fours = shares.size // 4 * 4
    for k in range(0, n_fours, 4):
        s0, s1, s2, s3 = shares[k], shares[k + 1], shares[k + 2], shares[k + 3]
        p0, p1, p2, p3 = p[k, begin:end], p[k + 1, begin:end], p[k + 2, begin:end], p[k + 3, begin:end]
        for e in range(mixed.size):
            mixed[e] += s0 * p0[e] + s1 * p1[e] + s2 * p2[e] + s3 * p3[e]
    for k in range(n_fours, shares.size):
        share, row = shares[k], p[k, begin:end]
        for e in range(mixed.size):
            mixed[e] += share * row[e]


@kernel(fastmath=FAST)
def _mix(p, n, theta, q):
    """``q[:n] = theta @ p[:, :n]``"""
    for begin in range(0, n, CHUNK):
        end = min(begin + CHUNK, n)
        _mix_part(p, begin, end, theta, q[begin:end])


@kernel(fastmath=FAST)
def _sum_logs(q, n, counts):
    """``(counts[:n] * np.log(q[:n])).sum()``, with one logarithm for eight that count alike."""
    total = 0.0
    for begin in range(0, n, 8):
        end = min(begin + 8, n)
        product = 1.0
        alike = True
        for e in range(begin, end):
            product *= q[e]
            alike &= counts[e] == counts[begin]
        if alike and product > TINY:
            total += counts[begin] * np.log(product)
        else:
            for e in range(begin, end):
                total += counts[e] * np.log(q[e])
    return total


@kernel(fastmath=FAST)
def _bend_of(p, n, factor, theta, prior, scaled, bend):
    """Curvature of the posterior in theta: ``sum_e factor_e p_e p_e^T + diag(prior / theta^2)``; scaled has a CHUNK."""
    for k in range(theta.size):
        bend[k, :k] = 0.0
        bend[k, k] = prior[k] / (theta[k] * theta[k])
    for begin in range(0, n, CHUNK):
        end = min(begin + CHUNK, n)
        factors = factor[begin:end]
        for k in range(theta.size):
            row = p[k, begin:end]
            for e in range(row.size):
                scaled[e] = factors[e] * row[e]
            for m in range(0, k - 2, 4):  # four at a time as in _mix_part
                p0, p1, p2, p3 = p[m, begin:end], p[m + 1, begin:end], p[m + 2, begin:end], p[m + 3, begin:end]
                t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
                for e in range(row.size):
                    t0 += scaled[e] * p0[e]
                    t1 += scaled[e] * p1[e]
                    t2 += scaled[e] * p2[e]
                    t3 += scaled[e] * p3[e]
                bend[k, m] += t0
                bend[k, m + 1] += t1
                bend[k, m + 2] += t2
                bend[k, m + 3] += t3
            for m in range((k + 1) // 4 * 4, k + 1):
                other = p[m, begin:end]
                total = 0.0
                for e in range(row.size):
                    total += scaled[e] * other[e]
                bend[k, m] += total


@kernel(fastmath=FAST)
def _weigh_probabilities(p, n, counts, prior, theta, n_rounds, q, factor, scaled, bend, vectors):
    """Improve one user's theta in place, given p (K, n), P_k of each comparison; gives the log posterior."""
    slope, step, ones, trial = vectors[0], vectors[1], vectors[2], vectors[3]
    put(theta, trial)
    best = -np.inf
    length = 1.0
    for turn in range(n_rounds + 1):
        _mix(p, n, trial, q)
        value = _sum_logs(q, n, counts)
        for k in range(theta.size):
            value += prior[k] * np.log(trial[k])
        if value >= best:
            done = value - best < NEGLIGIBLE * abs(value)
            put(trial, theta)
            best = value
            if done or turn == n_rounds:
                break
            for e in range(n):
                q[e] = 1.0 / q[e]
                factor[e] = counts[e] * q[e] * q[e]
                q[e] *= counts[e]
            for k in range(theta.size):
                total = 0.0
                for e in range(n):
                    total += q[e] * p[k, e]
                slope[k] = total + prior[k] / theta[k]
            _bend_of(p, n, factor, theta, prior, scaled, bend)
            length = newton_direction(theta, slope, bend, ones, step)
        else:
            length *= 0.3
        for k in range(theta.size):
            trial[k] = theta[k] + length * step[k]
    return best


@kernel(fastmath=FAST)
def _weigh_and_integrate(p, n, counts, prior, theta, n_rounds, q, factor, scaled, bend, covariance, vectors):
    """Improve one user's theta in place, fill q (n,) and its covariance (K, K); gives the log posterior without it."""
    value = _weigh_probabilities(p, n, counts, prior, theta, n_rounds, q, factor, scaled, bend, vectors)
    _mix(p, n, theta, q)
    for e in range(n):
        factor[e] = counts[e] / (q[e] * q[e])
    _bend_of(p, n, factor, theta, prior, scaled, bend)
    return value + integrate_weights(theta, bend, covariance, vectors[0])


@kernel(fastmath=FAST)
def _mean_pulls(p, n, counts, prior, theta, q, factor, covariance, pulls, slope, shift):
    """Fill pulls (K, n): the slope of each comparison in its lead under every ranking, averaged over theta.

    With C the covariance of theta and v the shift of its mean: ``p_k (1 - p_k) (theta_k / q - (C p)_k / q^2 + (p^T C p)
    theta_k / q^3 + v_k / q - (v . p) theta_k / q^2)``. q is replaced by its inverse.
    """
    slope[:] = 0.0
    for begin in range(0, n, CHUNK):
        end = min(begin + CHUNK, n)
        once, square, weight = q[begin:end], factor[begin:end], counts[begin:end]
        square[:] = 0.0
        for k in range(theta.size):
            pull, own = pulls[k, begin:end], p[k, begin:end]
            _mix_part(p, begin, end, covariance[k], pull)
            for e in range(once.size):
                square[e] += pull[e] * own[e]
        for e in range(once.size):
            once[e] = 1.0 / once[e]
            square[e] *= once[e] * once[e]
        for k in range(theta.size):
            own, total = p[k, begin:end], 0.0
            for e in range(once.size):
                total += weight[e] * once[e] * square[e] * own[e]
            slope[k] += total
    shift_of_mean(theta, prior, covariance, slope, shift)
    for begin in range(0, n, CHUNK):
        end = min(begin + CHUNK, n)
        once, square, weight = q[begin:end], factor[begin:end], counts[begin:end]
        for k in range(theta.size):
            own, away = p[k, begin:end], shift[k]
            for e in range(once.size):
                square[e] -= away * own[e] * once[e]
        for k in range(theta.size):
            pull, own, share, away = pulls[k, begin:end], p[k, begin:end], theta[k], shift[k]
            for e in range(once.size):
                slack = weight[e] * once[e] * own[e] * (1.0 - own[e])
                pull[e] = slack * (share * (1.0 + square[e]) + away - once[e] * pull[e])


@kernel(fastmath=FAST)
def _masses(p, n, counts, theta, q):
    """Replace p by the curvature in the lead of each comparison; q is the inverse of what is mixed."""
    for k in range(theta.size):
        for e in range(n):
            p[k, e] *= counts[e] * theta[k] * q[e] * p[k, e] * (1.0 - p[k, e])


@kernel(fastmath=FAST)
def add_product(pull, count, first, second):
    """Add ``pull pull^T / count`` to both (K, K) blocks."""
    for k in range(pull.size):
        part = pull[k] / count
        for m in range(pull.size):
            first[k, m] += part * pull[m]
            second[k, m] += part * pull[m]


@kernel(parallel=True, fastmath=FAST)
def probability_pass(edges, offsets, winners, losers, weights, scores, start, prior, n_rounds, informed):
    """Mix probabilities: ``P(i over j) = sum_k theta_k p_k``, ``p_k = sigmoid(scores_ik - scores_jk)``.

    Gives theta (M, K), the log posterior, its slope in scores (Q, K), its curvature (Q, K) as if one saw which ranking
    makes a comparison, ``sum r p (1 - p)`` with r the probability of that, the posterior mean of each user's weights
    (M, K), the evidence behind them (M,), and where ``informed`` the information about each item's scores (Q, K, K):
    products of slopes, summed.
    """
    n_items, n_rankings = scores.shape
    strengths = np.exp(scores)
    too_far = False
    for i in range(n_items):
        for k in range(n_rankings):
            too_far |= abs(scores[i, k]) > FARTHEST
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
        slope, bend_of_score = slopes[b], bends[b]
        p = np.empty((n_rankings, most))
        pulls = np.empty((n_rankings, most))
        counts = np.ones(most)
        q = np.empty(most)
        factor = np.empty(most)
        scaled = np.empty(CHUNK)
        bend = np.empty((n_rankings, n_rankings))
        covariance = np.empty((n_rankings, n_rankings))
        vectors = np.empty((4, n_rankings))
        for u in range(edges[b], edges[b + 1]):
            first = offsets[u]
            n = offsets[u + 1] - first
            own = prior[min(u, prior.shape[0] - 1)]
            theta = weighed[u]
            for e in range(n):
                i, j = winners[first + e], losers[first + e]
                ahead, behind = strengths[i], strengths[j]
                for k in range(n_rankings):
                    p[k, e] = ahead[k] / (ahead[k] + behind[k])
                if too_far:
                    for k in range(n_rankings):
                        p[k, e] = 1.0 / (1.0 + np.exp(scores[j, k] - scores[i, k]))
            if weights.size:
                put(weights[first : first + n], counts[:n])
            values[b] += _weigh_and_integrate(
                p, n, counts, own, theta, n_rounds, q, factor, scaled, bend, covariance, vectors
            )
            _mean_pulls(p, n, counts, own, theta, q, factor, covariance, pulls, vectors[0], vectors[1])
            mean_weights(theta, vectors[1], means[u])
            evidence[u] = evidence_of(means[u], covariance)
            _masses(p, n, counts, theta, q)
            for e in range(n):
                i, j = winners[first + e], losers[first + e]
                for k in range(n_rankings):
                    slope[i, k] += pulls[k, e]
                    slope[j, k] -= pulls[k, e]
                    bend_of_score[i, k] += p[k, e]
                    bend_of_score[j, k] += p[k, e]
                if informed:
                    put(pulls[:, e], vectors[0])
                    add_product(vectors[0], counts[e], products[b, i], products[b, j])
    sums = sum_blocks(slopes), sum_blocks(bends)
    return weighed, sum_blocks(values[:, None])[0], *sums, means, evidence, sum_blocks(products)


@kernel(parallel=True, fastmath=FAST)
def places_pass(edges, offsets, winners, losers, weights, places, laws, start, prior, n_rounds):
    """Mix probabilities that depend on how far apart two items stand: ``P_k = laws[k, place_j - place_i + Q - 1]``.

    places (Q, K) int32, laws (K, 2 Q - 1). Gives theta (M, K), the log posterior of the orders, and the evidence
    behind each user's weights (M,).
    """
    n_items, n_rankings = places.shape
    n_blocks = edges.size - 1
    values = np.zeros(n_blocks)
    weighed = start.copy()
    evidence = np.zeros(offsets.size - 1)
    for b in prange(n_blocks):
        most = 0
        for u in range(edges[b], edges[b + 1]):
            most = max(most, offsets[u + 1] - offsets[u])
        p = np.empty((n_rankings, most))
        counts = np.ones(most)
        q = np.empty(most)
        factor = np.empty(most)
        scaled = np.empty(CHUNK)
        bend = np.empty((n_rankings, n_rankings))
        covariance = np.empty((n_rankings, n_rankings))
        vectors = np.empty((4, n_rankings))
        for u in range(edges[b], edges[b + 1]):
            first = offsets[u]
            n = offsets[u + 1] - first
            own = prior[min(u, prior.shape[0] - 1)]
            theta = weighed[u]
            for e in range(n):
                i, j = winners[first + e], losers[first + e]
                for k in range(n_rankings):
                    p[k, e] = laws[k, places[j, k] - places[i, k] + n_items - 1]
            if weights.size:
                put(weights[first : first + n], counts[:n])
            values[b] += _weigh_and_integrate(
                p, n, counts, own, theta, n_rounds, q, factor, scaled, bend, covariance, vectors
            )
            evidence[u] = evidence_of(theta, covariance)
    return weighed, sum_blocks(values[:, None])[0], evidence


@kernel()
def sum_blocks(parts):
    """Sum over the first axis as a tree, so that 2^j neighbours can be summed elsewhere; parts are used up."""
    if parts.shape[0] == 0:
        return np.zeros(parts.shape[1:])
    flat = parts.reshape((parts.shape[0], parts[0].size))
    step = 1
    while step < parts.shape[0]:
        for b in range(0, parts.shape[0] - step, 2 * step):
            for c in range(flat.shape[1]):
                flat[b, c] += flat[b + step, c]
        step *= 2
    return parts[0].copy()
