"""implicit: Bayesian personalised ranking and alternating least squares on likes.

implicit knows clicks, not stars: an item is liked where its rating is above the mean of the user's ratings.
"""

import numpy as np
import polars as pl
from implicit.cpu.als import AlternatingLeastSquares
from implicit.cpu.bpr import BayesianPersonalizedRanking
from scipy.sparse import csr_matrix

from benchmarks.peers.case import Floats, Predict, Train

SETTINGS = [
    {"model": "BPR", "factors": 10, "regularization": 0.01},
    {"model": "BPR", "factors": 10, "regularization": 0.1},
    {"model": "BPR", "factors": 3, "regularization": 0.1},
    {"model": "ALS", "factors": 10, "regularization": 1.0},
    {"model": "ALS", "factors": 3, "regularization": 1.0},
]


def fit(train: Train, seed: int, threads: int, *, model: str, factors: int, regularization: float) -> Predict:
    assert train.ratings is not None
    liked = train.ratings.filter(pl.col("rating") > pl.col("rating").mean().over("user"))
    places = (liked["user"].to_numpy(), liked["item"].to_numpy())
    likes = csr_matrix((np.ones(len(liked), dtype=np.float32), places), shape=(train.n_users, train.n_items))
    kind = {"BPR": BayesianPersonalizedRanking, "ALS": AlternatingLeastSquares}[model]
    extra = {"iterations": 100} if model == "BPR" else {"iterations": 30}
    fitted = kind(factors=factors, regularization=regularization, num_threads=threads, random_state=seed, **extra)
    fitted.fit(likes, show_progress=False)

    def predict(asked: pl.DataFrame, questions: pl.DataFrame) -> Floats:  # noqa: ARG001
        own = fitted.user_factors[questions["user"].to_numpy()]
        left, right = (fitted.item_factors[questions[side].to_numpy()] for side in ("left", "right"))
        return (own * (left - right)).sum(axis=1).astype(np.float64)

    return predict
