"""Mean weights and concentration, given the rankings."""

import numpy as np
import pytest

from plurank import simulate
from plurank.topic import weights as topic_weights
from plurank.topic.moments import pair_moments
from plurank.topic.orders import ranking_matrix
from plurank.topic.weights import CONCENTRATION_RANGE, fit_prior, weight_moments
from tests.oracles.small_data import flipped, repeated, weighted

MEAN = np.array([0.5, 0.3, 0.2])


def matrix_of(simulation, moments):
    return ranking_matrix(simulation.rankings, moments.lower, moments.higher).astype(float)


@pytest.mark.parametrize("concentration", [0.1, 1.0, 5.0])
def test_mean_weights_and_concentration_are_close_to_the_truth(concentration):
    s = simulate(8000, 8, 3, 30, concentration, random_state=0, mean_weights=MEAN)
    mean, found = fit_prior(pair_moments(s.comparisons, 0), s.rankings, 0.0)
    # a mean over 8,000 users of weights that vary by at most 0.5, and comparisons on top: 0.006 a sigma at worst
    np.testing.assert_allclose(mean, MEAN, atol=0.03)
    # the purity of weights strays by 1 %, and concentration (1 - purity) / (purity - |a|^2) by some 10 % at worst
    assert found == pytest.approx(concentration, rel=0.2)


def test_the_concentration_of_two_rankings_is_found_and_one_ranking_has_none():
    s = simulate(8000, 8, 2, 30, 1.0, random_state=0, mean_weights=[0.6, 0.4])
    moments = pair_moments(s.comparisons, 0)
    assert fit_prior(moments, s.rankings, 0.0)[1] == pytest.approx(1.0, rel=0.2)
    mean, found = fit_prior(moments, s.rankings[:1], 0.0)
    assert (mean.tolist(), found) == ([1.0], CONCENTRATION_RANGE[1])


def test_the_second_moment_is_close_to_that_of_the_users_drawn():
    s = simulate(8000, 8, 3, 30, 1.0, random_state=0, mean_weights=MEAN)
    moments = pair_moments(s.comparisons, 0)
    mean, second = weight_moments(moments, matrix_of(s, moments), 0.0)
    np.testing.assert_allclose(mean, s.user_weights.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(second, s.user_weights.T @ s.user_weights / 8000, atol=0.03)


def test_known_flips_do_not_disturb_the_prior():
    s = simulate(8000, 8, 3, 30, 1.0, random_state=0, mean_weights=MEAN)
    c = flipped(s.comparisons, 0.1, np.random.default_rng(0))
    mean, found = fit_prior(pair_moments(c, 0), s.rankings, 0.1)
    np.testing.assert_allclose(mean, MEAN, atol=0.03)
    assert found == pytest.approx(1.0, rel=0.2)


def test_many_users_of_one_comparison_do_not_disturb_the_concentration():
    # a fixed bug: such users were counted but could not co-occur, so people looked more mixed than they are
    per_user = np.where(np.arange(20_000) < 16_000, 1, 30)
    s = simulate(20_000, 8, 3, per_user, 1.0, random_state=0, mean_weights=MEAN)
    _, found = fit_prior(pair_moments(s.comparisons, 0), s.rankings, 0.0)
    assert found == pytest.approx(1.0, rel=0.25)


def test_weights_of_comparisons_count_like_repetitions():
    s = simulate(60, 5, 2, 8, 1.0, random_state=0)
    times = np.random.default_rng(0).integers(1, 4, len(s.comparisons))
    once = fit_prior(pair_moments(weighted(s.comparisons, times), 0), s.rankings, 0.01)
    over = fit_prior(pair_moments(repeated(s.comparisons, times), 0), s.rankings, 0.01)
    np.testing.assert_allclose(once[0], over[0], atol=1e-9)
    assert once[1] == pytest.approx(over[1])


def test_people_who_all_mix_alike_get_a_large_concentration():
    s = simulate(3000, 8, 3, 30, 300.0, random_state=0, mean_weights=MEAN)
    mean, found = fit_prior(pair_moments(s.comparisons, 0), s.rankings, 0.0)
    assert 30 < found <= CONCENTRATION_RANGE[1]
    np.testing.assert_allclose(mean, MEAN, atol=0.03)


def test_people_with_one_ranking_each_get_a_tiny_concentration():
    s = simulate(3000, 8, 3, 30, 0.0, random_state=0, mean_weights=MEAN)
    _, found = fit_prior(pair_moments(s.comparisons, 0), s.rankings, 0.0)
    assert CONCENTRATION_RANGE[0] <= found < 0.05


def test_moments_of_weights_taken_in_parts_equal_those_taken_at_once(monkeypatch):
    s = simulate(200, 6, 3, 20, random_state=0)
    moments = pair_moments(s.comparisons, 0)
    sigma = matrix_of(s, moments)
    whole = weight_moments(moments, sigma, 0.1)
    monkeypatch.setattr(topic_weights, "PART_BYTES", 8 * len(moments.counts) * 2)  # two columns, then one
    for part, at_once in zip(weight_moments(moments, sigma, 0.1), whole, strict=True):
        np.testing.assert_allclose(part, at_once, rtol=1e-9)
