"""Users cut into fixed blocks, and sums over blocks in one order, whoever adds them up and wherever they lie.

Blocks depend on the data alone. Their sums are added as a tree: 0 + 1, 2 + 3, ..., then pairs of these, and so on. So
2^j neighbouring blocks, the first a multiple of 2^j, can be added anywhere, and the total is the same to the last bit.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from plurank import data
from plurank.data.comparisons import Comparisons
from plurank.data.rated import Rankings, RatedItems, Ratings
from plurank.exceptions import DataError
from plurank.store.folder import BaseStore
from plurank.store.rated import RatedStore
from plurank.store.store import Store

MOST_BLOCKS, FEWEST_BLOCKS = 64, 4
MOST_COMPARISONS = 2**22  # in a block, or there are more of them
GROUP_COMPARISONS, MOST_GROUPS = 2**23, 2048
PRIVATE_BYTES = 256 * 2**20  # what blocks that are worked on together may hold in private sums
PRIVATE_PER_COMPARISON = 32  # bytes of private sums; more would take longer to add up than the comparisons

Sum = TypeVar("Sum")
Unit = TypeVar("Unit")
Edges = NDArray[np.int64]


def cut_users(offsets: NDArray[np.int64], bytes_per_block: int) -> Edges:
    """Return the edges of blocks of users with about as many comparisons each; they depend on the data alone."""
    most_bytes = min(PRIVATE_BYTES, PRIVATE_PER_COMPARISON * int(offsets[-1]))
    affordable = int(np.clip(most_bytes // max(bytes_per_block, 1), FEWEST_BLOCKS, MOST_BLOCKS))
    n_blocks = max(affordable, -(-int(offsets[-1]) // MOST_COMPARISONS))
    wanted = np.linspace(0, offsets[-1], n_blocks + 1)[:-1]
    # the last edge is the number of users, also where the last ones have no comparisons
    return np.unique(np.append(np.searchsorted(offsets, wanted), len(offsets) - 1).astype(np.int64))


def group_blocks(edges: Edges, bytes_per_block: int, most: int = 2**30) -> list[Edges]:
    """Put neighbouring blocks together whose private sums can be held at once, at most so many: the edges of each
    group. Groups have 2^j blocks, so that their sums are parts of the tree."""
    together = min(max(PRIVATE_BYTES // max(bytes_per_block, 1), 1), most)
    size = 2 ** (int(together).bit_length() - 1)
    return [edges[first : first + size + 1] for first in range(0, max(len(edges) - 1, 1), size)]


class Group(NamedTuple):
    """Some neighbouring blocks of users: its number, and the edges of the blocks."""

    number: int
    edges: Edges

    @property
    def users(self) -> tuple[int, int]:
        """The first user, and the one after the last."""
        return int(self.edges[0]), int(self.edges[-1])

    @property
    def blocks(self) -> Edges:
        """The edges counted from the group's first user."""
        return self.edges - self.edges[0]


