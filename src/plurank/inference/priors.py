"""What is assumed before the data speak: how people spread over the rankings, and how much rankings differ."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from plurank.components.score_prior import ScorePrior

Floats = NDArray[np.float64]
LEAST_MEAN = 1e-3  # times 1 / K, so that a ranking nobody follows can still be followed


@dataclass(frozen=True)
class Priors:
    """Mean weights (K,) and concentration of the Dirichlet of user weights; spread of a ranking's own scores; and how
    many comparisons each item is worth that a user rated."""

    mean: Floats
    concentration: float
    spread: float
    worth: float = 1.0

    @classmethod
    def vague(cls, n_rankings: int, concentration: float = 3.0, spread: float = 1.0) -> "Priors":
        """Nobody special, nothing certain."""
        return cls(np.full(n_rankings, 1.0 / n_rankings), concentration, spread)

    def with_rankings(self, n_rankings: int) -> "Priors":
        """Return the same for another number of rankings, all followed alike."""
        return replace(self, mean=np.full(n_rankings, 1.0 / n_rankings))

    @property
    def counts(self) -> Floats:
        """The Dirichlet's counts, (1, K)."""
        return count_weights(self.mean, self.concentration)[None]

    @property
    def scores(self) -> ScorePrior:
        """The prior of the scores: what rankings share is free to spread by at least one unit of log odds."""
        return ScorePrior(self.spread, max(self.spread, 1.0))


def count_weights(mean: Floats, concentration: float) -> Floats:
    """Give the counts of the Dirichlet of user weights, (K,): the one place that says how it depends on these."""
    return concentration * mean


def mean_of(weights: Floats) -> Floats:
    """Give the mean of user weights (M, K), kept away from zero, (K,)."""
    return keep_from_zero(weights.mean(axis=0))


def keep_from_zero(mean: Floats) -> Floats:
    """Let everything in mean weights (K,) be at least possible."""
    mean = np.maximum(mean, LEAST_MEAN / len(mean))
    return mean / mean.sum()
