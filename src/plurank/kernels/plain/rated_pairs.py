"""Plain twins of ``kernels/rated_pairs.py``, where the docstrings are."""

# ruff: noqa: D103
import itertools
from collections.abc import Iterable, Iterator

import numpy as np

from plurank.types import Codes, Floats, Integers


def decided_pairs(
    offsets: Integers, items: Codes, ratings: Floats, ties: int, uniforms: Floats
) -> tuple[Integers, Codes, Codes]:
    spans = itertools.pairwise(offsets)
    pairs = ([(a, b) for a in range(begin, end) for b in range(a + 1, end)] for begin, end in spans)
    return _collect(pairs, items, ratings, ties, uniforms)


def sample_pairs(n_rated: Integers, n_wanted: Integers, uniforms: Floats) -> Integers:
    codes, draws = [], iter(uniforms)
    for n, wanted in zip(n_rated, n_wanted, strict=True):
        n_pairs = n * (n - 1) // 2
        taken = set()
        for last in range(n_pairs - wanted, n_pairs):
            code = min(int(next(draws) * (last + 1)), last)
            code = last if code in taken else code
            taken.add(code)
            codes.append(code)
    return np.array(codes, np.int64)


def expand_pairs(
    offsets: Integers, items: Codes, ratings: Floats, n_wanted: Integers, codes: Integers, ties: int, uniforms: Floats
) -> tuple[Integers, Codes, Codes]:
    ends = np.cumsum(n_wanted)
    pairs_of_users = []
    for begin, end, wanted in zip(offsets[:-1], ends, n_wanted, strict=True):
        pairs = []
        for code in codes[end - wanted : end]:
            b = max(b for b in range(1, code + 2) if b * (b - 1) // 2 <= code)
            pairs.append((begin + code - b * (b - 1) // 2, begin + b))
        pairs_of_users.append(pairs)
    return _collect(pairs_of_users, items, ratings, ties, uniforms)


def _compare(
    pairs: Iterable[tuple[int, int]], items: Codes, ratings: Floats, ties: int, draws: Iterator[float]
) -> Iterator[tuple[int, int]]:
    """Yield (winner, loser) for pairs of positions."""
    for a, b in pairs:
        if ratings[a] > ratings[b]:
            yield items[a], items[b]
        elif ratings[a] < ratings[b]:
            yield items[b], items[a]
        elif ties == 1:
            yield items[a], items[b]
            yield items[b], items[a]
        elif ties == 2:
            yield (items[a], items[b]) if next(draws) < 0.5 else (items[b], items[a])


def _collect(
    pairs_of_users: Iterable[list[tuple[int, int]]],
    items: Codes,
    ratings: Floats,
    ties: int,
    uniforms: Floats,
) -> tuple[Integers, Codes, Codes]:
    draws = iter(uniforms)
    found, offsets = [], [0]
    for pairs in pairs_of_users:
        found += list(_compare(pairs, items, ratings, ties, draws))
        offsets.append(len(found))
    array = np.array(found, np.int32).reshape(-1, 2)
    return np.array(offsets, np.int64), array[:, 0].copy(), array[:, 1].copy()
