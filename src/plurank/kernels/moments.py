"""Sums over users and over pairs: what the moment operators are made of."""

import numpy as np
from numba import prange

from plurank.kernels.compiling import kernel


@kernel()
def choose_half(offsets, uniforms):
    """Choose a random half of every user's comparisons (the larger half where the number is odd).

    Selection sampling: comparison e is taken with probability (still needed) / (still to come).
    """
    chosen = np.empty(uniforms.size, np.bool_)
    for u in range(offsets.size - 1):
        left = offsets[u + 1] - offsets[u]
        needed = (left + 1) // 2
        for e in range(offsets[u], offsets[u + 1]):
            take = uniforms[e] * left < needed
            chosen[e] = take
            needed -= take
            left -= 1
    return chosen


@kernel()
def arrange_halves(offsets, first, values):
    """Put each user's first half before the second, keeping the order within: a stable partition.

    Gives the arranged values and where each user's second half begins (n_users,).
    """
    arranged = np.empty_like(values)
    middles = np.empty(offsets.size - 1, np.int64)
    for u in range(offsets.size - 1):
        cursor = offsets[u]
        for e in range(offsets[u], offsets[u + 1]):
            if first[e]:
                arranged[cursor] = values[e]
                cursor += 1
        middles[u] = cursor
        for e in range(offsets[u], offsets[u + 1]):
            if not first[e]:
                arranged[cursor] = values[e]
                cursor += 1
    return arranged, middles


@kernel()
def lay_out_by_row(begins, middles, row_of, weights, n_rows):
    """Turn comparisons by user into comparisons by row, half a before half b, users in order within each.

    ``np.lexsort((users, half, row_of))``. Gives the user of each comparison, its weight (empty where weights is), and
    where half a of each row begins, half b begins, and half b ends.
    """
    edges = np.zeros(2 * n_rows + 1, np.int64)
    for u in range(middles.size):
        for e in range(begins[u], begins[u + 1]):
            edges[2 * row_of[e] + (e >= middles[u]) + 1] += 1
    for g in range(2 * n_rows):
        edges[g + 1] += edges[g]
    cursor = edges[:-1].copy()
    user_of = np.empty(row_of.size, np.int32)
    row_weights = np.empty(weights.size)
    for u in range(middles.size):
        for e in range(begins[u], begins[u + 1]):
            at = 2 * row_of[e] + (e >= middles[u])
            user_of[cursor[at]] = u
            if weights.size:
                row_weights[cursor[at]] = weights[e]
            cursor[at] += 1
    return user_of, row_weights, edges[:-1:2].copy(), edges[1::2].copy(), edges[2::2].copy()


@kernel(parallel=True)
def sum_gathered(begins, ends, index, weights, values):
    """Sum rows of values over groups: ``out[g] = (weights[b:e, None] * values[index[b:e]]).sum(axis=0)``.

    Each group is summed by one thread in its own order, so the sums do not depend on the number of threads.
    An empty weights means all ones. values (n, c) -> out (n_groups, c).
    """
    n_columns = values.shape[1]
    out = np.zeros((begins.size, n_columns), values.dtype)
    for g in prange(begins.size):
        total = out[g]
        if weights.size:
            for e in range(begins[g], ends[g]):
                row = values[index[e]]
                for c in range(n_columns):
                    total[c] += weights[e] * row[c]
        else:
            for e in range(begins[g], ends[g]):
                row = values[index[e]]
                for c in range(n_columns):
                    total[c] += row[c]
    return out


@kernel()
def count_shared_users(begins_a, ends_a, begins_b, ends_b, users, weights):
    """Sum over users the product of what a row has in half a and in half b: the diagonal of X' X^T.

    Users are sorted within begins:ends. An empty weights means all ones.
    """
    out = np.zeros(begins_a.size)
    for g in range(begins_a.size):
        a, b = begins_a[g], begins_b[g]
        while a < ends_a[g] and b < ends_b[g]:
            if users[a] < users[b]:
                a += 1
            elif users[a] > users[b]:
                b += 1
            else:
                user = users[a]
                in_a = 0.0
                in_b = 0.0
                while a < ends_a[g] and users[a] == user:
                    in_a += weights[a] if weights.size else 1.0
                    a += 1
                while b < ends_b[g] and users[b] == user:
                    in_b += weights[b] if weights.size else 1.0
                    b += 1
                out[g] += in_a * in_b
    return out


@kernel()
def signed_item_counts(offsets, winners, losers, weights, n_items):
    """Count each user's wins minus losses per item, as a sparse matrix by rows.

    ``dense[u] = bincount(winners, weights) - bincount(losers, weights)`` over the comparisons of user u.
    Gives indptr (n_users + 1,), indices and data; items in order of appearance.
    """
    total = np.zeros(n_items)
    seen = np.full(n_items, -1, np.int64)
    indptr = np.zeros(offsets.size, np.int64)
    indices = np.empty(2 * winners.size, np.int32)
    data = np.empty(2 * winners.size)
    n = 0
    for u in range(offsets.size - 1):
        begin = n
        for e in range(offsets[u], offsets[u + 1]):
            weight = weights[e] if weights.size else 1.0
            for item, sign in ((winners[e], weight), (losers[e], -weight)):
                if seen[item] != u:
                    seen[item] = u
                    total[item] = 0.0
                    indices[n] = item
                    n += 1
                total[item] += sign
        for e in range(begin, n):
            data[e] = total[indices[e]]
        indptr[u + 1] = n
    return indptr, indices[:n].copy(), data[:n].copy()
