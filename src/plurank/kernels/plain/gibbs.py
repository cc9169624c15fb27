"""Plain twins of ``kernels/gibbs.py``, where the docstrings are; every draw is the same as in native code."""

# ruff: noqa: D103
import itertools
import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from plurank.kernels.arrays import Keys
from plurank.kernels.observed import NO_ERRORS, Observed, UserPrior, padded
from plurank.types import Codes, Floats, Integers

UNBOUNDED = 1e6
MOST_SHRINKS = 200
FARTHEST = 690.0
STRETCH = 1.4
STEP = 2.0
INFORMATION = 0.6
TINY = 1e-300
FARTHEST_NORMAL = 37.0
LEAST_NORMAL_TAIL = 1e-297
GOLDEN = 0x9E3779B97F4A7C15
MASK = 2**64 - 1


def _mix_bits(mixed: int) -> int:
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = ((mixed ^ (mixed >> shift)) * factor) & MASK
    return mixed ^ (mixed >> 31)


class _Stream:
    """The stream number n of SplitMix64 that a key has."""

    def __init__(self, key: Keys, n: int) -> None:
        self.state = _mix_bits((int(key[0]) + GOLDEN * (n + 1)) & MASK)

    def next(self) -> float:
        self.state = (self.state + GOLDEN) & MASK
        return (_mix_bits(self.state) >> 11) * 2.0**-53

    def uniforms(self, n: int) -> Floats:
        """As many draws as n takes in whole vectors; the first n of them."""
        return np.array([self.next() for _ in range(padded(n))])[:n]

    def normals(self, n: int) -> Floats:
        return _quantile(self.uniforms(n))


def _cdf(x: Floats) -> Floats:
    far = np.clip(x, -FARTHEST_NORMAL, FARTHEST_NORMAL) * -math.sqrt(0.5)
    return np.array([0.5 * math.erfc(each) for each in far])


def _quantile(p: Floats) -> Floats:
    tails = np.maximum(np.minimum(p, 1.0 - p), LEAST_NORMAL_TAIL)
    return np.array([NormalDist().inv_cdf(tail) for tail in tails]) * np.where(p > 0.5, -1.0, 1.0)


def _truncated_normal(mean: Floats, lower: Floats, upper: Floats, uniform: Floats) -> Floats:
    """A draw of N(mean, 1) between bounds, in the tail where probabilities are exact."""
    side = np.where(lower + upper - 2.0 * mean > 0.0, -1.0, 1.0)
    ends = np.sort(side * np.stack([lower - mean, upper - mean]), axis=0)
    p, q = _cdf(ends[0]), _cdf(ends[1])
    return np.minimum(np.maximum(mean + side * _quantile(p + uniform * (q - p)), lower), upper)


def _log_between(mean: Floats, lower: Floats, upper: Floats) -> float:
    """Sum of log P(lower < N(mean, 1) < upper)."""
    side = np.where(lower + upper - 2.0 * mean > 0.0, -1.0, 1.0)
    ends = np.sort(side * np.stack([lower - mean, upper - mean]), axis=0)
    return float(np.log(np.maximum(_cdf(ends[1]) - _cdf(ends[0]), LEAST_NORMAL_TAIL)).sum())


