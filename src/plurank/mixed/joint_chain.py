"""Draws from the joint posterior of scores and of how weights depend on covariates, given comparisons.

Ours. Hamiltonian trajectories move scores, concentration and coefficients together, with the weights of users
integrated out by a few draws each. After each, all draws of a user but one are drawn anew, so that the chain has the
posterior as its distribution however few draws there are (particle marginal sampling by conditional importance
sampling). Of many comparisons the posterior is close to a Gaussian, which takes much less time.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve, solve_triangular

from plurank.mixed.joint_density import ComparedUsers, JointDensity, Proposals
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

    most_scores: int = 1500  # that are drawn; of more, the rarest items and their comparisons are left out
    n_draws: int = 300  # tables that are drawn: one in each sweep of a chain
    burn_in: int = 100  # sweeps before these
    n_weights: int = 16  # draws of every user's weights
    n_leaps: int = 6  # of a trajectory
    metrics: tuple[int, ...] = (0, 5, 15, 40, 80)  # sweeps before which the precision is found anew
    proposals: tuple[int, ...] = (0, 15, 50)  # sweeps before which weights are proposed by where the chain is
    most_sampled: int = 50_000  # comparisons for a chain; of more, draws are from a Gaussian
    most_in_part: int = 20_000  # comparisons by which Newton's method begins
    n_first: int = 6  # cautious steps with these
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
    if scores.size > effort.most_scores:
        users, kept = users.among_most_compared(max(effort.most_scores // scores.shape[1], 2))
        scores = scores[kept]
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
    scale, log_size, vector = _draw_scale(coefficients.slopes, rng), math.log(FIRST_LEAP), np.zeros(0)
    for sweep in range(effort.burn_in + effort.n_draws):
        if sweep in effort.proposals:
            proposals = Proposals.near(users, scores, coefficients)
            draws = proposals.draw(effort.n_weights, rng)
        density = JointDensity(users, draws, scale, score_prior)
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
    users = users.every_nth(max(effort.most_numbers // (effort.more_weights * scores.shape[1]), 1))
    part, few = users.with_most(effort.most_in_part), users.every_nth(effort.few_users)
    climb = _Climb(score_prior, effort.more_weights, rng)
    here, points = (scores, coefficients), []
    plan = [(part, CAUTIOUS)] * effort.n_first + [(users, length) for length in effort.steps]
    for number, (some, length) in enumerate(plan):
        if number % 2 == 0 or number == effort.n_first:
            root, noise = climb.find_precision(few, some.comparisons.n_users, *here)
        density, vector = climb.step(some, *here, root, length)
        here = density.from_vector(vector)
        points.append(vector)
    n_last = effort.n_averaged
    moved = np.linalg.norm(root.T @ (points[-1] - points[-n_last])) / math.sqrt(len(root))
    if not moved < SETTLED:  # with few answers each, draws say too little of where the mode is
        yield from _run_chain(users.with_most(effort.most_sampled), scores, coefficients, score_prior, rng, effort)
        return
    vector = np.mean(points[-n_last:], axis=0)
    white = solve_triangular(root, solve_triangular(root, noise / n_last, lower=True).T, lower=True)
    spread = np.linalg.cholesky(np.eye(len(vector)) + (white + white.T) / 2.0)
    for normals in rng.standard_normal((effort.n_draws, len(vector))):
        yield density.from_vector(vector + solve_triangular(root.T, spread @ normals, lower=False))


@dataclass(frozen=True)
class _Climb:
    """How steps of Newton's method are made, by so many draws of everybody's weights."""

    score_prior: ScorePrior | None
    n_weights: int
    rng: np.random.Generator

    def find_precision(
        self, few: ComparedUsers, n_users: int, scores: Floats, coefficients: Coefficients
    ) -> tuple[Floats, Floats]:
        """Return the root of the precision (D, D) of what so many users say, by few of them, and the covariance of the
        noise of the gradient (D, D)."""
        one, other = self._densities(few, scores, coefficients, 2)
        n_each = n_users / few.comparisons.n_users
        precision, noise = one.split_precision(other, one.to_vector(scores, coefficients), n_each)
        return root_of(precision), noise

    def step(
        self, users: ComparedUsers, scores: Floats, coefficients: Coefficients, root: Floats, length: float
    ) -> tuple[JointDensity, Floats]:
        """Make a part of a step towards what is most probable given what users said; return where it leads, by which
        density."""
        (density,) = self._densities(users, scores, coefficients, 1)
        vector = density.to_vector(scores, coefficients)
        return density, vector + length * cho_solve((root, True), density.evaluate(vector).gradient)

    def _densities(
        self, users: ComparedUsers, scores: Floats, coefficients: Coefficients, n: int
    ) -> list[JointDensity]:
        """Return densities by independent draws of users' weights."""
        proposals, scale = Proposals.near(users, scores, coefficients), _middle_scale(coefficients.slopes)
        draws = [proposals.draw(self.n_weights, self.rng) for _ in range(n)]
        return [JointDensity(users, each, scale, self.score_prior) for each in draws]


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
