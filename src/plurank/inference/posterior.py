"""Draws from the posterior of user weights and scores, and intervals from them.

Ours. Scores are about Gaussian around their most probable values, with the information about them as precision.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from plurank.elementary import log_gamma
from plurank.random import as_generator
from plurank.types import Floats
from plurank.validation import is_number

# Draws of one person's weights, each with its share of the posterior.
#
# Ours. Weights come from a Dirichlet near the posterior, from a flatter one and from the prior, and count by how much
# denser the posterior is there (importance sampling); so intervals and questions need no assumption about its shape.

FLATTER = 0.5  # concentration of the proposals for tails, as a share of the posterior's


@dataclass(frozen=True)
class Draws:
    """Weights (n, K) of one person, and the share of the posterior that each stands for, (n,), which sum to 1."""

    weights: Floats
    shares: Floats

    @property
    def mean(self) -> Floats:
        """The posterior mean of the weights, (K,)."""
        mean: Floats = self.shares @ self.weights
        return mean / mean.sum()

    def bounds(self, level: float) -> tuple[Floats, Floats]:
        """Lower and upper bounds of each weight, (K,): the shortest interval that holds ``level`` of the posterior."""
        found = np.array([_shortest(column, self.shares, level) for column in self.weights.T])
        return np.minimum(found[:, 0], self.mean), np.maximum(found[:, 1], self.mean)

    def resample(self, n: int) -> Floats:
        """Return n weights that stand for the same share each, (n, K), evenly spaced in the order of the draws."""
        edges = np.cumsum(self.shares)
        rows = np.searchsorted(edges, (np.arange(n) + 0.5) / n * edges[-1])
        return self.weights[rows]


def weigh_draws(logs: Floats, log_shares: Floats) -> Draws:
    """Make draws of logarithms of weights (n, K) and of how much each counts, (n,), in logs."""
    shares = np.exp(log_shares - log_shares.max())
    return Draws(np.exp(logs), shares / shares.sum())


def propose_weights(
    prior: Floats, posterior: Floats, n: int, seed: int, others: Sequence[Floats] = ()
) -> tuple[Floats, Floats]:
    """Draw logarithms of weights (n, K), and say how much denser the prior is there than the proposals, (n,), in logs.

    A quarter comes from the prior itself and a quarter from a flatter posterior, so that no draw can count too much.
    With ``others``, counts (K,) of further proposals, each of these and of the four has the same share.
    """
    proposals = np.stack([prior, FLATTER * posterior, posterior, posterior, *others])
    chosen = np.arange(n) % len(proposals)
    logs = _draw_log_dirichlet(proposals[chosen], seed)
    shares = np.bincount(chosen, minlength=len(proposals)) / n
    with np.errstate(divide="ignore"):
        mixed = np.logaddexp.reduce(np.log(shares) + _log_density(proposals, logs), axis=1)
    return logs, _log_density(prior[None], logs)[:, 0] - mixed


def _draw_log_dirichlet(counts: Floats, seed: int) -> Floats:
    """Draw a row for every row of counts, (n, K); ``G(a) = G(a + 1) U^(1/a)`` keeps tiny weights apart from 0."""
    rng = as_generator(seed)
    logs = np.log(rng.standard_gamma(counts + 1.0)) - rng.standard_exponential(counts.shape) / counts
    return logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)


def _log_density(counts: Floats, logs: Floats) -> Floats:
    """Log density of Dirichlets (m, K) at weights with logarithms (n, K), (n, m), up to a term that all share."""
    constants = log_gamma(counts.sum(axis=1)) - log_gamma(counts).sum(axis=1)
    return logs @ counts.T + constants


def _shortest(values: Floats, shares: Floats, level: float) -> tuple[float, float]:
    """Return the ends of the shortest interval that holds at least ``level`` of the shares of values, (n,) each."""
    order = np.argsort(values)
    sorted_values, edges = values[order], np.concatenate([[0.0], np.cumsum(shares[order])])
    last = np.searchsorted(edges, edges[:-1] + level * edges[-1])  # the first edge that closes each interval
    begins = np.flatnonzero(last < len(edges))
    if not len(begins):
        return float(sorted_values[0]), float(sorted_values[-1])
    widths = sorted_values[last[begins] - 1] - sorted_values[begins]
    best = begins[np.argmin(widths)]
    return float(sorted_values[best]), float(sorted_values[last[best] - 1])


Bounds = tuple[NDArray[np.int64], NDArray[np.int64]]
LEVEL = 0.9  # of all intervals, unless another is asked for
N_DRAWS = 400
NEAR_AN_END = 2.0  # a Beta with such a shape has much of its mass at an end
SEED = 20_261_115  # of the draws that intervals are made of: the same model, the same intervals


def place_bounds(scores: Floats, errors: Floats, level: float) -> Bounds:
    """Best and worst place, counted from 1, of items with scores (Q,) and standard errors (Q,)."""
    return _bounds(scores, scores + errors * _noise(len(scores)), level)


def user_place_bounds(
    scores: Floats,
    errors: Floats,
    correlations: Floats,
    weights: Floats,
    followed: Floats,
    level: float,
    own: tuple[Floats, Floats] | None = None,
) -> Bounds:
    """Best and worst place of items for a user who ranks them by ``scores @ weights``.

    scores and errors (Q, K); correlations (K, K) of the errors between rankings; followed (N_DRAWS, K), what the
    weights may be; own: what the user adds to the scores, and its errors, (Q,) each.
    """
    shift, scale = own or (0.0, 0.0)
    values, vectors = np.linalg.eigh(correlations)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    variances = np.zeros((len(followed), len(scores)))
    for column in root.T:  # one at a time: all together would not fit into memory
        variances += (followed @ (errors * column).T) ** 2
    drawn = followed @ scores.T + np.sqrt(variances + np.square(scale)) * _noise(len(scores))
    return _bounds(scores @ weights + shift, drawn + shift, level)


def _noise(n: int) -> Floats:
    return np.random.default_rng(SEED).standard_normal((N_DRAWS, n))


def draw_user(weights: Floats, user_concentration: float) -> Floats:
    """Draw one user's weights (N_DRAWS, K); with infinite concentration they are certain."""
    if not np.isfinite(user_concentration):
        return np.tile(weights, (N_DRAWS, 1))
    return np.random.default_rng([SEED, 1]).dirichlet(np.maximum(user_concentration * weights, 1e-3), size=N_DRAWS)


