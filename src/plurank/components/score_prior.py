"""What is assumed of scores before the data speak."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ScorePrior:
    """A Gaussian prior of the scores: ``s_ik = shared_i + own_ik``, with standard deviations ``shared`` and ``own``.

    What rankings have in common costs little, so few data make rankings alike instead of making them up. ``known``
    (mean, precision), each (Q, K), adds what earlier comparisons said.
    """

    own: float
    shared: float
    known: tuple[Floats, Floats] | None = None

    def evaluate(self, scores: Floats) -> tuple[float, Floats, Floats]:
        """Log density up to a constant, its slope (Q, K) and its curvature (Q, K)."""
        precision, common = self._precision(scores.shape[1])
        # what is known already holds this prior's pull towards 0, so that it counts from there
        apart = scores if self.known is None else scores - self.known[0]
        slope = common * apart.sum(axis=1, keepdims=True) - precision * apart
        value = 0.5 * float((apart * slope).sum())
        curvature = np.full(scores.shape, precision - common)
        if self.known is not None:
            weight = self.known[1]
            value -= 0.5 * float((weight * apart * apart).sum())
            slope -= weight * apart
            curvature += weight
        return value, slope, curvature

    def _precision(self, n_rankings: int) -> tuple[float, float]:
        """Give a and c: with the common part integrated out the precision of an item's scores is ``a - c 1 1^T``."""
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

    def errors(self, information: Floats) -> tuple[Floats, Floats]:
        """Standard errors of scores (Q, K), and their correlations (K, K) averaged over items, given the information
        about them (Q, K, K)."""
        covariance = np.linalg.inv(self.add_precision(information))
        errors = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
        return errors, (covariance / (errors[:, :, None] * errors[:, None, :])).mean(axis=0)
