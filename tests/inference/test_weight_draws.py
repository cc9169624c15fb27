"""Draws of one person's weights stand for the posterior: held against quadrature and against conjugate cases."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import beta

from plurank import Comparisons
from plurank.inference.likelihood import likelihood_of
from plurank.inference.posterior import Draws, propose_weights, weigh_draws
from plurank.mixed.bradley_terry import BradleyTerry

SCORES = np.array([[1.5, -1.0], [0.0, 0.5], [-1.0, 1.5]])
PRIOR = np.array([1.2, 0.8])


@pytest.mark.parametrize("mixing", ["probability", "utility"])
@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.5, 3.0]])
def test_draws_agree_with_quadrature(mixing, weights):
    winners, losers = np.array([0, 1, 0, 2]), np.array([1, 2, 2, 0])
    c = Comparisons.from_arrays([0] * 4, winners, losers, weights=weights, items=np.arange(3))
    draws = likelihood_of(BradleyTerry(SCORES, mixing), PRIOR).draw_posterior(c, 40_000, 1)
    grid = np.linspace(0, 1, 20_001)[1:-1]
    theta = np.stack([grid, 1 - grid], axis=1)
    lead = SCORES[winners] - SCORES[losers]
    chances = expit(theta @ lead.T) if mixing == "utility" else theta @ expit(lead).T
    density = beta.pdf(grid, *PRIOR) * (chances ** (1.0 if weights is None else np.array(weights))).prod(axis=1)
    density /= density.sum()
    mean, second = density @ grid, density @ grid**2
    assert draws.mean[0] == pytest.approx(mean, abs=0.006)
    assert draws.shares @ draws.weights[:, 0] ** 2 == pytest.approx(second, abs=0.006)
    assert draws.shares.sum() == pytest.approx(1.0)


def test_without_evidence_draws_are_those_of_the_prior():
    prior = np.array([2.0, 3.0, 5.0])
    draws = weigh_draws(*propose_weights(prior, prior, 40_000, 0))
    np.testing.assert_allclose(draws.mean, prior / 10, atol=0.005)


def test_bounds_are_the_shortest_interval_that_holds_enough(rng):
    values = rng.beta(2, 5, 50_000)
    draws = Draws(np.stack([values, 1 - values], axis=1), np.full(50_000, 1 / 50_000))
    lower, upper = draws.bounds(0.9)
    held = (values >= lower[0]) & (values <= upper[0])
    assert held.mean() == pytest.approx(0.9, abs=0.001)
    starts = np.linspace(0, 0.1, 1001)
    shortest = (beta.ppf(starts + 0.9, 2, 5) - beta.ppf(starts, 2, 5)).min()
    assert upper[0] - lower[0] == pytest.approx(shortest, abs=0.02)
    np.testing.assert_allclose(lower, 1 - upper[::-1], atol=1e-3)


def test_weights_known_for_sure_have_bounds_without_width():
    draws = Draws(np.array([[0.3, 0.7], [0.9, 0.1]]), np.array([1.0, 0.0]))
    lower, upper = draws.bounds(0.9)
    np.testing.assert_allclose(lower, [0.3, 0.7])
    np.testing.assert_allclose(upper, [0.3, 0.7])


def test_resampling_repeats_draws_by_their_shares():
    draws = Draws(np.eye(3), np.array([0.5, 0.3, 0.2]))
    np.testing.assert_array_equal(draws.resample(10).sum(axis=0), [5, 3, 2])
