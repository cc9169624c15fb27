"""How people deviate from the rankings they follow: one small concave problem for every person."""

import numpy as np

from plurank.kernels.compiling import kernel
from plurank.kernels.simplex import FAST

ROUNDS = 100  # Newton steps; a handful do
LITTLE = 1e-14  # promised gain of the log posterior that is none
EXACT = 1e-20  # of the square of what is to be solved for
SHORTEST = 1e-6


@kernel(fastmath=FAST)
def _look(first, last, begin, end, ahead, behind, counts, odds, precision, x, slope, bends, curvature):
    """Log posterior of one person at x; fills its slope, the comparisons' curvature (bends), and that of each item."""
    value = 0.0
    for k in range(begin, end):
        slope[k] = -precision * x[k]
        curvature[k] = precision
        value -= 0.5 * precision * x[k] * x[k]
    for e in range(first, last):
        i, j = ahead[e], behind[e]
        lead = odds[e] + x[i] - x[j]
        small = np.exp(-abs(lead))
        large = 1.0 / (1.0 + small)
        value += counts[e] * (min(lead, 0.0) + np.log(large))
        miss = small * large if lead >= 0.0 else large
        slope[i] += counts[e] * miss
        slope[j] -= counts[e] * miss
        bends[e] = counts[e] * miss * (1.0 - miss)
        curvature[i] += bends[e]
        curvature[j] += bends[e]
    return value


@kernel(fastmath=FAST)
def _solve(first, last, begin, end, ahead, behind, bends, precision, curvature, slope, step, rest, along, bent):
    """Fill step with Newton's, by conjugate gradients; gives what it promises to gain, twice."""
    size = 0.0
    for k in range(begin, end):
        step[k] = 0.0
        rest[k] = slope[k]
        along[k] = slope[k] / curvature[k]
        size += slope[k] * along[k]
    enough = EXACT * size
    for _ in range(2 * (end - begin) + 10):
        if size <= enough:
            break
        for k in range(begin, end):
            bent[k] = precision * along[k]
        for e in range(first, last):
            i, j = ahead[e], behind[e]
            part = bends[e] * (along[i] - along[j])
            bent[i] += part
            bent[j] -= part
        square = 0.0
        for k in range(begin, end):
            square += along[k] * bent[k]
        length = size / square
        before = size
        size = 0.0
        for k in range(begin, end):
            step[k] += length * along[k]
            rest[k] -= length * bent[k]
            size += rest[k] * rest[k] / curvature[k]
        for k in range(begin, end):
            along[k] = rest[k] / curvature[k] + size / before * along[k]
    promised = 0.0
    for k in range(begin, end):
        promised += slope[k] * step[k]
    return promised


@kernel(fastmath=FAST)
def solve_deviations(offsets, edges, ahead, behind, counts, odds, precision):
    """Maximise ``sum_e counts_e log sigmoid(odds_e + x_ahead - x_behind) - precision |x|^2 / 2`` for every person.

    Comparisons (n,) are in the order of people, by offsets (M + 1,); ahead and behind are places in x (n_own,), of
    which every person has a part of their own, by edges (M + 1,). Gives x and the curvature of each.
    """
    n_own = edges[-1]
    x = np.zeros(n_own)
    trial = np.zeros(n_own)
    slope = np.empty(n_own)
    curvature = np.empty(n_own)
    step = np.empty(n_own)
    rest = np.empty(n_own)
    along = np.empty(n_own)
    bent = np.empty(n_own)
    bends = np.empty(odds.size)
    for u in range(offsets.size - 1):
        first, last, begin, end = offsets[u], offsets[u + 1], edges[u], edges[u + 1]
        best = _look(first, last, begin, end, ahead, behind, counts, odds, precision, x, slope, bends, curvature)
        for _ in range(ROUNDS):
            promised = _solve(
                first, last, begin, end, ahead, behind, bends, precision, curvature, slope, step, rest, along, bent
            )
            if promised <= LITTLE:
                break
            length = 1.0
            value = -np.inf
            while value < best and length > SHORTEST:
                for k in range(begin, end):
                    trial[k] = x[k] + length * step[k]
                value = _look(
                    first, last, begin, end, ahead, behind, counts, odds, precision, trial, slope, bends, curvature
                )
                length *= 0.5
            if value < best:  # rounding alone is left
                break
            best = value
            for k in range(begin, end):
                x[k] = trial[k]
    return x, curvature
