"""Plain twins of ``kernels/sums.py``, where the docstrings are."""

# ruff: noqa: D103
import itertools

import numpy as np

from plurank.kernels.arrays import Reals
from plurank.kernels.plain.common import ones_if_empty
from plurank.types import Codes, Floats, Integers, Masks


def choose_half(offsets: Integers, uniforms: Floats) -> Masks:
    chosen = np.zeros(uniforms.size, bool)
    for begin, end in itertools.pairwise(offsets):
        needed = (end - begin + 1) // 2
        for e in range(begin, end):
            chosen[e] = uniforms[e] * (end - e) < needed
            needed -= chosen[e]
    return chosen


def sum_gathered(begins: Integers, ends: Integers, index: Codes, weights: Floats, values: Reals) -> Reals:
    weights = ones_if_empty(weights, index.size)
    out = np.zeros((begins.size, values.shape[1]), values.dtype)
    for g, (b, e) in enumerate(zip(begins, ends, strict=True)):
        for at in range(b, e):
            out[g] += weights[at] * values[index[at]]
    return out


def add_gathered(begins: Integers, ends: Integers, index: Codes, weights: Floats, values: Reals, out: Reals) -> Reals:
    weights = ones_if_empty(weights, index.size)
    for g, (b, e) in enumerate(zip(begins, ends, strict=True)):
        for at in range(b, e):
            out[g] += (weights[at] * values[index[at]]).astype(out.dtype)
    return out


def count_shared_users(
    begins_a: Integers, ends_a: Integers, begins_b: Integers, ends_b: Integers, users: Codes, weights: Floats
) -> Floats:
    weights = ones_if_empty(weights, users.size)
    n_users = users.max(initial=-1) + 1
    out = np.zeros(begins_a.size)
    for g in range(begins_a.size):
        a, b = slice(begins_a[g], ends_a[g]), slice(begins_b[g], ends_b[g])
        out[g] = np.bincount(users[a], weights[a], n_users) @ np.bincount(users[b], weights[b], n_users)
    return out


def signed_item_counts(
    offsets: Integers, winners: Codes, losers: Codes, weights: Floats, n_items: int
) -> tuple[Integers, Codes, Floats]:
    weights = ones_if_empty(weights, winners.size)
    indptr, indices, data = [0], [], []
    for b, e in itertools.pairwise(offsets):
        both = np.stack([winners[b:e], losers[b:e]], axis=1).ravel()
        items = list(dict.fromkeys(both.tolist()))
        dense = np.bincount(winners[b:e], weights[b:e], n_items) - np.bincount(losers[b:e], weights[b:e], n_items)
        indices += items
        data += dense[items].tolist()
        indptr.append(len(indices))
    return np.array(indptr), np.array(indices, np.int32), np.array(data, float)
