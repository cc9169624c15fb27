"""Draws of how weights depend on covariates, together with the scores of a fit to comparisons."""

import numpy as np
import pytest

import plurank
from plurank.mixed.joint_chain import Effort, draw_tables
from plurank.mixed.joint_density import ComparedUsers, JointDensity, Proposals, WeightDraws
from plurank.mixed.priors import ScorePrior
from plurank.regression.coefficients import Coefficients, contrasts, draw_log_dirichlets
from plurank.regression.sampling import move

LARGEST_Z = 4.0
N_ITEMS = 5


def simulate(rng, scores, coefficients, mixing, n_users=30, per_user=6):
    """Users with one covariate, their weights, and what they say."""
    design = rng.standard_normal((n_users, coefficients.table.shape[0] - 1))
    logs = draw_log_dirichlets(coefficients.counts_of(design), rng)
    users = np.repeat(np.arange(n_users), per_user)
    first = rng.integers(len(scores), size=len(users))
    second = (first + 1 + rng.integers(len(scores) - 1, size=len(users))) % len(scores)
    lead, weights = scores[first] - scores[second], np.exp(logs)[users]
    if mixing == "utility":
        chance = 1.0 / (1.0 + np.exp(-(weights * lead).sum(axis=1)))
    else:
        chance = (weights / (1.0 + np.exp(-lead))).sum(axis=1)
    wins = rng.random(len(users)) < chance
    votes = plurank.Comparisons.from_arrays(
        users, np.where(wins, first, second), np.where(wins, second, first), items=np.arange(len(scores))
    )
    return ComparedUsers(votes, design, mixing), logs


def draw_prior(rng, n_rankings, scale):
    """Scores and coefficients as the priors have them."""
    normals = rng.standard_normal((n_rankings + 2, n_rankings))
    precision = normals.T @ normals  # Wishart with K + 2 degrees of freedom
    scores = rng.standard_normal((N_ITEMS, n_rankings)) @ np.linalg.inv(np.linalg.cholesky(precision))
    mean = np.log(rng.dirichlet(np.ones(n_rankings)))
    slopes = scale * rng.standard_normal((1, n_rankings - 1)) @ contrasts(n_rankings)
    concentration = 2.0 / 3.0 * n_rankings * np.exp(rng.standard_normal())
    return scores, Coefficients(concentration, np.vstack([mean - mean.mean(), slopes]))


@pytest.mark.parametrize("mixing", ["utility", "probability"])
@pytest.mark.parametrize("given", [False, True], ids=["unknown precision of scores", "known precision of scores"])
def test_the_gradient_is_that_of_finite_differences(mixing, given, rng):
    scores, coefficients = draw_prior(rng, 3, 0.5)
    users, _ = simulate(rng, scores, coefficients, mixing)
    draws = Proposals.near(users, scores, coefficients).draw(8, rng)
    density = JointDensity(users, draws, 0.7, ScorePrior(0.8, 1.2) if given else None)
    vector = density.to_vector(scores, coefficients)
    again, same = density.from_vector(vector)
    np.testing.assert_allclose(again, scores)
    np.testing.assert_allclose(same.table, coefficients.table, atol=1e-12)
    near = [(density.evaluate(vector + step).value, density.evaluate(vector - step).value)
            for step in 1e-5 * np.eye(len(vector))]  # fmt: skip
    found = density.evaluate(vector).gradient
    np.testing.assert_allclose(found, [(a - b) / 2e-5 for a, b in near], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mixing", ["utility", "probability"])
def test_sweeps_leave_the_joint_distribution_of_parameters_and_data_as_it_was(mixing, rng):
    """As in Geweke's test: if parameters, weights and data are drawn from the model, so are they after some sweeps.

    What changes of the parameters, and of their products with the data, has mean 0 then.
    """
    changes = [change_in_sweeps(rng, mixing) for _ in range(300)]
    assert (np.array(changes) != 0.0).any(axis=1).mean() > 0.8
    assert np.abs(np.mean(changes, axis=0) / (np.std(changes, axis=0) / np.sqrt(len(changes)))).max() < LARGEST_Z


def change_in_sweeps(rng, mixing):
    """By how much two sweeps change parameters of data that were made with these."""
    scores, coefficients = draw_prior(rng, 2, 0.6)
    users, logs = simulate(rng, scores, coefficients, mixing, n_users=12)
    counts = np.maximum(coefficients.counts_of(users.design), 1e-3)
    proposals = Proposals(counts[:, None, :], counts)
    # among the draws is what the data were made with
    own = proposals.standardise(logs[:, None], rng.standard_gamma(counts.sum(axis=1)[:, None]))
    others = proposals.draw(4, rng)
    draws = WeightDraws(*(np.concatenate([one, more[..., 1:]], axis=-1) for one, more in
                          ((own.eta, others.eta), (own.offsets, others.offsets))))  # fmt: skip
    density = JointDensity(users, draws, 0.6)
    vector = density.to_vector(scores, coefficients)
    said = users.sum_by_item(np.ones((len(users.comparisons), 1)))[:, 0] / 10.0

    def measure():
        scores, coefficients = density.from_vector(vector)
        apart = np.log((scores - scores.mean(axis=1, keepdims=True)).std())
        table, size = coefficients.table[:, 0], np.log(coefficients.concentration)
        return np.array([*table, size, *table**2, size**2, apart, said @ scores.mean(axis=1), said @ scores[:, 0]])

    before = measure()
    for _ in range(2):
        density = JointDensity(users, draws, 0.6)
        vector, _ = move(density, vector, 3.0 * np.eye(len(vector)), rng, 5, (0.3, 0.9))
        draws = draws.keep_one(density.evaluate(vector).shares, proposals.draw(4, rng), rng)
    return measure() - before


@pytest.mark.parametrize("most_sampled", [0, 10_000], ids=["a Gaussian", "a chain"])
def test_draws_hold_the_effects_that_votes_were_made_with(most_sampled, rng):
    scores = 1.5 * rng.standard_normal((8, 2))
    truth = Coefficients(1.5, np.array([[0.3, -0.3], [0.8, -0.8]]))
    users, _ = simulate(rng, scores, truth, "utility", n_users=300, per_user=20)
    effort = Effort(n_draws=60, burn_in=40, metrics=(0, 20), proposals=(0, 20), most_sampled=most_sampled)
    init = Coefficients.constant(np.full(2, 0.7), 1)
    tables = draw_tables(users, scores, init, None, np.random.default_rng(0), effort)
    assert tables.shape == (60, 2, 2)
    np.testing.assert_allclose(tables.sum(axis=2), 0.0, atol=1e-9)
    apart = (tables.mean(axis=0) - truth.table)[:, 0] / tables.std(axis=0)[:, 0]
    assert np.abs(apart).max() < LARGEST_Z
    assert 0.05 < tables.std(axis=0)[1, 0] < 0.3  # 300 users, of whom 20 votes each are known
    again = draw_tables(users, scores, init, None, np.random.default_rng(0), effort)
    np.testing.assert_array_equal(tables, again)
    turned = draw_tables(users, scores[:, ::-1], init, None, np.random.default_rng(0), effort)
    np.testing.assert_allclose(turned.mean(axis=0)[1, ::-1], tables.mean(axis=0)[1], atol=0.4)
