"""From weights of ordered pairs to rankings.

Paper: Algorithm 4 (Post Processing), section 5: ratio, then rounding. Needs the weighted ranking matrix; gives
rankings. Differences from the paper: exact halves are rounded the same way for (i, j) and (j, i), in favour of the
item that comes first, so that the two still add up to 1; the rounded columns need not be transitive, so each becomes a
total order by the share of comparisons an item wins, and the triples that disagree are counted.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rounded:
    """rankings (K, Q), best first; wins (n_pairs, K): whether the lower item is preferred; n_intransitive (K,)."""

    rankings: NDArray[np.int64]
    wins: NDArray[np.bool_]
    n_intransitive: NDArray[np.int64]


def round_to_rankings(matrix: Floats, lower: NDArray[np.int32], higher: NDArray[np.int32], n_items: int) -> Rounded:
    """Run Algorithm 4 on the weighted ranking matrix (W, K), then order the items of each column."""
    forward, backward = matrix[0::2], matrix[1::2]
    wins = forward >= backward  # the ratio forward / (forward + backward) is at least one half
    margins = forward - backward
    rankings, n_intransitive = [], []
    for k in range(matrix.shape[1]):
        shares = _win_shares(wins[:, k], lower, higher, n_items)
        # among equal shares, the larger total margin first
        total = np.bincount(lower, margins[:, k], n_items) - np.bincount(higher, margins[:, k], n_items)
        ranking = np.lexsort((np.arange(n_items), -total, -shares))
        rankings.append(ranking)
        n_intransitive.append(count_intransitive(wins[:, k], lower, higher, ranking))
    return Rounded(np.stack(rankings), wins, np.array(n_intransitive))


def _win_shares(wins: NDArray[np.bool_], lower: NDArray[np.int32], higher: NDArray[np.int32], n_items: int) -> Floats:
    """Give the share of its pairs that each item wins; one half for an item without any."""
    won = np.bincount(lower, wins, n_items) + np.bincount(higher, ~wins, n_items)
    compared = np.bincount(lower, minlength=n_items) + np.bincount(higher, minlength=n_items)
    return np.divide(won, compared, out=np.full(n_items, 0.5), where=compared > 0)


def count_intransitive(
    wins: NDArray[np.bool_], lower: NDArray[np.int32], higher: NDArray[np.int32], ranking: NDArray[np.int64]
) -> int:
    """Count triples of items that go round in a circle, pairs never compared being filled in by the ranking.

    In a tournament every triple that is no circle has one item that beats the other two:
    ``C(Q, 3) - sum_i C(wins_i, 2)``.
    """
    n_items = len(ranking)
    places = np.empty(n_items, dtype=np.int64)
    places[ranking] = np.arange(n_items)
    won = n_items - 1 - places  # as if the ranking decided every pair
    disagrees = wins != (places[lower] < places[higher])
    change = np.where(wins[disagrees], 1, -1)
    np.add.at(won, lower[disagrees], change)
    np.add.at(won, higher[disagrees], -change)
    return int(n_items * (n_items - 1) * (n_items - 2) // 6 - (won * (won - 1) // 2).sum())
