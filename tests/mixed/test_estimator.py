"""What MixedRanking fits, and what it predicts."""

import copy
import itertools
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

import plurank
from plurank import (
    Comparisons,
    ConvergenceWarning,
    MixedRanking,
    NotIdentifiableError,
    ParameterError,
)
from tests.contracts.equality import assert_same_model
from tests.contracts.model_contract import asked, without_effects
from tests.mixed.kinds import KINDS, make
from tests.oracles.simulated_scores import sigmoid
from tests.oracles.small_data import draw_comparisons, repeated, users_of, weighted


def test_fitted_attributes_have_their_shapes(kind, model):
    n_others = model.ensemble - 1
    shapes = {
        "rankings_": (2, 8), "scores_": (8, 2), "score_errors_": (8, 2), "user_weights_": (150, 2),
        "mean_weights_": (2,), "user_concentration_": (150,), "member_scores_": (n_others, 8, 2),
        "member_weights_": (n_others, 150, 2), "log_posterior_": (model.n_iter_,), "items_": (8,), "users_": (150,),
    }  # fmt: skip
    assert {name: getattr(model, name).shape for name in shapes} == shapes
    assert all(np.isfinite(getattr(model, name)).all() for name in shapes)
    assert (model.score_errors_ > 0).all()
    assert (model.user_concentration_ > 0).all()
    assert (model.concentration_, model.score_scale_) == (1.0, 1.0)
    assert hasattr(model, "dispersion_") == (kind == "mallows")
    assert hasattr(model, "flip_probability_") == (kind == "strict")
    assert set(model.fields) <= set(vars(model))


def test_scores_are_in_the_order_of_the_rankings(model):
    for k, ranking in enumerate(model.rankings_):
        assert (np.diff(model.scores_[ranking, k]) <= 0).all()


def test_scores_of_orders_are_minus_the_places(models):
    for kind in ("mallows", "strict"):
        places = np.argsort(models[kind].rankings_, axis=1).T
        np.testing.assert_array_equal(models[kind].scores_, -places)


def test_the_most_followed_ranking_comes_first(model):
    assert (np.diff(model.mean_weights_) <= 0).all()
    np.testing.assert_allclose(model.mean_weights_, model.user_weights_.mean(axis=0), atol=0.02)


def test_the_log_posterior_never_falls(kind, model, truth):
    assert model.converged_
    for fitted in (model, make(kind, 3, init="random", tol=1e-7).fit(truth.comparisons)):
        assert len(fitted.log_posterior_) > 2
        assert (np.diff(fitted.log_posterior_) >= -1e-9 * np.abs(fitted.log_posterior_[1:])).all()


@pytest.mark.parametrize("init", ["items", "pairs", "random"])
def test_every_start_leads_to_the_same_rankings_on_easy_data(init, models, truth):
    other = make(init=init).fit(truth.comparisons)
    assert plurank.ranking_error(other.rankings_, models["probability"].rankings_) < 0.04  # one swap of neighbours


def test_a_start_that_fails_says_why():
    c = Comparisons.from_arrays([1, 1, 2, 2, 3, 3], list("baaaba"), list("abbbab"))
    with pytest.raises(NotIdentifiableError, match="3 rankings were asked for"):
        make(n_rankings=3, init="pairs").fit(c)


def test_priors_are_chosen_on_held_out_comparisons(truth):
    train, test = truth.comparisons.split(0.2, random_state=0)
    chosen = MixedRanking(2, mixing="probability", random_state=0).fit(train)
    held_back = MixedRanking(2, mixing="probability", concentration=1000.0, score_scale=0.03, random_state=0).fit(train)
    assert chosen.score(test) > held_back.score(test)
    half = MixedRanking(2, mixing="probability", score_scale=0.7, random_state=0).fit(train)
    assert half.score_scale_ == 0.7
    assert half.concentration_ != 3.0


def test_data_too_few_to_hold_anything_out_keep_the_vague_priors():
    c = Comparisons.from_arrays([1, 1, 2], list("aab"), list("bcc"))
    model = MixedRanking(2, mixing="probability", random_state=0).fit(c)
    assert (model.concentration_, model.score_scale_) == (3.0, 1.0)


