"""User weights given strict rankings: those of every user, the flip probability, and their Dirichlet prior.

Paper: section 6.3 infers user weights given the rankings, and fits a Dirichlet prior, as for separable topic models.
Ours: a ranking gives probability 0 to what it does not explain, so each comparison is reversed with a small flip
probability, fitted by maximum likelihood; the prior may be fitted by the likelihood instead of moments.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from plurank import data, kernels, metrics
from plurank.data.comparisons import Comparisons
from plurank.elementary import minimise
from plurank.topic.moments import Moments
from plurank.topic.orders import Strict, ranking_matrix, win_probabilities
from plurank.types import Floats

MAX_ROUNDS = 200
TOLERANCE = 1e-4
N_BINS = 4096


def infer_weights(
    comparisons: Comparisons,
    rankings: NDArray[np.int64],
    flip: float,
    prior: Floats,
    init: Floats | None = None,
) -> Floats:
    """Return the most probable weights of every user under a Dirichlet(prior), (M, K); see the kernel for the basis."""
    c = comparisons
    begin = np.tile(prior / prior.sum(), (c.n_users, 1)) if init is None else init
    # a weight of zero would stay zero whatever the user says
    begin = np.maximum(begin, 1e-12)
    return kernels.map_user_weights(
        c.offsets,
        c.winners,
        c.losers,
        c.kernel_weights,
        metrics.places_of(rankings),
        flip,
        prior,
        begin,
        MAX_ROUNDS,
        TOLERANCE,
    )


def fit_flip(comparisons: Comparisons, rankings: NDArray[np.int64], weights: Floats) -> float:
    """Fit the flip probability, given user weights (M, K)."""
    c = comparisons
    n_rankings, n_items = rankings.shape
    wins = np.tile(np.arange(2 * n_items - 1) >= n_items, (n_rankings, 1)).astype(np.float64)  # by lead in places
    shares = kernels.mix_places(c.user_of_each(), c.winners, c.losers, metrics.places_of(rankings), wins, weights)
    return flip_behind(shares, c.weights)


def flip_behind(shares: Floats, counts: Floats | None) -> float:
    """Maximise ``sum_e log(flip + (1 - 2 flip) s_e)``, s_e how much of the user agrees with comparison e, (n,).

    s is sorted into fine bins first, so that the search does not touch the comparisons again. The estimate is kept
    away from zero by half a comparison, so that no comparison is impossible.
    """
    # a sum of weights can round to a little more than 1, which the histogram would leave out
    agreeing = np.minimum(shares, 1.0)
    mass, edges = np.histogram(agreeing, bins=N_BINS, range=(0.0, 1.0), weights=counts)
    sums, _ = np.histogram(
        agreeing, bins=N_BINS, range=(0.0, 1.0), weights=agreeing * (1.0 if counts is None else counts)
    )
    centres = np.divide(sums, mass, out=(edges[:-1] + edges[1:]) / 2, where=mass > 0)
    least = 0.5 / (mass.sum() + 1.0)

    def loss(flip: float) -> float:
        return -float(mass @ np.log(win_probabilities(centres, flip)))

    return minimise(loss, least, 0.5, 1e-7)


# The population's mean weights and how much people differ, given the rankings, from moments.
#
# Paper: section 6.3 fits a Dirichlet prior given the rankings, as for separable topic models. With S the ranking matrix
# (W, K), B = mu (flip + (1 - 2 flip) S) and H = S^T B (K, K): ``S^T counts = H a`` and ``S^T F S = H R H^T``, where
# a and R are the first and second moments of user weights. For a Dirichlet, ``trace R = (c |a|^2 + 1) / (c + 1)``.

CONCENTRATION_RANGE = (0.01, 1000.0)
PART_BYTES = 2**28  # of columns of S that are multiplied at a time


def weight_moments(moments: Moments, sigma: Floats, flip: float) -> tuple[Floats, Floats]:
    """Estimate the mean (K,), on the simplex, and the second moment (K, K) of user weights, given S (W, K)."""
    counts, n_rankings = moments.counts, sigma.shape[1]
    total = counts.sum()
    shown = np.repeat(counts.reshape(-1, 2).sum(axis=1), 2) / total
    law, second = np.empty((2, n_rankings, n_rankings))
    size = max(PART_BYTES // (8 * len(counts)), 1)
    for begin in range(0, n_rankings, size):
        some = np.ascontiguousarray(sigma[:, begin : begin + size])
        law[:, begin : begin + size] = sigma.T @ (shown[:, None] * (flip + (1.0 - 2.0 * flip) * some))  # H
        second[:, begin : begin + size] = sigma.T @ moments.cooccurrence(some) / total
    first = sigma.T @ counts / total
    mean = kernels.regress_on_simplex(law.T @ law, (law.T @ first)[None], 1e-12, 10_000)[0]
    inverse = np.linalg.pinv(law)
    return mean, inverse @ second @ inverse.T


def fit_prior(moments: Moments, rankings: NDArray[np.int64], flip: float) -> tuple[Floats, float]:
    """Fit a Dirichlet prior of rankings: mean weights (K,) and concentration."""
    return fit_topic_prior(moments, ranking_matrix(rankings, moments.lower, moments.higher).astype(float), flip)


def fit_topic_prior(moments: Moments, sigma: Floats, flip: float) -> tuple[Floats, float]:
    """Fit a Dirichlet prior of topics: S (W, K) may be how often each prefers a pair, and need not be rankings."""
    mean, second = weight_moments(moments, sigma, flip)
    purity, least = float(np.trace(second)), float(mean @ mean)
    if len(mean) == 1 or purity <= least:
        return mean, CONCENTRATION_RANGE[1]
    return mean, float(np.clip((1.0 - purity) / (purity - least), *CONCENTRATION_RANGE))


COUNT_RANGE = (1e-4, 1000.0)  # of each ranking in the prior
PRIOR_ROUNDS, USER_ROUNDS, COUNT_ROUNDS = 300, 10, 100
PRIOR_TOLERANCE = 1e-7  # gain of the bound per comparison that counts as none
USER_TOLERANCE, COUNT_TOLERANCE = 1e-5, 1e-6
MOST_CELLS = 10_000_000  # comparisons times rankings that are looked at


@dataclass(frozen=True)
class LikelyPrior:
    """Mean weights (K,) and concentration of the Dirichlet, and the bound after every round."""

    mean: Floats
    concentration: float
    history: list[float]


def fit_prior_by_likelihood(
    comparisons: Comparisons, rankings: NDArray[np.int64], flip: float, init: Floats
) -> LikelyPrior:
    """Improve a Dirichlet prior, from counts ``start`` (K,), for comparisons of some of the users."""
    c = data.every_nth_user(comparisons, MOST_CELLS // len(rankings))
    p = np.ascontiguousarray(Strict(rankings, flip).chances(c.winners, c.losers))
    prior = np.clip(init, *COUNT_RANGE)
    # the most probable weights have one maximum, the bound has many: it is begun at the former
    posteriors = prior + c.weights_of_users()[:, None] * infer_weights(c, rankings, flip, prior)
    history: list[float] = []
    for _ in range(PRIOR_ROUNDS if len(prior) > 1 else 0):
        posteriors, values = kernels.infer_dirichlets(
            c.offsets, p, c.kernel_weights, prior, posteriors, USER_ROUNDS, USER_TOLERANCE
        )
        history.append(bound_of(prior, posteriors, values))
        if len(history) > 1 and history[-1] - history[-2] < PRIOR_TOLERANCE * c.total_weight:
            break
        prior = best_counts(prior, expected_logs(posteriors).mean(axis=0))
    return LikelyPrior(prior / prior.sum(), float(prior.sum()), history)


def expected_logs(posteriors: Floats) -> Floats:
    """Mean logarithms of weights under Dirichlets (M, K), (M, K)."""
    return scipy.special.digamma(posteriors) - scipy.special.digamma(posteriors.sum(axis=1, keepdims=True))


def bound_of(prior: Floats, posteriors: Floats, values: Floats) -> float:
    """Return the bound of the log-likelihood of all users; values (M,) are the comparisons' part of it."""
    logs = expected_logs(posteriors)
    return float((values + (logs * (prior - posteriors)).sum(axis=1) + _volume(prior) - _volume(posteriors)).sum())


