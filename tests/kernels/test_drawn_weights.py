"""The likelihood with weights integrated out by draws: the kernel against its twin, and against integrals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import dirichlet

from plurank import kernels
from tests.kernels.twins import both, users_and_items


@given(users_and_items(), st.sampled_from(["utility", "probability"]), st.integers(1, 5), st.sampled_from([4, 12]))
def test_draws_are_weighed_as_the_twin_weighs_them(case, mixing, n_rankings, n_draws):
    *columns, n_items, rng = case
    n_users, scores = len(columns[0]) - 1, rng.choice([1.0, 30.0]) * rng.standard_normal((n_items, n_rankings))
    eta, offsets = rng.standard_normal((n_users, n_rankings, n_draws)), rng.standard_normal((n_users, n_draws))
    priors = rng.uniform(0.1, 3.0, (n_users, 5, n_rankings))
    both("weigh_draws", *columns, scores, mixing, eta, offsets, priors, rtol=1e-7, atol=1e-9)


def test_many_comparisons_of_a_user_do_not_underflow(rng):
    offsets, n = np.array([0, 5000]), 5000
    winners, losers = np.zeros(n, np.int32), np.ones(n, np.int32)
    scores, priors = np.array([[-9.0, -8.0], [9.0, 9.0]]), np.full((1, 5, 2), 0.5)
    for mixing in ("utility", "probability"):
        found = both(
            "weigh_draws", offsets, winners, losers, np.empty(0), scores, mixing, rng.standard_normal((1, 2, 4)),
            np.zeros((1, 4)), priors, rtol=1e-7,
        )  # fmt: skip
        assert found[0][0] < -50_000.0


@pytest.mark.parametrize("mixing", ["utility", "probability"])
def test_the_mean_over_draws_from_the_prior_is_the_likelihood(mixing, rng):
    """Of one comparison with two rankings, where the integral over the weight is a sum on a grid."""
    counts, n = np.array([0.8, 1.7]), 200_000
    gammas = rng.standard_gamma(counts[:, None], (2, n))
    priors = np.array([[counts, np.zeros(2), np.ones(2), np.zeros(2), np.zeros(2)]])
    offsets = -(counts @ np.log(gammas / gammas.sum(axis=0)))[None]  # draws are from the prior
    scores = np.array([[1.5, -2.0], [0.0, 0.5]])
    one = np.array([0, 1]), np.zeros(1, np.int32), np.ones(1, np.int32), np.empty(0)
    found = kernels.weigh_draws(*one, scores, mixing, np.log(gammas)[None], offsets, priors)
    grid = (np.arange(20_000) + 0.5) / 20_000
    weights = np.stack([grid, 1.0 - grid])
    lead, density = scores[0] - scores[1], dirichlet(counts).pdf(weights)
    sigmoid = [1.0 / (1.0 + np.exp(-value)) for value in (lead @ weights, lead)]
    chances = sigmoid[0] if mixing == "utility" else sigmoid[1] @ weights
    # 200,000 draws: a standard error of about 0.002 of the logarithm
    assert found[0][0] - np.log(n) == pytest.approx(np.log((chances * density).sum() / density.sum()), abs=0.01)
