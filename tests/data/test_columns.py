"""Column names and outcomes of other tools, and what is refused with which sentence."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from plurank import Comparisons, DataError, ParameterError


def read(data, **options):
    return Comparisons.from_frame(pl.DataFrame(data), **options)


def refusal(data, **options):
    with pytest.raises(DataError) as caught:
        read(data, **options)
    assert type(caught.value) is DataError
    return str(caught.value)


USERS = ["user", "user_id", "userId", "worker", "assessor", "voter", "judge", "annotator", "participant", "respondent"]


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(
    ("winner", "loser"),
    [("winner", "loser"), ("top_item", "bottom_item"), ("chosen", "rejected"), ("Winner", " LOSER ")],
)
def test_winner_and_loser_are_found_under_the_names_of_other_tools(user, winner, loser, frame, triples):
    renamed = frame.rename({"user": user, "winner": winner, "loser": loser})
    assert triples(Comparisons.from_frame(renamed)) == [("a", "x", "y"), ("a", "y", "z"), ("b", "y", "x")]


@pytest.mark.parametrize("weight", ["weight", "weights", "Weight"])
def test_weights_are_found_too(weight, frame):
    c = Comparisons.from_frame(frame.with_columns(pl.Series(weight, [1, 2, 3])))
    assert c.to_frame()["weight"].to_list() == [1, 3, 2]


def test_columns_can_be_named(frame, triples):
    odd = frame.rename({"user": "who", "winner": "yes", "loser": "no"}).with_columns(times=pl.Series([1, 2, 1]))
    named = {"user": "who", "winner": "yes", "loser": "no", "weight": "times"}
    c = Comparisons.from_frame(odd, columns=named)
    assert triples(c) == [("a", "x", "y", 1), ("a", "y", "z", 1), ("b", "y", "x", 2)]


def test_a_named_column_wins_over_a_known_name(frame, triples):
    both = frame.with_columns(group=pl.lit("everybody"))
    assert {row[0] for row in triples(Comparisons.from_frame(both, columns={"user": "group"}))} == {"everybody"}


def test_columns_of_pandas_may_be_named_by_numbers(triples):
    c = Comparisons.from_frame(pd.DataFrame([["u", "x", "y"]]), columns={"user": 0, "winner": 1, "loser": 2})
    assert triples(c) == [("u", "x", "y")]


def test_our_own_name_wins_over_an_alias(frame, triples):
    both = frame.with_columns(judge=pl.lit("j"))
    assert triples(Comparisons.from_frame(both)) == triples(Comparisons.from_frame(frame))


def test_other_columns_do_not_matter(frame, assert_same):
    more = frame.with_columns(note=pl.lit(None), answers=pl.lit([["a", "b"]]), winner_text=pl.lit("x"))
    assert_same(Comparisons.from_frame(more), Comparisons.from_frame(frame))


def test_all_libraries_give_identical_comparisons(frame, assert_same):
    weighted = frame.with_columns(weight=pl.Series([1.0, 2.0, 0.5]))
    expected = Comparisons.from_frame(weighted)
    data = weighted.to_dict(as_series=False)
    for other in (pd.DataFrame(data), pa.table(data), weighted.lazy()):
        assert_same(Comparisons.from_frame(other), expected)


# who won, where a row names two sides

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
    assert refusal(data, ties="drop") == "every row is a tie and ties='drop' leaves nothing. Use ties='half'."


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


# wrong columns


def test_a_frame_without_users_is_refused():
    assert refusal({"winner": ["x"], "loser": ["y"]}) == (
        "no column for the user: expected one of user, user_id, userid, worker, assessor, voter, judge, annotator, "
        "participant, respondent, rater, voter-id; the columns are 'winner', 'loser'. "
        "Name it with columns={'user': ...}."
    )


@pytest.mark.parametrize("names", [["winner"], ["left", "right"], ["left", "winner"], ["thing", "other"]])
def test_a_frame_without_enough_columns_is_refused(names):
    shown = ", ".join(repr(name) for name in ["user", *names])
    assert refusal({"user": ["u"], **{name: ["x"] for name in names}}) == (
        f"expected the columns user, winner, loser (or user, left, right, winner); the columns are {shown}. "
        "Name yours with columns={'user': ..., 'winner': ..., 'loser': ...}."
    )


def test_a_loser_without_a_winner_is_refused():
    assert refusal({"user": ["u"], "loser": ["x"]}).startswith("no column for the winner: expected one of winner")


def test_a_named_column_that_does_not_exist_is_refused(frame):
    with pytest.raises(DataError) as caught:
        Comparisons.from_frame(frame, columns={"user": "voter"})
    assert str(caught.value) == "there is no column 'voter' for the user; the columns are 'user', 'winner', 'loser'."


def test_two_columns_that_could_be_the_user_are_refused():
    assert refusal({"user_id": [1], "annotator": [1], "winner": ["x"], "loser": ["y"]}) == (
        "'user_id', 'annotator' could all be the user: say which with columns={'user': ...}."
    )
    assert refusal({"user": [1], "User": [1], "winner": ["x"], "loser": ["y"]}) == (
        "'user', 'User' could all be the user: say which with columns={'user': ...}."
    )


@pytest.mark.parametrize(
    "twice",
    [
        pd.DataFrame([["u", "x", "y", "z"]], columns=["user", "winner", "winner", "loser"]),
        pa.table([["u"], ["x"], ["y"], ["z"]], names=["user", "winner", "winner", "loser"]),
    ],
    ids=["pandas", "pyarrow"],
)
def test_two_columns_of_the_same_name_are_refused(twice):
    with pytest.raises(DataError) as caught:
        Comparisons.from_frame(twice)
    assert str(caught.value) == (
        "two columns have the same name; the columns are 'user', 'winner', 'winner', 'loser'. "
        "Rename or drop one of them."
    )


def test_columns_for_an_unknown_role_are_refused(frame):
    with pytest.raises(ParameterError) as caught:
        Comparisons.from_frame(frame, columns={"users": "user", "who": "x"})
    assert str(caught.value) == (
        "columns= knows the roles user, winner, loser, left, right, outcome, comparison, weight, not 'users', 'who'."
    )


@pytest.mark.parametrize("columns", [["user"], "user", 3])
def test_columns_must_be_a_dict(frame, columns):
    with pytest.raises(ParameterError, match=r"^columns must be a dict such as \{'user': 'voter'\}, got "):
        Comparisons.from_frame(frame, columns=columns)


@pytest.mark.parametrize("ties", ["ignore", None, 1])
def test_an_unknown_treatment_of_ties_is_refused(frame, ties):
    with pytest.raises(ParameterError) as caught:
        Comparisons.from_frame(frame, ties=ties)
    assert str(caught.value) == f"ties must be 'half' or 'drop', got {ties!r}."


@pytest.mark.parametrize(("role", "way"), [("rating", "from_ratings"), ("rank", "from_rankings")])
def test_ratings_and_rankings_are_pointed_to_their_own_door(role, way):
    assert refusal({"userId": [1], "movieId": [2], role: [3]}) == (
        f"these are {role}s, not comparisons (columns 'userId', 'movieId', '{role}'): turn them into comparisons with "
        f"Comparisons.{way} or `plurank convert`."
    )


@pytest.mark.parametrize("thing", [{"user": [1]}, [1, 2], None, "votes.csv", np.zeros((2, 3)), pl.Series([1])])
def test_what_is_no_frame_is_refused(thing):
    with pytest.raises(DataError) as caught:
        Comparisons.from_frame(thing)
    assert str(caught.value) == (
        f"expected a pandas, polars or pyarrow data frame, got {type(thing).__name__}. "
        "Read files with read_comparisons, and plain columns with Comparisons.from_arrays."
    )


@pytest.mark.parametrize("empty", [pd.DataFrame(), pl.DataFrame(), pa.table({}), pl.DataFrame({"user": []})])
def test_an_empty_frame_is_refused(empty):
    with pytest.raises(DataError) as caught:
        Comparisons.from_frame(empty)
    assert str(caught.value) == "there are no comparisons: expected at least one row of user, winner, loser."


def test_empty_columns_are_refused():
    with pytest.raises(DataError, match=r"^there are no comparisons"):
        Comparisons.from_arrays([], [], [])


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(DataError) as caught:
        Comparisons.from_arrays([1, 2], ["x"], ["y"])
    assert str(caught.value) == (
        "all columns must have the same number of rows, but user has 2, winner has 1, loser has 1."
    )


# weights


@pytest.mark.parametrize("weight", [float("nan"), -1, 0, float("inf"), None, "heavy", "", 1j, pd.NA, (1,)], ids=repr)
def test_a_weight_that_is_no_positive_number_is_refused(weight):
    with pytest.raises(DataError) as caught:
        Comparisons.from_arrays(["u", "u"], ["x", "y"], ["y", "z"], weights=[1, weight])
    assert str(caught.value) == "row 2: the weight is not a positive number. Mend it or drop the row."


@pytest.mark.parametrize("weights", [["1", "heavy"], [1, None], [1.0, float("nan")], ["2020-01-01", None]])
def test_a_bad_weight_in_a_frame_is_refused(frame, weights):
    for wrap in (pl.DataFrame, pd.DataFrame, pa.table):
        data = {**frame[:2].to_dict(as_series=False), "weight": weights}
        with pytest.raises(
            DataError, match=r"rows?:? .*2: the weight is not a positive number. Mend it or drop the row"
        ):
            Comparisons.from_frame(wrap(data))


def test_weights_that_are_dates_are_refused(frame):
    dates = frame.with_columns(weight=pl.lit("2020-01-01").str.to_date())
    with pytest.raises(DataError, match=r"^3 rows: 1, 2, 3: the weight is not a positive number"):
        Comparisons.from_frame(dates)


def test_weights_that_are_too_few_are_refused():
    with pytest.raises(DataError) as caught:
        Comparisons.from_arrays(["u", "u"], ["x", "y"], ["y", "z"], weights=[1])
    assert str(caught.value) == "expected 2 weights, one for each comparison, got 1."
    with pytest.raises(DataError, match=r"^weights must be a column, got 2\."):
        Comparisons.from_arrays(["u", "u"], ["x", "y"], ["y", "z"], weights=2)


def test_an_item_against_itself_is_refused_with_row_numbers():
    users, winners, losers = ["u"] * 8, list("abcdefgh"), list("xbxdefgh")
    with pytest.raises(DataError) as caught:
        Comparisons.from_arrays(users, winners, losers)
    assert str(caught.value) == ("6 rows: 2, 4, 5, 6, 7, ...: an item is compared with itself ('b'). Drop such rows.")
