"""Which pair to ask a person next: the one whose answer teaches most about their weights.

Ours. The expected information gain of a question is the mutual information of its answer y and the weights theta,
``I(y; theta) = H(E p) - E H(p)`` with ``p = P(left over right | theta)``, H the entropy of a coin and E the mean over
the posterior (Houlsby et al. 2011 call it BALD). A question gains nothing where all that the weights may be agree, nor
where every ranking is undecided.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurank.elementary import entropy
from plurank.inference.laws import Law
from plurank.inference.weight_draws import Draws
from plurank.rng import as_generator, uniforms_of

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
MOST_CANDIDATES = 10_000  # pairs that are looked at, so that time does not grow with the square of the items
ROUGH_DRAWS = 40  # draws of weights for a first look
FINALISTS = 200  # pairs whose gain is computed from all draws


class Questions(NamedTuple):
    """Pairs of items, the best first: numbers of items, the gain in bits, P(left is preferred), (n,) each."""

    left: Codes
    right: Codes
    gain: Floats
    probability: Floats


def choose_questions(law: Law, draws: Draws, n_items: int, n: int, asked: Iterable[tuple[int, int]]) -> Questions:
    """Give the n pairs with the highest expected gain, without those asked, in either order."""
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
    """Give the gain of questions in bits, (n,), from P(left over right) by draw (n, S), each with a share (S,)."""
    return np.maximum(entropy(chances @ shares) - entropy(chances) @ shares, 0.0)


def _rough_gain(chances: Floats) -> Floats:
    """Give the gain to second order, up to a factor: how much draws disagree, over how random answers are, (n,)."""
    mean = chances.mean(axis=1)
    return chances.var(axis=1) / np.maximum(mean * (1.0 - mean), 1e-9)


def _candidates(n_items: int, asked: set[int]) -> tuple[Codes, Codes]:
    """Give pairs that were not asked: all of them, or, of very many items, some drawn at random."""
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
