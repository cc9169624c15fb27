"""MixedRanking goes on with more comparisons."""

import copy

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

import plurank
from plurank import Comparisons, MixedRanking, ParameterError
from tests.contracts.equality import assert_same_model
from tests.contracts.model_contract import IDS
from tests.mixed.kinds import SCORED, make
from tests.oracles.simulated_scores import simulate_scores
from tests.oracles.small_data import draw_comparisons


@pytest.fixture(scope="module")
def parts():
    """Earlier and later comparisons, and some to predict: users and items that come, stay and go."""
    t = simulate_scores(200, 12, 2, 60, "probability", 4, score_scale=1.5, shared=0.5, concentration=0.5)
    rest, test = t.comparisons.split(0.2, random_state=0)
    frame = rest.to_frame().select("user", "winner", "loser")
    late = (pl.col("user") >= 150) | (pl.col("winner") >= 10) | (pl.col("loser") >= 10)
    coin = pl.Series(np.random.default_rng(0).random(len(frame)) < 0.3)
    is_late = frame.select(late).to_series() | coin
    return frame.filter(~is_late), frame.filter(is_late), test


@pytest.fixture(scope="module")
def updated(parts):
    earlier, later, _ = parts
    before = {kind: make(kind).fit(earlier) for kind in SCORED}
    return before, {kind: copy.deepcopy(model).update(later) for kind, model in before.items()}


@pytest.mark.parametrize("kind", SCORED)
def test_an_update_is_about_as_good_as_a_fit_of_everything(kind, parts, updated):
    earlier, later, test = parts
    before, after = (models[kind] for models in updated)
    everything = make(kind).fit(pl.concat([earlier, later]))
    old = test.to_frame().filter(pl.col("user").is_in(before.users_) & (pl.max_horizontal("winner", "loser") < 10))
    assert after.score(old) > before.score(old)
    # a Gaussian and a Dirichlet stand for what earlier comparisons said; measured: 0.0005 to 0.0007 is lost by that
    assert after.score(test) > everything.score(test) - 0.005
    assert everything.score(test) > np.log(0.5) + 0.1
    assert plurank.ranking_error(after.rankings_, relabelled_rankings(everything, after)) < 0.05


def relabelled_rankings(model, other):
    """The model's rankings in the numbers that the other gives the items."""
    numbers = {item: n for n, item in enumerate(other.items_.tolist())}
    return np.array([[numbers[item] for item in model.items_[ranking].tolist()] for ranking in model.rankings_])


@pytest.mark.parametrize("kind", SCORED)
def test_an_update_appends_users_and_items_and_keeps_the_numbers_of_all(kind, updated):
    before, after = (models[kind] for models in updated)
    assert after.users_[: len(before.users_)].tolist() == before.users_.tolist()
    assert after.items_[: len(before.items_)].tolist() == before.items_.tolist()
    assert sorted(after.users_.tolist()) == list(range(200))
    assert sorted(after.items_.tolist()) == list(range(12))
    assert after.user_weights_.shape == (200, 2)
    assert after.scores_.shape == after.score_errors_.shape == (12, 2)
    assert after.member_scores_.shape == (after.ensemble - 1, 12, 2)
    assert after.member_weights_.shape == (after.ensemble - 1, 200, 2)
    assert after.user_concentration_.shape == (200,)
    np.testing.assert_allclose(after.user_weights_.sum(axis=1), 1.0)
    old = [ranking[ranking < len(before.items_)] for ranking in after.rankings_]
    assert plurank.align(np.array(old), before.rankings_).tolist() == [0, 1]


@pytest.mark.parametrize("kind", SCORED)
def test_an_update_makes_the_model_surer(kind, updated):
    before, after = (models[kind] for models in updated)
    n_items, n_users = before.scores_.shape[0], len(before.users_)
    assert after.score_errors_[:n_items].mean() < before.score_errors_.mean()
    assert after.user_concentration_[:n_users].mean() > before.user_concentration_.mean()


@pytest.mark.parametrize("kind", SCORED)
def test_an_updated_model_can_be_saved_and_asked(kind, updated, tmp_path):
    after = updated[1][kind]
    after.save(tmp_path / "model.plurank")
    loaded = plurank.load(tmp_path / "model.plurank")
    assert_same_model(loaded, after)
    assert loaded.rank(199).equals(after.rank(199))
    assert loaded.weight_intervals(199).equals(after.weight_intervals(199))


def test_updates_may_follow_each_other(parts, updated):
    _, later, test = parts
    model = copy.deepcopy(updated[0]["probability"])
    for piece in (later[: len(later) // 2], later[len(later) // 2 :]):
        model.update(piece)
    # in two steps the approximation is made twice
    assert model.score(test) > updated[1]["probability"].score(test) - 0.02


def test_users_who_said_nothing_new_keep_their_weights(updated):
    model = copy.deepcopy(updated[0]["probability"])
    weights, user_concentration = model.user_weights_.copy(), model.user_concentration_.copy()
    model.update(Comparisons.from_arrays(["new", "new"], [0, 1], [1, 2]))
    np.testing.assert_allclose(model.user_weights_[:-1], weights)
    np.testing.assert_allclose(model.user_concentration_[:-1], user_concentration)
    assert model.users_[-1] == "new"
    assert np.abs(model.scores_ - updated[0]["probability"].scores_).max() < 0.1


@pytest.mark.filterwarnings("ignore::plurank.ConvergenceWarning")  # so few data have one ranking
@pytest.mark.parametrize("ids", ["text", "text and numbers", "negative numbers"])
def test_an_update_takes_ids_of_every_kind(ids, tmp_path):
    labels = IDS[ids](8)
    c = draw_comparisons(np.random.default_rng(1), n_users=20, n_items=6)
    users = IDS[ids](30)
    model = make().fit(Comparisons(c.winners, c.losers, c.offsets, labels[:6], users[:20]))
    model.update(Comparisons(c.winners, c.losers, c.offsets, labels[2:], users[10:]))
    assert model.items_.tolist() == labels.tolist()
    assert model.users_.tolist() == users.tolist()
    model.save(tmp_path / "model.plurank")
    assert_same_model(plurank.load(tmp_path / "model.plurank"), model)


def test_rankings_that_are_the_same_cannot_be_told_apart_by_an_update_which_says_so():
    both_ways = [(i, j) for i in range(6) for j in range(6) if i != j]
    winners, losers = zip(*both_ways, strict=True)
    model = make().fit(Comparisons.from_arrays(["one"] * 30 + ["two"] * 30, winners * 2, losers * 2))
    assert np.ptp(model.scores_) < 1e-9
    with pytest.warns(plurank.ConvergenceWarning, match="cannot tell them apart"):
        model.update(Comparisons.from_arrays(["three", "four"], [0, 1], [1, 0]))


@pytest.mark.parametrize("kind", ["mallows", "strict"])
def test_orders_cannot_be_updated_and_say_so(kind, models, truth):
    told = rf"a model of component '{kind}' cannot be updated, .*'bradley-terry'\. Fit again with all comparisons\.$"
    with pytest.raises(ParameterError, match=told):
        models[kind].update(truth.comparisons)


def test_nothing_can_be_updated_before_fit(truth):
    with pytest.raises(NotFittedError, match="not fitted"):
        MixedRanking().update(truth.comparisons)
