"""Comparisons as kernels of latent utilities take them: of every user's item, those it was compared with.

Ours. Answers of a new user to a model of ratings or rankings are certain: they say which of two utilities is larger.
Comparisons that a model is fitted to have errors of their own, and may contradict each other.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from plurank import kernels
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import Labels
from plurank.types import Floats, Integers, Masks


@dataclass(frozen=True)
class Compared:
    """Comparisons to sample from, users in blocks; an observation is an item that a user compared."""

    comparisons: Comparisons
    kind: str = "comparison"

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @property
    def n_users(self) -> int:
        """Number of users."""
        return self.comparisons.n_users

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.comparisons.n_items

    @property
    def items(self) -> Labels:
        """Labels of the items."""
        return self.comparisons.items

    @property
    def users(self) -> Labels:
        """Labels of the users."""
        return self.comparisons.users

    @property
    def values(self) -> Floats:
        """Values of a scale, of which there is none."""
        return np.zeros(0)

    @property
    def offsets(self) -> Integers:
        """Where the items of each user begin, (M + 1,)."""
        return self.observed.offsets

    @cached_property
    def observed(self) -> kernels.Observed:
        """The comparisons as kernels take them."""
        return observe_with_errors(self.comparisons)

    @property
    def keys(self) -> Integers:
        """What is observed: ``user * n_items + item``, ascending, (n,)."""
        owners = np.repeat(np.arange(self.n_users, dtype=np.int64), np.diff(self.offsets))
        return owners * self.n_items + self.observed.codes

    def take_users(self, chosen: Masks) -> "Compared":
        """Return marked users (M,)."""
        return self if chosen.all() else replace(self, comparisons=self.comparisons.take_users(chosen))

    def block(self, begin: int, end: int) -> "Compared":
        """Return users begin to end - 1."""
        chosen = np.zeros(self.n_users, dtype=bool)
        chosen[begin:end] = True
        return self.take_users(chosen)


def observe_with_errors(comparisons: Comparisons) -> kernels.Observed:
    """Turn comparisons into what they say about utilities, each with an error of its own."""
    return _link("compared with errors", comparisons, *_number(comparisons))


def observe_certain(comparisons: Comparisons, *, rated: bool = False) -> kernels.Observed:
    """Turn comparisons into what they say about utilities: which of two is larger and, where they were made from
    ratings, that a threshold lies between.

    Answers of a user that contradict each other, directly or in a circle, say nothing and are left out.
    """
    keys, ahead, behind = _number(comparisons)
    sound = ~_contradicted(ahead, behind, len(keys))
    pairs = np.unique(np.stack([ahead[sound], behind[sound]], axis=1), axis=0)
    return _link("compared ratings" if rated else "compared", comparisons, keys, pairs[:, 0], pairs[:, 1])


def _number(comparisons: Comparisons) -> tuple[Integers, Integers, Integers]:
    """Number the items of users that were compared: ``user * n_items + item`` of each (n,), and the number of the
    winner and of the loser of every comparison."""
    users = comparisons.user_of_each().astype(np.int64)
    sides = users * comparisons.n_items + comparisons.winners, users * comparisons.n_items + comparisons.losers
    keys = np.unique(np.concatenate(sides))
    return keys, np.searchsorted(keys, sides[0]), np.searchsorted(keys, sides[1])


def _link(
    kind: kernels.Kind, comparisons: Comparisons, keys: Integers, ahead: Integers, behind: Integers
) -> kernels.Observed:
    """Link the items of every comparison."""
    n_items = comparisons.n_items
    offsets = np.searchsorted(keys, np.arange(comparisons.n_users + 1, dtype=np.int64) * n_items).astype(np.int64)
    first = offsets[:-1][keys // n_items]  # where the items of the owner begin
    of = np.concatenate([ahead, behind])
    place = np.concatenate([behind, ahead]) - first[of] + 1
    links = np.where(np.arange(len(of)) < len(ahead), place, -place).astype(np.int32)
    order = np.argsort(of, kind="stable")
    link_offsets = np.append(0, np.cumsum(np.bincount(of, minlength=len(keys)))).astype(np.int64)
    codes, no_levels = (keys % n_items).astype(np.int32), np.zeros(0, np.int32)
    return kernels.Observed(kind, offsets, codes, no_levels, link_offsets, links[order])


def _contradicted(ahead: Integers, behind: Integers, n: int) -> Masks:
    """Mark comparisons (n,) that lie on a circle."""
    if not n:
        return np.zeros(0, dtype=bool)
    graph = csr_array((np.ones(len(ahead), np.int8), (ahead, behind)), shape=(n, n))
    _, component = connected_components(graph, directed=True, connection="strong")
    return np.asarray(component[ahead] == component[behind])
