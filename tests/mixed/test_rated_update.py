"""A MixedRanking of ratings, votes or rankings goes on with more of them, or with comparisons."""

import copy
import warnings

import numpy as np
import polars as pl
import pytest

import plurank
from plurank import Comparisons, ConvergenceWarning, MixedRanking, Rankings, Ratings
from plurank.mixed.rated_fields import DRAWN
from plurank.thurstone.draws import preference
from plurank.thurstone.update import standardise
from tests.contracts.equality import assert_same_model
from tests.oracles.simulated_ratings import simulate_ratings

KINDS = ("ratings", "factors", "votes", "rankings")


def make_data(frame, kind):
    if kind == "votes":
        frame = frame.with_columns(rating=(pl.col("rating") - 3).sign())
    return (Rankings if kind == "rankings" else Ratings).from_frame(frame)


def fit(data, kind="ratings", **parameters):
    parameters = {"n_factors": 2 if kind == "factors" else 0, "max_iter": 40, "random_state": 0, **parameters}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return MixedRanking(2, **parameters).fit(data)


@pytest.fixture(scope="module")
def frames():
    """Earlier and later observations, and some to predict: users and items that come, stay and go.

    Of users in both, ballots are of some items each time.
    """
    truth = simulate_ratings(300, 15, 1, share=0.8)
    rng = np.random.default_rng(0)
    found = {}
    for name, frame in (("ratings", truth.frame), ("rankings", truth.ballots)):
        is_late = (pl.col("user") >= "u220") | (pl.col("item") >= "i13") | pl.Series(rng.random(len(frame)) < 0.3)
        is_test = pl.Series(rng.random(len(frame)) < 0.2)
        found[name] = frame.filter(~is_late & ~is_test), frame.filter(is_late & ~is_test), frame.filter(is_test)
    return found


@pytest.fixture(scope="module")
def parts(frames):
    return {
        kind: [make_data(f, kind) for f in frames["rankings" if kind == "rankings" else "ratings"]] for kind in KINDS
    }


@pytest.fixture(scope="module")
def updated(parts):
    before = {kind: fit(data[0], kind) for kind, data in parts.items()}
    return before, {kind: copy.deepcopy(model).update(parts[kind][1]) for kind, model in before.items()}


@pytest.mark.parametrize("kind", KINDS)
def test_an_update_is_about_as_good_as_a_fit_of_everything(kind, parts, frames, updated):
    earlier, later, _ = frames["rankings" if kind == "rankings" else "ratings"]
    test = parts[kind][2].to_comparisons()
    before, after = (models[kind] for models in updated)
    everything = fit(make_data(pl.concat([earlier, later]), kind), kind)
    known = np.isin(test.items, before.items_)
    old = test.select(known[test.winners] & known[test.losers])
    # the fit of everything may be better by 0.01 and by the noise of short chains, 0.005; that of rankings
    # also knows how items of the earlier and the later ballot of a user compare
    assert after.score(old) > before.score(old) + 0.015
    assert after.score(test) > everything.score(test) - 0.015


@pytest.mark.parametrize("kind", KINDS)
def test_an_update_appends_users_and_items_and_keeps_the_numbers_of_all(kind, updated):
    before, after = (models[kind] for models in updated)
    n_items, n_users = len(before.items_), len(before.users_)
    assert after.items_[:n_items].tolist() == before.items_.tolist()
    assert after.users_[:n_users].tolist() == before.users_.tolist()
    assert (len(after.items_), len(after.users_)) == (15, 300)
    assert len(after.draw_scores_) == len(before.draw_scores_)
    assert after.scores_.shape == after.score_errors_.shape == (15, 2)
    assert after.user_weights_.shape == (300, 2)
    assert after.member_scores_.shape == (0, 15, 2)
    np.testing.assert_allclose(after.user_weights_.sum(axis=1), 1.0)
    np.testing.assert_allclose(after.draw_weights_.sum(axis=2), 1.0, atol=1e-5)
    after.check_consistent()
    for k in (0, 1):
        correlations = np.corrcoef(before.scores_.T, after.scores_[:n_items].T)[:2, 2:]
        assert correlations[k, k] > correlations[k, 1 - k]


@pytest.mark.parametrize("kind", KINDS)
def test_an_update_makes_the_model_surer(kind, updated):
    before, after = (models[kind] for models in updated)
    n_items, n_users = before.scores_.shape[0], len(before.users_)
    assert after.score_errors_[:n_items].mean() < before.score_errors_.mean()
    assert after.user_concentration_[:n_users].mean() > before.user_concentration_.mean()


