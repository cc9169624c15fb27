"""How the vectors of items depend on features of the items, as a part of a Gibbs sweep.

Ours, after Macau (Simm et al. 2015). Vectors are Gaussian around a linear regression on features,

    v_i ~ N(mu + Gamma^T x_i, Lambda^-1),

whose coefficients are matrix normal: those of group g of the columns have precision tau_g Lambda. Given the vectors,
Lambda, mu and Gamma are drawn together; then the scale of every group, ``1 / sqrt(tau_g)``, which is half-Cauchy, so
that columns that say nothing change nothing.
"""

from dataclasses import dataclass, field
from typing import NamedTuple, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from plurank.regression.ridge import FeatureMatrix
from plurank.thurstone import hyperparameters as hyper
from plurank.types import Floats, Integers

FIRST_PRECISION = 1.0  # of coefficients, in units of what items have of their own; also the scale of their scales
LARGEST_PRECISION = 1e8


@dataclass
class ItemRegression:
    """Features of the items of a chain, and where the precisions (G,) of their coefficients are, and of the auxiliary
    variables that make scales half-Cauchy."""

    features: FeatureMatrix
    precisions: Floats = field(init=False)
    auxiliaries: Floats = field(init=False)

    def __post_init__(self) -> None:
        n = int(self.features.groups.max(initial=-1)) + 1
        self.precisions, self.auxiliaries = np.full(n, FIRST_PRECISION), np.ones(n)
        self.design = np.hstack([np.ones((len(self.features.matrix), 1)), self.features.matrix])
        self.products = self.design.T @ self.design

    @property
    def n_columns(self) -> int:
        """Number of columns of features."""
        return len(self.features.groups)

    def begin_at(self, other: "ItemRegression") -> None:
        """Begin with the scales of another chain."""
        self.precisions, self.auxiliaries = other.precisions.copy(), other.auxiliaries.copy()

    def means(self, mean: Floats, slopes: Floats) -> Floats:
        """Return what items (Q, D) are expected to be."""
        return np.asarray(mean + self.features.matrix @ slopes)

    def draw(self, table: Floats, scales: Floats, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
        """Draw mean (D,), precision (D, D) and slopes (P, D) of vectors (Q, D), and then the scales of slopes; scales:
        the inverse scale of the precision's prior, (D,)."""
        n, size = table.shape
        prior = np.append(hyper.ITEM_COUNT, self.precisions[self.features.groups])
        root = cho_factor(self.products + np.diag(prior), lower=True)
        sums = self.design.T @ table
        fitted = cho_solve(root, sums)
        inverse_scale = np.diag(scales) + table.T @ table - sums.T @ fitted
        precision = hyper.draw_wishart(size + hyper.ITEM_FREEDOM + n, inverse_scale, rng)
        noise = solve_triangular(root[0].T, rng.standard_normal(fitted.shape), lower=False)
        own = solve_triangular(np.linalg.cholesky(precision), noise.T, lower=True, trans="T").T
        drawn = fitted + own
        self._draw_scales(drawn[1:], precision, rng)
        return drawn[0], precision, drawn[1:]

    def _draw_scales(self, slopes: Floats, precision: Floats, rng: np.random.Generator) -> None:
        n_groups = len(self.precisions)
        squares = np.einsum("pd,de,pe->p", slopes, precision, slopes)
        squares = np.bincount(self.features.groups, squares, n_groups)
        sizes = np.bincount(self.features.groups, minlength=n_groups) * slopes.shape[1]
        drawn = rng.gamma(0.5 * (1 + sizes)) / (self.auxiliaries + 0.5 * squares)
        self.precisions = np.minimum(drawn, LARGEST_PRECISION)
        self.auxiliaries = rng.exponential(1.0 / (1.0 / FIRST_PRECISION + self.precisions))


class ItemPrior(NamedTuple):
    """What a draw expects of items with features: coefficients of scores (1 + P, K) and factors (1 + P, F), intercepts
    first; and roots of the covariance of what items have of their own, (K, R) and (F, R)."""

    scores: Floats
    factors: Floats
    score_root: Floats
    factor_root: Floats

    @classmethod
    def of(cls, mean: Floats, slopes: Floats, precision: Floats, n_rankings: int) -> Self:
        """Take over where a chain is: mean (D,), slopes (P, D) and precision (D, D); popularity becomes part of all
        scores."""
        first = 1 + n_rankings
        table, root = np.vstack([mean, slopes]), np.linalg.inv(np.linalg.cholesky(precision)).T
        return cls(table[:, :1] + table[:, 1:first], table[:, first:], root[:1] + root[1:first], root[first:])

    def reorder(self, order: Integers) -> Self:
        """Put the rankings into this order."""
        return self._replace(scores=self.scores[:, order], score_root=self.score_root[order])

    def shift(self, origin: float) -> Self:
        """Move the origin of scores."""
        scores = self.scores.copy()
        scores[0] -= origin
        return self._replace(scores=scores)

    def rescale(self, factor: float) -> Self:
        """Measure utilities in other units."""
        return type(self)(*(factor * part for part in self))

    def turn(self, turn: Floats) -> Self:
        """Turn the directions of the first factors by a matrix (F', F'), and leave out those that follow."""
        n = len(turn)
        return self._replace(factors=self.factors[:, :n] @ turn, factor_root=turn.T @ self.factor_root[:n])

    def pad(self, n_factors: int) -> Self:
        """Add factors that are 0."""
        more = n_factors - self.factors.shape[1]
        width = 1 + len(self.score_root) + n_factors - self.score_root.shape[1]
        return self._replace(
            factors=np.pad(self.factors, ((0, 0), (0, more))),
            score_root=np.pad(self.score_root, ((0, 0), (0, width))),
            factor_root=np.pad(self.factor_root, ((0, more), (0, width))),
        )

    def draw(self, features: Floats, normals: Floats) -> tuple[Floats, Floats]:
        """Draw scores (m, K) and factors (m, F) of items with features (m, P), given standard normals (m, R)."""
        design = np.hstack([np.ones((len(features), 1)), features])
        scores = design @ self.scores + normals @ self.score_root.T
        return scores, design @ self.factors + normals @ self.factor_root.T
