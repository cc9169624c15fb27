"""Plain twins of ``kernels/grouping.py``, where the docstrings are."""

# ruff: noqa: D103
import itertools

import numpy as np

from plurank.kernels.arrays import Keys
from plurank.kernels.plain.common import ones_if_empty
from plurank.types import Codes, Floats, Integers, Masks


def encode_keys(keys: Keys) -> tuple[Codes, Integers]:
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    by_appearance = np.argsort(first)
    return np.argsort(by_appearance)[inverse].astype(np.int32), first[by_appearance].astype(np.int64)


def group(codes: Codes, n_groups: int) -> tuple[Integers, Integers]:
    offsets = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=n_groups))])
    return np.argsort(codes, kind="stable").astype(np.int64), offsets.astype(np.int64)


def find_rows(winners: Codes, losers: Codes, begins: Integers, higher: Codes) -> Codes:
    low, high = np.minimum(winners, losers), np.maximum(winners, losers)
    n_items = len(begins) - 1
    keys = np.repeat(np.arange(n_items), np.diff(begins)) * n_items + higher
    pair = np.searchsorted(keys, low.astype(np.int64) * n_items + high)
    return (2 * pair + (winners > losers)).astype(np.int32)


def find_duplicates(offsets: Integers, winners: Codes, losers: Codes, n_items: int) -> int:  # noqa: ARG001
    users = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    return len(users) - len(set(zip(users.tolist(), winners.tolist(), losers.tolist(), strict=True)))


def count_meetings(offsets: Integers, winners: Codes, losers: Codes, weights: Floats, n_items: int) -> Floats:
    weights, meetings = ones_if_empty(weights, winners.size), np.empty(winners.size)
    for b, e in itertools.pairwise(offsets):
        counts = np.bincount(winners[b:e], weights[b:e], n_items) + np.bincount(losers[b:e], weights[b:e], n_items)
        meetings[b:e] = 0.5 * (counts[winners[b:e]] + counts[losers[b:e]])
    return meetings


def find_consistent(offsets: Integers, winners: Codes, losers: Codes, n_items: int) -> Masks:
    found = []
    for begin, end in itertools.pairwise(offsets):
        over, under = winners[begin:end], losers[begin:end]
        mirrored = (over[1:] == under[:-1]) & (under[1:] == over[:-1])
        decided = np.ones(len(over), dtype=bool)
        decided[1:] &= ~mirrored
        decided[:-1] &= ~mirrored
        reach = np.zeros((n_items, n_items), dtype=bool)
        reach[over[decided], under[decided]] = True
        for middle in range(n_items):  # all items that can be reached over others
            reach |= reach[:, [middle]] & reach[[middle]]
        found.append(not reach.diagonal().any())
    return np.array(found, dtype=bool)
