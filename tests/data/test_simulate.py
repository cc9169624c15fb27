"""The paper's generative model, and what can be said about known rankings."""

from itertools import permutations

import numpy as np
import pytest

import plurank
from plurank import (
    DataError,
    ParameterError,
    is_separable,
    novel_pairs,
    simulate,
)
from plurank.data import simulate as synthetic

SMALL = {"n_users": 50, "n_items": 6, "n_rankings": 3, "comparisons_per_user": 8}


def test_shapes_are_those_asked_for():
    s = simulate(n_users=7, n_items=5, n_rankings=2, comparisons_per_user=3, random_state=0)
    assert (s.comparisons.n_users, s.comparisons.n_items, len(s.comparisons)) == (7, 5, 21)
    assert s.rankings.shape == (2, 5)
    assert s.user_weights.shape == (7, 2)
    assert s.mean_weights.shape == (2,)
    assert s.comparisons.items.tolist() == list(range(5))
    assert s.comparisons.users.tolist() == list(range(7))
    assert s.comparisons.weights is None


def test_a_seed_gives_the_same_answer_twice(assert_same):
    once, again, other = (simulate(**SMALL, random_state=seed) for seed in (5, np.random.default_rng(5), 6))
    assert_same(once.comparisons, again.comparisons)
    for name in ("rankings", "user_weights", "mean_weights"):
        np.testing.assert_array_equal(getattr(once, name), getattr(again, name))
        assert not np.array_equal(getattr(once, name), getattr(other, name))


@pytest.mark.parametrize("block", [1, 7, 50, 10_000])
@pytest.mark.parametrize("given", [False, True])
def test_the_size_of_blocks_does_not_matter(block, given, assert_same, monkeypatch):
    table = np.ones((6, 6)) - np.eye(6) if given else None
    whole = simulate(**SMALL, random_state=5, pair_probabilities=table)
    monkeypatch.setattr(synthetic, "USERS_PER_BLOCK", block)
    parts = simulate(**SMALL, random_state=5, pair_probabilities=table)
    assert_same(parts.comparisons, whole.comparisons)
    np.testing.assert_array_equal(parts.user_weights, whole.user_weights)


def test_users_may_have_different_numbers_of_comparisons():
    s = simulate(n_users=3, n_items=4, n_rankings=2, comparisons_per_user=[1, 5, 2], random_state=0)
    assert s.comparisons.offsets.tolist() == [0, 1, 6, 8]


def test_rankings_given_are_those_used():
    rankings = [[2, 0, 1], [1, 0, 2]]
    s = simulate(n_users=40, rankings=rankings, comparisons_per_user=20, concentration=0, random_state=0)
    assert s.rankings.tolist() == rankings
    places = np.argsort(rankings, axis=1)
    followed = s.user_weights.argmax(axis=1)[s.comparisons.user_of_each()]
    assert (places[followed, s.comparisons.winners] < places[followed, s.comparisons.losers]).all()


def test_rankings_drawn_are_permutations_and_all_of_them_occur():
    s = simulate(n_users=1, n_items=3, n_rankings=300, comparisons_per_user=1, random_state=0)
    # six permutations, 300 draws: that one is absent has a chance below 6 (5/6)^300 < 1e-22
    assert {tuple(row) for row in s.rankings.tolist()} == set(permutations(range(3)))


def test_labels_given_are_those_of_the_items():
    s = simulate(n_users=2, n_items=3, n_rankings=1, comparisons_per_user=2, items=["z", "a", "m"], random_state=0)
    assert s.comparisons.items.tolist() == ["z", "a", "m"]
    assert set(s.comparisons.to_frame()["winner"]) <= {"z", "a", "m"}


def test_mean_weights_by_default_are_uniform_on_the_simplex():
    means = np.array([simulate(**{**SMALL, "n_users": 1}, random_state=seed).mean_weights for seed in range(400)])
    np.testing.assert_allclose(means.sum(axis=1), 1)
    # Dirichlet(1, 1, 1): mean 1/3, variance 1/18, P(first < x) = 1 - (1 - x)^2; bounds of five standard errors
    assert np.abs(means.mean(axis=0) - 1 / 3).max() < 5 * np.sqrt(1 / 18 / 400)
    assert abs((means[:, 0] < 0.25).mean() - (1 - 0.75**2)) < 5 * 0.5 / np.sqrt(400)


