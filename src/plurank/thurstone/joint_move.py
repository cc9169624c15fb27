"""A move along the ridge on which predictions hardly change: more various users, and rankings that are nearer together.

Ours. The observations tell how much utilities vary between users, but hardly whether the rankings are far apart and all
users near their mean, or the reverse, so that weights, items and the prior of weights, drawn one after the other, move
by tiny steps. Here all weights are raised to a power at once, ``theta^power`` on the simplex; the counts of their
Dirichlet prior follow, so that the logarithms of weights vary as much as the prior says; and items are integrated out,
given the utilities (Metropolis).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import polygamma

from plurank.thurstone.hyperparameters import SMALLEST_WEIGHT, log_density_of_counts
from plurank.types import Floats

FIRST_STEP = 0.1  # standard deviation of the logarithm of a power
WANTED = 0.6  # share of moves that are taken: enough to go on in one direction
NEWTON_STEPS = 30


def raise_weights(weights: Floats, power: float) -> Floats:
    """Return weights (m, K) raised to a power, on the simplex."""
    return np.exp(_raised_logs(weights, power))


def _raised_logs(weights: Floats, power: float) -> Floats:
    logs = power * np.log(np.maximum(weights, SMALLEST_WEIGHT))
    logs -= logs.max(axis=1, keepdims=True)
    return np.asarray(logs - np.log(np.exp(logs).sum(axis=1, keepdims=True)))


def raised_log_sums(weights: Floats, power: float) -> Floats:
    """Sum the logarithms of weights (m, K) raised to a power over users, (K,)."""
    return np.asarray(_raised_logs(weights, power).sum(axis=0))


def raise_counts(counts: Floats, power: float) -> tuple[Floats, float]:
    """Return counts (K,) of a Dirichlet whose logarithms of weights vary ``power^2`` as much, ``psi'(c') = power^2
    psi'(c)``, and the logarithm of the Jacobian in logarithms of counts."""
    wanted = power**2 * polygamma(1, counts)
    raised = 0.5 + 1.0 / wanted
    for _ in range(NEWTON_STEPS):  # on 1 / psi', which is convex: all steps go one way
        value = polygamma(1, raised)
        step = value * (1.0 - value / wanted) / polygamma(2, raised)
        raised = raised + step
        if np.abs(step / raised).max() < 1e-12:
            break
    slopes = power**2 * polygamma(2, counts) / polygamma(2, raised)
    return raised, float(np.log(slopes * counts / raised).sum())


class Weights(NamedTuple):
    """What the prior of weights sees of them: the number of users, the sums of logarithms (K,), and the counts (K,)."""

    n: int
    log_weights: Floats
    counts: Floats

    def log_density(self) -> float:
        """Log density of the logarithms of ratios of weights, and of the logarithms of counts."""
        logs = np.log(self.counts)
        return log_density_of_counts(logs, self.n, self.log_weights) + float(self.log_weights.sum())


def log_ratio(before: Weights, after: Weights, power: float, log_jacobian: float) -> float:
    """Return by how much the log density of weights and counts grows, with the Jacobian of the move."""
    of_weights = before.n * (len(before.counts) - 1) * np.log(power)
    return after.log_density() - before.log_density() + float(of_weights) + log_jacobian


class Step:
    """The size of moves, which adapts so that a good share of them is taken; and their direction, which stays until one
    is not (the guided walk of Gustafson 1998): chains walk along the ridge instead of to and fro."""

    def __init__(self) -> None:
        self.log_size, self.n, self.sign = float(np.log(FIRST_STEP)), 0, 1.0

    def draw(self, rng: np.random.Generator) -> float:
        """Draw a power."""
        return float(np.exp(self.sign * np.exp(self.log_size) * abs(rng.standard_normal())))

    def adapt(self, chance: float, taken: bool) -> None:
        """Learn from a move that was taken with this probability, and turn round if it was not."""
        self.n += 1
        self.log_size += (chance - WANTED) / self.n**0.6
        if not taken:
            self.sign = -self.sign
