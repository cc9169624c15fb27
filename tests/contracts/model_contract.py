"""What every model of rankings and user weights promises. Subclass it in tests/models and give ``make``."""

import copy
import dataclasses
import itertools
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import plurank
from plurank import Comparisons, DataError, ParameterError
from tests.contracts.difficult_data import DifficultData
from tests.contracts.equality import assert_same_model
from tests.contracts.person_contract import PersonContract
from tests.oracles.small_data import draw_comparisons, repeated, weighted

IDS = {
    "numbers": lambda n: np.arange(n),
    "negative numbers": lambda n: np.arange(n) - 1000,
    "large numbers": lambda n: np.arange(n) + 2**62,
    "fractions": lambda n: np.arange(n) / 4,
    "text": lambda n: np.array([f"item {i}" for i in range(n)], dtype=object),
    "emoji and quotes": lambda n: np.array([chr(0x1F600 + i) + "\"'\\\n,é" for i in range(n)], dtype=object),
    "text that looks like numbers": lambda n: np.array([f"{i:03d}" for i in range(n)], dtype=object),
    "text and numbers": lambda n: np.array([i if i % 2 else f"item {i}" for i in range(n)], dtype=object),
}


def asked(c):
    """The comparisons as a frame of questions, the winner on the left."""
    frame = c.to_frame()
    return frame.select("user", pl.col("winner").alias("left"), pl.col("loser").alias("right"))


def without_effects(model):
    """A copy of a model that predicts known users by their weights alone."""
    by_weights = copy.deepcopy(model)
    by_weights.user_effect_scale_ = None
    return by_weights


