"""The users of a fit: their comparisons and weights, in memory or in a store with files of weights.

Ours. A pass updates everybody's weights and sums what the scores need, in the same order wherever the users are.
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
from plurank.data.split import Source, look_rated, sample_for_scores, weigh_observations
from plurank.engine.blocks import (
    Edges,
    Group,
    cut_users,
    group_users,
    number_groups,
    sum_blocks,
)
from plurank.engine.local import Engine
from plurank.exceptions import DataError
from plurank.mixed.bradley_terry import (
    BradleyTerry,
    ScorePass,
    ScoreSums,
    cut_for_scores,
)
from plurank.mixed.priors import keep_from_zero
from plurank.store.store import Store
from plurank.text import reason_of
from plurank.types import Floats

# User weights between the passes of a fit: one file for every group of users and version, in a folder of the fit.
#
# Ours. A version is written beside the one accepted last, so that a step that does not help costs nothing to undo.

PREFIX = "plurank-weights-"


@dataclass
class WeightFiles:
    """Arrays by name, group and version. A file is written beside and renamed, so that it is whole or absent.

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


# Everybody's comparisons and weights, wherever they lie: what a fit asks of them.
#
# Ours. A fit looks at all comparisons only through sums over users, and user weights stay where the comparisons are; so
# it is the same whether these are in memory (``UsersInMemory``) or on disk (``StoredUsers``), and so is its answer.


class UserPosterior(NamedTuple):
    """What is known about everybody in the end: posterior means of weights (M, K), the evidence behind them (M,), and
    the information about every item's scores (Q, K, K)."""

    means: Floats
    user_concentration: Floats
    information: Floats


class Users(Protocol):
    """Users with comparisons and weights. ``weigh`` tries new weights, ``accept`` keeps those tried last."""

    @property
    def source(self) -> Source:
        """Where the comparisons are."""

    @property
    def total_weight(self) -> float:
        """How many comparisons they count as."""

    def look_rated(self) -> bool:
        """Check whether comparisons are, or seem to be, made from ratings."""

    def count_as_observed(self, rating_weight: float) -> "Users":
        """Let comparisons made from ratings count as what was observed, see ``weigh_observations``."""

    def sample(self, n_rankings: int, enough: int, rng: np.random.Generator, *, rated: bool = False) -> Comparisons:
        """Draw users, see ``sample_for_scores``; rated: their comparisons will count as what was observed."""

    def begin(self, weights: Floats) -> Self:
        """Return the same users, all starting from the same weights (K,)."""

    def update_memberships(
        self, component: BradleyTerry, prior: Floats, n_rounds: int, *, informed: bool = False
    ) -> ScoreSums:
        """Try better weights for everybody; give what they say about the scores, ``informed`` with the information."""

    def accept(self) -> None:
        """Keep the weights tried last."""

    def mean_weights(self) -> Floats:
        """Return the mean of everybody's weights, kept away from zero, (K,)."""

    def finish(self, component: BradleyTerry, prior: Floats, n_rounds: int) -> UserPosterior:
        """Weigh everybody a last time."""


