"""Covariates that are difficult: tiny groups, perfect separation, many levels, nothing known."""

import numpy as np
import polars as pl
import pytest

import plurank
from plurank import DataError

N_ITEMS = 6


def vote(follows, per_user, seed=0):
    """Votes of users who follow one of two opposite rankings (0 or 1), mostly."""
    rng = np.random.default_rng(seed)
    users = np.repeat(np.arange(len(follows)), per_user)
    first = rng.integers(N_ITEMS, size=len(users))
    second = (first + 1 + rng.integers(N_ITEMS - 1, size=len(users))) % N_ITEMS
    lead = (second - first) * np.where(follows[users] == 0, 1.0, -1.0)
    wins = rng.random(len(users)) < 1.0 / (1.0 + np.exp(-1.5 * lead))
    return plurank.Comparisons.from_arrays(users, np.where(wins, first, second), np.where(wins, second, first))


def fit(votes, people):
    given = {"concentration": 1.0, "score_scale": 2.0, "init": "items"}
    return plurank.MixedRanking(2, mixing="probability", random_state=0, **given).fit(votes, people=people)


@pytest.fixture(scope="module")
def halves():
    """Votes of 100 users, of whom those with an even number follow one ranking and the others the other one."""
    follows = np.arange(100) % 2
    return follows, vote(follows, 12)


def test_a_group_of_three_people_is_fitted_and_its_figures_are_not_shown(halves):
    follows, votes = halves
    group = np.where(follows == 0, "even", "odd")
    group[:3] = "rare"
    effects = fit(votes, pl.DataFrame({"user": np.arange(100), "group": group})).effects("group")
    few = effects.filter(pl.col("people") < 5)
    assert few["people"].to_list() == [3, 3]
    for name in ("share", "lower", "upper", "difference", "probability"):
        assert few[name].null_count() == 2
    assert effects.filter(pl.col("people") >= 5)["share"].null_count() == 0


def test_a_covariate_that_separates_the_rankings_perfectly_is_fitted_with_finite_intervals(halves):
    follows, votes = halves
    people = pl.DataFrame({"user": np.arange(100), "group": np.where(follows == 0, "even", "odd")})
    model = fit(votes, people)
    assert np.isfinite(model.coefficient_draws_).all()
    largest = model.effects("group").group_by("level").agg(pl.col("share").max(), pl.col("lower").max())
    assert (largest["share"] > 0.8).all()
    assert (largest["lower"] > 0.7).all()
    assert (largest["share"] < 1.0).all()
    even = model.fold_in(about={"group": "even"}).weights
    odd = model.fold_in(about={"group": "odd"}).weights
    assert np.abs(even - odd).max() > 0.6


def test_fifty_levels_are_fitted_and_shown_each():
    follows = np.arange(250) % 50 < 25
    town = pl.format("town {}", pl.col("user") % 50)
    model = fit(vote(follows.astype(int), 5), pl.DataFrame({"user": np.arange(250)}).with_columns(town=town))
    effects = model.effects("town")
    assert effects["level"].n_unique() == 50
    assert effects["share"].null_count() == 0
    assert effects["share"].is_between(0.0, 1.0).all()


def test_a_column_without_values_is_left_out_and_said_to_be(halves):
    follows, votes = halves
    empty = pl.Series("income", [None] * 100, pl.Float64)
    people = pl.DataFrame({"user": np.arange(100), "group": np.where(follows == 0, "even", "odd")}).with_columns(empty)
    model = fit(votes, people)
    assert any("income" in sentence for sentence in model.covariates.reports)
    assert [attribute.name for attribute in model.covariates.attributes] == ["group"]


def test_a_table_of_nothing_but_a_column_without_values_is_refused_by_name(halves):
    people = pl.DataFrame({"user": np.arange(100)}).with_columns(pl.Series("income", [None] * 100, pl.Float64))
    with pytest.raises(DataError, match="no column of the table can be a covariate: income: "):
        fit(halves[1], people)