class ModelContract(DifficultData, PersonContract):
    """The promises. ``bad_parameters``: arguments that fit refuses; ``closeness`` of transform to the fit's weights,
    ``score_closeness`` of an item's score to its mean probability, and of one comparison's likelihood to its own."""

    bad_parameters = ()
    closeness = 1e-6
    score_closeness = 1e-9

    @classmethod
    def make(cls, n_rankings=3, **parameters):
        raise NotImplementedError

    @pytest.fixture(scope="class")
    @classmethod
    def population(cls):
        items, users = IDS["text"](6), IDS["emoji and quotes"](120)
        s = plurank.simulate(120, 6, 2, 25, random_state=3, mean_weights=[0.6, 0.4], items=items)
        return Comparisons(s.comparisons.winners, s.comparisons.losers, s.comparisons.offsets, items, users)

    @pytest.fixture(scope="class")
    @classmethod
    def model(cls, population):
        return cls.make(2, random_state=0).fit(population)

    # the estimator

    def test_init_stores_its_arguments_and_does_nothing_else(self):
        with pytest.raises(ParameterError):
            self.make(-1).fit(Comparisons.from_arrays([0, 0], ["a", "b"], ["b", "a"]))
        assert self.make(-1).n_rankings == -1

    def test_clone_keeps_the_parameters_and_forgets_the_fit(self, model):
        copied = clone(model)
        assert copied.get_params() == model.get_params()
        assert not fitted_attributes_of_unfitted(copied)

    def test_parameters_can_be_read_and_set(self):
        model = self.make(2, random_state=0)
        assert model.set_params(n_rankings=5, random_state=1) is model
        assert (model.get_params()["n_rankings"], model.get_params()["random_state"]) == (5, 1)
        assert set(model.get_params()) >= {"n_rankings", "random_state"}
        with pytest.raises(ValueError, match="Invalid parameter"):
            model.set_params(no_such_parameter=1)

    def test_a_pickled_model_is_the_same_model(self, model, population):
        copied = pickle.loads(pickle.dumps(model))
        assert_same_model(copied, model)
        assert copied.score(population) == model.score(population)

    def test_fit_gives_the_model_itself_and_changes_neither_data_nor_parameters(self, population):
        model = self.make(2, random_state=0)
        parameters, before = model.get_params(), population.winners.copy()
        assert model.fit(population) is model
        assert model.get_params() == parameters
        np.testing.assert_array_equal(population.winners, before)

    def test_a_second_fit_forgets_the_first(self, model, population):
        again = self.make(2, random_state=0).fit(population.block(0, 50)).fit(population)
        assert_same_model(again, model)

    def test_a_seed_gives_the_same_answer_twice(self, model, population):
        assert_same_model(self.make(2, random_state=0).fit(population), model)

    def test_a_generator_may_take_the_place_of_a_seed(self, population):
        fits = [self.make(2, random_state=np.random.default_rng(5)).fit(population) for _ in range(2)]
        assert_same_model(*fits)

    @pytest.mark.parametrize("method", ["transform", "predict_proba", "predict_held_out", "score", "accuracy"])
    def test_nothing_can_be_asked_before_fit(self, method, population):
        with pytest.raises(NotFittedError, match="not fitted"):
            getattr(self.make(2), method)(population)

    def test_nothing_can_be_ranked_or_saved_before_fit(self, tmp_path):
        with pytest.raises(NotFittedError, match="not fitted"):
            self.make(2).rank()
        with pytest.raises(NotFittedError, match="not fitted"):
            self.make(2).save(tmp_path / "model.plurank")
        assert not list(tmp_path.iterdir())

    def test_progress_is_told_in_words_and_shares(self, population):
        told = []
        self.make(2, random_state=0).fit(population, on_progress=lambda stage, done: told.append((stage, done)))
        assert all(isinstance(stage, str) and stage for stage, _ in told)
        assert all(0.0 <= done <= 1.0 for _, done in told)
        assert told[-1][1] == 1.0

    def test_bad_parameters_are_refused_with_a_sentence(self, population):
        assert self.bad_parameters
        for parameters in self.bad_parameters:
            (name,) = parameters
            model = self.make(**({"n_rankings": 2} | parameters))
            with pytest.raises(ParameterError, match=rf"{name} must be .*got .*\.$"):
                model.fit(population)

    # what fit found

    def test_attributes_have_their_shapes(self, model, population):
        assert model.rankings_.shape == (2, 6)
        assert model.user_weights_.shape == (120, 2)
        assert model.mean_weights_.shape == (2,)
        assert isinstance(model.concentration_, float)
        assert model.concentration_ > 0
        assert model.items_.tolist() == population.items.tolist()
        assert model.users_.tolist() == population.users.tolist()
        assert isinstance(model.converged_, bool)
        assert isinstance(model.n_iter_, int)

    def test_rankings_are_permutations(self, model):
        assert np.sort(model.rankings_, axis=1).tolist() == [list(range(6))] * 2

    def test_weights_lie_on_the_simplex(self, model, population):
        for weights in (model.user_weights_, model.mean_weights_[None], model.transform(population)):
            assert (weights >= 0).all()
            np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-9)

    def test_the_summary_says_in_plain_values_what_the_model_is(self, model, population):
        summary = model.summary()
        assert json.loads(json.dumps(summary, allow_nan=False)) == summary
        assert (summary["model"], summary["method"]) == (type(model).__name__, model.about)
        sizes = [summary[name] for name in ("n_rankings", "n_users", "n_items", "n_comparisons", "n_votes")]
        assert sizes == [len(model.rankings_), 120, 6, len(population), len(population)]
        assert summary["settings"] == {name: model.get_params()[name] for name in summary["settings"]}
        assert summary["data"] == population.summary()
        assert summary["camps"] == model.camps().to_dicts()
        assert sum(camp["people"] for camp in summary["camps"]) == 120
        assert [ranking["mean_weight"] for ranking in summary["rankings"]] == model.mean_weights_.tolist()
        assert (summary["n_iter"], summary["converged"]) == (model.n_iter_, model.converged_)
        assert summary["concentration"] == model.concentration_
        assert all(isinstance(text, str) and text for text in summary["details"].values())

    def test_the_summary_adds_rankings_and_items_on_request(self, model):
        short, summary = model.summary(), model.summary(items=True)
        assert json.loads(json.dumps(summary, allow_nan=False)) == summary
        assert {name: summary[name] for name in short if name != "rankings"} == {
            name: value for name, value in short.items() if name != "rankings"
        }
        for order, ranking, head in zip(model.rankings_, summary["rankings"], short["rankings"], strict=True):
            assert ranking["items"] == ranking["texts"] == model.items_[order].tolist()
            assert {name: ranking[name] for name in head} == head
        assert set(summary) - set(short) == {"common_ground", "most_divided"}
        assert (summary["common_ground"] is None) == (not hasattr(model, "leaderboard"))

    def test_the_summary_of_a_user_has_weights_and_top_items(self, model):
        user = model.users_[17]
        summary = model.user_summary(user, top=3)
        assert json.loads(json.dumps(summary, allow_nan=False)) == summary
        assert summary["weights"] == model.user_weights_[17].tolist()
        assert [row["item"] for row in summary["items"]] == model.rank(user)["item"].to_list()[:3]
        assert len(model.user_summary(user, top=None)["items"]) == 6
        for low, high in summary.get("weight_intervals", []):
            assert 0 <= low <= high <= 1
        with pytest.raises(DataError, match=r"unknown user 'nobody'\. The model has 120 users, such as"):
            model.user_summary("nobody")
        with pytest.raises(ParameterError, match="top must be an integer >= 1, got 0"):
            model.user_summary(user, top=0)

    def test_nothing_is_summarised_before_fit(self):
        for ask in (lambda model: model.summary(), lambda model: model.user_summary("x")):
            with pytest.raises(NotFittedError, match="not fitted"):
                ask(self.make(2))

    def test_a_saved_model_has_the_same_summary(self, model, tmp_path):
        model.save(tmp_path / "model.plurank")
        assert plurank.load(tmp_path / "model.plurank").summary(items=True) == model.summary(items=True)

    # new comparisons

    def test_transforming_the_training_data_reproduces_the_user_weights(self, model, population):
        np.testing.assert_allclose(model.transform(population), model.user_weights_, atol=self.closeness)

    def test_transform_takes_new_users_one_by_one_and_items_in_any_order(self, model, population):
        frame = population.to_frame()
        some = frame.filter(pl.col("user").is_in(population.users[[7, 3]].tolist()))
        c = Comparisons.from_frame(some.select("loser", "winner", "user"))
        at = [population.users.tolist().index(user) for user in c.users.tolist()]
        np.testing.assert_allclose(model.transform(c), model.user_weights_[at], atol=self.closeness)
        np.testing.assert_allclose(model.transform(some), model.transform(c))

    def test_the_two_orders_of_a_pair_have_probabilities_that_sum_to_one(self, model, population):
        frame = asked(population)
        swapped = frame.rename({"left": "right", "right": "left"})
        p, q = model.predict_proba(frame), model.predict_proba(swapped)
        assert p.shape == (len(population),)
        assert ((p > 0) & (p < 1)).all()
        np.testing.assert_allclose(p + q, 1.0)

    @pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame, pa.table], ids=["polars", "pandas", "pyarrow"])
    def test_questions_may_come_in_any_frame(self, frame, model):
        columns = {"right": ["item 1", "item 2"], "user": [model.users_[0], "somebody"], "left": ["item 0", "item 5"]}
        expected = model.predict_proba(pl.DataFrame(columns))
        np.testing.assert_array_equal(model.predict_proba(frame(columns)), expected)

    def test_unknown_users_get_the_mean_weights(self, model):
        average = without_effects(model)
        average.user_weights_[0] = model.mean_weights_
        if hasattr(model, "user_concentration_"):
            average.user_concentration_[0] = model.concentration_
        pairs = list(itertools.permutations(model.items_.tolist(), 2))
        left, right = (list(side) for side in zip(*pairs, strict=True))
        known = average.predict_proba(pl.DataFrame({"user": [model.users_[0]] * 30, "left": left, "right": right}))
        unknown = model.predict_proba(pl.DataFrame({"user": ["somebody else"] * 30, "left": left, "right": right}))
        np.testing.assert_allclose(unknown, known)

    def test_unknown_items_are_refused_by_name(self, model):
        questions = pl.DataFrame({"user": ["x", "y"], "left": ["item 0", "item 77"], "right": ["item 1", "item 2"]})
        with pytest.raises(DataError, match=r"row 2: left is an item the model does not know \('item 77'\)\. Use"):
            model.predict_proba(questions)
        c = Comparisons.from_arrays(["x", "x"], ["item 0", "item 77"], ["item 1", "item 2"])
        for method in (model.transform, model.score, model.accuracy, model.predict_held_out):
            with pytest.raises(DataError, match=r"does not know 1 of the items compared \('item 77'\)\. Drop"):
                method(c)

    def test_an_item_compared_with_itself_is_refused(self, model):
        with pytest.raises(DataError, match="row 1: left and right are the same item"):
            model.predict_proba(pl.DataFrame({"user": ["x"], "left": ["item 0"], "right": ["item 0"]}))

    def test_unknown_items_that_nobody_compared_do_no_harm(self, model):
        c = Comparisons.from_arrays(["x"], ["item 0"], ["item 1"], items=["item 0", "item 1", "item 77"])
        assert model.transform(c).shape == (1, 2)
        assert np.isfinite(model.score(c))

    def test_the_score_is_the_mean_logarithm_of_the_predictions(self, model, population):
        p = model.predict_proba(asked(population))
        assert model.score(population) == pytest.approx(np.log(p).mean())
        assert model.score(population.to_frame()) == pytest.approx(np.log(p).mean())
        assert model.accuracy(population) == pytest.approx(((p > 0.5) + 0.5 * (p == 0.5)).mean())

    def test_an_evaluation_has_score_accuracy_and_who_is_known(self, model, population):
        known = population.block(0, 10)
        users = np.array([f"stranger {n}" for n in range(10)], dtype=object)
        for test, n_known in ((known, 10), (dataclasses.replace(known, users=users), 0)):
            assert model.evaluate(test) == {
                "log_likelihood": model.score(test), "accuracy": model.accuracy(test),
                "n_comparisons": len(test), "n_users": 10, "n_known_users": n_known,
            }  # fmt: skip

    def test_weight_two_scores_like_the_row_twice(self, model, rng):
        c = draw_comparisons(rng, n_items=6, labels=model.items_)
        times = rng.integers(1, 4, len(c))
        assert model.score(weighted(c, times)) == pytest.approx(model.score(repeated(c, times)))
        assert model.accuracy(weighted(c, times)) == pytest.approx(model.accuracy(repeated(c, times)))
        np.testing.assert_allclose(model.transform(weighted(c, times)), model.transform(repeated(c, times)), atol=1e-9)

    # whole new users

    def test_new_users_of_one_comparison_are_as_likely_as_predicted(self, model, population):
        c = Comparisons(*first_of_each(population), np.arange(121), population.items, np.arange(120))
        # nothing to sample with one token; blended scores are integrated, and predicted by an approximation
        found = model.score(c, method="left-to-right")
        assert found == pytest.approx(model.score(c), abs=self.score_closeness)

    def test_what_new_users_said_tells_on_what_they_say_next(self, model, population):
        c = Comparisons(population.winners, population.losers, population.offsets, population.items, np.arange(120))
        assert model.score(c) < model.score(c, method="left-to-right") < 0

    def test_known_users_count_as_new_ones_and_a_seed_gives_the_same_score_twice(self, model, population):
        few = population.block(0, 20)
        new = Comparisons(few.winners, few.losers, few.offsets, few.items, np.arange(20))
        scores = [model.score(c, method="left-to-right", n_particles=5, random_state=1) for c in (few, new, new)]
        assert scores[0] == scores[1] == scores[2]
        assert model.score(new, method="left-to-right", n_particles=5, random_state=2) != scores[0]

    def test_with_one_ranking_both_scores_are_the_same(self, population):
        model = self.make(1, random_state=0).fit(population)
        new = Comparisons(population.winners, population.losers, population.offsets, population.items, np.arange(120))
        found = model.score(new, method="left-to-right", n_particles=2)
        assert found == pytest.approx(model.score(new), abs=1e-5)  # members of an ensemble differ in the last digits

    def test_unknown_ways_to_score_are_refused_with_a_sentence(self, model, population):
        with pytest.raises(ParameterError, match="method must be 'predictive' or 'left-to-right', got 'right'"):
            model.score(population, method="right")
        for bad in (0, 1.5, None):
            with pytest.raises(ParameterError, match="n_particles must be an integer >= 1, got"):
                model.score(population, method="left-to-right", n_particles=bad)
        with pytest.raises(DataError, match="does not know 1 of the items"):
            model.score(Comparisons.from_arrays(["x"], ["item 0"], ["item 77"]), method="left-to-right")

    def test_new_users_cannot_be_scored_before_fit(self, population):
        with pytest.raises(NotFittedError, match="not fitted"):
            self.make(2).score(population, method="left-to-right")

    # one user's order

    def test_rank_gives_every_item_once_best_first(self, model):
        for user in (None, model.users_[0], model.users_[17]):
            order = model.rank(user)
            assert order.columns[:3] == ["item", "score", "rank"]
            assert sorted(order["item"]) == sorted(model.items_)
            assert order["rank"].to_list() == [1, 2, 3, 4, 5, 6]
            assert (np.diff(order["score"].to_numpy()) <= 0).all()

    def test_the_score_of_an_item_is_its_mean_probability_against_the_others(self, model):
        for item, score in model.rank(model.users_[4]).select("item", "score").iter_rows():
            others = [other for other in model.items_ if other != item]
            questions = pl.DataFrame({"user": [model.users_[4]] * 5, "left": [item] * 5, "right": others})
            assert score == pytest.approx(model.predict_proba(questions).mean(), abs=self.score_closeness)

    def test_weights_may_take_the_place_of_a_user(self, model):
        model = without_effects(model)
        columns = ["item", "score", "rank"]  # bounds, where there are any, know more about a user than about weights
        assert model.rank(weights=model.user_weights_[3])[columns].equals(model.rank(model.users_[3])[columns])
        assert model.rank(weights=model.mean_weights_).equals(model.rank())
        for bad in ([1.0], [0.7, 0.7], [2.0, -1.0], [np.nan, 1.0]):
            with pytest.raises(ParameterError, match=r"weights must be (2|finite) numbers"):
                model.rank(weights=bad)

    def test_an_unknown_user_cannot_be_ranked_and_is_told_what_to_do(self, model):
        with pytest.raises(DataError, match=r"does not know user 'nobody'\. .*transform"):
            model.rank("nobody")

    # files

    @pytest.mark.parametrize("kind", IDS)
    def test_a_saved_model_comes_back_whole(self, kind, population, tmp_path):
        some = population.block(0, 40)
        c = Comparisons(some.winners, some.losers, some.offsets, IDS[kind](6), IDS[kind](40))
        model = self.make(2, random_state=0).fit(c)
        model.save(tmp_path / "model.plurank")
        loaded = plurank.load(tmp_path / "model.plurank")
        assert_same_model(loaded, model)
        assert loaded.get_params() == model.get_params()
        np.testing.assert_array_equal(loaded.predict_proba(asked(c)), model.predict_proba(asked(c)))
        assert loaded.rank(c.users[5]).rows() == model.rank(c.users[5]).rows()
        np.testing.assert_array_equal(loaded.transform(c), model.transform(c))

    def test_a_model_fitted_with_a_generator_can_be_saved(self, population, tmp_path):
        model = self.make(2, random_state=np.random.default_rng(0)).fit(population)
        model.save(tmp_path / "model.plurank")
        assert_same_model(plurank.load(tmp_path / "model.plurank"), model)


def first_of_each(c):
    """The winners and losers of every user's first comparison."""
    return c.winners[c.offsets[:-1]], c.losers[c.offsets[:-1]]


def fitted_attributes_of_unfitted(model):
    return [name for name in vars(model) if name.endswith("_")]
