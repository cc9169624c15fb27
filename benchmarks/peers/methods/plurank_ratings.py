"""plurank's MixedRanking fitted to ratings and rankings themselves: settings are the number of rankings."""

from typing import Any

import numpy as np
import polars as pl

import plurank
from benchmarks.peers.case import Floats, Predict, Train
from benchmarks.peers.methods.plurank_mixed import log_odds

SETTINGS = [{"n_rankings": 3}, {"n_rankings": 6}]


def fit(train: Train, seed: int, threads: int, **setting: Any) -> Predict:  # noqa: ARG001  the environment is told
    assert train.ratings is not None
    model = plurank.MixedRanking(random_state=seed, **setting).fit(observe(train.ratings))

    def predict(asked: pl.DataFrame, questions: pl.DataFrame) -> Floats:
        known = set(model.items_.tolist())
        both = questions["left"].is_in(known) & questions["right"].is_in(known)
        odds = np.zeros(len(questions))  # of items that nobody in the training data rated
        questions, at = questions.filter(both), both.to_numpy()
        if not len(asked):
            odds[at] = log_odds(model.predict_proba(questions))
            return odds
        told = asked.filter(asked["winner"].is_in(known) & asked["loser"].is_in(known))
        told, test = (plurank.Comparisons.from_arrays(*frame, items=model.items_) for frame in (told, questions))
        assert (test.winners == look_up_sorted(model.items_, questions["left"].to_numpy())).all()
        odds[at] = log_odds(model.predict_new(told, test))
        return odds

    return predict


def observe(ratings: pl.DataFrame) -> "plurank.Ratings | plurank.Rankings":
    """Take places among the items of a user as a ranking: 1, ..., n, each once and for everybody; else as ratings."""
    places = ratings.select(pl.col("rating").sort().over("user", mapping_strategy="group_to_rows"), "user")
    expected = places.select((pl.col("rating") == pl.int_range(1, pl.len() + 1).over("user")).all()).item()
    if expected:
        return plurank.Rankings.from_frame(ratings.select("user", "item", rank=-pl.col("rating")))
    return plurank.Ratings.from_frame(ratings)


def look_up_sorted(labels: Any, wanted: Any) -> Any:
    return np.searchsorted(labels, wanted)
