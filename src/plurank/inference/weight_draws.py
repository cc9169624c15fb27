"""Draws of one person's weights, each with its share of the posterior.

Ours. Weights come from a Dirichlet near the posterior, from a flatter one and from the prior, and count by how much
denser the posterior is there (importance sampling); so intervals and questions need no assumption about its shape.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plurank.elementary import log_gamma
from plurank.rng import as_generator

Floats = NDArray[np.float64]
FLATTER = 0.5  # evidence of the proposals for tails, as a share of the posterior's


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
        found = [_shortest(column, self.shares, level) for column in self.weights.T]
        lower, upper = np.array(found).T
        return np.minimum(lower, self.mean), np.maximum(upper, self.mean)

    def resample(self, n: int) -> Floats:
        """Give n weights that stand for the same share each, (n, K), evenly spaced in the order of the draws."""
        edges = np.cumsum(self.shares)
        rows = np.searchsorted(edges, (np.arange(n) + 0.5) / n * edges[-1])
        return self.weights[rows]


def weigh_draws(logs: Floats, log_shares: Floats) -> Draws:
    """Make draws of logarithms of weights (n, K) and of how much each counts, (n,), in logs."""
    shares = np.exp(log_shares - log_shares.max())
    return Draws(np.exp(logs), shares / shares.sum())


def draw_weights(prior: Floats, posterior: Floats, n: int, seed: int) -> tuple[Floats, Floats]:
    """Draw logarithms of weights (n, K), and say how much denser the prior is there than the proposals, (n,), in logs.

    A quarter comes from the prior itself and a quarter from a flatter posterior, so that no draw can count too much.
    """
    proposals = np.stack([prior, FLATTER * posterior, posterior, posterior])
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
    """Give the ends of the shortest interval that holds at least ``level`` of the shares of values, (n,) each."""
    order = np.argsort(values)
    sorted_values, edges = values[order], np.concatenate([[0.0], np.cumsum(shares[order])])
    last = np.searchsorted(edges, edges[:-1] + level * edges[-1])  # the first edge that closes each interval
    begins = np.flatnonzero(last < len(edges))
    if not len(begins):
        return float(sorted_values[0]), float(sorted_values[-1])
    widths = sorted_values[last[begins] - 1] - sorted_values[begins]
    best = begins[np.argmin(widths)]
    return float(sorted_values[best]), float(sorted_values[last[best] - 1])
