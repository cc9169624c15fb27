"""Items that rankings disagree about."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plurank import ParameterError
from plurank.metrics.rankings import most_divided_items

seeds = st.integers(0, 2**32 - 1)


def draw(seed, n_rankings, n_items):
    rng = np.random.default_rng(seed)
    return np.stack([rng.permutation(n_items) for _ in range(n_rankings)])


def test_the_item_that_moves_furthest_comes_first():
    found = most_divided_items([[0, 1, 2, 3], [1, 2, 3, 0]], n=2)
    assert found.items.tolist() == [0, 1]
    assert found.places.tolist() == [[1, 4], [2, 1]]


@given(seed=seeds, n_rankings=st.integers(1, 4), n_items=st.integers(1, 8), n=st.integers(0, 9))
def test_no_item_left_out_is_more_divided(seed, n_rankings, n_items, n):
    rankings = draw(seed, n_rankings, n_items)
    found = most_divided_items(rankings, n)
    # the plain way: look every item up in every ranking
    apart = {
        item: max(abs(list(a).index(item) - list(b).index(item)) for a, b in itertools.product(rankings, repeat=2))
        for item in range(n_items)
    }
    most = sorted((d for d in apart.values() if d > 0), reverse=True)[:n]
    assert [apart[item] for item in found.items.tolist()] == most
    for item, places in zip(found.items, found.places, strict=True):
        assert [order[place - 1] for order, place in zip(rankings, places, strict=True)] == [item] * n_rankings


@given(seed=seeds, n_rankings=st.integers(2, 4))
def test_the_order_of_rankings_does_not_matter(seed, n_rankings):
    rankings = draw(seed, n_rankings, 6)
    assert (most_divided_items(rankings).items == most_divided_items(rankings[::-1]).items).all()


def test_rankings_that_agree_divide_over_nothing():
    assert len(most_divided_items([[2, 0, 1]]).items) == 0
    assert len(most_divided_items([[2, 0, 1], [2, 0, 1]]).items) == 0


@pytest.mark.parametrize("rankings", [[], [0, 1], [[0, 0]], [[1, 2]], [["a", "b"]]])
def test_what_is_no_ranking_of_item_numbers_is_refused(rankings):
    with pytest.raises(ParameterError, match="item numbers, best first"):
        most_divided_items(rankings)
