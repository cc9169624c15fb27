"""Features of items: what rankings reward, and items that nobody compared."""

import copy
import warnings

import numpy as np
import polars as pl
import pytest

import plurank
from plurank import DataError, NotFittedError, ParameterError
from plurank.mixed.item_features import FIELDS

N_ITEMS, N_KNOWN = 40, 36


def simulate():
    rng = np.random.default_rng(0)
    features = rng.standard_normal((N_ITEMS, 2))
    scores = features @ [[1.5, -1.0], [0.0, 1.0]] + 0.4 * rng.standard_normal((N_ITEMS, 2))
    weights, users = rng.dirichlet([0.4, 0.4], 300), np.repeat(np.arange(300), 30)
    first = rng.integers(N_KNOWN, size=len(users))
    second = (first + 1 + rng.integers(N_KNOWN - 1, size=len(users))) % N_KNOWN
    chance = 1.0 / (1.0 + np.exp(-(weights[users] * (scores[first] - scores[second])).sum(axis=1)))
    wins = rng.random(len(users)) < chance
    votes = plurank.Comparisons.from_arrays(users, np.where(wins, first, second), np.where(wins, second, first))
    colour = rng.choice(["red", "blue"], N_ITEMS)
    table = {"item": np.arange(N_ITEMS), "power": features[:, 0], "comfort": features[:, 1], "colour": colour}
    return votes, pl.DataFrame(table), scores


@pytest.fixture(scope="module")
def made():
    return simulate()


@pytest.fixture(scope="module")
def model(made):
    votes, table, _ = made
    return plurank.MixedRanking(2, mixing="utility", random_state=0).fit(votes, items=table)


def test_item_effects_show_what_each_ranking_rewards(model):
    effects = model.item_effects()
    top = effects.filter((pl.col("attribute") == "power") & pl.col("level").str.starts_with("90%"))
    assert top["effect"].max() > 1.0
    assert top["effect"].min() < -0.5
    assert (top["probability"] > 0.99).all()
    colour = effects.filter(pl.col("attribute") == "colour")
    assert (colour["lower"] < 0.0).all()
    assert (colour["upper"] > 0.0).all()


def test_items_that_nobody_compared_get_scores_with_wide_intervals(model, made):
    _, table, scores = made
    grown = copy.deepcopy(model).add_items(table)
    assert grown.items_.tolist()[N_KNOWN:] == list(range(N_KNOWN, N_ITEMS))
    truth = scores[N_KNOWN:] - scores[:N_KNOWN].mean(axis=0)
    order = plurank.align(grown.rankings_, np.argsort(-scores.T, axis=1))
    new = grown.scores_[N_KNOWN:, order]
    assert np.corrcoef(new.ravel(), truth.ravel())[0, 1] > 0.8
    assert grown.score_errors_[N_KNOWN:].min() > np.median(grown.score_errors_[:N_KNOWN])
    np.testing.assert_array_equal(grown.scores_[:N_KNOWN], model.scores_)


def test_added_items_can_be_predicted_ranked_and_saved(model, made, tmp_path):
    grown = copy.deepcopy(model).add_items(made[1])
    grown.save(tmp_path / "m.plurank")
    again = plurank.load(tmp_path / "m.plurank")
    pairs = pl.DataFrame({"user": [0], "left": [N_KNOWN], "right": [0]})
    assert again.predict_proba(pairs) == grown.predict_proba(pairs)
    assert again.rank().height == N_ITEMS


def test_what_the_model_knows_is_not_added_again(model, made):
    with pytest.raises(DataError, match="knows all items"):
        copy.deepcopy(model).add_items(made[1].head(N_KNOWN))


def test_a_model_without_features_says_so(made):
    model = plurank.MixedRanking(2, mixing="utility", random_state=0)
    with pytest.raises(NotFittedError):
        model.item_effects()
    model.fit(made[0])
    assert all(getattr(model, name) is None for name in FIELDS)
    for ask in (model.item_effects, lambda: model.add_items(made[1])):
        with pytest.raises(ParameterError, match="without features"):
            ask()


def rate(scores, seed=1, n_users=80):
    rng = np.random.default_rng(seed)
    users = np.repeat(np.arange(n_users), 20)
    items = np.concatenate([rng.choice(N_KNOWN, 20, False) for _ in range(n_users)])
    ratings = (scores[items, users % 2] + rng.standard_normal(len(items))).round().clip(-2, 2)
    return plurank.Ratings.from_arrays(users, items, ratings)


