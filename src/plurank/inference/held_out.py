"""How likely whole new users are, ``log p(w_1 .. w_N | rankings, prior)``: nobody knows their weights; see the laws."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from plurank.data.comparisons import Comparisons
from plurank.exceptions import DataError
from plurank.inference.laws import MOST_TOKENS, Law, Seeds
from plurank.rng import draw_seed, uniforms_of

Floats = NDArray[np.float64]
BLOCK_CELLS = 2**23  # comparisons times rankings that are held at once


def mean_log_likelihood(
    laws: Sequence[Law], comparisons: Comparisons, n_particles: int, rng: np.random.Generator
) -> float:
    """Give the log-likelihood of whole new users per comparison; that of several laws is of their mean likelihood."""
    if not len(comparisons):
        raise DataError("there is nothing to score: expected at least one comparison, got none.")
    values = [_log_likelihoods(law, comparisons, n_particles, draw_seed(rng)) for law in laws]
    by_user = np.logaddexp.reduce(values, axis=0) - np.log(len(values))
    return float(by_user.sum() / comparisons.total_weight)


def _log_likelihoods(law: Law, comparisons: Comparisons, n_particles: int, seed: int) -> Floats:
    """Estimate the log-likelihood of every user, (M,), block by block."""
    parts = []
    for begin, end in _blocks(comparisons, BLOCK_CELLS // len(law.prior)):
        block = comparisons.block(begin, end)
        parts.append(law.log_likelihoods(block, user_seeds(block, seed), n_particles))
    return np.concatenate(parts)


def _blocks(comparisons: Comparisons, most: int) -> Iterator[tuple[int, int]]:
    """Cut users into blocks with about ``most`` tokens; what comes out for a user does not depend on them."""
    sizes = np.maximum(np.diff(comparisons.offsets), np.minimum(comparisons.weights_of_users(), MOST_TOKENS))
    ends = np.cumsum(sizes)
    edges = np.searchsorted(ends, np.arange(0, ends[-1], most), side="right")
    return itertools.pairwise(np.unique(np.append(edges, comparisons.n_users)).tolist())


def user_seeds(comparisons: Comparisons, seed: int) -> Seeds:
    """Give every user a seed, (M,), made of what they said: it depends neither on other users nor on any order.

    Weight 2 makes the same seed as the comparison twice.
    """
    c = comparisons
    pairs = c.winners.astype(np.int64) * c.n_items + c.losers
    bits = (uniforms_of(seed, pairs) * 2.0**53).astype(np.uint64)
    bits *= np.uint64(1024) if c.weights is None else (1024.0 * c.weights).astype(np.uint64)
    sums = np.concatenate([[np.uint64(0)], np.cumsum(bits)])  # they wrap, and so do their differences
    return np.diff(sums[c.offsets]) + np.uint64(seed)
