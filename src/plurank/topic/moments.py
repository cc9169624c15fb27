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

from plurank import kernels
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import index_pairs
from plurank.engine.blocks import Group, cut_users, groups_of, read_users
from plurank.engine.local import Engine, LocalEngine
from plurank.exceptions import DataError
from plurank.random import uniforms_at
from plurank.store.store import Store
from plurank.topic.item_moments import SignedCounts, laplacian, leading_item_directions
from plurank.types import Codes, Floats

# Which pairs of items were ever compared, and so which ordered pairs have a row.


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
        """Return the row of every comparison, (n,)."""
        return kernels.find_rows(comparisons.winners, comparisons.losers, self._begins, self.higher)

    @property
    def _keys(self) -> NDArray[np.int64]:
        return self.lower.astype(np.int64) * self.n_items + self.higher

    @cached_property
    def _begins(self) -> NDArray[np.int64]:
        """Where the pairs of each lower item begin, (Q + 1,)."""
        return np.searchsorted(self.lower, np.arange(self.n_items + 1)).astype(np.int64)


# The matrix E from two halves of every user's comparisons: the share of one block of users.
#
# Paper: Lemma 2 and the first line of Algorithm 2: ``E = M X~' X~^T``, X and X' the comparisons-by-user matrices of the
# two halves, their rows scaled to sum to 1 (see ``pair_moments`` for the scaling, which needs all users).


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

    def update_memberships(self, factors: Floats) -> Floats:
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
        """Return the diagonal of X' X^T: zero where no user has the same ordered pair in both halves."""
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


# The comparisons of one block of users, by user and by ordered pair: its share of every moment.


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

    def half_totals(self) -> tuple[Floats, Floats, Floats]:
        """See ``HalfBlock.totals``."""
        return self.halves.totals()

    def half_product(self, directions: Floats) -> Floats:
        """Multiply X' X^T by directions (W, c)."""
        return self.halves.product(directions)

    def swapped_half_product(self, directions: Floats) -> Floats:
        """Multiply X X'^T by directions (W, c)."""
        return self.halves.swapped_product(directions)

    def half_diagonal(self) -> Floats:
        """Return the diagonal of X' X^T, (W,)."""
        return self.halves.diagonal()

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
        return [half.update_memberships(self.column_factors) for half in self.halves]

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

    def guess_range(self, n_directions: int, *, rng: np.random.Generator) -> Floats:
        """Return up to n_directions directions (W, .) close to the range of F's leading eigenvectors."""


class Unit(NamedTuple):
    """A block of users begin to end - 1; first: how many comparisons with company earlier blocks have."""

    begin: int
    end: int
    first: int


Share = Callable[..., Any]  # a method of PairBlock


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


def share_of_block(asked: tuple[PairBlocks, Share, tuple[Any, ...]], unit: Unit) -> Any:
    """Return what a method of a block gives."""
    blocks, share, arguments = asked
    return share(blocks.block(unit), *arguments)


def add_shares(one: Any, other: Any) -> Any:
    """Add arrays, or tuples of arrays."""
    return tuple(map(add_shares, one, other)) if isinstance(one, tuple) else one + other


def pair_moments(source: Comparisons | Store, seed: int, engine: Engine | None = None) -> "PairOperator":
    """Find the pairs that occur, and cut the users into blocks.

    Users with a single comparison are left out: it has no company.
    """
    engine = LocalEngine() if engine is None else engine
    index = reduce(PairIndex.merge, engine.map(index_of, source, groups_of(source, engine.least_units)))
    check_company(bool(len(index.lower)))
    edges = cut_users(source.offsets, max(8 * COLUMNS * index.n_rows, LEAST_BYTES))
    groups = [Group(0, np.array(pair)) for pair in pairwise(edges)]
    before = np.cumsum([0, *engine.map(size_of, source, groups)])
    units = [Unit(*group.users, int(first)) for group, first in zip(groups, before[:-1], strict=True)]
    return PairOperator(PairBlocks(source, index, seed, units), engine)


def index_of(source: Comparisons | Store, group: Group) -> PairIndex:
    """List the pairs of a group's users whose comparisons have company."""
    users = read_users(source, group)
    return PairIndex.of(users.take_users(informative(users)))


def size_of(source: Comparisons | Store, group: Group) -> int:
    """Count a group's comparisons that have company."""
    users = read_users(source, group)
    return int(np.diff(users.offsets)[informative(users)].sum())


def check_company(is_there: bool) -> None:
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

    def _sum(self, share: Share, *arguments: Any) -> Any:
        """Add up what a method of every block gives, as a tree."""
        return self.engine.reduce(share_of_block, (self.blocks, share, arguments), self.blocks.units, add_shares)

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

    def guess_range(self, n_directions: int, *, rng: np.random.Generator) -> Floats:
        """Start from the few directions in which users differ most in their wins and losses per item.

        Item space has Q dimensions instead of W, so its leading directions are far less noisy than random ones.
        """
        by_themselves = laplacian(self.n_items, self.lower, self.higher, self._self_terms.reshape(-1, 2).sum(axis=1))
        leading = leading_item_directions(
            lambda items: self._sum(PairBlock.item_product, items) - by_themselves(items),
            self._sum(PairBlock.items_seen),
            n_directions,
            rng=rng,
        )
        return self._sum(PairBlock.rows_of_items, leading)
