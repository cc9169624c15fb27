"""On simulated people with a known truth: fixed seeds, and beside each bound why it holds."""

import numpy as np
import pytest

from plurank import (
    TopicRanking,
    align,
    is_separable,
    ranking_error,
    simulate,
)
from plurank.metrics.rankings import kendall_distances
from tests.oracles.small_data import flipped


@pytest.mark.parametrize(("n_items", "n_rankings"), [(10, 3), (20, 4), (30, 3), (50, 5)])
def test_whitened_detection_is_exact_on_easy_cases(n_items, n_rankings):
    # every pair is seen 3,000 * 150 / 1,225 = 367 times or more, and every ranking's share of that is at least a fifth
    for seed in range(2):
        even = np.full(n_rankings, 1 / n_rankings)
        s = simulate(3000, n_items, n_rankings, 150, random_state=seed, mean_weights=even)
        model = TopicRanking(n_rankings, random_state=0).fit(s.comparisons)
        assert ranking_error(model.rankings_, s.rankings) == 0
        assert model.converged_


def test_projections_are_exact_in_most_runs_on_easy_cases():
    errors = []
    for seed in range(5):
        s = simulate(5000, 10, 3, 50, random_state=seed)
        assert is_separable(s.rankings)
        model = TopicRanking(3, "projections", random_state=0).fit(s.comparisons)
        errors.append(ranking_error(model.rankings_, s.rankings))
    assert np.median(errors) == 0


def test_forty_items_and_four_rankings_are_recovered_but_for_a_few_neighbours():
    # 1,500 * 60 comparisons show each of 780 pairs 115 times; the rarest ranking has a tenth of them, 11.5 a pair. What
    # it orders against the others is then wrong where a handful of choices mislead: neighbours, 1 % of pairs at most.
    errors = []
    for seed in range(4):
        s = simulate(1500, 40, 4, 60, random_state=seed, mean_weights=[0.4, 0.3, 0.2, 0.1])
        model = TopicRanking(4, random_state=0).fit(s.comparisons)
        errors.append(ranking_error(model.rankings_, s.rankings))
    assert max(errors) < 0.01


def test_rankings_that_many_follow_are_recovered_better_than_rare_ones():
    # mean weights drawn from the simplex: errors sit in rankings with fewer than 115 * 0.05 = 6 comparisons a pair
    for seed in (3, 5, 13):
        s = simulate(1500, 40, 4, 60, random_state=seed)
        model = TopicRanking(4, random_state=0).fit(s.comparisons)
        order = align(model.rankings_, s.rankings)
        distances = np.diagonal(kendall_distances(s.rankings, model.rankings_[order]))
        assert distances[s.mean_weights >= 0.05].max() < 0.02
        assert distances.max() < 0.3


@pytest.mark.parametrize("concentration", [0.1, 1.0])
def test_the_prior_and_the_users_come_close_to_the_truth(concentration):
    mean = np.array([0.5, 0.3, 0.2])
    s = simulate(4000, 10, 3, 60, concentration, random_state=0, mean_weights=mean)
    model = TopicRanking(3, random_state=0).fit(s.comparisons)
    assert ranking_error(model.rankings_, s.rankings) == 0
    order = align(model.rankings_, s.rankings)
    # one user's weight varies by less than 0.5, so means over 4,000 users stray by 0.008
    np.testing.assert_allclose(model.mean_weights_[order], mean, atol=0.04)
    # concentration is (1 - purity) / (purity - |a|^2); purity, a mean over users, strays by 0.005
    assert model.concentration_ == pytest.approx(concentration, rel=0.2)
    # 60 comparisons of which about half tell two rankings apart: weights of one user stray by 0.5 / sqrt(30) = 0.09
    assert np.abs(model.user_weights_[:, order] - s.user_weights).mean() < 0.09


def test_comparisons_nobody_flipped_leave_almost_no_flip_probability():
    s = simulate(1000, 10, 3, 50, random_state=0, mean_weights=[0.5, 0.3, 0.2])
    assert TopicRanking(3, random_state=0).fit(s.comparisons).flip_probability_ < 1e-3


@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_one_ranking_and_planted_flips_give_the_planted_rate(rate):
    # 20,000 comparisons: the share of flipped ones strays by 0.003
    s = simulate(400, 10, 1, 50, random_state=0)
    c = flipped(s.comparisons, rate, np.random.default_rng(0))
    model = TopicRanking(1, random_state=0).fit(c)
    assert ranking_error(model.rankings_, s.rankings) == 0
    assert model.flip_probability_ == pytest.approx(rate, abs=0.015)


@pytest.mark.parametrize("rate", [0.05, 0.1])
def test_two_rankings_and_planted_flips_give_nearly_the_planted_rate(rate):
    # the weights of a user explain some of the flips, so the estimate stays a little below
    s = simulate(500, 10, 2, 400, random_state=0, mean_weights=[0.5, 0.5])
    c = flipped(s.comparisons, rate, np.random.default_rng(0))
    model = TopicRanking(2, random_state=0).fit(c)
    assert ranking_error(model.rankings_, s.rankings) == 0
    assert 0.75 * rate < model.flip_probability_ < 1.1 * rate


def test_rankings_are_recovered_although_one_comparison_in_ten_is_flipped():
    s = simulate(2000, 12, 4, 60, random_state=3, mean_weights=[0.4, 0.3, 0.2, 0.1])
    c = flipped(s.comparisons, 0.1, np.random.default_rng(0))
    assert ranking_error(TopicRanking(4, random_state=0).fit(c).rankings_, s.rankings) < 0.02


def test_held_out_comparisons_are_predicted_almost_as_well_as_by_the_truth():
    s = simulate(1500, 10, 3, 60, random_state=0, mean_weights=[0.5, 0.3, 0.2])
    train, test = s.comparisons.split(0.2, random_state=0)
    model = TopicRanking(3, random_state=0).fit(train)
    order = align(model.rankings_, s.rankings)
    truth = TopicRanking(3, random_state=0).fit(train)
    truth.rankings_, truth.mean_weights_ = s.rankings, s.mean_weights
    truth.user_weights_ = np.maximum(s.user_weights, 1e-6) / np.maximum(s.user_weights, 1e-6).sum(axis=1, keepdims=True)
    assert truth.users_.tolist() == list(range(1500))
    # 48 comparisons a user teach two free weights: about 2 / (2 * 48) = 0.02 a comparison is lost
    assert model.score(test) > truth.score(test) - 0.05
    assert model.accuracy(test) > truth.accuracy(test) - 0.01
    assert sorted(order) == [0, 1, 2]


def test_more_users_help():
    errors = []
    for n_users in (100, 400, 1600):
        runs = []
        for seed in range(3):
            s = simulate(n_users, 30, 4, 60, random_state=seed, mean_weights=np.full(4, 0.25))
            runs.append(ranking_error(TopicRanking(4, random_state=0).fit(s.comparisons).rankings_, s.rankings))
        errors.append(np.mean(runs))
    assert errors[0] > errors[1] > errors[2] or errors[2] == 0
    assert errors[2] < errors[0] / 4
