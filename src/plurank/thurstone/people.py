"""How the weights of users depend on covariates, as a part of a Gibbs sweep.

Ours. Given all weights, concentration and coefficients are moved together by a Hamiltonian trajectory in the metric of
the curvature at their mode; then the scale of the slopes is drawn, so that covariates that say nothing change nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from plurank.regression.coefficients import Coefficients, softmax
from plurank.regression.density import DrawnWeights, RegressionDensity
from plurank.regression.sampling import find_mode, move
from plurank.types import Floats

FIRST_SCALE = 0.5  # of slopes
SCALE_SHAPE, SCALE_RATE = 1.0, 0.05  # of the Gamma prior of their precision
LAST_METRIC = 64  # sweep after which the metric stays, so that the chain is one
SMALLEST_WEIGHT = 1e-300


def counts_of(counts: Floats, slopes: Floats, design: Floats) -> Floats:
    """Return Dirichlet counts (m, K) of users with covariates (m, P), given those (K,) of users with covariates 0."""
    return np.asarray(counts.sum() * softmax(np.log(counts) + design @ slopes))


@dataclass
class PeopleRegression:
    """Covariates (M, P) of the users of a chain, and where the regression of their weights is."""

    design: Floats
    scale: float = FIRST_SCALE
    n_draws: int = 0
    root: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def n_covariates(self) -> int:
        """Number of covariates."""
        return self.design.shape[1]

    def log_density(self, counts: Floats, slopes: Floats, weights: Sequence[Floats]) -> float:
        """Log density, up to a constant, of logarithms of ratios of weights, of counts and of slopes."""
        density = self._density(weights)
        return density.evaluate(density.to_vector(_coefficients(counts, slopes))).value

    def draw(
        self, counts: Floats, slopes: Floats, weights: Sequence[Floats], rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Draw counts (K,) and slopes (P, K), given the weights of all users in blocks, (m, K) each."""
        density, before = self._density(weights), _coefficients(counts, slopes)
        vector = density.to_vector(before)
        self.n_draws += 1
        if self.n_draws & (self.n_draws - 1) == 0 and self.n_draws <= LAST_METRIC:
            mode = find_mode(density, before)
            self.root = mode.root
            vector = mode.vector if self.n_draws == 1 else vector  # a chain begins far from where it will be
        after = density.from_vector(move(density, vector, self.root, rng)[0])
        own = after.slopes @ density.contrasts.T
        rate = SCALE_RATE + 0.5 * float((own**2).sum())
        self.scale = float(rng.gamma(SCALE_SHAPE + 0.5 * own.size, 1.0 / rate)) ** -0.5
        return after.counts, after.slopes

    def _density(self, weights: Sequence[Floats]) -> RegressionDensity:
        begin, parts = 0, []
        for block in weights:
            rows = self.design[begin : begin + len(block)]
            parts += DrawnWeights.known(rows, np.log(np.maximum(block, SMALLEST_WEIGHT))).blocks()
            begin += len(block)
        return RegressionDensity(parts, self.scale)


def table_of(counts: Floats, slopes: Floats) -> Floats:
    """Return intercepts and slopes of the logits of expected weights, (1 + P, K)."""
    logs = np.log(counts)
    return np.vstack([logs - logs.mean(), slopes.reshape(-1, len(counts))])


def _coefficients(counts: Floats, slopes: Floats) -> Coefficients:
    return Coefficients(float(counts.sum()), table_of(counts, slopes))
