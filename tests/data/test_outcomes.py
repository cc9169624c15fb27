"""Who won, where a row names two sides: the item, the side, a tie or a signed number."""

import polars as pl
import pytest

from plurank import Comparisons
from tests.data.refusals import read, refusal

SIDES = {
    "evalica": ("left", "right", "winner", ["left", "right", "tie"]),
    "arena": ("model_a", "model_b", "winner", ["model_a", "model_b", "both_bad"]),
    "older arena": ("model_a", "model_b", "winner", ["model_a", "model_b", "tie (bothbad)"]),
    "letters": ("item_a", "item_b", "winner", ["A", "B", "Draw"]),
    "crowd-kit": ("left", "right", "label", ["x", "z", "tie"]),
    "items": ("left", "right", "winner", ["x", "z", "equal"]),
    "solidago": ("entity_a", "entity_b", "comparison", [-3.5, 2, 0]),
    "solidago as text": ("entity_a", "entity_b", "comparison", ["-3.5", " 2", "0"]),
}


@pytest.mark.parametrize(("left", "right", "outcome", "said"), SIDES.values(), ids=SIDES)
def test_outcomes_are_read_as_each_tool_writes_them(left, right, outcome, said, triples):
    data = {"worker": ["u"] * 3, left: ["x", "y", "z"], right: ["y", "z", "x"], outcome: said}
    data = {name: pl.Series(values, strict=False) for name, values in data.items()}
    half = [("u", "x", "y", 1.0), ("u", "z", "y", 1.0), ("u", "z", "x", 0.5), ("u", "x", "z", 0.5)]
    assert triples(read(data)) == half
    assert triples(read(data, ties="drop")) == [("u", "x", "y"), ("u", "z", "y")]


def test_a_tie_is_half_a_win_each_way_and_keeps_its_weight(triples):
    data = {"user": ["u", "v"], "left": ["x", "x"], "right": ["y", "y"], "winner": ["tie", "left"], "weight": [3, 2]}
    assert triples(read(data)) == [("u", "x", "y", 1.5), ("u", "y", "x", 1.5), ("v", "x", "y", 2.0)]


def test_dropped_ties_leave_no_trace(assert_same):
    data = pl.DataFrame({"user": ["u", "v"], "left": ["x", "p"], "right": ["y", "q"], "winner": ["x", "tie"]})
    assert_same(Comparisons.from_frame(data, ties="drop"), Comparisons.from_frame(data[:1]))


def test_dropping_ties_where_there_are_none_changes_nothing(assert_same):
    data = {"user": ["u"], "left": ["x"], "right": ["y"], "winner": ["right"]}
    assert_same(read(data, ties="drop"), read(data))


def test_items_called_a_and_b_are_read_as_items_where_the_label_names_items(triples):
    data = {"worker": ["u", "u"], "left": ["b", "c"], "right": ["a", "b"], "label": ["a", "b"]}
    assert triples(read(data)) == [("u", "a", "b"), ("u", "b", "c")]


def test_items_called_a_and_b_are_read_as_items_where_other_rows_leave_no_doubt(triples):
    data = {"user": ["u", "u"], "left": ["b", "c"], "right": ["a", "b"], "winner": ["a", "c"]}
    assert triples(read(data)) == [("u", "a", "b"), ("u", "c", "b")]


def test_sides_are_read_as_sides_even_if_an_item_is_called_left(triples):
    data = {"user": ["u", "u"], "left": ["x", "left"], "right": ["y", "x"], "winner": ["left", "left"]}
    assert triples(read(data)) == [("u", "x", "y"), ("u", "left", "x")]


def test_an_item_called_tie_can_win(triples):
    data = {"user": ["u", "u"], "left": ["tie", "x"], "right": ["x", "y"], "label": ["tie", "tie"]}
    assert triples(read(data)) == [("u", "tie", "x", 1.0), ("u", "x", "y", 0.5), ("u", "y", "x", 0.5)]


def test_a_label_that_became_a_float_still_names_its_item(triples):
    data = {"worker": ["u", "u"], "left": [1, 2], "right": [3, 4], "label": [1.0, 4.0]}
    assert triples(read(data)) == [("u", 1, 3), ("u", 4, 2)]


