"""Draws of how weights depend on covariates, together with the scores of a fit to comparisons."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import betaln

import plurank
from plurank.mixed.joint_chain import Effort, draw_tables
from plurank.mixed.joint_density import ComparedUsers, JointDensity, JointValue, Proposals, WeightDraws
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
    near = [[density._terms(*density.from_vector(vector + sign * step)).value for sign in (1.0, -1.0)]
            for step in 1e-5 * np.eye(len(vector))]  # fmt: skip
    by_user = np.vstack(list(density._user_gradients(vector)))
    assert by_user.shape == (30, len(vector))
    np.testing.assert_allclose(by_user.sum(axis=0), [(a - b) / 2e-5 for a, b in near], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mixing", ["utility", "probability"])
@pytest.mark.parametrize("factor", [0.2, 5.0], ids=["smaller", "larger"])
def test_draws_by_other_concentrations_say_as_much_of_the_likelihood_as_an_integral(mixing, factor, rng):
    scores, truth = 1.5 * rng.standard_normal((8, 2)), Coefficients(1.5, np.array([[0.3, -0.3], [0.5, -0.5]]))
    users, _ = simulate(rng, scores, truth, mixing, n_users=40, per_user=15)
    proposals = Proposals.near(users, scores, truth._replace(concentration=factor * truth.concentration))
    sums = [value_of(users, proposals.draw(4000, rng), scores, truth) for _ in range(4)]
    exact = sum(log_marginals(users, scores, truth.counts_of(users.design)))
    # no draw counts much more than others, so that the noise of 4,000 of 40 users is small
    assert np.std(sums) < 0.3
    assert np.mean(sums) == pytest.approx(exact, abs=0.5)


def value_of(users, draws, scores, coefficients):
    """The log-likelihood by draws."""
    n_draws = draws.eta.shape[2]
    return JointDensity(users, draws, 1.0)._terms(scores, coefficients).value - len(users.design) * np.log(n_draws)


def log_marginals(users, scores, counts):
    """Log-likelihoods of users who follow two rankings, the weights integrated out on a grid of their log odds."""
    odds = np.linspace(-80.0, 80.0, 2001)
    first = 1.0 / (1.0 + np.exp(-odds))
    for user, (one, other) in enumerate(counts):
        own = slice(*users.comparisons.offsets[user : user + 2])
        lead = scores[users.comparisons.winners[own]] - scores[users.comparisons.losers[own]]
        if users.mixing == "utility":
            logs = -np.logaddexp(0.0, -(np.outer(lead[:, 0], first) + np.outer(lead[:, 1], 1.0 - first)))
        else:
            chances = 1.0 / (1.0 + np.exp(-lead))
            logs = np.log(np.outer(chances[:, 0], first) + np.outer(chances[:, 1], 1.0 - first))
        logs = logs.sum(axis=0) - one * np.logaddexp(0.0, -odds) - other * np.logaddexp(0.0, odds) - betaln(one, other)
        yield np.logaddexp.reduce(logs) + np.log(odds[1] - odds[0])


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
    own = proposals.standardise(logs[:, None])
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


LIGHT = Effort(n_draws=40, burn_in=20, metrics=(0, 10), proposals=(0, 10), few_users=100, more_weights=32)
WAYS = {
    "a chain": LIGHT,
    "a chain of the items compared most": replace(LIGHT, most_scores=12),
    "a Gaussian": replace(LIGHT, most_sampled=0, most_in_part=1000),
}


@pytest.mark.parametrize("way", WAYS)
def test_draws_hold_the_effects_that_votes_were_made_with(way, rng):
    scores = 1.5 * rng.standard_normal((8, 2))
    truth = Coefficients(1.5, np.array([[0.3, -0.3], [0.8, -0.8]]))
    users, _ = simulate(rng, scores, truth, "probability", n_users=200, per_user=15)
    found = [
        draw_tables(users, scores[:, order], truth.reorder(order), None, np.random.default_rng(0), WAYS[way])
        for order in (np.array([0, 1]), np.array([0, 1]), np.array([1, 0]))
    ]
    tables = found[0]
    assert tables.shape == (40, 2, 2)
    np.testing.assert_allclose(tables.sum(axis=2), 0.0, atol=1e-9)
    assert (np.abs(tables.mean(axis=0) - truth.table) < LARGEST_Z * tables.std(axis=0)).all()
    assert 0.04 < tables[:, 1, 0].std() < 0.3  # if all weights were known, it would be 0.05
    np.testing.assert_array_equal(tables, found[1])
    # columns are in the order of the scores that were given
    assert tables[:, 1, 0].mean() > 0.4
    assert found[2][:, 1, 1].mean() > 0.4


def test_of_many_items_those_compared_most_stay(rng):
    votes = plurank.Comparisons.from_arrays(
        ["a", "a", "b", "c", "c"], [0, 1, 4, 1, 0], [1, 2, 3, 0, 1], items=np.arange(5)
    )
    users = ComparedUsers(votes, np.arange(3.0)[:, None], "utility")
    part, kept = users.among_most_compared(2)
    assert kept.tolist() == [True, True, False, False, False]
    assert part.comparisons.users.tolist() == ["a", "c"]
    assert part.design.tolist() == [[0.0], [2.0]]
    assert (part.comparisons.winners.tolist(), part.comparisons.losers.tolist()) == ([0, 1, 0], [1, 0, 1])


def test_rankings_that_cannot_be_told_apart_leave_effects_uncertain_with_many_items(rng):
    scores = np.repeat(rng.standard_normal((60, 1)), 2, axis=1)
    truth = Coefficients(1.5, np.array([[0.0, 0.0], [0.8, -0.8]]))
    users, _ = simulate(rng, scores, truth, "utility", n_users=100, per_user=10)
    for most in (1000, 80):
        tables = draw_tables(users, scores, truth, None, rng, replace(LIGHT, most_scores=most))
        assert tables[:, 1, 0].std() > 0.1


class Nowhere:
    """A density that can be evaluated at 0 only: elsewhere a matrix is singular."""

    def evaluate(self, vector):
        if vector.any():
            raise np.linalg.LinAlgError("Singular matrix")
        return JointValue(0.0, np.ones(len(vector)), np.zeros(0))


def test_a_trajectory_that_leaves_for_where_nothing_can_be_computed_is_rejected(rng):
    vector, accepted = move(Nowhere(), np.zeros(2), np.eye(2), rng)
    assert not accepted
    np.testing.assert_array_equal(vector, 0.0)
