"""Inference for single users equals its plain twins."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import digamma

from plurank import kernels
from plurank.kernels.plain import inference as twins
from tests.kernels.twins import NOTHING, both, users_and_items


@st.composite
def new_users(draw, most_users=5, most_each=9):
    """offsets, likelihoods (n, K), a prior (K,) and a generator."""
    per_user = draw(st.lists(st.integers(0, most_each), min_size=1, max_size=most_users))
    n_rankings = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    offsets = np.concatenate([[0], np.cumsum(per_user)]).astype(np.int64)
    offsets.setflags(write=False)  # as those of Comparisons
    likelihoods = rng.uniform(0.01, 0.99, (int(offsets[-1]), n_rankings))
    return offsets, likelihoods, rng.gamma(0.5, 1.0, n_rankings) + 1e-3, rng


@given(case=new_users(), n_particles=st.integers(1, 7), most_redrawn=st.sampled_from([0, 1, 3, 100]))
def test_reading_from_left_to_right_equals_its_twin(case, n_particles, most_redrawn):
    offsets, likelihoods, prior, rng = case
    seeds = rng.integers(0, 2**64, offsets.size - 1, dtype=np.uint64)
    values = both("read_left_to_right", offsets, likelihoods, prior, seeds, n_particles, most_redrawn)
    assert (values <= 0.0).all()


def test_long_users_copy_heavy_particles_as_the_twin_does(rng):
    likelihoods = rng.choice([0.02, 0.98], (120, 3))
    arguments = (np.array([0, 120]), likelihoods, np.full(3, 0.1), np.array([7], np.uint64), 10, 2)
    both("read_left_to_right", *arguments)


def test_what_no_ranking_explains_is_impossible_and_no_error():
    likelihoods = np.array([[0.5, 0.5], [0.0, 0.0], [0.5, 0.5]])
    arguments = (np.array([0, 3]), likelihoods, np.ones(2), np.array([7], np.uint64), 4, 2)
    assert kernels.read_left_to_right(*arguments).tolist() == [-np.inf]
    assert twins.read_left_to_right(*arguments).tolist() == [-np.inf]


@given(case=users_and_items(), precision=st.sampled_from([0.004, 1.0, 16.0]))
def test_user_effects_equal_their_twin(case, precision):
    offsets, winners, losers, weights, n_items, rng = case
    users = np.repeat(np.arange(offsets.size - 1), np.diff(offsets)) * n_items
    keys, places = np.unique(np.concatenate([users + winners, users + losers]), return_inverse=True)
    edges = np.searchsorted(keys, np.arange(offsets.size) * n_items)
    counts, odds = weights if weights.size else np.ones(len(winners)), 3.0 * rng.standard_normal(len(winners))
    sides = places[: len(winners)], places[len(winners) :]
    precisions = precision * rng.uniform(0.5, 2.0, len(keys))
    found, _ = both("solve_user_effects", offsets, edges, *sides, counts, odds, precisions, rtol=1e-5, atol=1e-6)
    assert np.isfinite(found).all()


def test_user_effects_are_found_where_the_first_step_leads_too_far():
    odds = np.array([-30.0, 30.0, -30.0])
    arguments = (np.array([0, 3]), np.array([0, 3]), np.array([0, 1, 2]), np.array([1, 2, 0]))
    both("solve_user_effects", *arguments, np.full(3, 50.0), odds, np.full(3, 0.004), rtol=1e-5, atol=1e-6)


@given(case=new_users(), max_rounds=st.integers(0, 8), is_weighted=st.booleans())
def test_the_dirichlets_of_users_equal_their_twin(case, max_rounds, is_weighted):
    offsets, likelihoods, prior, rng = case
    weights = rng.uniform(0.1, 3.0, len(likelihoods)) if is_weighted else NOTHING
    init = rng.gamma(2.0, 1.0, (offsets.size - 1, len(prior))) + 1e-3
    found, _ = both("infer_dirichlets", offsets, likelihoods, weights, prior, init, max_rounds, 0.0)
    counts = weights if is_weighted else np.ones(len(likelihoods))
    if max_rounds:
        said = np.add.reduceat(np.append(counts, 0.0), offsets[:-1]) * (np.diff(offsets) > 0)
        np.testing.assert_allclose(found.sum(axis=1), prior.sum() + said)


def test_the_digamma_function_written_by_hand_is_that_of_scipy():
    x = 10.0 ** np.linspace(-9, 5, 2001)
    np.testing.assert_allclose(twins.digamma(x), digamma(x), rtol=1e-12, atol=1e-12)
    # of a user with one comparison that the first ranking explains, the bound is digamma(x) - digamma(2 x)
    arguments = np.arange(len(x) + 1), np.tile([1.0, 0.0], (len(x), 1)), NOTHING, np.ones(2)
    _, values = kernels.infer_dirichlets(*arguments, np.column_stack([x, x]), 0, 0.0)
    np.testing.assert_allclose(values, digamma(x) - digamma(2.0 * x), rtol=1e-12, atol=1e-12)
