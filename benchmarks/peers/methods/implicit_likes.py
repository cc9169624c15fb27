"""implicit: alternating least squares and Bayesian personalised ranking on likes and dislikes.

implicit knows clicks, not stars: an item is liked where its rating is above the mean of the user's ratings, and
disliked where it is below, which implicit takes as a negative value; BPR sees likes only.
"""

import numpy as np
import polars as pl
from implicit.cpu.als import AlternatingLeastSquares
from implicit.cpu.bpr import BayesianPersonalizedRanking
from scipy.sparse import csr_matrix

from benchmarks.peers.case import Floats, Predict, Train

SETTINGS = [
    {"model": "BPR", "factors": 10, "alpha": 1.0, "regularization": 0.1},
    {"model": "ALS", "factors": 10, "alpha": 5.0, "regularization": 1.0},
    {"model": "ALS", "factors": 10, "alpha": 5.0, "regularization": 10.0},
    {"model": "ALS", "factors": 10, "alpha": 20.0, "regularization": 1.0},
    {"model": "ALS", "factors": 10, "alpha": 20.0, "regularization": 10.0},
]


def fit(
    train: Train, seed: int, threads: int, *, model: str, factors: int, alpha: float, regularization: float
) -> Predict:
    assert train.ratings is not None
    sides = train.ratings.with_columns(value=(pl.col("rating") - pl.col("rating").mean().over("user")).sign())
    told = sides.filter(pl.col("value") > 0 if model == "BPR" else pl.col("value") != 0)
    places = (told["user"].to_numpy(), told["item"].to_numpy())
    table = csr_matrix((told["value"].to_numpy().astype(np.float32), places), shape=(train.n_users, train.n_items))
    fitted = factorise(table, seed, threads, model, factors, alpha, regularization)
    return lambda _, questions: odds_of(fitted.user_factors, fitted.item_factors, questions)


def factorise(
    table: csr_matrix, seed: int, threads: int, model: str, factors: int, alpha: float, regularization: float
) -> AlternatingLeastSquares | BayesianPersonalizedRanking:
    """Fit a model to what people like (positive) and dislike (negative), (M, Q)."""
    common = {"factors": factors, "regularization": regularization, "num_threads": threads, "random_state": seed}
    if model == "BPR":
        fitted = BayesianPersonalizedRanking(iterations=100, **common)
    else:
        fitted = AlternatingLeastSquares(alpha=alpha, iterations=30, **common)
    fitted.fit(table, show_progress=False)
    return fitted


def odds_of(users: Floats, items: Floats, questions: pl.DataFrame) -> Floats:
    """Give differences of utilities from factors of users and items."""
    left, right = (items[questions[side].to_numpy()] for side in ("left", "right"))
    return (users[questions["user"].to_numpy()] * (left - right)).sum(axis=1).astype(np.float64)
