"""What a pass over the comparisons says about users and scores is the calculus of the posterior."""

import numpy as np
import pytest
from scipy.special import expit

from plurank.inference.posterior import weight_bounds
from plurank.kernels import threads
from plurank.kernels.plain import passes as twins
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.components import Mallows
from tests.oracles.log_posterior import best_theta, integrate_on_grid, log_marginal, log_posterior, slope_in_theta
from tests.oracles.small_data import draw_comparisons, users_of

both_mixings = pytest.mark.parametrize("mixing", ["probability", "utility"])
with_and_without_weights = pytest.mark.parametrize("weighted", [False, True])


def draw_case(seed, weighted, n_rankings=3):
    rng = np.random.default_rng(seed)
    c = draw_comparisons(rng, weighted=weighted)
    scores = rng.standard_normal((c.n_items, n_rankings))
    theta = rng.dirichlet(np.full(n_rankings, 4.0), c.n_users)
    return c, scores, theta, rng.uniform(0.3, 2.0, (c.n_users, n_rankings))


def bumps(shape, size):
    """One array of zeros but for one entry, for every entry."""
    return (size * np.eye(np.prod(shape))).reshape(-1, *shape)


def differences(function, at, size=1e-5):
    """Central first differences of a function of an array."""
    return np.array([(function(at + h) - function(at - h)) / (2 * size) for h in bumps(at.shape, size)]).reshape(
        at.shape
    )


@both_mixings
@with_and_without_weights
@pytest.mark.parametrize("n_rankings", [1, 3])
def test_without_rounds_weights_stay_and_the_value_is_the_posterior_with_weights_integrated_out(
    mixing, weighted, n_rankings
):
    c, scores, theta, prior = draw_case(1, weighted, n_rankings)
    for rows in (prior, prior[:1]):
        seen = BradleyTerry(scores, mixing).update_memberships(c, theta, rows, 0)
        np.testing.assert_array_equal(seen.weights, theta)
        expected = log_marginal(mixing, c, scores, theta, np.broadcast_to(rows, theta.shape))
        assert seen.sums.log_posterior == pytest.approx(expected, rel=1e-10)


@both_mixings
@with_and_without_weights
@pytest.mark.parametrize("n_rankings", [1, 3, 6])
def test_the_slope_in_the_scores_equals_finite_differences(mixing, weighted, n_rankings):
    c, scores, theta, prior = draw_case(2, weighted, n_rankings)

    def weighed(scores):
        return BradleyTerry(scores, mixing).update_memberships(c, theta, prior, 100)

    expected = differences(lambda s: log_marginal(mixing, c, s, weighed(s).weights, prior), scores, 1e-4)
    np.testing.assert_allclose(weighed(scores).sums.gradient, expected, atol=1e-4)


@both_mixings
@pytest.mark.parametrize("n_rankings", [2, 3])
@pytest.mark.parametrize("strength", [1.0, 10.0])
def test_laplaces_method_is_near_the_integral_over_all_weights(mixing, n_rankings, strength):
    rng = np.random.default_rng(1)
    c = draw_comparisons(rng, n_users=4, weighted=True)
    prior, init = strength * rng.uniform(1.0, 2.0, n_rankings), np.full((1, n_rankings), 1.0 / n_rankings)
    errors, at_a_point = [], []
    for scores in 2.0 * rng.standard_normal((2, c.n_items, n_rankings)):
        for u in range(c.n_users):
            user = c.block(u, u + 1)
            seen = BradleyTerry(scores, mixing).update_memberships(user, init, prior[None], 100)
            exact, mean, variance = integrate_on_grid(mixing, user, scores, prior)
            errors.append(seen.sums.log_posterior + 0.5 * (n_rankings - 1) * np.log(2.0 * np.pi) - exact)
            at_a_point.append(log_posterior(mixing, user, scores, seen.weights, prior[None]) - exact)
            np.testing.assert_allclose(seen.means[0], mean, atol=0.02 / strength)
            spread = (1.0 - seen.means[0] @ seen.means[0]) / (seen.user_concentration[0] + 1.0)
            assert 0.9 < spread / variance < 1.0 + 0.5 / strength
    # without comparisons this is Stirling's formula, which leaves out at most 1 / 12 a count of 1
    assert np.abs(errors).max() < n_rankings / 12.0 / strength
    # what fits one user better, one table of scores or the other, is told far better than by the best weights alone
    between, between_points = (np.diff(np.reshape(x, (2, -1)), axis=0) for x in (errors, at_a_point))
    assert np.abs(between).mean() < 0.3 * np.abs(between_points).mean()


