"""Second-order moments of the comparisons, as operators.

Paper: Lemma 2. Nothing of size W x W is formed: a product costs time linear in the number of comparisons, and memory is
two int32 a comparison. Differences from the paper: rows are only the ordered pairs whose two items were ever compared;
E is scaled by ``N_a N_b / sum_m N_a[m] N_b[m]`` instead of M, which is the same where all users made equally many
comparisons; besides E there is F, which uses every pair of comparisons of a user.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from plurank.data.comparisons import Comparisons
from plurank.engine.blocks import Group, cut_users, groups_of, read_users
from plurank.engine.local import Engine, LocalEngine
from plurank.exceptions import DataError
from plurank.store.store import Store
from plurank.topic.pair_blocks import (
    HalfBlock,
    PairBlock,
    PairIndex,
    informative,
    inverse,
    laplacian,
    leading_item_directions,
)
from plurank.types import Floats

# E as a product of two sparse matrices: every row of E is a mean of vectors that belong to users.
#
# Ours. ``E = (scale D_b X') (X^T D_a)``, where X and X' (W, M) are the two halves and D_a, D_b divide by the totals of
# rows. So what E does to a direction passes through M numbers, one a user, and from these any row can be had alone.


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
        return [half.scale_weights(self.column_factors) for half in self.halves]

    def to_rows(self, users: NDArray[np.float32], rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Multiply some rows of the first factor by values of users (M, c), (n, c)."""
        out = np.zeros((len(rows), users.shape[1]), dtype=np.float32)
        for half, (begin, end) in zip(self.halves, pairwise(self._edges), strict=True):
            half.add_to_rows(users[begin:end], rows, out)
        out *= self.row_factors[rows, None].astype(np.float32)
        return out


COLUMNS = 16  # of values of rows that a block holds at once, about
LEAST_BYTES = 2**24  # of a block's sums, or there would be many small blocks


class Moments(Protocol):
    """What the algorithms need to know about second-order moments. Row ``2 p + (winner > loser)`` is an ordered pair.

    lower, higher (n_pairs,): the items of pair p; W = 2 n_pairs.
    """

    @property
    def n_items(self) -> int:
        """How many items there are."""

    @property
    def lower(self) -> NDArray[np.int32]:
        """The lower item of every pair."""

    @property
    def higher(self) -> NDArray[np.int32]:
        """The higher item of every pair."""

    @property
    def counts(self) -> Floats:
        """How often each ordered pair occurs, (W,)."""

    def product(self, directions: Floats) -> Floats:
        """Multiply E by directions (W, c)."""

    def columns(self, rows: NDArray[np.int64]) -> Floats:
        """Return columns of (E + E^T) / 2, (W, n)."""

    def diagonal(self) -> Floats:
        """Return the diagonal of E, (W,)."""

    def cooccurrence(self, directions: Floats) -> Floats:
        """Multiply F by directions (W, c)."""

    def row_noise(self, points: Floats) -> Floats:
        """Return the covariance (K, K) of the noise of embedded rows (W, K), for a row that was seen once."""

    def guess_range(self, n_directions: int, *, rng: np.random.Generator) -> Floats:
        """Return up to n_directions directions (W, .) close to the range of F's leading eigenvectors."""


class Unit(NamedTuple):
    """A block of users begin to end - 1; first: how many comparisons of users with at least two earlier blocks have."""

    begin: int
    end: int
    first: int


BlockMethod = Callable[..., Any]  # of PairBlock


@dataclass(frozen=True)
class PairBlocks:
    """All blocks of users. Those in memory are laid out once, those of a store are read anew for every sum."""

    source: Comparisons | Store
    index: PairIndex
    seed: int
    units: Sequence[Unit]
    _held: dict[Unit, PairBlock] = field(default_factory=dict, repr=False)

    @property
    def in_memory(self) -> bool:
        """Whether the comparisons are here."""
        return not isinstance(self.source, Store)

    def block(self, unit: Unit) -> PairBlock:
        """Return one block."""
        if unit in self._held:
            return self._held[unit]
        users = read_users(self.source, Group(0, np.array([unit.begin, unit.end])))
        found = PairBlock(users, self.index, self.seed, unit.first)
        if self.in_memory:
            self._held[unit] = found
        return found


def block_sum(asked: tuple[PairBlocks, BlockMethod, tuple[Any, ...]], unit: Unit) -> Any:
    """Return what a method of a block gives."""
    blocks, method, arguments = asked
    return method(blocks.block(unit), *arguments)


def add_sums(one: Any, other: Any) -> Any:
    """Add arrays, or tuples of arrays."""
    return tuple(map(add_sums, one, other)) if isinstance(one, tuple) else one + other


def pair_moments(source: Comparisons | Store, seed: int, engine: Engine | None = None) -> "PairOperator":
    """Find the pairs that occur, and cut the users into blocks.

    Users with a single comparison are left out.
    """
    engine = LocalEngine() if engine is None else engine
    index = reduce(PairIndex.merge, engine.map(index_of, source, groups_of(source, engine.least_units)))
    require_repeat_users(bool(len(index.lower)))
    edges = cut_users(source.offsets, max(8 * COLUMNS * index.n_rows, LEAST_BYTES))
    groups = [Group(0, np.array(pair)) for pair in pairwise(edges)]
    before = np.cumsum([0, *engine.map(size_of, source, groups)])
    units = [Unit(*group.users, int(first)) for group, first in zip(groups, before[:-1], strict=True)]
    return PairOperator(PairBlocks(source, index, seed, units), engine)


