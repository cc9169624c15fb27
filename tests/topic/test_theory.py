"""Theorem 2 for known populations: the constants, and what they ask for."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plurank import NotIdentifiableError, ParameterError
from plurank.topic.theory import known_population, sample_bound
from tests.oracles.exact_moments import ExactMoments, dirichlet_correlation, draw_mu, draw_separable

CYCLE = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]  # the example of the paper's Figure 2
EQUAL = [1 / 3] * 3


def draw_model(seed, n_items=5, n_rankings=3, concentration=0.7):
    """A population, the same in plain arrays, and its pair probabilities."""
    rng = np.random.default_rng(seed)
    a = rng.dirichlet(np.full(n_rankings, 3.0))
    rankings, mu = draw_separable(n_items, n_rankings, rng), draw_mu(n_items, rng, uniform=False)
    plain = ExactMoments(rankings, mu, a, dirichlet_correlation(a, concentration))
    table = np.zeros((n_items, n_items))
    table[plain.lower, plain.higher] = table[plain.higher, plain.lower] = mu
    return (rankings, a, concentration), table, plain


@pytest.mark.parametrize("seed", range(4))
def test_the_moments_of_a_known_population_equal_the_plain_ones(seed):
    model, table, plain = draw_model(seed)
    population = known_population(*model, 5.0 * table)  # the scale of the table does not matter
    occurs = plain.p > 0
    np.testing.assert_allclose(population.probabilities, plain.p[occurs])
    np.testing.assert_allclose(population.shares, plain.B_bar[occurs])
    np.testing.assert_allclose(population.correlations, plain.R_bar)
    np.testing.assert_allclose(population.moments, plain.E[np.ix_(occurs, occurs)])
    np.testing.assert_array_equal(population.novel_to, plain.novel_to[occurs])
    both = np.stack([plain.lower, plain.higher], axis=1)
    np.testing.assert_array_equal(population.pairs, np.stack([both, both[:, ::-1]], axis=1).reshape(-1, 2)[occurs])


@pytest.mark.parametrize("seed", range(4))
def test_the_constants_equal_those_of_plain_arrays(seed):
    model, table, plain = draw_model(seed, n_items=6, n_rankings=4)
    bound = sample_bound(*model, 20, pair_probabilities=table, n_directions=10_000)
    assert bound.n_ordered_pairs == (plain.p > 0).sum()
    assert bound.least_probability == pytest.approx(plain.p[plain.p > 0].min())
    assert bound.largest_share == pytest.approx(plain.b)
    assert (bound.least_eigenvalue, bound.largest_eigenvalue) == pytest.approx(plain.eigenvalues)


@pytest.mark.parametrize("seed", range(4))
def test_solid_angles_are_the_shares_of_directions_along_which_a_row_of_e_is_highest(seed):
    model, table, plain = draw_model(seed, n_rankings=4)
    angles = known_population(*model, table).solid_angles(40_000, rng=np.random.default_rng(0))
    occurs = plain.p > 0
    heights = plain.E[occurs] @ np.random.default_rng(1).standard_normal((len(plain.p), 40_000))
    # rows of one ranking's novel pairs coincide up to rounding, so the highest row names the ranking
    shares = np.bincount(plain.novel_to[occurs][heights.argmax(axis=0)], minlength=4) / 40_000
    np.testing.assert_allclose(angles, shares, atol=6 * math.sqrt(2 * 0.25 / 40_000))  # six standard errors at most


def test_three_solid_angles_are_those_of_a_triangle():
    model, table, plain = draw_model(2)
    rows = [plain.E[np.flatnonzero(plain.novel_to == k)[0]] for k in range(3)]
    bound = sample_bound(*model, 20, pair_probabilities=table)
    for k in range(3):
        one, other = (rows[k] - rows[j] for j in range(3) if j != k)
        inner = math.acos(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))
        # the directions along which a corner is highest fill the angle between the normals of its two sides
        assert bound.solid_angles[k] == pytest.approx((math.pi - inner) / (2 * math.pi), abs=6 * 0.0005)


def test_the_example_of_figure_2_has_the_constants_computed_by_hand():
    # R-bar = (J + 3 I) / 2: eigenvalues 3/2 and 3; pairs that are not novel are shared by two rankings alike
    bound = sample_bound(CYCLE, EQUAL, 1.0, 20, failure_probability=0.1)
    assert bound.n_ordered_pairs == 6
    assert bound.least_probability == pytest.approx(1 / 9)
    assert bound.largest_share == pytest.approx(1 / 2)
    assert (bound.least_eigenvalue, bound.largest_eigenvalue) == pytest.approx((1.5, 3.0))
    assert (bound.entry_distance, bound.row_distance) == pytest.approx((3 / 16, 3 / 4))
    assert bound.solid_angle_error == pytest.approx(math.sqrt(2 / 9 / 1_000_000), rel=0.01)
    q = bound.least_solid_angle
    assert abs(q - 1 / 3) < 6 * bound.solid_angle_error
    # log(3 * 6 / 0.1) = log 180; rho for isotropic directions is pi * 0.75 q / (4 * 6^1.5), below d / 8 = 3/128
    rho = 0.75 * math.pi * q / (4 * 6 * math.sqrt(6))
    assert bound.isotropic.tolerance == pytest.approx(rho)
    assert bound.isotropic.for_detection == pytest.approx(40 * math.log(180) * 9**4 / (20 * rho**2))
    assert bound.isotropic.for_regression == pytest.approx(320 * math.sqrt(6) * math.log(180) * 9**6 / (20 * 1.5))
    rho = math.sqrt(math.pi) * 0.75 * q / (12 * math.sqrt(6 * math.log(12 / q)))
    assert bound.gaussian.tolerance == pytest.approx(rho)
    assert bound.gaussian.users == pytest.approx(40 * math.log(180) * 9**4 / (20 * rho**2))
    assert bound.projections == pytest.approx(16 * math.log(180) / q**2)


def test_one_ranking_has_all_directions_and_no_other_pair():
    bound = sample_bound([[2, 0, 1]], [1.0], 0.5, 10)
    assert bound.solid_angles.tolist() == [1.0]
    assert (bound.largest_share, bound.least_eigenvalue, bound.n_ordered_pairs) == (0.0, 1.0, 3)
    assert bound.isotropic.tolerance == pytest.approx(min(1 / 8, math.pi / (4 * 3**1.5)))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**16), delta=st.floats(1e-6, 0.5))
def test_with_what_is_asked_for_the_failure_probability_of_the_proof_is_kept(seed, delta):
    model, table, _ = draw_model(seed)
    bound = sample_bound(*model, 8, pair_probabilities=table, failure_probability=delta, n_directions=2000)
    W, eta, q = bound.n_ordered_pairs, bound.least_probability, bound.least_solid_angle
    for needed in (bound.isotropic, bound.gaussian):
        MN = 8 * needed.users
        terms = (
            2 * W**2 * math.exp(-bound.projections * q**2 / 8),
            8 * W**2 * math.exp(-(needed.tolerance**2) * eta**4 * MN / 20),
            8 * W**2 * math.exp(-MN * bound.least_eigenvalue * eta**6 / (160 * math.sqrt(W))),
        )
        assert sum(terms) <= delta * (1 + 1e-9)


def test_more_comparisons_ask_for_fewer_users_and_more_certainty_for_more():
    base, longer, surer = (
        sample_bound(CYCLE, EQUAL, 1.0, n, failure_probability=p) for n, p in ((10, 0.1), (40, 0.1), (10, 0.01))
    )
    assert longer.gaussian.users == pytest.approx(base.gaussian.users / 4)
    assert longer.projections == base.projections
    assert surer.isotropic.users > base.isotropic.users
    assert surer.projections > base.projections


def test_people_who_are_more_alike_and_rankings_with_fewer_followers_ask_for_more_users():
    asked = [sample_bound(CYCLE, EQUAL, c, 10).isotropic.users for c in (0.0, 0.1, 1.0, 10.0)]
    assert asked == sorted(asked)
    asked = [sample_bound(CYCLE, [a, (1 - a) / 2, (1 - a) / 2], 1.0, 10).isotropic.users for a in (1 / 3, 0.2, 0.05)]
    assert asked == sorted(asked)


def test_a_seed_gives_the_same_bound_again():
    first, second = (sample_bound(CYCLE, EQUAL, 1.0, 10, random_state=3) for _ in range(2))
    assert first.solid_angles.tolist() == second.solid_angles.tolist()


def test_rankings_without_a_novel_pair_are_refused():
    with pytest.raises(NotIdentifiableError, match="no novel pair"):
        sample_bound([[0, 1, 2], [0, 1, 2]], [0.5, 0.5], 1.0, 10)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rankings": [[0], [0], [0]]}, "at least 2 items"),
        ({"mean_weights": [0.5, 0.5, 0.0]}, "3 positive numbers that sum to 1"),
        ({"mean_weights": [0.5, 0.5]}, "3 positive numbers that sum to 1"),
        ({"concentration": -1.0}, "a number >= 0"),
        ({"comparisons_per_user": 1}, "comparisons_per_user must be an integer >= 2"),
        ({"failure_probability": 0.6}, "at most 0.5"),
        ({"pair_probabilities": np.zeros((3, 3))}, "positive numbers elsewhere"),
        ({"pair_probabilities": np.ones((2, 2))}, r"symmetric \(3, 3\) table"),
        ({"n_directions": 1}, "Use a larger n_directions"),
        ({"n_directions": 0}, "n_directions must be an integer >= 1"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(change, message):
    arguments = {"rankings": CYCLE, "mean_weights": EQUAL, "concentration": 1.0, "comparisons_per_user": 10} | change
    with pytest.raises(ParameterError, match=message):
        sample_bound(**arguments)
