"""The plain twins: every kernel again, slow and readable. Tests hold the two against each other.

Arguments and results are those of the kernels, where the docstrings are.
"""

# ruff: noqa: D103
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurank.kernels.reference_inference import infer_dirichlets as infer_dirichlets
from plurank.kernels.reference_inference import read_left_to_right as read_left_to_right
from plurank.kernels.reference_inference import solve_deviations as solve_deviations
from plurank.kernels.reference_mixing import Codes, Floats, Ints, ones_if_empty
from plurank.kernels.reference_mixing import expected_wins as expected_wins
from plurank.kernels.reference_mixing import improve_orders as improve_orders
from plurank.kernels.reference_mixing import mean_wins as mean_wins
from plurank.kernels.reference_mixing import mix_places as mix_places
from plurank.kernels.reference_mixing import mix_probabilities as mix_probabilities
from plurank.kernels.reference_mixing import mix_utilities as mix_utilities
from plurank.kernels.reference_mixing import place_errors as place_errors
from plurank.kernels.reference_mixing import places_pass as places_pass
from plurank.kernels.reference_mixing import probability_pass as probability_pass
from plurank.kernels.reference_mixing import utility_pass as utility_pass
from plurank.kernels.reference_rows import add_gathered as add_gathered
from plurank.kernels.reference_rows import are_apart as are_apart
from plurank.kernels.reference_rows import stay_above as stay_above

Mask = NDArray[np.bool_]


def encode_keys(keys: NDArray[np.uint64]) -> tuple[Codes, Ints]:
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    by_appearance = np.argsort(first)
    return np.argsort(by_appearance)[inverse].astype(np.int32), first[by_appearance].astype(np.int64)


def group(codes: Codes, n_groups: int) -> tuple[Ints, Ints]:
    offsets = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=n_groups))])
    return np.argsort(codes, kind="stable").astype(np.int64), offsets.astype(np.int64)


def group_pairs(codes: Codes, n_groups: int, first: Codes, second: Codes) -> tuple[Codes, Codes, Ints]:
    order, offsets = group(codes, n_groups)
    return first[order], second[order], offsets


def index_pairs(winners: Codes, losers: Codes, n_items: int) -> tuple[Codes, Codes, Codes]:
    low, high = np.minimum(winners, losers), np.maximum(winners, losers)
    keys, pair = np.unique(low.astype(np.int64) * n_items + high, return_inverse=True)
    lower, higher = np.divmod(keys, max(n_items, 1))
    return (2 * pair + (winners > losers)).astype(np.int32), lower.astype(np.int32), higher.astype(np.int32)


def find_rows(winners: Codes, losers: Codes, begins: Ints, higher: Codes) -> Codes:
    low, high = np.minimum(winners, losers), np.maximum(winners, losers)
    n_items = len(begins) - 1
    keys = np.repeat(np.arange(n_items), np.diff(begins)) * n_items + higher
    pair = np.searchsorted(keys, low.astype(np.int64) * n_items + high)
    return (2 * pair + (winners > losers)).astype(np.int32)


def find_consistent(offsets: Ints, winners: Codes, losers: Codes, n_items: int) -> NDArray[np.bool_]:
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


def find_duplicates(offsets: Ints, winners: Codes, losers: Codes, n_items: int) -> int:  # noqa: ARG001
    users = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    return len(users) - len(set(zip(users.tolist(), winners.tolist(), losers.tolist(), strict=True)))


def count_meetings(offsets: Ints, winners: Codes, losers: Codes, weights: Floats, n_items: int) -> Floats:
    weights, meetings = ones_if_empty(weights, winners.size), np.empty(winners.size)
    for b, e in itertools.pairwise(offsets):
        counts = np.bincount(winners[b:e], weights[b:e], n_items) + np.bincount(losers[b:e], weights[b:e], n_items)
        meetings[b:e] = 0.5 * (counts[winners[b:e]] + counts[losers[b:e]])
    return meetings


def choose_half(offsets: Ints, uniforms: Floats) -> Mask:
    chosen = np.zeros(uniforms.size, bool)
    for begin, end in itertools.pairwise(offsets):
        needed = (end - begin + 1) // 2
        for e in range(begin, end):
            chosen[e] = uniforms[e] * (end - e) < needed
            needed -= chosen[e]
    return chosen


def arrange_halves(offsets: Ints, first: Mask, values: NDArray[Any]) -> tuple[NDArray[Any], Ints]:
    users = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    order = np.lexsort((~first, users))
    return values[order], offsets[:-1] + np.bincount(users[first], minlength=offsets.size - 1)


def lay_out_by_row(
    begins: Ints, middles: Ints, row_of: Codes, weights: Floats, n_rows: int
) -> tuple[Codes, Floats, Ints, Ints, Ints]:
    users = np.repeat(np.arange(middles.size, dtype=np.int32), np.diff(begins))
    groups = 2 * row_of + (np.arange(row_of.size) >= np.repeat(middles, np.diff(begins)))
    order, edges = group(groups, 2 * n_rows)
    row_weights = weights[order] if weights.size else weights
    return users[order], row_weights, edges[:-1:2], edges[1::2], edges[2::2]


