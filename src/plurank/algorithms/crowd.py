"""Everybody's comparisons and weights, wherever they lie: what a fit asks of them.

Ours. A fit looks at all comparisons only through sums over users, and user weights stay where the comparisons are; so
it is the same whether these are in memory (``InMemory``) or on disk (``stored_crowd``), and so is its answer.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from plurank.components.bradley_terry import BradleyTerry, ScorePass, ScoreSums, cut_for_scores
from plurank.data.blocks import Edges, cut_users, sum_blocks
from plurank.data.comparisons import Comparisons
from plurank.data.observations import look_rated, weigh_observations
from plurank.data.sampling import Source, sample_for_scores
from plurank.inference.priors import keep_from_zero

Floats = NDArray[np.float64]


class Known(NamedTuple):
    """What is known about everybody in the end: posterior means of weights (M, K), the evidence behind them (M,), and
    the information about every item's scores (Q, K, K)."""

    means: Floats
    evidence: Floats
    information: Floats


class Crowd(Protocol):
    """Users with comparisons and weights. ``weigh`` tries new weights, ``accept`` keeps those tried last."""

    @property
    def source(self) -> Source:
        """Where the comparisons are."""

    @property
    def total_weight(self) -> float:
        """How many comparisons they count as."""

    def look_rated(self) -> bool:
        """Tell whether comparisons are, or seem to be, made from ratings."""

    def count_as_observed(self, worth: float) -> "Crowd":
        """Let comparisons made from ratings count as what was observed, see ``weigh_observations``."""

    def sample(self, n_rankings: int, enough: int, rng: np.random.Generator, *, rated: bool = False) -> Comparisons:
        """Draw users, see ``sample_for_scores``; rated: their comparisons will count as what was observed."""

    def begin(self, weights: Floats) -> Self:
        """Give the same crowd where everybody starts from the same weights (K,)."""

    def weigh(self, component: BradleyTerry, prior: Floats, n_rounds: int, *, informed: bool = False) -> ScoreSums:
        """Try better weights for everybody; give what they say about the scores, ``informed`` with the information."""

    def accept(self) -> None:
        """Keep the weights tried last."""

    def mean_weights(self) -> Floats:
        """Give the mean of everybody's weights, kept away from zero, (K,)."""

    def finish(self, component: BradleyTerry, prior: Floats, n_rounds: int) -> Known:
        """Weigh everybody a last time."""


@dataclass
class InMemory:
    """A crowd in memory. weights (M, K) and the evidence behind them (M,) are those accepted last."""

    comparisons: Comparisons
    weights: Floats = field(default_factory=lambda: np.empty((0, 0)))
    evidence: Floats = field(default_factory=lambda: np.empty(0))
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
        """Tell whether comparisons are, or seem to be, made from ratings."""
        return look_rated(self.comparisons)

    def count_as_observed(self, worth: float) -> "InMemory":
        """Let comparisons made from ratings count as what was observed."""
        return InMemory(weigh_observations(self.comparisons, worth))

    def sample(self, n_rankings: int, enough: int, rng: np.random.Generator, *, rated: bool = False) -> Comparisons:
        """Draw users whose comparisons are enough to tell good scores from bad ones."""
        c, share = self.comparisons, None
        if rated:
            share = self._sum(weigh_observations(c).weights_of_users()) / self.total_weight
        return sample_for_scores(c, n_rankings, enough, rng, share)

    def begin(self, weights: Floats) -> "InMemory":
        """Give the same crowd where everybody starts from the same weights (K,)."""
        return replace(self, weights=np.tile(weights, (self.comparisons.n_users, 1)))

    def weigh(self, component: BradleyTerry, prior: Floats, n_rounds: int, *, informed: bool = False) -> ScoreSums:
        """Try better weights for everybody; give what they say about the scores."""
        given = self.comparisons, self.weights, prior, n_rounds
        self._tried = component.weigh(*given, informed=informed, edges=self._edges)
        return self._tried.sums

    @cached_property
    def _edges(self) -> Edges:
        return cut_for_scores(self.comparisons.offsets, self.comparisons.n_items, self.weights.shape[1])

    def accept(self) -> None:
        """Keep the weights tried last."""
        assert self._tried is not None
        self.weights, self.evidence = self._tried.weights, self._tried.evidence

    def mean_weights(self) -> Floats:
        """Give the mean of everybody's weights, kept away from zero, (K,)."""
        return keep_from_zero(sum_blocks(self.weights, self._edges) / self.comparisons.n_users)

    def finish(self, component: BradleyTerry, prior: Floats, n_rounds: int) -> Known:
        """Weigh everybody a last time."""
        seen = component.weigh(self.comparisons, self.weights, prior, n_rounds, informed=True)
        return Known(seen.means, seen.evidence, seen.sums.information)
