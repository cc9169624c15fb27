"""Small models of every kind, fitted once, and labels that are hard to draw."""

import numpy as np
import pytest

import plurank

ODD = [
    "<script>alert(1)</script>", 'quoted "x" and \'y\'', "a, b; c", "datum['x'].y", "emoji 👩‍🚀", "line\nbreak",
    "same " * 12 + "one", "same " * 12 + "two",
]  # fmt: skip
MAKERS = {
    "MixedRanking": lambda: plurank.MixedRanking(3, mixing="probability", random_state=0, max_iter=20),
    "TopicRanking": lambda: plurank.TopicRanking(2, random_state=0),
    "SingleRanking": plurank.SingleRanking,
    "ClusteredRanking": lambda: plurank.ClusteredRanking(2, n_starts=1, random_state=0),
    "FJS": lambda: plurank.FJS(2),
    "PairTopics": lambda: plurank.PairTopics(2, random_state=0),
}


@pytest.fixture(scope="session")
def small():
    """Comparisons of 8 items with odd labels by 150 people."""
    made = plurank.simulate(
        150, 8, 2, 30, random_state=0, mean_weights=[0.7, 0.3], items=np.array(ODD, dtype=object)
    )  # fmt: skip
    return made.comparisons


@pytest.fixture(scope="session")
def models(small):
    """One fitted model of every class, made when first asked for."""
    made = {}

    def make(name):
        if name not in made:
            made[name] = MAKERS[name]().fit(small)
        return made[name]

    return make


@pytest.fixture(scope="session")
def mixed(models):
    return models("MixedRanking")


@pytest.fixture(scope="session")
def wide():
    """A model of 5 rankings of 40 numbered items, with more people than a map shows."""
    made = plurank.simulate(2_100, 40, 5, 12, random_state=0)
    return plurank.TopicRanking(5, random_state=0).fit(made.comparisons)


class Told(plurank.MixedRanking):
    """A model that was never fitted: rankings as given, with scores a step apart and errors of a share of a step."""

    def __init__(self, rankings, shares, weights=None, *, error=0.01, texts=None, votes=None, mixing="probability"):
        super().__init__(len(rankings), mixing=mixing)
        self.rankings_, self.mean_weights_ = np.array(rankings), np.array(shares)
        places = np.argsort(self.rankings_, axis=1).T
        self.scores_ = -1.0 * places
        self.score_errors_, self.score_correlations_ = np.full(places.shape, error), np.eye(len(rankings))
        self.items_ = np.array([chr(97 + i) for i in range(self.rankings_.shape[1])], dtype=object)
        self.item_texts_ = texts
        self.user_weights_ = np.array([shares] if weights is None else weights, dtype=float)
        self.users_ = np.array([f"user {n}" for n in range(len(self.user_weights_))], dtype=object)
        self.user_concentration_ = np.full(len(self.users_), 10.0)
        self.user_votes_ = None if votes is None else np.full(len(self.users_), votes)
        self.item_votes_ = self.item_people_ = np.full(len(self.items_), 50)
        self.influence_ = None
        self.data_, self.n_iter_, self.converged_ = None, 3, True
