"""evalica: one Bradley-Terry ranking, by its classic or by Newman's iterations."""

import evalica
import numpy as np

from benchmarks.peers.case import Predict, Train
from benchmarks.peers.methods.one_ranking import predict_by_utility

SETTINGS = [{"solver": "bradley_terry"}, {"solver": "newman"}]


def fit(train: Train, seed: int, threads: int, *, solver: str) -> Predict:  # noqa: ARG001
    winners, losers = train.pairs["winner"].to_list(), train.pairs["loser"].to_list()
    result = getattr(evalica, solver)(winners, losers, [evalica.Winner.X] * len(winners), limit=1000)
    utilities = np.zeros(train.n_items)
    # items that nobody compared, or that never won, stay in the middle or come last instead of breaking everything
    utilities[result.scores.index.to_numpy()] = np.log(np.maximum(result.scores.to_numpy(), 1e-9))
    return predict_by_utility(utilities)
