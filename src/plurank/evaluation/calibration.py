"""Whether what is said to be 80 % probable happens in 80 of 100 cases."""

from typing import Any

import numpy as np
import polars as pl

N_BINS = 10  # between a half and 1


def calibration_table(probabilities: Any, weights: Any = None) -> pl.DataFrame:
    """Compare predictions with what happened: columns predicted, share, n, one row a bin that has comparisons.

    probabilities (n,): of what happened in each comparison. Which item stands on the left is chance, so each comparison
    is looked at from the side predicted to win: ``predicted`` is the mean probability of that side, between a half and
    1, ``share`` how often it won, and ``n`` the number of comparisons. Exactly one half counts half.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    mass = np.ones(len(p)) if weights is None else np.asarray(weights, dtype=np.float64)
    surer, won = np.maximum(p, 1.0 - p), (p > 0.5) + 0.5 * (p == 0.5)
    bins = np.minimum(((surer - 0.5) * 2 * N_BINS).astype(np.int64), N_BINS - 1)
    n, total, sums, wins = (np.bincount(bins, values, N_BINS) for values in (None, mass, mass * surer, mass * won))
    some = total > 0
    return pl.DataFrame({"predicted": sums[some] / total[some], "share": wins[some] / total[some], "n": n[some]})
