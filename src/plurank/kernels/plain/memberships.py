"""Plain twins of ``kernels/memberships.py``, where the docstrings are."""

# ruff: noqa: D103
import itertools

import numpy as np

from plurank.kernels.plain.common import ones_if_empty
from plurank.types import Codes, Floats, Integers


def map_user_weights(
    offsets: Integers,
    winners: Codes,
    losers: Codes,
    weights: Floats,
    places: Codes,
    flip: float,
    prior: Floats,
    init: Floats,
    max_rounds: int,
    tolerance: float,
) -> Floats:
    weights = ones_if_empty(weights, winners.size)
    out = init.copy()
    for u, (b, e) in enumerate(itertools.pairwise(offsets)):
        agrees = places[winners[b:e]] < places[losers[b:e]]
        likelihood = np.where(agrees, 1 - flip, flip)
        for _ in range(max_rounds):
            joint = out[u] * likelihood
            responsibility = joint / joint.sum(axis=1, keepdims=True)
            counts = weights[b:e] @ responsibility
            new = (counts + prior) / (weights[b:e].sum() + prior.sum())
            moved = np.abs(new - out[u]).max()
            out[u] = new
            if moved < tolerance:
                break
    return out


def regress_on_simplex(gram: Floats, targets: Floats, tolerance: float, max_steps: int) -> Floats:
    out = np.empty(targets.shape)
    for w, target in enumerate(targets):
        b = np.full(len(gram), 1.0 / len(gram))
        for _ in range(max_steps):
            gradient = gram @ b - target
            best = int(np.argmin(gradient))
            worst = int(np.argmax(np.where(b > 0, gradient, -np.inf)))
            gap = gradient[worst] - gradient[best]
            if not gap > tolerance:
                break
            curvature = gram[best, best] + gram[worst, worst] - 2 * gram[best, worst]
            step = b[worst] if curvature * b[worst] <= gap else gap / curvature
            b[best] += step
            b[worst] -= step
        out[w] = b
    return out
