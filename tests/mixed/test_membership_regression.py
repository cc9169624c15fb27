"""How weights depend on covariates, given the scores of a fit to comparisons."""

import numpy as np
import pytest

import plurank
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.membership_regression import (
    Sample,
    choose_slope_scale,
    fit_regression,
)
from plurank.regression.coefficients import Coefficients, draw_log_dirichlets

TABLE = np.array([[0.3, -0.3], [0.8, -0.8], [0.0, 0.0]])
TRUTH = Coefficients(1.5, TABLE)
PLAIN = np.full(2, 0.7)


def simulate(mixing, n_users=600, per_user=20, seed=0):
    rng = np.random.default_rng(seed)
    scores = 1.5 * rng.standard_normal((12, 2))
    design = rng.standard_normal((n_users, 2))
    weights = np.exp(draw_log_dirichlets(TRUTH.counts_of(design), rng))
    users = np.repeat(np.arange(n_users), per_user)
    first = rng.integers(12, size=len(users))
    second = (first + 1 + rng.integers(11, size=len(users))) % 12
    lead = scores[first] - scores[second]
    chance = (weights[users] / (1.0 + np.exp(-lead))).sum(axis=1)
    if mixing == "utility":
        chance = 1.0 / (1.0 + np.exp(-(weights[users] * lead).sum(axis=1)))
    wins = rng.random(len(users)) < chance
    sides = np.where(wins, first, second), np.where(wins, second, first)
    return BradleyTerry(scores, mixing), Sample(plurank.Comparisons.from_arrays(users, *sides), design, 0)


@pytest.mark.parametrize("mixing", ["probability", "utility"])
def test_coefficients_are_found_given_the_scores(mixing):
    component, sample = simulate(mixing)
    found = fit_regression(component, sample, Coefficients.constant(PLAIN, 2), 1.0).coefficients
    # 600 users with 20 votes: errors of about 0.08; the slope is 0.8
    np.testing.assert_allclose(found.table, TABLE, atol=0.35)
    assert abs(np.log(found.concentration / TRUTH.concentration)) < 0.7


def test_the_scale_is_none_where_covariates_are_shuffled():
    component, sample = simulate("utility")
    assert choose_slope_scale(component, sample, PLAIN) is not None
    shuffled = Sample(sample.comparisons, np.random.default_rng(1).permutation(sample.design), 0)
    assert choose_slope_scale(component, shuffled, PLAIN) is None