@with_and_without_weights
def test_the_curvature_of_mixed_utilities_equals_finite_differences_where_weights_cannot_vary(weighted):
    c, scores, theta, _ = draw_case(3, weighted)
    seen = BradleyTerry(scores, "utility").update_memberships(c, theta, 1e9 * theta, 0)
    none = np.zeros(theta.shape)
    here = log_posterior("utility", c, scores, theta, none)
    expected = [
        sum(log_posterior("utility", c, scores + h, theta, none) - here for h in (bump, -bump)) / 1e-8
        for bump in bumps(scores.shape, 1e-4)
    ]
    np.testing.assert_allclose(-seen.sums.hessian.ravel(), expected, atol=1e-4)


@with_and_without_weights
def test_the_curvature_of_mixed_probabilities_is_as_if_one_saw_which_ranking_made_a_comparison(weighted):
    c, scores, theta, prior = draw_case(4, weighted)
    expected = np.zeros(scores.shape)
    for e, u in enumerate(users_of(c)):
        p = expit(scores[c.winners[e]] - scores[c.losers[e]])
        made_by = theta[u] * p / (theta[u] @ p)
        mass = made_by * p * (1.0 - p) * (1.0 if c.weights is None else c.weights[e])
        expected[c.winners[e]] += mass
        expected[c.losers[e]] += mass
    np.testing.assert_allclose(
        BradleyTerry(scores).update_memberships(c, theta, prior, 0).sums.hessian, expected, rtol=1e-10
    )


@both_mixings
@with_and_without_weights
def test_the_information_is_the_sum_of_the_products_of_the_slopes_of_single_comparisons(mixing, weighted):
    c, scores, theta, _ = draw_case(3, weighted)
    prior = 1e9 * theta  # weights that cannot vary, so that comparisons are independent
    component = BradleyTerry(scores, mixing)
    found = component.update_memberships(c, theta, prior, 0, informed=True).sums.information
    expected = np.zeros(found.shape)
    users, counts = users_of(c), np.ones(len(c)) if c.weights is None else c.weights
    for e in range(len(c)):
        one = c.select(np.arange(len(c)) == e)
        gradient = component.update_memberships(one, theta[[users[e]]], prior[[users[e]]], 0).sums.gradient
        expected += gradient[:, :, None] * gradient[:, None, :] / counts[e]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert component.update_memberships(c, theta, prior, 0).sums.information.size == 0


@both_mixings
@with_and_without_weights
@pytest.mark.parametrize("n_rankings", [2, 4])
def test_every_user_ends_at_the_maximum_over_the_simplex(mixing, weighted, n_rankings):
    c, scores, theta, prior = draw_case(5, weighted, n_rankings)
    found = BradleyTerry(2 * scores, mixing).update_memberships(c, theta, prior, 100).weights
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    for u in range(c.n_users):
        user = c.block(u, u + 1)

        def of(theta, user=user, own=prior[u]):
            return log_posterior(mixing, user, 2 * scores, theta[None], own[None])

        gradient = slope_in_theta(of, found[u])
        # a user is done at a relative gain of 1e-12, where the slope is about the root of that
        np.testing.assert_allclose(found[u] * (gradient - found[u] @ gradient), 0.0, atol=2e-5)
        best = best_theta(of, n_rankings)
        assert of(found[u]) >= of(best) - 1e-10
        np.testing.assert_allclose(found[u], best, atol=1e-4)


def test_more_rounds_never_lower_the_posterior_of_the_weights():
    c, scores, theta, prior = draw_case(6, True)
    orders = Mallows(np.argsort(-scores.T, axis=1), np.array([0.3, 0.5, 0.7]))
    values = [orders.update_memberships(c, theta, prior, n)[1] for n in range(8)]
    assert (np.diff(values) >= -1e-10).all()
    assert values[-1] > values[0]
    for mixing in ("probability", "utility"):
        found = [BradleyTerry(3 * scores, mixing).update_memberships(c, theta, prior, n).weights for n in range(8)]
        values = [log_posterior(mixing, c, 3 * scores, weights, prior) for weights in found]
        assert (np.diff(values) >= -1e-10).all()
        assert values[-1] > values[0]