@dataclass
class UsersInMemory:
    """Users in memory. weights (M, K) and their posterior concentration (M,) are those accepted last."""

    comparisons: Comparisons
    weights: Floats = field(default_factory=lambda: np.empty((0, 0)))
    user_concentration: Floats = field(default_factory=lambda: np.empty(0))
    _tried: ScorePass | None = field(default=None, init=False, repr=False)

    @property
    def source(self) -> Comparisons:
        """Where the comparisons are."""
        return self.comparisons

    @cached_property
    def total_weight(self) -> float:
        """How many comparisons they count as."""
        return self._sum(self.comparisons.weights_of_users())

    def _sum(self, values: Floats) -> float:
        return float(sum_blocks(values, cut_users(self.comparisons.offsets, 0)))

    def look_rated(self) -> bool:
        """Check whether comparisons are, or seem to be, made from ratings."""
        return look_rated(self.comparisons)

    def count_as_observed(self, rating_weight: float) -> "UsersInMemory":
        """Let comparisons made from ratings count as what was observed."""
        return UsersInMemory(weigh_observations(self.comparisons, rating_weight))

    def sample(self, n_rankings: int, enough: int, rng: np.random.Generator, *, rated: bool = False) -> Comparisons:
        """Draw users whose comparisons are enough to tell good scores from bad ones."""
        c, share = self.comparisons, None
        if rated:
            share = self._sum(weigh_observations(c).weights_of_users()) / self.total_weight
        return sample_for_scores(c, n_rankings, enough, rng, share)

    def begin(self, weights: Floats) -> "UsersInMemory":
        """Return the same users, all starting from the same weights (K,)."""
        return replace(self, weights=np.tile(weights, (self.comparisons.n_users, 1)))

    def update_memberships(
        self, component: BradleyTerry, prior: Floats, n_rounds: int, *, informed: bool = False
    ) -> ScoreSums:
        """Try better weights for everybody; give what they say about the scores."""
        given = self.comparisons, self.weights, prior, n_rounds
        self._tried = component.update_memberships(*given, informed=informed, edges=self._edges)
        return self._tried.sums

    @cached_property
    def _edges(self) -> Edges:
        return cut_for_scores(self.comparisons.offsets, self.comparisons.n_items, self.weights.shape[1])

    def accept(self) -> None:
        """Keep the weights tried last."""
        assert self._tried is not None
        self.weights, self.user_concentration = self._tried.weights, self._tried.user_concentration

    def mean_weights(self) -> Floats:
        """Return the mean of everybody's weights, kept away from zero, (K,)."""
        return keep_from_zero(sum_blocks(self.weights, self._edges) / self.comparisons.n_users)

    def finish(self, component: BradleyTerry, prior: Floats, n_rounds: int) -> UserPosterior:
        """Weigh everybody a last time."""
        seen = component.update_memberships(self.comparisons, self.weights, prior, n_rounds, informed=True)
        return UserPosterior(seen.means, seen.user_concentration, seen.sums.information)


class Task(NamedTuple):
    """What all groups need to know in a pass: where things are, and whose rankings to weigh how.

    worth: what an item rated counts as, None where comparisons count in full. accepted: the version of the weights to
    start from; where there is none, everybody starts from the same (K,).
    """

    store: Store
    files: WeightFiles
    rating_weight: float | None
    init: Floats
    accepted: int | None
    version: int
    component: BradleyTerry
    prior: Floats
    n_rounds: int
    informed: bool = False
    last: bool = False


