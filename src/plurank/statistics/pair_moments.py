"""Second-order moments of the comparisons, as operators.

Paper: Lemma 2. Nothing of size W x W is formed: a product costs time linear in the number of comparisons, and memory is
two int32 a comparison. Differences from the paper: rows are only the ordered pairs whose two items were ever compared;
E is scaled by ``N_a N_b / sum_m N_a[m] N_b[m]`` instead of M, which is the same where all users made equally many
comparisons; besides E there is F, which uses every pair of comparisons of a user.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from plurank.data.blocks import Edges, cut_users, sum_tree
from plurank.data.comparisons import Comparisons
from plurank.exceptions import DataError
from plurank.statistics.halves import inverse
from plurank.statistics.item_moments import laplacian, leading_item_directions
from plurank.statistics.pair_block import PairBlock, informative
from plurank.statistics.pair_index import PairIndex
from plurank.statistics.user_factors import UserFactors

Floats = NDArray[np.float64]
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
        """Give columns of (E + E^T) / 2, (W, n)."""

    def diagonal(self) -> Floats:
        """Give the diagonal of E, (W,)."""

    def cooccurrence(self, directions: Floats) -> Floats:
        """Multiply F by directions (W, c)."""

    def guess_range(self, n_directions: int, *, rng: np.random.Generator) -> Floats:
        """Give up to n_directions directions (W, .) close to the range of F's leading eigenvectors."""


class Blocks(Protocol):
    """Blocks of users, wherever they lie."""

    def sum(self, share: str, *arguments: Any) -> Any:
        """Add up what a method of every block gives, as a tree."""


@dataclass(frozen=True)
class BlocksInMemory:
    """Blocks that are all here."""

    blocks: list[PairBlock]

    def sum(self, share: str, *arguments: Any) -> Any:
        """Add up what a method of every block gives, as a tree."""
        return sum_tree((share_of(block, share, arguments) for block in self.blocks), add)


def share_of(block: PairBlock, share: str, arguments: tuple[Any, ...]) -> Any:
    """Call a method of a block, or of its halves."""
    owner = block
    for name in share.split("."):
        owner = getattr(owner, name)
    return owner(*arguments)  # type: ignore[operator]


def add(one: Any, other: Any) -> Any:
    """Add arrays, or tuples of arrays."""
    return tuple(map(add, one, other)) if isinstance(one, tuple) else one + other


def cut_for_rows(offsets: NDArray[np.int64], index: PairIndex) -> Edges:
    """Cut users into the blocks whose moments are added up."""
    return cut_users(offsets, max(8 * COLUMNS * index.n_rows, LEAST_BYTES))


def pair_moments(comparisons: Comparisons, seed: int) -> "PairOperator":
    """Lay the comparisons out for their moments, leaving out users with a single comparison: it has no company."""
    company = informative(comparisons)
    check_company(bool(company.any()))
    index = PairIndex.of(comparisons.take_users(company))
    edges = cut_for_rows(comparisons.offsets, index)
    before = np.append(0, np.cumsum(np.diff(comparisons.offsets) * company))[edges]
    blocks = [
        PairBlock(comparisons.block(begin, end), index, seed, int(first))
        for (begin, end), first in zip(pairwise(edges), before[:-1], strict=True)
    ]
    return PairOperator(index, BlocksInMemory(blocks))


def check_company(is_there: bool) -> None:
    """Refuse data where nobody made two comparisons."""
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

    index: PairIndex
    blocks: Blocks

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
        return self.blocks.sum("counts")

    def product(self, directions: Floats) -> Floats:
        """Multiply E by directions (W, c); rows that one half never saw are zero."""
        in_a, in_b, scale = self._halves
        return self.blocks.sum("halves.product", directions * inverse(in_a)[:, None]) * (scale * inverse(in_b))[:, None]

    def columns(self, rows: NDArray[np.int64]) -> Floats:
        """Give columns of (E + E^T) / 2, (W, n): the product with unit vectors, once with the halves swapped."""
        units = np.zeros((self.index.n_rows, len(rows)))
        units[rows, np.arange(len(rows))] = 1.0
        in_a, in_b, scale = self._halves
        swapped = self.blocks.sum("halves.swapped_product", units * inverse(in_b)[:, None])
        return (self.product(units) + swapped * (scale * inverse(in_a))[:, None]) / 2.0

    def diagonal(self) -> Floats:
        """Give the diagonal of E: zero where no user has the same ordered pair in both halves."""
        in_a, in_b, scale = self._halves
        return scale * self.blocks.sum("halves.diagonal") * inverse(in_a) * inverse(in_b)

    @cached_property
    def _halves(self) -> tuple[Floats, Floats, float]:
        """Row totals of half a and of half b, and the scale of E."""
        in_a, in_b, (a, b, both) = self.blocks.sum("halves.totals")
        return in_a, in_b, float(a * b / both)

    def factors(self) -> UserFactors | None:
        """Give E as rows by users times users by rows, None where the users are elsewhere."""
        if not isinstance(self.blocks, BlocksInMemory):
            return None
        in_a, in_b, scale = self._halves
        return UserFactors([block.halves for block in self.blocks.blocks], scale * inverse(in_b), inverse(in_a))

    def cooccurrence(self, directions: Floats) -> Floats:
        """Multiply F by directions (W, c)."""
        return self.blocks.sum("cooccurrence", directions) - self._self_terms[:, None] * directions

    @cached_property
    def _self_terms(self) -> Floats:
        """The diagonal taken out of F, (W,)."""
        return self.blocks.sum("self_terms")

    def guess_range(self, n_directions: int, *, rng: np.random.Generator) -> Floats:
        """Start from the few directions in which users differ most in their wins and losses per item.

        Item space has Q dimensions instead of W, so its leading directions are far less noisy than random ones.
        """
        by_themselves = laplacian(self.n_items, self.lower, self.higher, self._self_terms.reshape(-1, 2).sum(axis=1))
        leading = leading_item_directions(
            lambda items: self.blocks.sum("item_product", items) - by_themselves(items),
            self.blocks.sum("items_seen"),
            n_directions,
            rng=rng,
        )
        return self.blocks.sum("rows_of_items", leading)
