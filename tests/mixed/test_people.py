"""Covariates of users: effects, predictions for new people, and what a model keeps of them."""

import copy
import pickle
import warnings

import numpy as np
import polars as pl
import pytest

import plurank
from plurank import DataError, NotFittedError, ParameterError
from plurank.mixed.people import FIELDS
from plurank.regression.coefficients import Coefficients, draw_log_dirichlets
from plurank.store.ingest import ingest

TABLE = np.array([[0.0, 0.0], [0.9, -0.9], [0.0, 0.0]])
AGES, N_USERS = 12.0, 240


def simulate(n_users=N_USERS, per_user=20, seed=0, table=TABLE):
    """Users of two opposite rankings: older ones follow the first, what drink they like says nothing."""
    rng = np.random.default_rng(seed)
    age = (40.0 + AGES * rng.standard_normal(n_users)).round()
    drink = rng.choice(["tea", "milk"], n_users)
    design = np.column_stack([(age - 40.0) / AGES, (drink == "tea") - 0.5])
    weights = np.exp(draw_log_dirichlets(Coefficients(1.5, table).counts_of(design), rng))
    scores = np.linspace(2.0, -2.0, 8)[:, None] * [1.0, -1.0]
    users = np.repeat(np.arange(n_users), per_user)
    first = rng.integers(8, size=len(users))
    second = (first + 1 + rng.integers(7, size=len(users))) % 8
    chance = (weights[users] / (1.0 + np.exp(scores[second] - scores[first]))).sum(axis=1)
    wins = rng.random(len(users)) < chance
    votes = plurank.Comparisons.from_arrays(users, np.where(wins, first, second), np.where(wins, second, first))
    return votes, pl.DataFrame({"user": np.arange(n_users), "age": age, "drink": drink})


@pytest.fixture(scope="module")
def votes_and_people():
    return simulate()


@pytest.fixture(scope="module", params=["probability", "utility"])
def model(request, votes_and_people):
    votes, people = votes_and_people
    return plurank.MixedRanking(2, mixing=request.param, random_state=0).fit(votes, people=people)


@pytest.fixture(scope="module")
def rated_model():
    _, people = simulate(n_users=120)
    rng = np.random.default_rng(0)
    by_age = np.where(people["age"].to_numpy()[:, None] > 40.0, 1.0, -1.0) * np.linspace(1.0, -1.0, 6)
    ratings = (2.0 * by_age + rng.standard_normal(by_age.shape)).round().clip(-2, 2)
    users, items = np.repeat(np.arange(120), 6), np.tile(np.arange(6), 120)
    said = plurank.Ratings.from_arrays(users, items, ratings.ravel())
    made = plurank.MixedRanking(2, n_factors=0, max_iter=30, random_state=0)
    with warnings.catch_warnings():  # so few sweeps may not agree yet
        warnings.simplefilter("ignore", plurank.ConvergenceWarning)
        return made.fit(said, people=people)


def older(model):
    """Return the number, from 0, of the ranking that older people follow."""
    return int(np.argmax(model.fold_in(about={"age": 70}).weights))


def test_effects_show_who_follows_which_ranking(model):
    effects = model.effects("age").filter(pl.col("ranking") == 1 + older(model))
    assert effects["share"].is_sorted()
    assert effects["difference_lower"][-1] > 0.2
    assert effects["probability"][-1] > 0.99


def test_intervals_hold_the_shares_that_were_simulated(model):
    first = older(model)
    effects = model.effects("age").filter(pl.col("ranking") == 1 + first)
    for row in effects.to_dicts():
        logit = 2 * 0.9 * (row["value"] - 40.0) / AGES
        truth = 1.0 / (1.0 + np.exp(-logit))
        # one seed of a simulation; 90 % intervals, widened by half
        more = 0.5 * (row["upper"] - row["lower"])
        assert row["lower"] - more <= truth <= row["upper"] + more


def test_what_says_nothing_has_an_interval_around_no_difference(model):
    row = model.effects("drink").filter((pl.col("ranking") == 1) & (pl.col("difference") != 0.0)).row(0, named=True)
    assert row["difference_lower"] < 0.0 < row["difference_upper"]


