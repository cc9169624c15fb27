"""Sums over users and over pairs that moments are made of; sources: ``native/sums.cpp``."""

import numpy as np

from plurank.kernels.arrays import Reals, check
from plurank.kernels.library import (
    CODES,
    FLOATS,
    INT,
    INTS,
    OUT_CODES,
    OUT_FLOATS,
    OUT_INTS,
    OUT_MARKS,
    OUT_SINGLES,
    SINGLES,
    function,
)  # fmt: skip
from plurank.kernels.threads import run
from plurank.types import Codes, Floats, Integers, Masks

_GROUPS = (INT, INT, INTS, INTS, CODES, FLOATS, INT)  # range; begins, ends, index, weights
_add_gathered = {
    np.dtype(np.float64): function("add_gathered", *_GROUPS, FLOATS, INT, OUT_FLOATS),
    np.dtype(np.float32): function("add_gathered_singles", *_GROUPS, SINGLES, INT, OUT_SINGLES),
}
_choose_half = function("choose_half", INT, INT, INTS, FLOATS, OUT_MARKS)
_count_shared_users = function("count_shared_users", INT, INT, INTS, INTS, INTS, INTS, CODES, FLOATS, INT, OUT_FLOATS)
_signed_item_counts = function(
    "signed_item_counts", INT, INTS, CODES, CODES, FLOATS, INT, OUT_INTS, OUT_CODES, OUT_FLOATS, OUT_INTS, returns=INT
)


def choose_half(offsets: Integers, uniforms: Floats) -> Masks:
    """Choose a random half of every user's comparisons (the larger half where their number is odd), (n,)."""
    check(offsets[-1] == len(uniforms))
    chosen = np.empty(len(uniforms), np.bool_)
    run(_choose_half, len(offsets) - 1, 3 * len(uniforms), offsets, uniforms, chosen)
    return chosen


def sum_gathered(begins: Integers, ends: Integers, index: Codes, weights: Floats, values: Reals) -> Reals:
    """Sum rows of values over groups: ``out[g] = (weights[b:e, None] * values[index[b:e]]).sum(axis=0)``.

    Each group is summed in its own order. An empty weights means all ones. values (n, c) -> (n_groups, c).
    """
    return add_gathered(begins, ends, index, weights, values, np.zeros((len(begins), values.shape[1]), values.dtype))


def add_gathered(begins: Integers, ends: Integers, index: Codes, weights: Floats, values: Reals, out: Reals) -> Reals:
    """Add to out (n_groups, c), which is changed and returned, what :func:`sum_gathered` gives."""
    n_columns = values.shape[1]
    check(len(begins) == len(ends) == len(out) and out.shape[1] == n_columns and len(weights) in (0, len(index)))
    groups = (np.ascontiguousarray(begins), np.ascontiguousarray(ends), index, weights, len(weights))
    work = len(index) * (n_columns + 4) / 4
    run(_add_gathered[values.dtype], len(begins), work, *groups, np.ascontiguousarray(values), n_columns, out)
    return out


def count_shared_users(
    begins_a: Integers, ends_a: Integers, begins_b: Integers, ends_b: Integers, users: Codes, weights: Floats
) -> Floats:
    """Sum over users the product of what a row has in half a and in half b: the diagonal of X' X^T.

    Users are sorted within begins:ends. An empty weights means all ones.
    """
    parts = tuple(np.ascontiguousarray(part) for part in (begins_a, ends_a, begins_b, ends_b))
    check(len({len(part) for part in parts}) == 1 and len(weights) in (0, len(users)))
    out = np.empty(len(begins_a))
    run(_count_shared_users, len(out), 3 * len(users), *parts, users, weights, len(weights), out)
    return out


def signed_item_counts(
    offsets: Integers, winners: Codes, losers: Codes, weights: Floats, n_items: int
) -> tuple[Integers, Codes, Floats]:
    """Count each user's wins minus losses per item, as a sparse matrix by rows.

    ``dense[u] = bincount(winners, weights) - bincount(losers, weights)`` over the comparisons of user u. Returns indptr
    (M + 1,), indices and data; items in order of appearance.
    """
    check(offsets[-1] == len(winners) == len(losers) and len(weights) in (0, len(winners)))
    indptr, indices = np.empty(len(offsets), np.int64), np.empty(2 * len(winners), np.int32)
    data, seen = np.empty(2 * len(winners)), np.full(n_items, -1, np.int64)
    columns = (offsets, winners, losers, weights, len(weights))
    n = _signed_item_counts(len(offsets) - 1, *columns, indptr, indices, data, seen)
    return indptr, indices[:n].copy(), data[:n].copy()
