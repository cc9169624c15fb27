"""The container: compact, in user order, never changed again."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

from plurank import Comparisons, DataError, ParameterError


def test_users_are_contiguous_and_keep_the_order_of_their_rows(small):
    assert small.users.tolist() == ["a", "b", "c"]
    assert small.items.tolist() == ["w", "x", "y", "z"]
    assert small.offsets.tolist() == [0, 2, 3, 5]
    assert small.items[small.winners].tolist() == ["x", "y", "y", "z", "z"]
    assert small.items[small.losers].tolist() == ["y", "z", "x", "x", "w"]
    assert small.user_of_each().tolist() == [0, 0, 1, 2, 2]


def test_a_comparison_takes_about_eight_bytes():
    n = 1000
    c = Comparisons.from_arrays(np.zeros(n, int), np.arange(n), np.arange(n) + 1)
    assert c.winners.dtype == c.losers.dtype == np.int32
    assert c.weights is None
    assert c.winners.nbytes + c.losers.nbytes + c.offsets.nbytes == 8 * n + 16


def test_length_and_counts(small):
    assert (len(small), small.n_users, small.n_items) == (5, 3, 4)


def test_repr_tells_users_items_comparisons_and_how_many_per_user(small, easy):
    assert repr(small) == ("<Comparisons: 3 users, 4 items, 5 comparisons (1 to 2 each, median 2), total weight 6.5>")
    assert repr(easy.comparisons) == "<Comparisons: 800 users, 10 items, 40,000 comparisons (50 each)>"
    assert repr(Comparisons.from_arrays([1], ["x"], ["y"])) == ("<Comparisons: 1 user, 2 items, 1 comparison (1 each)>")
    assert "median 1.5" in repr(Comparisons.from_arrays([1, 2, 2], ["x"] * 3, ["y", "y", "z"]))


def test_nothing_of_it_can_be_changed(small):
    with pytest.raises(dataclasses.FrozenInstanceError):
        small.winners = small.losers
    for name in ("winners", "losers", "offsets", "items", "users", "weights"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(small, name)[0] = 0


def test_arrays_given_to_it_stay_writable():
    winners, losers = np.array([0], np.int32), np.array([1], np.int32)
    Comparisons(winners, losers, np.array([0, 1]), np.array([5, 6]), np.array([7]))
    winners[0] = 1
    assert winners.tolist() == [1]


def test_later_changes_of_the_arrays_do_not_reach_it():
    users, winners, losers, weights = np.array([1, 2]), np.array([3, 4]), np.array([4, 3]), np.array([1.0, 2.0])
    c = Comparisons.from_arrays(users, winners, losers, weights)
    before = c.to_frame()
    users[:], winners[:], losers[:], weights[:] = 9, 9, 9, 9
    assert c.to_frame().equals(before)


def test_it_can_be_pickled_and_copied(small, assert_same):
    assert_same(pickle.loads(pickle.dumps(small)), small)
    assert_same(copy.deepcopy(small), small)


def test_the_frame_has_weights_only_where_there_are_any(small):
    assert small.to_frame().columns == ["user", "winner", "loser", "weight"]
    assert small.block(0, 2).to_frame()["weight"].to_list() == [1, 1, 1]
    assert Comparisons.from_arrays([1], ["x"], ["y"]).to_frame().columns == ["user", "winner", "loser"]


def test_weights_that_are_all_one_are_no_weights(assert_same):
    plain = Comparisons.from_arrays([1, 2], ["x", "y"], ["y", "x"])
    assert_same(Comparisons.from_arrays([1, 2], ["x", "y"], ["y", "x"], weights=[1, 1.0]), plain)
    assert plain.kernel_weights.size == 0


def test_weights_follow_their_rows_into_user_order():
    c = Comparisons.from_arrays(["b", "a", "b"], [1, 1, 2], [2, 2, 3], weights=[10, 20, 30])
    assert c.to_frame().rows() == [("a", 1, 2, 20.0), ("b", 1, 2, 10.0), ("b", 2, 3, 30.0)]
    assert c.kernel_weights.tolist() == [20.0, 10.0, 30.0]


@pytest.mark.parametrize("weights", [[2, 3], (2, 3.0), ["2", " 3"], np.array([2, 3], np.int8), (w for w in (2, 3))])
def test_weights_may_be_any_column_of_numbers(weights):
    assert Comparisons.from_arrays([1, 1], [1, 2], [2, 3], weights).weights.tolist() == [2.0, 3.0]


def test_listed_items_count_even_if_nobody_compared_them():
    c = Comparisons.from_arrays([1], ["x"], ["y"], items=["a", "y", "z"])
    assert c.items.tolist() == ["a", "x", "y", "z"]
    assert c.to_frame().rows() == [(1, "x", "y")]


def test_a_block_is_a_part_of_the_users_with_all_items(small, triples):
    block = small.block(1, 3)
    assert block.users.tolist() == ["b", "c"]
    assert block.items.tolist() == small.items.tolist()
    assert triples(block) == triples(small)[2:]
    assert np.shares_memory(block.winners, small.winners)
    assert len(small.block(1, 1)) == 0
    assert "none" in repr(small.block(1, 1))


def test_select_drops_users_without_comparisons_but_no_items(small, triples):
    kept = small.select(np.array([True, False, False, False, True]))
    assert kept.users.tolist() == ["a", "c"]
    assert kept.n_items == 4
    assert triples(kept) == [("a", "x", "y", 1.0), ("c", "z", "w", 2.5)]


def test_a_split_by_comparison_holds_out_the_share_asked_for(easy):
    train, test = easy.comparisons.split(test_size=0.25, random_state=3)
    assert (len(train), len(test)) == (30_000, 10_000)
    assert train.n_items == test.n_items == 10


def test_a_split_by_user_keeps_every_user_whole(easy):
    train, test = easy.comparisons.split(test_size=0.1, by="user", random_state=3)
    assert (train.n_users, test.n_users) == (720, 80)
    assert not set(train.users.tolist()) & set(test.users.tolist())
    assert set(np.diff(test.offsets)) == {50}


def test_the_same_seed_splits_the_same_way(small, assert_same):
    for by in ("comparison", "user"):
        once, again = (small.split(0.4, by, random_state=7) for _ in range(2))
        assert_same(once[0], again[0])
        assert_same(once[1], again[1])
    seeds = {tuple(small.split(0.4, random_state=seed)[1].winners) for seed in range(20)}
    assert len(seeds) > 1


@pytest.mark.parametrize("test_size", [0, 1, -0.5, 2, float("nan"), None, "half", True])
def test_a_test_size_that_is_no_share_is_refused(small, test_size):
    with pytest.raises(ParameterError) as caught:
        small.split(test_size)
    assert str(caught.value) == f"test_size must be a number between 0 and 1, got {test_size!r}."


@pytest.mark.parametrize("by", ["items", None, ["user"]])
def test_an_unknown_way_to_split_is_refused(small, by):
    with pytest.raises(ParameterError) as caught:
        small.split(by=by)
    assert str(caught.value) == f"by must be one of 'comparison', 'item', 'user', got {by!r}."


def test_a_split_with_an_empty_side_is_refused():
    one = Comparisons.from_arrays([1, 1], ["x", "y"], ["y", "z"])
    with pytest.raises(DataError) as caught:
        one.split(by="user")
    assert str(caught.value) == (
        "cannot hold out 0.2 of 1 user by user: one side would be empty. Use more data or another test_size."
    )