def number_groups(offsets: NDArray[np.int64], edges: Edges, bytes_per_sum: int = 0, least: int = 1) -> list[Group]:
    """Put blocks together into groups, each a unit of work somewhere, at least so many of them.

    A group has enough comparisons to keep threads busy, far more bytes of them than the sums it gives, and there are
    not more groups than a scheduler handles well; otherwise it is small, so that little is in memory at once.
    """
    n, n_blocks = max(int(offsets[-1]), 1), max(len(edges) - 1, 1)
    comparisons = max(GROUP_COMPARISONS, 2 * bytes_per_sum, n // MOST_GROUPS)
    together = min(comparisons * n_blocks // n, n_blocks // least)
    return [Group(number, group) for number, group in enumerate(group_blocks(edges, 0, max(together, 1)))]


Source = Comparisons | RatedItems | Store | RatedStore


def groups_of(source: Source, least: int = 1, edges: Edges | None = None, sums: int = 0) -> list[Group]:
    """Return the groups in which users are worked on: one where they are in memory, and of a store at least so many.

    edges are those of the blocks, by default for sums that are small; sums is the size of a block's sums in bytes.
    """
    edges = cut_users(source.offsets, 0) if edges is None else edges
    return number_groups(source.offsets, edges, sums, least) if isinstance(source, BaseStore) else [Group(0, edges)]


@overload
def read_users(source: Comparisons | Store, group: Group, *, labelled: bool = False) -> Comparisons: ...


@overload
def read_users(source: RatedItems | RatedStore, group: Group, *, labelled: bool = False) -> RatedItems: ...


def read_users(source: Source, group: Group, *, labelled: bool = False) -> Comparisons | RatedItems:
    """Return the users of a group; without ``labelled`` those of a store are numbered, not named, which is faster."""
    if isinstance(source, BaseStore):
        return source.block(*group.users, labelled=labelled)
    return source if group.users == (0, source.n_users) else source.block(*group.users)


def iterate_users(X: Any, *, labelled: bool = True) -> Iterator[Comparisons]:
    """Yield comparisons at once, and those of a store group by group of users."""
    source = as_source(X)
    return (read_users(source, group, labelled=labelled) for group in groups_of(source))


def as_comparisons(X: Any) -> Comparisons:
    """Take Comparisons, or what can become Comparisons: ratings, rankings, a store, or a frame of any of these."""
    found = as_observations(X)
    return found if isinstance(found, Comparisons) else found.to_comparisons()


def as_source(X: Any) -> Comparisons | Store:
    """Take a store as it is, and anything else as Comparisons."""
    return X if isinstance(X, Store) else as_comparisons(X)


def as_observations(X: Any) -> Source:
    """Take data as they are, and a frame as what its columns say: comparisons, ratings or rankings."""
    if isinstance(X, (Comparisons, RatedItems, Store, RatedStore)):
        return X
    if isinstance(X, (list, tuple)) and any(isinstance(each, (Comparisons, RatedItems)) for each in X):
        kinds = " and ".join(type(each).__name__ for each in X)
        raise DataError(
            f"expected one kind of data, got {kinds}.",
            hint="Fit the ratings or rankings, which say more about every item, and pass comparisons to update.",
        )
    form = data.find_form(data.as_columns(X), None)
    kind: Any = {"ratings": Ratings, "rankings": Rankings}.get(form, Comparisons)
    made: Comparisons | RatedItems = kind.from_frame(X)
    return made


def read_observations(X: Any) -> Comparisons | RatedItems | Store:
    """Take data as :func:`as_observations` does, and read ratings or rankings of a store into memory."""
    found = as_observations(X)
    return found.to_memory() if isinstance(found, RatedStore) else found


def group_units(units: Sequence[Unit], least: int) -> list[Sequence[Unit]]:
    """Put neighbouring units together into at least so many groups, if there are as many units. Groups have 2^j of
    them, so that their sums are parts of the tree."""
    size = 2 ** (max(len(units) // least, 1).bit_length() - 1)
    return [units[first : first + size] for first in range(0, len(units), size)]


def sum_tree(parts: Iterable[Sum], merge: Callable[[Sum, Sum], Sum]) -> Sum:
    """Add parts as a tree; no more than about log2 of their number are held at once."""
    held: list[tuple[int, Sum]] = []  # how many parts each sum has, and the sum
    for part in parts:
        held.append((1, part))
        while len(held) > 1 and held[-2][0] == held[-1][0]:
            _merge_last(held, merge)
    while len(held) > 1:
        _merge_last(held, merge)
    return held[0][1]


def _merge_last(held: list[tuple[int, Sum]], merge: Callable[[Sum, Sum], Sum]) -> None:
    size, last = held.pop()
    before, first = held.pop()
    held.append((before + size, merge(first, last)))


def sum_blocks(values: NDArray[np.float64], edges: Edges) -> NDArray[np.float64]:
    """Sum values (n, ...) over the first axis, block by block and as a tree."""
    return sum_tree((values[begin:end].sum(axis=0) for begin, end in pairwise(edges)), np.add)