def draw_users(
    observed: Observed,
    items: Floats,
    prior: UserPrior,
    factor_means: Floats,
    key: Keys,
    base: int,
    users: Floats,
    cuts: Floats,
    w: Floats,
    errors: Floats = NO_ERRORS,
) -> Floats:
    n_users, n_factors = factor_means.shape
    n_rankings = prior.counts.shape[-1]
    logs, size = np.empty((n_users, 3)), 1 + n_rankings + n_factors
    counts, cut_means, cut_precisions, factor_precisions = prior.for_each(n_users, n_factors)
    for u, (begin, end) in enumerate(itertools.pairwise(observed.offsets)):
        prior = UserPrior(counts[u], cut_means[u], cut_precisions[u])
        own, user, stream = slice(begin, end), users[u], _Stream(key, base + u)
        x, said, utilities = items[observed.codes[own]], observed.levels[own], w[own]
        f = x @ user
        if observed.kind == "rated":
            logs[u, :], thresholds = _move_rated_cuts(cuts[u], said, f, prior, stream)
            bounds = thresholds[said], thresholds[said + 1]
            utilities[:] = _truncated_normal(f, *bounds, stream.uniforms(len(f)))
        elif observed.kind == "compared with errors":
            links = observed.link_offsets[begin : end + 1], observed.links
            _draw_with_errors(utilities, *links, f, errors[0], stream)
        else:
            if observed.kind == "ranked":
                _draw_ranked(utilities, said, f, stream)
            else:
                links = observed.link_offsets[begin : end + 1], observed.links
                thresholds = None
                if observed.kind == "compared ratings":
                    thresholds = _move_compared_cuts(cuts[u], utilities, *links, prior, stream)
                _draw_compared(utilities, *links, thresholds, f, stream)
            logs[u, :] = -0.5 * ((utilities - f) ** 2).sum()
        products = (x.T @ x)[:size, :size]
        gradient = ((utilities - f) @ x)[:size]
        _move_weights(user, gradient, products, prior.counts, stream)
        if n_factors:
            z = slice(size - n_factors, size)
            precision = factor_precisions[u]
            right = precision * factor_means[u] + gradient[z] + products[z, z] @ user[z]
            user[z] = _draw_normal(products[z, z] + np.diag(precision), right, stream)
        if observed.kind == "compared with errors":
            f, (first, second) = x @ user, 1.0 / errors
            values = first * utilities, second * utilities, first * f + second * (utilities - f)
            logs[u] = [_log_likelihood(each, *links) for each in values]
    return logs


def _draw_normal(precision: Floats, right: Floats, stream: _Stream) -> Floats:
    """A draw of N(P^-1 right, P^-1)."""
    factor = np.linalg.cholesky(precision)
    return np.linalg.solve(factor.T, np.linalg.solve(factor, right) + stream.normals(len(right)))


def _thresholds(coordinates: Floats) -> Floats:
    """Thresholds (C + 2,) from their coordinates (C,); the first and the last are no bounds."""
    inner = np.cumsum(np.concatenate([coordinates[:1], np.exp(coordinates[1:])]))
    return np.concatenate([[-UNBOUNDED], inner, [UNBOUNDED]])


def _move_rated_cuts(
    coordinates: Floats, levels: Codes, f: Floats, prior: UserPrior, stream: _Stream
) -> tuple[float, Floats]:
    """Move thresholds in place; return the log-likelihood and the thresholds."""

    def log_likelihood(thresholds: Floats) -> float:
        return _log_between(f, thresholds[levels], thresholds[levels + 1])

    beside = [int(np.isin(levels, (k, k + 1)).sum()) for k in range(len(coordinates))]
    return _move_cuts(coordinates, log_likelihood, beside, len(f), prior, stream)


def _move_compared_cuts(
    coordinates: Floats, w: Floats, link_offsets: Integers, links: Codes, prior: UserPrior, stream: _Stream
) -> Floats:
    """Move thresholds in place so that one stays between any two items compared; return them."""
    winners = np.repeat(np.arange(len(w)), np.diff(link_offsets))
    own = links[link_offsets[0] : link_offsets[-1]]
    winners, losers = winners[own > 0], own[own > 0] - 1

    def log_likelihood(thresholds: Floats) -> float:
        above = thresholds[1:][np.searchsorted(thresholds[1:-1], w[losers], side="right")]
        return 0.0 if (above <= w[winners]).all() else -math.inf

    return _move_cuts(coordinates, log_likelihood, [len(w)] * len(coordinates), len(w), prior, stream)[1]


