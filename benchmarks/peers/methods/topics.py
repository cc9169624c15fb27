"""What topic models share: each ordered pair is a word, each user a document."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.peers.case import Floats


def words_of(pairs: pl.DataFrame, n_items: int) -> NDArray[np.int64]:
    """Number the word (winner, loser) of every comparison, (n,)."""
    return pairs["winner"].to_numpy().astype(np.int64) * n_items + pairs["loser"].to_numpy()


def log_odds(topics: Floats, mixtures: Floats, questions: pl.DataFrame, n_items: int) -> Floats:
    """Compare the mass of (left, right) with that of (right, left) under topics (K, Q^2) and each user's mixture."""
    forward = words_of(questions.select(winner="left", loser="right"), n_items)
    backward = words_of(questions.select(winner="right", loser="left"), n_items)
    own = mixtures[questions["user"].to_numpy()]
    there, back = ((own * topics[:, words].T).sum(axis=1) for words in (forward, backward))
    return np.log(there) - np.log(back)
