"""Rows of E seen along random directions: sums of users' projections, which rows differ, which stay above others."""

import numpy as np
from numba import prange

from plurank.kernels.compiling import kernel


@kernel(parallel=True)
def add_gathered(begins, ends, index, weights, values, out):
    """Add rows of values over groups: ``out[g] += (weights[b:e, None] * values[index[b:e]]).sum(axis=0)``.

    An empty weights means all ones. values (n, c); out (n_groups, c) is changed, and given back.
    """
    n_columns = values.shape[1]
    for g in prange(begins.size):
        total = out[g]
        for e in range(begins[g], ends[g]):
            row = values[index[e]]
            weight = weights[e] if weights.size else 1.0
            if weight == 1.0:
                for c in range(n_columns):
                    total[c] += row[c]
            else:
                for c in range(n_columns):
                    total[c] += weight * row[c]
    return out


@kernel(parallel=True)
def are_apart(points, others, n_first, least):
    """Tell which points have at least this squared distance in their first coordinates already, (n, m).

    ``((points[:, None, :n_first] - others[:, :n_first]) ** 2).sum(axis=2) >= least``
    """
    out = np.empty((points.shape[0], others.shape[0]), np.bool_)
    for i in prange(points.shape[0]):
        for j in range(others.shape[0]):
            total = 0.0
            for c in range(n_first):
                difference = np.float64(points[i, c]) - np.float64(others[j, c])
                total += difference * difference
                if total >= least:
                    break
            out[i, j] = total >= least
    return out


@kernel(parallel=True)
def stay_above(points, rivals, apart, left):
    """Take out directions along which a rival that is apart lies above a point.

    ``left &= ~(apart[:, :, None] & (rivals > points[:, None])).any(axis=1)``; points and left (n, P), rivals (m, P),
    apart (n, m); left is changed, and given back.
    """
    n_columns = points.shape[1]
    for i in prange(points.shape[0]):
        which = np.empty(n_columns, np.int64)
        n_left = 0
        for c in range(n_columns):
            if left[i, c]:
                which[n_left] = c
                n_left += 1
        for j in range(rivals.shape[0]):
            if apart[i, j]:
                n_kept = 0
                for at in range(n_left):
                    c = which[at]
                    if rivals[j, c] > points[i, c]:
                        left[i, c] = False
                    else:
                        which[n_kept] = c
                        n_kept += 1
                n_left = n_kept
    return left
