"""E as a product of two sparse matrices: every row of E is a mean of vectors that belong to users.

Ours. ``E = (scale D_b X') (X^T D_a)``, where X and X' (W, M) are the two halves and D_a, D_b divide by the totals of
rows. So what E does to a direction passes through M numbers, one a user, and from these any row can be had alone.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from plurank.statistics.halves import HalfBlock

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class UserFactors:
    """The two factors; row_factors ``scale / D_b`` and column_factors ``1 / D_a`` are (W,), 0 where a half is empty."""

    halves: list[HalfBlock]
    row_factors: Floats
    column_factors: Floats

    @property
    def n_users(self) -> int:
        """M."""
        return int(self._edges[-1])

    @cached_property
    def _edges(self) -> NDArray[np.int64]:
        return np.append(0, np.cumsum([half.n_users for half in self.halves]))

    def to_users(self, directions: Floats) -> Floats:
        """Multiply the second factor by directions (W, c), (M, c)."""
        parts = [half.to_users(directions, own) for half, own in zip(self.halves, self._weights, strict=True)]
        return np.concatenate(parts)

    @cached_property
    def _weights(self) -> list[Floats]:
        """What every comparison counts in the second factor."""
        return [half.weigh(self.column_factors) for half in self.halves]

    def to_rows(self, users: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Multiply some rows of the first factor by values of users (M, c), (n, c)."""
        out = np.zeros((len(rows), users.shape[1]), dtype=np.float32)
        for half, (begin, end) in zip(self.halves, pairwise(self._edges), strict=True):
            half.add_to_rows(users[begin:end], rows, out)
        out *= self.row_factors[rows, None].astype(np.float32)
        return out
