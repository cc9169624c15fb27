"""The plain twins of the kernels that weigh users, mix rankings and search for orders.

Arguments and results are those of the kernels, where the docstrings are. Blocks of users (edges) fix the order of sums
in the kernels; the order is not needed here.
"""

# ruff: noqa: D103
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Curve = tuple[float, Floats, Floats]  # a user's log posterior, its slope (K,) and its curvature (K, K)
User = tuple[int, Codes, Codes, Floats, Floats]  # number, winners, losers, weights and prior of one user
NEGLIGIBLE = 1e-12  # relative gain of the posterior at which a user's weights are done
CERTAIN = 1e6  # the evidence for a weight that cannot vary, because it is the only one


def ones_if_empty(weights: Floats, n: int) -> Floats:
    return weights if weights.size else np.ones(n)


def _each_user(offsets: Ints, winners: Codes, losers: Codes, weights: Floats, prior: Floats) -> Iterator[User]:
    weights = ones_if_empty(weights, winners.size)
    for u, (b, e) in enumerate(pairwise(offsets)):
        yield u, winners[b:e], losers[b:e], weights[b:e], prior[min(u, len(prior) - 1)]


def _newton_step(theta: Floats, slope: Floats, bend: Floats) -> tuple[Floats, float]:
    """Give the best step that keeps the sum of theta, and the length that leaves a tenth of every weight in place."""
    free, ones = np.linalg.solve(bend, np.stack([slope, np.ones(len(theta))], axis=1)).T
    step = free - free.sum() / ones.sum() * ones
    falls = step < 0
    return step, float(np.min(-0.9 * theta[falls] / step[falls], initial=1.0))


def _climb(evaluate: Callable[[Floats], Curve], start: Floats, n_rounds: int) -> tuple[Floats, float]:
    """Take n_rounds damped Newton steps that are kept where they help; gives theta and its log posterior."""
    theta, best = start, -np.inf
    trial, step, length = start, np.zeros(len(start)), 1.0
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
    """Give the logarithm of the volume of theta around its most probable value, and its covariance (K, K)."""
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


def _evidence(theta: Floats, covariance: Floats) -> float:
    if len(theta) == 1:
        return CERTAIN
    return max((1.0 - float(theta @ theta)) / max(float(np.trace(covariance)), 1e-300) - 1.0, 0.0)


def _curve_of_mixture(p: Floats, counts: Floats, prior: Floats) -> Callable[[Floats], Curve]:
    """Give one user's log posterior as a function of theta: mixed probabilities, p (K, n)."""

    def evaluate(theta: Floats) -> Curve:
        q = theta @ p
        value = float(counts @ np.log(q) + prior @ np.log(theta))
        bend = (p * (counts / q**2)) @ p.T + np.diag(prior / theta**2)
        return value, p @ (counts / q) + prior / theta, bend

    return evaluate


def probability_pass(
    edges: Ints,  # noqa: ARG001
    offsets: Ints,
    winners: Codes,
    losers: Codes,
    weights: Floats,
    scores: Floats,
    start: Floats,
    prior: Floats,
    n_rounds: int,
    informed: bool,
) -> tuple[Floats, float, Floats, Floats, Floats, Floats, Floats]:
    thetas, means, total = start.copy(), start.copy(), 0.0
    slopes, bends = np.zeros(scores.shape), np.zeros(scores.shape)
    evidence = np.zeros(len(start))
    products = np.zeros((len(scores) if informed else 0, scores.shape[1], scores.shape[1]))
    for u, first, second, counts, own in _each_user(offsets, winners, losers, weights, prior):
        with np.errstate(over="ignore"):
            p = 1.0 / (1.0 + np.exp(scores[second] - scores[first]))
        evaluate = _curve_of_mixture(p.T, counts, own)
        theta, value = _climb(evaluate, start[u], n_rounds)
        volume, covariance = _integrate(theta, evaluate(theta)[2])
        thetas[u] = theta
        total += value + volume
        q, turned = (p @ theta)[:, None], p @ covariance
        square = (turned * p).sum(axis=1, keepdims=True)
        shift = _shift_of_mean(theta, own, covariance, ((counts[:, None] * square / q**3) * p).sum(axis=0))
        means[u] = _mean_weights(theta, shift)
        evidence[u] = _evidence(means[u], covariance)
        mean = theta / q - turned / q**2 + square * theta / q**3 + shift / q - (p @ shift)[:, None] * theta / q**2
        pull = counts[:, None] * mean * p * (1.0 - p)
        share = theta * p / q
        mass = counts[:, None] * share * (1.0 - p) * p
        _add_by_item((slopes, bends, products), first, second, pull, mass, counts)
    return thetas, total, slopes, bends, means, evidence, products


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
    edges: Ints,  # noqa: ARG001
    offsets: Ints,
    winners: Codes,
    losers: Codes,
    weights: Floats,
    places: Codes,
    laws: Floats,
    start: Floats,
    prior: Floats,
    n_rounds: int,
) -> tuple[Floats, float, Floats]:
    thetas, total, evidence = start.copy(), 0.0, np.zeros(len(start))
    for u, first, second, counts, own in _each_user(offsets, winners, losers, weights, prior):
        evaluate = _curve_of_mixture(_by_lead(first, second, places, laws).T, counts, own)
        thetas[u], value = _climb(evaluate, start[u], n_rounds)
        volume, covariance = _integrate(thetas[u], evaluate(thetas[u])[2])
        evidence[u] = _evidence(thetas[u], covariance)
        total += value + volume
    return thetas, total, evidence


