"""The users of a fit: their comparisons and their weights, in memory, or in a store with files of weights.

Ours. A fit sees comparisons only through sums over users, and user weights stay where the comparisons are. So it is the
same wherever that is: a pass updates everybody's weights and adds up what the scores need, always in the same order.
"""

import os
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol, Self

import numpy as np

from plurank.data.comparisons import Comparisons
from plurank.data.encoding import write_array
from plurank.data.split import sample_for_scores, weigh_observations
from plurank.engine.blocks import Group, groups_of, read_users, sum_blocks
from plurank.engine.local import Engine, LocalEngine
from plurank.exceptions import DataError
from plurank.mixed.bradley_terry import BradleyTerry, ScoreSums, cut_for_scores
from plurank.mixed.priors import keep_from_zero
from plurank.store.store import Store
from plurank.text import reason_of
from plurank.types import Floats

PREFIX = "plurank-weights-"


class WeightStorage(Protocol):
    """Arrays of users between the passes of a fit, by name, group of users and version.

    A version is written beside the one accepted last, so that a step that does not help costs nothing to undo.
    """

    def new_version(self) -> int:
        """Return a number that no version has had."""

    def write(self, name: str, group: int, version: int, array: Floats) -> None:
        """Store one array."""

    def read(self, name: str, group: int, version: int) -> Floats:
        """Return one array."""

    def forget(self, version: int) -> None:
        """Remove a version."""


@dataclass
class WeightArrays:
    """Arrays in memory."""

    latest: int = 0
    arrays: dict[int, dict[tuple[str, int], Floats]] = field(default_factory=dict)

    def new_version(self) -> int:
        """Return a number that no version has had."""
        self.latest += 1
        return self.latest

    def write(self, name: str, group: int, version: int, array: Floats) -> None:
        """Store one array."""
        self.arrays.setdefault(version, {})[name, group] = array

    def read(self, name: str, group: int, version: int) -> Floats:
        """Return one array."""
        return self.arrays[version][name, group]

    def forget(self, version: int) -> None:
        """Remove a version."""
        self.arrays.pop(version, None)


@dataclass
class WeightFiles:
    """Arrays in files, in a folder of the fit. A file is written beside and renamed, so that it is whole or absent.

    ``kept`` is a version that must stay, because a checkpoint goes on from it.
    """

    folder: Path
    latest: int = 0
    kept: int | None = None

    def new_version(self) -> int:
        """Return a number that no version has had."""
        self.latest += 1
        return self.latest

    def write(self, name: str, group: int, version: int, array: Floats) -> None:
        """Write one array; the system may keep it in memory until ``settle``."""
        target = self._path(name, group, version)
        target.parent.mkdir(exist_ok=True)  # not its parents: where the fit is over, nothing comes back
        beside = target.with_name(f"{target.name}.{secrets.token_hex(6)}.part")
        with beside.open("wb") as file:
            write_array(file, array)
        os.replace(beside, target)

    def read(self, name: str, group: int, version: int) -> Floats:
        """Read one array."""
        path = self._path(name, group, version)
        try:
            array: Floats = np.load(path)
        except Exception as error:  # a damaged npy can raise nearly anything
            reason = reason_of(error)
            raise DataError(f"{path} is missing or damaged ({reason}); the fit cannot go on. Fit again.") from None
        return array

    def _path(self, name: str, group: int, version: int) -> Path:
        return self._home(version) / f"{name}-{group:05}.npy"

    def _home(self, version: int) -> Path:
        return self.folder / f"{PREFIX}{version:06}"

    def forget(self, version: int) -> None:
        """Remove a version, unless a checkpoint needs it."""
        if version != self.kept:
            shutil.rmtree(self._home(version), ignore_errors=True)

    def settle(self, version: int) -> None:
        """Make sure that a version is on disk."""
        for file in self._home(version).iterdir():
            with file.open("rb") as opened:
                os.fsync(opened.fileno())

    def resume(self, version: int) -> None:
        """Continue from a version that an earlier process stored."""
        self.latest, self.kept = max(self.latest, version), version

    def keep(self, version: int) -> None:
        """Keep a version instead of the one kept before."""
        before, self.kept = self.kept, version
        if before is not None and before != version:
            self.forget(before)

    def clear(self) -> None:
        """Remove all versions."""
        for version in self.folder.glob(PREFIX + "[0-9]" * 6):
            shutil.rmtree(version, ignore_errors=True)

    def remove(self) -> None:
        """Remove all versions, and the folder if nothing else is in it."""
        self.clear()
        with suppress(OSError):
            self.folder.rmdir()


