"""The comparisons by ordered pair instead of by user: what orders are fitted to.

Ours. Row ``2 p + (winner > loser)`` is an ordered pair, as in the moments. Memory grows with the pairs that occur,
never with the square of the items.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.comparisons import Comparisons
from plurank.data.pairs import index_pairs

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairCounts:
    """Pairs (lower, higher) that occur, and for each ordered pair its comparisons: users, weights (or empty)."""

    n_items: int
    lower: NDArray[np.int32]
    higher: NDArray[np.int32]
    begins: NDArray[np.int64]
    users: NDArray[np.int32]
    weights: Floats

    @classmethod
    def of(cls, comparisons: Comparisons) -> Self:
        """Sort the comparisons by ordered pair."""
        c = comparisons
        rows, lower, higher = index_pairs(c.winners, c.losers, c.n_items)
        order, begins = kernels.group(rows, 2 * len(lower))
        weights = c.kernel_weights if c.weights is None else c.weights[order]
        return cls(c.n_items, lower, higher, begins, c.user_of_each()[order], weights)

    @cached_property
    def winners(self) -> NDArray[np.int32]:
        """The first item of every ordered pair, (W,)."""
        return np.stack([self.lower, self.higher], axis=1).ravel()

    @cached_property
    def losers(self) -> NDArray[np.int32]:
        """The second item of every ordered pair, (W,)."""
        return np.stack([self.higher, self.lower], axis=1).ravel()

    def expected_wins(self, probabilities: Floats, weights: Floats, evidence: Floats) -> Floats:
        """Share out the comparisons of every ordered pair among the rankings, (W, K), given user weights (M, K)."""
        return kernels.expected_wins(self.begins, self.users, self.weights, probabilities, weights, evidence)

    @cached_property
    def _by_item(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return kernels.group(self.winners, self.n_items)

    def meetings(self, wins: Floats) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats, Floats]:
        """Lay wins (W, K) out by item: begins (Q + 1,), partners (W,), won and lost (W, K) against each."""
        order, begins = self._by_item
        return begins, self.losers[order], wins[order], wins[order ^ 1]
