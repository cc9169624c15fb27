"""red-dwarf: opinion groups as pol.is finds them (PCA, k-means), and how much each group agrees with a statement.

The utility of a statement to a person is the share of their group who agreed with it less the share who disagreed,
drawn to that of everybody: ``added`` votes are added to a group's, with everybody's shares. People with too few votes
to be in a group are put into the one nearest to them.
"""

import numpy as np
import polars as pl
from reddwarf.implementations.base import run_pipeline

from benchmarks.peers.case import Floats, Predict, Train

SETTINGS = [  # groups: None leaves their number to red-dwarf
    {"groups": None, "added": 3.0},
    {"groups": 2, "added": 3.0},
    {"groups": 3, "added": 3.0},
    {"groups": 5, "added": 3.0},
    {"groups": 5, "added": 10.0},
]


def fit(train: Train, seed: int, threads: int, *, groups: int | None, added: float) -> Predict:  # noqa: ARG001
    assert train.ratings is not None
    votes = train.ratings.select(participant_id="user", statement_id="item", vote=pl.col("rating").cast(pl.Int64))
    if not votes["vote"].is_in([-1, 0, 1]).all():
        raise ValueError("votes have to be 1, 0 or -1")
    found = run_pipeline(votes=votes.to_dicts(), force_group_count=groups, random_state=seed)
    people = found.participants_df
    labels = np.zeros(train.n_users, dtype=int)
    labels[people.index.to_numpy()] = found.clusterer.predict(people[["x", "y"]].to_numpy())
    table = utilities_of(train, labels, added)[labels]

    def predict(asked: pl.DataFrame, questions: pl.DataFrame) -> Floats:  # noqa: ARG001
        who, left, right = (questions[name].to_numpy() for name in ("user", "left", "right"))
        return table[who, left] - table[who, right]

    return predict


def utilities_of(train: Train, labels: np.ndarray, added: float) -> Floats:
    """Give the mean vote of every group on every statement, drawn to everybody's and that to 0, (G, Q)."""
    assert train.ratings is not None
    users, items, votes = (train.ratings[name].to_numpy() for name in ("user", "item", "rating"))
    sums, counts = np.zeros((2, labels.max() + 1, train.n_items))
    np.add.at(sums, (labels[users], items), votes)
    np.add.at(counts, (labels[users], items), 1.0)
    everybody = sums.sum(axis=0) / (counts.sum(axis=0) + 1.0)
    return (sums + added * everybody) / (counts + added)