def test_sides_and_outcome_can_be_named(triples):
    data = {"u": [1, 1], "first": ["x", "y"], "second": ["y", "z"], "verdict": ["second", "First"]}
    named = {"user": "u", "left": "first", "right": "second"}
    for role in ("outcome", "winner"):
        assert triples(read(data, columns={**named, role: "verdict"})) == [(1, "y", "x"), (1, "y", "z")]


def test_a_signed_number_can_be_named(triples):
    data = {"public_username": ["u"], "video_a": ["x"], "video_b": ["y"], "score": [-7]}
    named = {"user": "public_username", "left": "video_a", "right": "video_b", "comparison": "score"}
    assert triples(read(data, columns=named)) == [("u", "x", "y")]


def test_an_outcome_that_names_neither_side_is_refused():
    data = {"user": ["u"] * 3, "left": ["A"] * 3, "right": ["B"] * 3, "winner": ["A", "C", "D"]}
    assert refusal(data) == "row 2: winner 'C' is neither left ('A') nor right ('B'). Use one of them, or 'tie'."
    data["winner"] = ["left", "tie", "both"]
    assert refusal(data) == "row 3: winner 'both' is neither left ('A') nor right ('B'). Use one of them, or 'tie'."


def test_an_outcome_that_could_be_item_or_side_is_refused():
    data = {"user": ["u"], "left": ["b"], "right": ["a"], "winner": ["a"]}
    assert refusal(data) == (
        "row 1: winner 'a' could mean the item or the side. "
        "Name the column 'label' if it holds items, or rename the items."
    )


def test_outcomes_that_name_now_items_now_sides_are_refused():
    data = {"user": ["u"] * 3, "left": ["X"] * 3, "right": ["Y"] * 3, "winner": ["X", "Y", "right"]}
    assert refusal(data) == (
        "row 3: winner 'right' names a side where other rows name an item. Name items throughout, or sides."
    )
    data["winner"] = ["left", "Y", "right"]
    assert refusal(data) == (
        "row 2: winner 'Y' names an item where other rows name a side. Name sides throughout, or items."
    )


@pytest.mark.parametrize("said", ["left", "x", "tie"])
def test_an_item_against_itself_is_refused_with_the_row_it_stands_in(said):
    data = {"user": ["u"] * 3, "left": ["x", "y", "x"], "right": ["y", "z", "x"]}
    outcome = ["tie", "tie", said] if said != "x" else ["tie", "y", "x"]
    assert refusal({**data, "winner": outcome}) == ("row 3: an item is compared with itself ('x'). Drop such rows.")


def test_row_numbers_count_the_rows_of_the_data_also_where_ties_were_dropped():
    data = {"user": ["u"] * 3, "left": ["x", "y", "x"], "right": ["y", "z", "x"], "winner": ["tie", "left", "left"]}
    assert refusal(data, ties="drop").startswith("row 3: an item is compared with itself")
    data["right"] = ["y", "z", "w"]
    for ties in ("half", "drop"):
        assert refusal({**data, "weight": [1, 1, 0]}, ties=ties).startswith("row 3: the weight is not a positive")
        assert refusal({**data, "user": ["u", "u", None]}, ties=ties).startswith("row 3: user is missing")


def test_nothing_but_ties_is_refused_where_ties_are_dropped():
    data = {"user": ["u"], "left": ["x"], "right": ["y"], "winner": ["tie"]}
    assert refusal(data, ties="drop") == "every row is a tie, and ties='drop' leaves no comparison. Use ties='half'."


@pytest.mark.parametrize("column", ["left", "right", "winner"])
def test_a_missing_side_or_outcome_is_refused(column):
    data = {"user": ["u", "u"], "left": ["x", "x"], "right": ["y", "y"], "winner": ["tie", "left"], column: ["x", None]}
    assert refusal(data) == f"row 2: {column} is missing (empty, null or NaN). Fill it in or drop the row."


@pytest.mark.parametrize("said", ["much", "nan"])
def test_a_signed_comparison_that_is_no_number_is_refused(said):
    data = {"user": ["u", "u"], "entity_a": ["x", "x"], "entity_b": ["y", "y"], "comparison": ["1", said]}
    assert refusal(data) == (
        "row 2: comparison is not a number. Use negative for left, positive for right, 0 for a tie."
    )


def test_two_columns_that_say_who_won_are_refused():
    data = {"user": ["u"], "left": ["x"], "right": ["y"], "winner": ["left"], "comparison": [1]}
    assert refusal(data) == "'winner', 'comparison' could both say who won. Drop one of the columns."
