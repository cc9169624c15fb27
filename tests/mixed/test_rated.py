"""MixedRanking of ratings, votes and rankings: what it fits, predicts, saves, and says about new users."""

import copy
import itertools
import json
import pickle
import warnings

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

import plurank
from plurank import (
    Comparisons,
    ConvergenceWarning,
    DataError,
    MixedRanking,
    NotIdentifiableError,
    ParameterError,
    Rankings,
    RatingPredictor,
    Ratings,
    SingleRanking,
    SkippedWarning,
)
from plurank.mixed.rated import RatedSettings
from plurank.mixed.rated_candidates import RatedCandidates
from plurank.mixed.rated_fields import ARRAYS
from tests.contracts.equality import assert_same_model
from tests.models.archives import npy, rezip
from tests.oracles.simulated_ratings import simulate_ratings

QUESTIONS = list(itertools.permutations(("i00", "i01", "i03", "i07"), 2))


def fit(data, n_rankings=2, *, max_iter=6, n_factors=0, **parameters):
    """Fit with chains that are too short to agree, as most tests need no more."""
    parameters = {"random_state": 0, **parameters}
    model = MixedRanking(n_rankings, max_iter=max_iter, n_factors=n_factors, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(data)


def questions(*users):
    rows = [(user, left, right) for user in users for left, right in QUESTIONS]
    return pl.DataFrame(rows, schema=["user", "left", "right"], orient="row")


@pytest.fixture(scope="module")
def small():
    return simulate_ratings(80, 8, 1)


@pytest.fixture(scope="module")
def models(small):
    """Models of ratings with and without factors, of votes and of rankings."""
    votes = small.frame.with_columns(rating=(pl.col("rating") - 3).sign())
    return {
        "ratings": fit(Ratings.from_frame(small.frame)),
        "factors": fit(Ratings.from_frame(small.frame), n_factors=2),
        "votes": fit(Ratings.from_frame(votes)),
        "rankings": fit(Rankings.from_frame(small.ballots)),
    }


KINDS = ("ratings", "factors", "votes", "rankings")


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def model(kind, models):
    return models[kind]


# recovery

N_USERS, N_ITEMS = 400, 12


@pytest.fixture(scope="module")
def truth():
    return simulate_ratings(N_USERS, N_ITEMS, 0, share=0.7)


@pytest.fixture(scope="module")
def halves(truth):
    return Ratings.from_frame(truth.frame).split(0.25, random_state=0)


@pytest.fixture(scope="module")
def recovered(halves):
    return fit(halves[0], max_iter=40)


def align_columns(found, expected):
    """Put two columns into the order in which they correlate more with those expected."""
    correlations = [np.corrcoef(found[:, k], expected[:, j])[0, 1] for k in (0, 1) for j in (0, 1)]
    return found if correlations[0] + correlations[3] > correlations[1] + correlations[2] else found[:, ::-1]


def test_scores_and_weights_that_ratings_were_drawn_from_are_found(recovered, truth):
    items = [int(item[1:]) for item in recovered.items_]
    users = [int(user[1:]) for user in recovered.users_]
    scores, weights = truth.scores[items], truth.user_weights[users]
    found = align_columns(recovered.scores_, scores)
    for k in (0, 1):
        assert np.corrcoef(found[:, k], scores[:, k])[0, 1] > 0.9
    own = recovered.user_weights_ if found is recovered.scores_ else recovered.user_weights_[:, ::-1]
    assert np.corrcoef(own[:, 0], weights[:, 0])[0, 1] > 0.7


def test_held_out_pairs_are_predicted_better_than_by_one_ranking(recovered, halves):
    train, test = halves
    one = SingleRanking().fit(train)
    assert recovered.accuracy(test) > one.accuracy(test) + 0.02
    assert recovered.score(test) > one.score(test) + 0.02
    assert recovered.quality_["log_likelihood"] > recovered.quality_["single_log_likelihood"]


def rmse(found, frame):
    return float(np.sqrt(np.mean((found - frame["rating"].to_numpy()) ** 2)))


def test_ratings_are_predicted_better_than_by_the_means_of_items(recovered, halves):
    train, test = (half.to_frame() for half in halves)
    predictor = RatingPredictor(recovered).fit(train)
    found = predictor.predict(test)
    np.testing.assert_array_equal(RatingPredictor(recovered).fit(halves[0]).predict(test), found)
    assert predictor.levels_.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert ((found >= 1) & (found <= 5)).all()
    means = test.join(train.group_by("item").agg(mean=pl.col("rating").mean()), on="item", maintain_order="left")
    assert rmse(found, test) < 0.93 * rmse(means["mean"].to_numpy(), test)
    chances = predictor.predict_proba(test)
    assert chances.shape == (len(test), 5)
    assert (chances >= 0).all()
    np.testing.assert_allclose(chances.sum(axis=1), 1.0, rtol=1e-9)
    np.testing.assert_allclose(chances @ predictor.levels_, found)
    whole = RatingPredictor(recovered, integers=True).fit(train).predict(test)
    assert set(whole.tolist()) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    assert (np.abs(whole - found) <= 0.5 + 1e-9).all()


def test_new_users_are_predicted_by_their_ratings(recovered, halves):
    train, test = (half.to_frame().with_columns(user="new " + pl.col("user")) for half in halves)
    found = RatingPredictor(recovered).fit(train).predict(test)
    means = test.join(train.group_by("item").agg(mean=pl.col("rating").mean()), on="item", maintain_order="left")
    assert rmse(found, test) < 0.96 * rmse(means["mean"].to_numpy(), test)
    known = RatingPredictor(recovered).fit(halves[0].to_frame()).predict(halves[1].to_frame())
    assert np.corrcoef(found, known)[0, 1] > 0.9  # one draw of everybody instead of their own


def test_unknown_items_get_the_shares_of_levels_and_unknown_users_typical_ones(recovered, halves):
    predictor = RatingPredictor(recovered).fit(halves[0].to_frame())
    asked = pl.DataFrame({"user": ["nobody", "u000", "nobody"], "item": ["i00", "no such item", "no such item"]})
    chances = predictor.predict_proba(asked)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    shares = recovered.rating_scale()["share"].to_numpy()
    np.testing.assert_allclose(chances[1:], [shares, shares])
    stars = predictor.predict(pl.DataFrame({"user": ["nobody"] * N_ITEMS, "item": recovered.items_.tolist()}))
    assert np.corrcoef(stars, recovered.scores_ @ recovered.mean_weights_)[0, 1] > 0.95


# the fit


def test_a_fit_says_what_it_observed_and_how_it_converged(kind, model):
    assert model.observed_ == ("ratings" if kind == "factors" else kind)
    assert model.mixing_ == "utility"
    assert model.selection_ is None
    assert model.from_ratings_
    assert set(model.convergence_) == {
        "r_hat", "effective_draws", "pair_r_hat", "pair_effective_draws", "n_chains", "n_sweeps",
    }  # fmt: skip
    assert model.convergence_["n_chains"] == 2
    assert model.convergence_["n_sweeps"] == model.n_iter_ >= model.max_iter
    assert (model.explained_ is None) == (kind != "factors")
    assert model.converged_ == (model.convergence_["pair_r_hat"] <= 1.1)


def test_fitted_attributes_have_their_shapes(kind, model):
    n_draws = len(model.draw_scores_)
    n_cuts = {"ratings": 4, "factors": 4, "votes": 2, "rankings": 0}[kind]
    n_factors = 2 if kind == "factors" else 0
    shapes = {
        "rankings_": (2, 8), "scores_": (8, 2), "score_errors_": (8, 2), "user_weights_": (80, 2),
        "mean_weights_": (2,),
        "user_concentration_": (80,), "score_correlations_": (2, 2), "member_scores_": (0, 8, 2),
        "draw_weights_": (n_draws, 80, 2), "draw_item_factors_": (n_draws, 8, n_factors),
        "draw_cuts_": (n_draws, 80, n_cuts), "levels_": (0 if kind == "rankings" else n_cuts + 1,),
    }  # fmt: skip
    assert {name: getattr(model, name).shape for name in shapes} == shapes
    assert (np.diff(model.mean_weights_) <= 0).all()
    np.testing.assert_allclose(model.user_weights_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.draw_weights_.sum(axis=2), 1.0, atol=1e-5)
    model.check_consistent()
    for k, ranking in enumerate(model.rankings_):
        assert (np.diff(model.scores_[ranking, k]) <= 0).all()


def test_chains_that_are_too_short_are_warned_about(small):
    sentence = r"2 chains of \d+ sweeps do not agree yet \(R-hat .*Try a larger max_iter"
    with pytest.warns(ConvergenceWarning, match=sentence):
        model = MixedRanking(2, max_iter=5, n_factors=0, random_state=0).fit(small.frame)
    assert not model.converged_
    assert model.convergence_["pair_r_hat"] > 1.1


def test_a_frame_is_fitted_as_the_ratings_or_rankings_that_it_holds(models, small):
    assert_same_model(fit(small.frame), models["ratings"])
    assert_same_model(fit(small.frame.to_pandas()), models["ratings"])
    assert_same_model(fit(small.ballots), models["rankings"])


def test_the_same_seed_gives_the_same_model_and_another_another(models, small):
    ratings = Ratings.from_frame(small.frame)
    generators = [fit(ratings, max_iter=3, random_state=np.random.default_rng(5)) for _ in range(2)]
    assert_same_model(*generators)
    other = fit(ratings, random_state=1)
    assert (other.scores_ != models["ratings"].scores_).all()
    assert (other.draw_scores_ != models["ratings"].draw_scores_).all()


def test_more_chains_are_an_ensemble(small):
    model = fit(small.frame, max_iter=3, ensemble=3)
    assert model.convergence_["n_chains"] == 3
    assert len(set(model.draw_chains_.tolist())) == 3


@pytest.mark.parametrize("parameters", [{"mixing": "probability"}, {"component": "strict"}])
def test_what_has_no_utilities_is_fitted_to_comparisons(small, parameters):
    ratings = Ratings.from_frame(small.frame)
    given = {"concentration": 1.0, "score_scale": 1.0, "max_iter": 30}
    model, expected = fit(ratings, **given, **parameters), fit(ratings.to_comparisons(), **given, **parameters)
    assert model.posterior is None
    assert model.observed_ == "comparisons"
    assert_same_model(model, expected)


def test_a_fit_to_comparisons_made_from_ratings_recommends_one_to_the_ratings(small):
    given = {"concentration": 1.0, "score_scale": 1.0, "max_iter": 50}
    comparisons = Comparisons.from_ratings(small.frame)
    model = fit(comparisons, **given)
    assert model.observed_ == "comparisons"
    assert "A fit to Ratings or Rankings models each of them as one" in model.summary()["details"]["comparisons"]
    assert "comparisons" not in fit(comparisons, from_ratings=False, **given).summary()["details"]


def test_a_fit_to_comparisons_forgets_the_draws(small):
    comparisons = Ratings.from_frame(small.frame).to_comparisons()
    given = {"concentration": 1.0, "score_scale": 1.0, "max_iter": 20}
    again = fit(small.frame, max_iter=3).set_params(**given)
    assert again.posterior is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        again.fit(comparisons)
    assert again.posterior is None
    assert again.observed_ == "comparisons"
    assert all(getattr(again, name) is None for name in ARRAYS)
    assert_same_model(again, fit(comparisons, **given))


def test_a_fit_that_fails_leaves_the_model_as_it_was(small):
    model = fit(small.frame, max_iter=3)
    before = model.predict_proba(questions("u001"))
    for bad, error in (
        (Ratings.from_arrays(["a"], ["x"], [1]), NotIdentifiableError),
        (small.frame.drop("rating"), DataError),
    ):
        with pytest.raises(error):
            model.fit(bad)
        assert model.observed_ == "ratings"
        np.testing.assert_array_equal(model.predict_proba(questions("u001")), before)


def test_the_number_of_rankings_is_chosen_on_held_out_observations(small):
    model = fit(small.frame, "auto", max_iter=3, n_factors="auto")
    assert set(model.selection_) == {"n_rankings", "mixing", "answer", "candidates"}
    assert model.selection_["mixing"] == "utility"
    assert model.n_rankings_ == model.selection_["n_rankings"] == len(model.rankings_)
    assert sum(each["chosen"] for each in model.selection_["candidates"]) == 1
    assert model.quality_["n_test"] > 0


@pytest.mark.parametrize(("n_rankings", "errors"), [(1, "normal"), (1, "gumbel"), (2, "normal")])
def test_voters_who_do_not_differ_have_one_ranking_and_others_several(n_rankings, errors):
    rng = np.random.default_rng(3)
    scores = 1.5 * rng.standard_normal((n_rankings, 6))
    utilities = rng.dirichlet(np.full(n_rankings, 0.5), 150) @ scores + getattr(rng, errors)(size=(150, 6))
    ranks = 1 + np.argsort(np.argsort(-utilities, axis=1), axis=1)
    users, items = np.repeat(np.arange(150), 6), np.tile(np.arange(6), 150)
    ballots = Rankings.from_frame(pl.DataFrame({"user": users, "item": items, "rank": ranks.ravel()}))
    candidates = RatedCandidates(ballots, RatedSettings(2, 0, 2, 1, 0), 2)
    for number in (1, 2):
        candidates.evaluate("utility", number)
    choice = candidates.choose()
    assert choice.n_rankings == n_rankings
    assert "a choice" in choice.answer


def test_factors_are_used_where_they_predict_better():
    rng = np.random.default_rng(0)
    tastes, items = rng.standard_normal((150, 3)), 1.3 * rng.standard_normal((14, 3))
    utilities = tastes @ items.T + 0.5 * rng.standard_normal((150, 14))
    stars = 1 + np.searchsorted([-1.5, -0.5, 0.5, 1.5], utilities)
    users, rated = np.nonzero(rng.random(stars.shape) < 0.7)
    ratings = Ratings.from_arrays(users, rated, stars[users, rated])
    model = fit(ratings, 1, n_factors="auto", max_iter=5)
    assert model.posterior.draws[0].shape.n_factors > 0
    assert model.explained_["share"] < 0.6  # one ranking cannot explain tastes in three directions
    assert "factors beside the rankings" in model.summary()["details"]["predictions"]
    assert fit(ratings, 1, n_factors=0, max_iter=5).explained_ is None


def test_users_with_one_rating_and_with_the_same_throughout_are_kept(small):
    few = pl.DataFrame({"user": ["same"] * 3 + ["one"], "item": ["i00", "i01", "i02", "i03"], "rating": [2, 2, 2, 5]})
    model = fit(pl.concat([small.frame, few]), max_iter=3)
    assert {"same", "one"} <= set(model.users_.tolist())
    assert len(model.user_weights_) == 82
    chances = model.predict_proba(questions("same", "one"))
    assert ((chances > 0) & (chances < 1)).all()
    assert model.data_["n_users_with_fewer_than_two"] >= 1


def test_a_single_level_is_no_reason_to_fail(small):
    same = small.frame.with_columns(rating=pl.lit(4))
    model = fit(same, max_iter=3)
    assert model.rating_scale().select("value", "share", "threshold").rows() == [(4.0, 1.0, None)]
    assert ((model.predict_proba(questions("u000")) > 0.05) & (model.predict_proba(questions("u000")) < 0.95)).all()
    assert RatingPredictor(model).fit(same).predict(same.head(3)).tolist() == [4.0, 4.0, 4.0]
    assert model.transform(same.head(5)).shape[1] == 2


def test_two_observations_are_enough_and_one_is_not():
    model = fit(Ratings.from_arrays(["a", "a"], ["x", "y"], [1, 2]), 1, max_iter=10)
    assert model.rank()["item"].to_list() == ["y", "x"]
    chosen = fit(Ratings.from_arrays(["a", "b"], ["x", "y"], [1, 2]), "auto", max_iter=3)
    assert "are too few to hold some out" in chosen.selection_["answer"]
    assert chosen.quality_ is None
    with pytest.raises(DataError, match="expected at least two observations"):
        fit(Ratings.from_arrays(["a"], ["x"], [1]), 1)
    with pytest.raises(NotIdentifiableError, match="3 rankings cannot be told apart by 2 users"):
        fit(Ratings.from_arrays(["a", "b"], ["x", "y"], [1, 2]), 3)


@pytest.mark.parametrize("n_voters", [1, 2])
def test_a_ballot_or_two_are_fitted_although_nothing_can_be_chosen(n_voters):
    users, ranks = np.repeat(np.arange(n_voters), 60), np.tile(np.arange(60), n_voters)
    ballots = Rankings.from_frame(pl.DataFrame({"user": users, "item": ranks, "rank": ranks + 1}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MixedRanking(random_state=0, max_iter=3).fit(ballots)
    assert model.n_rankings_ == 1
    assert model.rank()["item"][0] < 20


@pytest.mark.parametrize("n_factors", [-1, 1.5, "some"])
def test_wrong_numbers_of_factors_are_refused(small, n_factors):
    with pytest.raises(ParameterError, match="n_factors must be"):
        MixedRanking(2, n_factors=n_factors).fit(small.frame)


@pytest.mark.parametrize(
    "parameters", [{"concentration": 1.0}, {"score_scale": 1.0}, {"from_ratings": False}, {"init": "random"}]
)
def test_parameters_that_are_for_comparisons_are_refused(small, parameters):
    (name,) = parameters
    with pytest.raises(ParameterError, match=f"{name} is for fits of comparisons by optimisation"):
        MixedRanking(2, **parameters).fit(small.frame)


def test_what_draws_cannot_do_is_refused_with_a_reason(models, small, tmp_path):
    with pytest.raises(ParameterError, match="checkpoint is for fits of comparisons in a store"):
        MixedRanking(2).fit(Ratings.from_frame(small.frame), checkpoint=tmp_path / "run")
    assert not (tmp_path / "run").exists()
    with pytest.raises(ParameterError, match="requires a store, not data in memory"):
        MixedRanking(2).fit(Ratings.from_frame(small.frame), engine="dask")
    with pytest.raises(ParameterError, match="no rating scale"):
        models["rankings"].rating_scale()


# predictions


def test_predictions_are_probabilities_that_sum_to_one_both_ways(model):
    asked = questions("u000", "u005", "nobody")
    one = model.predict_proba(asked)
    other = model.predict_proba(asked.rename({"left": "right", "right": "left"}))
    assert ((one > 0) & (one < 1)).all()
    np.testing.assert_allclose(one + other, 1.0, rtol=1e-9)


def test_users_are_predicted_to_prefer_what_they_rated_higher(model, small):
    found = model.evaluate(Ratings.from_frame(small.frame))
    assert found["accuracy"] == model.accuracy(small.frame) > 0.65
    assert found["n_known_users"] == found["n_users"]
    assert found["log_likelihood"] == model.score(small.frame)


def test_every_user_has_an_order_within_its_bounds(model):
    for frame in (model.rank("u003"), model.rank(), model.rank(weights=[0.5, 0.5]), model.leaderboard()):
        assert frame.columns == ["item", "score", "rank", "lower", "upper"]
        assert sorted(frame["item"].to_list()) == sorted(model.items_.tolist())
        assert frame["rank"].to_list() == list(range(1, 9))
        assert frame["score"].is_sorted(descending=True)
        assert ((frame["lower"] <= frame["rank"]) & (frame["rank"] <= frame["upper"])).all()
    with pytest.raises(DataError, match="does not know user 'nobody'"):
        model.rank("nobody")


def test_weights_have_intervals_around_them(model):
    frame = model.weight_intervals("u003")
    lower, weight, upper = (frame[name].to_numpy() for name in ("lower", "weight", "upper"))
    np.testing.assert_allclose(weight, model.user_weights_[3])
    assert ((lower >= 0) & (lower <= weight) & (weight <= upper) & (upper <= 1)).all()


def test_camps_common_ground_and_committees_are_those_of_the_rankings(kind, model, small):
    camps = model.camps()
    assert camps["people"].sum() == 80
    assert camps["votes"].sum() == len(small.frame)
    ground = model.common_ground()
    assert sorted(ground["item"].to_list()) == sorted(model.items_.tolist())
    assert ground["votes"].sum() == len(small.frame)
    assert len(model.committee(2).items) == 2
    agreement = model.agreement()
    assert len(agreement) == (16 if kind == "votes" else 0)
    if kind == "votes":
        assert sum(agreement[name].sum() for name in ("agree", "passed", "disagree")) == len(small.frame)
        agrees = small.frame.filter((pl.col("item") == "i02") & (pl.col("rating") > 3))
        assert agreement.filter(pl.col("item") == "i02")["agree"].sum() == len(agrees)


def test_expected_agreement_is_that_of_everybody_in_a_camp():
    rng = np.random.default_rng(3)
    n_users, n_items = 400, 12
    camps = np.arange(n_users) % 2
    chances = np.where(rng.random((n_items, 2)) < 0.5, 0.2, 0.8)
    votes = np.where(rng.random((n_users, n_items)) < chances[:, camps].T, 1, -1)
    voted = rng.random(votes.shape) < 0.4
    users, items = np.nonzero(voted)
    model = plurank.MixedRanking(2, n_factors=0, max_iter=100, random_state=0)
    agreement = model.fit(Ratings.from_arrays(users, items, votes[voted])).agreement()
    main, codes = model.user_weights_.argmax(axis=1), model.users_
    truth = np.array([[(votes[codes[main == k], item] > 0).mean() for k in range(2)] for item in model.items_])
    expected = agreement["expected"].to_numpy().reshape(-1, 2)
    assert np.abs(expected - truth).mean() < 0.06  # of 80 votes for a cell: 0.036, four standard errors more
    lower, upper = (agreement[name].to_numpy().reshape(-1, 2) for name in ("expected_lower", "expected_upper"))
    assert ((lower <= expected) & (expected <= upper)).all()
    assert ((lower <= truth) & (truth <= upper)).mean() > 0.6


def test_a_summary_is_json_and_says_how_it_was_sampled(kind, model):
    found = json.loads(json.dumps(model.summary(items=True)))
    assert found["observed"] == model.observed_
    assert found["convergence"] == model.convergence_
    assert found["explained"] == model.explained_
    assert f"draws of 2 chains with {model.n_iter_} sweeps each" in found["details"]["sampling"]
    assert ("rating scale" in found["details"]) == (kind != "rankings")
    assert f"{model.observed_}" in repr(found)
    assert "R-hat" in model._repr_html_()


def test_the_rating_scale_says_how_values_are_used(models, small):
    frame = models["ratings"].rating_scale()
    counts = small.frame["rating"].value_counts().sort("rating")
    assert frame["value"].to_list() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert frame["ratings"].to_list() == counts["count"].to_list()
    assert frame["share"].sum() == pytest.approx(1.0)
    assert frame["threshold"].to_list()[0] is None
    assert (np.diff(frame["threshold"].to_list()[1:]) > 0).all()
    assert models["votes"].rating_scale()["value"].to_list() == [-1.0, 0.0, 1.0]


# new users


def test_weights_of_users_are_inferred_from_what_they_said(recovered, truth, halves):
    ratings = halves[0].block(0, 120)
    ballots = truth.ballots.join(ratings.to_frame(), on=["user", "item"], how="semi")
    for said in (ratings, ratings.to_comparisons(), Rankings.from_frame(ballots)):
        weights = recovered.transform(said)
        assert weights.shape == (said.n_users, 2)
        np.testing.assert_allclose(weights.sum(axis=1), 1.0)
        users = np.isin(recovered.users_, said.users)
        assert np.corrcoef(weights[:, 0], recovered.user_weights_[users, 0])[0, 1] > 0.8


def test_users_of_a_frame_stay_in_its_order(model, small):
    frame = small.frame.reverse()
    found = copy.copy(model).set_output(transform="polars").transform(frame)
    assert found["user"].to_list() == list(dict.fromkeys(frame["user"].to_list()))
    by_user = dict(zip(model.users_.tolist(), model.transform(Ratings.from_frame(frame))[:, 0], strict=True))
    assert found["ranking_1"].to_list() == [by_user[user] for user in found["user"]]


def test_unknown_items_are_refused_or_skipped_with_a_warning(model):
    said = Ratings.from_arrays(["a", "a", "b"], ["i00", "no such item", "no such item"], [1, 2, 2])
    with pytest.raises(DataError, match=r"does not know 1 of the items compared \('no such item'\)"):
        model.transform(said)
    with pytest.raises(DataError, match="does not know 1 of the items"):
        model.fold_in(said.block(0, 1))
    with pytest.warns(SkippedWarning, match="skipped 2 of 3 ratings: the model does not know 1 item"):
        weights = model.transform(said, unknown="ignore")
    np.testing.assert_allclose(weights[1], model.mean_weights_)
    np.testing.assert_allclose(weights[0], model.transform(said.select(said.codes == 0))[0])


def test_values_between_those_of_the_scale_count_as_the_nearest(models):
    near, exact = (Ratings.from_arrays(["a"] * 3, ["i00", "i01", "i02"], v) for v in ([1.2, 4.9, 3.4], [1, 5, 3]))
    np.testing.assert_array_equal(models["ratings"].transform(near), models["ratings"].transform(exact))


def test_users_of_a_scale_with_many_values_are_folded_in_by_their_levels(small):
    """A bug: levels of those folded in were taken for values of the fine scale, and high ratings for low ones."""
    users, items = (np.repeat(np.arange(80), 8), np.tile(np.arange(8), 80))
    fine = Ratings.from_arrays(users, items, np.round(50 + 8 * small.utilities.ravel()))
    assert fine.n_levels > 20
    model = fit(fine, max_iter=15)
    assert len(model.levels_) == 10
    assert np.corrcoef(model.transform(fine)[:, 0], model.user_weights_[:, 0])[0, 1] > 0.9
    new = fine.to_frame().with_columns(user=pl.col("user") + 1000)
    found, known = (RatingPredictor(model).fit(said).predict(said) for said in (new, fine.to_frame()))
    assert np.corrcoef(found, known)[0, 1] > 0.9


@pytest.mark.parametrize("form", ["pairs", "ratings", "rankings", "frame", "comparisons"])
def test_a_person_is_folded_in_by_any_kind_of_answers(model, form):
    order = ["i05", "i03", "i06"]
    ratings = Ratings.from_arrays(["me"] * 3, order, [1, 0, -1])
    answers = {
        "pairs": list(itertools.combinations(order, 2)),
        "ratings": ratings,
        "frame": ratings.to_frame(),
        "comparisons": ratings.to_comparisons(),
        "rankings": Rankings.from_frame(pl.DataFrame({"user": ["me"] * 3, "item": order, "rank": [1, 2, 3]})),
    }[form]
    person = model.fold_in(answers)
    assert person.n_answers == 3
    assert person.weights.sum() == pytest.approx(1.0)
    frame = person.weight_intervals(0.8)
    assert ((frame["lower"] <= frame["weight"]) & (frame["weight"] <= frame["upper"])).all()
    left, right = zip(*itertools.permutations(model.items_.tolist(), 2), strict=True)
    np.testing.assert_allclose(person.predict(left, right) + person.predict(right, left), 1.0, rtol=1e-9)
    if form not in ("ratings", "frame"):  # of ratings, -1, 0 and 1 may all be the lowest of five stars
        assert (person.predict(["i05", "i03", "i05"], ["i03", "i06", "i06"]) > 0.7).all()
    ranks = person.rank()
    assert sorted(ranks["item"].to_list()) == sorted(model.items_.tolist())
    assert ((ranks["lower"] <= ranks["rank"]) & (ranks["rank"] <= ranks["upper"])).all()
    np.testing.assert_array_equal(model.fold_in(answers).weights, person.weights)


def test_somebody_who_has_not_answered_has_about_the_mean_weights(model):
    for nothing in (None, [], ()):
        person = model.fold_in(nothing)
        assert person.n_answers == 0
        # 4 draws of the person for each of 6 of the items, each of standard deviation 0.3 or so
        np.testing.assert_allclose(person.weights, model.mean_weights_, atol=0.25)


def test_questions_are_not_asked_twice_nor_when_skipped(model, small):
    pair = model.next_pair()
    assert set(pair) <= set(model.items_.tolist())
    assert set(model.next_pair([pair])) != set(pair)
    ratings = Ratings.from_frame(small.frame.filter(pl.col("user") == "u000"))
    for answers in (None, ratings):
        person = model.fold_in(answers)
        first = person.next_pairs(1).select("left", "right").row(0)
        assert set(person.next_pairs(1, skip=[first]).select("left", "right").row(0)) != set(first)
    every = list(itertools.combinations(model.items_.tolist(), 2))
    with pytest.raises(DataError, match="every pair of items was asked"):
        model.next_pair(every)


def test_many_people_are_not_one(model, small):
    with pytest.raises(DataError, match=r"expected the answers of one person, got 80 users\. Use transform"):
        model.fold_in(small.frame)


def test_weights_in_a_file_are_those_of_transform(model, small, tmp_path):
    """A bug: ratings were compared first, so that users whose ratings are all alike were not in the file."""
    few = pl.DataFrame({"user": ["same", "same"], "item": ["i00", "i01"], "rating": [3, 3]})
    said = Ratings.from_frame(pl.concat([small.frame, few]))
    model.write_weights(said, tmp_path / "weights.parquet")
    frame = pl.read_parquet(tmp_path / "weights.parquet")
    assert frame["user"].to_list() == said.users.tolist()
    np.testing.assert_array_equal(frame.drop("user").to_numpy(), model.transform(said))


# files and copies


def test_a_saved_model_predicts_the_same(model, path, small):
    model.save(path)
    loaded = plurank.load(path)
    assert_same_model(loaded, model)
    asked = questions("u000", "nobody")
    np.testing.assert_array_equal(loaded.predict_proba(asked), model.predict_proba(asked))
    answers = [("i00", "i01")]
    np.testing.assert_array_equal(loaded.fold_in(answers).weights, model.fold_in(answers).weights)
    part = Ratings.from_frame(small.frame.head(20))
    np.testing.assert_array_equal(loaded.transform(part), model.transform(part))


def test_a_copy_is_the_same_model_and_a_clone_is_not_fitted(model):
    asked = questions("u000")
    expected = model.predict_proba(asked)
    copied = pickle.loads(pickle.dumps(model))
    assert_same_model(copied, model)
    np.testing.assert_array_equal(copied.predict_proba(asked), expected)
    cloned = clone(model)
    assert cloned.get_params() == model.get_params()
    assert cloned.posterior is None
    assert not hasattr(cloned, "rankings_")
    assert cloned.set_params(n_factors=3).n_factors == 3


@pytest.fixture(scope="module")
def content(models, tmp_path_factory):
    path = tmp_path_factory.mktemp("rated") / "model.plurank"
    models["factors"].save(path)
    return path.read_bytes()


@pytest.mark.parametrize("name", ARRAYS)
def test_a_file_without_some_of_the_draws_or_with_other_shapes_is_refused(name, models, content, path):
    array = getattr(models["factors"], name)
    shorter = [array.take(range(array.shape[axis] - 1), axis=axis) for axis in range(array.ndim)]
    damaged = [rezip(content, {f"{name}.npy": npy(other)}) for other in (*shorter, array[None])]
    damaged.append(rezip(content, without=[f"{name}.npy"]))
    if array.dtype.kind == "f":
        damaged.append(rezip(content, {f"{name}.npy": npy(np.full_like(array, np.nan))}))
    for each in damaged:
        path.write_bytes(each)
        with pytest.raises(DataError) as error:
            plurank.load(path)
        assert "model.plurank" in str(error.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("observed_", "dreams"), ("convergence_", {"r_hat": 1.0}), ("convergence_", "good"),
        ("explained_", {"share": 1}),
        ("explained_", {"share": "all", "n_users": 1, "user_quantiles": []}),
    ],
)  # fmt: skip
def test_a_file_whose_descriptions_are_others_is_refused(name, value, content, path):
    def change(description):
        def visit(part):
            for key in part:
                if key == name:
                    part[key] = value
                elif isinstance(part[key], dict):
                    visit(part[key])

        visit(description)

    path.write_bytes(rezip(content, describe=change))
    with pytest.raises(DataError, match=r"model\.plurank"):
        plurank.load(path)


def test_a_file_with_draws_that_have_no_share_is_refused(models, content, path):
    nothing = npy(np.zeros_like(models["factors"].draw_shares_))
    path.write_bytes(rezip(content, {"draw_shares_.npy": nothing}))
    with pytest.raises(DataError, match=r"model\.plurank"):
        plurank.load(path)


def test_two_kinds_of_data_are_refused_with_what_to_do(small):
    ratings = Ratings.from_frame(small.frame)
    for both in ([ratings, ratings.to_comparisons()], (ratings, Rankings.from_frame(small.ballots))):
        with pytest.raises(DataError, match=r"^expected one kind of data, got Ratings and \w+\. Fit the ratings"):
            MixedRanking(2).fit(both)
