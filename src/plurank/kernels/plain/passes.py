"""Plain twins of ``kernels/passes.py``, where the docstrings are.

Blocks of users (edges) fix the order of sums in the native functions; the order is not needed here.
"""

# ruff: noqa: D103
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np

from plurank.kernels.plain.common import by_lead, ones_if_empty, sigmoid
from plurank.types import Codes, Floats, Integers

Curve = tuple[float, Floats, Floats]  # a user's log posterior, its gradient (K,) and its Hessian (K, K)
User = tuple[int, Codes, Codes, Floats, Floats]  # number, winners, losers, weights and prior of one user
NEGLIGIBLE = 1e-12  # relative gain of the log posterior at which a user's memberships have converged
LONGEST_LEAD = 200.0  # of one score over another, so that 1 / p^3 is a number
CERTAIN = 1e6  # posterior concentration where the only ranking has all the weight


def _each_user(offsets: Integers, winners: Codes, losers: Codes, weights: Floats, prior: Floats) -> Iterator[User]:
    weights = ones_if_empty(weights, winners.size)
    for u, (b, e) in enumerate(pairwise(offsets)):
        yield u, winners[b:e], losers[b:e], weights[b:e], prior[min(u, len(prior) - 1)]


def _newton_step(theta: Floats, slope: Floats, bend: Floats) -> tuple[Floats, float]:
    """Return the best step that keeps the sum of theta, and the length that leaves a tenth of every weight in place."""
    free, ones = np.linalg.solve(bend, np.stack([slope, np.ones(len(theta))], axis=1)).T
    step = free - free.sum() / ones.sum() * ones
    falls = step < 0
    return step, float(np.min(-0.9 * theta[falls] / step[falls], initial=1.0))


def _climb(evaluate: Callable[[Floats], Curve], init: Floats, n_rounds: int) -> tuple[Floats, float]:
    """Take n_rounds damped Newton steps that are kept where they help; gives theta and its log posterior."""
    theta, best = init, -np.inf
    trial, step, length = init, np.zeros(len(init)), 1.0
    for _ in range(n_rounds + 1):
        value, slope, bend = evaluate(trial)
        if value >= best:
            gain = value - best
            theta, best = trial, value
            if gain < NEGLIGIBLE * abs(value):
                break
            step, length = _newton_step(theta, slope, bend)
        else:
            length *= 0.3
        trial = theta + length * step
    return theta, best


def _integrate(theta: Floats, bend: Floats) -> tuple[float, Floats]:
    """Return the logarithm of the volume of theta around its most probable value, and its covariance (K, K)."""
    inverse = np.linalg.inv(bend)
    across = inverse.sum(axis=1)
    volume = -(np.linalg.slogdet(bend)[1] + np.log(across.sum())) / 2.0 - np.log(theta).sum()
    return float(volume), inverse - np.outer(across, across) / across.sum()


def _shift_of_mean(theta: Floats, prior: Floats, covariance: Floats, slope: Floats) -> Floats:
    """How far theta's mean lies from its most probable value, given the comparisons' part of the volume's slope."""
    return covariance @ (slope + prior * np.diag(covariance) / theta**3 - 1.0 / theta)


def _mean_weights(theta: Floats, shift: Floats) -> Floats:
    mean = theta * np.exp(np.clip(shift / theta, -1.0, 1.0))
    return mean / mean.sum()


def _concentration(theta: Floats, covariance: Floats) -> float:
    if len(theta) == 1:
        return CERTAIN
    return max((1.0 - float(theta @ theta)) / max(float(np.trace(covariance)), 1e-300) - 1.0, 0.0)


def _curve_of_mixture(p: Floats, counts: Floats, prior: Floats) -> Callable[[Floats], Curve]:
    """Return one user's log posterior as a function of theta: mixed probabilities, p (K, n)."""

    def evaluate(theta: Floats) -> Curve:
        q = theta @ p
        value = float(counts @ np.log(q) + prior @ np.log(theta))
        bend = (p * (counts / q**2)) @ p.T + np.diag(prior / theta**2)
        return value, p @ (counts / q) + prior / theta, bend

    return evaluate