def test_shares_of_all_rankings_sum_to_one(model):
    sums = model.effects().group_by("attribute", "level").agg(pl.col("share").sum())
    np.testing.assert_allclose(sums["share"], 1.0)


def test_a_person_of_whom_only_covariates_are_known_follows_people_like_them(model):
    old, young = (model.fold_in(about={"age": age}).weights for age in (65, 15))
    assert old[older(model)] > 0.7 > 0.3 > young[older(model)]
    nothing = model.fold_in().weights
    np.testing.assert_allclose(nothing, model.mean_weights_, atol=0.1)


def test_unknown_users_are_predicted_by_people_like_them(model):
    asked = pl.DataFrame({"user": [1000, 1001, 0], "left": [0, 0, 0], "right": [7, 7, 7]})
    table = pl.DataFrame({"user": [1000, 1001], "age": [65.0, 15.0]})
    chances, plain = model.predict_proba(asked, people=table), model.predict_proba(asked)
    assert abs(chances[0] - chances[1]) > 0.3
    assert plain[0] == plain[1]
    assert chances[2] == plain[2]  # the model knows this user


def test_new_users_without_votes_are_predicted_by_their_covariates(model):
    votes, people = simulate(seed=1)
    nothing = votes.select(np.zeros(0, np.int64))
    logs = [np.log(model.predict_new(nothing, votes, **given)).mean() for given in ({}, {"people": people})]
    assert logs[1] > logs[0] + 0.02


def test_users_are_folded_in_with_their_covariates(model, votes_and_people):
    votes, people = votes_and_people
    few = votes.select(np.isin(np.arange(len(votes)), votes.offsets[:-1]))  # one vote of each user
    with_age, without = model.transform(few, people=people), model.transform(few)
    age = people["age"].to_numpy()
    gained = np.corrcoef(with_age[:, older(model)], age)[0, 1] - np.corrcoef(without[:, older(model)], age)[0, 1]
    assert gained > 0.2


def test_the_next_pair_begins_with_what_covariates_tell(model):
    assert len(model.next_pair(about={"age": 40})) == 2


def test_shuffled_covariates_change_nothing(votes_and_people):
    votes, people = votes_and_people
    shuffled = people.with_columns(user=np.random.default_rng(5).permutation(N_USERS))
    made = plurank.MixedRanking(2, mixing="utility", random_state=0)
    plain = copy.deepcopy(made).fit(votes)
    with_noise = made.fit(votes, people=shuffled)
    test, _ = simulate(seed=2)
    nothing = test.select(np.zeros(0, np.int64))
    gain = np.log(with_noise.predict_new(nothing, test, people=shuffled)) - np.log(plain.predict_new(nothing, test))
    assert gain.mean() > -0.002


def test_a_population_is_weighed_by_its_composition(model):
    young = model.poststratify(pl.DataFrame({"age": [20.0, 65.0], "people": [99, 1]}))
    old = model.poststratify(pl.DataFrame({"age": [20.0, 65.0], "people": [1, 99]}))
    k = older(model)
    assert young["share"][k] < young["sample"][k] < old["share"][k]
    assert (young["lower"] <= young["share"]).all()
    assert (young["share"] <= young["upper"]).all()


@pytest.mark.parametrize("census", [{"age": [20.0]}, {"age": [20.0], "people": [-1]}, {"people": [3]}])
def test_a_census_without_sizes_or_covariates_is_refused(model, census):
    with pytest.raises(DataError):
        model.poststratify(pl.DataFrame(census))


def test_files_and_pickles_keep_what_covariates_tell(model, tmp_path):
    model.save(tmp_path / "m.plurank")
    for again in (plurank.load(tmp_path / "m.plurank"), pickle.loads(pickle.dumps(model))):
        assert again.effects().equals(model.effects())
        found = [each.fold_in(about={"age": 60}).weights for each in (again, model)]
        np.testing.assert_array_equal(*found)


