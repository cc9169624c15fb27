"""Coefficients of a membership regression: the Dirichlet prior of weights that users with covariates have.

Ours: ``theta_u ~ Dirichlet(alpha softmax(c + B' x_u))``, Dirichlet-multinomial regression (Mimno and McCallum 2008)
with the concentration apart from the mean.
"""

from typing import NamedTuple

import numpy as np

from plurank.types import Floats, Integers


class Coefficients(NamedTuple):
    """Concentration alpha, and a table (1 + P, K): intercepts c, then the slopes B of P covariates; rows sum to 0."""

    concentration: float
    table: Floats

    @classmethod
    def constant(cls, counts: Floats, n_covariates: int) -> "Coefficients":
        """Return coefficients by which nothing depends on covariates, given the counts (K,) that all users have."""
        logs = np.log(counts)
        table = np.zeros((1 + n_covariates, len(counts)))
        table[0] = logs - logs.mean()
        return cls(float(counts.sum()), table)

    @property
    def slopes(self) -> Floats:
        """The slopes, (P, K)."""
        return self.table[1:]

    @property
    def counts(self) -> Floats:
        """The counts (K,) of users whose covariates are all 0, the mean."""
        return self.concentration * softmax(self.table[0])

    def mean_weights(self, design: Floats) -> Floats:
        """Return expected weights (m, K) of users with covariates (m, P)."""
        return softmax(self.table[0] + design @ self.table[1:])

    def counts_of(self, design: Floats) -> Floats:
        """Return Dirichlet counts (m, K) of users with covariates (m, P)."""
        return self.concentration * self.mean_weights(design)

    def reorder(self, order: Integers) -> "Coefficients":
        """Put the rankings into this order."""
        return self._replace(table=self.table[:, order])


def softmax(logits: Floats) -> Floats:
    """Return weights (..., K) in proportion to the exponentials of logits, at least 1e-12 each."""
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    weights = np.maximum(weights / weights.sum(axis=-1, keepdims=True), 1e-12)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def contrasts(n_rankings: int) -> Floats:
    """Return orthonormal contrasts between rankings (Helmert), (K - 1, K): no ranking is a reference."""
    found = np.zeros((n_rankings - 1, n_rankings))
    for row in range(n_rankings - 1):
        found[row, : row + 1] = 1.0
        found[row, row + 1] = -(row + 1.0)
        found[row] /= np.sqrt((row + 1.0) * (row + 2.0))
    return found


def draw_log_dirichlets(counts: Floats, rng: np.random.Generator) -> Floats:
    """Draw logarithms of weights for counts (..., K); ``G(a) = G(a + 1) U^(1/a)`` keeps tiny weights apart from 0."""
    logs = np.log(rng.standard_gamma(counts + 1.0)) - rng.standard_exponential(counts.shape) / counts
    return np.asarray(logs - np.logaddexp.reduce(logs, axis=-1, keepdims=True))
