"""Pairs that were compared are numbered in order."""

import numpy as np
import pytest

from plurank.data.encoding import index_pairs


@pytest.mark.parametrize("n_items", [2, 3, 255, 256, 257, 400, 100_000])  # with a table of all pairs, and without
@pytest.mark.parametrize("n", [0, 1, 300])
def test_pairs_are_numbered_as_numpy_sorts_them(n_items, n, rng):
    winners = rng.integers(0, n_items, n).astype(np.int32)
    losers = ((winners + rng.integers(1, n_items, n)) % n_items).astype(np.int32)
    winners, losers = np.concatenate([winners, losers, winners]), np.concatenate([losers, winners, losers])
    rows, lower, higher = index_pairs(winners, losers, n_items)
    keys = np.minimum(winners, losers).astype(np.int64) * n_items + np.maximum(winners, losers)
    pairs, number = np.unique(keys, return_inverse=True)
    np.testing.assert_array_equal(lower.astype(np.int64) * n_items + higher, pairs)
    np.testing.assert_array_equal(rows, 2 * number + (winners > losers))
    assert {rows.dtype, lower.dtype, higher.dtype} == {np.dtype(np.int32)}
