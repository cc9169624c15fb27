"""The matrix E from two halves of every user's comparisons, as an operator.

Paper: Lemma 2 and the first line of Algorithm 2: ``E = M X~' X~^T``, X and X' the comparisons-by-user matrices of the
two halves, their rows scaled to sum to 1. Differences from the paper: the scale is ``N_a N_b / sum_m N_a[m] N_b[m]``
instead of M, which is the same where all users made equally many comparisons.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.rng import uniforms_at

Floats = NDArray[np.float64]


@dataclass
class HalfMoments:
    """E for W ordered pairs and M users.

    begins (M + 1,): where each user's comparisons begin; row_of (n,): the ordered pair of every comparison;
    weights (n,), empty where all weigh 1. The split depends on the seed and the order of the comparisons alone.
    """

    begins: NDArray[np.int64]
    row_of: NDArray[np.int32]
    weights: Floats
    n_rows: int
    seed: int

    def __post_init__(self) -> None:
        first = kernels.choose_half(self.begins, uniforms_at(self.seed, 0, len(self.row_of)))
        self.row_of, self.middles = kernels.arrange_halves(self.begins, first, self.row_of)
        if self.weights.size:
            self.weights, _ = kernels.arrange_halves(self.begins, first, self.weights)
        by_row = kernels.lay_out_by_row(self.begins, self.middles, self.row_of, self.weights, self.n_rows)
        self.user_of, self.row_weights, self.row_begins, self.row_middles, self.row_ends = by_row

    def product(self, directions: Floats) -> Floats:
        """Multiply E by directions (W, c); rows that one half never saw are zero."""
        in_a, in_b, scale = self._totals
        users = self._a_to_users(directions * inverse(in_a)[:, None])
        return self._users_to_b(users) * (scale * inverse(in_b))[:, None]

    def columns(self, rows: NDArray[np.int64]) -> Floats:
        """Give columns of (E + E^T) / 2, (W, n): the product with unit vectors, once with the halves swapped."""
        units = np.zeros((self.n_rows, len(rows)))
        units[rows, np.arange(len(rows))] = 1.0
        in_a, in_b, scale = self._totals
        users = self._b_to_users(units * inverse(in_b)[:, None])
        swapped = self._users_to_a(users) * (scale * inverse(in_a))[:, None]
        return (self.product(units) + swapped) / 2.0

    def diagonal(self) -> Floats:
        """Give the diagonal of E: zero where no user has the same ordered pair in both halves."""
        in_a, in_b, scale = self._totals
        shared = kernels.count_shared_users(
            self.row_begins, self.row_middles, self.row_middles, self.row_ends, self.user_of, self.row_weights
        )
        return scale * shared * inverse(in_a) * inverse(in_b)

    @cached_property
    def _totals(self) -> tuple[Floats, Floats, float]:
        """Row totals of half a and of half b, and the scale of E."""
        rows, users = np.ones((self.n_rows, 1)), np.ones((len(self.middles), 1))
        users_a, users_b = self._a_to_users(rows), self._b_to_users(rows)
        scale = users_a.sum() * users_b.sum() / (users_a * users_b).sum()
        return self._users_to_a(users)[:, 0], self._users_to_b(users)[:, 0], float(scale)

    def _a_to_users(self, rows: Floats) -> Floats:
        return kernels.sum_gathered(self.begins[:-1], self.middles, self.row_of, self.weights, rows)

    def _b_to_users(self, rows: Floats) -> Floats:
        return kernels.sum_gathered(self.middles, self.begins[1:], self.row_of, self.weights, rows)

    def _users_to_a(self, users: Floats) -> Floats:
        return kernels.sum_gathered(self.row_begins, self.row_middles, self.user_of, self.row_weights, users)

    def _users_to_b(self, users: Floats) -> Floats:
        return kernels.sum_gathered(self.row_middles, self.row_ends, self.user_of, self.row_weights, users)


def inverse(values: Floats) -> Floats:
    """1 / values, and 0 where a value is not positive."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