def _move_cuts(
    coordinates: Floats,
    log_likelihood: Callable[[Floats], float],
    beside: list[int],
    n_own: int,
    prior: UserPrior,
    stream: _Stream,
) -> tuple[float, Floats]:
    def log_prior(point: Floats) -> float:
        d = point - prior.cut_mean
        return float(-0.5 * d @ prior.cut_precision @ d)

    now, value = _thresholds(coordinates), log_likelihood(_thresholds(coordinates))
    normals = stream.normals(len(coordinates) + 1)
    for k in range(len(coordinates)):
        trial = now.copy()
        trial[k + 1] += STEP / math.sqrt(1.0 + INFORMATION * beside[k]) * normals[k]
        toss = math.log(max(stream.next(), TINY))
        if not trial[k] < trial[k + 1] < trial[k + 2]:
            continue
        point = np.concatenate([trial[1:2], np.log(np.diff(trial[1:-1]))])
        volume = float((coordinates - point)[1:].sum())  # of the step in coordinates
        there = log_likelihood(trial)
        if toss < there - value + log_prior(point) - log_prior(coordinates) + volume:
            coordinates[:], now, value = point, trial, there
    step = STEP / math.sqrt(1.0 + INFORMATION * n_own)
    point = coordinates.copy()
    point[:1] += step * normals[-1]
    trial, toss = _thresholds(point), math.log(max(stream.next(), TINY))
    there = log_likelihood(trial)
    if toss < there - value + log_prior(point) - log_prior(coordinates):
        coordinates[:], now, value = point, trial, there
    return value, now


def _draw_ranked(w: Floats, levels: Codes, f: Floats, stream: _Stream) -> None:
    ranks = np.unique(levels, return_inverse=True)[1].ravel()
    for parity in (0, 1):
        chosen = np.flatnonzero(ranks % 2 == parity)
        lower = np.array([w[ranks == ranks[e] - 1].max(initial=-UNBOUNDED) for e in chosen])
        upper = np.array([w[ranks == ranks[e] + 1].min(initial=UNBOUNDED) for e in chosen])
        w[chosen] = _truncated_normal(f[chosen], lower, upper, stream.uniforms(len(chosen)))
    if len(w):
        _shift_and_stretch(w, f, stream)


def _shift_and_stretch(w: Floats, f: Floats, stream: _Stream) -> None:
    """Shift all w, and stretch them around their mean, which no order notices."""
    n_apart = len(w) - 1.0
    apart, uniforms = w - w.mean(), stream.uniforms(4)
    shift, normal = _quantile(uniforms[:2]).tolist()
    step = STRETCH * normal / math.sqrt(n_apart) if n_apart else 0.0
    factor = math.exp(step)
    gain = n_apart * step + (factor - 1.0) * (apart @ f - 0.5 * (factor + 1.0) * apart @ apart)
    if not math.log(max(uniforms[2], TINY)) < gain:
        factor = 1.0
    w[:] = f.mean() + shift / math.sqrt(len(w)) + factor * apart


def _draw_compared(
    w: Floats, link_offsets: Integers, links: Codes, thresholds: Floats | None, f: Floats, stream: _Stream
) -> None:
    for e, (begin, end) in enumerate(itertools.pairwise(link_offsets)):
        own = links[begin:end]
        beaten, winners = w[own[own > 0] - 1], w[-own[own < 0] - 1]
        if thresholds is not None:
            beaten, winners = (
                thresholds[np.searchsorted(thresholds[1:-1], side, side="right") + more]
                for side, more in ((beaten, 1), (winners, 0))
            )
        lower, upper = beaten.max(initial=-UNBOUNDED), winners.min(initial=UNBOUNDED)
        draw = _truncated_normal(f[[e]], np.array([lower]), np.array([upper]), np.array([stream.next()]))
        w[e] = draw[0]


def _draw_with_errors(
    w: Floats, link_offsets: Integers, links: Codes, f: Floats, error: float, stream: _Stream
) -> None:
    for e, (begin, end) in enumerate(itertools.pairwise(link_offsets)):
        own = links[begin:end]
        sign, others = np.sign(own), w[np.abs(own) - 1]
        leads = sign * (w[e] - others) / error
        seen = _truncated_normal(leads, np.zeros(len(own)), np.full(len(own), UNBOUNDED), stream.uniforms(len(own)))
        total = 1.0 + len(own) / error**2
        mean = (f[e] + (others + sign * error * seen).sum() / error**2) / total
        w[e] = mean + _quantile(np.array([stream.next()]))[0] / math.sqrt(total)