def test_user_weights_have_the_mean_and_the_spread_of_their_dirichlet():
    mean, concentration, n = np.array([0.6, 0.3, 0.1]), 2.0, 20_000
    s = simulate(n_users=n, n_items=4, n_rankings=3, comparisons_per_user=1, concentration=concentration,
                 mean_weights=mean, random_state=0)  # fmt: skip
    variance = mean * (1 - mean) / (concentration + 1)
    assert (np.abs(s.user_weights.mean(axis=0) - mean) < 5 * np.sqrt(variance / n)).all()
    # the variance of a bounded sample: its standard error is below 1 / sqrt(n)
    assert (np.abs(s.user_weights.var(axis=0) - variance) < 5 / np.sqrt(n)).all()
    np.testing.assert_allclose(s.mean_weights, mean)


@pytest.mark.parametrize("concentration", [0, 1e-320, 1e-300, 1e-100, 1e-12, 1e-6, 1e-3, 0.1, 10, 1e6, 1e300])
@pytest.mark.parametrize("mean", [None, [1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [1e-9, 0.5, 0.5 - 1e-9]])
def test_no_concentration_gives_nan(concentration, mean):
    s = simulate(**{**SMALL, "n_users": 500}, concentration=concentration, mean_weights=mean, random_state=0)
    assert np.isfinite(s.user_weights).all()
    assert (s.user_weights >= 0).all()
    np.testing.assert_allclose(s.user_weights.sum(axis=1), 1)


@pytest.mark.parametrize("concentration", [0, 1e-320, 1e-12, 1e-6])
def test_tiny_concentrations_give_each_user_one_ranking_as_often_as_the_mean_says(concentration):
    n, mean = 10_000, np.array([0.7, 0.2, 0.1])
    s = simulate(n_users=n, n_items=3, n_rankings=3, comparisons_per_user=1, concentration=concentration,
                 mean_weights=mean, random_state=0)  # fmt: skip
    largest = s.user_weights.max(axis=1)
    # with 1e-6 a user between two rankings has a chance of about 1e-6 times a logarithm
    assert (largest > 1 - 1e-9).mean() > 0.999
    if concentration < 1e-9:
        assert set(np.unique(s.user_weights)) == {0.0, 1.0}
    shares = np.bincount(s.user_weights.argmax(axis=1), minlength=3) / n
    assert (np.abs(shares - mean) < 5 * np.sqrt(mean * (1 - mean) / n)).all()


def test_pairs_are_uniform_by_default():
    s = simulate(n_users=1000, n_items=4, n_rankings=2, comparisons_per_user=60, random_state=0)
    low = np.minimum(s.comparisons.winners, s.comparisons.losers)
    counts = np.bincount(4 * low + np.maximum(s.comparisons.winners, s.comparisons.losers), minlength=16)
    counts = counts[counts > 0]
    # six pairs, 60,000 draws: 10,000 each with a standard deviation of 91
    assert len(counts) == 6
    assert np.abs(counts - 10_000).max() < 5 * 91.3


def test_pairs_follow_the_probabilities_given():
    table = np.zeros((4, 4))
    table[0, 1] = table[1, 0] = 3
    table[2, 3] = table[3, 2] = 1
    s = simulate(
        n_users=100, n_items=4, n_rankings=2, comparisons_per_user=100, pair_probabilities=table, random_state=0
    )
    low, high = (
        np.minimum(s.comparisons.winners, s.comparisons.losers),
        np.maximum(s.comparisons.winners, s.comparisons.losers),
    )
    assert set(zip(low.tolist(), high.tolist(), strict=True)) == {(0, 1), (2, 3)}
    # 10,000 draws with chance 3/4: five standard deviations are 0.022
    assert abs((low == 0).mean() - 0.75) < 0.022


def test_the_probability_of_a_comparison_is_the_mixture_of_rankings():
    rankings, mean = np.array([[0, 1, 2], [2, 1, 0], [1, 0, 2]]), np.array([0.5, 0.3, 0.2])
    s = simulate(n_users=2000, rankings=rankings, comparisons_per_user=30, concentration=1, mean_weights=mean,
                 random_state=0)  # fmt: skip
    c, places = s.comparisons, np.argsort(rankings, axis=1)
    for i, j in ((0, 1), (1, 2), (0, 2)):
        won, lost = ((c.winners == a) & (c.losers == b) for a, b in ((i, j), (j, i)))
        weights = s.user_weights[c.user_of_each()[won | lost]]
        expected = weights @ (places[:, i] < places[:, j])
        # given the weights, comparisons are independent
        deviation = np.sqrt((expected * (1 - expected)).sum())
        assert abs(won.sum() - expected.sum()) < 5 * deviation


def test_zero_mean_weights_are_rankings_nobody_follows():
    s = simulate(**{**SMALL, "n_users": 2000}, mean_weights=[0.5, 0.5, 0], concentration=0.1, random_state=0)
    assert (s.user_weights[:, 2] == 0).all()


# novel pairs


def test_novel_pairs_are_those_that_one_ranking_alone_puts_in_this_order():
    rankings = np.array([[0, 1, 2, 3], [1, 0, 3, 2], [3, 2, 1, 0]])
    places = np.argsort(rankings, axis=1)
    for k, pairs in enumerate(novel_pairs(rankings)):
        expected = [
            [i, j]
            for i in range(4)
            for j in range(4)
            if [p[i] < p[j] for p in places].count(True) == 1 and places[k, i] < places[k, j]
        ]
        assert pairs.tolist() == expected
        assert pairs.shape == (len(expected), 2)


def test_one_ranking_has_all_its_pairs_for_itself():
    (pairs,) = novel_pairs([[2, 0, 1]])
    assert sorted(map(tuple, pairs.tolist())) == [(0, 1), (2, 0), (2, 1)]


def test_separable_means_that_every_ranking_has_a_novel_pair():
    assert is_separable([[0, 1, 2], [2, 1, 0]])
    assert not is_separable([[0, 1, 2], [0, 1, 2]])
    # what the third ranking says, one of the others says as well
    assert not is_separable([[0, 1, 2], [2, 1, 0], [1, 0, 2], [0, 2, 1]])
    assert [len(pairs) for pairs in novel_pairs([[0, 1, 2], [0, 1, 2]])] == [0, 0]


# what is refused


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_users": 0}, "n_users must be an integer >= 1, got 0."),
        ({"n_users": 2.0}, "n_users must be an integer >= 1, got 2.0."),
        ({"n_users": None}, "n_users must be an integer >= 1, got None."),
        ({"n_users": float("nan")}, "n_users must be an integer >= 1, got nan."),
        ({"n_users": True}, "n_users must be an integer >= 1, got True."),
        ({"n_users": 10**30}, "n_users must be at most 2,147,483,647, got a larger number."),
        ({"n_items": 10**400}, "n_items must be at most 2,147,483,647, got a larger number."),
        (
            {"comparisons_per_user": 10**30},
            "comparisons_per_user must be at most 2,147,483,647, got a larger number.",
        ),
        ({"n_items": 1}, "n_items must be an integer >= 2, got 1."),
        ({"n_items": "ten"}, "n_items must be an integer >= 2, got 'ten'."),
        ({"n_rankings": 0}, "n_rankings must be an integer >= 1, got 0."),
        ({"concentration": -1}, "concentration must be a number >= 0, got -1."),
        ({"concentration": float("inf")}, "concentration must be a number >= 0, got inf."),
        ({"concentration": "low"}, "concentration must be a number >= 0, got 'low'."),
        ({"comparisons_per_user": "many"}, "comparisons_per_user must be an array of numbers, got 'many'."),
    ],
)
def test_sizes_that_make_no_sense_are_refused(options, sentence):
    with pytest.raises(ParameterError) as caught:
        simulate(**{**SMALL, **options})
    assert str(caught.value) == sentence


