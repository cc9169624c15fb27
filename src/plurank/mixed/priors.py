"""Priors: the Dirichlet of user weights, and the Gaussian of the scores.

Ours.
"""

from dataclasses import dataclass, replace

import numpy as np

from plurank.choices import Mixing
from plurank.inference.posterior import dirichlet_counts
from plurank.types import Floats

# What is assumed of scores before the data speak.


@dataclass(frozen=True)
class ScorePrior:
    """A Gaussian prior of the scores: ``s_ik = shared_i + own_ik``, with standard deviations ``shared`` and ``own``.

    What rankings have in common costs little, so few data make rankings alike instead of making them up. ``known``
    (mean, precision), each (Q, K), adds what earlier comparisons said; ``mean`` (Q, K) is what features of the items
    say, where nothing is known yet.
    """

    own: float
    shared: float
    known: tuple[Floats, Floats] | None = None
    mean: Floats | None = None

    def evaluate(self, scores: Floats) -> tuple[float, Floats, Floats]:
        """Log density up to a constant, its gradient (Q, K) and the diagonal of its negative Hessian (Q, K)."""
        precision, common = self._precision(scores.shape[1])
        # what is known already holds this prior's pull towards 0, so that it counts from there
        centre = self.mean if self.known is None else self.known[0]
        apart = scores if centre is None else scores - centre
        gradient = common * apart.sum(axis=1, keepdims=True) - precision * apart
        value = 0.5 * float((apart * gradient).sum())
        hessian = np.full(scores.shape, precision - common)
        if self.known is not None:
            weight = self.known[1]
            value -= 0.5 * float((weight * apart * apart).sum())
            gradient -= weight * apart
            hessian += weight
        return value, gradient, hessian

    def _precision(self, n_rankings: int) -> tuple[float, float]:
        """Return a and c: with the common part integrated out the precision of an item's scores is ``a - c 1 1^T``."""
        precision = self.own**-2
        return precision, self.shared**2 * precision / (self.own**2 + n_rankings * self.shared**2)

    def add_precision(self, information: Floats) -> Floats:
        """Return the precision of every item's scores (Q, K, K), given the information about them (Q, K, K)."""
        identity = np.eye(information.shape[1])
        precision, common = self._precision(information.shape[1])
        total: Floats = information + precision * identity - common
        return total if self.known is None else total + self.known[1][:, :, None] * identity

    def precision_beyond(self, errors: Floats) -> Floats:
        """What data have said about scores with standard errors (Q, K), without what this prior says: precisions."""
        return np.maximum(1.0 / errors**2 - 1.0 / (self.own**2 + self.shared**2), 0.0)

    def covariances(self, information: Floats) -> Floats:
        """Covariances of every item's scores (Q, K, K), given the information about them (Q, K, K)."""
        found = np.linalg.inv(self.add_precision(information))
        return np.asarray((found + found.transpose(0, 2, 1)) / 2.0)

    def errors(self, information: Floats) -> tuple[Floats, Floats]:
        """Standard errors of scores (Q, K), and their correlations (K, K) averaged over items, given the information
        about them (Q, K, K)."""
        covariance = self.covariances(information)
        errors = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
        return errors, (covariance / (errors[:, :, None] * errors[:, None, :])).mean(axis=0)


LEAST_MEAN = 1e-3  # times 1 / K, so that a ranking nobody follows can still be followed


@dataclass(frozen=True)
class Priors:
    """Mean weights (K,) and concentration of the Dirichlet of user weights; spread of a ranking's own scores; how many
    comparisons each item is worth that a user rated; and the standard error of the logarithm of the concentration, 0
    where it is given."""

    mean: Floats
    concentration: float
    score_scale: float
    rating_weight: float = 1.0
    concentration_error: float = 0.0

    @classmethod
    def vague(cls, n_rankings: int, concentration: float = 3.0, score_scale: float = 1.0) -> "Priors":
        """Return uniform mean weights, with default scales."""
        return cls(np.full(n_rankings, 1.0 / n_rankings), concentration, score_scale)

    @classmethod
    def first(cls, n_rankings: int, mixing: Mixing, **known: float) -> "Priors":
        """Return where the search for priors begins, but for those that are known.

        Mixtures of scores are narrower than the scores, the more so the more rankings there are: with utility mixing
        scores are wider, and weights are uniform on the simplex.
        """
        if mixing == "probability":
            return cls.vague(n_rankings, **known)
        n = max(n_rankings, 2)
        return cls.vague(n_rankings, **{"concentration": float(n), "score_scale": 0.6 * (n + 1.0) ** 0.5, **known})

    def with_rankings(self, n_rankings: int) -> "Priors":
        """Return the same for another number of rankings, all followed alike."""
        return replace(self, mean=np.full(n_rankings, 1.0 / n_rankings))

    @property
    def counts(self) -> Floats:
        """The Dirichlet's counts, (1, K)."""
        return dirichlet_counts(self.mean, self.concentration)[None]

    @property
    def scores(self) -> ScorePrior:
        """The prior of the scores: what rankings share is free to spread by at least one unit of log odds."""
        return ScorePrior(self.score_scale, max(self.score_scale, 1.0))

    @property
    def wide_scores(self) -> ScorePrior:
        """The prior that errors count on where the scale was chosen: few data ask for narrow scores, but do not prove
        them."""
        return replace(self, score_scale=max(self.score_scale, 1.0)).scores


def mean_of(weights: Floats) -> Floats:
    """Return the mean of user weights (M, K), kept away from zero, (K,)."""
    return keep_from_zero(weights.mean(axis=0))


def keep_from_zero(mean: Floats) -> Floats:
    """Let everything in mean weights (K,) be at least possible."""
    mean = np.maximum(mean, LEAST_MEAN / len(mean))
    return mean / mean.sum()
