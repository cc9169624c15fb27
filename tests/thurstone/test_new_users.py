"""New users: what their answers say about utilities, and draws of them that agree with it."""

from dataclasses import replace

import numpy as np
import pytest

from plurank import Comparisons, Ratings
from plurank.data.rated import Rankings
from plurank.thurstone.blocks import Scale
from plurank.thurstone.comparisons import observe_certain
from plurank.thurstone.draws import Draw, as_thresholds, preference
from plurank.thurstone.exposure import Exposure
from plurank.thurstone.new_users import fold_in

Q, C = 6, 2
ITEMS = np.array(list("abcdef"), dtype=object)
SCALE = Scale(np.arange(C + 1, dtype=np.int32), np.array([-1.0, 0.0, 1.0]), np.ones(C + 1))
NO_EXPOSURE = Exposure.none(Q)
LARGEST_Z = 4.5


def make_draw(seed, chain=0):
    rng = np.random.default_rng(seed)
    return Draw(
        scores=rng.standard_normal((Q, 2)), item_factors=0.5 * rng.standard_normal((Q, 1)),
        weights=np.zeros((0, 2)), user_factors=np.zeros((0, 1)), cuts=np.zeros((0, C)),
        counts=np.array([1.2, 0.6]), cut_mean=np.array([-0.7, 0.3]), cut_precision=4.0 * np.eye(C),
        coefficients=np.zeros((0, 1)), chain=chain,
    )  # fmt: skip


DRAWS = [make_draw(seed, chain) for chain in (0, 1) for seed in (1, 2)]


def compare(*rows, n_users=None, rated=None):
    """Comparisons of users 0, 1, ...: rows of user, winner, loser."""
    rows = sorted(rows, key=lambda row: row[0])
    users, *sides = zip(*rows, strict=True) if rows else ((), (), ())
    n = n_users or max(users) + 1
    winners, losers = (np.array([ITEMS.tolist().index(item) for item in side], np.int32) for side in sides)
    offsets = np.append(0, np.cumsum(np.bincount(users, minlength=n))).astype(np.int64)
    return Comparisons(winners, losers, offsets, ITEMS, np.arange(n), rated=rated)


def decode(observed):
    """Say what was observed as a sorted list of user, winner, loser; every comparison must be there from both sides."""
    won, lost = [], []
    for user, (begin, end) in enumerate(zip(observed.offsets[:-1], observed.offsets[1:], strict=True)):
        for entry in range(begin, end):
            for link in observed.links[observed.link_offsets[entry] : observed.link_offsets[entry + 1]]:
                other = begin + abs(int(link)) - 1
                assert begin <= other < end
                pair = (entry, other) if link > 0 else (other, entry)
                names = tuple(str(ITEMS[observed.codes[e]]) for e in pair)
                (won if link > 0 else lost).append((user, *names))
    assert sorted(won) == sorted(lost)
    return sorted(won)


def chance(said, left, right, row=0, rated=False, draws=DRAWS):
    users = fold_in(draws, said, SCALE, NO_EXPOSURE)
    sides = (np.array([ITEMS.tolist().index(item)], np.int32) for item in (left, right))
    return float(preference(draws, users, np.array([row], np.int32), *sides, rated=rated)[0])


@pytest.mark.parametrize("rated", [False, True])
def test_answers_that_contradict_each_other_are_left_out_and_others_kept(rated):
    said = compare(
        (0, "a", "b"), (0, "b", "a"), (0, "b", "c"),  # a pair both ways
        (1, "a", "b"), (1, "b", "c"), (1, "c", "a"), (1, "a", "d"),  # a circle
        (2, "a", "b"), (2, "b", "c"), (2, "a", "c"),  # an order
        (3, "f", "e"), (3, "f", "e"), (3, "f", "e"),  # the same thrice
    )  # fmt: skip
    observed = observe_certain(said, rated=rated)
    assert observed.kind == ("compared ratings" if rated else "compared")
    expected = [(0, "b", "c"), (1, "a", "d"), (2, "a", "b"), (2, "a", "c"), (2, "b", "c"), (3, "f", "e")]
    assert decode(observed) == expected


def test_an_answer_and_its_opposite_given_several_times_say_nothing():
    said = compare((0, "a", "b"), (0, "a", "b"), (0, "a", "b"), (0, "b", "a"))
    observed = observe_certain(said)
    assert decode(observed) == []
    assert len(observed.links) == 0


def test_users_with_and_without_answers_keep_their_places():
    said = compare((1, "a", "b"), (3, "c", "d"), n_users=5)
    observed = observe_certain(said)
    np.testing.assert_array_equal(observed.offsets, [0, 0, 2, 2, 4, 4])
    assert decode(observed) == [(1, "a", "b"), (3, "c", "d")]


