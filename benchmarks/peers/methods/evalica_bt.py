"""evalica: one Bradley-Terry ranking. An item that draws with all others, at some weight, keeps scores finite."""

import evalica
import numpy as np

from benchmarks.peers.case import Predict, Train
from benchmarks.peers.methods.one_ranking import predict_by_utility

SETTINGS = [{"draws": draws} for draws in (0.003, 0.03, 0.3, 1.0, 3.0)]


def fit(train: Train, seed: int, threads: int, *, draws: float) -> Predict:  # noqa: ARG001
    items, ghost = list(range(train.n_items)), train.n_items
    winners, losers = train.pairs["winner"].to_list(), train.pairs["loser"].to_list()
    outcomes = [evalica.Winner.X] * len(winners) + [evalica.Winner.Draw] * len(items)
    weights = [1.0] * len(winners) + [draws] * len(items)
    xs, ys = winners + items, losers + [ghost] * len(items)
    result = evalica.bradley_terry(xs, ys, outcomes, weights=weights, limit=1000)
    return predict_by_utility(np.log(result.scores.loc[items].to_numpy()))
