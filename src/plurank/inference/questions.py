"""Which pair to ask next, and which few items serve as many users as possible.

Ours.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations, islice
from math import comb, e
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurank.elementary import entropy
from plurank.inference.likelihood import UserLikelihood
from plurank.inference.posterior import Draws
from plurank.random import as_generator, uniforms_of
from plurank.types import Codes, Floats

# Which pair to ask a person next: the one whose answer teaches most about their weights.
#
# Ours. The expected information gain of a question is the mutual information of its answer y and the weights theta,
# ``I(y; theta) = H(E p) - E H(p)`` with ``p = P(left over right | theta)``, H the entropy of a coin and E the mean over
# the posterior (Houlsby et al. 2011 call it BALD). A question gains nothing where all that the weights may be agree,
# nor where every ranking is undecided.

MOST_CANDIDATES = 10_000  # pairs that are looked at, so that time does not grow with the square of the items
ROUGH_DRAWS = 40  # draws of weights for a first look
FINALISTS = 200  # pairs whose gain is computed from all draws


class Questions(NamedTuple):
    """Pairs of items, the best first: numbers of items, the gain in bits, P(left is preferred), (n,) each."""

    left: Codes
    right: Codes
    gain: Floats
    probability: Floats


def choose_questions(
    law: UserLikelihood, draws: Draws, n_items: int, n: int, asked: Iterable[tuple[int, int]]
) -> Questions:
    """Return the n pairs with the highest expected gain, without those asked, in either order."""
    numbers = {min(pair) * n_items + max(pair) for pair in asked}
    first, second = _candidates(n_items, numbers)
    left, right = _sides(first, second, n_items)
    rough = _rough_gain(law.chances(draws.resample(ROUGH_DRAWS), left, right))
    best = np.argsort(-rough, kind="stable")[: max(FINALISTS, n)]
    left, right = left[best], right[best]
    chances = law.chances(draws.weights, left, right)
    gain, mean = information_gain(chances, draws.shares), chances @ draws.shares
    order = np.lexsort((np.abs(mean - 0.5), -gain))[:n]
    return Questions(left[order], right[order], gain[order], mean[order])


def information_gain(chances: Floats, shares: Floats) -> Floats:
    """Return the gain of questions in bits, (n,), from P(left over right) by draw (n, S), each with a share (S,)."""
    return np.maximum(entropy(chances @ shares) - entropy(chances) @ shares, 0.0)


def _rough_gain(chances: Floats) -> Floats:
    """Return the gain to second order, up to a factor: how much draws disagree, over how random answers are, (n,)."""
    mean = chances.mean(axis=1)
    return chances.var(axis=1) / np.maximum(mean * (1.0 - mean), 1e-9)


def _candidates(n_items: int, asked: set[int]) -> tuple[Codes, Codes]:
    """Return pairs that were not asked: all of them, or, of very many items, some drawn at random."""
    if n_items * (n_items - 1) // 2 <= MOST_CANDIDATES + len(asked):
        first, second = np.triu_indices(n_items, 1)
    else:
        rng = as_generator(len(asked))
        first, second = rng.integers(n_items, size=(2, MOST_CANDIDATES + len(asked)))
        first, second = np.minimum(first, second), np.maximum(first, second)
    numbers = first.astype(np.int64) * n_items + second
    if asked:
        numbers = numbers[~np.isin(numbers, np.fromiter(asked, np.int64, len(asked)))]
    first, second = np.divmod(np.unique(numbers), n_items)
    distinct = first != second
    return first[distinct].astype(np.int32), second[distinct].astype(np.int32)


def _sides(first: Codes, second: Codes, n_items: int) -> tuple[Codes, Codes]:
    """Put either item on the left, by a coin of the pair's own, so that sides say nothing."""
    swap = uniforms_of(0, first.astype(np.int64) * n_items + second) < 0.5
    return np.where(swap, second, first), np.where(swap, first, second)


Bits = NDArray[np.uint64]
MOST_WORK = 5 * 10**8  # words of bits to look at when all committees are tried
ROUNDING = 1e-9  # of a budget, that costs which add up to it may be over
CHUNK = 4096  # committees at a time
GREEDY, GREEDY_WITH_COSTS = 1.0 - 1.0 / e, (1.0 - 1.0 / e) / 2.0


class CommitteeChoice(NamedTuple):
    """The items chosen, in the order in which they help, and the least share of the best possible coverage that they
    are sure to have: 1 where all committees were tried, 0 where both their number and their costs are limited and
    nothing is promised."""

    items: list[int]
    guarantee: float


def pack_rows(marks: NDArray[np.bool_]) -> Bits:
    """Pack marks (n_rows, Q) into bits, (Q, n_words)."""
    packed = np.packbits(marks.T, axis=1)
    padded = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    return np.ascontiguousarray(padded).view(np.uint64)


