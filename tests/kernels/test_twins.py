"""Every native function equals its plain twin."""

import inspect
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plurank import kernels
from plurank.data.encoding import index_pairs
from plurank.topic.pair_blocks import lay_out_by_row
from tests.kernels.twins import NOTHING, both, twin_of, users_and_items


def test_every_kernel_has_a_twin_with_the_same_arguments():
    for name in kernels.__all__:
        assert twin_of(name) is not getattr(kernels, name)
        arguments = inspect.signature(getattr(kernels, name)).parameters
        assert list(arguments) == list(inspect.signature(twin_of(name)).parameters), name


def test_arguments_that_do_not_fit_each_other_are_refused():
    codes, offsets = np.zeros(3, np.int32), np.array([0, 4])
    with pytest.raises(ValueError, match="do not fit each other"):
        kernels.count_meetings(offsets, codes, codes, NOTHING, 1)
    with pytest.raises(ValueError, match="do not fit each other"):
        kernels.group(codes + 5, 5)


def test_arrays_of_another_type_are_refused_before_native_code_sees_them():
    with pytest.raises(TypeError):
        kernels.find_rows(np.zeros(2), np.ones(2), np.array([0, 1, 1]), np.ones(1, np.int32))


@given(keys=st.lists(st.integers(0, 5) | st.integers(0, 2**64 - 1), max_size=60))
def test_encode_keys_equals_its_twin(keys):
    both("encode_keys", np.array(keys, np.uint64))


@pytest.mark.parametrize("n_distinct", [255, 256, 257, 5000])
def test_encode_keys_equals_its_twin_when_its_table_has_to_grow(n_distinct, rng):
    distinct = rng.integers(0, 2**64, n_distinct, dtype=np.uint64)
    both("encode_keys", distinct[rng.integers(0, n_distinct, 3 * n_distinct)])


@given(codes=st.lists(st.integers(0, 6), max_size=40))
def test_group_equals_its_twin(codes):
    both("group", np.array(codes, np.int32), 8)


@given(data=users_and_items())
def test_find_rows_and_find_duplicates_equal_their_twins(data):
    offsets, winners, losers, _, n_items, _ = data
    rows, lower, higher = index_pairs(winners, losers, n_items)
    found = both("find_rows", winners, losers, np.searchsorted(lower, np.arange(n_items + 1)), higher)
    np.testing.assert_array_equal(found, rows)
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


@given(data=users_and_items())
def test_sums_over_halves_equal_their_twins_and_halves_are_halves(data):
    offsets, winners, losers, weights, n_items, rng = data
    first = both("choose_half", offsets, rng.random(winners.size))
    taken = [int(first[b:e].sum()) for b, e in itertools.pairwise(offsets)]
    assert taken == [(e - b + 1) // 2 for b, e in itertools.pairwise(offsets)]
    rows, lower, _ = index_pairs(winners, losers, n_items)
    middles = offsets[:-1] + np.array(taken, np.int64)
    user_of, row_weights, begins, row_middles, ends = lay_out_by_row(offsets, middles, rows, weights, 2 * lower.size)
    both("count_shared_users", begins, row_middles, row_middles, ends, user_of, row_weights)
    both("sum_gathered", begins, ends, user_of, row_weights, rng.standard_normal((offsets.size - 1, 3)))
    both("sum_gathered", offsets[:-1], middles, rows, weights, rng.standard_normal((2 * lower.size, 1)))
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
    for function in (kernels.regress_on_simplex, twin_of("regress_on_simplex")):
        b = function(gram, targets, 1e-10, 5000)
        assert b.shape == (n_rows, n_vertices)
        assert (b >= 0).all()
        np.testing.assert_allclose(b.sum(axis=1), 1.0, atol=1e-12)
        objectives.append(((b @ vertices - points) ** 2).sum(axis=1))
    np.testing.assert_allclose(*objectives, atol=1e-6)


@given(data=users_and_items(), n_rankings=st.integers(1, 9), max_rounds=st.integers(0, 8))
def test_user_weights_equal_their_twin(data, n_rankings, max_rounds):
    offsets, winners, losers, weights, n_items, rng = data
    places = np.stack([rng.permutation(n_items) for _ in range(n_rankings)], axis=1).astype(np.int32)
    init = rng.dirichlet(np.ones(n_rankings), offsets.size - 1)
    prior = rng.uniform(0.01, 2.0, n_rankings)
    arguments = (offsets, winners, losers, weights, places, 0.03, prior, init, max_rounds, 1e-12)
    both("map_user_weights", *arguments)


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
