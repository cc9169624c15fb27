"""Which pairs of items were ever compared, and so which ordered pairs have a row."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.comparisons import Comparisons
from plurank.data.pairs import index_pairs

Codes = NDArray[np.int32]


@dataclass(frozen=True)
class PairIndex:
    """Pairs that occur, sorted: lower and higher item numbers, (n_pairs,) each. Row ``2 p + (winner > loser)`` is an
    ordered pair, so ``row ^ 1`` is the reverse."""

    n_items: int
    lower: Codes
    higher: Codes

    @classmethod
    def of(cls, comparisons: Comparisons) -> "PairIndex":
        """List the pairs of comparisons."""
        c = comparisons
        return cls(c.n_items, *index_pairs(c.winners, c.losers, c.n_items)[1:])

    def merge(self, other: "PairIndex") -> "PairIndex":
        """Add the pairs of others."""
        keys = np.union1d(self._keys, other._keys)
        lower, higher = np.divmod(keys, max(self.n_items, 1))
        return PairIndex(self.n_items, lower.astype(np.int32), higher.astype(np.int32))

    @property
    def n_rows(self) -> int:
        """W, the number of ordered pairs."""
        return 2 * len(self.lower)

    def rows(self, comparisons: Comparisons) -> Codes:
        """Give the row of every comparison, (n,)."""
        return kernels.find_rows(comparisons.winners, comparisons.losers, self._begins, self.higher)

    @property
    def _keys(self) -> NDArray[np.int64]:
        return self.lower.astype(np.int64) * self.n_items + self.higher

    @cached_property
    def _begins(self) -> NDArray[np.int64]:
        """Where the pairs of each lower item begin, (Q + 1,)."""
        return np.searchsorted(self.lower, np.arange(self.n_items + 1)).astype(np.int64)
