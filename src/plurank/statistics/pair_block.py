"""The comparisons of one block of users, by user and by ordered pair: its share of every moment."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.comparisons import Comparisons
from plurank.statistics.halves import HalfBlock, inverse, lay_out_by_row
from plurank.statistics.item_moments import SignedCounts
from plurank.statistics.pair_index import PairIndex

Floats = NDArray[np.float64]


def informative(comparisons: Comparisons) -> NDArray[np.bool_]:
    """Mark users whose comparisons have company, (M,): two comparisons, or one of weight 2."""
    several = np.diff(comparisons.offsets) >= 2
    return several if comparisons.weights is None else several | (comparisons.weights_of_users() > 1.0)


@dataclass
class PairBlock:
    """Some users' comparisons of which each has company; first: how many such comparisons earlier blocks have."""

    comparisons: Comparisons
    index: PairIndex
    seed: int
    first: int

    def __post_init__(self) -> None:
        self.comparisons = self.comparisons.take_users(informative(self.comparisons))
        self._row_of = self.index.rows(self.comparisons)
        begins, self._weights = self.comparisons.offsets, self.comparisons.kernel_weights
        by_row = lay_out_by_row(begins, begins[1:], self._row_of, self._weights, self.index.n_rows)
        self._user_of, self._row_weights, self._row_begins, self._row_ends, _ = by_row

    def counts(self) -> Floats:
        """Total weight of every row, (W,)."""
        if self.comparisons.weights is None:
            return (self._row_ends - self._row_begins).astype(np.float64)
        return self._to_rows(np.ones((self.comparisons.n_users, 1)))[:, 0]

    def self_terms(self) -> Floats:
        """The diagonal to take out of F, (W,)."""
        own = _self_products(self._row_weights)
        groups = (self._row_begins, self._row_ends, self._user_of, own)
        return kernels.sum_gathered(*groups, self._user_factors[:, None])[:, 0]

    def cooccurrence(self, directions: Floats) -> Floats:
        """Multiply ``sum_m x_m x_m^T / (n_m - 1)`` by directions (W, c)."""
        users = kernels.sum_gathered(
            self.comparisons.offsets[:-1], self.comparisons.offsets[1:], self._row_of, self._weights, directions
        )
        return self._to_rows(users * self._user_factors[:, None])

    def items_seen(self) -> Floats:
        """How often each item was compared, (Q,)."""
        return self._signed.seen()

    def item_product(self, items: Floats) -> Floats:
        """Multiply ``sum_m s_m s_m^T / (n_m - 1)`` by values of items (Q, c)."""
        return self._signed.to_items(self._signed.to_users(items) * self._user_factors[:, None])

    def rows_of_items(self, items: Floats) -> Floats:
        """Multiply ``sum_m x_m s_m^T / (n_m - 1)`` by values of items (Q, c), (W, c)."""
        return self._to_rows(self._signed.to_users(items) * self._user_factors[:, None])

    @cached_property
    def halves(self) -> HalfBlock:
        """A random split of every user's comparisons."""
        where = (self.comparisons.offsets, self._row_of, self._weights)
        return HalfBlock(*where, self.index.n_rows, self.seed, self.first)

    @cached_property
    def _signed(self) -> SignedCounts:
        return SignedCounts.of(self.comparisons)

    @cached_property
    def _user_factors(self) -> Floats:
        """1 / (n_m - 1), with weights 1 / (n_m - self_m / n_m), (M,)."""
        c = self.comparisons
        if c.weights is None:
            return inverse(np.diff(c.offsets) - 1.0)
        totals = c.weights_of_users()
        own = np.bincount(c.user_of_each(), _self_products(c.weights), c.n_users)
        return inverse(totals - own / totals)

    def _to_rows(self, users: Floats) -> Floats:
        """Sum values of users (M, c) over each row's comparisons, (W, c)."""
        return kernels.sum_gathered(self._row_begins, self._row_ends, self._user_of, self._row_weights, users)


def _self_products(weights: Floats) -> Floats:
    """A comparison of weight w > 1 is w comparisons, each taken out once; below 1, its own square."""
    return np.minimum(weights, weights**2)
