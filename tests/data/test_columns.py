"""Column names of other tools, weights, and what is refused with which sentence."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from plurank import Comparisons, DataError, ParameterError
from plurank.data.columns import ALIASES
from tests.data.refusals import refusal

USERS = [
    "user", "user_id", "User ID", "userId", "worker", "assessor", "voter", "judge", "annotator", "participant",
    "respondent",
]  # fmt: skip


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize(
    ("winner", "loser"),
    [
        ("winner", "loser"),
        ("top_item", "bottom_item"),
        ("chosen", "rejected"),
        ("Winner", " LOSER "),
        ("Top item", "Bottom item"),
    ],
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


# wrong columns


def test_a_frame_without_users_is_refused():
    assert refusal({"winner": ["x"], "loser": ["y"]}) == (
        f"no column for the user: expected one of {', '.join(ALIASES['user'])}; the columns are 'winner', 'loser'. "
        "Name it with columns={'user': ...}."
    )


def test_a_frame_whose_names_are_all_strange_may_have_none():
    assert refusal({"a": ["b"], "x": ["y"], "y": ["x"]}).endswith("put a line of column names above it.")


@pytest.mark.parametrize("names", [["winner"], ["left", "right"], ["left", "winner"], ["thing", "other"]])
def test_a_frame_without_enough_columns_is_refused(names):
    shown = ", ".join(repr(name) for name in ["user", *names])
    remedy = "Name yours with columns={'user': ..., 'winner': ..., 'loser': ...}"
    if "winner" in names:
        remedy = (
            "Name those of the two items with columns={'left': ..., 'right': ...}, "
            "or that of the loser with columns={'loser': ...}"
        )
    assert refusal({"user": ["u"], **{name: ["x"] for name in names}}) == (
        f"expected the columns user, winner, loser (or user, left, right, winner); the columns are {shown}. {remedy}."
    )


def test_a_loser_without_a_winner_is_refused():
    assert refusal({"user": ["u"], "loser": ["x"]}).startswith("no column for the winner: expected one of winner")


def test_a_named_column_that_does_not_exist_is_refused(frame):
    with pytest.raises(DataError) as caught:
        Comparisons.from_frame(frame, columns={"user": "voter"})
    assert str(caught.value) == "there is no column 'voter' for the user; the columns are 'user', 'winner', 'loser'."


def test_two_columns_that_could_be_the_user_are_refused():
    assert refusal({"user_id": [1], "annotator": [1], "winner": ["x"], "loser": ["y"]}) == (
        "'user_id', 'annotator' could all be the user. Select one with columns={'user': ...}."
    )
    assert refusal({"user": [1], "User": [1], "winner": ["x"], "loser": ["y"]}) == (
        "'user', 'User' could all be the user. Select one with columns={'user': ...}."
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
        "columns: unknown role 'users', 'who'; roles are user, winner, loser, left, right, outcome, comparison, "
        "weight, valid."
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
        f"these are {role}s, not comparisons (columns 'userId', 'movieId', '{role}'). "
        f"Convert them with `plurank convert` (Comparisons.{way})."
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
    assert (
        str(caught.value) == "row 2: the weight is not a positive number. Use a decimal point (0.5), or remove the row."
    )


@pytest.mark.parametrize("weights", [["1", "heavy"], [1, None], [1.0, float("nan")], ["2020-01-01", None]])
def test_a_bad_weight_in_a_frame_is_refused(frame, weights):
    for wrap in (pl.DataFrame, pd.DataFrame, pa.table):
        data = {**frame[:2].to_dict(as_series=False), "weight": weights}
        with pytest.raises(
            DataError,
            match=r"rows?:? .*2: the weight is not a positive number. Use a decimal point \(0\.5\), or remove the row",
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


@pytest.mark.parametrize("weight", [1e308, 1.1e12, 9e-13, 1e-320])
def test_weights_that_sums_cannot_hold_are_refused(weight):
    with pytest.raises(DataError, match=r"^row 2: the weight is not between 1e-12 and 1e\+12\. Scale all weights\.$"):
        Comparisons.from_arrays(["u", "u"], ["a", "b"], ["b", "a"], weights=[1, weight])


def test_of_very_many_columns_only_some_are_named():
    frame = pl.DataFrame({f"column {n}": [1] for n in range(1000)})
    with pytest.raises(DataError, match=r"'column 29' and 970 more"):
        Comparisons.from_frame(frame)


def test_a_weight_that_no_float_can_hold_is_refused():
    with pytest.raises(DataError, match="row 1: the weight is not a positive number"):
        Comparisons.from_arrays([1, 2], ["a", "b"], ["b", "a"], [10**400, 1])
