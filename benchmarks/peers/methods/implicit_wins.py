"""implicit: alternating least squares on win shares, from comparisons alone; new users' factors are solved for."""

import numpy as np
import polars as pl
from scipy.sparse import csr_matrix

from benchmarks.peers.case import Floats, Predict, Train
from benchmarks.peers.methods.implicit_likes import factorise, odds_of
from benchmarks.peers.methods.win_shares import win_shares

SETTINGS = [
    {"factors": 10, "alpha": 5.0, "regularization": 1.0},
    {"factors": 10, "alpha": 5.0, "regularization": 10.0},
    {"factors": 10, "alpha": 20.0, "regularization": 1.0},
    {"factors": 10, "alpha": 20.0, "regularization": 10.0},
    {"factors": 3, "alpha": 5.0, "regularization": 1.0},
]


def fit(train: Train, seed: int, threads: int, *, factors: int, alpha: float, regularization: float) -> Predict:
    shape = (train.n_users, train.n_items)
    fitted = factorise(table_of(train.pairs, shape), seed, threads, "ALS", factors, alpha, regularization)

    def predict(asked: pl.DataFrame, questions: pl.DataFrame) -> Floats:
        own = fitted.user_factors
        if len(asked):
            new = asked["user"].unique().sort().to_numpy()
            own = own.copy()
            own[new] = fitted.recalculate_user(new, table_of(asked, shape)[new])
        return odds_of(own, fitted.item_factors, questions)

    return predict


def table_of(pairs: pl.DataFrame, shape: tuple[int, int]) -> csr_matrix:
    """Give win shares as a table (M, Q); implicit takes negative ones for dislikes."""
    shares = win_shares(pairs).filter(pl.col("rating") != 0.0)
    values = shares["rating"].to_numpy().astype(np.float32)
    return csr_matrix((values, (shares["user"].to_numpy(), shares["item"].to_numpy())), shape=shape)
