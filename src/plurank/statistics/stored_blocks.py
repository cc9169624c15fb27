"""Moments of the comparisons in a store: blocks are read anew for every sum, here or on a cluster."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from plurank.data.blocks import Group, group_users
from plurank.data.store import Store
from plurank.engine.local import Engine
from plurank.statistics.pair_block import PairBlock, informative
from plurank.statistics.pair_index import PairIndex
from plurank.statistics.pair_moments import PairOperator, add, check_company, cut_for_rows, share_of


class Unit(NamedTuple):
    """A block of users begin to end - 1; first: how many comparisons with company earlier blocks have."""

    begin: int
    end: int
    first: int


class Share(NamedTuple):
    """What to ask every block, see ``share_of``."""

    store: Store
    pairs: PairIndex
    seed: int
    name: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class StoredBlocks:
    """Blocks of a store."""

    store: Store
    engine: Engine
    index: PairIndex
    seed: int
    units: Sequence[Unit]

    def sum(self, share: str, *arguments: Any) -> Any:
        """Add up what a method of every block gives, as a tree."""
        asked = Share(self.store, self.index, self.seed, share, arguments)
        return self.engine.reduce(answer, asked, self.units, add)


def answer(asked: Share, unit: Unit) -> Any:
    """Read a block, and ask it."""
    users = asked.store.block(unit.begin, unit.end, labelled=False)
    return share_of(PairBlock(users, asked.pairs, asked.seed, unit.first), asked.name, asked.arguments)


def stored_pair_moments(store: Store, engine: Engine, seed: int) -> PairOperator:
    """Find the pairs that occur, and cut the users into blocks."""
    groups = group_users(store.offsets, engine.least_units)
    index = reduce(PairIndex.merge, engine.map(index_of, store, groups))
    check_company(bool(len(index.lower)))
    edges = [Group(0, np.array(pair)) for pair in pairwise(cut_for_rows(store.offsets, index))]
    sizes = list(engine.map(size_of, store, edges))
    before = np.cumsum([0, *sizes])
    units = [Unit(*group.users, int(first)) for group, first in zip(edges, before[:-1], strict=True)]
    return PairOperator(index, StoredBlocks(store, engine, index, seed, units))


def index_of(store: Store, group: Group) -> PairIndex:
    """List the pairs of a group's users whose comparisons have company."""
    users = store.block(*group.users, labelled=False)
    return PairIndex.of(users.take_users(informative(users)))


def size_of(store: Store, group: Group) -> int:
    """Count a group's comparisons that have company."""
    users = store.block(*group.users, labelled=False)
    return int(np.diff(users.offsets)[informative(users)].sum())
