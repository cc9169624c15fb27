"""What known users said about items counts beyond the rankings that they follow."""

import copy
from dataclasses import replace

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
    before, after = model.known_effects.of_user(5).table(1.0)[0], updated.known_effects.of_user(5).table(1.0)[0]
    np.testing.assert_allclose(after[:N_ITEMS], before)
    assert len(after) == N_ITEMS + 1


def test_items_added_later_leave_effects_with_their_users_and_items(parts):
    items = pl.DataFrame({"item": range(N_ITEMS + 2), "length": np.arange(N_ITEMS + 2) % 5})
    model = MixedRanking(2, mixing="utility", random_state=0).fit(parts[0], items=items.head(N_ITEMS))
    before = model.predict_proba(asked(parts[2]))
    model.add_items(items)
    np.testing.assert_allclose(model.predict_proba(asked(parts[2])), before, rtol=1e-6)
    model.update(parts[1])


def test_places_of_items_that_a_user_did_not_compare_are_uncertain_by_the_scale_of_effects(model, parts):
    answers = [(0, 1), (2, 1), (2, 3)]
    known = MixedRanking(2, mixing="utility", random_state=0).fit(parts[0])
    known.users_ = known.users_.astype(object)
    known.update(Comparisons.from_arrays(["new"] * 3, *zip(*answers, strict=True), items=list(range(N_ITEMS))))
    for ranked, plain in (
        (model.fold_in(answers).rank(), without_effects(model).fold_in(answers).rank()),
        (known.rank("new"), without_effects(known).rank("new")),
    ):
        widths = [
            (frame["upper"] - frame["lower"]).to_numpy()
            for frame in (each.filter(pl.col("item") > 3).sort("item") for each in (ranked, plain))
        ]
        assert (widths[0] >= widths[1]).all()
        assert widths[0].mean() > widths[1].mean() + 1.0


@pytest.fixture(scope="module")
def ratings():
    """Ratings of users with tastes of their own, to learn from, and comparisons of others with these."""
    rng = np.random.default_rng(1)
    base, own = np.linspace(1, -1, 20), rng.standard_normal((150, 20))
    users, items = (each.ravel() for each in np.indices((150, 20)))
    values = np.clip(np.round(3 + (base + own + 0.5 * rng.standard_normal(own.shape)).ravel()), 1, 5)
    part = rng.random(own.shape).argsort(axis=1).ravel()
    train, test = (
        pl.DataFrame({"user": users[rows], "item": items[rows], "rating": values[rows]})
        for rows in (part < 8, (part >= 8) & (part < 10))
    )
    pairs = test.join(train, on="user").filter(pl.col("rating") != pl.col("rating_right"))
    return Comparisons.from_ratings(train), pairs


def test_effects_of_comparisons_made_from_ratings_are_chosen_by_items_held_out(ratings):
    comparisons, pairs = ratings
    model = MixedRanking(2, mixing="utility", random_state=0).fit(comparisons)
    assert model.known_effect_scale_ < model.user_effect_scale_  # pairs of the same items follow from each other
    question = pairs.select("user", left="item", right="item_right")
    won = (pairs["rating"] > pairs["rating_right"]).to_numpy()

    def log_likelihood(each):
        chances = each.predict_proba(question)
        return np.log(np.where(won, chances, 1.0 - chances)).mean()

    assert log_likelihood(model) > log_likelihood(without_effects(model)) + 0.05


def test_what_was_said_counts_the_same_at_once_and_in_an_update(ratings):
    comparisons, _ = ratings
    model = MixedRanking(2, mixing="utility", random_state=0).fit(comparisons)
    user = comparisons.users[0]
    clone = replace(comparisons.take_users(comparisons.users == user), users=np.array(["clone"], object), ratings=None)
    model.users_ = model.users_.astype(object)
    model.update(clone)
    known, rows = model.known_effects, np.array([0, len(model.users_) - 1])
    assert list(model.users_[rows]) == [user, "clone"]
    errors = [known.of_user(int(row)).table(9.0)[1] for row in rows]
    np.testing.assert_allclose(errors[0], errors[1], rtol=0.15)


@pytest.mark.parametrize("keys", [[0, 0], [3, 2], [-1, 0], [0, 6]])
def test_files_whose_effects_are_of_nobody_are_refused(keys):
    assert not RULES["pairs of user and item"](np.array(keys), {"M": 2, "Q": 3})
    assert RULES["pairs of user and item"](np.array([0, 5]), {"M": 2, "Q": 3})