def _volume(counts: Floats) -> Floats:
    """Log of the constant of Dirichlet densities (..., K)."""
    return scipy.special.gammaln(counts.sum(axis=-1)) - scipy.special.gammaln(counts).sum(axis=-1)


def best_counts(prior: Floats, logs: Floats) -> Floats:
    """Fit a Dirichlet (K,) to mean logarithms of weights (K,): ``digamma(a_k) = digamma(sum a) + logs_k``.

    Newton's step where it gains more than Minka's fixed point, which always gains: it maximises a bound that is a sum
    over rankings, so that it may stop at the ends of the range.
    """
    for _ in range(COUNT_ROUNDS):
        fixed = np.clip(_inverse_digamma(scipy.special.digamma(prior.sum()) + logs), *COUNT_RANGE)
        newton = np.clip(prior + _newton_step(prior, logs), *COUNT_RANGE)
        new = max(fixed, newton, key=lambda counts: float(_volume(counts) + counts @ logs))
        moved = np.abs(new / prior - 1.0).max()
        prior = new
        if moved < COUNT_TOLERANCE:
            break
    return prior


def _newton_step(counts: Floats, logs: Floats) -> Floats:
    """Return the Newton step; the Hessian is diagonal plus a constant, so that it costs no more than K."""
    slope = scipy.special.digamma(counts.sum()) - scipy.special.digamma(counts) + logs
    own = scipy.special.polygamma(1, counts)
    shared = (slope / own).sum() / (1.0 / scipy.special.polygamma(1, counts.sum()) - (1.0 / own).sum())
    return (slope + shared) / own


def _inverse_digamma(y: Floats) -> Floats:
    """Solve ``digamma(x) = y`` by Newton's steps from Minka's start, which is close enough for six to do."""
    x = np.where(
        y >= -2.22, np.exp(np.minimum(y, 100.0)) + 0.5, -1.0 / np.minimum(y - scipy.special.digamma(1.0), -1e-3)
    )
    for _ in range(6):
        x -= (scipy.special.digamma(x) - y) / scipy.special.polygamma(1, x)
    return x
