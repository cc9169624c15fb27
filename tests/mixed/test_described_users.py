"""Weights of users with covariates who answered a few questions."""

import numpy as np
import pytest

import plurank
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.described_users import average_draws
from plurank.models.prediction import Memberships

SCORES = np.array([[2.0, -2.0, 0.0], [0.0, 1.0, -1.0], [-2.0, 2.0, 1.0]])
COUNTS = np.array([[0.06, 0.03, 0.02], [0.5, 1.0, 0.2], [3.0, 1.0, 2.0]])


def fold_in(mixing, votes, counts):
    """Variational memberships, and those by draws."""
    component = BradleyTerry(SCORES, mixing)
    init = counts / counts.sum(axis=1, keepdims=True)
    seen = component.update_memberships(votes, init, counts, 50)
    found = Memberships(seen.means, seen.user_concentration, init[0], 1.0)
    return found, average_draws(component, votes, counts, found)


def test_after_one_answer_weights_are_those_of_bayes_rule():
    votes = plurank.Comparisons.from_arrays([0, 1, 2], [2, 1, 2], [0, 2, 0], items=np.arange(3))
    lead = SCORES[votes.winners] - SCORES[votes.losers]
    chance = 1.0 / (1.0 + np.exp(-lead))
    total = COUNTS.sum(axis=1)[:, None, None]
    second = (COUNTS[:, :, None] * COUNTS[:, None, :] + COUNTS[:, :, None] * np.eye(3)) / (total * (total + 1.0))
    exact = np.einsum("mjk,mk->mj", second, chance)
    exact /= exact.sum(axis=1, keepdims=True)
    before, after = fold_in("probability", votes, COUNTS)
    # 512 draws of weights that are all nearly 0 or 1: a standard error of 0.02
    np.testing.assert_allclose(after.weights, exact, atol=0.07)
    assert np.abs(after.weights - exact)[0].max() < 0.5 * np.abs(before.weights - exact)[0].max()


@pytest.mark.parametrize("mixing", ["probability", "utility"])
def test_what_is_inferred_of_a_user_does_not_depend_on_who_else_is_asked(mixing):
    votes = plurank.Comparisons.from_arrays([0, 0, 1, 2], [0, 1, 2, 0], [1, 2, 0, 2], items=np.arange(3))
    together = fold_in(mixing, votes, COUNTS)[1]
    alone = fold_in(mixing, votes.take_users(np.array([False, True, False])), COUNTS[1:2])[1]
    np.testing.assert_array_equal(together.weights[1], alone.weights[0])
    assert together.user_concentration[1] == alone.user_concentration[0]


def test_users_without_answers_keep_what_their_prior_says():
    sides = np.array([0, 2], np.int32), np.array([1, 0], np.int32)
    silent = plurank.Comparisons(*sides, np.array([0, 1, 1, 2]), np.arange(3), np.arange(3))
    before, after = fold_in("utility", silent, COUNTS)
    np.testing.assert_array_equal(before.weights[1], after.weights[1])