@pytest.mark.parametrize("counts", [0, 1.5, [1, 2], [[1]], [1] * 49 + [0]])
def test_numbers_of_comparisons_that_make_no_sense_are_refused(counts):
    with pytest.raises(ParameterError) as caught:
        simulate(**{**SMALL, "comparisons_per_user": counts})
    assert str(caught.value).startswith("comparisons_per_user must be an integer >= 1, or one for each user, got ")


@pytest.mark.parametrize("mean", [[1], [0.5, 0.5, 0.5], [-0.5, 1, 0.5], [[1, 0, 0]]])
def test_mean_weights_off_the_simplex_are_refused(mean):
    with pytest.raises(ParameterError, match=r"^mean_weights must be 3 numbers >= 0 that sum to 1, got \["):
        simulate(**SMALL, mean_weights=mean)


@pytest.mark.parametrize("mean", [["a", "b", "c"], [1, [2], 3], [1j, 0, 0]])
def test_mean_weights_that_are_no_numbers_are_refused(mean):
    with pytest.raises(ParameterError, match=r"^mean_weights must be an array of numbers, got \["):
        simulate(**SMALL, mean_weights=mean)


def test_nan_is_refused_everywhere():
    with pytest.raises(ParameterError, match=r"^mean_weights must be finite numbers, got NaN or infinity"):
        simulate(**SMALL, mean_weights=[float("nan"), 0.5, 0.5])
    with pytest.raises(ParameterError, match=r"^pair_probabilities must be finite numbers, got NaN or infinity"):
        simulate(**SMALL, pair_probabilities=np.full((6, 6), np.inf))


