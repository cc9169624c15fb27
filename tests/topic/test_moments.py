"""The moment operators against matrices written out."""

import functools
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plurank import Comparisons, DataError
from plurank.data.encoding import index_pairs
from plurank.engine.local import LocalEngine
from plurank.topic.moments import PairBlocks, PairOperator, Unit, pair_moments
from plurank.topic.pair_blocks import PairIndex, informative
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


@given(seed=seeds, n_blocks=st.integers(1, 12))
def test_the_blocks_add_up_to_the_whole(seed, n_blocks):
    rng = np.random.default_rng(seed)
    c = draw_comparisons(rng, n_users=12, weighted=bool(seed % 2))
    whole = pair_moments(c, 7)
    edges = np.linspace(0, 12, n_blocks + 1).astype(int)
    company = informative(c)
    before = np.append(0, np.cumsum(np.diff(c.offsets) * company))
    units = [Unit(int(b), int(e), int(before[b])) for b, e in itertools.pairwise(edges)]
    pieces = PairOperator(PairBlocks(c, whole.index, 7, units), LocalEngine())
    directions, rows = rng.standard_normal((len(whole.counts), 3)), np.arange(len(whole.counts))
    for name, arguments in (("product", directions), ("columns", rows), ("cooccurrence", directions)):
        found = [getattr(each, name)(arguments) for each in (pieces, whole)]
        np.testing.assert_allclose(*found, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(pieces.counts, whole.counts)
    np.testing.assert_allclose(pieces.diagonal(), whole.diagonal(), atol=1e-12)


@given(seed=seeds, cuts=st.lists(st.integers(0, 12), max_size=5))
def test_merged_indices_list_the_pairs_of_all(seed, cuts):
    c = draw_comparisons(np.random.default_rng(seed), n_users=12)
    parts = [PairIndex.of(c.block(b, e)) for b, e in itertools.pairwise([0, *sorted(cuts), 12])]
    merged, whole = functools.reduce(PairIndex.merge, parts), PairIndex.of(c)
    np.testing.assert_array_equal(merged.lower, whole.lower)
    np.testing.assert_array_equal(merged.higher, whole.higher)
    np.testing.assert_array_equal(whole.rows(c), index_pairs(c.winners, c.losers, c.n_items)[0])


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
