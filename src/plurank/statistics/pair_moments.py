"""Second-order moments of the comparisons, as operators.

Paper: Lemma 2 (the matrix E) and the first line of Algorithm 2. Nothing of size W x W is formed: a product costs time
linear in the number of comparisons, and memory is two int32 a comparison.
Differences from the paper: rows are only the ordered pairs whose two items were ever compared; E is scaled by
``N_a N_b / sum_m N_a[m] N_b[m]`` instead of M, which is the same where all users made equally many comparisons.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.comparisons import Comparisons
from plurank.exceptions import DataError
from plurank.rng import uniforms_at
from plurank.statistics.item_moments import leading_user_directions

Floats = NDArray[np.float64]


class Moments(Protocol):
    """What the algorithms need to know about second-order moments. Row ``2 p + (winner > loser)`` is an ordered pair.

    lower, higher (n_pairs,): the items of pair p; counts (W,): how often each row occurs; W = 2 n_pairs.
    """

    n_items: int
    lower: NDArray[np.int32]
    higher: NDArray[np.int32]

    @property
    def counts(self) -> Floats:
        """How often each ordered pair occurs, (W,)."""

    def product(self, directions: Floats) -> Floats:
        """Multiply E by directions (W, c)."""

    def columns(self, rows: NDArray[np.int64]) -> Floats:
        """Give columns of (E + E^T) / 2, (W, n)."""

    def diagonal(self) -> Floats:
        """Give the diagonal of E, (W,)."""

    def cooccurrence(self, directions: Floats) -> Floats:
        """Multiply F by directions (W, c)."""

    def guess_range(self, n_directions: int, *, rng: np.random.Generator) -> Floats:
        """Give directions (W, n_directions) that F is likely to map into its leading eigenvectors."""


@dataclass
class PairMoments:
    """Collects blocks of users; ``finish`` turns them into operators.

    The blocks' order is the users' order. How users are cut into blocks changes nothing in the result.
    """

    n_items: int
    seed: int
    blocks: list[Comparisons] = field(default_factory=list)

    def add(self, block: Comparisons) -> Self:
        """Take in the next block of users."""
        self.blocks.append(block)
        return self

    def merge(self, other: "PairMoments") -> Self:
        """Take in all blocks of another collection, which come after ours."""
        self.blocks.extend(other.blocks)
        return self

    def finish(self) -> "PairOperator":
        """Index pairs, split every user's comparisons into halves, and lay them out by user and by row."""
        offsets = _join_offsets(self.blocks)
        winners = np.concatenate([b.winners for b in self.blocks])
        losers = np.concatenate([b.losers for b in self.blocks])
        weights = _join_weights(self.blocks)
        informative = np.diff(offsets) >= 2
        if not informative.any():
            raise DataError(
                "no user has two or more comparisons, so nothing tells which preferences go together. "
                "Expected at least two comparisons for some users."
            )
        rows, lower, higher = kernels.index_pairs(winners, losers, self.n_items)
        first = kernels.choose_half(offsets, uniforms_at(self.seed, 0, len(rows)))
        by_user, middles = kernels.arrange_halves(offsets, first, rows)
        signed = kernels.signed_item_counts(offsets, winners, losers, weights, self.n_items)
        if weights.size:
            weights, _ = kernels.arrange_halves(offsets, first, weights)
        return PairOperator(self.n_items, lower, higher, offsets, middles, by_user, weights, signed)


def _join_offsets(blocks: list[Comparisons]) -> NDArray[np.int64]:
    lengths = np.concatenate([np.diff(block.offsets) for block in blocks])
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _join_weights(blocks: list[Comparisons]) -> Floats:
    if all(block.weights is None for block in blocks):
        return np.empty(0)
    return np.concatenate([np.ones(len(b)) if b.weights is None else b.weights for b in blocks])


def pair_moments(comparisons: Comparisons, seed: int, n_blocks: int = 1) -> "PairOperator":
    """Collect all users, in a given number of blocks, and finish."""
    edges = np.linspace(0, comparisons.n_users, n_blocks + 1).astype(int)
    moments = PairMoments(comparisons.n_items, seed)
    for begin, end in zip(edges[:-1], edges[1:], strict=True):
        moments.add(comparisons.block(begin, end))
    return moments.finish()


