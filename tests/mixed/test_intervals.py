"""MixedRanking says how sure it is."""

import numpy as np
import pytest

from plurank import DataError, ParameterError
from tests.contracts.model_contract import without_effects
from tests.mixed.kinds import make
from tests.oracles.simulated_scores import simulate_scores


def test_places_lie_within_their_bounds(model):
    for frame in (model.rank(), model.rank(3), model.leaderboard(), model.leaderboard(2)):
        assert frame.columns == ["item", "score", "rank", "lower", "upper"]
        assert frame["rank"].to_list() == list(range(1, 9))
        assert (frame["lower"] <= frame["rank"]).all()
        assert (frame["rank"] <= frame["upper"]).all()
        assert frame["lower"].min() >= 1
        assert frame["upper"].max() <= 8
        assert (np.diff(frame["score"].to_numpy()) <= 0).all()
        assert frame["score"].is_between(0, 1).all()


def test_a_leaderboard_is_one_of_the_rankings(model):
    for k in range(2):
        assert model.leaderboard(k + 1)["item"].to_list() == model.items_[model.rankings_[k]].tolist()
        alone = model.rank(weights=np.eye(2)[k])
        assert alone["item"].to_list() == model.leaderboard(k + 1)["item"].to_list()
        np.testing.assert_allclose(alone["score"], model.leaderboard(k + 1)["score"], atol=1e-9)


def test_a_ranking_that_is_not_there_is_refused(model):
    with pytest.raises(ParameterError, match=r"ranking must be at most 2, the number of rankings, got 3\."):
        model.leaderboard(3)
    for bad in (0, -1, 1.5, "1", None):
        with pytest.raises(ParameterError, match=r"ranking must be an integer >= 1, got .*\."):
            model.leaderboard(bad)


def test_weights_lie_within_their_bounds(model):
    for user in model.users_.tolist():
        frame = model.weight_intervals(user)
        assert frame.columns == ["ranking", "weight", "lower", "upper"]
        assert frame["ranking"].to_list() == [1, 2]
        assert (frame["lower"] <= frame["weight"]).all()
        assert (frame["weight"] <= frame["upper"]).all()
    wide, narrow = (model.weight_intervals(3, level) for level in (0.99, 0.5))
    assert (wide["lower"] <= narrow["lower"]).all()
    assert (wide["upper"] >= narrow["upper"]).all()


@pytest.mark.parametrize("kind", ["probability", "utility"])
def test_weights_of_nearly_nothing_lie_within_their_bounds_too(kind, truth):
    # with little mass the Beta distribution of a small weight is so skewed that its mean lies beyond its quantiles
    model = make(kind, 3, concentration=0.05).fit(truth.comparisons)
    assert model.user_weights_.min() < 0.01
    for user in model.users_.tolist():
        frame = model.weight_intervals(user)
        assert (frame["lower"] <= frame["weight"]).all()
        assert (frame["weight"] <= frame["upper"]).all()


def test_one_ranking_leaves_nothing_unsure_about_a_user(truth):
    frame = make(n_rankings=1).fit(truth.comparisons).weight_intervals(0)
    assert frame.rows() == [(1, 1.0, pytest.approx(1.0), pytest.approx(1.0))]


def test_intervals_of_unknown_users_are_refused(model):
    with pytest.raises(DataError, match=r"does not know user 'nobody'\. .*transform"):
        model.weight_intervals("nobody")


def mean_width(frames):
    return np.mean([(frame["upper"] - frame["lower"]).mean() for frame in frames])


def test_more_data_make_intervals_narrower(kind):
    widths = []
    for n_comparisons in (15, 240):
        c = simulate_scores(60, 8, 2, n_comparisons, "probability", 2, score_scale=1.5, concentration=0.5).comparisons
        # effects of users have errors of their own, where there is enough to find any
        model, some = without_effects(make(kind).fit(c)), range(0, 60, 6)
        weights, users = (mean_width([ask(user) for user in some]) for ask in (model.weight_intervals, model.rank))
        boards = mean_width([model.leaderboard(1), model.leaderboard(2)])
        widths.append([weights, boards, users, model.score_errors_.mean()])
    few, many = np.array(widths)
    assert (many <= few).all()
    assert (many[[0, 2, 3]] < few[[0, 2, 3]]).all()  # places of orders may be certain already


def test_intervals_are_the_same_whenever_they_are_asked_for(model):
    assert model.rank(5).equals(model.rank(5))
    assert model.leaderboard(2).equals(model.leaderboard(2))


# more comparisons
