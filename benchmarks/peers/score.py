"""Scores of predictions, by people who did not make them: log-likelihood, accuracy, calibration."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BINS = 10


def logs_of(probabilities: Floats, answers: NDArray[np.bool_]) -> Floats:
    """Log of the probability that was given to what happened, (n,)."""
    return np.log(np.where(answers, probabilities, 1.0 - probabilities))


def hits_of(probabilities: Floats, answers: NDArray[np.bool_]) -> Floats:
    """1 where the likelier side was preferred, 0 where not, a half where neither was likelier, (n,)."""
    return np.where(probabilities == 0.5, 0.5, (probabilities > 0.5) == answers)


def calibration_error(probabilities: Floats, answers: NDArray[np.bool_]) -> float:
    """Expected calibration error: mean gap of the likelier side's probability and how often it won, in ten bins."""
    sure = np.maximum(probabilities, 1.0 - probabilities)
    bins = np.minimum(((sure - 0.5) * 2 * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, sure - hits_of(probabilities, answers), BINS)
    return float(np.abs(gaps).sum() / len(sure))


def score(probabilities: Floats, answers: NDArray[np.bool_]) -> dict[str, Any]:
    """Score predictions of left, (n,), against answers, (n,)."""
    if not np.isfinite(probabilities).all() or (probabilities <= 0).any() or (probabilities >= 1).any():
        raise ValueError("expected probabilities between 0 and 1. Mend the method.")
    return {
        "log_likelihood": float(logs_of(probabilities, answers).mean()),
        "accuracy": float(hits_of(probabilities, answers).mean()),
        "calibration_error": calibration_error(probabilities, answers),
    }


def sums_by_user(users: pl.Series, probabilities: Floats, answers: NDArray[np.bool_]) -> pl.DataFrame:
    """Sum log-likelihoods and count questions for every user: what paired differences are drawn from."""
    logs = pl.DataFrame({"user": users, "logs": logs_of(probabilities.astype(np.float64), answers)})
    return logs.group_by("user", maintain_order=True).agg(pl.col("logs").sum(), n=pl.len())
