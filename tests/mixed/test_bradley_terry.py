"""Bradley-Terry scores: predictions, and the prior that ties rankings together."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import multivariate_normal

from plurank.mixed.bradley_terry import BradleyTerry, win_gradients
from plurank.mixed.priors import ScorePrior
from tests.oracles.small_data import draw_comparisons


def dense_log_density(prior, scores):
    """The scores of one item are Gaussian with covariance ``own^2 I + shared^2 1 1^T``, independent between items.

    Around 0, or around what is known, which holds the pull towards 0 already.
    """
    n_rankings = scores.shape[1]
    covariance = prior.own**2 * np.eye(n_rankings) + prior.shared**2
    mean, precision = (0.0, 0.0) if prior.known is None else prior.known
    value = multivariate_normal(np.zeros(n_rankings), covariance).logpdf(scores - mean).sum()
    return value - 0.5 * (precision * (scores - mean) ** 2).sum()


def draw_prior(rng, shape, known):
    told = (rng.standard_normal(shape), rng.uniform(0.0, 2.0, shape)) if known else None
    return ScorePrior(0.7, 1.5, told)


@pytest.mark.parametrize("n_rankings", [1, 3])
@pytest.mark.parametrize("known", [False, True])
def test_the_score_prior_is_the_multivariate_normal_up_to_a_constant(n_rankings, known, rng):
    prior = draw_prior(rng, (4, n_rankings), known)
    first, second = rng.standard_normal((2, 4, n_rankings))
    difference = prior.evaluate(first)[0] - prior.evaluate(second)[0]
    assert difference == pytest.approx(dense_log_density(prior, first) - dense_log_density(prior, second), rel=1e-9)


@pytest.mark.parametrize("known", [False, True])
def test_slope_and_curvature_of_the_score_prior_equal_finite_differences(known, rng):
    prior, scores = draw_prior(rng, (4, 3), known), rng.standard_normal((4, 3))
    here, gradient, hessian = prior.evaluate(scores)
    for at in np.ndindex(scores.shape):
        bump = np.zeros(scores.shape)
        bump[at] = 1e-3
        up, down = prior.evaluate(scores + bump)[0], prior.evaluate(scores - bump)[0]
        assert (up - down) / 2e-3 == pytest.approx(gradient[at], abs=1e-8)
        assert (2 * here - up - down) / 1e-6 == pytest.approx(hessian[at], abs=1e-6)


@pytest.mark.parametrize("known", [False, True])
def test_errors_of_scores_are_those_of_the_gaussian_posterior(known, rng):
    prior, root = draw_prior(rng, (4, 3), known), rng.standard_normal((4, 3, 3))
    information = root @ root.transpose(0, 2, 1)
    errors, correlations = prior.errors(information)
    expected = []
    for i in range(4):
        precision = np.linalg.inv(prior.own**2 * np.eye(3) + prior.shared**2) + information[i]
        precision += np.diag(prior.known[1][i]) if known else 0.0
        expected.append(np.linalg.inv(precision))
        np.testing.assert_allclose(errors[i], np.sqrt(np.diag(expected[i])), rtol=1e-9)
    scaled = [c / np.sqrt(np.outer(np.diag(c), np.diag(c))) for c in expected]
    np.testing.assert_allclose(correlations, np.mean(scaled, axis=0), rtol=1e-9)


def test_errors_without_data_are_those_of_the_prior_and_nothing_is_known_beyond_it():
    prior = ScorePrior(0.7, 1.5)
    errors, _ = prior.errors(np.zeros((4, 3, 3)))
    np.testing.assert_allclose(errors, np.hypot(0.7, 1.5))
    np.testing.assert_allclose(prior.precision_beyond(errors), 0.0, atol=1e-12)


def test_what_rankings_share_costs_less_than_what_they_do_not():
    prior = ScorePrior(0.3, 1.0)
    alike, apart = np.array([[1.0, 1.0]]), np.array([[1.0, -1.0]])
    assert prior.evaluate(alike)[0] > prior.evaluate(apart)[0]


def test_predictions_mix_probabilities_or_utilities(rng):
    scores, theta = rng.standard_normal((5, 3)), rng.dirichlet(np.ones(3), 2)
    rows, left, right = np.array([0, 1, 1], np.int32), np.array([0, 1, 4], np.int32), np.array([3, 2, 0], np.int32)
    leads = scores[left] - scores[right]
    user_concentration = np.array([3.0, 1e12])
    mixed = BradleyTerry(scores).probabilities(theta, user_concentration, rows, left, right)
    np.testing.assert_allclose(mixed, (theta[rows] * expit(leads)).sum(axis=1), rtol=1e-12)
    blended = BradleyTerry(scores, "utility").probabilities(theta, user_concentration, rows, left, right)
    np.testing.assert_allclose(blended[1:], expit((theta[rows] * leads).sum(axis=1))[1:], rtol=1e-9)


def test_blended_predictions_are_averaged_over_what_the_weights_may_be(rng):
    scores, theta, user_concentration = 3.0 * rng.standard_normal((2, 3)), np.array([[0.2, 0.3, 0.5]]), np.array([4.0])
    lead = scores[0] - scores[1]
    drawn = expit(rng.dirichlet(4.0 * theta[0], 200_000) @ lead).mean()
    ones = np.zeros(1, np.int32)
    averaged = BradleyTerry(scores, "utility").probabilities(theta, user_concentration, ones, ones, ones + 1)[0]
    assert averaged == pytest.approx(drawn, abs=0.03)  # a Gaussian stands for the Dirichlet
    assert abs(averaged - drawn) < abs(expit(theta[0] @ lead) - drawn)


def test_rankings_put_the_highest_score_first():
    scores = np.array([[0.1, 3.0], [0.5, -1.0], [-0.2, 0.0]])
    assert BradleyTerry(scores).rankings.tolist() == [[1, 0, 2], [0, 2, 1]]


def test_rankings_are_alike_where_their_own_scores_spread_little(rng):
    shared, own = rng.standard_normal((20, 1)), rng.standard_normal((20, 3))
    assert BradleyTerry(shared + 0.05 * own).are_alike
    assert not BradleyTerry(shared + own).are_alike
    assert not BradleyTerry(shared).are_alike  # one ranking has no other to be like


@pytest.mark.parametrize("n_different", [1, 2, 3])
def test_slopes_are_differences_of_wins_where_scores_differ_and_those_of_the_logistic_where_none_do(n_different):
    scores = np.array([0.0, 2.0, 6.0])[np.arange(4) % n_different, None]
    wins = 0.1 * scores + 0.2
    np.testing.assert_allclose(win_gradients(scores, wins), 0.1 if n_different > 1 else 0.25, atol=1e-12)


def test_what_data_said_is_what_errors_have_beyond_the_prior():
    prior = ScorePrior(0.7, 1.5)
    information = np.array([0.5, 2.0, 40.0])
    errors, _ = prior.errors(information[:, None, None])
    np.testing.assert_allclose(prior.precision_beyond(errors)[:, 0], information)
    assert (prior.precision_beyond(np.full((2, 1), 9.0)) == 0.0).all(), "no data say less than nothing"


@pytest.mark.parametrize("mixing", ["probability", "utility"])
@pytest.mark.parametrize("n_priors", [1, 40])
def test_users_weighed_group_after_group_say_what_they_say_all_at_once(mixing, n_priors, rng, monkeypatch):
    c, component = draw_comparisons(rng, n_users=40, n_items=5), BradleyTerry(rng.standard_normal((5, 2)), mixing)
    init, prior = rng.dirichlet(np.ones(2), 40), rng.uniform(0.5, 2.0, (n_priors, 2))
    edges = np.array([0, 10, 15, 30, 40])

    def update_memberships():
        found = component.update_memberships(c, init, prior, 3, informed=True, edges=edges)
        return [*found.sums, *found[1:]]

    at_once = update_memberships()
    monkeypatch.setattr("plurank.engine.blocks.PRIVATE_BYTES", 1)
    for one, other in zip(at_once, update_memberships(), strict=True):
        np.testing.assert_array_equal(one, other)
