"""MixedRanking folds new people in, and predicts what they say next."""

import copy

import numpy as np
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from plurank import (
    Comparisons,
    DataError,
    MixedRanking,
    ParameterError,
    SkippedWarning,
)
from tests.contracts.model_contract import asked, without_effects
from tests.oracles.simulated_scores import sigmoid


def mean_weights(model, c, rng):
    """Posterior mean and standard deviation of one user's weights, each (K,), from draws of the prior."""
    gaps = model.scores_[c.winners] - model.scores_[c.losers]
    theta = np.maximum(rng.dirichlet(model.concentration_ * model.mean_weights_, 200_000), 1e-300).T
    p = sigmoid(gaps @ theta) if model.mixing == "utility" else sigmoid(gaps) @ theta
    logs = np.log(p).sum(axis=0)
    shares = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    mean = theta @ shares
    return mean, np.sqrt(theta**2 @ shares - mean**2)


@pytest.mark.parametrize("kind", ["probability", "utility"])
def test_transform_finds_the_posterior_mean_of_weights(kind, models, truth, rng):
    c = truth.comparisons.block(0, 8)
    means, errors = np.stack([mean_weights(models[kind], c.block(u, u + 1), rng) for u in range(8)], axis=1)
    away = np.abs(models[kind].transform(c) - means) / errors
    assert away.mean() < 0.15
    assert away.max() < 0.5


def test_transform_gives_new_users_the_weights_of_the_fit(model, truth):
    c = truth.comparisons
    renamed = Comparisons(c.winners, c.losers, c.offsets, c.items, c.users + 1000, c.weights)
    np.testing.assert_allclose(model.transform(renamed), model.user_weights_, atol=1e-4)


def test_transform_skips_unknown_items_when_told_to(model, truth):
    known = truth.comparisons.block(0, 2).to_frame().select("user", "winner", "loser")
    strange = pl.DataFrame({"user": [0, 0, 77], "winner": [0, 100, 101], "loser": [100, 101, 3]})
    c = Comparisons.from_frame(pl.concat([known, strange], how="vertical_relaxed"))
    with pytest.warns(SkippedWarning, match=r"^skipped 3 of 83 comparisons: the model does not know 2 items\.$"):
        weights = model.transform(c, unknown="ignore")
    np.testing.assert_allclose(weights[:2], model.transform(known), atol=1e-9)
    np.testing.assert_allclose(weights[c.users.tolist().index(77)], model.mean_weights_)


def test_transform_warns_of_nothing_where_all_is_known(model, truth):
    c = truth.comparisons.block(0, 3)
    np.testing.assert_array_equal(model.transform(c, unknown="ignore"), model.transform(c))


def test_users_with_nothing_left_get_the_mean_weights(model):
    c = Comparisons.from_arrays(["x", "y"], ["p", "q"], ["q", "p"])
    with pytest.warns(SkippedWarning, match=r"skipped 2 of 2 comparisons: the model does not know 2 items\."):
        weights = model.transform(c, unknown="ignore")
    np.testing.assert_allclose(weights, np.tile(model.mean_weights_, (2, 1)))


def test_transform_refuses_unknown_items_unless_told_otherwise(model):
    c = Comparisons.from_arrays(["x"], [0], [100])
    with pytest.raises(DataError, match=r"does not know 1 of the items compared \(100\)\. Drop"):
        model.transform(c)
    with pytest.raises(ParameterError, match=r"unknown must be 'error' or 'ignore', got 'drop'\."):
        model.transform(c, unknown="drop")


def test_predict_new_folds_users_in_and_predicts_what_they_say_next(kind, model, truth):
    first, then = truth.comparisons.block(0, 20).split(0.3, random_state=0)
    model = without_effects(model)
    p = model.predict_new(first, then)
    assert p.shape == (len(then),)
    if kind != "ensemble":
        folded = copy.deepcopy(model)
        folded.users_, folded.user_weights_ = first.users, model.transform(first)
        init = np.tile(model.mean_weights_, (first.n_users, 1))
        counts = model.concentration_ * model.mean_weights_[None]
        folded.user_concentration_ = model._component().update_memberships(first, init, counts, 50).user_concentration
        np.testing.assert_allclose(p, folded.predict_proba(asked(then)), atol=1e-6)
    # 28 comparisons say something about a user: better than to take everybody for average
    strangers = Comparisons(then.winners, then.losers, then.offsets, then.items, then.users + 1000)
    assert np.log(p).mean() > model.score(strangers)


def test_predict_new_takes_users_who_were_not_asked_for_average(model, truth):
    first, then = truth.comparisons.block(0, 5), truth.comparisons.block(5, 8)
    expected = model.predict_proba(asked(then).with_columns(user=pl.lit(-1)))
    np.testing.assert_allclose(model.predict_new(first, then), expected, atol=1e-9)


def test_predict_new_refuses_unknown_items_and_unfitted_models(model, truth):
    strange = Comparisons.from_arrays(["x"], [0], [100])
    for pair in ((strange, truth.comparisons), (truth.comparisons, strange)):
        with pytest.raises(DataError, match=r"does not know 1 of the items"):
            model.predict_new(*pair)
    with pytest.raises(NotFittedError, match="not fitted"):
        MixedRanking().predict_new(truth.comparisons, truth.comparisons)


# how sure