def _curve_of_utilities(apart: Floats, counts: Floats, prior: Floats) -> Callable[[Floats], Curve]:
    """Give one user's log posterior as a function of theta: mixed utilities, apart (n, K) the differences of scores."""

    def evaluate(theta: Floats) -> Curve:
        lead = apart @ theta
        value = float(prior @ np.log(theta) - counts @ np.logaddexp(0.0, -lead))
        miss = counts * _sigmoid(-lead)
        bend = (apart.T * (miss * _sigmoid(lead))) @ apart + np.diag(prior / theta**2)
        return value, miss @ apart + prior / theta, bend

    return evaluate


def utility_pass(
    edges: Ints,  # noqa: ARG001
    offsets: Ints,
    winners: Codes,
    losers: Codes,
    weights: Floats,
    scores: Floats,
    start: Floats,
    prior: Floats,
    n_rounds: int,
    informed: bool,
) -> tuple[Floats, float, Floats, Floats, Floats, Floats, Floats]:
    thetas, means, total, evidence = start.copy(), start.copy(), 0.0, np.zeros(len(start))
    slopes, bends = np.zeros(scores.shape), np.zeros(scores.shape)
    products = np.zeros((len(scores) if informed else 0, scores.shape[1], scores.shape[1]))
    for u, first, second, counts, own in _each_user(offsets, winners, losers, weights, prior):
        if not len(first):
            continue
        apart = scores[first] - scores[second]
        evaluate = _curve_of_utilities(apart, counts, own)
        theta, value = _climb(evaluate, start[u], n_rounds)
        volume, covariance = _integrate(theta, evaluate(theta)[2])
        thetas[u] = theta
        total += value + volume
        p, turned = _sigmoid(apart @ theta), apart @ covariance
        miss, bend = counts * (1.0 - p), counts * p * (1.0 - p)
        less = bend * (0.5 - p) * (turned * apart).sum(axis=1)
        shift = _shift_of_mean(theta, own, covariance, -less @ apart)
        means[u] = _mean_weights(theta, shift)
        evidence[u] = _evidence(means[u], covariance)
        mean = miss - less - bend * (apart @ shift)
        pull = np.outer(mean, theta) + np.outer(miss, shift) - bend[:, None] * turned
        mass = np.outer(bend, theta**2 + np.diagonal(covariance))
        _add_by_item((slopes, bends, products), first, second, pull, mass, counts)
    return thetas, total, slopes, bends, means, evidence, products


def _sigmoid(x: Floats) -> Floats:
    return np.exp(-np.logaddexp(0.0, -x))


def _by_lead(left: Codes, right: Codes, places: Codes, laws: Floats) -> Floats:
    """P(left over right) in every ranking, (n, K)."""
    return np.take_along_axis(laws.T, places[right].astype(np.int64) - places[left] + len(places) - 1, axis=0)


def mix_probabilities(rows: Codes, left: Codes, right: Codes, scores: Floats, theta: Floats) -> Floats:
    return np.minimum((theta[rows] * _sigmoid(scores[left] - scores[right])).sum(axis=1), 1.0)


