"""crowd-kit: one Bradley-Terry ranking, or a noisy one where every worker has a skill and a bias to the left."""

import numpy as np
import pandas as pd
import polars as pl
from crowdkit.aggregation import BradleyTerry, NoisyBradleyTerry

from benchmarks.peers.case import Floats, Predict, Train
from benchmarks.peers.methods.one_ranking import predict_by_utility

SETTINGS = [{"noisy": False}, {"noisy": True}]


def fit(train: Train, seed: int, threads: int, *, noisy: bool) -> Predict:  # noqa: ARG001
    model = NoisyBradleyTerry(n_iter=100, random_state=seed) if noisy else BradleyTerry(n_iter=1000)
    model.fit(as_labels(train.pairs, seed))
    scores = np.clip(model.scores_.to_numpy(), 1e-9, 1 - 1e-9)
    utilities = np.zeros(train.n_items)
    utilities[model.scores_.index.to_numpy()] = np.log(scores) - (np.log1p(-scores) if noisy else 0.0)
    if not noisy:
        return predict_by_utility(utilities)
    return predict_with_skills(utilities, model.skills_.reindex(range(train.n_users), fill_value=model.skills_.mean()))


def as_labels(pairs: pl.DataFrame, seed: int) -> pd.DataFrame:
    """Worker, left, right, label, with sides by a coin, or the bias to the left would explain everything."""
    swap = np.random.default_rng(seed).random(len(pairs)) < 0.5
    winners, losers = pairs["winner"].to_numpy(), pairs["loser"].to_numpy()
    left, right = np.where(swap, losers, winners), np.where(swap, winners, losers)
    return pd.DataFrame({"worker": pairs["user"].to_numpy(), "left": left, "right": right, "label": winners})


def predict_with_skills(utilities: Floats, skills: pd.Series) -> Predict:
    """Mix the ranking with a coin, as often as the worker's skill says; unknown workers have the mean skill."""
    plain = predict_by_utility(utilities)

    def predict(asked: pl.DataFrame, questions: pl.DataFrame) -> Floats:
        skill = skills.to_numpy()[questions["user"].to_numpy()]
        left = skill / (1.0 + np.exp(-plain(asked, questions))) + (1.0 - skill) * 0.5
        return np.log(left) - np.log1p(-left)

    return predict
