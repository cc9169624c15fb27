"""Star ratings from comparisons: an ordinal likelihood with thresholds, and the paper's most likely star.

Paper: section 6.4.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from plurank.choices import RatingTies
from plurank.types import Floats

# Stars from utilities: an ordinal model in which every person uses the stars in a way of their own.
#
# Ours. A hidden liking ``y = a_u + b_u x + noise`` of an item with utility x, noise ~ N(0, 1), falls between thresholds
# that all share, and the interval it falls in is the star. The lines (a_u, b_u) are drawn from one Gaussian of the
# population, so that somebody with few ratings is predicted much like everybody.
#
# Fitted by expectation-maximisation: hidden likings given the stars, then lines given the likings; the thresholds are
# where each star is as frequent as it was.

Numbers = NDArray[np.integer]
MAX_ROUNDS, TOLERANCE = 200, 1e-3
FIRST_VARIANCE = 0.3
MIN_DENOMINATOR = 1e-12  # probability of an interval, or density at a threshold
ROUNDING = 1e-9  # utilities that differ less are equal
LONGEST_STEP = 0.5  # of a threshold, which a Newton step may overshoot


@dataclass(frozen=True)
class OrdinalRatings:
    """Thresholds (L - 1,) between the levels of ratings, and lines (M + 1, 2) of users with covariances (M + 1, 2, 2),
    last those of somebody who rated nothing. Utilities count from ``centre`` in units of ``scale``."""

    thresholds: Floats
    lines: Floats
    covariances: Floats
    centre: float
    scale: float
    converged: bool

    def probabilities(self, users: Numbers, utilities: Floats) -> Floats:
        """Return the probability of every level, (n, L), for users, -1 for unknown ones, and utilities (n,)."""
        x = (utilities - self.centre) / self.scale
        middle, scale = _predict(x, self.lines[users], self.covariances[users])
        below = scipy.special.ndtr((self.thresholds - middle[:, None]) / scale[:, None])
        return np.diff(below, axis=1, prepend=0.0, append=1.0)


def fit_stars(users: Numbers, utilities: Floats, values: Floats, n_users: int) -> OrdinalRatings:
    """Fit to ratings (n,) of items with utilities (n,), given by users (n,)."""
    codes = np.unique(values, return_inverse=True)[1]
    centre, scale = float(utilities.mean()), float(utilities.std())
    if scale <= ROUNDING * max(1.0, abs(centre)):
        scale = 1.0
    x = (utilities - centre) / scale
    shares = np.cumsum(np.bincount(codes))[:-1] / len(codes)
    thresholds = scipy.special.ndtri(shares)
    mean, covariance = np.array([0.0, 0.0]), FIRST_VARIANCE * np.eye(2)
    lines = np.zeros((n_users, 2))
    products = _sum_products(users, x, n_users)
    for _ in range(MAX_ROUNDS):
        likings = _expect_likings((lines[users] * _design(x)).sum(axis=1), thresholds, codes)
        precision = np.linalg.inv(covariance)
        covariances = np.linalg.inv(products + precision)
        pulls = np.stack([np.bincount(users, likings * column, n_users) for column in _design(x).T], axis=1)
        lines = np.einsum("uij,uj->ui", covariances, pulls + precision @ mean)
        mean, covariance = _population(lines, covariances)
        # a shift that everybody shares is one of the thresholds
        lines, mean, thresholds = lines - [mean[0], 0.0], mean * [0.0, 1.0], thresholds - mean[0]
        moved = _place_thresholds(thresholds, shares, *_predict(x, lines[users], covariances[users]))
        converged = bool(np.abs(moved - thresholds).max(initial=0.0) < TOLERANCE)
        thresholds = moved
        if converged:
            break
    everybody = np.vstack([lines, mean]), np.concatenate([covariances, covariance[None]])
    return OrdinalRatings(thresholds, *everybody, centre, scale, converged)


def _design(x: Floats) -> Floats:
    return np.stack([np.ones_like(x), x], axis=1)


def _sum_products(users: Numbers, x: Floats, n_users: int) -> Floats:
    """Sum (1, x) (1, x)^T over each user's ratings, (M, 2, 2)."""
    n, first, second = (np.bincount(users, x**power, n_users) for power in (0, 1, 2))
    return np.stack([n, first, first, second], axis=1, dtype=np.float64).reshape(-1, 2, 2)


def _expect_likings(middle: Floats, thresholds: Floats, codes: Numbers) -> Floats:
    """Return the mean of N(middle, 1) within the interval of each star, (n,)."""
    edges = np.concatenate([[-np.inf], thresholds, [np.inf]])
    low, high = edges[codes] - middle, edges[codes + 1] - middle
    apart = (_density(low) - _density(high)) / np.maximum(
        scipy.special.ndtr(high) - scipy.special.ndtr(low), MIN_DENOMINATOR
    )
    return middle + np.clip(apart, low, high)  # far out, both of these round to 0


def _population(lines: Floats, covariances: Floats) -> tuple[Floats, Floats]:
    """Mean and covariance of the lines; one more user of the first variance keeps it from collapsing."""
    mean = lines.mean(axis=0)
    apart = lines - mean
    total = covariances.sum(axis=0) + apart.T @ apart + FIRST_VARIANCE * np.eye(2)
    return mean, total / (len(lines) + 1)


def _predict(x: Floats, lines: Floats, covariances: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of the hidden liking, (n,), for lines (n, 2) with covariances (n, 2, 2)."""
    variance = covariances[:, 0, 0] + 2.0 * covariances[:, 0, 1] * x + covariances[:, 1, 1] * x * x
    return lines[:, 0] + lines[:, 1] * x, np.sqrt(1.0 + variance)


def _place_thresholds(thresholds: Floats, shares: Floats, middle: Floats, scale: Floats) -> Floats:
    """Move each threshold by a Newton step to where the share of ratings expected below it is the share that was."""
    apart = (thresholds - middle[:, None]) / scale[:, None]
    slopes = (_density(apart) / scale[:, None]).mean(axis=0)
    steps = (scipy.special.ndtr(apart).mean(axis=0) - shares) / np.maximum(slopes, MIN_DENOMINATOR)
    return thresholds - np.clip(steps, -LONGEST_STEP, LONGEST_STEP)


def _density(x: Floats) -> Floats:
    return np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi)


LEAST_STAR_CHANCE = 1e-12


def level_likelihoods(
    rows: Numbers, levels: Numbers, wins: Floats, coins: Floats, n_rows: int, n_levels: int, ties: RatingTies
) -> Floats:
    """Return the log-likelihood of what each level implies for each question, (n_rows, n_levels).

    Question rows[e] is about an item that would be preferred with probability wins[e] to one rated levels[e]; coins
    (n,) decide ties where ties are "random".
    """
    won, lost = (np.log(np.clip(p, LEAST_STAR_CHANCE, 1.0)) for p in (wins, 1.0 - wins))

    def sum_by_level(values: Floats) -> Floats:
        sums = np.bincount(rows * n_levels + levels, values, n_rows * n_levels)
        return sums.astype(np.float64, copy=False).reshape(n_rows, n_levels)

    above, below = sum_by_level(won), sum_by_level(lost)
    total = np.cumsum(above, axis=1) - above + np.cumsum(below[:, ::-1], axis=1)[:, ::-1] - below
    if ties == "both":
        total += above + below
    elif ties == "random":
        total += sum_by_level(np.where(coins < 0.5, won, lost))
    return total
