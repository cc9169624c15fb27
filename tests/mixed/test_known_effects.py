"""What known users said about items counts beyond the rankings that they follow."""

import copy

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

from plurank import Comparisons, MixedRanking, ingest, load
from plurank.mixed import beyond_rankings
from plurank.models.fields import RULES
from tests.contracts.model_contract import asked, without_effects

N_USERS, N_ITEMS = 120, 15


@pytest.fixture(scope="module")
def parts():
    """Comparisons of users with tastes of their own, to learn from, to learn later, and to predict."""
    rng = np.random.default_rng(0)
    utilities = rng.standard_normal(N_ITEMS) + 1.2 * rng.standard_normal((N_USERS, N_ITEMS))
    users = np.repeat(np.arange(N_USERS), 60)
    first = rng.integers(N_ITEMS, size=len(users))
    second = (first + 1 + rng.integers(N_ITEMS - 1, size=len(users))) % N_ITEMS
    wins = rng.random(len(users)) < expit(utilities[users, first] - utilities[users, second])
    sides = np.where(wins, first, second), np.where(wins, second, first)
    part = rng.random(len(users))
    return [
        Comparisons.from_arrays(users[rows], *(side[rows] for side in sides), items=np.arange(N_ITEMS))
        for rows in (part < 0.6, (part >= 0.6) & (part < 0.8), part >= 0.8)
    ]


@pytest.fixture(scope="module")
def model(parts):
    return MixedRanking(2, mixing="utility", random_state=0).fit(parts[0])


def test_predictions_for_known_users_gain_by_what_they_said(model, parts):
    assert 0.5 <= model.user_effect_scale_ <= 2.0  # their tastes vary by 1.2
    assert model.score(parts[2]) > without_effects(model).score(parts[2]) + 0.03


def test_somebody_unknown_is_predicted_by_mean_weights_alone(model, parts):
    strangers = asked(parts[2]).with_columns(user=pl.lit(-1))
    np.testing.assert_array_equal(model.predict_proba(strangers), without_effects(model).predict_proba(strangers))


def test_a_user_is_ranked_with_what_they_said(model, parts):
    user = 7
    own = asked(parts[0]).filter(user=user)
    wins = own["left"].value_counts(name="n").sort("n", "left", descending=[True, False])
    liked = wins["left"][0]
    with_effects, by_weights = (each.rank(user).filter(item=liked) for each in (model, without_effects(model)))
    assert with_effects["score"][0] > by_weights["score"][0]
    assert with_effects["upper"][0] >= with_effects["lower"][0]


def test_saved_and_loaded_effects_predict_the_same(model, parts, tmp_path):
    model.save(tmp_path / "m.plurank")
    loaded = load(tmp_path / "m.plurank")
    np.testing.assert_array_equal(loaded.predict_proba(asked(parts[2])), model.predict_proba(asked(parts[2])))


def test_a_store_gives_the_same_effects(model, parts, tmp_path):
    parts[0].to_frame().write_csv(tmp_path / "votes.csv")
    store = ingest(tmp_path / "votes.csv", tmp_path / "store")
    on_disk = MixedRanking(2, mixing="utility", random_state=0).fit(store)
    np.testing.assert_array_equal(on_disk.user_effect_keys_, model.user_effect_keys_)
    np.testing.assert_array_equal(on_disk.user_effects_, model.user_effects_)


def test_effects_of_very_many_comparisons_are_not_kept(model, parts, monkeypatch):
    monkeypatch.setattr(beyond_rankings, "MOST_KEPT", len(parts[0]) - 1)
    fitted = MixedRanking(2, mixing="utility", random_state=0).fit(parts[0])
    assert fitted.user_effect_scale_ == model.user_effect_scale_
    assert fitted.user_effects_ is None


def test_an_update_moves_the_effects_of_the_users_it_is_about(model, parts):
    later, user = parts[1], 3
    of_one = later.take_users(later.users == user)
    updated = copy.deepcopy(model).update(of_one)
    moved = updated.known_effects.find(*np.divmod(model.user_effect_keys_, N_ITEMS))[0] != model.user_effects_
    assert set((model.user_effect_keys_ // N_ITEMS)[moved]) == {user}
    everybody = copy.deepcopy(model).update(later)
    assert everybody.score(parts[2]) > model.score(parts[2]) + 0.005


def test_an_update_with_new_items_and_users_keeps_effects_with_their_items(model, parts):
    more = Comparisons.from_arrays(["new", "new", 3], [0, 1, 15], [1, 2, 0], items=list(range(16)))
    mixed_ids = copy.deepcopy(model)
    mixed_ids.users_ = mixed_ids.users_.astype(object)
    updated = mixed_ids.update(more)
    before, after = model.known_effects.of_user(5).table()[0], updated.known_effects.of_user(5).table()[0]
    np.testing.assert_allclose(after[:N_ITEMS], before)
    assert len(after) == N_ITEMS + 1


@pytest.mark.parametrize("keys", [[0, 0], [3, 2], [-1, 0], [0, 6]])
def test_files_whose_effects_are_of_nobody_are_refused(keys):
    assert not RULES["pairs of user and item"](np.array(keys), {"M": 2, "Q": 3})
    assert RULES["pairs of user and item"](np.array([0, 5]), {"M": 2, "Q": 3})
