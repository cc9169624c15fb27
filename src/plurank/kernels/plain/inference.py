"""Plain twins of ``kernels/inference.py``, where the docstrings are."""

# ruff: noqa: D103
import itertools
from collections.abc import Iterator

import numpy as np

from plurank.kernels.arrays import Keys
from plurank.kernels.plain.common import ones_if_empty
from plurank.types import Floats, Integers

ENOUGH = 0.5


def read_left_to_right(
    offsets: Integers,
    likelihoods: Floats,
    prior: Floats,
    seeds: Keys,
    n_particles: int,
    most_redrawn: int,
) -> Floats:
    users = zip(itertools.pairwise(offsets), seeds.tolist(), strict=True)
    values = [_read_user(likelihoods[a:b], prior, seed, n_particles, most_redrawn) for (a, b), seed in users]
    return np.array(values, dtype=np.float64)


def _uniforms(seed: int) -> Iterator[float]:
    """The stream of SplitMix64."""
    mask = 2**64 - 1
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        mixed = seed
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = ((mixed ^ (mixed >> shift)) * factor) & mask
        yield ((mixed ^ (mixed >> 31)) >> 11) * 2.0**-53


def _read_user(p: Floats, prior: Floats, seed: int, n_particles: int, most_redrawn: int) -> float:
    draws = _uniforms(seed)

    def draw(chances: Floats) -> int:
        cumulated = np.cumsum(chances)
        return min(int(np.searchsorted(cumulated, next(draws) * cumulated[-1], side="right")), len(chances) - 1)

    tokens = np.empty((n_particles, len(p)), dtype=np.int64)
    counts = np.zeros((n_particles, len(prior)))
    weights = np.full(n_particles, 1.0 / n_particles)
    value, turn = 0.0, 0
    for e in range(len(p)):
        n_redrawn = min(e, most_redrawn)
        for z, n, r in zip(tokens, counts, range(n_particles), strict=True):
            for at in np.arange(turn, turn + n_redrawn) % e if e else []:
                n[z[at]] -= 1.0
                z[at] = draw((prior + n) * p[at])
                n[z[at]] += 1.0
            weights[r] *= ((prior + n) * p[e]).sum() / (prior.sum() + e)
            z[e] = draw((prior + n) * p[e])
            n[z[e]] += 1.0
        turn = (turn + n_redrawn) % (e + 1)
        if weights.sum() == 0.0:
            return -np.inf
        value += np.log(weights.sum())
        weights /= weights.sum()
        if (weights**2).sum() * ENOUGH * n_particles > 1.0:
            wanted = (next(draws) + np.arange(n_particles)) / n_particles
            chosen = np.minimum(np.searchsorted(np.cumsum(weights), wanted, side="right"), n_particles - 1)
            tokens, counts = tokens[chosen], counts[chosen]
            weights = np.full(n_particles, 1.0 / n_particles)
    return float(value)


def digamma(x: Floats) -> Floats:
    """Far out ``log(x - 1/2) + 1 / (24 (x - 1/2)^2)`` and on, which needs no series of its own near 0."""
    steps = np.arange(200.0)
    far = x + len(steps) - 0.5
    return np.log(far) + 1.0 / (24.0 * far**2) - 7.0 / (960.0 * far**4) - (1.0 / (x[..., None] + steps)).sum(axis=-1)


def infer_dirichlets(
    offsets: Integers,
    likelihoods: Floats,
    weights: Floats,
    prior: Floats,
    init: Floats,
    max_rounds: int,
    tolerance: float,
) -> tuple[Floats, Floats]:
    found, values = init.copy(), np.zeros(len(offsets) - 1)
    counts = ones_if_empty(weights, len(likelihoods))
    for u, (begin, end) in enumerate(itertools.pairwise(offsets)):
        p, c = likelihoods[begin:end], counts[begin:end]
        for turn in range(max_rounds + 1):
            gamma = found[u]
            logs = digamma(gamma) - digamma(gamma.sum()[None])
            highest = logs.max()
            shares = np.exp(logs - highest)
            mixed = p @ shares
            values[u] = c @ (np.log(mixed) + highest)
            new = prior + shares * ((c / mixed) @ p)
            if turn == max_rounds or np.abs(new - gamma).max() <= tolerance * gamma.sum():
                break
            found[u] = new
    return found, values


def solve_user_effects(
    offsets: Integers,
    edges: Integers,
    ahead: Integers,
    behind: Integers,
    counts: Floats,
    odds: Floats,
    precision: Floats,
) -> tuple[Floats, Floats]:
    users = zip(itertools.pairwise(offsets), itertools.pairwise(edges), strict=True)
    found = [
        _deviate(ahead[a:b] - begin, behind[a:b] - begin, counts[a:b], odds[a:b], precision[begin:end])
        for (a, b), (begin, end) in users
    ]
    values, curvature = np.concatenate([*found, np.empty((2, 0))], axis=1)
    return values, curvature


def _deviate(ahead: Integers, behind: Integers, counts: Floats, odds: Floats, precision: Floats) -> Floats:
    n = len(precision)
    differences = np.zeros((len(odds), n))
    differences[np.arange(len(odds)), ahead] += 1.0
    differences[np.arange(len(odds)), behind] -= 1.0

    def value(x: Floats) -> float:
        return float(-counts @ np.logaddexp(0.0, -(odds + differences @ x)) - 0.5 * precision @ x**2)

    x, gained = np.zeros(n), np.inf
    while gained > 0.0:
        misses = 1.0 / (1.0 + np.exp(odds + differences @ x))
        bends = counts * misses * (1.0 - misses)
        step = np.linalg.solve(
            differences.T * bends @ differences + np.diag(precision),
            differences.T @ (counts * misses) - precision * x,
        )
        best = max((value(x + 0.5**halvings * step), -halvings) for halvings in range(20))
        gained = best[0] - value(x)
        x = x + 0.5 ** -best[1] * step if gained > 0.0 else x
    return np.stack([x, precision + (differences**2).T @ bends])
