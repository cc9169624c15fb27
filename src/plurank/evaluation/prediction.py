"""Scores of predicted probabilities, for comparisons that may have weights."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurank.data.checks import check_numbers
from plurank.exceptions import ParameterError


def log_likelihood(probabilities: Any, weights: Any = None) -> float:
    """Give the mean log probability of what happened; -log 2 = -0.693 is guessing."""
    p = _check(probabilities)
    with np.errstate(divide="ignore"):
        return float(np.average(np.log(p), weights=_check_weights(weights, len(p))))


def accuracy(probabilities: Any, weights: Any = None) -> float:
    """Give the share of comparisons predicted right: a probability above one half; exactly one half counts half."""
    p = _check(probabilities)
    return float(np.average((p > 0.5) + 0.5 * (p == 0.5), weights=_check_weights(weights, len(p))))


def _check(probabilities: Any) -> NDArray[np.float64]:
    p = check_numbers("probabilities", probabilities)
    if p.ndim != 1 or not len(p) or not ((p >= 0) & (p <= 1)).all():
        raise ParameterError("expected at least one probability, each between 0 and 1.")
    return p


def _check_weights(weights: Any, n: int) -> NDArray[np.float64] | None:
    if weights is None:
        return None
    found = check_numbers("weights", weights)
    if found.shape != (n,) or not (found >= 0).all() or not found.any():
        raise ParameterError(f"expected {n:,} weights of at least 0, one for each probability, and some above 0.")
    return found
