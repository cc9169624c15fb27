"""A crowd on disk: comparisons in a store, weights in a folder of the fit, both cut into groups of users.

Ours. A pass is one task for every group: it reads the group's comparisons and the weights accepted last, writes better
weights beside them, and gives what its users say about the scores. Tasks depend on files alone, so that they can run
anywhere, and again where a worker was lost.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurank.algorithms.crowd import Known
from plurank.algorithms.weight_files import WeightFiles
from plurank.components.bradley_terry import BradleyTerry, ScoreSums, cut_for_scores
from plurank.data.blocks import Group, group_users, number_groups, sum_blocks
from plurank.data.comparisons import Comparisons
from plurank.data.observations import look_rated, weigh_observations
from plurank.data.sampling import sample_for_scores
from plurank.data.store import Store
from plurank.engine.local import Engine
from plurank.inference.priors import keep_from_zero

Floats = NDArray[np.float64]


class Task(NamedTuple):
    """What all groups need to know in a pass: where things are, and whose rankings to weigh how.

    worth: what an item rated counts as, None where comparisons count in full. accepted: the version of the weights to
    start from; where there is none, everybody starts from the same (K,).
    """

    store: Store
    files: WeightFiles
    worth: float | None
    start: Floats
    accepted: int | None
    version: int
    component: BradleyTerry
    prior: Floats
    n_rounds: int
    informed: bool = False
    last: bool = False


@dataclass
class StoredCrowd:
    """A crowd on disk: what everybody starts from, and which version of the weights was accepted and tried last."""

    store: Store
    n_rankings: int
    engine: Engine
    files: WeightFiles
    worth: float | None = None
    start: Floats = field(default_factory=lambda: np.empty(0))
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
        return self._sum_weights(self.worth)

    def _sum_weights(self, worth: float | None) -> float:
        return float(self.engine.reduce(weight_of, (self.store, worth), self._plain_groups, np.add))

    @cached_property
    def _plain_groups(self) -> list[Group]:
        return group_users(self.store.offsets, self.least_groups)

    def look_rated(self) -> bool:
        """Tell whether comparisons are, or seem to be, made from ratings."""
        return look_rated(self.store)

    def count_as_observed(self, worth: float) -> "StoredCrowd":
        """Let comparisons made from ratings count as what was observed."""
        return replace(self, worth=worth)

    def sample(self, n_rankings: int, enough: int, rng: np.random.Generator, *, rated: bool = False) -> Comparisons:
        """Draw users whose comparisons are enough to tell good scores from bad ones."""
        share = self._sum_weights(1.0) / self.total_weight if rated else None
        drawn = sample_for_scores(self.store, n_rankings, enough, rng, share)
        return drawn if self.worth is None else weigh_observations(drawn, self.worth)

    def begin(self, weights: Floats) -> "StoredCrowd":
        """Give the same crowd where everybody starts from the same weights (K,)."""
        return replace(self, start=weights, accepted=None, tried=None)

    def resume(self, version: int, least_groups: int) -> "StoredCrowd":
        """Give the same crowd with weights that an earlier fit accepted, cut into groups as there."""
        self.files.latest = max(self.files.latest, version)
        self.files.kept = version
        return replace(self, accepted=version, tried=version, least_groups=least_groups)

    def weigh(
        self, component: BradleyTerry, prior: Floats, n_rounds: int, *, informed: bool = False, last: bool = False
    ) -> ScoreSums:
        """Try better weights for everybody; give what they say about the scores."""
        if self.tried is not None and self.tried != self.accepted:
            self.files.forget(self.tried)
        self.tried = self.files.new_version()
        how = (self.start, self.accepted, self.tried, component, prior, n_rounds, informed, last)
        task = Task(self.store, self.files, self.worth, *how)
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
        """Give the mean of everybody's weights, kept away from zero, (K,)."""
        total = self.engine.reduce(weights_of, (self.files, self.accepted), self._groups, np.add)
        return keep_from_zero(total / self.store.n_users)

    def finish(self, component: BradleyTerry, prior: Floats, n_rounds: int) -> Known:
        """Weigh everybody a last time."""
        sums = self.weigh(component, prior, n_rounds, informed=True, last=True)
        version = self.files.latest
        means, evidence = (
            np.concatenate([self.files.read(name, group.number, version) for group in self._groups])
            for name in ("means", "evidence")
        )
        for done in (version, self.accepted):  # nobody needs them again
            if done is not None:
                self.files.forget(done)
        return Known(means, evidence, sums.information)


def weigh_group(task: Task, group: Group) -> ScoreSums:
    """Weigh the users of a group, and leave their weights in the files of the fit."""
    users = task.store.block(*group.users, labelled=False)
    if task.worth is not None:
        users = weigh_observations(users, task.worth)
    if task.accepted is None:
        start = np.tile(task.start, (users.n_users, 1))
    else:
        start = task.files.read("weights", group.number, task.accepted)
    found = task.component.weigh(users, start, task.prior, task.n_rounds, informed=task.informed, edges=group.blocks)
    kept = {"means": found.means, "evidence": found.evidence} if task.last else {"weights": found.weights}
    for name, array in kept.items():
        task.files.write(name, group.number, task.version, array)
    return found.sums


def weight_of(where: tuple[Store, float | None], group: Group) -> Floats:
    """How many comparisons those of a group count as."""
    store, worth = where
    users = store.block(*group.users, labelled=False)
    weighed = users if worth is None else weigh_observations(users, worth)
    return sum_blocks(weighed.weights_of_users(), group.blocks)


def weights_of(where: tuple[WeightFiles, int], group: Group) -> Floats:
    """Sum the weights of a group's users, (K,)."""
    files, version = where
    return sum_blocks(files.read("weights", group.number, version), group.blocks)