@dataclass
class PairOperator:
    """The finished moments of W ordered pairs and M users.

    ``E = scale X~_b X~_a^T`` from the two halves (X~: rows scaled to sum to 1), and
    ``F = sum_m (x_m x_m^T - self_m) / (n_m - 1)`` from all comparisons, where x_m (W,) counts the comparisons of user m
    and self_m takes out each comparison's product with itself: the mean of the halves' products over all ways to split.
    The rows of F sum to the pair counts, so ``D^-1/2 F D^-1/2`` has the eigenvalue 1 with the eigenvector sqrt(counts).
    """

    n_items: int
    lower: NDArray[np.int32]
    higher: NDArray[np.int32]
    user_begins: NDArray[np.int64]
    user_middles: NDArray[np.int64]
    row_of: NDArray[np.int32]
    weights: Floats
    signed_counts: tuple[NDArray[np.int64], NDArray[np.int32], Floats]

    def __post_init__(self) -> None:
        by_row = kernels.lay_out_by_row(
            self.user_begins, self.user_middles, self.row_of, self.weights, 2 * len(self.lower)
        )
        self.user_of, self.row_weights, self.row_begins, self.row_middles, self.row_ends = by_row

    @cached_property
    def counts(self) -> Floats:
        """Total weight of every row, (W,)."""
        return self._row_sums(self.row_begins, self.row_ends, np.ones((len(self.user_middles), 1)))[:, 0]

    @cached_property
    def user_totals(self) -> Floats:
        """Total weight of every user, (M,)."""
        return self._user_sums(self.user_begins[:-1], self.user_begins[1:], np.ones((len(self.counts), 1)))[:, 0]

    @cached_property
    def _half_counts(self) -> tuple[Floats, Floats, float]:
        """Row totals of each half, and the scale of E."""
        ones = np.ones((len(self.counts), 1))
        users_a = self._user_sums(self.user_begins[:-1], self.user_middles, ones)
        users_b = self._user_sums(self.user_middles, self.user_begins[1:], ones)
        each = np.ones((len(users_a), 1))
        rows_a = self._row_sums(self.row_begins, self.row_middles, each)[:, 0]
        rows_b = self._row_sums(self.row_middles, self.row_ends, each)[:, 0]
        return rows_a, rows_b, float(users_a.sum() * users_b.sum() / (users_a * users_b).sum())

    def product(self, directions: Floats) -> Floats:
        """Multiply E by directions (W, c); rows that one half never saw are zero."""
        rows_a, rows_b, scale = self._half_counts
        users = self._user_sums(self.user_begins[:-1], self.user_middles, directions * _inverse(rows_a)[:, None])
        return self._row_sums(self.row_middles, self.row_ends, users) * (scale * _inverse(rows_b))[:, None]

    def columns(self, rows: NDArray[np.int64]) -> Floats:
        """Give columns of (E + E^T) / 2, (W, n): once as above and once with the halves swapped."""
        units = np.zeros((len(self.counts), len(rows)))
        units[rows, np.arange(len(rows))] = 1.0
        rows_a, rows_b, scale = self._half_counts
        users = self._user_sums(self.user_middles, self.user_begins[1:], units * _inverse(rows_b)[:, None])
        swapped = self._row_sums(self.row_begins, self.row_middles, users) * (scale * _inverse(rows_a))[:, None]
        return (self.product(units) + swapped) / 2.0

    def diagonal(self) -> Floats:
        """Give the diagonal of E: zero where no user has the same ordered pair in both halves."""
        rows_a, rows_b, scale = self._half_counts
        shared = kernels.count_shared_users(
            self.row_begins, self.row_middles, self.row_middles, self.row_ends, self.user_of, self.row_weights
        )
        return scale * shared * _inverse(rows_a) * _inverse(rows_b)

    @cached_property
    def _user_factors(self) -> Floats:
        """1 / (n_m - 1), with weights 1 / (n_m - self_m / n_m); zero for users of a single comparison."""
        if not self.weights.size:
            return _inverse(self.user_totals - 1.0)
        own = np.add.reduceat(_self_products(self.weights), self.user_begins[:-1])
        single = np.diff(self.user_begins) < 2
        return np.where(single, 0.0, _inverse(self.user_totals - own / self.user_totals))

    @cached_property
    def _self_terms(self) -> Floats:
        """The diagonal taken out of F, (W,)."""
        own = _self_products(self.row_weights) if self.weights.size else self.row_weights
        groups = (self.row_begins, self.row_ends, self.user_of, own)
        return kernels.sum_gathered(*groups, self._user_factors[:, None])[:, 0]  # type: ignore[no-any-return]

    def cooccurrence(self, directions: Floats) -> Floats:
        """Multiply F by directions (W, c)."""
        users = self._user_sums(self.user_begins[:-1], self.user_begins[1:], directions)
        users *= self._user_factors[:, None]
        return self._row_sums(self.row_begins, self.row_ends, users) - self._self_terms[:, None] * directions

    def guess_range(self, n_directions: int, *, rng: np.random.Generator) -> Floats:
        """Start from the few directions in which users differ most in their wins and losses per item.

        Item space has Q dimensions instead of W, so its leading directions are far less noisy than random ones.
        """
        own = self._self_terms.reshape(-1, 2).sum(axis=1)
        signed = (*self.signed_counts, self.lower, self.higher, own)
        users = leading_user_directions(signed, self._user_factors, self.n_items, n_directions, rng=rng)
        return self._row_sums(self.row_begins, self.row_ends, users * self._user_factors[:, None])

    def _user_sums(self, begins: NDArray[np.int64], ends: NDArray[np.int64], rows: Floats) -> Floats:
        """Sum values of rows (W, c) over each user's comparisons begins:ends, (M, c)."""
        return kernels.sum_gathered(begins, ends, self.row_of, self.weights, rows)  # type: ignore[no-any-return]

    def _row_sums(self, begins: NDArray[np.int64], ends: NDArray[np.int64], users: Floats) -> Floats:
        """Sum values of users (M, c) over each row's comparisons begins:ends, (W, c)."""
        return kernels.sum_gathered(begins, ends, self.user_of, self.row_weights, users)  # type: ignore[no-any-return]


def _self_products(weights: Floats) -> Floats:
    """A comparison of weight w > 1 is w comparisons, each taken out once; below 1 its own square is taken out."""
    return np.minimum(weights, weights**2)


def _inverse(values: Floats) -> Floats:
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