def test_all_attributes_are_the_same_for_one_two_and_four_threads():
    run = subprocess.run(
        [sys.executable, "-c", THREADS],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == list(KINDS)


THREADS = """
from plurank.kernels import threads
from tests.contracts.equality import assert_same_model
from tests.mixed.test_estimator import KINDS, make
from tests.oracles.simulated_scores import simulate_scores

threads.LEAST_WORK = 100  # so that everything is cut into many tasks
c = simulate_scores(100, 9, 2, 20, "probability", 0).comparisons
for kind in KINDS:
    fits = []
    for n_threads in (1, 2, 4):
        threads.set_num_threads(n_threads)
        fits.append(make(kind, max_iter=12, tol=1e-9 if kind == "probability" else 1e-5).fit(c))
    assert_same_model(fits[0], fits[1])
    assert_same_model(fits[0], fits[2])
    print(kind)
"""


# against slow twins


def one_bradley_terry_ranking(c, score_scale):
    """Scores (Q,) that maximise the posterior of one ranking, with a general optimiser."""
    variance = score_scale**2 + max(score_scale, 1.0) ** 2  # own and shared part
    counts = np.ones(len(c)) if c.weights is None else c.weights

    def loss(scores):
        gaps = scores[c.winners] - scores[c.losers]
        surprise = counts * sigmoid(-gaps)
        gradient = scores / variance
        np.add.at(gradient, c.winners, -surprise)
        np.add.at(gradient, c.losers, surprise)
        return (counts * np.logaddexp(0.0, -gaps)).sum() + 0.5 * (scores**2).sum() / variance, gradient

    return minimize(loss, np.zeros(c.n_items), jac=True, method="BFGS", options={"gtol": 1e-9}).x


@pytest.mark.parametrize("mixing", ["probability", "utility"])
@pytest.mark.parametrize("score_scale", [0.4, 2.0])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_one_ranking_is_a_bradley_terry_ranking(mixing, score_scale, is_weighted, rng):
    c = draw_comparisons(rng, n_users=30, n_items=6, weighted=is_weighted)
    model = MixedRanking(1, mixing=mixing, concentration=1.0, score_scale=score_scale, tol=1e-12, random_state=0).fit(c)
    np.testing.assert_allclose(model.scores_[:, 0], one_bradley_terry_ranking(c, score_scale), atol=1e-5)
    np.testing.assert_array_equal(model.user_weights_, 1.0)


def test_predictions_follow_the_formulas(models, truth):
    c = truth.comparisons
    users = users_of(c)
    for kind in ("probability", "utility"):
        model = without_effects(models[kind])
        gaps, theta = model.scores_[c.winners] - model.scores_[c.losers], model.user_weights_[users]
        p = (sigmoid(gaps) * theta).sum(axis=1)
        if kind == "utility":
            mean = (gaps * theta).sum(axis=1)
            variance = ((gaps**2 * theta).sum(axis=1) - mean**2) / (model.user_concentration_[users] + 1.0)
            p = sigmoid(mean / np.sqrt(1.0 + np.pi / 8.0 * variance))
        np.testing.assert_allclose(model.predict_proba(asked(c)), p)
    strict = without_effects(models["strict"])
    agrees = strict.scores_[c.winners] > strict.scores_[c.losers]
    share = (agrees * strict.user_weights_[users]).sum(axis=1)
    flip = strict.flip_probability_
    np.testing.assert_allclose(strict.predict_proba(asked(c)), flip + (1 - 2 * flip) * share)


def test_an_ensemble_predicts_the_mean_of_its_members(models, truth):
    model, questions = models["ensemble"], asked(truth.comparisons)
    first, second = copy.deepcopy(model), copy.deepcopy(model)
    for alone in (first, second):
        alone.member_scores_, alone.member_weights_ = model.member_scores_[:0], model.member_weights_[:0]
    second.scores_, second.user_weights_ = model.member_scores_[0], model.member_weights_[0]
    mean = (first.predict_proba(questions) + second.predict_proba(questions)) / 2
    np.testing.assert_allclose(model.predict_proba(questions), mean)
    assert not np.allclose(model.scores_, model.member_scores_[0], atol=1e-12)


def test_the_members_of_an_ensemble_number_their_rankings_alike(models):
    model = models["ensemble"]
    member = np.argsort(-model.member_scores_[0].T, axis=1)
    assert plurank.align(member, model.rankings_).tolist() == [0, 1]


def test_the_first_fit_of_an_ensemble_is_the_fit_alone(models):
    for name in ("scores_", "user_weights_", "rankings_"):
        np.testing.assert_array_equal(getattr(models["ensemble"], name), getattr(models["probability"], name))


# difficult data


def test_weight_two_is_the_row_twice(kind, truth):
    c = truth.comparisons.block(0, 60)
    times = np.random.default_rng(0).integers(1, 3, len(c))
    # from scores drawn by chance, because what marks users counts comparisons
    once, over = (make(kind, init="random", tol=1e-9).fit(data) for data in (weighted(c, times), repeated(c, times)))
    np.testing.assert_array_equal(once.rankings_, over.rankings_)
    np.testing.assert_allclose(once.scores_, over.scores_, atol=0.02)
    np.testing.assert_allclose(once.user_weights_, over.user_weights_, atol=0.01)


def test_a_tie_is_half_a_win_each_way(kind):
    rows = {"user": list("uuuvvv"), "left": list("aababa"), "right": list("bccccb")}
    rows["winner"] = ["left", "left", "tie"] * 2
    tied = Comparisons.from_frame(pl.DataFrame(rows))
    assert tied.weights is not None
    model = make(kind, 1).fit(tied)
    assert model.items_[model.rankings_[0, 0]] == "a"
    only_ties = Comparisons.from_frame(pl.DataFrame(rows | {"winner": ["tie"] * 6}))
    evens = make(kind, 1).fit(only_ties)
    questions = pl.DataFrame({"user": ["u"], "left": ["a"], "right": ["b"]})
    assert evens.predict_proba(questions) == pytest.approx(0.5, abs=1e-6)


def test_users_who_contradict_themselves_believe_in_nothing(kind):
    both = [(u, *pair) for u in range(10) for pair in itertools.permutations("abc", 2)]
    users, winners, losers = (list(column) for column in zip(*both, strict=True))
    c = Comparisons.from_arrays(users, winners, losers)
    np.testing.assert_allclose(make(kind).fit(c).predict_proba(asked(c)), 0.5, atol=0.02)


def test_the_least_data_can_be_fitted_and_asked(kind):
    model = make(kind, 1).fit(Comparisons.from_arrays(["me"], ["a"], ["b"]))
    assert model.rank()["item"].to_list() == ["a", "b"]
    assert model.rank("me")["score"][0] > 0.5
    assert np.isfinite([model.scores_, model.score_errors_]).all()
    assert model.weight_intervals("me")["weight"].sum() == pytest.approx(1.0)


def test_two_items_and_two_kinds_of_people_are_told_apart(kind):
    users = np.repeat(np.arange(40), 8)
    winners = np.where(users % 2 == 0, "a", "b")
    model = make(kind).fit(Comparisons.from_arrays(users, winners, np.where(users % 2 == 0, "b", "a")))
    questions = pl.DataFrame({"user": [0, 1], "left": ["a", "a"], "right": ["b", "b"]})
    a_wins = model.predict_proba(questions)
    assert a_wins[0] > 0.8
    assert a_wins[1] < 0.2


@pytest.mark.parametrize("kind", ["probability", "utility"])
def test_an_item_nobody_beats_has_a_finite_score_at_the_top(kind):
    users = np.repeat(np.arange(30), 3)
    model = make(kind).fit(Comparisons.from_arrays(users, list("aab") * 30, list("bcc") * 30))
    assert model.items_[model.rankings_[:, 0]].tolist() == ["a", "a"]
    assert np.abs(model.scores_).max() < 20


def test_a_user_with_one_comparison_stays_near_the_mean(kind, truth, models):
    extra = pl.DataFrame({"user": [999], "winner": [0], "loser": [1]})
    frame = pl.concat([truth.comparisons.to_frame().select("user", "winner", "loser"), extra], how="vertical_relaxed")
    model = make(kind).fit(Comparisons.from_frame(frame))
    lonely = model.users_.tolist().index(999)
    away = np.abs(model.user_weights_ - model.mean_weights_).max(axis=1)
    assert away[lonely] < np.median(away) + 0.1
    assert model.user_concentration_[lonely] < np.median(model.user_concentration_)


def test_ids_may_hold_anything(kind, tmp_path):
    names = ['a,"b"', "it's; x", "😀\n", "\t", " ", "né"]
    items = np.array(names, dtype=object)
    users = np.array(names * 5, dtype=object) + np.repeat(list("vwxyz"), 6).astype(object)
    c = draw_comparisons(np.random.default_rng(0), n_users=30, n_items=6)
    c = Comparisons(c.winners, c.losers, c.offsets, items, users)
    model = make(kind).fit(c)
    model.save(tmp_path / "model.plurank")
    loaded = plurank.load(tmp_path / "model.plurank")
    assert_same_model(loaded, model)
    assert sorted(loaded.rank(users[3])["item"]) == sorted(names)
    assert loaded.leaderboard()["item"].to_list() == items[model.rankings_[0]].tolist()


# parameters


@pytest.mark.parametrize("component", ["mallows", "strict"])
@pytest.mark.parametrize("parameters", [{"mixing": "utility"}, {"ensemble": 2}], ids=str)
def test_orders_can_be_neither_blended_nor_averaged(component, parameters, truth):
    with pytest.raises(ParameterError, match=rf"'{component}' has no scores .*Use component='bradley-terry'.*\.$"):
        make(component=component, **parameters).fit(truth.comparisons)


def test_not_converging_is_a_warning_and_the_estimate_stays(kind, truth):
    with pytest.warns(ConvergenceWarning, match=r"after 2 iterations; the fit is kept\. Try a larger max_iter"):
        model = make(kind, max_iter=2).fit(truth.comparisons)
    assert not model.converged_
    assert model.n_iter_ == 2
    # one Newton step from chance beats chance
    assert model.score(truth.comparisons) > np.log(0.5)


# new users


def test_comparisons_made_from_ratings_are_noticed_unless_told_otherwise(rng):
    users, items = np.nonzero(rng.random((40, 10)) < 0.8)
    ratings = pl.DataFrame({"user": users, "item": items, "rating": rng.integers(1, 6, len(users))})
    c = Comparisons.from_ratings(ratings)
    looked, told, denied = (make(from_ratings=rated).fit(c) for rated in (None, True, False))
    assert (looked.from_ratings_, told.from_ratings_, denied.from_ratings_) == (True, True, False)
    assert_same_model(looked.set_params(from_ratings=True), told)
    assert looked.user_concentration_.mean() < 0.7 * denied.user_concentration_.mean()
    assert looked.score_errors_.mean() > denied.score_errors_.mean()
    np.testing.assert_allclose(looked.transform(c), looked.user_weights_, atol=1e-4)
