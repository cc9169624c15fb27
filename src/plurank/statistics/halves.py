"""The matrix E from two halves of every user's comparisons: the share of one block of users.

Paper: Lemma 2 and the first line of Algorithm 2: ``E = M X~' X~^T``, X and X' the comparisons-by-user matrices of the
two halves, their rows scaled to sum to 1 (see ``pair_moments`` for the scaling, which needs all users).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.rng import uniforms_at

Floats = NDArray[np.float64]


@dataclass
class HalfBlock:
    """X and X' for W ordered pairs and the users of a block.

    begins (M + 1,): where each user's comparisons begin; row_of (n,): the ordered pair of every comparison;
    weights (n,), empty where all weigh 1. The split depends on the seed and on how many comparisons come before (first)
    alone.
    """

    begins: NDArray[np.int64]
    row_of: NDArray[np.int32]
    weights: Floats
    n_rows: int
    seed: int
    first: int

    def __post_init__(self) -> None:
        chosen = kernels.choose_half(self.begins, uniforms_at(self.seed, self.first, len(self.row_of)))
        n_users = len(self.begins) - 1
        halves = 2 * np.repeat(np.arange(n_users, dtype=np.int32), np.diff(self.begins)) + ~chosen
        order, edges = kernels.group(halves, 2 * n_users)  # each user's first half before the second
        self.row_of, self.middles = self.row_of[order], edges[1::2]
        self.weights = self.weights[order] if self.weights.size else self.weights
        by_row = lay_out_by_row(self.begins, self.middles, self.row_of, self.weights, self.n_rows)
        self.user_of, self.row_weights, self.row_begins, self.row_middles, self.row_ends = by_row

    def totals(self) -> tuple[Floats, Floats, Floats]:
        """Row totals of half a and of half b, (W,), and the sums over users of what they have in a, in b, and of the
        products of both, (3,)."""
        rows, users = np.ones((self.n_rows, 1)), np.ones((len(self.middles), 1))
        in_a, in_b = self._a_to_users(rows), self._b_to_users(rows)
        sums = np.array([in_a.sum(), in_b.sum(), (in_a * in_b).sum()])
        return self._users_to_a(users)[:, 0], self._users_to_b(users)[:, 0], sums

    def product(self, directions: Floats) -> Floats:
        """Multiply X' X^T by directions (W, c)."""
        return self._users_to_b(self._a_to_users(directions))

    def swapped_product(self, directions: Floats) -> Floats:
        """Multiply X X'^T by directions (W, c)."""
        return self._users_to_a(self._b_to_users(directions))

    @property
    def n_users(self) -> int:
        """How many users the block has."""
        return len(self.middles)

    def weigh(self, factors: Floats) -> Floats:
        """Multiply the weight of every comparison by its row's factor (W,), (n,)."""
        return factors[self.row_of] * (self.weights if self.weights.size else 1.0)

    def to_users(self, directions: Floats, weights: Floats) -> Floats:
        """Multiply X^T, its comparisons having these weights (n,), by directions (W, c): (M, c)."""
        return kernels.sum_gathered(self.begins[:-1], self.middles, self.row_of, weights, directions)

    def add_to_rows(self, users: NDArray[np.float32], rows: NDArray[np.int64], out: NDArray[np.float32]) -> None:
        """Add some rows of X' times values of users (M, c) to out (n, c)."""
        begins, ends = self.row_middles[rows], self.row_ends[rows]
        kernels.add_gathered(begins, ends, self.user_of, self.row_weights, users, out)

    def diagonal(self) -> Floats:
        """Give the diagonal of X' X^T: zero where no user has the same ordered pair in both halves."""
        return kernels.count_shared_users(
            self.row_begins, self.row_middles, self.row_middles, self.row_ends, self.user_of, self.row_weights
        )

    def _a_to_users(self, rows: Floats) -> Floats:
        return kernels.sum_gathered(self.begins[:-1], self.middles, self.row_of, self.weights, rows)

    def _b_to_users(self, rows: Floats) -> Floats:
        return kernels.sum_gathered(self.middles, self.begins[1:], self.row_of, self.weights, rows)

    def _users_to_a(self, users: Floats) -> Floats:
        return kernels.sum_gathered(self.row_begins, self.row_middles, self.user_of, self.row_weights, users)

    def _users_to_b(self, users: Floats) -> Floats:
        return kernels.sum_gathered(self.row_middles, self.row_ends, self.user_of, self.row_weights, users)


def lay_out_by_row(
    begins: NDArray[np.int64], middles: NDArray[np.int64], row_of: NDArray[np.int32], weights: Floats, n_rows: int
) -> tuple[NDArray[np.int32], Floats, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Turn comparisons by user into comparisons by row, half a before half b, users in order within each.

    Returns the user of each comparison, its weight (empty where weights is), and where half a of each row begins, half
    b begins, and half b ends.
    """
    sizes = np.diff(begins)
    in_b = np.arange(len(row_of)) >= np.repeat(middles, sizes)
    order, edges = kernels.group(2 * row_of + in_b, 2 * n_rows)
    users = np.repeat(np.arange(len(middles), dtype=np.int32), sizes)[order]
    return users, weights[order] if weights.size else weights, edges[:-1:2], edges[1::2], edges[2::2]


def inverse(values: Floats) -> Floats:
    """1 / values, and 0 where a value is not positive."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
