"""Intervals for places and weights: they hold what they are about, and widen with doubt."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plurank.inference.posterior import WeightPrior, check_error, draw_user, place_bounds, weight_bounds
from plurank.inference.posterior import user_place_bounds as bounds_of_draws


def user_place_bounds(scores, errors, correlations, weights, user_concentration, level):
    return bounds_of_draws(scores, errors, correlations, weights, draw_user(weights, user_concentration), level)


def places(scores):
    return np.argsort(np.argsort(-scores)) + 1


def test_certain_scores_have_certain_places():
    scores = np.array([0.3, 2.0, -1.0, 0.9])
    lower, upper = place_bounds(scores, np.zeros(4), 0.9)
    assert lower.tolist() == upper.tolist() == [3, 1, 4, 2]


@given(seed=st.integers(0, 999), error=st.sampled_from([0.0, 0.1, 3.0]), level=st.sampled_from([0.01, 0.5, 0.95]))
def test_bounds_of_places_hold_the_place_itself_whatever_the_level(seed, error, level):
    rng = np.random.default_rng(seed)
    scores, weights = rng.standard_normal((8, 3)), rng.dirichlet(np.ones(3))
    for found, own in (
        (place_bounds(scores[:, 0], np.full(8, error), level), places(scores[:, 0])),
        (user_place_bounds(scores, np.full((8, 3), error), np.eye(3), weights, 5.0, level), places(scores @ weights)),
    ):
        lower, upper = found
        assert ((lower >= 1) & (lower <= own) & (own <= upper) & (upper <= 8)).all()


def test_places_are_less_sure_the_larger_the_errors_and_the_higher_the_level(rng):
    scores = rng.standard_normal(12)
    found = [place_bounds(scores, np.full(12, error), level) for error, level in ((0.1, 0.5), (0.1, 0.95), (1.0, 0.95))]
    widths = [int((upper - lower).sum()) for lower, upper in found]
    assert widths[0] <= widths[1] < widths[2]


def test_items_nobody_can_tell_apart_may_stand_anywhere():
    lower, upper = place_bounds(np.zeros(5), np.ones(5), 0.95)
    assert lower.tolist() == [1] * 5
    assert upper.tolist() == [5] * 5


def test_the_same_scores_have_the_same_bounds(rng):
    scores, errors = rng.standard_normal((2, 6, 2))
    once, again = (
        user_place_bounds(scores, np.abs(errors), np.eye(2), np.array([0.4, 0.6]), 9.0, 0.9) for _ in range(2)
    )
    np.testing.assert_array_equal(once, again)


def test_a_user_of_one_ranking_alone_has_the_places_of_that_ranking(rng):
    scores, errors = rng.standard_normal((7, 2)), np.full((7, 2), 0.3)
    one = place_bounds(scores[:, 0], errors[:, 0], 0.9)
    np.testing.assert_array_equal(user_place_bounds(scores, errors, np.eye(2), np.array([1.0, 0.0]), np.inf, 0.9), one)
    np.testing.assert_array_equal(user_place_bounds(scores[:, :1], errors[:, :1], np.eye(1), np.ones(1), 1e6, 0.9), one)


def test_less_evidence_about_a_user_makes_places_less_sure(rng):
    scores, certain = rng.standard_normal((10, 2)), np.zeros((10, 2))
    widths = []
    for user_concentration in (np.inf, 1000.0, 10.0, 0.0):
        lower, upper = user_place_bounds(scores, certain, np.eye(2), np.array([0.5, 0.5]), user_concentration, 0.9)
        widths.append(int((upper - lower).sum()))
    assert widths[0] == 0
    assert widths == sorted(widths)
    assert widths[-1] > widths[1]


def test_errors_that_cancel_in_a_blend_make_no_doubt_about_it(rng):
    scores, errors, half = rng.standard_normal((10, 2)), np.ones((10, 2)), np.array([0.5, 0.5])
    opposed = np.array([[1.0, -1.0], [-1.0, 1.0]])
    lower, upper = user_place_bounds(scores, errors, opposed, half, np.inf, 0.9)
    assert lower.tolist() == upper.tolist() == places(scores @ half).tolist()
    lower, upper = user_place_bounds(scores, errors, np.eye(2), half, np.inf, 0.9)
    assert (upper - lower).sum() > 10


def test_places_for_a_user_are_those_of_drawing_scores_and_weights(rng):
    scores, errors, weights = rng.standard_normal((8, 3)), rng.uniform(0.2, 0.6, (8, 3)), np.array([0.5, 0.3, 0.2])
    root = rng.standard_normal((3, 3))
    correlations = np.corrcoef(root @ root.T + np.eye(3))
    lower, upper = user_place_bounds(scores, errors, correlations, weights, 20.0, 0.9)
    noise = rng.multivariate_normal(np.zeros(3), correlations, (20_000, 8))
    theta = rng.dirichlet(20.0 * weights, 20_000)
    blended = ((scores + errors * noise) * theta[:, None]).sum(axis=2)
    drawn = (-blended).argsort(axis=1).argsort(axis=1) + 1
    # 400 draws find a quantile to 1.1 % of the draws a sigma, which is less than one place
    np.testing.assert_allclose(lower, np.quantile(drawn, 0.05, axis=0, method="nearest"), atol=1)
    np.testing.assert_allclose(upper, np.quantile(drawn, 0.95, axis=0, method="nearest"), atol=1)
    assert (upper - lower).mean() > 1


@given(
    seed=st.integers(0, 999),
    n_rankings=st.integers(1, 5),
    user_concentration=st.floats(0.0, 1e4),
    level=st.sampled_from([0.5, 0.9, 0.99]),
)
def test_bounds_of_weights_are_ordered_and_shares(seed, n_rankings, user_concentration, level):
    weights = np.random.default_rng(seed).dirichlet(np.ones(n_rankings), 4)
    lower, upper = weight_bounds(weights, np.full(4, user_concentration), level)
    assert lower.shape == upper.shape == weights.shape
    assert ((lower >= 0) & (lower <= upper) & (upper <= 1)).all()


def test_more_evidence_and_lower_levels_make_narrower_bounds_around_the_weight():
    weights = np.array([[0.6, 0.3, 0.1]])
    widths = []
    for user_concentration, level in ((1e4, 0.5), (1e4, 0.95), (100.0, 0.95), (1.0, 0.95)):
        lower, upper = weight_bounds(weights, np.array([user_concentration]), level)
        assert ((lower <= weights) & (weights <= upper)).all()
        widths.append(float((upper - lower).sum()))
    assert widths == sorted(widths)


def test_bounds_of_weights_hold_the_stated_share_of_a_dirichlet(rng):
    # 20,000 draws: a share of 0.9 strays by 0.002
    weights, user_concentration = np.array([[0.5, 0.3, 0.2]]), np.array([60.0])
    lower, upper = weight_bounds(weights, user_concentration, 0.9)
    drawn = rng.dirichlet(user_concentration[0] * weights[0], 20_000)
    np.testing.assert_allclose(((drawn >= lower) & (drawn <= upper)).mean(axis=0), 0.9, atol=0.011)


def test_a_weight_that_may_be_zero_is_bounded_by_zero_and_one_that_may_not_be_is_not():
    # Beta(2, .) still leans on its end, Beta(3, .) no more
    weights = np.array([[2.0, 126.0], [3.0, 125.0]]) / 128.0
    lower, upper = weight_bounds(weights, np.full(2, 128.0), 0.9)
    assert (lower[0, 0], upper[0, 1]) == (0.0, 1.0)
    assert lower[1, 0] > 0.0
    assert upper[1, 1] < 1.0


def test_bounds_of_weights_allow_for_the_error_of_the_concentration(rng):
    # what predicts alike with another concentration: weights that much nearer to their mean, or farther from it
    mean, c, error = np.array([0.5, 0.3, 0.2]), 2.0, 0.4
    weights = rng.dirichlet(200.0 * np.array([0.7, 0.2, 0.1]), 4000)
    moved = c * np.exp(error * rng.standard_normal(4000))
    truth = mean + (weights - mean) * np.sqrt((c + 1.0) / (moved + 1.0))[:, None]
    own = np.tile([[0.7, 0.2, 0.1]], (4000, 1))
    counts = np.full(4000, 200.0)
    narrow = weight_bounds(own, counts, 0.9)
    wide = weight_bounds(own, counts, 0.9, WeightPrior(mean, c, error))
    held = [((lower <= truth) & (truth <= upper)).mean() for lower, upper in (narrow, wide)]
    # 12,000 shares of 0.9 have a standard error of 0.003; the formula is linear in the error
    assert held[0] < 0.86
    assert abs(held[1] - 0.9) < 0.02


def test_a_concentration_that_is_given_widens_nothing(rng):
    weights, counts = rng.dirichlet(np.ones(3), 5), rng.uniform(1, 50, 5)
    for prior in (WeightPrior(np.full(3, 1 / 3), 20.0), WeightPrior(np.full(3, 1 / 3), 20.0, 0.0)):
        np.testing.assert_array_equal(weight_bounds(weights, counts, 0.9), weight_bounds(weights, counts, 0.9, prior))


def test_a_prior_that_was_chosen_counts_at_most_as_a_uniform_one():
    mean = np.full(3, 1 / 3)
    # nothing is known of this user but the prior, which makes all users alike
    lower, upper = weight_bounds(mean[None], np.array([50.0]), 0.9, WeightPrior(mean, 50.0, 1e-9))
    uniform = weight_bounds(mean[None], np.array([3.0]), 0.9)
    np.testing.assert_allclose((lower, upper), uniform)


@given(seed=st.integers(0, 999), error=st.sampled_from([1e-3, 0.3, 1.0, 30.0]), c=st.sampled_from([0.05, 3.0, 100.0]))
def test_wider_bounds_hold_the_weight_and_stay_shares(seed, error, c):
    rng = np.random.default_rng(seed)
    mean, weights = rng.dirichlet(np.ones(4)), rng.dirichlet(np.full(4, 0.2), 6)
    counts = np.append(rng.uniform(0.01, 300.0, 5), 1e6)
    lower, upper = weight_bounds(weights, counts, 0.9, WeightPrior(mean, c, error))
    assert ((lower >= 0) & (lower <= weights) & (weights <= upper) & (upper <= 1)).all()


@pytest.mark.parametrize("value", [-1.0, "0.1", float("nan"), float("inf"), [0.1]])
def test_a_file_with_another_error_of_the_concentration_is_refused(value):
    with pytest.raises(ValueError, match="concentration_error_"):
        check_error(value)
