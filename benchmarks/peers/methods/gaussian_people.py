"""What a Gaussian population says about one person who made some comparisons: expectation propagation.

Laplace's approximation would do for people who contradict themselves; where answers follow from one another, as those
made from ratings do, it is far too cautious.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.peers.case import Floats

Pairs = NDArray[np.int64]  # (2, M, N): first and second items of up to N pairs of M people
SWEEPS, DAMPING, CLOSE = 40, 0.7, 0.01
GRID = np.linspace(-5.5, 5.5, 64)  # standard deviations about the mean, to integrate over
LARGEST = 2_000_000  # numbers in one array


@dataclass(frozen=True)
class Population:
    """People's utilities have ``mean`` (Q,) and covariance ``loadings`` (Q, R) times its transpose plus ``own`` squared
    on the diagonal."""

    mean: Floats
    loadings: Floats
    own: float

    def expected(self, pairs: Pairs) -> Floats:
        """Give the mean of differences of utilities, (M, N)."""
        return self.mean[pairs[0]] - self.mean[pairs[1]]

    def covariance(self, left: Pairs, right: Pairs) -> Floats:
        """Give the covariance of differences of utilities, (M, N, P)."""
        there, back = (self.loadings[pairs[0]] - self.loadings[pairs[1]] for pairs in (left, right))
        same = [[np.equal(a[:, :, None], b[:, None, :]).astype(float) for b in right] for a in left]
        return there @ back.swapaxes(1, 2) + self.own**2 * (same[0][0] - same[0][1] - same[1][0] + same[1][1])

    def variance(self, pairs: Pairs) -> Floats:
        """Give the variance of differences of utilities, (M, N)."""
        shared = np.square(self.loadings[pairs[0]] - self.loadings[pairs[1]]).sum(axis=2)
        return shared + 2.0 * self.own**2 * (pairs[0] != pairs[1])


def log_odds(population: Population, told: pl.DataFrame, questions: pl.DataFrame, weight: float) -> Floats:
    """Give log odds of left from what each person told (user, winner, loser), a comparison counting as ``weight``."""
    people, who = np.unique(questions["user"].to_numpy(), return_inverse=True)
    own = told.filter(pl.col("user").is_in(people))
    theirs, _ = lay_out(np.searchsorted(people, own["user"].to_numpy()), own["winner"], own["loser"], len(people))
    asked, nth = lay_out(who, questions["left"], questions["right"], len(people))
    odds = np.concatenate([_odds(population, theirs[:, c], asked[:, c], weight) for c in _chunks(theirs, asked)])
    return odds[who, nth]


def lay_out(
    users: NDArray[np.int64], first: pl.Series, second: pl.Series, n_users: int
) -> tuple[Pairs, NDArray[np.int64]]:
    """Lay pairs out by user, (2, M, N), with pairs of an item and itself behind; give the place of each pair too."""
    n = np.bincount(users, minlength=n_users)
    nth = np.empty(len(users), dtype=np.int64)
    nth[np.argsort(users, kind="stable")] = np.arange(len(users)) - np.repeat(np.cumsum(n) - n, n)
    pairs = np.zeros((2, n_users, max(n.max(), 1)), dtype=np.int64)
    pairs[:, users, nth] = first.to_numpy(), second.to_numpy()
    return pairs, nth


def _chunks(theirs: Pairs, asked: Pairs) -> Iterator[slice]:
    n, n_asked = theirs.shape[2], asked.shape[2]
    size = max(1, LARGEST // (max(n, n_asked) * max(n, len(GRID))))
    return (slice(begin, begin + size) for begin in range(0, theirs.shape[1], size))


def _odds(population: Population, theirs: Pairs, asked: Pairs, weight: float) -> Floats:
    """Log odds (M, P) of questions, chances being averaged over what a difference may be."""
    prior = population.covariance(theirs, theirs)
    precisions, shifts = _sites(population.expected(theirs), prior, weight * (theirs[0] != theirs[1]))
    middle = _middle(prior, precisions)
    across = population.covariance(asked, theirs)
    pull = shifts - _times(middle, _times(prior, shifts))
    mean = population.expected(asked) + _times(across, pull)
    variance = population.variance(asked) - ((across @ middle) * across).sum(axis=2)
    at = mean[..., None] + np.sqrt(np.maximum(variance, 0.0))[..., None] * GRID
    there, back = (np.exp(-0.5 * GRID**2 - np.logaddexp(0.0, side)).sum(axis=2) for side in (-at, at))
    return np.log(there) - np.log(back)


def _sites(mean: Floats, prior: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Find a Gaussian in the place of each comparison: its precision, and that times how far from ``mean`` it is."""
    precisions, shifts, before = np.zeros_like(mean), np.zeros_like(mean), np.zeros_like(mean)
    for _ in range(SWEEPS):
        middle = _middle(prior, precisions)
        variances = np.diagonal(prior, axis1=1, axis2=2) - np.einsum("mij,mji->mi", prior @ middle, prior)
        variances = np.maximum(variances, 1e-9)
        places = _times(prior, shifts - _times(middle, _times(prior, shifts)))
        if np.abs(places - before)[counts > 0].max(initial=0.0) < CLOSE and precisions.any():
            break
        before = places
        without = 1.0 / np.maximum(1.0 / variances - precisions, 1e-9)  # the variance without the comparison
        middles = without * (places / variances - shifts)
        tilted, spread = _moments(mean + middles, without, counts)
        wanted = np.where(counts > 0, np.maximum(1.0 / spread - 1.0 / without, 0.0), 0.0)
        moved = np.where(counts > 0, (tilted - mean) / spread - middles / without, 0.0)
        precisions = precisions + DAMPING * (wanted - precisions)
        shifts = shifts + DAMPING * (moved - shifts)
    return precisions, shifts


def _moments(means: Floats, variances: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Give mean and variance of Gaussians times the chance of what was told, to the power of what it counts as."""
    at = means[..., None] + np.sqrt(variances)[..., None] * GRID
    logs = -0.5 * GRID**2 - counts[..., None] * np.logaddexp(0.0, -at)
    shares = np.exp(logs - logs.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    tilted = (shares * at).sum(axis=-1)
    return tilted, np.maximum((shares * (at - tilted[..., None]) ** 2).sum(axis=-1), 1e-9)


def _middle(prior: Floats, precisions: Floats) -> Floats:
    """Give the inverse of prior plus noise, noise being one by precision, (M, N, N)."""
    roots = np.sqrt(precisions)
    inverse = np.linalg.inv(np.eye(prior.shape[1]) + roots[:, :, None] * prior * roots[:, None, :])
    return roots[:, :, None] * inverse * roots[:, None, :]


def _times(matrices: Floats, vectors: Floats) -> Floats:
    return (matrices @ vectors[:, :, None])[:, :, 0]
