"""MixedRanking keeps the contract of all models."""

import copy
import itertools

import numpy as np
import polars as pl
import pytest

from plurank import Comparisons, NotIdentifiableError
from tests.contracts.model_contract import ModelContract, without_effects
from tests.mixed.kinds import make

BAD_PARAMETERS = [
    *({"n_rankings": bad} for bad in (0, -1, 1.5, True, "3", None, np.nan)),
    *({"component": bad} for bad in ("", "plackett-luce", None, 1)),
    *({"mixing": bad} for bad in ("", "both", None)),
    *({"init": bad} for bad in ("", "warm", None)),
    *({"concentration": bad} for bad in (0, -1, np.nan, np.inf, "much")),
    *({"score_scale": bad} for bad in (0, -1, np.nan, "wide")),
    *({"from_ratings": bad} for bad in (1, "yes")),
    *({"ensemble": bad} for bad in (0, -1, 1.5, None)),
    *({"max_iter": bad} for bad in (0, -1, 2.5, None)),
    *({"tol": bad} for bad in (0, -1e-5, np.nan, None)),
    *({"random_state": bad} for bad in (-1, True)),
]


class MixedContract(ModelContract):
    kind = "probability"
    bad_parameters = BAD_PARAMETERS
    # the fit's weights stop where the posterior of all users together stands still
    closeness = 1e-4

    @classmethod
    def make(cls, n_rankings=3, **parameters):
        return make(cls.kind, n_rankings, **({"random_state": None} | parameters))

    def test_more_rankings_than_the_data_can_carry_are_refused_with_the_numbers(self):
        # pairs do not bound the number of rankings here, because the prior says what the data do not; users do
        c = Comparisons.from_arrays([1, 1, 2, 2], list("baaa"), list("abbb"))
        with pytest.raises(NotIdentifiableError, match=r"^3 rankings cannot be told apart by 2 users\. .*try fewer"):
            self.make(3, random_state=0).fit(c)

    def test_as_many_rankings_as_users_can_be_fitted(self):
        c = Comparisons.from_arrays([1, 1, 2, 2], list("baaa"), list("abbb"))
        model = self.make(2, random_state=0).fit(c)
        assert model.rankings_.shape == (2, 2)
        assert model.rank()["item"].to_list() == ["a", "b"]
        # a wins three times in four; two kinds of people may say so more surely than the counts, but not much more
        assert 0.5 < model.rank()["score"][0] < 0.9


class TestProbability(MixedContract):
    kind = "probability"


class TestUtility(MixedContract):
    kind = "utility"
    score_closeness = 0.03  # the score is that of the taste itself, a prediction is averaged over what it may be


class TestMallows(MixedContract):
    kind = "mallows"


class TestStrict(MixedContract):
    kind = "strict"


class TestEnsemble(MixedContract):
    kind = "ensemble"

    def test_unknown_users_get_the_mean_weights(self, model):
        # every member of an ensemble has weights of its own, so the mean is that member's mean
        average = without_effects(model)
        average.user_weights_[0] = model.mean_weights_
        average.user_concentration_[0] = model.concentration_
        average.member_weights_[:, 0] = model.member_weights_.mean(axis=1)
        pairs = list(itertools.permutations(model.items_.tolist(), 2))
        left, right = (list(side) for side in zip(*pairs, strict=True))
        known = average.predict_proba(pl.DataFrame({"user": [model.users_[0]] * 30, "left": left, "right": right}))
        unknown = model.predict_proba(pl.DataFrame({"user": ["somebody else"] * 30, "left": left, "right": right}))
        np.testing.assert_allclose(unknown, known, atol=1e-9)

    def test_the_score_of_an_item_is_its_mean_probability_against_the_others(self, model):
        # an order needs one set of rankings: it is that of the first fit, of which the others are variations
        alone = copy.deepcopy(model)
        alone.member_scores_, alone.member_weights_ = alone.member_scores_[:0], alone.member_weights_[:0]
        super().test_the_score_of_an_item_is_its_mean_probability_against_the_others(alone)
        assert model.rank(model.users_[4]).equals(alone.rank(model.users_[4]))
