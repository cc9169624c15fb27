"""Draws from the joint posterior of scores and of how weights depend on covariates, given comparisons.

Ours. Hamiltonian trajectories move scores, concentration and coefficients together, with the weights of users
integrated out by a few draws each. After each, all draws of a user but one are drawn anew, so that the chain has the
posterior as its distribution however few draws there are (particle marginal sampling by conditional importance
sampling). Of many comparisons the posterior is close to a Gaussian, which takes much less time.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from plurank.mixed.joint_density import ComparedUsers, JointDensity, Proposals, WeightDraws
from plurank.mixed.priors import ScorePrior
from plurank.regression.coefficients import Coefficients
from plurank.regression.sampling import move, root_of
from plurank.thurstone.chains import match_rankings
from plurank.types import Floats

FIRST_LEAP, WANTED = 0.5, 0.8  # of a trajectory, in standard deviations; share of trajectories that are accepted
SETTLED = 1.0  # root mean square of standard deviations that the mode moves in the last steps
CAUTIOUS = 0.4  # steps, as parts of those of Newton's method, which are too long where the precision changes
USUAL_SCALE, SCALE_ERROR = 0.5, 0.5  # of slopes: median, and standard deviation of the logarithm
SCALES = np.exp(np.linspace(math.log(0.02), math.log(5.0), 200))


@dataclass(frozen=True)
class Effort:
    """How long a chain is, and how well a Gaussian is known."""

    most_scores: int = 800  # that are drawn one by one; of more, rankings move as wholes
    n_draws: int = 300  # tables that are drawn: one in each sweep of a chain
    burn_in: int = 100  # sweeps before these
    n_weights: int = 16  # draws of every user's weights
    n_leaps: int = 6  # of a trajectory
    metrics: tuple[int, ...] = (0, 5, 15, 40, 80)  # sweeps before which the precision is found anew
    proposals: tuple[int, ...] = (0, 15, 50)  # sweeps before which weights are proposed by where the chain is
    most_sampled: int = 50_000  # comparisons for a chain; of more, draws are from a Gaussian
    most_in_part: int = 20_000  # comparisons by which Newton's method begins
    n_first: int = 10  # cautious steps with these
    steps: tuple[float, ...] = (0.7, 0.7, 0.5, 0.5, 0.4)  # with all, as parts of those of Newton's method
    n_averaged: int = 3  # points after the last steps
    few_users: int = 1500  # who tell the precision of the Gaussian
    most_numbers: int = 6_000_000  # that are drawn at once: of very many users some are left out
    more_weights: int = 64  # draws of users' weights for it, and for a step


USUAL = Effort()


def draw_tables(
    users: ComparedUsers,
    scores: Floats,
    coefficients: Coefficients,
    score_prior: ScorePrior | None,
    rng: np.random.Generator,
    effort: Effort = USUAL,
) -> Floats:
    """Draw tables of coefficients (D, 1 + P, K) from the posterior, by a chain or from a Gaussian.

    It begins with some scores (Q, K) and coefficients; rankings are in the order of these scores.
    """
    reference = scores - scores.mean(axis=0)
    sample = _run_chain if len(users.comparisons) <= effort.most_sampled else _draw_gaussian
    return np.array(
        [
            drawn.table[:, match_rankings(other - other.mean(axis=0), reference)]
            for other, drawn in sample(users, reference, coefficients, score_prior, rng, effort)
        ]
    )


def _run_chain(
    users: ComparedUsers,
    scores: Floats,
    coefficients: Coefficients,
    score_prior: ScorePrior | None,
    rng: np.random.Generator,
    effort: Effort,
) -> Iterator[tuple[Floats, Coefficients]]:
    """Run a chain that begins with some scores and coefficients; return those of each sweep after the burn-in."""
    table = scores if scores.size > effort.most_scores else None
    scale, log_size, vector = _draw_scale(coefficients.slopes, rng), math.log(FIRST_LEAP), np.zeros(0)
    for sweep in range(effort.burn_in + effort.n_draws):
        if sweep in effort.proposals:
            proposals = Proposals.near(users, scores, coefficients)
            draws = proposals.draw(effort.n_weights, rng)
        density = JointDensity(users, draws, scale, score_prior, table)
        if sweep == 0:
            vector = density.to_vector(scores, coefficients)
        if sweep in effort.metrics:
            root = root_of(density.precision(vector))
        size = math.exp(log_size)
        vector, accepted = move(density, vector, root, rng, effort.n_leaps, (0.7 * size, 1.3 * size))
        scores, coefficients = density.from_vector(vector)
        if sweep < effort.burn_in:
            log_size += (accepted - WANTED) / (sweep + 1.0) ** 0.6
        else:
            yield scores, coefficients
        draws = draws.keep_one(density.evaluate(vector).shares, proposals.draw(effort.n_weights, rng), rng)
        scale = _draw_scale(coefficients.slopes, rng)


def _draw_gaussian(
    users: ComparedUsers,
    scores: Floats,
    coefficients: Coefficients,
    score_prior: ScorePrior | None,
    rng: np.random.Generator,
    effort: Effort,
) -> Iterator[tuple[Floats, Coefficients]]:
    """Draw from a Gaussian around the most probable scores and coefficients of all users.

    Steps of Newton's method begin with some of the users; those of all users follow. Each has new draws of the weights,
    by where it begins. The last points are averaged, and the noise that is left adds to the covariance.
    """
    table = scores if scores.size > effort.most_scores else None
    users = users.every_nth(max(effort.most_numbers // (effort.more_weights * scores.shape[1]), 1))
    part = users.with_most(effort.most_in_part)
    here, points = (scores, coefficients), []
    climb = _Climb(users.every_nth(effort.few_users), score_prior, table, effort.more_weights, rng)
    for _ in range(effort.n_first):
        here = climb.step(part, *here, CAUTIOUS).point
    for length in effort.steps:
        found = climb.step(users, *here, length)
        here = found.point
        points.append(found.vector)
    n_last, root = effort.n_averaged, found.root
    moved = np.linalg.norm(root.T @ (points[-1] - points[-n_last])) / math.sqrt(len(root))
    if not moved < SETTLED:  # with few answers each, draws say too little of where the mode is
        yield from _run_chain(users.with_most(effort.most_sampled), scores, coefficients, score_prior, rng, effort)
        return
    vector = np.mean(points[-n_last:], axis=0)
    white = solve_triangular(root, solve_triangular(root, found.noise / n_last, lower=True).T, lower=True)
    spread = np.linalg.cholesky(np.eye(len(vector)) + (white + white.T) / 2.0)
    for normals in rng.standard_normal((effort.n_draws, len(vector))):
        yield found.density.from_vector(vector + solve_triangular(root.T, spread @ normals, lower=False))


class _Step(NamedTuple):
    """Where a step of Newton's method led, by which density, the root of the precision (D, D), and the covariance of
    the noise of the gradient (D, D)."""

    vector: Floats
    density: JointDensity
    root: Floats
    noise: Floats

    @property
    def point(self) -> tuple[Floats, Coefficients]:
        """Scores (Q, K) and coefficients."""
        return self.density.from_vector(self.vector)


@dataclass(frozen=True)
class _Climb:
    """How steps of Newton's method are made: few users tell the precision, by so many draws of everybody's weights."""

    few: ComparedUsers
    score_prior: ScorePrior | None
    table: Floats | None
    n_weights: int
    rng: np.random.Generator

    def step(self, users: ComparedUsers, scores: Floats, coefficients: Coefficients, length: float) -> _Step:
        """Make a part of a step towards what is most probable given all that some users said."""
        scale = _middle_scale(coefficients.slopes)

        def density(some: ComparedUsers, draws: WeightDraws) -> JointDensity:
            return JointDensity(some, draws, scale, self.score_prior, self.table)

        near, few = (Proposals.near(each, scores, coefficients) for each in (users, self.few))
        one, other = (density(self.few, few.draw(self.n_weights, self.rng)) for _ in "12")
        whole = density(users, near.draw(self.n_weights, self.rng))
        vector = whole.to_vector(scores, coefficients)
        n_each = users.comparisons.n_users / self.few.comparisons.n_users
        precision, noise = one.split_precision(other, vector, n_each)
        root = root_of(precision)
        return _Step(vector + length * cho_solve((root, True), whole.evaluate(vector).gradient), whole, root, noise)


def _middle_scale(slopes: Floats) -> float:
    """Return the standard deviation of slopes by which their density has the gradient that it has with all of them."""
    return float((_scale_shares(slopes) @ SCALES**-2) ** -0.5)


def _draw_scale(slopes: Floats, rng: np.random.Generator) -> float:
    """Draw the standard deviation of slopes (P, K)."""
    bounds = np.cumsum(_scale_shares(slopes))
    return float(SCALES[np.searchsorted(bounds, bounds[-1] * rng.random())])


def _scale_shares(slopes: Floats) -> Floats:
    """Probabilities of the standard deviation of slopes (P, K), whose rows sum to 0, on a grid; its prior is
    log-normal."""
    n = len(slopes) * (slopes.shape[1] - 1)
    logs = -n * np.log(SCALES) - 0.5 * float((slopes**2).sum()) / SCALES**2
    logs -= 0.5 * (np.log(SCALES / USUAL_SCALE) / SCALE_ERROR) ** 2
    shares = np.exp(logs - logs.max())
    return np.asarray(shares / shares.sum())
