"""PairTopics keeps the contract, and its parts are those of plain loops."""

import numpy as np
import polars as pl
import pytest

import plurank
from plurank import Comparisons, ranking_error
from plurank.baselines.pair_topics import PairTopics, mix, weigh_topics
from tests.contracts.model_contract import ModelContract
from tests.oracles.small_data import draw_comparisons

BAD_PARAMETERS = (
    *({"n_rankings": bad} for bad in (0, -1, 1.5, True, "3", None, np.nan)),
    *({"detection": bad} for bad in ("", "fast", None, 1)),
    *({"random_state": bad} for bad in (-1, True)),
)


class TestWhitened(ModelContract):
    bad_parameters = BAD_PARAMETERS

    @classmethod
    def make(cls, n_rankings=3, **parameters):
        return PairTopics(n_rankings, **parameters)


class TestProjections(ModelContract):
    bad_parameters = BAD_PARAMETERS

    @classmethod
    def make(cls, n_rankings=3, **parameters):
        return PairTopics(n_rankings, **({"detection": "projections"} | parameters))


@pytest.fixture(scope="module")
def model(easy):
    return PairTopics(3, random_state=0).fit(easy.comparisons)


def test_topics_of_people_with_rankings_are_nearly_these_rankings(easy, model):
    assert ranking_error(model.rankings_, easy.rankings) == 0
    order = plurank.align(model.rankings_, easy.rankings)
    places = np.argsort(easy.rankings, axis=1)
    lower, higher = model.pairs_.T
    truth = (places[:, lower] < places[:, higher]).T
    # 40,000 comparisons show each of 45 pairs 900 times; a topic's share of it strays by a few in a hundred
    assert np.abs(model.preferences_[:, order] - truth).mean() < 0.05


def test_topics_predict_worse_than_rankings_do(easy):
    train, test = easy.comparisons.split(random_state=0)
    topics, rankings = (m(3, random_state=0).fit(train).score(test) for m in (PairTopics, plurank.TopicRanking))
    assert topics < rankings < 0


def test_pairs_never_compared_are_even():
    users = np.repeat(np.arange(50), 6)
    c = Comparisons.from_arrays(users, list("aabxxy") * 50, list("bccyzz") * 50)
    apart = PairTopics(1, random_state=0).fit(c)
    questions = pl.DataFrame({"user": [0, 0], "left": ["a", "z"], "right": ["x", "b"]})
    assert apart.predict_proba(questions).tolist() == [0.5, 0.5]
    assert len(apart.pairs_) == 6


@pytest.mark.parametrize("with_weights", [False, True])
def test_weights_of_topics_are_those_of_a_plain_loop(with_weights, rng):
    c = draw_comparisons(rng, n_users=15, n_items=5, weighted=with_weights)
    rows, table = rng.integers(0, 20, len(c)).astype(np.int32), rng.uniform(0.05, 0.95, (20, 3))
    prior, counts = np.array([0.5, 0.3, 0.4]), np.ones(len(c)) if c.weights is None else c.weights
    found = weigh_topics(c, rows, table, prior)
    for u in range(c.n_users):
        own = slice(c.offsets[u], c.offsets[u + 1])
        theta = prior / prior.sum()
        for _ in range(5000):
            joint = theta * table[rows[own]]
            theta = prior + counts[own] @ (joint / joint.sum(axis=1, keepdims=True))
            theta /= theta.sum()
        # they stop where five rounds move them by less than 0.001
        np.testing.assert_allclose(found[u], theta, atol=0.01)


def test_mixing_takes_comparisons_in_parts(rng, monkeypatch):
    rows, users = rng.integers(0, 20, 100).astype(np.int32), rng.integers(0, 7, 100).astype(np.int32)
    table, weights = rng.random((20, 3)), rng.dirichlet(np.ones(3), 7)
    expected = (table[rows] * weights[users]).sum(axis=1)
    for chunk in (1, 7, 1000):
        monkeypatch.setattr("plurank.baselines.pair_topics.CHUNK", chunk)
        np.testing.assert_allclose(mix(rows, users, table, weights), expected)


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("pairs_", lambda pairs: pairs[::-1]),
        ("pairs_", lambda pairs: pairs[:, ::-1]),
        ("pairs_", lambda pairs: pairs + 5),
        ("preferences_", lambda preferences: preferences[1:]),
        ("preferences_", lambda preferences: preferences + 0.7),
    ],
)
def test_a_file_with_impossible_pairs_is_refused(name, spoil, easy, tmp_path):
    model = PairTopics(3, random_state=0).fit(easy.comparisons)
    setattr(model, name, spoil(getattr(model, name)))
    model.save(tmp_path / "model.plurank")
    with pytest.raises(plurank.DataError, match=name):
        plurank.load(tmp_path / "model.plurank")


@pytest.mark.parametrize("concentration", [0.1, 2.0])
def test_the_prior_of_topics_that_are_no_rankings_is_found(concentration):
    rng = np.random.default_rng(0)
    weights = rng.dirichlet([0.6 * concentration, 0.4 * concentration], 3000)
    users = np.repeat(np.arange(3000), 20)
    first = rng.integers(3, size=len(users))
    second = (first + 1) % 3
    round_and_round = rng.random(len(users)) < weights[users, 0]  # 0 over 1 over 2 over 0; else the other way round
    winners, losers = np.where(round_and_round, (first, second), (second, first))
    model = PairTopics(2, random_state=0).fit(Comparisons.from_arrays(users, winners, losers))
    # the purity of 3,000 people's weights strays by 2 %, twenty comparisons each add as much
    assert model.concentration_ == pytest.approx(concentration, rel=0.3)
