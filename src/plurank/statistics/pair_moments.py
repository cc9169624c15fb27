"""Second-order moments of the comparisons, as operators.

Paper: Lemma 2. Nothing of size W x W is formed: a product costs time linear in the number of comparisons, and memory is
two int32 a comparison. Differences from the paper: rows are only the ordered pairs whose two items were ever compared;
besides E (see :mod:`plurank.statistics.halves`) there is F, which uses every pair of comparisons of a user.
"""

import itertools
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.comparisons import Comparisons
from plurank.exceptions import DataError
from plurank.statistics.halves import HalfMoments, inverse
from plurank.statistics.item_moments import leading_user_directions

Floats = NDArray[np.float64]


class Moments(Protocol):
    """What the algorithms need to know about second-order moments. Row ``2 p + (winner > loser)`` is an ordered pair.

    lower, higher (n_pairs,): the items of pair p; W = 2 n_pairs.
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
        """Give up to n_directions directions (W, .) close to the range of F's leading eigenvectors."""


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
        """Number the ordered pairs that occur, leaving out users with a single comparison: it has no company."""
        lengths = np.concatenate([np.diff(block.offsets) for block in self.blocks])
        weights = _join_weights(self.blocks)
        informative = lengths >= 2
        if weights.size:  # one comparison of weight 2 is two
            informative |= np.add.reduceat(weights, np.cumsum(lengths) - lengths) > 1.0
        if not informative.any():
            raise DataError(
                "no user has two or more comparisons, so nothing tells which preferences go together. "
                "Expected at least two comparisons for some users."
            )
        keep = slice(None) if informative.all() else np.repeat(informative, lengths)
        winners = _join([block.winners for block in self.blocks])[keep]
        losers = _join([block.losers for block in self.blocks])[keep]
        begins = np.concatenate([[0], np.cumsum(lengths[informative])]).astype(np.int64)
        rows, lower, higher = kernels.index_pairs(winners, losers, self.n_items)
        return PairOperator(
            self.n_items,
            lower,
            higher,
            begins,
            rows,
            weights[keep] if weights.size else weights,
            winners,
            losers,
            self.seed,
        )


def _join(parts: list[NDArray[np.int32]]) -> NDArray[np.int32]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _join_weights(blocks: list[Comparisons]) -> Floats:
    if all(block.weights is None for block in blocks):
        return np.empty(0)
    return np.concatenate([np.ones(len(b)) if b.weights is None else b.weights for b in blocks])


def pair_moments(comparisons: Comparisons, seed: int, n_blocks: int = 1) -> "PairOperator":
    """Collect all users, in a given number of blocks, and finish."""
    edges = np.linspace(0, comparisons.n_users, n_blocks + 1).astype(int)
    moments = PairMoments(comparisons.n_items, seed)
    for begin, end in itertools.pairwise(edges):
        moments.add(comparisons.block(begin, end))
    return moments.finish()


@dataclass
class PairOperator:
    """The finished moments of W ordered pairs and M users, each with at least two comparisons.

    ``F = sum_m (x_m x_m^T - self_m) / (n_m - 1)``, where x_m (W,) counts the comparisons of user m and self_m takes out
    each comparison's product with itself: what the product of two halves is on average over all ways to split. The rows
    of F sum to the counts (with weights, where those of a user are alike), so ``D^-1/2 F D^-1/2`` with D the counts has
    the eigenvalue 1 with the eigenvector sqrt(counts).
    """

    n_items: int
    lower: NDArray[np.int32]
    higher: NDArray[np.int32]
    begins: NDArray[np.int64]
    row_of: NDArray[np.int32]
    weights: Floats
    winners: NDArray[np.int32]
    losers: NDArray[np.int32]
    seed: int

    def __post_init__(self) -> None:
        whole = self.begins[1:]
        by_row = kernels.lay_out_by_row(self.begins, whole, self.row_of, self.weights, 2 * len(self.lower))
        self.user_of, self.row_weights, self.row_begins, self.row_ends, _ = by_row

    @cached_property
    def halves(self) -> HalfMoments:
        """E from a random split of every user's comparisons, made when first asked for."""
        return HalfMoments(self.begins, self.row_of, self.weights, 2 * len(self.lower), self.seed)

    def product(self, directions: Floats) -> Floats:
        """Multiply E by directions (W, c)."""
        return self.halves.product(directions)

    def columns(self, rows: NDArray[np.int64]) -> Floats:
        """Give columns of (E + E^T) / 2, (W, n)."""
        return self.halves.columns(rows)

    def diagonal(self) -> Floats:
        """Give the diagonal of E, (W,)."""
        return self.halves.diagonal()

    def cooccurrence(self, directions: Floats) -> Floats:
        """Multiply F by directions (W, c)."""
        users = self._to_users(directions) * self._user_factors[:, None]
        return self._to_rows(users) - self._self_terms[:, None] * directions

    def guess_range(self, n_directions: int, *, rng: np.random.Generator) -> Floats:
        """Start from the few directions in which users differ most in their wins and losses per item.

        Item space has Q dimensions instead of W, so its leading directions are far less noisy than random ones.
        """
        signed = kernels.signed_item_counts(self.begins, self.winners, self.losers, self.weights, self.n_items)
        own = self._self_terms.reshape(-1, 2).sum(axis=1)
        users = leading_user_directions(
            (*signed, self.lower, self.higher, own), self._user_factors, self.n_items, n_directions, rng=rng
        )
        return self._to_rows(users * self._user_factors[:, None])

    @cached_property
    def counts(self) -> Floats:
        """Total weight of every row, (W,)."""
        if not self.weights.size:
            return (self.row_ends - self.row_begins).astype(np.float64)
        return self._to_rows(np.ones((len(self.begins) - 1, 1)))[:, 0]

    @cached_property
    def _user_factors(self) -> Floats:
        """1 / (n_m - 1), with weights 1 / (n_m - self_m / n_m), (M,)."""
        if not self.weights.size:
            return inverse(np.diff(self.begins) - 1.0)
        totals = np.add.reduceat(self.weights, self.begins[:-1])
        own = np.add.reduceat(_self_products(self.weights), self.begins[:-1])
        return inverse(totals - own / totals)

    @cached_property
    def _self_terms(self) -> Floats:
        """The diagonal taken out of F, (W,)."""
        own = _self_products(self.row_weights) if self.weights.size else self.row_weights
        groups = (self.row_begins, self.row_ends, self.user_of, own)
        return kernels.sum_gathered(*groups, self._user_factors[:, None])[:, 0]

    def _to_users(self, rows: Floats) -> Floats:
        """Sum values of rows (W, c) over each user's comparisons, (M, c)."""
        return kernels.sum_gathered(self.begins[:-1], self.begins[1:], self.row_of, self.weights, rows)

    def _to_rows(self, users: Floats) -> Floats:
        """Sum values of users (M, c) over each row's comparisons, (W, c)."""
        return kernels.sum_gathered(self.row_begins, self.row_ends, self.user_of, self.row_weights, users)


def _self_products(weights: Floats) -> Floats:
    """A comparison of weight w > 1 is w comparisons, each taken out once; below 1, its own square."""
    return np.minimum(weights, weights**2)
