"""plurank's MixedRanking: settings are the number of rankings and the way to mix them."""

from typing import Any

import numpy as np
import polars as pl

import plurank
from benchmarks.peers.case import Floats, Predict, Train

SETTINGS = [
    {"n_rankings": 5, "mixing": "probability"},
    {"n_rankings": 2, "mixing": "utility"},
    {"n_rankings": 3, "mixing": "utility"},
    {"n_rankings": 5, "mixing": "utility"},
    {"n_rankings": 10, "mixing": "utility"},
]
MEMBERS = 4  # that predictions average over, as other methods average over samples


def fit(train: Train, seed: int, threads: int, **setting: Any) -> Predict:  # noqa: ARG001  the environment is told
    items = np.arange(train.n_items)
    pairs = plurank.Comparisons.from_arrays(*train.pairs.select("user", "winner", "loser"), items=items)
    model = plurank.MixedRanking(random_state=seed, ensemble=MEMBERS, **setting).fit(pairs)

    def predict(asked: pl.DataFrame, questions: pl.DataFrame) -> Floats:
        if not len(asked):
            return log_odds(model.predict_proba(questions))
        told, test = (plurank.Comparisons.from_arrays(*frame, items=items) for frame in (asked, questions))
        # Comparisons are in the order of their users, and so are questions
        assert (test.winners == questions["left"].to_numpy()).all()
        return log_odds(model.predict_new(told, test))

    return predict


def log_odds(probabilities: Floats) -> Floats:
    return np.log(probabilities) - np.log1p(-probabilities)