def _bounds(scores: Floats, drawn: Floats, level: float) -> Bounds:
    """Quantiles of places over draws (n_draws, Q), widened to the places by the scores (Q,) themselves."""
    places = _sampled_places(drawn)
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(places, (tail, 1.0 - tail), axis=0, method="nearest").astype(np.int64)
    own = _sampled_places(scores[None])[0]
    return np.minimum(low, own), np.maximum(high, own)


def _sampled_places(scores: Floats) -> NDArray[np.int32]:
    order = np.argsort(-scores, axis=1, kind="stable")
    places = np.empty(order.shape, np.int32)
    np.put_along_axis(places, order, np.arange(1, scores.shape[1] + 1, dtype=np.int32)[None], axis=1)
    return places


class WeightPrior(NamedTuple):
    """The Dirichlet prior of user weights: mean weights (K,), concentration, and the standard error of the logarithm of
    the concentration, 0 where it is given.

    Ours. Where the concentration c was chosen, intervals of weights allow for its error. Rankings that are
    ``sqrt(c + 1)`` times as far apart predict alike, and weights are then that much nearer to their mean: a weight has
    another standard error of ``error c / (2 (c + 1)) |weight - mean|``. And the prior counts at most as one that is
    uniform on the simplex.
    """

    mean: Floats
    concentration: float
    error: float = 0.0

    @property
    def counts(self) -> Floats:
        """The counts of the Dirichlet, (K,)."""
        return dirichlet_counts(self.mean, self.concentration)

    @property
    def surplus(self) -> float:
        """How much of the concentration intervals do not count on."""
        return max(self.concentration - len(self.mean), 0.0) if self.error else 0.0

    @property
    def trusted(self) -> Floats:
        """The counts that intervals count on, (K,)."""
        return dirichlet_counts(self.mean, self.concentration - self.surplus)

    def widen(self, weights: Floats, lower: Floats, upper: Floats, level: float) -> tuple[Floats, Floats]:
        """Widen bounds of weights, (..., K) each, by the error of the concentration."""
        per_error = self.concentration / (2.0 * (self.concentration + 1.0)) * (weights - self.mean)
        more = scipy.special.ndtri(0.5 + level / 2.0) * self.error * per_error
        lower = np.maximum(weights - np.hypot(weights - lower, more), 0.0)
        return lower, np.minimum(weights + np.hypot(upper - weights, more), 1.0)


def check_error(value: Any) -> None:
    """Raise a ValueError where a model's file has no error of the concentration; older files have None."""
    if value is not None and not (is_number(value) and 0.0 <= value < np.inf):
        raise ValueError("concentration_error_ is negative or not a number")


def weight_bounds(
    weights: Floats, user_concentration: Floats, level: float, prior: WeightPrior | None = None
) -> tuple[Floats, Floats]:
    """Lower and upper bounds of user weights (M, K), from each weight's Beta distribution.

    A weight whose density is high near 0 has the lower bound 0, one whose density is high near 1 the upper bound 1.
    """
    counts = np.maximum(user_concentration[:, None] - (0.0 if prior is None else prior.surplus), 1e-9)
    first, second = np.maximum(counts * weights, 1e-9), np.maximum(counts * (1.0 - weights), 1e-9)
    low, high = first <= NEAR_AN_END, second <= NEAR_AN_END
    tail = 1.0 - level
    tails = np.where(high & ~low, tail, tail / 2.0), np.where(low & ~high, level, 1.0 - tail / 2.0)
    ends = [scipy.special.betaincinv(first, second, share) for share in tails]
    lower: Floats = np.minimum(np.where(low, 0.0, ends[0]), weights)
    upper: Floats = np.maximum(np.where(high, 1.0, ends[1]), weights)
    return (lower, upper) if prior is None else prior.widen(weights, lower, upper, level)


def dirichlet_counts(mean: Floats, concentration: float) -> Floats:
    """Return the counts of the Dirichlet prior of user weights, (K,): the one place that says how they follow."""
    return concentration * mean
