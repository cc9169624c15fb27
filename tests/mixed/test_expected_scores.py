"""Scores of comparisons that follow features of the items."""

import numpy as np
import polars as pl
import pytest

import plurank
from plurank.mixed.expected_scores import Expected
from plurank.mixed.priors import ScorePrior
from plurank.regression.ridge import ItemRegression, find_share_left

N_ITEMS, FEW = 24, 4  # items, and those of which little is known


def compare(scores, items, n_users, seed):
    """Three comparisons of each user between some items."""
    rng = np.random.default_rng(seed)
    users = np.repeat(np.arange(n_users), 3)
    first = rng.choice(items, len(users))
    second = (first + 1 + rng.integers(N_ITEMS - 1, size=len(users))) % N_ITEMS
    wins = rng.random(len(users)) < 1.0 / (1.0 + np.exp(scores[second] - scores[first]))
    return users, np.where(wins, first, second), np.where(wins, second, first)


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    power = rng.standard_normal(N_ITEMS)
    scores = 1.5 * power + 0.3 * rng.standard_normal(N_ITEMS)
    many = compare(scores, np.arange(FEW, N_ITEMS), 300, 1)
    known = (many[1] >= FEW) & (many[2] >= FEW)
    few = np.arange(FEW), np.arange(FEW), np.arange(FEW, 2 * FEW)  # each of the others wins once, whatever it is
    columns = [np.concatenate([part[known], more]) for part, more in zip(many, few, strict=True)]
    return plurank.Comparisons.from_arrays(*columns), pl.DataFrame({"item": np.arange(N_ITEMS), "power": power}), scores


def test_items_that_few_compared_follow_their_features(made):
    votes, table, scores = made
    settings = {"score_scale": 1.5, "concentration": 1.0, "random_state": 0}
    plain = plurank.MixedRanking(1, mixing="utility", **settings).fit(votes)
    model = plurank.MixedRanking(1, mixing="utility", **settings).fit(votes, items=table)
    place = np.argsort(model.items_.astype(int))
    truth = scores - scores[FEW:].mean()

    def errors_of(fitted):
        own = fitted.scores_[place, 0]
        return np.abs(own - own[FEW:].mean() - truth)

    assert errors_of(model)[:FEW].mean() < 0.5 * errors_of(plain)[:FEW].mean()
    assert errors_of(model)[FEW:].mean() < 1.1 * errors_of(plain)[FEW:].mean()
    assert (model.score_errors_[place][:FEW] < plain.score_errors_[place][:FEW]).all()


def test_features_that_predict_nothing_leave_a_fit_as_it_is(made):
    votes, table, _ = made
    settings = {"score_scale": 1.5, "concentration": 1.0, "random_state": 0}
    mixed = table.with_columns(pl.Series("power", np.random.default_rng(2).permutation(table["power"].to_numpy())))
    plain = plurank.MixedRanking(1, mixing="utility", **settings).fit(votes)
    model = plurank.MixedRanking(1, mixing="utility", **settings).fit(votes, items=mixed)
    np.testing.assert_array_equal(model.scores_, plain.scores_)
    assert (model.item_effects()["effect"] == 0.0).all()


def test_every_member_of_an_ensemble_follows_features(made):
    votes, table, _ = made
    model = plurank.MixedRanking(1, mixing="utility", ensemble=2, score_scale=1.5, concentration=1.0, random_state=0)
    model.fit(votes, items=table)
    np.testing.assert_allclose(model.member_scores_[0], model.scores_, atol=0.05)


def test_a_prior_around_what_is_expected_is_the_prior_moved(rng):
    mean, scores = rng.standard_normal((2, 5, 3))
    expected = Expected(ItemRegression(mean, mean, mean), mean, 0.5)
    value, gradient, hessian = expected.shift(ScorePrior(1.0, 2.0)).evaluate(scores)
    wanted = ScorePrior(0.5, 1.0).evaluate(scores - mean)
    assert value == wanted[0]
    np.testing.assert_array_equal(gradient, wanted[1])
    np.testing.assert_array_equal(hessian, wanted[2])
    assert Expected().shift(ScorePrior(1.0, 2.0)) == ScorePrior(1.0, 2.0)


def test_the_share_left_is_that_of_items_held_out():
    rng = np.random.default_rng(0)
    features = rng.standard_normal((200, 2))
    scores = features @ [[1.0], [0.0]] + 0.5 * rng.standard_normal((200, 1))
    share = find_share_left(features, scores, np.full((200, 1), 0.01), 1.0, rng)
    assert abs(share - np.sqrt(0.25 / 1.25)) < 0.1  # three standard errors of a mean of 200 squares, and slopes
    noise = rng.standard_normal((30, 1))
    assert find_share_left(rng.standard_normal((30, 2)), noise, np.full((30, 1), 0.01), 1.0, rng) > 0.9
