"""plurank's MixedRanking: settings are the number of rankings, the way to mix them, and whether to sample."""

from typing import Any

import numpy as np
import polars as pl

import plurank
from benchmarks.peers.case import Floats, Predict, Train
from plurank.data.split import look_rated

SETTINGS = [
    {"n_rankings": 3, "mixing": "utility"},
    {"n_rankings": 5, "mixing": "utility"},
    {"n_rankings": 10, "mixing": "utility"},
    {"n_rankings": 3, "inference": "sampling"},
    {"n_rankings": 5, "inference": "sampling"},
]
# instead of sampling, which is for comparisons that users made; those of ratings are plurank_ratings'
OF_RATINGS = {3: {"n_rankings": 2, "mixing": "utility"}, 5: {"n_rankings": 5, "mixing": "probability"}}
MEMBERS = 4  # that predictions average over, as other methods average over samples


def fit(train: Train, seed: int, threads: int, **setting: Any) -> Predict:  # noqa: ARG001  the environment is told
    items = np.arange(train.n_items)
    pairs = plurank.Comparisons.from_arrays(*train.pairs.select("user", "winner", "loser"), items=items)
    if "inference" in setting and look_rated(pairs):
        setting = OF_RATINGS[setting["n_rankings"]]
    members = {} if "inference" in setting else {"ensemble": MEMBERS}
    model = plurank.MixedRanking(random_state=seed, **members, **setting).fit(pairs)

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
