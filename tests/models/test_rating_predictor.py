"""Star ratings from models of comparisons."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import plurank
from plurank import (
    Comparisons,
    DataError,
    MixedRanking,
    ParameterError,
    RatingPredictor,
    TopicRanking,
)

N_USERS, N_ITEMS = 300, 30
GIVEN = {"concentration": 0.5, "score_scale": 1.0}  # choosing the priors takes many passes


def draw_ratings(seed=0, n_users=N_USERS):
    """Two kinds of people rate half of the items; the stars of everybody are used in a way of their own."""
    rng = np.random.default_rng(seed)
    taste = rng.standard_normal((2, N_ITEMS))
    kind = rng.random(n_users) < 0.5
    liking = taste[kind.astype(int)] + 0.5 * rng.standard_normal((n_users, N_ITEMS))
    liking = rng.normal(0.3, 0.6, (n_users, 1)) + liking
    stars = 1 + np.searchsorted([-1.3, -0.4, 0.4, 1.3], liking)
    users, items = np.nonzero(rng.random((n_users, N_ITEMS)) < 0.6)
    names = [f"u{u}" for u in users]
    return pl.DataFrame({"user": names, "item": [f"i{i}" for i in items], "rating": stars[users, items]})


def halves(ratings, seed=1):
    held_out = np.random.default_rng(seed).random(len(ratings)) < 0.2
    return ratings.filter(pl.Series(~held_out)), ratings.filter(pl.Series(held_out))


def rmse(found, frame):
    return float(np.sqrt(np.mean((found - frame["rating"].to_numpy()) ** 2)))


@pytest.fixture(scope="module")
def split():
    return halves(draw_ratings())


@pytest.fixture(scope="module")
def models(split):
    comparisons = Comparisons.from_ratings(split[0])
    return {
        "utility": MixedRanking(2, mixing="utility", random_state=0).fit(comparisons),
        "probability": MixedRanking(2, mixing="probability", random_state=0).fit(comparisons),
        "ensemble": MixedRanking(2, mixing="utility", ensemble=2, random_state=0, **GIVEN).fit(comparisons),
        "strict": MixedRanking(2, "strict", random_state=0, **GIVEN).fit(comparisons),
        "topic": TopicRanking(2, random_state=0).fit(comparisons),
    }


KINDS = ("utility", "probability", "ensemble", "strict", "topic")


@pytest.mark.parametrize("kind", KINDS)
def test_stars_are_predicted_better_than_by_everybodys_mean(kind, models, split):
    train, test = split
    means = train.group_by("user").agg(pl.col("rating").mean().alias("mean"))
    simple = rmse(test.join(means, on="user", how="left")["mean"].to_numpy(), test)
    found = RatingPredictor(models[kind]).fit(train).predict(test)
    assert found.shape == (len(test),)
    assert rmse(found, test) < 0.85 * simple


@pytest.mark.parametrize("kind", KINDS)
def test_the_papers_rule_works_on_every_model(kind, models, split):
    train, test = split
    found = RatingPredictor(models[kind], "most-likely").fit(train).predict(test)
    assert set(found.tolist()) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    assert np.corrcoef(found, test["rating"])[0, 1] > 0.4


@pytest.mark.parametrize("ties", ["ignore", "both"])
def test_the_papers_rule_is_the_star_that_a_plain_loop_finds(ties):
    train, test = halves(draw_ratings(n_users=80))
    model = TopicRanking(2, random_state=0).fit(Comparisons.from_ratings(train))
    asked = test.head(40)
    found = RatingPredictor(model, "most-likely", ties=ties).fit(train).predict(asked)
    for row, (user, item, _) in enumerate(asked.iter_rows()):
        own = train.filter(pl.col("user") == user)
        frame = own.select("user", left=pl.lit(item), right="item")
        wins, stars = model.predict_proba(frame), own["rating"].to_numpy()
        logs = []
        for star in range(1, 6):
            lower, higher = (stars <= star, stars >= star) if ties == "both" else (stars < star, stars > star)
            logs.append(np.log(wins[lower]).sum() + np.log(1.0 - wins[higher]).sum())
        # strict rankings often find two stars equally likely, but for rounding: then the lower is given
        assert found[row] == 1 + np.flatnonzero(logs >= np.max(logs) - 1e-9)[0]


def test_integers_are_the_levels_nearest_to_the_means(models, split):
    train, test = split
    predictor = RatingPredictor(models["utility"]).fit(train)
    means, levels = predictor.predict(test), predictor.set_params(integers=True).predict(test)
    np.testing.assert_array_equal(levels, np.clip(np.round(means), 1, 5))


def test_chances_of_all_levels_sum_to_one_and_have_the_predicted_mean(models, split):
    train, test = split
    predictor = RatingPredictor(models["utility"]).fit(train)
    chances = predictor.predict_proba(test)
    np.testing.assert_array_equal(predictor.levels_, [1, 2, 3, 4, 5])
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_allclose(chances @ predictor.levels_, predictor.predict(test))


def test_calibrated_chances_are_those_of_stars_not_seen(models, split):
    train, test = split
    chances = RatingPredictor(models["utility"]).fit(train).predict_proba(test)
    # about 1,000 test ratings: a standard error of at most 0.016
    for level in range(5):
        assert abs(chances[:, level].mean() - (test["rating"] == level + 1).mean()) < 0.05


def test_an_ensembles_utilities_are_the_mean_of_its_members(models, split):
    model = models["ensemble"]
    members = model.memberships()
    rows, items = np.array([0, 5], dtype=np.int32), np.array([1, 2], dtype=np.int32)
    each = [
        (scores[items] * people.weights[rows]).sum(axis=1)
        for scores, people in zip([model.scores_, *model.member_scores_], members, strict=True)
    ]
    np.testing.assert_allclose(model.utilities(members, rows, items), np.mean(each, axis=0))


@pytest.mark.parametrize("rule", ["calibrated", "most-likely"])
def test_people_the_model_does_not_know_are_folded_in_by_their_ratings(rule, models, split):
    train, test = split
    strangers = [f"u{u}" for u in range(0, N_USERS, 3)]
    known = ~pl.col("user").is_in(strangers)
    comparisons = Comparisons.from_ratings(train.filter(known))
    model = MixedRanking(2, mixing="utility", random_state=0).fit(comparisons)
    asked = test.filter(~known)
    found = RatingPredictor(model, rule).fit(train).predict(asked)
    without = RatingPredictor(model, rule).fit(train.filter(known)).predict(asked)
    assert rmse(found, asked) < rmse(without, asked) - 0.1


def test_people_and_items_without_any_data_are_typical(models, split):
    train, _ = split
    predictor = RatingPredictor(models["utility"]).fit(train)
    frame = pl.DataFrame({"user": ["u0", "nobody", "nobody"], "item": ["nothing", "nothing", "i0"]})
    found = predictor.predict(frame)
    own = train.filter(pl.col("user") == "u0")["rating"].mean()
    assert abs(found[0] - own) < 1.0
    assert abs(found[1] - train["rating"].mean()) < 0.3
    assert np.isfinite(found).all()
    paper = RatingPredictor(models["utility"], "most-likely").fit(train).predict(frame)
    np.testing.assert_array_equal(paper, [np.round(own), *np.round([train["rating"].mean()] * 2)])


def test_ratings_of_items_the_model_does_not_know_still_teach_how_somebody_uses_stars(models, split):
    train, _ = split
    more = pl.DataFrame({"user": ["grumpy"] * 30, "item": [f"new {n}" for n in range(30)], "rating": [1] * 30})
    predictor = RatingPredictor(models["utility"]).fit(pl.concat([train, more.cast({"rating": train["rating"].dtype})]))
    asked = pl.DataFrame({"user": ["grumpy", "nobody"], "item": ["i3", "i3"]})
    grumpy, nobody = predictor.predict(asked)
    assert grumpy < nobody - 0.5


def test_the_same_seed_gives_the_same_stars_twice(models, split):
    train, test = split
    one, other = (RatingPredictor(models["utility"], random_state=3).fit(train).predict(test) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    one, other = (RatingPredictor(models["utility"], "most-likely", ties="random").fit(train) for _ in range(2))
    np.testing.assert_array_equal(one.predict(test), other.predict(test))
    np.testing.assert_array_equal(one.predict(test), one.predict(test))


def test_blocks_of_questions_do_not_change_the_papers_rule(models, split, monkeypatch):
    train, test = split
    predictor = RatingPredictor(models["topic"], "most-likely", ties="random").fit(train)
    whole = predictor.predict(test)
    monkeypatch.setattr("plurank.models.rating_predictor.BLOCK_PAIRS", 7)
    np.testing.assert_array_equal(predictor.predict(test.head(200)), whole[:200])


def test_an_item_rated_before_is_not_compared_with_itself(models, split):
    train, _ = split
    asked = train.head(1)
    kept = RatingPredictor(models["utility"], "most-likely").fit(train).predict(asked)
    removed = RatingPredictor(models["utility"], "most-likely").fit(train.tail(len(train) - 1)).predict(asked)
    np.testing.assert_array_equal(kept, removed)


def test_a_fit_that_is_refused_leaves_the_last_one_whole(models, split):
    train, test = split
    predictor = RatingPredictor(models["utility"]).fit(train)
    before = predictor.predict(test)
    with pytest.raises(DataError):
        predictor.fit(pl.DataFrame({"user": ["a"] * 200, "item": list(range(200)), "rating": np.linspace(0, 1, 200)}))
    np.testing.assert_array_equal(predictor.predict(test), before)


def test_a_rule_changed_after_the_fit_is_refused_with_a_sentence(models, split):
    train, test = split
    for rule, other in (("calibrated", "most-likely"), ("most-likely", "calibrated")):
        predictor = RatingPredictor(models["utility"], rule).fit(train).set_params(rule=other)
        with pytest.raises(ParameterError, match=rf"^rule was changed to '{other}' after the fit\. Fit again\."):
            predictor.predict(test)


@pytest.mark.parametrize(
    "model",
    [plurank.SingleRanking(), plurank.ClusteredRanking(2, random_state=0), plurank.PairTopics(2, random_state=0)],
    ids=lambda model: type(model).__name__,
)
def test_baselines_predict_stars_too(model, split):
    train, test = split
    model = clone(model).fit(Comparisons.from_ratings(train))
    for rule in ("calibrated", "most-likely"):
        found = RatingPredictor(model, rule).fit(train).predict(test)
        assert np.corrcoef(found, test["rating"])[0, 1] > 0.3


def test_a_model_read_from_a_file_predicts_the_same_stars(models, split, tmp_path):
    train, test = split
    models["ensemble"].save(tmp_path / "model.plurank")
    read = plurank.load(tmp_path / "model.plurank")
    one, other = (RatingPredictor(model).fit(train).predict(test) for model in (models["ensemble"], read))
    np.testing.assert_array_equal(one, other)


def test_ratings_count_as_what_was_observed_even_if_the_model_was_fitted_to_single_answers(split):
    answers = plurank.simulate(80, N_ITEMS, 2, 60, random_state=0, items=[f"i{n}" for n in range(N_ITEMS)]).comparisons
    model = MixedRanking(2, mixing="probability", random_state=0).fit(answers)
    assert not model.from_ratings_
    made = model._in_own_items(Comparisons.from_ratings(split[0]))
    user_concentration = model.memberships(made)[0].user_concentration - model.concentration_
    n_items = split[0].group_by("user").len()["len"].max()
    assert user_concentration.max() < n_items


def test_a_pandas_frame_with_other_column_names_is_understood(models, split):
    train, test = split
    names = {"user": "who", "item": "what", "rating": "mark"}
    frame = pd.DataFrame(train.rename(names).to_dict(as_series=False))
    found = RatingPredictor(models["utility"]).fit(frame, columns=names).predict(test)
    np.testing.assert_array_equal(found, RatingPredictor(models["utility"]).fit(train).predict(test))


def test_half_stars_and_negative_votes_are_levels_like_others(models, split):
    train, test = split
    votes = train.with_columns(((pl.col("rating") - 3) / 2).alias("rating"))
    predictor = RatingPredictor(models["utility"], integers=True).fit(votes)
    assert set(predictor.predict(test).tolist()) <= {-1.0, -0.5, 0.0, 0.5, 1.0}


def test_a_clone_keeps_the_fitted_model_and_forgets_the_ratings(models, split):
    predictor = clone(RatingPredictor(models["utility"]).fit(split[0]))
    assert predictor.model is models["utility"]
    with pytest.raises(NotFittedError):
        predictor.predict(split[1])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rule": "best"}, r"^rule must be 'calibrated' or 'most-likely', got 'best'\."),
        ({"ties": "half"}, r"^ties must be .*got 'half'\."),
        ({"integers": 1}, r"^integers must be True or False, got 1\."),
        ({"model": "model.plurank"}, r"^model must be a fitted model of plurank, got str\."),
        ({"random_state": -1}, r"^random_state must be"),
    ],
)
def test_bad_parameters_are_refused_with_a_sentence(parameters, message, models, split):
    with pytest.raises(ParameterError, match=message):
        RatingPredictor(**({"model": models["utility"]} | parameters)).fit(split[0])


def test_a_model_that_is_not_fitted_is_refused(split):
    with pytest.raises(NotFittedError):
        RatingPredictor(MixedRanking(2, mixing="probability")).fit(split[0])


def test_ratings_that_are_no_levels_are_refused(models):
    frame = pl.DataFrame({"user": ["a"] * 200, "item": list(range(200)), "rating": np.linspace(0, 1, 200)})
    with pytest.raises(DataError, match=r"^expected at most 100 different ratings, got 200\. Round them"):
        RatingPredictor(models["utility"]).fit(frame)


def test_the_papers_rule_has_no_probabilities(models, split):
    with pytest.raises(ParameterError, match="Use rule='calibrated'"):
        RatingPredictor(models["utility"], "most-likely").fit(split[0]).predict_proba(split[1])


def test_missing_ids_are_refused(models, split):
    predictor = RatingPredictor(models["utility"]).fit(split[0])
    with pytest.raises(DataError):
        predictor.predict(pl.DataFrame({"user": ["u0", None], "item": ["i0", "i1"]}))
    with pytest.raises(DataError, match="no column for the item"):
        predictor.predict(pl.DataFrame({"user": ["u0"]}))


def test_the_predictor_is_a_public_name():
    assert "RatingPredictor" in plurank.__all__


def test_ratings_of_items_the_model_knows_none_of_are_refused():
    s = plurank.simulate(30, 5, 2, 20, random_state=0)
    model = plurank.MixedRanking(2, mixing="probability", random_state=0).fit(s.comparisons)
    ratings = pl.DataFrame({"user": [0, 0, 1], "item": ["a", "b", "c"], "rating": [1, 2, 3]})
    with pytest.raises(plurank.DataError, match="knows none of the items rated, such as 'a'; it knows 0"):
        plurank.RatingPredictor(model).fit(ratings)
