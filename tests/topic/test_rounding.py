"""Algorithm 4, and the total orders made of what it gives."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from plurank.metrics.rankings import places_of
from plurank.topic.orders import ranking_matrix
from plurank.topic.rounding import count_intransitive, round_to_rankings
from tests.oracles.exact_moments import plain_ranking_matrix
from tests.oracles.plain_algorithms import plain_circles

LOWER, HIGHER = (x.astype(np.int32) for x in np.triu_indices(5, 1))
seeds = st.integers(0, 2**32 - 1)


def draw_rankings(seed, n_items=5, n_rankings=3):
    rng = np.random.default_rng(seed)
    return np.stack([rng.permutation(n_items) for _ in range(n_rankings)]), rng


@given(seed=seeds)
def test_the_ranking_matrix_has_a_one_where_a_ranking_puts_the_first_item_before_the_second(seed):
    rankings, _ = draw_rankings(seed)
    np.testing.assert_array_equal(
        ranking_matrix(rankings, LOWER, HIGHER), plain_ranking_matrix(rankings, LOWER, HIGHER)
    )
    places = places_of(rankings)
    assert all(rankings[k, places[i, k]] == i for i in range(5) for k in range(3))


@given(seed=seeds)
def test_a_matrix_of_true_rankings_comes_back_as_these_rankings(seed):
    rankings, rng = draw_rankings(seed)
    scale = np.repeat(rng.uniform(0.1, 1.0, 10), 2)[:, None] * rng.uniform(0.1, 1.0, 3)
    rounded = round_to_rankings(scale * ranking_matrix(rankings, LOWER, HIGHER), LOWER, HIGHER, 5)
    np.testing.assert_array_equal(rounded.rankings, rankings)
    assert rounded.n_intransitive.tolist() == [0, 0, 0]


@given(seed=seeds)
def test_noise_below_one_half_changes_nothing(seed):
    # the appendix: the estimate is right where the error of every entry is below mu a / 2
    rankings, rng = draw_rankings(seed)
    noisy = ranking_matrix(rankings, LOWER, HIGHER) + rng.uniform(-0.499, 0.499, (20, 3))
    np.testing.assert_array_equal(round_to_rankings(noisy, LOWER, HIGHER, 5).rankings, rankings)


@given(seed=seeds)
def test_rankings_are_permutations_whatever_the_matrix(seed):
    matrix = np.random.default_rng(seed).choice([0.0, 0.5, 1.0], (20, 3))
    rounded = round_to_rankings(matrix, LOWER, HIGHER, 5)
    assert np.sort(rounded.rankings, axis=1).tolist() == [list(range(5))] * 3
    assert (rounded.n_intransitive >= 0).all()


def test_exact_halves_favour_the_item_that_comes_first_in_both_rows():
    rounded = round_to_rankings(np.full((20, 1), 0.3), LOWER, HIGHER, 5)
    assert rounded.wins.all()
    assert rounded.rankings.tolist() == [[0, 1, 2, 3, 4]]


@given(seed=seeds, n_pairs=st.integers(0, 10))
def test_circles_are_counted_as_by_going_through_all_triples(seed, n_pairs):
    rng = np.random.default_rng(seed)
    pairs = np.sort(rng.permutation(10)[:n_pairs])
    wins, ranking = rng.random(n_pairs) < 0.5, rng.permutation(5)
    listed = list(zip(LOWER[pairs].tolist(), HIGHER[pairs].tolist(), strict=True))
    expected = plain_circles(wins, listed, ranking.tolist())
    assert count_intransitive(wins, LOWER[pairs], HIGHER[pairs], ranking) == expected


def test_a_circle_of_three_is_one_circle():
    lower, higher = np.array([0, 0, 1], np.int32), np.array([1, 2, 2], np.int32)
    matrix = np.array([[1.0, 0, 0, 1, 1, 0]]).T  # 0 over 1, 2 over 0, 1 over 2
    assert round_to_rankings(matrix, lower, higher, 3).n_intransitive.tolist() == [1]


def test_an_item_without_comparisons_stands_between_winners_and_losers():
    lower, higher = np.array([0], np.int32), np.array([2], np.int32)
    assert round_to_rankings(np.array([[0.0], [1.0]]), lower, higher, 3).rankings.tolist() == [[2, 1, 0]]


@given(seed=seeds)
def test_more_wins_come_first(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.random((20, 1))
    rounded = round_to_rankings(matrix, LOWER, HIGHER, 5)
    won = np.zeros(5)
    for p, (i, j) in enumerate(itertools.combinations(range(5), 2)):
        won[i if matrix[2 * p, 0] >= matrix[2 * p + 1, 0] else j] += 1
    assert (np.diff(won[rounded.rankings[0]]) <= 0).all()