def choose_committee(bits: Bits, size: int, costs: Floats | None, budget: float | None) -> CommitteeChoice:
    """Choose at most ``size`` items, (Q, n_words) bits each, whose costs (Q,) stay within a budget."""
    affordable = np.argsort(-_covered(bits), kind="stable")
    if costs is not None and budget is not None:
        budget *= 1.0 + ROUNDING
        affordable = affordable[costs[affordable] <= budget]
    size = min(size, len(affordable))
    least = size if costs is None else 1  # without costs more items never serve fewer
    if _is_small(len(affordable), range(least, size + 1), bits.shape[1]):
        found = _try_all(bits, affordable, range(least, size + 1), costs, budget)
        return CommitteeChoice(_by_gain(bits, found), 1.0)
    starts = [_take_greedily(bits, affordable, size, costs, budget)]
    if costs is not None:
        starts.append(_take_greedily(bits, affordable, size, costs, budget, by_cost=False))
    tried = [_exchange(bits, init, affordable, costs, budget) for init in starts]
    chosen = max(tried, key=lambda items: int(_covered(np.bitwise_or.reduce(bits[items]))))
    is_best = _covered(np.bitwise_or.reduce(bits[chosen])) == _covered(np.bitwise_or.reduce(bits[affordable]))
    promised = GREEDY if costs is None else GREEDY_WITH_COSTS if size == len(affordable) else 0.0
    return CommitteeChoice(_by_gain(bits, chosen), 1.0 if is_best else promised)


def _is_small(n_items: int, sizes: range, n_words: int) -> bool:
    """Check whether all committees of some sizes can be tried."""
    work = 0
    for size in sizes:
        work += comb(n_items, size) * size * n_words
        if work > MOST_WORK:
            return False
    return True


def _covered(bits: Bits) -> NDArray[np.int64]:
    """Count the rows that bits (..., n_words) mark."""
    return np.bitwise_count(bits).sum(axis=-1, dtype=np.int64)


def _try_all(
    bits: Bits, items: NDArray[np.int64], sizes: range, costs: Floats | None, budget: float | None
) -> list[int]:
    best, most = [], -1
    for size in sizes:
        for tried in _parts(items.tolist(), size):
            allowed = tried if costs is None else tried[costs[tried].sum(axis=1) <= budget]
            if not len(allowed):
                continue
            counts = _covered(np.bitwise_or.reduce(bits[allowed], axis=1))
            at = int(counts.argmax())
            if counts[at] > most:
                best, most = allowed[at].tolist(), int(counts[at])
    return best


def _parts(items: list[int], size: int) -> Iterator[NDArray[np.int64]]:
    every = combinations(items, size)
    while part := list(islice(every, CHUNK)):
        yield np.array(part, np.int64)


def _take_greedily(
    bits: Bits,
    items: NDArray[np.int64],
    size: int,
    costs: Floats | None,
    budget: float | None,
    *,
    by_cost: bool = True,
) -> list[int]:
    """Take the item that serves most further people, for its cost; or the best single one, where that serves more.

    Items that cost something and serve nobody more are not taken.
    """
    chosen: list[int] = []
    covered, left = np.zeros(bits.shape[1], np.uint64), np.inf if budget is None else budget
    while len(chosen) < size:
        free = [i for i in items.tolist() if i not in chosen and (costs is None or costs[i] <= left)]
        if not free:
            break
        gains = _covered(bits[free] & ~covered).astype(np.float64)
        if costs is not None and not gains.any():
            break
        at = free[int((gains / np.maximum(costs[free], 1e-300) if costs is not None and by_cost else gains).argmax())]
        chosen.append(at)
        covered |= bits[at]
        left -= 0.0 if costs is None else costs[at]
    single = int(items[_covered(bits[items]).argmax()])
    return [single] if _covered(bits[single]) > _covered(covered) else chosen


def _exchange(
    bits: Bits, chosen: list[int], items: NDArray[np.int64], costs: Floats | None, budget: float | None
) -> list[int]:
    """Exchange single items while that serves more people."""
    improved = True
    while improved:
        improved = False
        for n in range(len(chosen)):
            rest = chosen[:n] + chosen[n + 1 :]
            others = np.bitwise_or.reduce(bits[rest], axis=0) if rest else np.zeros(bits.shape[1], np.uint64)
            left = np.inf if costs is None or budget is None else budget - costs[rest].sum()
            free = np.array([i for i in items.tolist() if i not in rest and (costs is None or costs[i] <= left)])
            counts = _covered(bits[free] | others)
            if counts.max() > _covered(others | bits[chosen[n]]):
                chosen[n], improved = int(free[counts.argmax()]), True
    return chosen


def _by_gain(bits: Bits, chosen: list[int]) -> list[int]:
    """Put the item first that serves most, then the one that serves most of the others, and so on."""
    items = np.array(chosen, np.int64)
    order = np.argsort(-_covered(bits[items]), kind="stable")
    return _take_greedily(bits, items[order], len(chosen), None, None) if chosen else chosen