def test_a_model_without_covariates_says_so(votes_and_people):
    votes, people = votes_and_people
    model = plurank.MixedRanking(2, mixing="utility", random_state=0)
    with pytest.raises(NotFittedError):
        model.effects()
    model.fit(votes, people=people).fit(votes)
    assert all(getattr(model, name) is None for name in FIELDS)
    for ask in (model.effects, lambda: model.fold_in(about={"age": 3}), lambda: model.transform(votes, people=people)):
        with pytest.raises(ParameterError, match="without covariates"):
            ask()


def test_a_formula_needs_covariates(votes_and_people):
    with pytest.raises(ParameterError, match="formula"):
        plurank.MixedRanking(2).fit(votes_and_people[0], formula="age")


def test_orders_take_no_covariates(votes_and_people):
    with pytest.raises(ParameterError, match="people"):
        plurank.MixedRanking(2, "strict").fit(votes_and_people[0], people=votes_and_people[1])


def test_with_one_ranking_everybody_follows_it(votes_and_people):
    votes, people = votes_and_people
    model = plurank.MixedRanking(1, mixing="utility", random_state=0).fit(votes, people=people)
    np.testing.assert_allclose(model.effects()["share"], 1.0)


def test_an_update_knows_new_users_by_their_covariates(model):
    answers = plurank.Comparisons.from_arrays(["new"], [3], [4])
    tables = [pl.DataFrame({"user": ["new"], "age": [age]}) for age in (65.0, 15.0)]
    old, young = (copy.deepcopy(model).update(answers, people=table) for table in tables)
    k = older(model)
    assert old.user_weights_[-1, k] > young.user_weights_[-1, k] + 0.3
    assert old.people_.shape == (N_USERS + 1, model.people_.shape[1])


def test_a_store_gives_the_same_as_memory(votes_and_people, tmp_path):
    votes, people = votes_and_people
    users = votes.user_of_each()
    pl.DataFrame({"user": users, "winner": votes.winners, "loser": votes.losers}).write_csv(tmp_path / "votes.csv")
    store = ingest(tmp_path / "votes.csv", tmp_path / "store")
    both = [
        plurank.MixedRanking(2, mixing="utility", random_state=0).fit(source, people=people)
        for source in (store, store.to_comparisons())
    ]
    for name in ("scores_", "user_weights_", "coefficient_draws_"):
        np.testing.assert_array_equal(*(getattr(each, name) for each in both))


class TestModelsOfRatings:
    def test_effects_are_drawn_with_all_else(self, rated_model):
        effects = rated_model.effects("age").filter(pl.col("ranking") == 1 + older(rated_model))
        assert effects["difference_lower"][-1] > 0.1

    def test_unknown_users_are_predicted_by_people_like_them(self, rated_model):
        asked = pl.DataFrame({"user": [1000, 1001], "left": [0, 0], "right": [5, 5]})
        table = pl.DataFrame({"user": [1000, 1001], "age": [65.0, 15.0]})
        chances = rated_model.predict_proba(asked, people=table)
        assert chances[0] > chances[1] + 0.2

    def test_files_keep_the_slopes(self, rated_model, tmp_path):
        rated_model.save(tmp_path / "m.plurank")
        again = plurank.load(tmp_path / "m.plurank")
        assert again.effects().equals(rated_model.effects())
        old = [each.fold_in(about={"age": 60}).weights for each in (again, rated_model)]
        np.testing.assert_array_equal(*old)


class TestExplain:
    def test_a_model_without_covariates_tells_of_groups_by_composition(self, votes_and_people):
        votes, people = votes_and_people
        model = plurank.MixedRanking(2, mixing="utility", random_state=0).fit(votes)
        effects = plurank.explain(model, people, "age")
        share = effects.filter(pl.col("value") == effects["value"].max())["share"]
        assert share.max() > 0.7
        naive = model.user_weights_[people["age"].to_numpy() > 55].mean(axis=0).max()
        assert share.max() > naive - 0.05

    def test_a_model_with_covariates_answers_by_itself(self, model, votes_and_people):
        assert plurank.explain(model, votes_and_people[1]).equals(model.effects())

    def test_a_model_without_posterior_is_refused(self, votes_and_people):
        single = plurank.SingleRanking().fit(votes_and_people[0])
        with pytest.raises(ParameterError, match="MixedRanking"):
            plurank.explain(single, votes_and_people[1])
