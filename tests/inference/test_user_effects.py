"""What people's own answers say beyond the rankings they follow."""

import numpy as np
import pytest
from scipy.special import expit

from plurank import Comparisons
from plurank.inference.user_effects import (
    HeldOutEffects,
    UserEffects,
    check_scale,
    choose_scale,
    find_user_effects,
    log_odds,
)

N_ITEMS = 12


def ask(people: np.ndarray, n: int, seed: int) -> Comparisons:
    """Ask people with utilities (M, Q) n random comparisons each."""
    rng = np.random.default_rng(seed)
    users = np.repeat(np.arange(len(people)), n)
    first = rng.integers(N_ITEMS, size=len(users))
    second = (first + 1 + rng.integers(N_ITEMS - 1, size=len(users))) % N_ITEMS
    wins = rng.random(len(users)) < expit(people[users, first] - people[users, second])
    sides = np.where(wins, first, second), np.where(wins, second, first)
    return Comparisons.from_arrays(users, *sides, items=np.arange(N_ITEMS))


def by_shared(shared: np.ndarray, c: Comparisons) -> np.ndarray:
    return expit(shared[c.winners] - shared[c.losers])


@pytest.fixture(scope="module")
def shared() -> np.ndarray:
    return np.random.default_rng(0).standard_normal(N_ITEMS)


def crowd(shared: np.ndarray, scale: float, n_people: int = 300) -> np.ndarray:
    return shared + scale * np.random.default_rng(1).standard_normal((n_people, N_ITEMS))


def test_user_effects_are_where_the_posterior_is_flat(shared):
    asked = ask(crowd(shared, 1.0, 5), 20, 0)
    found = find_user_effects(asked, by_shared(shared, asked), 0.7)
    values = np.zeros((5, N_ITEMS))
    values.ravel()[found.keys] = found.values
    users = asked.user_of_each()
    misses = expit(
        -(shared[asked.winners] - shared[asked.losers] + values[users, asked.winners] - values[users, asked.losers])
    )
    slope = -values / 0.7**2
    np.add.at(slope, (users, asked.winners), misses)
    np.add.at(slope, (users, asked.losers), -misses)
    np.testing.assert_allclose(slope, 0.0, atol=1e-6)


def test_who_wins_against_the_odds_is_liked_and_who_was_not_compared_is_as_before():
    asked = Comparisons.from_arrays([0, 0], [3, 3], [1, 2], items=np.arange(N_ITEMS))
    found = find_user_effects(asked, np.array([0.2, 0.5]), 1.0)
    own, errors = found.table(1.0)
    assert own[3] > 0 > own[2] > own[1]
    assert errors[3] < errors[1] < 1.0  # what was asked more often is known better
    assert not own[4:].any()
    assert (errors[4:] == 1.0).all()
    rows = np.zeros(2, np.int32)
    left, right = np.array([3, 4], np.int32), np.array([1, 5], np.int32)
    shifted = found.shift(np.array([0.2, 0.3]), rows, left, right)
    assert shifted[0] > 0.2
    assert shifted[1] == pytest.approx(0.3)


def test_answers_in_two_parts_say_about_what_they_say_at_once(shared):
    """The first part counts as a Gaussian around each effect by itself."""
    asked = ask(crowd(shared, 1.0, 40), 40, 0)
    at_once = find_user_effects(asked, by_shared(shared, asked), 1.0)
    early = np.random.default_rng(2).random(len(asked)) < 0.5
    parts = [asked.select(chosen) for chosen in (early, ~early)]
    assert all(part.n_users == 40 for part in parts)
    first = find_user_effects(parts[0], by_shared(shared, parts[0]), 1.0)
    second = find_user_effects(parts[1], by_shared(shared, parts[1]), 1.0, first)
    both = first.replace(second)
    np.testing.assert_array_equal(both.keys, at_once.keys)
    first_alone = np.zeros(len(at_once.keys))
    first_alone[np.isin(at_once.keys, first.keys)] = first.values
    assert np.abs(both.values - at_once.values).mean() < 0.5 * np.abs(first_alone - at_once.values).mean()


def test_effects_are_found_again_under_other_numbers():
    effects = UserEffects(3, np.array([0, 2, 4]), np.array([0.5, -1.0, 2.0]), np.ones(3))
    moved = effects.renumber(np.array([2, 0]), 5)
    np.testing.assert_array_equal(
        moved.find(np.array([2, 2, 0, 0, -1]), np.array([0, 2, 1, 0, 1]))[0], [0.5, -1, 2, 0, 0]
    )
    left_out = effects.renumber(np.array([-1, 0]), 3)
    np.testing.assert_array_equal(left_out.table(1.0)[0], [0.0, 2.0, 0.0])
    np.testing.assert_array_equal(effects.of_user(1).table(1.0)[0], [0.0, 2.0, 0.0])


def test_weights_count_as_repeats(shared):
    once = Comparisons.from_arrays([0, 0], [0, 2], [1, 1], weights=[3.0, 1.0], items=np.arange(N_ITEMS))
    often = Comparisons.from_arrays([0] * 4, [0, 0, 0, 2], [1] * 4, items=np.arange(N_ITEMS))
    first, second = (find_user_effects(c, by_shared(shared, c), 1.0) for c in (once, often))
    np.testing.assert_allclose(first.values, second.values, atol=1e-6)
    np.testing.assert_allclose(first.errors, second.errors, atol=1e-6)


def test_people_are_apart(shared):
    asked = ask(crowd(shared, 1.0, 3), 20, 0)
    together = find_user_effects(asked, by_shared(shared, asked), 1.0)
    alone = asked.block(1, 2)
    np.testing.assert_allclose(
        find_user_effects(alone, by_shared(shared, alone), 1.0).values,
        together.values[together.keys // N_ITEMS == 1],
        atol=1e-5,
    )


@pytest.mark.parametrize(("scale", "least", "most"), [(0.0, None, None), (1.0, 0.5, 2.0), (4.0, 2.0, 8.0)])
def test_the_spread_is_found_that_people_have(shared, scale, least, most):
    people = crowd(shared, scale)
    asked, test = ask(people, 30, 0), ask(people, 10, 1)
    chances = by_shared(shared, asked), by_shared(shared, test)
    users = test.user_of_each()
    found = choose_scale([HeldOutEffects(asked, chances[0], test, users, users, chances[1])])
    assert found is None if least is None else least <= found <= most


def test_probabilities_of_one_have_finite_odds():
    assert np.isfinite(log_odds(np.array([0.0, 1.0]))).all()


def test_files_may_say_none_or_a_positive_number():
    for value in (None, 0.5, 2):
        check_scale(value)
    for value in (0.0, -1.0, np.inf, np.nan, "much", True):
        with pytest.raises(ValueError, match="a scale of user effects is not positive"):
            check_scale(value)
