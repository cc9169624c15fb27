"""The density of a membership regression, its derivatives, and what is found with it."""

import numpy as np
import pytest
from scipy.stats import dirichlet, lognorm, norm

from plurank.regression.coefficients import Coefficients, contrasts, draw_log_dirichlets
from plurank.regression.density import DrawnWeights, RegressionDensity
from plurank.regression.sampling import draw_gaussian, find_mode, move

TABLE = np.array([[0.4, -0.1, -0.3], [0.8, -0.8, 0.0], [-0.2, -0.3, 0.5]])


def simulate(n=1500, concentration=3.0, table=TABLE, seed=0):
    rng = np.random.default_rng(seed)
    design = np.column_stack([rng.standard_normal(n), (rng.random(n) < 0.3) - 0.3])
    truth = Coefficients(concentration, table)
    return DrawnWeights.known(design, draw_log_dirichlets(truth.counts_of(design), rng)), truth


def test_the_density_is_that_of_dirichlets_and_its_priors():
    users, truth = simulate(40)
    density = RegressionDensity(users.blocks(), 0.7)

    def by_scipy(c):
        weights, counts = np.exp(users.logs[:, 0]), c.counts_of(users.design)
        own = sum(dirichlet(a).logpdf(w / w.sum()) for a, w in zip(counts, weights, strict=True))
        prior = norm(0, 0.7).logpdf(c.slopes @ contrasts(3).T).sum()
        prior += lognorm(1.0, scale=2.0).logpdf(c.concentration) + np.log(c.concentration)  # of the logarithm
        return own + prior + np.log(c.counts / c.concentration).sum()

    others = truth._replace(concentration=1.5, table=0.5 * TABLE)
    gained = [density.evaluate(density.to_vector(c)).value for c in (truth, others)]
    assert gained[0] - gained[1] == pytest.approx(by_scipy(truth) - by_scipy(others), rel=1e-9)


@pytest.mark.parametrize("n_draws", [1, 5])
def test_gradient_and_hessian_are_those_of_finite_differences(n_draws):
    rng = np.random.default_rng(1)
    weights = np.log(rng.dirichlet(np.ones(3), (30, n_draws)))
    users = DrawnWeights(rng.standard_normal((30, 2)), weights, rng.standard_normal((30, n_draws)))
    density = RegressionDensity(users.blocks(), 0.7)
    point, steps = 0.3 * rng.standard_normal(7), 1e-5 * np.eye(7)
    found = density.evaluate(point, with_hessian=True)
    near = [(density.evaluate(point + step), density.evaluate(point - step)) for step in steps]
    np.testing.assert_allclose(found.gradient, [(a.value - b.value) / 2e-5 for a, b in near], atol=1e-6)
    np.testing.assert_allclose(found.hessian, [(a.gradient - b.gradient) / 2e-5 for a, b in near], atol=1e-5)


def test_known_effects_are_recovered_within_their_errors():
    users, truth = simulate()
    density = RegressionDensity(users.blocks(), 1.0)
    mode = find_mode(density, Coefficients.constant(np.ones(3), 2))
    assert mode.converged
    errors = np.sqrt(np.diag(np.linalg.inv(mode.root @ mode.root.T)))
    # 7 coefficients, each further off than 4 standard errors with probability 6e-5
    assert (np.abs(mode.vector - density.to_vector(truth)) < 4.0 * errors).all()


def test_draws_around_the_mode_have_its_covariance():
    users, _ = simulate(300)
    density = RegressionDensity(users.blocks(), 1.0)
    mode = find_mode(density, Coefficients.constant(np.ones(3), 2))
    drawn = draw_gaussian(mode, 20_000, np.random.default_rng(0))
    expected = np.linalg.inv(mode.root @ mode.root.T)
    np.testing.assert_allclose(np.cov(drawn.T), expected, atol=0.05 * np.diag(expected).max())


def test_moves_leave_the_posterior_as_it_is():
    users, _ = simulate(400)
    density = RegressionDensity(users.blocks(), 1.0)
    mode = find_mode(density, Coefficients.constant(np.ones(3), 2))
    rng = np.random.default_rng(0)
    # importance sampling around the mode says what means and deviations are
    proposed = draw_gaussian(mode, 2000, rng)
    white = (proposed - mode.vector) @ mode.root
    logs = np.array([density.evaluate(each).value for each in proposed]) + 0.5 * (white**2).sum(axis=1)
    shares = np.exp(logs - logs.max())
    mean = shares @ white / shares.sum()
    point, found, n_accepted = mode.vector, [], 0
    for _ in range(2000):
        point, accepted = move(density, point, mode.root, rng)
        found.append((point - mode.vector) @ mode.root)
        n_accepted += accepted
    assert n_accepted > 1600
    # a mean of 2000 moves that hardly depend on each other has an error of about 0.03, in standard deviations
    np.testing.assert_allclose(np.mean(found, axis=0), mean, atol=0.15)
    np.testing.assert_allclose(np.std(found, axis=0), 1.0, atol=0.15)


def test_what_is_known_of_weights_may_be_many_draws_that_count():
    """Draws from a flat density, weighed by that of the truth, say what the truth says."""
    rng = np.random.default_rng(3)
    design, flat = 0.5 * rng.standard_normal((3, 1)), np.log(rng.dirichlet(np.ones(3), (3, 200_000)))
    truth = Coefficients(6.0, 0.5 * TABLE[:2])  # counts of at least 1, so that no draw counts for many
    users = DrawnWeights(design, flat, -flat.sum(axis=2))  # the flat density, without 1 / theta, is their product
    found = RegressionDensity(users.blocks(), 1.0).log_likelihoods(truth)
    # a likelihood that says nothing integrates to 1 for all coefficients, up to the flat density's constant
    assert truth.counts_of(design).min() > 1.0
    np.testing.assert_allclose(found, found[0], atol=0.03)


def test_sums_do_not_depend_on_how_users_are_cut():
    users, truth = simulate(5000)
    whole = RegressionDensity(users.blocks(), 1.0)
    again = RegressionDensity(DrawnWeights(*(part.copy() for part in users)).blocks(), 1.0)
    vector = whole.to_vector(truth)
    assert len(whole.parts) > 2
    assert whole.evaluate(vector).value == again.evaluate(vector).value