def sum_gathered(begins: Ints, ends: Ints, index: Codes, weights: Floats, values: Floats) -> Floats:
    weights = ones_if_empty(weights, index.size)
    out = np.zeros((begins.size, values.shape[1]), values.dtype)
    for g, (b, e) in enumerate(zip(begins, ends, strict=True)):
        for at in range(b, e):
            out[g] += weights[at] * values[index[at]]
    return out


def count_shared_users(
    begins_a: Ints, ends_a: Ints, begins_b: Ints, ends_b: Ints, users: Codes, weights: Floats
) -> Floats:
    weights = ones_if_empty(weights, users.size)
    n_users = users.max(initial=-1) + 1
    out = np.zeros(begins_a.size)
    for g in range(begins_a.size):
        a, b = slice(begins_a[g], ends_a[g]), slice(begins_b[g], ends_b[g])
        out[g] = np.bincount(users[a], weights[a], n_users) @ np.bincount(users[b], weights[b], n_users)
    return out


def signed_item_counts(
    offsets: Ints, winners: Codes, losers: Codes, weights: Floats, n_items: int
) -> tuple[Ints, Codes, Floats]:
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


def regress_on_simplex(gram: Floats, targets: Floats, tolerance: float, max_steps: int) -> Floats:
    out = np.empty(targets.shape)
    for w, target in enumerate(targets):
        b = np.full(len(gram), 1.0 / len(gram))
        for _ in range(max_steps):
            gradient = gram @ b - target
            best = int(np.argmin(gradient))
            worst = int(np.argmax(np.where(b > 0, gradient, -np.inf)))
            gap = gradient[worst] - gradient[best]
            if not gap > tolerance:
                break
            curvature = gram[best, best] + gram[worst, worst] - 2 * gram[best, worst]
            step = b[worst] if curvature * b[worst] <= gap else gap / curvature
            b[best] += step
            b[worst] -= step
        out[w] = b
    return out


def map_user_weights(
    offsets: Ints,
    winners: Codes,
    losers: Codes,
    weights: Floats,
    places: Codes,
    flip: float,
    prior: Floats,
    start: Floats,
    max_rounds: int,
    tolerance: float,
) -> Floats:
    weights = ones_if_empty(weights, winners.size)
    out = start.copy()
    for u, (b, e) in enumerate(itertools.pairwise(offsets)):
        agrees = places[winners[b:e]] < places[losers[b:e]]
        likelihood = np.where(agrees, 1 - flip, flip)
        for _ in range(max_rounds):
            joint = out[u] * likelihood
            responsibility = joint / joint.sum(axis=1, keepdims=True)
            counts = weights[b:e] @ responsibility
            new = (counts + prior) / (weights[b:e].sum() + prior.sum())
            moved = np.abs(new - out[u]).max()
            out[u] = new
            if moved < tolerance:
                break
    return out


def mixture_of_wins(users: Codes, winners: Codes, losers: Codes, places: Codes, theta: Floats) -> Floats:
    return (theta[users] * (places[winners] < places[losers])).sum(axis=1)


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
) -> tuple[Ints, Codes, Codes]:
    draws = iter(uniforms)
    found, offsets = [], [0]
    for pairs in pairs_of_users:
        found += list(_compare(pairs, items, ratings, ties, draws))
        offsets.append(len(found))
    array = np.array(found, np.int32).reshape(-1, 2)
    return np.array(offsets, np.int64), array[:, 0].copy(), array[:, 1].copy()


def decided_pairs(
    offsets: Ints, items: Codes, ratings: Floats, ties: int, uniforms: Floats
) -> tuple[Ints, Codes, Codes]:
    spans = itertools.pairwise(offsets)
    pairs = ([(a, b) for a in range(begin, end) for b in range(a + 1, end)] for begin, end in spans)
    return _collect(pairs, items, ratings, ties, uniforms)


def sample_pairs(n_rated: Ints, n_wanted: Ints, uniforms: Floats) -> Ints:
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
    offsets: Ints, items: Codes, ratings: Floats, n_wanted: Ints, codes: Ints, ties: int, uniforms: Floats
) -> tuple[Ints, Codes, Codes]:
    ends = np.cumsum(n_wanted)
    pairs_of_users = []
    for begin, end, wanted in zip(offsets[:-1], ends, n_wanted, strict=True):
        pairs = []
        for code in codes[end - wanted : end]:
            b = max(b for b in range(1, code + 2) if b * (b - 1) // 2 <= code)
            pairs.append((begin + code - b * (b - 1) // 2, begin + b))
        pairs_of_users.append(pairs)
    return _collect(pairs_of_users, items, ratings, ties, uniforms)


def decide_comparisons(
    offsets: Ints,
    first: Codes,
    second: Codes,
    uniforms: Floats,
    cumulative: Floats,
    places: Codes,
    coins: Floats,
    laws: Floats,
) -> tuple[Codes, Codes]:
    users = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    tokens = np.minimum((uniforms[:, None] >= cumulative[users]).sum(axis=1), cumulative.shape[1] - 1)
    leads = places[second, tokens] - places[first, tokens]
    forward = coins < laws[tokens, leads + len(places) - 1] if laws.size else leads > 0
    return (
        np.where(forward, first, second).astype(np.int32),
        np.where(forward, second, first).astype(np.int32),
    )
