"""cornac: matrix factorisation of stars with biases (MF) and probabilistic matrix factorisation (PMF)."""

import numpy as np
import polars as pl
from cornac.data import Dataset
from cornac.models import MF, PMF

from benchmarks.peers.case import Floats, Predict, Train

SETTINGS = [
    {"model": "MF", "k": 10, "lambda_reg": 0.05},
    {"model": "MF", "k": 10, "lambda_reg": 0.1},
    {"model": "MF", "k": 10, "lambda_reg": 0.2},
    {"model": "MF", "k": 10, "lambda_reg": 0.4},
    {"model": "PMF", "k": 10, "lambda_reg": 0.05},
]


def fit(train: Train, seed: int, threads: int, *, model: str, k: int, lambda_reg: float) -> Predict:  # noqa: ARG001
    assert train.ratings is not None
    stars = Dataset.from_uir(list(train.ratings.select("user", "item", "rating").iter_rows()), seed=seed)
    kind = {"MF": MF, "PMF": PMF}[model]
    fitted = kind(k=k, max_iter=100, learning_rate=0.01, lambda_reg=lambda_reg, seed=seed).fit(stars)
    tables = as_tables(fitted, stars, train)

    def predict(asked: pl.DataFrame, questions: pl.DataFrame) -> Floats:  # noqa: ARG001
        users, left, right = (questions[name].to_numpy() for name in ("user", "left", "right"))
        return tables[users, left] - tables[users, right]

    return predict


def as_tables(fitted: MF | PMF, stars: Dataset, train: Train) -> Floats:
    """Score every item for every user, (M, Q); whom or what the stars do not mention gets the mean."""
    known = np.array([fitted.score(row) for row in range(stars.num_users)])
    table = np.full((train.n_users, train.n_items), known.mean())
    users, items = (np.array(list(ids), dtype=int) for ids in (stars.uid_map, stars.iid_map))
    table[users[:, None], items] = known
    return table
