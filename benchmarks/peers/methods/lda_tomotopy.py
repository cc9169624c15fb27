"""tomotopy's latent Dirichlet allocation (Gibbs sampling) on pairs as words; new users are folded in by infer."""

import numpy as np
import polars as pl
import tomotopy

from benchmarks.peers.case import Floats, Predict, Train
from benchmarks.peers.methods.topics import log_odds, words_of

SETTINGS = [
    {"n_topics": 2, "word_prior": 1.0},
    {"n_topics": 3, "word_prior": 1.0},
    {"n_topics": 5, "word_prior": 1.0},
    {"n_topics": 10, "word_prior": 1.0},
    {"n_topics": 10, "word_prior": 0.1},
]
ITERATIONS, FOLDING = 500, 100


def fit(train: Train, seed: int, threads: int, *, n_topics: int, word_prior: float) -> Predict:
    model = tomotopy.LDAModel(k=n_topics, eta=word_prior, seed=seed)
    known = documents(train.pairs, train.n_items)
    for words in known.values():
        model.add_doc(words)
    model.train(ITERATIONS, workers=threads)
    # words that nobody used are not in the model: they get the mass that the prior gives a word without counts
    unseen = word_prior / (model.get_count_by_topics() + word_prior * len(model.used_vocabs))
    topics = np.tile(unseen[:, None], (1, train.n_items**2))
    topics[:, [int(word) for word in model.used_vocabs]] = [model.get_topic_word_dist(k) for k in range(n_topics)]
    mixtures = {user: doc.get_topic_dist() for user, doc in zip(known, model.docs, strict=True)}
    mean = np.mean(list(mixtures.values()), axis=0)

    def predict(asked: pl.DataFrame, questions: pl.DataFrame) -> Floats:
        own = np.tile(mean, (train.n_users, 1))
        found = mixtures
        if len(asked):
            new = {user: model.make_doc(words) for user, words in documents(asked, train.n_items).items()}
            new = {user: doc for user, doc in new.items() if doc is not None and len(doc.words)}
            found = dict(zip(new, model.infer(list(new.values()), FOLDING, workers=threads)[0], strict=True))
        own[list(found)] = list(found.values())
        return log_odds(topics, own, questions, train.n_items)

    return predict


def documents(pairs: pl.DataFrame, n_items: int) -> dict[int, list[str]]:
    """List the words of every user who has any."""
    words = pairs.select("user", word=pl.Series(words_of(pairs, n_items)).cast(pl.String))
    grouped = words.group_by("user", maintain_order=True).agg("word")
    return dict(zip(grouped["user"].to_list(), grouped["word"].to_list(), strict=True))
