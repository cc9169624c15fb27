"""Logistic functions and a scalar minimiser, in numpy.

scipy has them too, but importing its parts takes longer than most commands work with them; it stays for what takes more
than a few lines (digamma, the incomplete beta function).
"""

import math
from collections.abc import Callable

import numpy as np

from plurank.types import Floats

GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0

log_gamma = np.vectorize(math.lgamma, otypes=[np.float64])  # of a few numbers


def expit(x: Floats) -> Floats:
    """Return ``1 / (1 + exp(-x))``, accurate at both ends."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0.0, 1.0, small) / (1.0 + small)


def log_expit(x: Floats) -> Floats:
    """Return the logarithm of ``expit(x)``."""
    return np.minimum(x, 0.0) - np.log1p(np.exp(-np.abs(x)))


def logit(p: Floats) -> Floats:
    """Return the log odds of probabilities between 0 and 1."""
    return np.log(p) - np.log1p(-p)


def entropy(p: Floats) -> Floats:
    """Return the entropy of a coin that shows heads with probability p, in bits; 0 where p is 0 or 1."""
    return _surprise(p) + _surprise(np.maximum(1.0 - p, 0.0))


def _surprise(p: Floats) -> Floats:
    return -p * np.log2(np.where(p > 0.0, p, 1.0))


def minimise(loss: Callable[[float], float], low: float, high: float, tol: float) -> float:
    """Return where a function that falls, then rises between two ends is lowest, within tol, by golden sections."""
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = loss(left), loss(right)
    while high - low > tol:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = loss(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = loss(right)
    return float(left if at_left < at_right else right)
