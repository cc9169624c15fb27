"""The moment operators against matrices written out."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plurank import Comparisons, DataError
from plurank.statistics.pair_moments import PairMoments, pair_moments
from tests.oracles.dense_moments import DenseMoments
from tests.oracles.small_data import build, draw_comparisons, relabelled, repeated, reversed_all, weighted

seeds = st.integers(0, 2**32 - 1)


def both(seed, **how):
    rng = np.random.default_rng(seed)
    c = draw_comparisons(rng, **how)
    return pair_moments(c, seed % 1000), DenseMoments(c, seed % 1000), rng


@given(seed=seeds, is_weighted=st.booleans(), n_items=st.integers(2, 6), most=st.integers(2, 9))
def test_the_operators_equal_the_matrices_written_out(seed, is_weighted, n_items, most):
    fast, dense, rng = both(seed, weighted=is_weighted, n_items=n_items, most=most)
    directions = rng.standard_normal((dense.n_rows, 3))
    rows = rng.integers(0, dense.n_rows, 4)
    np.testing.assert_array_equal(fast.lower, dense.lower)
    np.testing.assert_array_equal(fast.higher, dense.higher)
    np.testing.assert_allclose(fast.counts, dense.counts)
    np.testing.assert_allclose(fast.product(directions), dense.E @ directions, atol=1e-9)
    np.testing.assert_allclose(fast.columns(rows), ((dense.E + dense.E.T) / 2)[:, rows], atol=1e-9)
    np.testing.assert_allclose(fast.diagonal(), np.diagonal(dense.E), atol=1e-9)


@given(seed=seeds, n_items=st.integers(2, 6), most=st.integers(2, 9))
def test_cooccurrence_equals_the_products_of_all_pairs_of_comparisons(seed, n_items, most):
    fast, dense, rng = both(seed, n_items=n_items, most=most)
    directions = rng.standard_normal((dense.n_rows, 3))
    np.testing.assert_allclose(fast.cooccurrence(directions), dense.F @ directions, atol=1e-9)


@given(seed=seeds)
def test_cooccurrence_with_weights_equals_the_products_of_all_pairs_of_comparisons(seed):
    # where each user's weights are alike, so that scaling by the total is the same as scaling by n - self / n
    rng = np.random.default_rng(seed)
    c = draw_comparisons(rng)
    each = np.where(np.diff(c.offsets) > 1, rng.choice([0.25, 1.0, 1.5, 2.0, 4.0], c.n_users), 0.5)
    c = weighted(c, np.repeat(each, np.diff(c.offsets)))
    fast, dense = pair_moments(c, 0), DenseMoments(c, 0)
    directions = rng.standard_normal((dense.n_rows, 3))
    np.testing.assert_allclose(fast.cooccurrence(directions), dense.F @ directions, atol=1e-9)


@given(seed=seeds)
def test_the_total_of_f_is_the_weight_of_the_users_who_compared_more_than_once(seed):
    c = draw_comparisons(np.random.default_rng(seed), weighted=True)
    moments = pair_moments(c, 0)
    informative = np.repeat(np.diff(c.offsets) >= 2, np.diff(c.offsets))
    total = c.weights[informative].sum()
    assert moments.counts.sum() == pytest.approx(total)
    assert moments.cooccurrence(np.ones((len(moments.counts), 1))).sum() == pytest.approx(total)


@given(seed=seeds)
def test_the_rows_of_f_sum_to_the_counts(seed):
    moments = pair_moments(draw_comparisons(np.random.default_rng(seed)), 0)
    np.testing.assert_allclose(moments.cooccurrence(np.ones((len(moments.counts), 1)))[:, 0], moments.counts)


@given(seed=seeds)
def test_e_and_f_are_means_over_the_ways_to_split(seed):
    # with two comparisons a user, E's numerator of one split is half of the products F has
    rng = np.random.default_rng(seed)
    winners = rng.integers(0, 4, 20)
    c = build(np.repeat(np.arange(10), 2), winners, (winners + rng.integers(1, 4, 20)) % 4, None, np.arange(4))
    dense = DenseMoments(c, 0)
    one_split = dense.X_b @ dense.X_a.T
    np.testing.assert_allclose(one_split + one_split.T, dense.F)
    np.testing.assert_allclose(pair_moments(c, 0).cooccurrence(np.eye(dense.n_rows)), dense.F, atol=1e-12)


@given(seed=seeds)
def test_weight_two_counts_like_the_row_twice(seed):
    rng = np.random.default_rng(seed)
    c = draw_comparisons(rng, most=5)
    times = np.where(np.repeat(np.diff(c.offsets) > 1, np.diff(c.offsets)), rng.integers(1, 4, len(c)), 1)
    assert_same_f(pair_moments(weighted(c, times), 0), pair_moments(repeated(c, times), 0), rng)


def test_a_users_only_comparison_counts_like_two_when_it_weighs_two(rng):
    c = draw_comparisons(rng)
    times = np.ones(len(c), int)
    times[0] = 2  # the first user has no other comparison
    assert_same_f(pair_moments(weighted(c, times), 0), pair_moments(repeated(c, times), 0), rng)


def assert_same_f(one, other, rng):
    np.testing.assert_array_equal(one.lower, other.lower)
    np.testing.assert_array_equal(one.higher, other.higher)
    np.testing.assert_allclose(one.counts, other.counts)
    directions = rng.standard_normal((len(one.counts), 2))
    np.testing.assert_allclose(one.cooccurrence(directions), other.cooccurrence(directions), atol=1e-9)


@given(seed=seeds, cuts=st.lists(st.integers(0, 12), max_size=5))
def test_merged_parts_equal_the_whole_bit_by_bit(seed, cuts):
    rng = np.random.default_rng(seed)
    c = draw_comparisons(rng, n_users=12, weighted=bool(seed % 2))
    edges = [0, *sorted(cuts), 12]
    parts = [PairMoments(c.n_items, 7).add(c.block(b, e)) for b, e in itertools.pairwise(edges)]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    pieces, whole = merged.finish(), PairMoments(c.n_items, 7).add(c).finish()
    assert_same_bits(pieces, whole, rng)


def assert_same_bits(one, other, rng):
    directions = rng.standard_normal((len(one.counts), 3))
    rows = np.arange(len(one.counts))
    for name, arguments in (("product", directions), ("columns", rows), ("cooccurrence", directions)):
        np.testing.assert_array_equal(getattr(one, name)(arguments), getattr(other, name)(arguments), err_msg=name)
    np.testing.assert_array_equal(one.counts, other.counts)
    np.testing.assert_array_equal(one.diagonal(), other.diagonal())
    guesses = [m.guess_range(2, rng=np.random.default_rng(1)) for m in (one, other)]
    np.testing.assert_array_equal(*guesses)


@pytest.mark.parametrize("n_blocks", [2, 7, 1000])
def test_the_number_of_blocks_changes_no_bit(n_blocks, easy, rng):
    assert_same_bits(pair_moments(easy.comparisons, 3, 1), pair_moments(easy.comparisons, 3, n_blocks), rng)


def test_a_block_without_weights_joins_one_with_weights(rng):
    c = draw_comparisons(rng, n_users=6)
    parts = [c.block(0, 3), weighted(c.block(3, 6), np.full(len(c.block(3, 6)), 0.5))]
    moments = PairMoments(c.n_items, 0).add(parts[0]).add(parts[1]).finish()
    n_informative = [np.diff(part.offsets)[np.diff(part.offsets) > 1].sum() for part in parts]
    assert moments.counts.sum() == n_informative[0] + 0.5 * n_informative[1]


@given(seed=seeds)
def test_relabelling_items_permutes_counts_and_f(seed):
    rng = np.random.default_rng(seed)
    c = draw_comparisons(rng)
    permutation = rng.permutation(c.n_items)
    here, there = pair_moments(c, 0), pair_moments(relabelled(c, permutation), 0)
    place = {pair: at for at, pair in enumerate(zip(there.lower.tolist(), there.higher.tolist(), strict=True))}
    to = []
    for i, j in zip(permutation[here.lower].tolist(), permutation[here.higher].tolist(), strict=True):
        row = 2 * place[min(i, j), max(i, j)] + (i > j)
        to += [row, row ^ 1]
    np.testing.assert_array_equal(here.counts, there.counts[to])
    eye = np.eye(len(to))
    np.testing.assert_allclose(here.cooccurrence(eye), there.cooccurrence(eye)[np.ix_(to, to)], atol=1e-12)


@given(seed=seeds)
def test_reversing_every_comparison_swaps_the_two_rows_of_every_pair(seed):
    c = draw_comparisons(np.random.default_rng(seed), weighted=bool(seed % 2))
    here, there = pair_moments(c, 0), pair_moments(reversed_all(c), 0)
    swap = np.arange(len(here.counts)) ^ 1
    eye = np.eye(len(swap))
    np.testing.assert_allclose(here.counts, there.counts[swap])
    np.testing.assert_allclose(here.cooccurrence(eye), there.cooccurrence(eye)[np.ix_(swap, swap)], atol=1e-9)
    np.testing.assert_allclose(here.product(eye), there.product(eye)[np.ix_(swap, swap)], atol=1e-9)


@pytest.mark.parametrize("n_directions", [1, 2, 5])
def test_guessed_directions_are_one_column_a_direction(n_directions, easy):
    moments = pair_moments(easy.comparisons, 0)
    guess = moments.guess_range(n_directions, rng=np.random.default_rng(0))
    assert guess.shape == (len(moments.counts), n_directions)
    assert np.isfinite(guess).all()


def test_guessed_directions_hold_the_leading_eigenvectors_of_f(easy):
    moments = pair_moments(easy.comparisons, 0)
    scale = 1.0 / np.sqrt(np.maximum(moments.counts, 1.0))[:, None]
    whitened = scale * moments.cooccurrence(np.eye(len(scale)) * scale)
    leading = np.linalg.eigh((whitened + whitened.T) / 2)[1][:, -3:-1]  # the last is the trivial one
    directions = scale * moments.guess_range(6, rng=np.random.default_rng(0))
    guess, _ = np.linalg.qr(np.column_stack([np.sqrt(moments.counts), directions]))
    # a random plane of 7 dimensions would hold a share of 7 / 90
    assert (np.linalg.norm(guess.T @ leading, axis=0) ** 2 > 0.9).all()


def test_users_of_one_comparison_alone_are_refused():
    c = Comparisons.from_arrays([1, 2, 3], ["a", "b", "a"], ["b", "a", "b"])
    with pytest.raises(DataError, match="two or more comparisons"):
        pair_moments(c, 0)