def index_of(source: Comparisons | Store, group: Group) -> PairIndex:
    """List the pairs of a group's users who have at least two comparisons."""
    users = read_users(source, group)
    return PairIndex.of(users.take_users(informative(users)))


def size_of(source: Comparisons | Store, group: Group) -> int:
    """Count the comparisons of a group's users who have at least two."""
    users = read_users(source, group)
    return int(np.diff(users.offsets)[informative(users)].sum())


def require_repeat_users(is_there: bool) -> None:
    """Raise an error if no user made two comparisons."""
    if not is_there:
        raise DataError(
            "no user has two or more comparisons, so nothing tells which preferences go together. "
            "Expected at least two comparisons for some users."
        )


@dataclass
class PairOperator:
    """The moments of W ordered pairs and M users, each with at least two comparisons.

    ``F = sum_m (x_m x_m^T - self_m) / (n_m - 1)``, where x_m (W,) counts the comparisons of user m and self_m takes out
    each comparison's product with itself: what the product of two halves is on average over all ways to split. The rows
    of F sum to the counts (with weights, where those of a user are alike), so ``D^-1/2 F D^-1/2`` with D the counts has
    the eigenvalue 1 with the eigenvector sqrt(counts).
    """

    blocks: PairBlocks
    engine: Engine

    @property
    def index(self) -> PairIndex:
        """The pairs that occur."""
        return self.blocks.index

    def _sum(self, method: BlockMethod, *arguments: Any) -> Any:
        """Add up what a method of every block gives, as a tree."""
        return self.engine.reduce(block_sum, (self.blocks, method, arguments), self.blocks.units, add_sums)

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return self.index.n_items

    @property
    def lower(self) -> NDArray[np.int32]:
        """The lower item of every pair."""
        return self.index.lower

    @property
    def higher(self) -> NDArray[np.int32]:
        """The higher item of every pair."""
        return self.index.higher

    @cached_property
    def counts(self) -> Floats:
        """Total weight of every row, (W,)."""
        return self._sum(PairBlock.counts)

    def product(self, directions: Floats) -> Floats:
        """Multiply E by directions (W, c); rows that one half never saw are zero."""
        in_a, in_b, scale = self._halves
        return self._sum(PairBlock.half_product, directions * inverse(in_a)[:, None]) * (scale * inverse(in_b))[:, None]

    def columns(self, rows: NDArray[np.int64]) -> Floats:
        """Return columns of (E + E^T) / 2, (W, n): the product with unit vectors, once with the halves swapped."""
        units = np.zeros((self.index.n_rows, len(rows)))
        units[rows, np.arange(len(rows))] = 1.0
        in_a, in_b, scale = self._halves
        swapped = self._sum(PairBlock.swapped_half_product, units * inverse(in_b)[:, None])
        return (self.product(units) + swapped * (scale * inverse(in_a))[:, None]) / 2.0

    def diagonal(self) -> Floats:
        """Return the diagonal of E: zero where no user has the same ordered pair in both halves."""
        in_a, in_b, scale = self._halves
        return scale * self._sum(PairBlock.half_diagonal) * inverse(in_a) * inverse(in_b)

    @cached_property
    def _halves(self) -> tuple[Floats, Floats, float]:
        """Row totals of half a and of half b, and the scale of E."""
        in_a, in_b, (a, b, both) = self._sum(PairBlock.half_totals)
        return in_a, in_b, float(a * b / both)

    def factors(self) -> UserFactors | None:
        """Return E as rows by users times users by rows, None where the users are elsewhere."""
        if not self.blocks.in_memory:
            return None
        in_a, in_b, scale = self._halves
        halves = [self.blocks.block(unit).halves for unit in self.blocks.units]
        return UserFactors(halves, scale * inverse(in_b), inverse(in_a))

    def cooccurrence(self, directions: Floats) -> Floats:
        """Multiply F by directions (W, c)."""
        return self._sum(PairBlock.cooccurrence, directions) - self._self_terms[:, None] * directions

    @cached_property
    def _self_terms(self) -> Floats:
        """The diagonal taken out of F, (W,)."""
        return self._sum(PairBlock.self_terms)

    def row_noise(self, points: Floats) -> Floats:
        """Return the covariance of what single comparisons add to embedded rows (W, K) around their mean, (K, K).

        A row is the mean over its comparisons of ``u_m``, the sum of the embedded comparisons of their users.
        """
        counts = self.counts[:, None]
        scale = (counts * points**2).sum(axis=0) / counts.sum()
        around = self._sum(PairBlock.user_products, points / scale) - points.T @ (counts * points)
        values, vectors = np.linalg.eigh(around / max(float(np.maximum(counts - 1.0, 0.0).sum()), 1.0))
        return (vectors * np.maximum(values, 0.0)) @ vectors.T

    def guess_range(self, n_directions: int, *, rng: np.random.Generator) -> Floats:
        """Start from the few directions in which users differ most in their wins and losses per item.

        Item space has Q dimensions instead of W, so its leading directions are far less noisy than random ones.
        """
        self_laplacian = laplacian(self.n_items, self.lower, self.higher, self._self_terms.reshape(-1, 2).sum(axis=1))
        leading = leading_item_directions(
            lambda items: self._sum(PairBlock.item_product, items) - self_laplacian(items),
            self._sum(PairBlock.items_seen),
            n_directions,
            rng=rng,
        )
        return self._sum(PairBlock.rows_of_items, leading)
