"""Data-quality problems are found and described."""

import json

import numpy as np
import pytest

from plurank import Comparisons
from plurank.data.diagnostics import diagnose


@pytest.fixture(scope="module")
def healthy():
    """Two users who go round in a circle, one each way."""
    return Comparisons.from_arrays(["a"] * 3 + ["b"] * 3, list("xyzyzx"), list("yzxxyz"))


def test_healthy_data_have_no_problems(healthy):
    report = healthy.diagnose()
    assert report.problems == []
    assert report.is_connected
    assert str(report) == ("2 users, 3 items, 6 comparisons (3 each)\n- no problems found.")


def test_counts_are_those_of_the_data(small):
    report = small.diagnose()
    assert (report.n_users, report.n_items, report.n_comparisons) == (3, 4, 5)
    assert (report.min_per_user, report.median_per_user, report.max_per_user) == (1, 2.0, 2)


def test_users_with_fewer_than_two_comparisons_are_counted(small):
    assert small.diagnose().n_users_with_fewer_than_two == 1
    assert small.diagnose().problems[0] == (
        "1 of 3 users made fewer than two comparisons: that does not help to tell rankings apart."
    )


def test_items_nobody_compared_are_named():
    c = Comparisons.from_arrays([1, 1, 1, 1], list("xyyx"), list("yxxy"), items=["q", "p"])
    report = c.diagnose()
    assert report.uncompared_items == ["p", "q"]
    assert "2 items ('p', 'q') were never compared: any place in a ranking is a guess." in report.problems
    assert report.item_groups == [["x", "y"]]


def test_items_that_differ_only_in_spaces_are_named():
    c = Comparisons.from_arrays([1, 1, 1, 1], ["tea", "cola ", "tea ", "milk"], ["cola", "tea", "milk", "tea"])
    report = c.diagnose()
    assert report.alike_items == ["cola", "cola ", "tea", "tea "]
    assert report.problems[0] == (
        "4 items ('cola', 'cola ', 'tea', 'tea ') differ only in spaces around them: are they the same?"
    )


def test_items_of_several_kinds_are_not_taken_for_alike():
    assert Comparisons.from_arrays([1, 1], [7, "7"], ["7", 7]).diagnose().alike_items == []


def test_disconnected_groups_are_found_largest_first():
    winners, losers = list("ab" + "xyz" + "q"), list("ba" + "yzx" + "r")
    report = Comparisons.from_arrays([1] * 6, winners, losers).diagnose()
    assert report.item_groups == [["x", "y", "z"], ["a", "b"], ["q", "r"]]
    assert not report.is_connected
    assert (
        "the items fall into 3 groups that are never compared with each other (of 3, 2, 2 items): "
        "the order of the groups is a guess." in report.problems
    )


def test_undefeated_and_winless_items_are_named():
    report = Comparisons.from_arrays([1, 1, 1], list("xyx"), list("yzz")).diagnose()
    assert (report.undefeated_items, report.winless_items) == (["x"], ["z"])
    assert report.problems == [
        "item 'x' was never beaten: how far above the others is a guess.",
        "item 'z' was never preferred: how far below the others is a guess.",
    ]


def test_long_lists_are_cut():
    report = Comparisons.from_arrays([1] * 7, range(7), [99] * 7).diagnose()
    assert "7 items (0, 1, 2, 3, 4, ...) were never beaten: how far above the others is a guess." in report.problems


def test_duplicates_are_comparisons_a_user_made_before():
    c = Comparisons.from_arrays(list("aaabb"), list("xxyxx"), list("yyxyz"))
    assert c.diagnose().n_duplicates == 1
    assert c.diagnose().problems[-1] == (
        "1 comparison repeats an earlier one of the same user: fine if people were asked again, "
        "wrong if rows were copied."
    )


def test_one_user_with_one_pair_is_examined():
    report = Comparisons.from_arrays([1], ["x"], ["y"]).diagnose()
    assert (report.n_users, report.undefeated_items, report.winless_items) == (1, ["x"], ["y"])


def test_the_report_can_be_written_as_json(small):
    report = small.diagnose().to_dict()
    assert json.loads(json.dumps(report)) == report
    assert report["problems"] == small.diagnose().problems
    assert report["is_connected"] is True


def test_groups_equal_those_of_a_slow_search(rng):
    for _ in range(20):
        winners = rng.integers(0, 30, 18)
        losers = (winners + rng.integers(1, 30, 18)) % 30
        report = Comparisons.from_arrays(np.zeros(18, int), winners, losers, items=range(30)).diagnose()
        group_of = {i: {i} for i in {*winners.tolist(), *losers.tolist()}}
        for i, j in zip(winners.tolist(), losers.tolist(), strict=True):
            merged = group_of[i] | group_of[j]
            group_of.update(dict.fromkeys(merged, merged))
        expected = {tuple(sorted(group)) for group in group_of.values()}
        assert {tuple(group) for group in report.item_groups} == expected
        assert [len(group) for group in report.item_groups] == sorted(map(len, expected), reverse=True)
        assert report.uncompared_items == sorted(set(range(30)) - group_of.keys())


def test_many_users_are_examined_in_linear_time():
    users = np.repeat(np.arange(100_000), 2)
    items = np.arange(200_000) % 3000
    report = Comparisons.from_arrays(users, items, (items + 1) % 3000).diagnose()
    assert report.is_connected
    assert report.problems == []


def test_comparisons_are_diagnosed_once(monkeypatch):
    votes, calls = Comparisons.from_arrays(["u", "u"], ["a", "b"], ["b", "c"]), []
    monkeypatch.setattr("plurank.data.comparisons.diagnose", lambda c: calls.append(c) or diagnose(c))
    assert votes.summary()["problems"] == votes.diagnose().problems == votes.summary()["problems"]
    assert len(calls) == 1
    assert votes[:1].diagnose().n_comparisons == 1
