"""What methods with one ranking for all share."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.peers.case import Floats, Predict


def win_counts(pairs: pl.DataFrame, n_items: int) -> NDArray[np.float64]:
    """How often the row's item beat the column's, (Q, Q)."""
    counts = np.zeros((n_items, n_items))
    np.add.at(counts, (pairs["winner"].to_numpy(), pairs["loser"].to_numpy()), 1.0)
    return counts


def predict_by_utility(utilities: Floats) -> Predict:
    """Predict by the items' utilities, (Q,), whoever asks."""

    def predict(asked: pl.DataFrame, questions: pl.DataFrame) -> Floats:  # noqa: ARG001
        return utilities[questions["left"].to_numpy()] - utilities[questions["right"].to_numpy()]

    return predict