@dataclass
class StoredUsers:
    """Users on disk: the weights they start from, and which version of the weights was accepted and tried last."""

    store: Store
    n_rankings: int
    engine: Engine
    files: WeightFiles
    rating_weight: float | None = None
    init: Floats = field(default_factory=lambda: np.empty(0))
    accepted: int | None = None
    tried: int | None = None
    least_groups: int = 1

    @property
    def source(self) -> Store:
        """Where the comparisons are."""
        return self.store

    @cached_property
    def total_weight(self) -> float:
        """How many comparisons they count as."""
        return self._sum_weights(self.rating_weight)

    def _sum_weights(self, rating_weight: float | None) -> float:
        return float(self.engine.reduce(weight_of, (self.store, rating_weight), self._plain_groups, np.add))

    @cached_property
    def _plain_groups(self) -> list[Group]:
        return group_users(self.store.offsets, self.least_groups)

    def look_rated(self) -> bool:
        """Check whether comparisons are, or seem to be, made from ratings."""
        return look_rated(self.store)

    def count_as_observed(self, rating_weight: float) -> "StoredUsers":
        """Let comparisons made from ratings count as what was observed."""
        return replace(self, rating_weight=rating_weight)

    def sample(self, n_rankings: int, enough: int, rng: np.random.Generator, *, rated: bool = False) -> Comparisons:
        """Draw users whose comparisons are enough to tell good scores from bad ones."""
        share = self._sum_weights(1.0) / self.total_weight if rated else None
        drawn = sample_for_scores(self.store, n_rankings, enough, rng, share)
        return drawn if self.rating_weight is None else weigh_observations(drawn, self.rating_weight)

    def begin(self, weights: Floats) -> "StoredUsers":
        """Return the same users, all starting from the same weights (K,)."""
        return replace(self, init=weights, accepted=None, tried=None)

    def resume(self, version: int, least_groups: int) -> "StoredUsers":
        """Return the same users with weights that an earlier fit accepted, cut into groups as there."""
        self.files.latest = max(self.files.latest, version)
        self.files.kept = version
        return replace(self, accepted=version, tried=version, least_groups=least_groups)

    def update_memberships(
        self, component: BradleyTerry, prior: Floats, n_rounds: int, *, informed: bool = False, last: bool = False
    ) -> ScoreSums:
        """Try better weights for everybody; give what they say about the scores."""
        if self.tried is not None and self.tried != self.accepted:
            self.files.forget(self.tried)
        self.tried = self.files.new_version()
        how = (self.init, self.accepted, self.tried, component, prior, n_rounds, informed, last)
        task = Task(self.store, self.files, self.rating_weight, *how)
        return self.engine.reduce(weigh_group, task, self._groups, ScoreSums.merge)

    @cached_property
    def _groups(self) -> list[Group]:
        edges = cut_for_scores(self.store.offsets, self.store.n_items, self.n_rankings)
        bytes_per_sum = 16 * self.store.n_items * self.n_rankings
        return number_groups(self.store.offsets, edges, bytes_per_sum, self.least_groups)

    def accept(self) -> None:
        """Keep the weights tried last."""
        before, self.accepted = self.accepted, self.tried
        if before is not None:
            self.files.forget(before)

    def mean_weights(self) -> Floats:
        """Return the mean of everybody's weights, kept away from zero, (K,)."""
        total = self.engine.reduce(weights_of, (self.files, self.accepted), self._groups, np.add)
        return keep_from_zero(total / self.store.n_users)

    def finish(self, component: BradleyTerry, prior: Floats, n_rounds: int) -> UserPosterior:
        """Weigh everybody a last time."""
        sums = self.update_memberships(component, prior, n_rounds, informed=True, last=True)
        version = self.files.latest
        means, user_concentration = (
            np.concatenate([self.files.read(name, group.number, version) for group in self._groups])
            for name in ("means", "user_concentration")
        )
        for done in (version, self.accepted):  # nobody needs them again
            if done is not None:
                self.files.forget(done)
        return UserPosterior(means, user_concentration, sums.information)


def weigh_group(task: Task, group: Group) -> ScoreSums:
    """Weigh the users of a group, and leave their weights in the files of the fit."""
    users = task.store.block(*group.users, labelled=False)
    if task.rating_weight is not None:
        users = weigh_observations(users, task.rating_weight)
    if task.accepted is None:
        init = np.tile(task.init, (users.n_users, 1))
    else:
        init = task.files.read("weights", group.number, task.accepted)
    found = task.component.update_memberships(
        users, init, task.prior, task.n_rounds, informed=task.informed, edges=group.blocks
    )
    kept = (
        {"means": found.means, "user_concentration": found.user_concentration}
        if task.last
        else {"weights": found.weights}
    )
    for name, array in kept.items():
        task.files.write(name, group.number, task.version, array)
    return found.sums


def weight_of(where: tuple[Store, float | None], group: Group) -> Floats:
    """How many comparisons those of a group count as."""
    store, rating_weight = where
    users = store.block(*group.users, labelled=False)
    weighed = users if rating_weight is None else weigh_observations(users, rating_weight)
    return sum_blocks(weighed.weights_of_users(), group.blocks)


def weights_of(where: tuple[WeightFiles, int], group: Group) -> Floats:
    """Sum the weights of a group's users, (K,)."""
    files, version = where
    return sum_blocks(files.read("weights", group.number, version), group.blocks)
