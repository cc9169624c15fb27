"""What several plain twins need."""

# ruff: noqa: D103
import numpy as np

from plurank.types import Codes, Floats


def ones_if_empty(weights: Floats, n: int) -> Floats:
    return weights if weights.size else np.ones(n)


def sigmoid(x: Floats) -> Floats:
    return np.exp(-np.logaddexp(0.0, -x))


def by_lead(left: Codes, right: Codes, places: Codes, by_gap: Floats) -> Floats:
    """P(left over right) in every ranking, (n, K)."""
    return np.take_along_axis(by_gap.T, places[right].astype(np.int64) - places[left] + len(places) - 1, axis=0)
