"""Scores of predicted probabilities, for comparisons that may have weights."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurank.exceptions import ParameterError


def log_likelihood(probabilities: Any, weights: Any = None) -> float:
    """Give the mean log probability of what happened; -log 2 = -0.693 is guessing."""
    p = _check(probabilities)
    with np.errstate(divide="ignore"):
        return float(np.average(np.log(p), weights=weights))


def accuracy(probabilities: Any, weights: Any = None) -> float:
    """Give the share of comparisons predicted right: a probability above one half; exactly one half counts half."""
    p = _check(probabilities)
    return float(np.average((p > 0.5) + 0.5 * (p == 0.5), weights=weights))


def _check(probabilities: Any) -> NDArray[np.float64]:
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 1 or not len(p) or not ((p >= 0) & (p <= 1)).all():
        raise ParameterError("expected at least one probability, each between 0 and 1.")
    return p
