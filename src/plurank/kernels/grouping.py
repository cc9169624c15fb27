"""Grouping in linear time: keys to codes, positions to groups; sources: ``native/grouping.cpp``."""

import numpy as np

from plurank.kernels.arrays import Keys, check, most_of
from plurank.kernels.library import (
    CODES,
    FLOATS,
    INT,
    INTS,
    KEYS,
    OUT_CODES,
    OUT_FLOATS,
    OUT_INTS,
    OUT_KEYS,
    OUT_MARKS,
    function,
)  # fmt: skip
from plurank.kernels.threads import run
from plurank.types import Codes, Floats, Integers, Masks

_USERS = (INT, INT, INTS, CODES, CODES)  # range; offsets, winners, losers
_encode_keys = function(
    "encode_keys", KEYS, INT, INT, INT, OUT_CODES, OUT_KEYS, OUT_INTS, OUT_INTS, OUT_CODES, returns=INT
)
_group = function("group", CODES, INT, INT, OUT_INTS, OUT_INTS, OUT_INTS)
_find_rows = function("find_rows", INT, INT, CODES, CODES, INTS, CODES, OUT_CODES)
_find_duplicates = function("find_duplicates", *_USERS, INT, OUT_INTS, OUT_FLOATS)
_count_meetings = function("count_meetings", *_USERS, FLOATS, INT, INT, OUT_FLOATS, OUT_FLOATS)
_find_consistent = function("find_consistent", *_USERS, INT, OUT_MARKS, OUT_FLOATS)
FIRST_BITS = 10  # of the size of the table of keys


def encode_keys(keys: Keys) -> tuple[Codes, Integers]:
    """Number distinct keys in order of appearance: codes (n,), and where each code appears first (n_distinct,)."""
    codes, first, n_distinct = np.empty(len(keys), np.int32), np.empty(0, np.int64), np.zeros(1, np.int64)
    reached, bits = 0, FIRST_BITS
    while reached < len(keys):
        slot_codes, slot_keys = np.full(2**bits, -1, np.int32), np.empty(2**bits, np.uint64)
        first = np.concatenate([first, np.empty(2**bits // 4 + 1 - len(first), np.int64)])
        reached = _encode_keys(keys, reached, len(keys), bits, slot_codes, slot_keys, first, n_distinct, codes)
        bits += 2
    return codes, first[: n_distinct[0]].copy()


def group(codes: Codes, n_groups: int) -> tuple[Integers, Integers]:
    """Sort positions by code, keeping their order within a code; offsets (n_groups + 1,) bound the groups."""
    check(not len(codes) or (codes.min() >= 0 and codes.max() < n_groups))
    order, offsets = np.empty(len(codes), np.int64), np.zeros(n_groups + 1, np.int64)
    _group(np.ascontiguousarray(codes), len(codes), n_groups, order, offsets, np.empty(n_groups, np.int64))
    return order, offsets


def find_rows(winners: Codes, losers: Codes, begins: Integers, higher: Codes) -> Codes:
    """Return rows of comparisons, (n,), among sorted pairs, all of which are there.

    Row ``2 p`` is pair p won by its lower item, ``2 p + 1`` by its higher one. higher (n_pairs,) are the higher items,
    and begins (Q + 1,) is where those of each lower item begin.
    """
    check(len(winners) == len(losers) and begins[-1] == len(higher))
    rows = np.empty(len(winners), np.int32)
    run(_find_rows, len(rows), 10 * len(rows), winners, losers, begins, higher, rows)
    return rows


def find_duplicates(offsets: Integers, winners: Codes, losers: Codes, n_items: int) -> int:
    """Count the comparisons that repeat an earlier one of the same user."""
    check(offsets[-1] == len(winners) == len(losers))
    repeats = np.empty(len(offsets) - 1, np.int64)
    work, memory = 30 * len(winners), most_of(offsets) + 1
    run(_find_duplicates, len(repeats), work, offsets, winners, losers, n_items, repeats, memory=memory)
    return int(repeats.sum())


def count_meetings(offsets: Integers, winners: Codes, losers: Codes, weights: Floats, n_items: int) -> Floats:
    """Return how many comparisons of the same user the two items of each are in, on average, (n,)."""
    check(offsets[-1] == len(winners) == len(losers) and len(weights) in (0, len(winners)))
    meetings = np.empty(len(winners))
    columns = (offsets, winners, losers, weights, len(weights), n_items)
    run(_count_meetings, len(offsets) - 1, 5 * len(winners), *columns, meetings, memory=n_items + 1)
    return meetings


def find_consistent(offsets: Integers, winners: Codes, losers: Codes, n_items: int) -> Masks:
    """Check which users' comparisons, without ties, agree with some ranking, (M,).

    Ties are two comparisons in a row that go both ways.
    """
    check(offsets[-1] == len(winners) == len(losers))
    consistent = np.empty(len(offsets) - 1, np.bool_)
    memory = 3 * n_items + most_of(offsets) + 1
    columns = (offsets, winners, losers, n_items)
    run(_find_consistent, len(consistent), 10 * len(winners), *columns, consistent, memory=memory)
    return consistent