@both_mixings
def test_a_single_ranking_has_weight_one_beyond_doubt(mixing):
    c, scores, theta, prior = draw_case(7, False, n_rankings=1)
    seen = BradleyTerry(scores, mixing).update_memberships(c, theta, prior, 5)
    np.testing.assert_allclose(seen.weights, 1.0, rtol=1e-12)
    lower, upper = weight_bounds(seen.weights, seen.user_concentration, 0.9)
    np.testing.assert_allclose(lower, 1.0)
    np.testing.assert_allclose(upper, 1.0)


def test_data_without_users_weigh_nothing():
    c, scores, theta, prior = draw_case(8, False)
    for mixing in ("probability", "utility"):
        seen = BradleyTerry(scores, mixing).update_memberships(c.block(0, 0), theta[:0], prior[:1], 3)
        assert seen.weights.shape == (0, 3)
        assert seen.sums.log_posterior == 0.0
        assert not seen.sums.gradient.any()
        assert not seen.sums.hessian.any()


@pytest.mark.parametrize("n_rankings", [2, 3, 6])
def test_the_covariance_is_that_of_the_dense_gaussian_on_the_simplex(n_rankings, rng):
    theta = rng.dirichlet(np.full(n_rankings, 3.0))
    root = rng.standard_normal((n_rankings, n_rankings))
    bend = 30.0 * (root @ root.T + np.eye(n_rankings))
    along = np.linalg.qr(np.column_stack([np.ones(n_rankings), np.eye(n_rankings)[:, 1:]]))[0][:, 1:]
    expected = along @ np.linalg.inv(along.T @ bend @ along) @ along.T
    _, covariance = twins._integrate(theta, bend)
    np.testing.assert_allclose(covariance, expected, atol=1e-12)
    user_concentration = (1.0 - theta @ theta) / np.trace(expected) - 1.0
    assert twins._concentration(theta, covariance) == pytest.approx(max(user_concentration, 0.0), rel=1e-9)


def test_the_evidence_of_a_dirichlet_is_its_concentration(rng):
    theta = rng.dirichlet(np.ones(4))
    covariance = (np.diag(theta) - np.outer(theta, theta)) / (37.0 + 1.0)
    assert twins._concentration(theta, covariance) == pytest.approx(37.0)


def test_more_comparisons_are_more_evidence():
    c, scores, theta, prior = draw_case(9, True)
    twice = type(c)(c.winners, c.losers, c.offsets, c.items, c.users, 2.0 * c.weights)
    for mixing in ("probability", "utility"):
        once, more = (
            BradleyTerry(scores, mixing).update_memberships(x, theta, prior, 0).user_concentration for x in (c, twice)
        )
        assert (more >= once).all()


@pytest.mark.parametrize("informed", [False, True])
def test_the_passes_are_bitwise_the_same_for_any_number_of_threads(easy, informed, monkeypatch):
    monkeypatch.setattr(threads, "LEAST_WORK", 100)  # so that few comparisons are cut into many tasks
    c, rng = easy.comparisons.block(0, 300), np.random.default_rng(0)
    scores, init, prior = rng.standard_normal((c.n_items, 3)), rng.dirichlet(np.ones(3), c.n_users), np.ones((1, 3))
    orders = Mallows(easy.rankings, np.array([0.2, 0.5, 0.8]))
    before = threads.get_num_threads()
    answers = []
    try:
        for n_threads in (1, 2, 4):
            threads.set_num_threads(n_threads)
            seen = [
                BradleyTerry(scores, m).update_memberships(c, init, prior, 3, informed=informed)
                for m in ("probability", "utility")
            ]
            answers.append(
                [part for each in seen for part in (*each.sums, *each[1:])]
                + [*orders.update_memberships(c, init, prior, 3)]
            )
    finally:
        threads.set_num_threads(before)
    for one, two, four in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, two)
        np.testing.assert_array_equal(one, four)


@both_mixings
@with_and_without_weights
def test_scores_that_are_no_numbers_never_look_likely(mixing, weighted):
    c, scores, theta, prior = draw_case(3, weighted)
    scores[2, 1] = np.nan
    assert not np.isfinite(BradleyTerry(scores, mixing).update_memberships(c, theta, prior, 3).sums.log_posterior)