class UserPosterior(NamedTuple):
    """What is known about the users in the end: posterior means of their weights (M, K), the concentration of the
    posterior (M,), and the information about every item's scores (Q, K, K)."""

    means: Floats
    user_concentration: Floats
    information: Floats


@dataclass
class Users:
    """Users with comparisons and weights. ``update_memberships`` tries new weights, ``accept`` keeps those tried last.

    source: their comparisons. init: the weights they start from, the same for all (K,) or one row for each (M, K).
    rating_weight: how many observations an item rated counts as, None where comparisons count as they are. accepted and
    tried are versions of the weights in the storage.
    """

    source: Comparisons | Store
    init: Floats = field(default_factory=lambda: np.empty(0))
    storage: WeightStorage = field(default_factory=WeightArrays)
    engine: Engine = field(default_factory=LocalEngine)
    rating_weight: float | None = None
    accepted: int | None = None
    tried: int | None = None
    least_groups: int = 1

    @cached_property
    def total_weight(self) -> float:
        """How many comparisons theirs count as."""
        return self._sum_weights(self.rating_weight)

    def _sum_weights(self, rating_weight: float | None) -> float:
        groups = groups_of(self.source, self.least_groups)
        return float(self.engine.reduce(sum_comparison_weights, (self.source, rating_weight), groups, np.add))

    def count_as_observed(self, rating_weight: float) -> Self:
        """Let comparisons made from ratings count as what was observed, see ``weigh_observations``."""
        if isinstance(self.source, Store):
            return replace(self, rating_weight=rating_weight)
        return replace(self, source=weigh_observations(self.source, rating_weight))

    def sample(self, n_rankings: int, enough: int, rng: np.random.Generator, *, rated: bool = False) -> Comparisons:
        """Draw users, see ``sample_for_scores``; rated: their comparisons will count as what was observed."""
        share = self._sum_weights(1.0) / self.total_weight if rated else None
        drawn = sample_for_scores(self.source, n_rankings, enough, rng, share)
        return drawn if self.rating_weight is None else weigh_observations(drawn, self.rating_weight)

    def begin(self, weights: Floats) -> Self:
        """Return the same users, all starting from the same weights (K,)."""
        return replace(self, init=weights, accepted=None, tried=None)

    def resume(self, version: int, least_groups: int) -> Self:
        """Return the same users with weights that an earlier fit accepted, cut into groups as there."""
        return replace(self, accepted=version, tried=version, least_groups=least_groups)

    @cached_property
    def _groups(self) -> list[Group]:
        shape = self.source.n_items, self.init.shape[-1]
        edges = cut_for_scores(self.source.offsets, *shape)
        return groups_of(self.source, self.least_groups, edges, 16 * shape[0] * shape[1])

    def update_memberships(
        self, component: BradleyTerry, prior: Floats, n_rounds: int, *, informed: bool = False, last: bool = False
    ) -> ScoreSums:
        """Try better weights for all users; return what they say about the scores, ``informed`` with the information.

        prior: Dirichlet counts, (1, K) or (M, K). last: posterior means are stored instead of the weights.
        """
        if self.tried is not None and self.tried != self.accepted:
            self.storage.forget(self.tried)
        self.tried = self.storage.new_version()
        how = (self.accepted, self.tried, component, prior, n_rounds, informed, last)
        task = Pass(self.source, self.storage, self.rating_weight, self.init, *how)
        return self.engine.reduce(update_group, task, self._groups, ScoreSums.merge)

    def accept(self) -> None:
        """Keep the weights tried last."""
        before, self.accepted = self.accepted, self.tried
        if before is not None:
            self.storage.forget(before)

    @property
    def weights(self) -> Floats:
        """The weights accepted last, (M, K)."""
        where = self.storage, self.accepted, self.init
        return _join([_weights_of(where, group) for group in self._groups])

    @property
    def user_concentration(self) -> Floats:
        """The concentration of the posterior of the weights accepted last, (M,)."""
        assert self.accepted is not None
        return self._read("user_concentration", self.accepted)

    def _read(self, name: str, version: int) -> Floats:
        return _join([self.storage.read(name, group.number, version) for group in self._groups])

    def mean_weights(self) -> Floats:
        """Return the mean of all users' weights, kept away from zero, (K,)."""
        total = self.engine.reduce(sum_weights, (self.storage, self.accepted, self.init), self._groups, np.add)
        return keep_from_zero(total / self.source.n_users)

    def finish(self, component: BradleyTerry, prior: Floats, n_rounds: int) -> UserPosterior:
        """Run the last E-step, and delete the stored weights."""
        sums = self.update_memberships(component, prior, n_rounds, informed=True, last=True)
        assert self.tried is not None
        means, user_concentration = (self._read(name, self.tried) for name in ("means", "user_concentration"))
        for done in (self.tried, self.accepted):
            if done is not None:
                self.storage.forget(done)
        return UserPosterior(means, user_concentration, sums.information)


