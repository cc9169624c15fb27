"""Small models of every kind, fitted once, and labels that are hard to draw."""

import numpy as np
import pytest

import plurank

ODD = [
    "<script>alert(1)</script>", 'quoted "x" and \'y\'', "a, b; c", "datum['x'].y", "emoji 👩‍🚀", "line\nbreak",
    "same " * 12 + "one", "same " * 12 + "two",
]  # fmt: skip
MAKERS = {
    "MixedRanking": lambda: plurank.MixedRanking(3, random_state=0, max_iter=20),
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
