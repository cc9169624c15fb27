"""The move along the ridge: a bijection with the right Jacobian, which leaves the posterior as it is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from plurank.thurstone import joint_move


@given(seed=st.integers(0, 2**32 - 1), n_rankings=st.integers(2, 6), log_power=st.floats(-1.0, 1.0))
def test_raised_weights_are_on_the_simplex_and_come_back(seed, n_rankings, log_power):
    weights = np.random.default_rng(seed).dirichlet(np.full(n_rankings, 2.0), 7)
    power = float(np.exp(log_power))
    raised = joint_move.raise_weights(weights, power)
    np.testing.assert_allclose(raised.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(joint_move.raise_weights(raised, 1.0 / power), weights, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(joint_move.raised_log_sums(weights, power), np.log(raised).sum(axis=0), rtol=1e-9)


@given(
    counts=st.lists(st.floats(0.01, 50.0), min_size=2, max_size=5), log_power=st.floats(-1.5, 1.5),
)  # fmt: skip
def test_raised_counts_come_back_with_the_opposite_jacobian(counts, log_power):
    counts, power = np.array(counts), float(np.exp(log_power))
    raised, log_jacobian = joint_move.raise_counts(counts, power)
    back, opposite = joint_move.raise_counts(raised, 1.0 / power)
    np.testing.assert_allclose(back, counts, rtol=1e-8)
    assert log_jacobian == pytest.approx(-opposite, abs=1e-7)


def test_the_jacobian_of_counts_is_their_derivative():
    counts, step = np.array([0.05, 0.7, 30.0]), 1e-5
    for power in (0.8, 1.3):
        above, below = (np.log(joint_move.raise_counts(counts * np.exp(sign * step), power)[0]) for sign in (1, -1))
        expected = np.log((above - below) / (2.0 * step)).sum()
        assert joint_move.raise_counts(counts, power)[1] == pytest.approx(expected, abs=1e-8)


def test_logarithms_of_weights_vary_as_raised_counts_say(rng):
    counts, power = np.array([0.4, 1.5, 4.0]), 1.7
    raised = joint_move.raise_counts(counts, power)[0]
    apart = np.log(rng.dirichlet(counts, 200_000)) @ [[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]]
    wanted = np.log(rng.dirichlet(raised, 200_000)) @ [[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]]
    np.testing.assert_allclose((power * apart).std(axis=0), wanted.std(axis=0), rtol=0.02)  # 4 standard errors


def test_moves_without_observations_keep_the_prior_of_weights_and_counts(rng):
    """Weights and the logarithm of their total count, drawn from the prior, have it after many moves, too."""
    from plurank.thurstone import hyperparameters as hyper

    n_chains, n_users, n_rankings = 4000, 3, 2
    totals = np.exp(
        np.log(hyper.CONCENTRATION_SHARE * n_rankings) + hyper.CONCENTRATION_ERROR * rng.standard_normal(n_chains)
    )
    before, after = [], []
    for total in totals:
        counts = np.maximum(total * rng.dirichlet(np.ones(n_rankings)), 1e-2)
        weights = rng.dirichlet(counts, n_users)
        before.append((np.log(counts.sum()), weights[:, 0].var()))
        for power in np.exp(0.7 * rng.standard_normal(3)):
            raised, log_jacobian = joint_move.raise_counts(counts, power)
            now = joint_move.Weights(n_users, np.log(np.maximum(weights, 1e-300)).sum(axis=0), counts)
            then = now._replace(log_weights=joint_move.raised_log_sums(weights, power), counts=raised)
            if np.log(rng.random()) < joint_move.log_ratio(now, then, power, log_jacobian):
                counts, weights = raised, joint_move.raise_weights(weights, power)
        after.append((np.log(counts.sum()), weights[:, 0].var()))
    for one, other in zip(np.array(before).T, np.array(after).T, strict=True):
        assert stats.ks_2samp(one, other).pvalue > 1e-3
        assert (one != other).mean() > 0.3  # and they do move


def test_steps_that_go_on_in_one_direction_keep_a_distribution(rng):
    """A guided walk over a standard normal coordinate, with steps that hardly adapt any more."""
    before, after, turns, taken_moves = [], [], 0, 0
    for x in rng.standard_normal(3000):
        step = joint_move.Step()
        step.log_size, step.n, step.sign = 0.0, 10**9, float(rng.choice([-1.0, 1.0]))
        before.append(x)
        for _ in range(8):
            there, sign = x + np.log(step.draw(rng)), step.sign
            assert np.sign(there - x) == sign
            chance = float(np.exp(min(0.5 * (x**2 - there**2), 0.0)))
            taken = bool(rng.random() < chance)
            step.adapt(chance, taken)
            assert step.sign == (sign if taken else -sign)
            x, turns, taken_moves = (there if taken else x), turns + (not taken), taken_moves + taken
        after.append(x)
    assert stats.kstest(after, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(before, after)[0, 1]) < 0.3  # and it does move
    assert turns
    assert taken_moves


def test_steps_become_larger_where_most_are_taken_and_smaller_where_few_are():
    for chance, grows in ((1.0, True), (0.0, False)):
        step = joint_move.Step()
        step.adapt(chance, taken=True)
        assert (step.log_size > np.log(joint_move.FIRST_STEP)) == grows
