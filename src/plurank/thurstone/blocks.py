"""Users in fixed blocks, and their observations both by user and by item, as the kernels of a sweep take them."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from plurank import kernels
from plurank.data.encoding import Labels
from plurank.data.rated import RatedItems
from plurank.store.rated import RatedStore
from plurank.thurstone.comparisons import Compared
from plurank.types import Codes, Floats, Integers

BLOCK_SIZE = 2**20  # observations; sums over blocks are added in one order, whatever holds them
MOST_LEVELS = 10  # of ratings that have thresholds of their own; finer scales are grouped


class RatedSource(Protocol):
    """Ratings, rankings or comparisons wherever they lie."""

    def __len__(self) -> int: ...
    @property
    def n_users(self) -> int: ...  # noqa: D102
    @property
    def n_items(self) -> int: ...  # noqa: D102
    @property
    def offsets(self) -> Integers: ...  # noqa: D102
    @property
    def items(self) -> Labels: ...  # noqa: D102
    @property
    def users(self) -> Labels: ...  # noqa: D102
    @property
    def values(self) -> Floats: ...  # noqa: D102
    @property
    def kind(self) -> Any: ...  # noqa: D102
    def block(self, begin: int, end: int) -> Any: ...  # noqa: D102


class Block(NamedTuple):
    """Users begin to end - 1."""

    number: int
    begin: int
    end: int


def cut_blocks(offsets: Integers) -> list[Block]:
    """Cut users into blocks with about as many observations each; they depend on the data alone."""
    n_blocks = max(-(-int(offsets[-1]) // BLOCK_SIZE), 1)
    wanted = np.linspace(0, offsets[-1], n_blocks + 1)[:-1]
    edges = np.unique(np.append(np.searchsorted(offsets, wanted), len(offsets) - 1))
    edges[0] = 0
    return [Block(n, int(begin), int(end)) for n, (begin, end) in enumerate(pairwise(edges))]


def read_block(source: RatedSource, block: Block) -> Any:
    """Return what a block's users said; those of a store are numbered, not named, which is faster."""
    if isinstance(source, RatedStore):
        return source.block(block.begin, block.end, labelled=False)
    return source.block(block.begin, block.end)


class Scale(NamedTuple):
    """How values become levels with thresholds between them: the group of every value (L,), and the mean value and the
    number of ratings of each group (C + 1,). Rankings have none."""

    groups: Codes
    values: Floats
    counts: Floats

    @property
    def n_cuts(self) -> int:
        """Number of thresholds."""
        return max(len(self.values) - 1, 0)

    @classmethod
    def of(cls, values: Floats, counts: Floats) -> "Scale":
        """Group values (L,), ascending, of which there are so many ratings (L,), into levels of about equal counts."""
        n = len(values)
        if n <= MOST_LEVELS:
            return cls(np.arange(n, dtype=np.int32), values, counts)
        middle = (np.cumsum(counts) - counts / 2.0) / counts.sum()
        groups = np.unique(np.minimum((middle * MOST_LEVELS).astype(np.int32), MOST_LEVELS - 1), return_inverse=True)[1]
        totals = np.bincount(groups, counts).astype(np.float64)
        return cls(groups.astype(np.int32), np.bincount(groups, counts * values) / totals, totals)


@dataclass(frozen=True)
class BlockData:
    """The observations of a block of users."""

    observed: kernels.Observed
    n_items: int

    @classmethod
    def of(cls, part: RatedItems | Compared, scale: Scale) -> "BlockData":
        """Take the observations as kernels do."""
        if isinstance(part, Compared):
            observed = part.observed
        elif part.kind == "rank":
            observed = kernels.Observed("ranked", part.offsets, part.codes, part.levels)
        else:
            observed = kernels.Observed("rated", part.offsets, part.codes, scale.groups[part.levels])
        return cls(observed, part.n_items)

    @cached_property
    def by_item(self) -> tuple[Integers, Codes, Codes]:
        """Where the observations of each item begin (Q + 1,), their positions (n,), and their users (n,)."""
        order, starts = kernels.group(self.observed.codes, self.n_items)
        owners = np.repeat(np.arange(self.n_users, dtype=np.int32), np.diff(self.observed.offsets))
        return starts, order.astype(np.int32), owners[order]

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.observed.offsets) - 1

    def first_utilities(self) -> Floats:
        """Return utilities (n,) in the order that rankings say; of others they are drawn
        afresh, or begin anywhere."""
        if self.observed.kind != "ranked":
            return np.zeros(len(self.observed.codes))
        sizes = np.diff(self.observed.offsets)
        last = np.repeat(np.maximum(self.observed.offsets[1:] - 1, 0), sizes)
        n_levels = self.observed.levels[last] + 1.0
        return 3.0 * ((self.observed.levels + 0.5) / n_levels - 0.5)
