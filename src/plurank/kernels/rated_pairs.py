"""Comparisons from ratings: which pairs, and who wins; sources: ``native/rated_pairs.cpp``."""

import numpy as np

from plurank.kernels.arrays import check, most_of
from plurank.kernels.library import (
    CODES,
    FLOATS,
    INT,
    INTS,
    OUT_CODES,
    OUT_FLOATS,
    OUT_INTS,
    function,
)
from plurank.types import Codes, Floats, Integers

_count_decided_pairs = function("count_decided_pairs", INT, INTS, FLOATS, INT, OUT_INTS, OUT_FLOATS)
_decide_pairs = function("decide_pairs", INT, INTS, CODES, FLOATS, INT, FLOATS, OUT_CODES, OUT_CODES)
_sample_pairs = function("sample_pairs", INT, INTS, INTS, FLOATS, OUT_INTS, OUT_INTS)
_expand_pairs = function(
    "expand_pairs", INT, INTS, CODES, FLOATS, INTS, INTS, INT, FLOATS, OUT_INTS, OUT_CODES, OUT_CODES
)
BOTH, RANDOM = 1, 2  # ways with ties; 0: ignore them


def decided_pairs(
    offsets: Integers, items: Codes, ratings: Floats, ties: int, uniforms: Floats
) -> tuple[Integers, Codes, Codes]:
    """Compare every pair of items that a user rated.

    ties: 0 ignore, 1 both ways, 2 at random with the next of uniforms. Items rated by user u are
    items[offsets[u]:offsets[u + 1]]. Returns comparison offsets (M + 1,), winners, losers.
    """
    n_users = len(offsets) - 1
    check(offsets[-1] == len(items) == len(ratings))
    decided = np.empty(n_users + 1, np.int64)
    _count_decided_pairs(n_users, offsets, ratings, ties, decided, np.empty(most_of(offsets) + 1))
    if ties == RANDOM:
        strict = np.empty(n_users + 1, np.int64)
        _count_decided_pairs(n_users, offsets, ratings, 0, strict, np.empty(most_of(offsets) + 1))
        check(len(uniforms) >= decided[-1] - strict[-1])
    winners, losers = np.empty(decided[-1], np.int32), np.empty(decided[-1], np.int32)
    _decide_pairs(n_users, offsets, items, ratings, ties, uniforms, winners, losers)
    return decided, winners, losers


def sample_pairs(n_rated: Integers, n_wanted: Integers, uniforms: Floats) -> Integers:
    """Sample distinct pairs of positions for each user, by Floyd's method with one draw a pair.

    User u gets n_wanted[u] of the codes 0, ..., n (n - 1) / 2 - 1 with n = n_rated[u]; the draws are used in order. A
    code is ``b (b - 1) / 2 + a`` for positions a < b. Returns codes (sum of n_wanted,).
    """
    n = int(n_wanted.sum())
    check(len(n_rated) == len(n_wanted) and len(uniforms) >= n and (n_wanted <= n_rated * (n_rated - 1) // 2).all())
    codes, table = np.empty(n, np.int64), np.empty(4 * max(int(n_wanted.max(initial=0)), 1), np.int64)
    _sample_pairs(len(n_rated), n_rated, n_wanted, uniforms, codes, table)
    return codes


def expand_pairs(
    offsets: Integers, items: Codes, ratings: Floats, n_wanted: Integers, codes: Integers, ties: int, uniforms: Floats
) -> tuple[Integers, Codes, Codes]:
    """Compare the sampled pairs of each user; arguments and result as in :func:`decided_pairs`."""
    check(offsets[-1] == len(items) == len(ratings) and n_wanted.sum() == len(codes))
    check(ties != RANDOM or len(uniforms) >= len(codes))
    expanded = np.empty(len(offsets), np.int64)
    winners, losers = (np.empty(len(codes) * (2 if ties == BOTH else 1), np.int32) for _ in range(2))
    given = offsets, items, ratings, n_wanted, codes, ties, uniforms
    _expand_pairs(len(offsets) - 1, *given, expanded, winners, losers)
    return expanded, winners[: expanded[-1]].copy(), losers[: expanded[-1]].copy()