def fit_ratings(said, **given):
    model = plurank.MixedRanking(2, n_factors=0, max_iter=12, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", plurank.ConvergenceWarning)
        return model.fit(said, **given)


@pytest.fixture(scope="module")
def rated(made):
    return fit_ratings(rate(made[2]), items=made[1])


def test_models_of_ratings_learn_features_too(made, rated):
    _, table, scores = made
    grown = copy.deepcopy(rated).add_items(table)
    assert grown.draw_scores_.shape[1] == N_ITEMS
    spread = grown.draw_scores_.std(axis=0)
    assert spread[N_KNOWN:].min() > np.median(spread[:N_KNOWN])
    truth = scores[N_KNOWN:] - scores[:N_KNOWN].mean(axis=0)
    order = plurank.align(grown.rankings_, np.argsort(-scores.T, axis=1))
    assert np.corrcoef(grown.scores_[N_KNOWN:, order].ravel(), truth.ravel())[0, 1] > 0.8
    asked = pl.DataFrame({"user": [0], "left": [N_KNOWN], "right": [0]})
    assert 0.0 < grown.predict_proba(asked)[0] < 1.0
    top = rated.item_effects().filter((pl.col("attribute") == "power") & pl.col("level").str.starts_with("90%"))
    assert top.filter(pl.col("probability") > 0.95)["effect"].max() > 1.0


def test_draws_of_new_items_have_the_mean_and_the_errors_that_are_shown(made, rated):
    grown = copy.deepcopy(rated).add_items(made[1])
    draws = grown.draw_scores_[grown.draw_shown_] - grown.draw_scores_[grown.draw_shown_][:, :N_KNOWN].mean(
        axis=1, keepdims=True
    )
    log_odds = 1.702 / np.sqrt(2.0)
    new = log_odds * draws[:, N_KNOWN:]
    # opposite draws cancel but for the coefficients; spreads of 20 draws or more are off by a sixth, and so are errors
    np.testing.assert_allclose(
        new.mean(axis=0), grown.scores_[N_KNOWN:], atol=float(grown.score_errors_[N_KNOWN:].max())
    )
    ratio = new.std(axis=0) / grown.score_errors_[N_KNOWN:]
    assert 0.6 < np.median(ratio) < 1.5


def test_features_that_say_nothing_change_scores_of_ratings_little(made):
    _, table, scores = made
    said, rng = rate(scores), np.random.default_rng(3)
    mixed = table.with_columns(pl.Series("item", rng.permutation(N_ITEMS)))
    plain, misled = fit_ratings(said), fit_ratings(said, items=mixed)
    order = plurank.align(misled.rankings_, plain.rankings_)
    apart = misled.scores_[:, order] - plain.scores_
    assert np.sqrt((apart**2).mean()) < np.median(plain.score_errors_)
    assert plain.draw_score_slopes_ is None


def test_an_update_keeps_what_draws_expect_of_new_items(made, rated):
    _, table, scores = made
    updated = copy.deepcopy(rated).update(rate(scores, seed=4, n_users=10))
    grown = updated.add_items(table)
    truth = scores[N_KNOWN:] - scores[:N_KNOWN].mean(axis=0)
    means = grown.draw_scores_[grown.draw_shown_].mean(axis=0)
    order = plurank.align(grown.rankings_, np.argsort(-scores.T, axis=1))
    new = (means[N_KNOWN:] - means[:N_KNOWN].mean(axis=0))[:, order]
    assert np.corrcoef(new.ravel(), truth.ravel())[0, 1] > 0.8
    weighed = grown.update(plurank.Ratings.from_arrays([0, 0, 1, 1], [N_KNOWN, 0, N_KNOWN, 1], [2.0, -1.0, 2.0, -1.0]))
    assert len(weighed.items_) == N_ITEMS


def test_what_draws_expect_of_items_must_be_whole(rated):
    broken = copy.deepcopy(rated)
    broken.draw_score_roots_ = None
    with pytest.raises(ValueError, match="expect of items"):
        broken.check_consistent()


def test_factors_of_new_items_follow_from_their_features(made, tmp_path):
    _, table, _ = made
    rng = np.random.default_rng(2)
    features = table.select("power", "comfort").to_numpy()
    tastes = rng.standard_normal((80, 2))
    users, items = np.repeat(np.arange(80), 20), np.concatenate([rng.choice(N_KNOWN, 20, False) for _ in range(80)])
    utilities = (tastes[users] * features[items]).sum(axis=1)
    said = plurank.Ratings.from_arrays(users, items, (utilities + 0.5 * rng.standard_normal(1600)).round().clip(-2, 2))
    model = plurank.MixedRanking(1, n_factors=3, max_iter=15, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", plurank.ConvergenceWarning)
        model.fit(said, items=table)
    model.add_items(table).save(tmp_path / "m.plurank")
    new = np.arange(N_KNOWN, N_ITEMS)
    left, right = new[rng.integers(4, size=400)], rng.integers(N_KNOWN, size=400)
    who = rng.integers(80, size=400)
    chances = plurank.load(tmp_path / "m.plurank").predict_proba(
        pl.DataFrame({"user": who, "left": left, "right": right})
    )
    ahead = (tastes[who] * (features[left] - features[right])).sum(axis=1) > 0.0
    # with one ranking and no factors of new items, half would be right: 0.5 + 5 standard errors is 0.63
    assert ((chances > 0.5) == ahead).mean() > 0.7
