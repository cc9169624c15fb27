"""Committees against all that could have been chosen."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plurank.inference import questions as committee
from plurank.inference.questions import (
    GREEDY,
    GREEDY_WITH_COSTS,
    choose_committee,
    pack_rows,
)


def served(marks, items):
    return int(marks[:, list(items)].any(axis=1).sum())


def best_of_all(marks, size, costs=None, budget=np.inf):
    n_items = marks.shape[1]
    costs = np.zeros(n_items) if costs is None else costs
    return max(
        served(marks, items)
        for n in range(1, size + 1)
        for items in combinations(range(n_items), n)
        if costs[list(items)].sum() <= budget
    )


cases = st.tuples(st.integers(1, 70), st.integers(2, 7), st.integers(1, 4), st.integers(0, 2**32 - 1))


@given(cases)
def test_small_cases_are_solved_exactly(case):
    n_rows, n_items, size, seed = case
    marks = np.random.default_rng(seed).random((n_rows, n_items)) < 0.3
    choice = choose_committee(pack_rows(marks), size, None, None)
    assert choice.guarantee == 1.0
    assert len(set(choice.items)) == min(size, n_items)
    assert served(marks, choice.items) == best_of_all(marks, min(size, n_items))


@given(cases)
def test_costs_stay_within_the_budget_and_the_best_is_found(case):
    n_rows, n_items, size, seed = case
    rng = np.random.default_rng(seed)
    marks, costs = rng.random((n_rows, n_items)) < 0.3, rng.integers(1, 9, n_items).astype(float)
    budget = float(rng.integers(costs.min(), 20))
    choice = choose_committee(pack_rows(marks), size, costs, budget)
    assert costs[choice.items].sum() <= budget
    assert served(marks, choice.items) == best_of_all(marks, min(size, n_items), costs, budget)


@given(cases)
def test_greedy_committees_serve_as_many_as_is_promised(case):
    n_rows, n_items, size, seed = case
    rng = np.random.default_rng(seed)
    marks, costs = rng.random((n_rows, n_items)) < 0.3, rng.integers(1, 9, n_items).astype(float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(committee, "MOST_WORK", 0)
        plain = choose_committee(pack_rows(marks), size, None, None)
        dear = choose_committee(pack_rows(marks), size, costs, 12.0)
    assert plain.guarantee in (GREEDY, 1.0)
    assert served(marks, plain.items) >= plain.guarantee * best_of_all(marks, min(size, n_items))
    assert costs[dear.items].sum() <= 12.0
    if size >= n_items:  # the promise is for a budget alone
        assert dear.guarantee in (GREEDY_WITH_COSTS, 1.0)
        assert served(marks, dear.items) >= dear.guarantee * best_of_all(marks, n_items, costs, 12.0)


def test_an_exchange_mends_what_greed_got_wrong(monkeypatch):
    monkeypatch.setattr(committee, "MOST_WORK", 0)
    # the first item serves most alone, but the other two serve everybody
    marks = np.zeros((8, 3), dtype=bool)
    marks[:4, 0] = marks[4:, 1] = True
    marks[1:6, 2] = True
    assert sorted(choose_committee(pack_rows(marks), 2, None, None).items) == [0, 1]


def test_items_that_serve_nobody_more_are_the_ones_most_people_like():
    marks = np.zeros((10, 4), dtype=bool)
    marks[:, 0] = marks[:7, 2] = marks[:3, 1] = True
    assert choose_committee(pack_rows(marks), 2, None, None).items == [0, 2]


def test_nothing_is_bought_that_serves_nobody_and_rounding_spoils_no_budget(monkeypatch):
    marks = np.zeros((9, 6), dtype=bool)
    marks[:3, 0] = marks[3:6, 1] = marks[6:, 2] = True
    assert sorted(choose_committee(pack_rows(marks), 6, np.full(6, 0.1), 0.3).items) == [0, 1, 2]
    monkeypatch.setattr(committee, "MOST_WORK", 0)
    assert sorted(choose_committee(pack_rows(marks), 6, np.full(6, 0.1), 9.0).items) == [0, 1, 2]


def test_cheap_items_that_serve_few_do_not_crowd_out_the_others(monkeypatch):
    monkeypatch.setattr(committee, "MOST_WORK", 0)
    marks = np.zeros((1000, 20), dtype=bool)
    for n in range(10):
        marks[90 * n : 90 * n + 90, n] = True  # dear, and serve many
        marks[900 + n, 10 + n] = True  # cheap, and serve one
    costs = np.repeat([1.0, 1e-4], 10)
    choice = choose_committee(pack_rows(marks), 5, costs, 100.0)
    assert served(marks, choice.items) == 450
    assert choice.guarantee == 0.0  # nothing is promised where both number and costs are limited
