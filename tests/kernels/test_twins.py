"""Every kernel equals its plain twin."""

import inspect
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plurank import kernels
from plurank.kernels import reference
from tests.kernels.twins import NOTHING, both, users_and_items


def test_every_kernel_has_a_twin_with_the_same_arguments():
    for name in kernels.__all__:
        kernel = getattr(kernels, name)
        arguments = inspect.signature(getattr(kernel, "py_func", kernel)).parameters
        assert list(arguments) == list(inspect.signature(getattr(reference, name)).parameters), name


@given(keys=st.lists(st.integers(0, 5) | st.integers(0, 2**64 - 1), max_size=60))
def test_encode_keys_equals_its_twin(keys):
    both("encode_keys", np.array(keys, np.uint64))


@pytest.mark.parametrize("n_distinct", [255, 256, 257, 5000])
def test_encode_keys_equals_its_twin_when_its_table_has_to_grow(n_distinct, rng):
    distinct = rng.integers(0, 2**64, n_distinct, dtype=np.uint64)
    both("encode_keys", distinct[rng.integers(0, n_distinct, 3 * n_distinct)])


@given(codes=st.lists(st.integers(0, 6), max_size=40))
def test_group_and_group_pairs_equal_their_twins(codes):
    codes = np.array(codes, np.int32)
    both("group", codes, 8)
    both("group_pairs", codes, 8, np.arange(codes.size, dtype=np.int32), -np.arange(codes.size, dtype=np.int32))


@given(data=users_and_items())
def test_index_pairs_and_find_duplicates_equal_their_twins(data):
    offsets, winners, losers, _, n_items, _ = data
    both("index_pairs", winners, losers, n_items)
    both("find_duplicates", offsets, winners, losers, n_items)


@given(data=users_and_items())
def test_count_meetings_equals_its_twin(data):
    offsets, winners, losers, weights, n_items, _ = data
    for counts in (weights, np.empty(0)):
        both("count_meetings", offsets, winners, losers, counts, n_items)


@given(data=users_and_items(), tied=st.booleans())
def test_find_consistent_equals_its_twin(data, tied):
    offsets, winners, losers, _, n_items, _ = data
    if tied:  # every comparison goes both ways
        pairs = np.stack([winners, losers], axis=1)
        offsets, winners, losers = 2 * offsets, pairs.ravel(), pairs[:, ::-1].ravel()
    both("find_consistent", offsets, winners, losers, n_items)


@pytest.mark.parametrize("n_items", [255, 256, 257, 400])
def test_index_pairs_equals_its_twin_on_either_side_of_the_table_limit(n_items, rng):
    winners = rng.integers(0, n_items, 100).astype(np.int32)
    losers = ((winners + rng.integers(1, n_items, 100)) % n_items).astype(np.int32)
    repeated, reverse = np.concatenate([winners, losers, winners]), np.concatenate([losers, winners, losers])
    both("index_pairs", repeated, reverse, n_items)


