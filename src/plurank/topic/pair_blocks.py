"""The comparisons of one block of users, by user, by item and by ordered pair: its share of every moment.

Paper: Lemma 2 and the first line of Algorithm 2. ``moments.py`` adds the shares up.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import index_pairs
from plurank.random import uniforms_at
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


# Second-order moments of wins minus losses per item: Q dimensions instead of Q (Q - 1).
#
# Ours (the paper works on ordered pairs only). ``C = sum_m (s_m s_m^T - self_m) / (n_m - 1)`` with s_m (Q,) the wins
# minus losses of user m, whitened by how often each item was compared; an operator again, linear in the comparisons.

N_ROUNDS = 4  # the gap to the noise is wide in item space


@dataclass(frozen=True)
class SignedCounts:
    """Wins minus losses per item of some users, s (M, Q), sparse, by user and by item."""

    n_items: int
    by_user: tuple[NDArray[np.int64], NDArray[np.int32], Floats]  # begins, items, counts
    by_item: tuple[NDArray[np.int64], NDArray[np.int32], Floats]  # begins, users, counts

    @classmethod
    def of(cls, comparisons: Comparisons) -> "SignedCounts":
        """Count."""
        c = comparisons
        begins, items, counts = kernels.signed_item_counts(c.offsets, c.winners, c.losers, c.kernel_weights, c.n_items)
        order, item_begins = kernels.group(items, c.n_items)
        users = np.repeat(np.arange(c.n_users, dtype=np.int32), np.diff(begins))[order]
        return cls(c.n_items, (begins, items, counts), (item_begins, users, counts[order]))

    def to_users(self, items: Floats) -> Floats:
        """Multiply s by values of items (Q, c), (M, c)."""
        begins, index, counts = self.by_user
        return kernels.sum_gathered(begins[:-1], begins[1:], index, counts, items)

    def to_items(self, users: Floats) -> Floats:
        """Multiply s^T by values of users (M, c), (Q, c)."""
        begins, index, counts = self.by_item
        return kernels.sum_gathered(begins[:-1], begins[1:], index, counts, users)

    def seen(self) -> Floats:
        """How often each item was compared, but for wins that losses of the same user cancel, (Q,)."""
        begins, _, counts = self.by_item
        return np.add.reduceat(np.append(np.abs(counts), 0.0), begins[:-1]) * (np.diff(begins) > 0)


def leading_item_directions(
    product: Callable[[Floats], Floats],
    seen: Floats,
    n_directions: int,
    *,
    rng: np.random.Generator,
) -> Floats:
    """Return the leading directions of whitened C, scaled back to s, (Q, n_directions), by subspace iteration.

    product: of C with (Q, c).
    """
    n_items = len(seen)
    whiten = np.divide(1.0, np.sqrt(seen), out=np.zeros(n_items), where=seen > 0)[:, None]
    items = rng.standard_normal((n_items, n_directions))
    for _ in range(N_ROUNDS):
        scaled = whiten * np.linalg.qr(items)[0]
        items = whiten * product(scaled)
    return whiten * np.linalg.qr(items)[0]


def laplacian(
    n_items: int, lower: NDArray[np.int32], higher: NDArray[np.int32], weights: Floats
) -> Callable[[Floats], Floats]:
    """Return the product of ``sum_pairs weight (e_i - e_j) (e_i - e_j)^T`` with (Q, c), from pairs and their weights.

    What comparisons have in common with themselves, and is taken out of C, is of that form.
    """
    order, begins = kernels.group(np.concatenate([lower, higher]), n_items)
    others, links = np.concatenate([higher, lower])[order], np.tile(weights, 2)[order]
    degrees = np.add.reduceat(np.append(links, 0.0), begins[:-1]) * (np.diff(begins) > 0)

    def product(items: Floats) -> Floats:
        return degrees[:, None] * items - kernels.sum_gathered(begins[:-1], begins[1:], others, links, items)

    return product


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

    def scale_weights(self, factors: Floats) -> Floats:
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


# The comparisons of one block of users, by user, by item and by ordered pair: its share of every moment.


def informative(comparisons: Comparisons) -> NDArray[np.bool_]:
    """Mark users with at least two comparisons, or one of weight 2, (M,)."""
    several = np.diff(comparisons.offsets) >= 2
    return several if comparisons.weights is None else several | (comparisons.weights_of_users() > 1.0)


@dataclass
class PairBlock:
    """Comparisons of users with at least two of them; first: how many such comparisons earlier blocks have."""

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

    def user_products(self, directions: Floats) -> Floats:
        """Return ``sum_m n_m u_m u_m^T``, (c, c), for ``u_m = sum_w x_wm directions_w / (n_m - 1)``."""
        c = self.comparisons
        users = kernels.sum_gathered(c.offsets[:-1], c.offsets[1:], self._row_of, self._weights, directions)
        users *= self._user_factors[:, None]
        sizes = np.diff(c.offsets) if c.weights is None else c.weights_of_users()
        return (users * sizes[:, None]).T @ users

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