@pytest.mark.parametrize("table", [np.ones((6, 6)), np.ones((2, 2)), np.triu(np.ones((6, 6)), 1), np.eye(6) - 1])
def test_pair_probabilities_that_are_none_are_refused(table):
    with pytest.raises(ParameterError) as caught:
        simulate(**SMALL, pair_probabilities=table)
    assert str(caught.value) == (
        "pair_probabilities must be a symmetric (6, 6) table of numbers >= 0 with zeros on the diagonal."
    )


@pytest.mark.parametrize("value", [0, 1e308])
def test_pair_probabilities_without_a_sum_are_refused(value):
    with np.errstate(over="ignore"), pytest.raises(ParameterError) as caught:
        simulate(**SMALL, pair_probabilities=value * (np.ones((6, 6)) - np.eye(6)))
    assert str(caught.value) == "pair_probabilities must be numbers with a positive, finite sum."


@pytest.mark.parametrize("rankings", [[[0, 0]], [0, 1], [], [[]], [[1, 2]], [[0, 0.5]]])
def test_rankings_that_are_no_permutations_are_refused(rankings):
    for use in (novel_pairs, is_separable, lambda given: simulate(rankings=given)):
        with pytest.raises(
            ParameterError, match=r"^rankings must be an array \(n_rankings, n_items\), each row a perm"
        ):
            use(rankings)


@pytest.mark.parametrize("rankings", [[["x", "y"]], [[0, 1], [0]], None, "ab", [[0, None]]])
def test_rankings_that_are_no_numbers_are_refused(rankings):
    with pytest.raises(ParameterError, match=r"^rankings must (be an array of|be finite) numbers"):
        novel_pairs(rankings)


@pytest.mark.parametrize("items", [["a"], ["a"] * 6, ["a", "b", "c", "d", "e", None]])
def test_labels_that_do_not_name_the_items_are_refused(items):
    with pytest.raises(ParameterError, match=r"^items must be 6 different labels, got "):
        simulate(**SMALL, items=items)


def test_labels_that_cannot_be_labels_are_refused():
    with pytest.raises(DataError, match=r"^ids must be hashable"):
        simulate(**SMALL, items=[[1], [2], [3], [4], [5], [6]])
    with pytest.raises(DataError, match=r"^items must be a column, got 6"):
        simulate(**SMALL, items=6)


def test_simulated_comparisons_come_back_through_a_frame(assert_same):
    c = simulate(**SMALL, random_state=0).comparisons
    assert_same(plurank.Comparisons.from_frame(c.to_frame(), items=c.items), c)