def _log_likelihood(values: Floats, link_offsets: Integers, links: Codes) -> float:
    own = links[link_offsets[0] : link_offsets[-1]]
    winners = np.repeat(np.arange(len(values)), np.diff(link_offsets))[own > 0]
    return float(np.log(_cdf(values[winners] - values[own[own > 0] - 1])).sum())


def _move_weights(user: Floats, gradient: Floats, products: Floats, counts: Floats, stream: _Stream) -> None:
    n = len(counts)
    for k in range(n if n > 1 else 0):
        other = min(int(stream.next() * (n - 1)), n - 2)
        j = other if other < k else other + 1
        d = _move_weight(user, 1 + k, 1 + j, counts[[k, j]], gradient, products, stream)
        gradient -= d * (products[1 + k] - products[1 + j])


def _move_weight(
    user: Floats, k: int, j: int, counts: Floats, gradient: Floats, products: Floats, stream: _Stream
) -> float:
    """Move weight between two rankings by slice sampling of the logarithm of their ratio; return by how much."""
    (a, b), (now, other) = counts.tolist(), user[[k, j]].tolist()
    slope = float(gradient[k] - gradient[j])
    bend = float(products[k, k] - 2.0 * products[k, j] + products[j, j])

    def log_beta(y: float) -> float:
        return a * min(y, 0.0) - b * max(y, 0.0) - (a + b) * math.log1p(math.exp(-abs(y)))

    def part(y: float) -> float:
        return (now + other) / (1.0 + math.exp(-y))

    def gain(d: float) -> float:
        return d * (slope - 0.5 * bend * d)

    init = math.log(max(now, TINY)) - math.log(max(other, TINY))
    height = log_beta(init) + math.log(max(stream.next(), TINY))
    ends = gain(-now), gain(other)
    inside = -now * bend < slope < other * bend
    least = height - (0.5 * slope**2 / bend if inside else max(ends))
    low, high = max(least / a, -FARTHEST), min(-least / b, FARTHEST)
    for _ in range(MOST_SHRINKS):
        y = low + (high - low) * stream.next()
        d = part(y) - now
        if log_beta(y) + gain(d) >= height:
            user[k], user[j] = part(y), part(-y)
            return d
        if y < init:
            low = y
        else:
            high = y
    return 0.0


def sum_by_item(
    starts: Integers, positions: Codes, owners: Codes, users: Floats, w: Floats, size: int
) -> tuple[Floats, Floats]:
    width = users.shape[1]
    products, sums = np.zeros((len(starts) - 1, size, width)), np.zeros((len(starts) - 1, width))
    for i, (begin, end) in enumerate(itertools.pairwise(starts)):
        vectors = users[owners[begin:end]]
        products[i] = vectors[:, :size].T @ vectors
        sums[i] = w[positions[begin:end]] @ vectors
    return products, sums


def draw_items(products: Floats, sums: Floats, precision: Floats, right: Floats, key: Keys) -> tuple[Floats, Floats]:
    n_items, size, width = products.shape
    precisions = np.broadcast_to(precision, (n_items, size, size))
    rights = sums[:, :size] + right
    items, logs = np.zeros((n_items, width)), np.zeros(n_items)
    for i, matrix in enumerate(products[:, :, :size]):
        upper = np.triu(matrix)
        symmetric = upper + np.triu(upper, 1).T + precisions[i]
        items[i, :size] = _draw_normal(symmetric, rights[i], _Stream(key, i))
        logs[i] = 0.5 * (rights[i] @ np.linalg.solve(symmetric, rights[i]) - np.linalg.slogdet(symmetric)[1])
    return items, logs
