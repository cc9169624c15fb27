"""Probabilities of common ground against other ways to get them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from plurank.inference.common_ground import (
    WIDER,
    control_false_discoveries,
    draw_camps,
    find_agreement,
    find_common_ground,
)
from plurank.models.votes import count_dissenters

RANKINGS = [np.eye(2)]


def test_two_items_are_in_the_right_order_as_often_as_the_gaussian_says():
    scores, errors = np.array([[0.5], [0.0]]), np.full((2, 1), 0.4)
    found = find_common_ground(scores, errors, np.eye(1), [np.eye(1)], 0.9)
    chance = norm.cdf(0.5 / (WIDER * 0.4 * np.sqrt(2.0)))
    # of 1,000 draws a share varies by less than 0.016
    assert 2.0 - found.worst_rank[0, 0] == pytest.approx(chance, abs=0.06)
    assert found.worst_rank[0].sum() == pytest.approx(3.0)


def test_what_is_certain_has_probabilities_of_0_and_1():
    places = np.array([[0, 0], [1, 8], [2, 1], [3, 2], [4, 3], [5, 4], [6, 5], [7, 6], [8, 7]], dtype=float)
    found = find_common_ground(-places, np.full((9, 2), 1e-6), np.eye(2), RANKINGS, 0.9)
    assert found.liked.tolist() == [1, 0, 1, 0, 0, 0, 0, 0, 0]
    assert found.disliked.tolist() == [0, 0, 0, 0, 0, 0, 0, 1, 1]
    assert found.contested.tolist() == [0, 1, 0, 0, 0, 0, 0, 0, 0]
    assert found.same.tolist() == [1, 0, 1, 1, 1, 1, 1, 1, 1]
    assert found.worst_ranking[1] == 1
    assert found.worst_rank[:, 1].tolist() == [9, 9, 9]


def test_errors_that_move_together_keep_rankings_together():
    scores, errors = np.zeros((12, 2)), np.ones((12, 2))
    apart = find_common_ground(scores, errors, np.eye(2), RANKINGS, 0.9)
    together = find_common_ground(scores, errors, np.ones((2, 2)), RANKINGS, 0.9)
    assert (together.same == 1.0).all()
    assert apart.same.max() < 0.6  # two independent ranks of 12 are within 2 with probability 0.35
    assert together.liked.mean() == pytest.approx(1 / 3)
    assert apart.liked.mean() == pytest.approx(1 / 9, abs=0.03)


def test_camps_that_blend_all_rankings_alike_have_one_order():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((9, 2)) * 3
    found = find_common_ground(scores, np.full((9, 2), 1e-6), np.eye(2), [np.full((2, 2), 0.5)], 0.9)
    assert (found.same == 1.0).all()
    best = np.argsort(-scores.sum(axis=1))[:3]
    assert sorted(np.flatnonzero(found.liked).tolist()) == sorted(best.tolist())


def test_camps_are_drawn_around_the_people_who_follow_them():
    weights = np.repeat([[0.9, 0.1], [0.2, 0.8]], 300, axis=0)
    drawn = draw_camps(weights, np.full(600, 1e4), 5)
    assert len(drawn) == 5
    assert np.mean(drawn, axis=0) == pytest.approx(np.array([[0.9, 0.1], [0.2, 0.8]]), abs=0.01)
    alone = draw_camps(np.tile([1.0, 0.0], (20, 1)), np.full(20, 1e4), 1)[0]
    assert alone[1].tolist() == [0.0, 1.0]  # a ranking nobody follows stands for itself


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), st.integers(0, 2**32 - 1))
def test_listed_items_are_the_surest_and_wrong_rarely_enough(probabilities, seed):
    p = np.array(probabilities)
    candidates = np.random.default_rng(seed).random(len(p)) < 0.8
    listed = control_false_discoveries(p, candidates)
    assert not (listed & ~candidates).any()
    if listed.any():
        assert (1.0 - p[listed]).mean() <= 0.05
        assert p[listed].min() >= 0.9
        rest = candidates & ~listed
        assert not rest.any() or p[rest].max() <= p[listed].min()
    else:
        assert not (p[candidates] > 0.95 + 1e-9).any()


def test_shares_of_agreement_hold_what_was_counted():
    agree, disagree = np.array([[30, 28], [30, 2], [1, 0]]), np.array([[2, 1], [2, 30], [0, 0]])
    dissenters = np.array([[6, 1], [3, 3], [0, 0]])
    found = find_agreement(agree, disagree, dissenters, 0.9)
    known = ~np.isnan(found.share)
    assert (found.lower[known] <= found.share[known]).all()
    assert (found.share[known] <= found.upper[known]).all()
    assert found.liked[0] > 0.95
    assert found.contested[1] > 0.99
    assert found.liked[2] < 0.5  # one vote
    swapped = find_agreement(disagree, agree, dissenters[:, ::-1], 0.9)
    assert swapped.disliked == pytest.approx(found.liked)
    assert swapped.contested == pytest.approx(found.contested)
    assert swapped.share == pytest.approx(1.0 - found.share, nan_ok=True)


def test_camps_without_votes_are_no_side_of_a_dispute():
    disagree = np.array([[40, 0, 0, 0, 0, 0, 0]])
    found = find_agreement(np.zeros_like(disagree), disagree, np.array([[0, 5]]), 0.9)
    assert found.contested[0] == 0.0
    assert np.isnan(found.share[0, 1:]).all()
    assert (found.lower[0, 1:] == 0.0).all()
    assert (found.upper[0, 1:] == 1.0).all()


@pytest.mark.parametrize("n_items", [2, 3, 4, 5, 50])
def test_as_many_items_can_be_liked_as_disliked(n_items):
    scores = -np.arange(n_items, dtype=float)[:, None]
    found = find_common_ground(scores, np.full((n_items, 1), 1e-9), np.eye(1), [np.eye(1)], 0.9)
    assert found.liked.sum() == found.disliked.sum() == n_items // 3


def test_shares_cover_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(1)
    truth = rng.random((4000, 1))
    agree = rng.binomial(25, truth)
    found = find_agreement(agree, 25 - agree, np.zeros((4000, 2), np.int64), 0.9)
    covered = ((found.lower <= truth) & (truth <= found.upper)).mean()
    assert covered == pytest.approx(0.9, abs=0.025)  # five standard errors are 0.024


def test_a_minority_that_dissents_everywhere_is_found_by_its_other_votes():
    n_users, n_items = 60, 20
    votes = np.ones((n_users, n_items))
    votes[:6] = -1.0  # against everything
    votes[6:, 0] = np.where(np.arange(54) % 2, 1.0, -1.0)  # and one item splits the others
    users, items = (axis.ravel() for axis in np.meshgrid(np.arange(n_users), np.arange(n_items), indexing="ij"))
    found = count_dissenters(lambda: [(users, items, votes.ravel())], n_items)
    assert (found[1:, 1] == 5).all()  # a twentieth of the voters, but at least five
    assert (found[1:, 0] == 0).all()


def test_what_everybody_is_expected_to_say_counts_as_a_few_votes():
    agree, disagree, dissenters = np.array([[6, 5]]), np.array([[0, 1]]), np.array([[2, 0]])
    sure, unsure = np.full((40, 1, 2), 0.9), np.linspace(0.05, 0.95, 80).reshape(40, 1, 2)
    alone, more, little = (find_agreement(agree, disagree, dissenters, 0.9, drawn) for drawn in (None, sure, unsure))
    assert alone.liked[0] < more.liked[0]
    assert abs(little.liked[0] - alone.liked[0]) < more.liked[0] - alone.liked[0]
    against = find_agreement(agree, disagree, dissenters, 0.9, 1.0 - sure)
    assert against.liked[0] < alone.liked[0]
    np.testing.assert_array_equal(more.share, alone.share)  # what is shown is counted
    nobody = find_agreement(agree, disagree, dissenters, 0.9, np.full((40, 1, 2), np.nan))
    assert np.isfinite(nobody.liked).all()