class Pass(NamedTuple):
    """What all groups of users need to know in a pass; the names are those of ``Users``."""

    source: Comparisons | Store
    storage: WeightStorage
    rating_weight: float | None
    init: Floats
    accepted: int | None
    version: int
    component: BradleyTerry
    prior: Floats
    n_rounds: int
    informed: bool = False
    last: bool = False


def update_group(task: Pass, group: Group) -> ScoreSums:
    """Update the memberships of a group's users and store them; return what they say about the scores."""
    users = _observed((task.source, task.rating_weight), group)
    init = _weights_of((task.storage, task.accepted, task.init), group)
    prior = task.prior if len(task.prior) == 1 else task.prior[slice(*group.users)]
    found = task.component.update_memberships(
        users, init, prior, task.n_rounds, informed=task.informed, edges=group.blocks
    )
    arrays = {"means": found.means} if task.last else {"weights": found.weights}
    for name, array in (*arrays.items(), ("user_concentration", found.user_concentration)):
        task.storage.write(name, group.number, task.version, array)
    return found.sums


def sum_comparison_weights(where: tuple[Comparisons | Store, float | None], group: Group) -> Floats:
    """Sum the weights of a group's comparisons."""
    return sum_blocks(_observed(where, group).weights_of_users(), group.blocks)


def _observed(where: tuple[Comparisons | Store, float | None], group: Group) -> Comparisons:
    """Return the users of a group, with comparisons that count as what was observed."""
    source, rating_weight = where
    users = read_users(source, group)
    return users if rating_weight is None else weigh_observations(users, rating_weight)


def sum_weights(where: tuple[WeightStorage, int | None, Floats], group: Group) -> Floats:
    """Sum the weights of a group's users, (K,)."""
    return sum_blocks(_weights_of(where, group), group.blocks)


def _weights_of(where: tuple[WeightStorage, int | None, Floats], group: Group) -> Floats:
    """Return the weights of a group's users, (m, K): those of a version, or where there is none, the first ones."""
    storage, version, init = where
    begin, end = group.users
    if version is not None:
        return storage.read("weights", group.number, version)
    return np.tile(init, (end - begin, 1)) if init.ndim == 1 else init[begin:end]


def _join(parts: list[Floats]) -> Floats:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