def mix_utilities(rows: Codes, left: Codes, right: Codes, scores: Floats, theta: Floats, evidence: Floats) -> Floats:
    apart = scores[left] - scores[right]
    mean = (theta[rows] * apart).sum(axis=1)
    variance = np.maximum((theta[rows] * apart**2).sum(axis=1) - mean**2, 0.0) / (evidence[rows] + 1.0)
    return _sigmoid(mean / np.sqrt(1.0 + np.pi / 8.0 * variance))


def mix_places(rows: Codes, left: Codes, right: Codes, places: Codes, laws: Floats, theta: Floats) -> Floats:
    return np.minimum((theta[rows] * _by_lead(left, right, places, laws)).sum(axis=1), 1.0)


def mean_wins(scores: Floats, opponents: Floats) -> Floats:
    return _sigmoid(scores[:, None] - opponents).mean(axis=1)


def expected_wins(
    begins: Ints, users: Codes, weights: Floats, probabilities: Floats, theta: Floats, evidence: Floats
) -> Floats:
    weights = ones_if_empty(weights, users.size)
    out = np.zeros(probabilities.shape)
    for w, (b, e) in enumerate(pairwise(begins)):
        p, own, n = probabilities[w], theta[users[b:e]], evidence[users[b:e], None] + 1.0
        q = own @ p[:, None]
        average = 1.0 - (p / q - 1.0) / n + (own @ p[:, None] ** 2 / q**2 - 1.0) / n
        joint = own * p * np.maximum(average, 0.0)
        out[w] = weights[b:e] @ (joint / joint.sum(axis=1, keepdims=True))
    return out


def _moved(order: Ints, at: int, to: int) -> Ints:
    """Take the item at one place out and put it in at another."""
    return np.insert(np.delete(order, at), to, order[at])


def _gain(old: Ints, new: Ints, items: Ints, partners: Codes, won: Floats, law: Floats) -> float:
    """Change of the log likelihood from one order to another; every ordered pair of items is one entry of won."""
    leads = [place[partners] - place[items] + len(place) - 1 for place in (np.argsort(old), np.argsort(new))]
    return float(won @ (law[leads[1]] - law[leads[0]]))


def improve_orders(
    rankings: Ints,
    begins: Ints,
    partners: Codes,
    won: Floats,
    lost: Floats,  # noqa: ARG001
    laws: Floats,
    reach: int,
    max_sweeps: int,
) -> Ints:
    n_items = rankings.shape[1]
    items = np.repeat(np.arange(n_items), np.diff(begins))
    improved = rankings.copy()
    for k, order in enumerate(improved):
        for _ in range(max_sweeps):
            before = order.copy()
            for item, direction in ((item, direction) for item in range(n_items) for direction in (1, -1)):
                start = at = int(np.flatnonzero(order == item)[0])
                gain, best, best_place, path = 0.0, 1e-9, start, order.copy()
                while 0 <= at + direction < n_items and abs(at + direction - start) <= reach:
                    further = _moved(path, at, at + direction)
                    gain += _gain(path, further, items, partners, won[:, k], laws[k])
                    path, at = further, at + direction
                    if gain > best:
                        best, best_place = gain, at
                order[:] = _moved(order, start, best_place)
            if (order == before).all():
                break
    return improved


def place_errors(
    rankings: Ints, begins: Ints, partners: Codes, won: Floats, lost: Floats, laws: Floats, reach: int
) -> Floats:
    n_rankings, n_items = rankings.shape
    out = np.zeros((n_items, n_rankings))
    for k, place in enumerate(np.argsort(rankings, axis=1)):
        for item, (b, e) in enumerate(pairwise(begins)):
            by = np.arange(max(-reach, -place[item]), min(reach, n_items - 1 - place[item]) + 1)
            lead = (place[partners[b:e]] - place[item])[:, None] - by
            logs = won[b:e, k] @ laws[k, n_items - 1 + lead] + lost[b:e, k] @ laws[k, n_items - 1 - lead]
            chance = np.exp(np.minimum(logs - logs[by == 0], 50.0))
            mean = by @ chance / chance.sum()
            out[item, k] = np.sqrt((by - mean) ** 2 @ chance / chance.sum())
    return out
