"""Rankings compared with rankings."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plurank import (
    ParameterError,
    align,
    kendall_tau,
    ranking_error,
)
from plurank.metrics.rankings import kendall_distances
from tests.oracles.plain_algorithms import plain_distances

seeds = st.integers(0, 2**32 - 1)
FRUIT = np.array(["apple", "pear", "plum", "fig", "kiwi", "🥝"], dtype=object)


def draw(seed, n_rankings, n_items=6):
    rng = np.random.default_rng(seed)
    return [np.stack([rng.permutation(n_items) for _ in range(n_rankings)]) for _ in range(2)]


@given(seed=seeds, n_rankings=st.integers(1, 4), n_items=st.integers(2, 6))
def test_the_error_is_the_least_mean_distance_over_all_ways_to_match(seed, n_rankings, n_items):
    estimated, truth = draw(seed, n_rankings, n_items)
    best = min(
        np.mean([plain_distances(estimated[k], truth[at]) for at, k in enumerate(order)])
        for order in itertools.permutations(range(n_rankings))
    )
    assert ranking_error(estimated, truth) == pytest.approx(best)


@given(seed=seeds, n_rankings=st.integers(1, 4))
def test_the_order_of_rankings_does_not_matter_and_align_finds_it(seed, n_rankings):
    truth = np.unique(draw(seed, n_rankings)[0], axis=0)
    order = np.random.default_rng(seed).permutation(len(truth))
    assert ranking_error(truth[order], truth) == 0
    np.testing.assert_array_equal(truth[order][align(truth[order], truth)], truth)


@given(seed=seeds)
def test_labels_and_numbers_give_the_same_error(seed):
    estimated, truth = draw(seed, 3)
    assert ranking_error(FRUIT[estimated], FRUIT[truth]) == ranking_error(estimated, truth)
    assert ranking_error(FRUIT[estimated].tolist(), FRUIT[truth].tolist()) == ranking_error(estimated, truth)


@given(seed=seeds)
def test_the_distance_is_the_l1_distance_of_the_columns_of_sigma_over_their_length(seed):
    # the paper: |sigma - sigma'|_1 / W
    (first, *_), (second, *_) = draw(seed, 1)
    pairs = list(itertools.permutations(range(6), 2))
    columns = [np.array([list(r).index(i) < list(r).index(j) for i, j in pairs]) for r in (first, second)]
    assert kendall_distances([first], [second])[0, 0] == pytest.approx((columns[0] != columns[1]).mean())


@given(seed=seeds)
def test_kendalls_tau_is_one_minus_twice_the_distance(seed):
    (first, *_), (second, *_) = draw(seed, 1)
    assert kendall_tau(first, second) == pytest.approx(1 - 2 * plain_distances(first, second))


def test_equal_rankings_are_exactly_equal_and_reversed_ones_exactly_opposite():
    # a fixed bug: 1 - tau left 5e-17
    for n in (2, 3, 10, 77):
        forward, backward = np.arange(n), np.arange(n)[::-1]
        assert kendall_tau(forward, forward) == 1.0
        assert kendall_tau(forward, backward) == -1.0
        assert ranking_error([forward], [forward]) == 0.0
        assert ranking_error([forward], [backward]) == 1.0


def test_a_ranking_of_one_item_is_right():
    assert kendall_tau(["a"], ["a"]) == 1.0
    assert ranking_error([["a"]], [["a"]]) == 0.0


@pytest.mark.parametrize(
    ("estimated", "truth"),
    [
        ([[0, 1, 2]], [[0, 1, 3]]),
        ([[0, 1, 2]], [[0, 1]]),
        ([[0, 1, 1]], [[0, 1, 2]]),
        ([["a", "b"]], [[0, 1]]),
        ([], [[0, 1]]),
        ([], []),
    ],
)
def test_rankings_of_different_items_are_refused(estimated, truth):
    with pytest.raises(ParameterError, match=r"rankings must be of the same items|as many rankings"):
        ranking_error(estimated, truth)


def test_different_numbers_of_rankings_are_refused_with_both_numbers():
    with pytest.raises(ParameterError, match=r"as in the truth \(2\), got 1"):
        ranking_error([[0, 1]], [[0, 1], [1, 0]])
