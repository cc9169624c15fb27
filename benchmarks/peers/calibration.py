"""From a method's log odds to probabilities: one slope, found on validation questions, alike for every method."""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit

Floats = NDArray[np.float64]


def fit_slope(odds: Floats, answers: NDArray[np.bool_]) -> float:
    """Give the slope that makes ``sigmoid(slope * odds)`` most likely: sides are coins, so there is no intercept."""
    signed = np.where(answers, odds, -odds)
    found = minimize_scalar(lambda log_slope: -log_expit(np.exp(log_slope) * signed).mean(), bounds=(-10, 5))
    return float(np.exp(found.x))


def calibrate(odds: Floats, slope: float) -> Floats:
    """Turn log odds into probabilities of left, never quite 0 or 1."""
    return np.clip(expit(slope * odds), 1e-6, 1 - 1e-6)