@pytest.mark.parametrize("rated", [None, False, True])
def test_whoever_prefers_one_item_to_another_is_predicted_to(rated):
    for better, worse in (("a", "f"), ("f", "a")):
        said = compare((0, better, worse), rated=rated)
        assert chance(said, better, worse) > 0.9
        assert chance(said, worse, better) < 0.1


def test_whoever_rates_or_ranks_one_item_above_another_is_predicted_to():
    for better, worse in (("b", "e"), ("e", "b")):
        codes = np.array([ITEMS.tolist().index(item) for item in (worse, better)], np.int32)
        parts = np.array([0, 2]), codes, np.array([0, 2], np.int32), ITEMS, np.arange(1)
        assert chance(Ratings(*parts, SCALE.values), better, worse, rated=True) > 0.9
        assert chance(Rankings(*parts, np.empty(0)), better, worse) > 0.9


def test_draws_agree_with_every_comparison_and_with_thresholds_between_ratings():
    said = compare((0, "a", "b"), (0, "b", "c"), (1, "f", "a"), (1, "f", "b"), rated=True)
    for users in fold_in(DRAWS, said, SCALE, NO_EXPOSURE):
        own = dict(zip(users.keys.tolist(), users.own.tolist(), strict=True))
        thresholds = as_thresholds(users.cuts)
        for user, winner, loser in said.to_frame().rows():
            high, low = (own[user * Q + ITEMS.tolist().index(item)] for item in (winner, loser))
            assert low < high
            assert np.searchsorted(thresholds[user], low) < np.searchsorted(thresholds[user], high)


@pytest.mark.parametrize("others", [[], [(1, "b", "a")]])
def test_more_steps_than_the_scale_has_are_taken_as_plain_comparisons(others):
    steps = [(0, one, other) for one, other in zip("abcde", "bcdef", strict=True)]
    said = compare(*steps, *others)
    found = fold_in(DRAWS, said, SCALE, NO_EXPOSURE)
    assert len(found) == len(DRAWS)
    for users in found:
        assert users.weights.shape == (said.n_users, 2)
        np.testing.assert_allclose(users.weights.sum(axis=1), 1.0)
        assert (np.diff(users.own[:Q]) < 0).all()  # keys are sorted: a, b, ..., f
        np.testing.assert_array_equal(users.keys[:Q], np.arange(Q))
    assert chance(said, "a", "f") > 0.9
    if others:
        assert chance(said, "b", "a", row=1) > 0.9


def test_users_without_answers_are_drawn_from_the_prior():
    nobody, draw = compare(n_users=600), make_draw(1)
    (users,) = fold_in([draw], nobody, SCALE, NO_EXPOSURE)
    mean, total = draw.mean_weights, draw.counts.sum()
    variance = mean * (1.0 - mean) / (total + 1.0)
    expected = {
        "weights": (users.weights, mean), "their squares": (users.weights**2, variance + mean**2),
        "factors": (users.factors, 0.0), "squares of factors": (users.factors**2, 1.0),
        "cuts": (users.cuts, draw.cut_mean), "squares of cuts": ((users.cuts - draw.cut_mean) ** 2, 0.25),
    }  # fmt: skip
    for name, (found, wanted) in expected.items():
        z = (found.mean(axis=0) - wanted) / (found.std(axis=0) / np.sqrt(len(found)))
        assert np.abs(z).max() < LARGEST_Z, name


def test_the_same_answers_give_the_same_draws_and_another_seed_others():
    said = compare((0, "a", "b"), (0, "c", "b"))
    one, again = (fold_in(DRAWS, said, SCALE, NO_EXPOSURE) for _ in range(2))
    other = fold_in(DRAWS, said, SCALE, NO_EXPOSURE, seed=1)
    for n in range(len(DRAWS)):
        np.testing.assert_array_equal(one[n].weights, again[n].weights)
        assert (one[n].weights != other[n].weights).all()


def test_models_of_rankings_know_no_thresholds_to_put_between_items():
    draws = [
        replace(draw, cuts=np.zeros((0, 0)), cut_mean=np.zeros(0), cut_precision=np.zeros((0, 0))) for draw in DRAWS
    ]
    none = Scale(np.zeros(0, np.int32), np.zeros(0), np.zeros(0))
    found = fold_in(draws, compare((0, "a", "b")), none, NO_EXPOSURE)
    assert all(users.cuts.shape == (1, 0) for users in found)
    assert all(users.own[0] > users.own[1] for users in found)
