"""scikit-learn's latent Dirichlet allocation on pairs as words; new users are folded in by transform."""

import numpy as np
import polars as pl
from scipy.sparse import csr_array
from sklearn.decomposition import LatentDirichletAllocation

from benchmarks.peers.case import Floats, Predict, Train
from benchmarks.peers.methods.topics import log_odds, words_of

SETTINGS = [
    {"n_topics": 2, "word_prior": 1.0},
    {"n_topics": 3, "word_prior": 1.0},
    {"n_topics": 5, "word_prior": 1.0},
    {"n_topics": 10, "word_prior": 1.0},
    {"n_topics": 10, "word_prior": 0.1},
]


def fit(train: Train, seed: int, threads: int, *, n_topics: int, word_prior: float) -> Predict:
    model = LatentDirichletAllocation(
        n_topics, topic_word_prior=word_prior, max_iter=30, random_state=seed, n_jobs=threads
    )
    known = model.fit_transform(count_words(train.pairs, train))
    topics = model.components_ / model.components_.sum(axis=1, keepdims=True)

    def predict(asked: pl.DataFrame, questions: pl.DataFrame) -> Floats:
        mixtures = model.transform(count_words(asked, train)) if len(asked) else known
        return log_odds(topics, mixtures, questions, train.n_items)

    return predict


def count_words(pairs: pl.DataFrame, train: Train) -> csr_array:
    """Users by words, all users, (M, Q^2)."""
    places = (pairs["user"].to_numpy(), words_of(pairs, train.n_items))
    return csr_array((np.ones(len(pairs)), places), shape=(train.n_users, train.n_items**2))