@given(data=users_and_items())
def test_the_halves_equal_their_twins_and_are_halves(data):
    offsets, winners, losers, weights, n_items, rng = data
    first = both("choose_half", offsets, rng.random(winners.size))
    taken = [int(first[b:e].sum()) for b, e in itertools.pairwise(offsets)]
    assert taken == [(e - b + 1) // 2 for b, e in itertools.pairwise(offsets)]
    rows, lower, _ = kernels.index_pairs(winners, losers, n_items)
    arranged, middles = both("arrange_halves", offsets, first, rows)
    if weights.size:
        weights, _ = both("arrange_halves", offsets, first, weights)
    by_row = both("lay_out_by_row", offsets, middles, arranged, weights, 2 * lower.size)
    user_of, row_weights, begins, row_middles, ends = by_row
    both("count_shared_users", begins, row_middles, row_middles, ends, user_of, row_weights)
    both("sum_gathered", begins, ends, user_of, row_weights, rng.standard_normal((offsets.size - 1, 3)))
    both("sum_gathered", offsets[:-1], middles, arranged, weights, rng.standard_normal((2 * lower.size, 1)))
    values = rng.standard_normal((offsets.size - 1, 3)).astype(np.float32)
    so_far = rng.standard_normal((begins.size, 3)).astype(np.float32)
    both("add_gathered", row_middles, ends, user_of, row_weights, values, so_far, rtol=1e-5, atol=1e-5)


@given(seed=st.integers(0, 1000), n_points=st.integers(0, 5), n_others=st.integers(0, 5), n_columns=st.integers(1, 7))
def test_what_is_said_about_projected_rows_equals_its_twins(seed, n_points, n_others, n_columns):
    rng = np.random.default_rng(seed)
    points, others = (rng.integers(-2, 3, (n, n_columns)).astype(np.float32) for n in (n_points, n_others))
    apart = both("are_apart", points, others, int(rng.integers(0, n_columns + 1)), 4.0)
    both("stay_above", points, others, apart, rng.random((n_points, n_columns)) < 0.8)


def test_every_half_is_equally_likely():
    # four comparisons have six halves; a share of 1/6 in 6,000 users strays by 0.005, so 0.03 is six times that
    offsets = np.arange(0, 24_001, 4)
    first = kernels.choose_half(offsets, np.random.default_rng(0).random(24_000)).reshape(-1, 4)
    _, how_often = np.unique(first, axis=0, return_counts=True)
    assert how_often.size == 6
    np.testing.assert_allclose(how_often / 6000, 1 / 6, atol=0.03)


@given(data=users_and_items())
def test_signed_item_counts_equal_their_twin(data):
    offsets, winners, losers, weights, n_items, _ = data
    both("signed_item_counts", offsets, winners, losers, weights, n_items)


@given(n_vertices=st.integers(1, 5), n_rows=st.integers(0, 6), dimension=st.integers(1, 6), seed=st.integers(0, 999))
def test_regress_on_simplex_equals_its_twin(n_vertices, n_rows, dimension, seed):
    rng = np.random.default_rng(seed)
    vertices, points = rng.standard_normal((n_vertices, dimension)), rng.standard_normal((n_rows, dimension))
    gram, targets = vertices @ vertices.T, points @ vertices.T
    # both end within the tolerance of the minimum, but need not take the same steps there
    objectives = []
    for module in (kernels, reference):
        b = module.regress_on_simplex(gram, targets, 1e-10, 5000)
        assert b.shape == (n_rows, n_vertices)
        assert (b >= 0).all()
        np.testing.assert_allclose(b.sum(axis=1), 1.0, atol=1e-12)
        objectives.append(((b @ vertices - points) ** 2).sum(axis=1))
    np.testing.assert_allclose(*objectives, atol=1e-6)


@given(data=users_and_items(), n_rankings=st.integers(1, 4), max_rounds=st.integers(0, 8))
def test_user_weights_equal_their_twin(data, n_rankings, max_rounds):
    offsets, winners, losers, weights, n_items, rng = data
    places = np.stack([rng.permutation(n_items) for _ in range(n_rankings)], axis=1).astype(np.int32)
    start = rng.dirichlet(np.ones(n_rankings), offsets.size - 1)
    prior = rng.uniform(0.01, 2.0, n_rankings)
    arguments = (offsets, winners, losers, weights, places, 0.03, prior, start, max_rounds, 1e-12)
    theta = both("map_user_weights", *arguments)
    users = np.repeat(np.arange(offsets.size - 1, dtype=np.int32), np.diff(offsets))
    both("mixture_of_wins", users, winners, losers, places, theta)


@given(data=users_and_items(), ties=st.integers(0, 2), share=st.floats(0.0, 1.0))
def test_comparisons_from_ratings_equal_their_twins(data, ties, share):
    offsets, _, _, _, _, rng = data
    items = np.concatenate([rng.permutation(9)[:n] for n in np.diff(offsets)] or [NOTHING]).astype(np.int32)
    ratings = rng.integers(1, 4, items.size).astype(float)
    n_rated = np.diff(offsets)
    n_pairs = n_rated * (n_rated - 1) // 2
    uniforms = rng.random(int(n_pairs.sum()))
    both("decided_pairs", offsets, items, ratings, ties, uniforms)
    n_wanted = np.floor(share * n_pairs).astype(np.int64)
    codes = both("sample_pairs", n_rated, n_wanted, rng.random(int(n_wanted.sum())))
    both("expand_pairs", offsets, items, ratings, n_wanted, codes, ties, uniforms)


def test_sampled_pairs_are_distinct_and_equally_likely():
    # each of 10 pairs is among 3 sampled with chance 0.3; over 4,000 users that strays by 0.0073
    uniforms = np.random.default_rng(0).random(12_000)
    codes = kernels.sample_pairs(np.full(4000, 5), np.full(4000, 3), uniforms).reshape(-1, 3)
    assert all(len(set(row)) == 3 for row in codes.tolist())
    np.testing.assert_allclose(np.bincount(codes.ravel(), minlength=10) / 4000, 0.3, atol=0.044)


@settings(max_examples=50)
@given(data=users_and_items(), n_rankings=st.integers(1, 4))
def test_decided_comparisons_equal_their_twin(data, n_rankings):
    offsets, first, second, _, n_items, rng = data
    places = np.stack([rng.permutation(n_items) for _ in range(n_rankings)], axis=1).astype(np.int32)
    cumulative = np.cumsum(rng.dirichlet(np.ones(n_rankings), offsets.size - 1), axis=1)
    drawn = (offsets, first, second, rng.random(first.size), cumulative, places)
    both("decide_comparisons", *drawn, np.empty(0), np.empty((0, 0)))
    laws = rng.random((cumulative.shape[1], 2 * len(places) - 1))
    both("decide_comparisons", *drawn, rng.random(first.size), laws)
