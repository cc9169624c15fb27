"""Plain twins of ``kernels/order_search.py``, where the docstrings are."""

# ruff: noqa: D103
from itertools import pairwise

import numpy as np

from plurank.kernels.plain.common import ones_if_empty
from plurank.types import Codes, Floats, Integers


def expected_wins(
    begins: Integers, users: Codes, weights: Floats, probabilities: Floats, theta: Floats, concentration: Floats
) -> Floats:
    weights = ones_if_empty(weights, users.size)
    out = np.zeros(probabilities.shape)
    for w, (b, e) in enumerate(pairwise(begins)):
        p, own, n = probabilities[w], theta[users[b:e]], concentration[users[b:e], None] + 1.0
        q = own @ p[:, None]
        average = 1.0 - (p / q - 1.0) / n + (own @ p[:, None] ** 2 / q**2 - 1.0) / n
        joint = own * p * np.maximum(average, 0.0)
        out[w] = weights[b:e] @ (joint / joint.sum(axis=1, keepdims=True))
    return out


def improve_orders(
    rankings: Integers,
    begins: Integers,
    partners: Codes,
    won: Floats,
    lost: Floats,  # noqa: ARG001
    by_gap: Floats,
    reach: int,
    max_sweeps: int,
) -> Integers:
    n_items = rankings.shape[1]
    items = np.repeat(np.arange(n_items), np.diff(begins))
    improved = rankings.copy()
    for k, order in enumerate(improved):
        for _ in range(max_sweeps):
            before = order.copy()
            for item, direction in ((item, direction) for item in range(n_items) for direction in (1, -1)):
                init = at = int(np.flatnonzero(order == item)[0])
                gain, best, best_place, path = 0.0, 1e-9, init, order.copy()
                while 0 <= at + direction < n_items and abs(at + direction - init) <= reach:
                    further = _moved(path, at, at + direction)
                    gain += _gain(path, further, items, partners, won[:, k], by_gap[k])
                    path, at = further, at + direction
                    if gain > best:
                        best, best_place = gain, at
                order[:] = _moved(order, init, best_place)
            if (order == before).all():
                break
    return improved


def _moved(order: Integers, at: int, to: int) -> Integers:
    """Take the item at one place out and put it in at another."""
    return np.insert(np.delete(order, at), to, order[at])


def _gain(old: Integers, new: Integers, items: Integers, partners: Codes, won: Floats, law: Floats) -> float:
    """Change of the log likelihood from one order to another; every ordered pair of items is one entry of won."""
    leads = [place[partners] - place[items] + len(place) - 1 for place in (np.argsort(old), np.argsort(new))]
    return float(won @ (law[leads[1]] - law[leads[0]]))


def place_errors(
    rankings: Integers, begins: Integers, partners: Codes, won: Floats, lost: Floats, by_gap: Floats, reach: int
) -> Floats:
    n_rankings, n_items = rankings.shape
    out = np.zeros((n_items, n_rankings))
    for k, place in enumerate(np.argsort(rankings, axis=1)):
        for item, (b, e) in enumerate(pairwise(begins)):
            by = np.arange(max(-reach, -place[item]), min(reach, n_items - 1 - place[item]) + 1)
            lead = (place[partners[b:e]] - place[item])[:, None] - by
            logs = won[b:e, k] @ by_gap[k, n_items - 1 + lead] + lost[b:e, k] @ by_gap[k, n_items - 1 - lead]
            chance = np.exp(np.minimum(logs - logs[by == 0], 50.0))
            mean = by @ chance / chance.sum()
            out[item, k] = np.sqrt((by - mean) ** 2 @ chance / chance.sum())
    return out