def probability_pass(
    edges: Integers,  # noqa: ARG001
    offsets: Integers,
    winners: Codes,
    losers: Codes,
    weights: Floats,
    scores: Floats,
    init: Floats,
    prior: Floats,
    n_rounds: int,
    informed: bool,
) -> tuple[Floats, float, Floats, Floats, Floats, Floats, Floats]:
    thetas, means, total = init.copy(), init.copy(), 0.0
    slopes, bends = np.zeros(scores.shape), np.zeros(scores.shape)
    concentration = np.zeros(len(init))
    products = np.zeros((len(scores) if informed else 0, scores.shape[1], scores.shape[1]))
    for u, first, second, counts, own in _each_user(offsets, winners, losers, weights, prior):
        p = 1.0 / (1.0 + np.exp(np.minimum(scores[second] - scores[first], LONGEST_LEAD)))
        evaluate = _curve_of_mixture(p.T, counts, own)
        theta, value = _climb(evaluate, init[u], n_rounds)
        volume, covariance = _integrate(theta, evaluate(theta)[2])
        thetas[u] = theta
        total += value + volume
        q, turned = (p @ theta)[:, None], p @ covariance
        square = (turned * p).sum(axis=1, keepdims=True)
        shift = _shift_of_mean(theta, own, covariance, ((counts[:, None] * square / q**3) * p).sum(axis=0))
        means[u] = _mean_weights(theta, shift)
        concentration[u] = _concentration(means[u], covariance)
        mean = theta / q - turned / q**2 + square * theta / q**3 + shift / q - (p @ shift)[:, None] * theta / q**2
        pull = counts[:, None] * mean * p * (1.0 - p)
        share = theta * p / q
        mass = counts[:, None] * share * (1.0 - p) * p
        _add_by_item((slopes, bends, products), first, second, pull, mass, counts)
    return thetas, total, slopes, bends, means, concentration, products


def _add_by_item(
    sums: tuple[Floats, Floats, Floats], first: Codes, second: Codes, pull: Floats, mass: Floats, counts: Floats
) -> None:
    """Add slopes (n, K) and curvatures (n, K) of comparisons to their items, and products of slopes if asked for."""
    slopes, bends, products = sums
    np.add.at(slopes, first, pull)
    np.subtract.at(slopes, second, pull)
    np.add.at(bends, first, mass)
    np.add.at(bends, second, mass)
    if products.size:
        each = pull[:, :, None] * pull[:, None, :] / counts[:, None, None]
        np.add.at(products, first, each)
        np.add.at(products, second, each)


def places_pass(
    edges: Integers,  # noqa: ARG001
    offsets: Integers,
    winners: Codes,
    losers: Codes,
    weights: Floats,
    places: Codes,
    by_gap: Floats,
    init: Floats,
    prior: Floats,
    n_rounds: int,
) -> tuple[Floats, float, Floats]:
    thetas, total, concentration = init.copy(), 0.0, np.zeros(len(init))
    for u, first, second, counts, own in _each_user(offsets, winners, losers, weights, prior):
        evaluate = _curve_of_mixture(by_lead(first, second, places, by_gap).T, counts, own)
        thetas[u], value = _climb(evaluate, init[u], n_rounds)
        volume, covariance = _integrate(thetas[u], evaluate(thetas[u])[2])
        concentration[u] = _concentration(thetas[u], covariance)
        total += value + volume
    return thetas, total, concentration


def _curve_of_utilities(apart: Floats, counts: Floats, prior: Floats) -> Callable[[Floats], Curve]:
    """Return one user's log posterior as a function of theta: mixed utilities, apart (n, K) differences of scores."""

    def evaluate(theta: Floats) -> Curve:
        lead = apart @ theta
        value = float(prior @ np.log(theta) - counts @ np.logaddexp(0.0, -lead))
        miss = counts * sigmoid(-lead)
        bend = (apart.T * (miss * sigmoid(lead))) @ apart + np.diag(prior / theta**2)
        return value, miss @ apart + prior / theta, bend

    return evaluate


def utility_pass(
    edges: Integers,  # noqa: ARG001
    offsets: Integers,
    winners: Codes,
    losers: Codes,
    weights: Floats,
    scores: Floats,
    init: Floats,
    prior: Floats,
    n_rounds: int,
    informed: bool,
) -> tuple[Floats, float, Floats, Floats, Floats, Floats, Floats]:
    thetas, means, total, concentration = init.copy(), init.copy(), 0.0, np.zeros(len(init))
    slopes, bends = np.zeros(scores.shape), np.zeros(scores.shape)
    products = np.zeros((len(scores) if informed else 0, scores.shape[1], scores.shape[1]))
    for u, first, second, counts, own in _each_user(offsets, winners, losers, weights, prior):
        if not len(first):
            continue
        apart = scores[first] - scores[second]
        evaluate = _curve_of_utilities(apart, counts, own)
        theta, value = _climb(evaluate, init[u], n_rounds)
        volume, covariance = _integrate(theta, evaluate(theta)[2])
        thetas[u] = theta
        total += value + volume
        p, turned = sigmoid(apart @ theta), apart @ covariance
        miss, bend = counts * (1.0 - p), counts * p * (1.0 - p)
        less = bend * (0.5 - p) * (turned * apart).sum(axis=1)
        shift = _shift_of_mean(theta, own, covariance, -less @ apart)
        means[u] = _mean_weights(theta, shift)
        concentration[u] = _concentration(means[u], covariance)
        mean = miss - less - bend * (apart @ shift)
        pull = np.outer(mean, theta) + np.outer(miss, shift) - bend[:, None] * turned
        mass = np.outer(bend, theta**2 + np.diagonal(covariance))
        _add_by_item((slopes, bends, products), first, second, pull, mass, counts)
    return thetas, total, slopes, bends, means, concentration, products