def test_votes_and_ratings_are_counted(updated, parts):
    before, after = (models["votes"] for models in updated)
    n_more = len(parts["votes"][1])
    assert after.data_["n_comparisons"] == before.data_["n_comparisons"] + n_more
    assert after.data_["n_updates"] == 1
    assert after.user_votes_.sum() == after.item_votes_.sum() == before.user_votes_.sum() + n_more
    assert after.camp_votes_.sum() == before.camp_votes_.sum() + n_more
    assert after.rating_scale()["ratings"].sum() == before.rating_scale()["ratings"].sum() + n_more
    assert after.agreement().height == 30


def answer(*rows, rated=None):
    found = Comparisons.from_arrays(*zip(*rows, strict=True))
    return found if rated is None else found.__class__(
        found.winners, found.losers, found.offsets, found.items, found.users, found.weights, rated=rated
    )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_what_nobody_spoke_about_stays_as_it_was(kind, updated):
    before = updated[0][kind]
    after = copy.deepcopy(before).update(answer(("new", "i00", "i01"), ("u003", "i01", "i02"), rated=False))
    same = np.array([item not in ("i00", "i01", "i02") for item in before.items_])
    np.testing.assert_array_equal(after.scores_[same], before.scores_[same])
    others = np.array([user != "u003" for user in before.users_])
    np.testing.assert_array_equal(after.user_weights_[:-1][others], before.user_weights_[others])
    assert (after.scores_[~same] != before.scores_[~same]).all()
    old, new = (model.posterior.draws for model in (before, after))
    items = np.flatnonzero(same).astype(np.int32)
    rows = np.flatnonzero(others)[: len(items)].astype(np.int32)
    predicted = [
        preference(draws, [draw.known() for draw in draws], rows, items, np.roll(items, 1)) for draws in (old, new)
    ]
    np.testing.assert_allclose(*predicted, rtol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rated", [True, False])
def test_comparisons_teach_which_items_are_preferred(kind, rated, updated):
    model = copy.deepcopy(updated[0][kind])
    ranks = model.rank()["item"].to_list()
    best, worst = ranks[0], ranks[-1]
    rows = [(f"new{n}", worst, best) for n in range(60)]
    asked = pl.DataFrame({"user": ["nobody"], "left": [worst], "right": [best]})
    earlier = model.predict_proba(asked)[0]
    model.update(answer(*rows, rated=rated))
    assert model.predict_proba(asked)[0] > earlier + 0.05
    own = pl.DataFrame({"user": ["new1"], "left": [worst], "right": [best]})
    assert model.predict_proba(own)[0] > model.predict_proba(asked)[0]


def test_new_items_are_ranked_by_what_is_said_about_them(updated):
    model = copy.deepcopy(updated[0]["ratings"])
    rows = [(f"new{n}", item, value) for n in range(60) for item, value in (("good", 5), ("bad", 1), ("i00", 3))]
    model.update(Ratings.from_frame(pl.DataFrame(rows, schema=["user", "item", "rating"], orient="row")))
    ranks = dict(model.rank().select("item", "rank").iter_rows())
    assert ranks["good"] < ranks["i00"] < ranks["bad"]


@pytest.mark.parametrize("kind", ["factors", "rankings"])
def test_updates_are_repeatable_and_go_on_after_saving(kind, updated, parts, tmp_path):
    before, after = (models[kind] for models in updated)
    assert_same_model(copy.deepcopy(before).update(parts[kind][1]), after)
    more = parts[kind][2]
    after.save(tmp_path / "model.plurank")
    stored = plurank.load(tmp_path / "model.plurank").update(more)
    assert_same_model(stored, copy.deepcopy(after).update(more))
    assert stored.data_["n_updates"] == 2
    assert len(stored.draw_scores_) == len(before.draw_scores_)
    stored.check_consistent()


def test_many_small_updates_are_about_as_good_as_one(updated, parts):
    model, late = copy.deepcopy(updated[0]["ratings"]), parts["ratings"][1]
    for begin in range(0, late.n_users, 60):
        model.update(late.block(begin, min(begin + 60, late.n_users)))
    test = parts["ratings"][2].to_comparisons()
    # the drift of many small updates
    assert model.score(test) > updated[1]["ratings"].score(test) - 0.01


def test_the_origin_of_utilities_and_turns_of_factors_do_not_change_predictions(updated):
    draws = list(updated[0]["factors"].posterior.draws)
    other = standardise(draws)
    rows, items = np.arange(10, dtype=np.int32), np.arange(10, dtype=np.int32)
    for rated in (False, True):
        found = [
            preference(each, [draw.known() for draw in each], rows, items, np.roll(items, 1), rated=rated)
            for each in (draws, other)
        ]
        np.testing.assert_allclose(*found, rtol=1e-4)
    assert max(abs(draw.scores.mean()) for draw in other) < 1e-12


def test_an_update_leaves_the_arrays_of_the_draws_as_they_are_described(updated):
    for after in updated[1].values():
        for name, (_, field) in DRAWN.items():
            field.check(name, getattr(after, name), {})
