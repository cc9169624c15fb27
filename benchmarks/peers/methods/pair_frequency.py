"""How often the pair was decided so by anybody, with some wins added to both sides."""

import numpy as np
import polars as pl

from benchmarks.peers.case import Floats, Predict, Train
from benchmarks.peers.methods.one_ranking import win_counts

SETTINGS = [{"added": added} for added in (0.5, 1.0, 2.0, 5.0, 10.0)]


def fit(train: Train, seed: int, threads: int, *, added: float) -> Predict:  # noqa: ARG001
    logs = np.log(win_counts(train.pairs, train.n_items) + added)

    def predict(asked: pl.DataFrame, questions: pl.DataFrame) -> Floats:  # noqa: ARG001
        left, right = questions["left"].to_numpy(), questions["right"].to_numpy()
        return logs[left, right] - logs[right, left]

    return predict
