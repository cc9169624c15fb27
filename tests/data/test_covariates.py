"""Tables of covariates: how they are read, and whom they are about."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from plurank import DataError
from plurank.data.coded import list_exclusions
from plurank.data.covariates import Covariates, read_levels, read_numbers

COLUMNS = {"user": ["ann", "bob", "cid"], "age": [34, 51, None], "style": ["fruity", "bold", "fruity"]}


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table, lambda columns: pl.LazyFrame(columns)])
def test_frames_of_any_library_are_read_alike(make):
    table = Covariates.read(make(COLUMNS))
    assert table.ids.to_list() == ["ann", "bob", "cid"]
    assert read_numbers(table.columns["age"]).to_list() == [34.0, 51.0, None]
    assert read_levels(table.columns["style"]).to_list() == COLUMNS["style"]


def test_a_file_is_read_and_its_integer_ids_are_those_of_the_votes(file):
    table = Covariates.read(file("people.csv", "user_id,age\n7,34\n12,NA\n"))
    assert table.match(np.array([12, 7])).rows.tolist() == [1, 0]
    assert read_numbers(table.columns["age"]).to_list() == [34.0, None]


def test_ids_written_as_text_are_those_that_are_integers():
    table = Covariates.read(pl.DataFrame({"user": ["7", "12"], "age": [1, 2]}))
    assert table.match(np.array([12, 7, 8])).rows.tolist() == [1, 0, -1]


def test_a_table_as_it_is_stays_as_it_is():
    table = Covariates.read(pl.DataFrame(COLUMNS))
    assert Covariates.read(table) is table
    assert len(table) == 3


def test_features_of_items_have_a_column_for_the_item():
    assert Covariates.read(pl.DataFrame({"item": ["tea"], "price": [2]}), key="item").ids.to_list() == ["tea"]
    with pytest.raises(DataError, match=r"no column for the item: expected one of item, .*The table of features has"):
        Covariates.read(pl.DataFrame({"user": ["tea"], "price": [2]}), key="item")


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        (
            {"age": [1]},
            "no column for the user: expected one of user, user_id.*; the columns are 'age'. The table of peop",
        ),
        ({"user": ["a", "a"], "age": [1, 2]}, "user 'a' has more than one row. Keep one row for each user."),
        ({"user": ["a", None], "age": [1, 2]}, "row 2: user is missing"),
        ({"user": [], "age": []}, "the table of people is empty"),
    ],
)
def test_tables_that_cannot_be_meant_are_refused(columns, sentence):
    with pytest.raises(DataError, match=sentence):
        Covariates.read(pl.DataFrame(columns))


def test_an_error_names_the_file(file):
    with pytest.raises(DataError, match=r"people\.csv: user 1 has more than one row"):
        Covariates.read(file("people.csv", "user,age\n1,34\n1,35\n"))


def test_those_without_a_row_and_rows_about_others_are_counted():
    table = Covariates.read(pl.DataFrame({"user": [1, 2, 3, 4], "age": [1, 2, 3, 4]}))
    match = table.match(np.array([2, 5, 3, 9]))
    assert match.rows.tolist() == [1, -1, 2, -1]
    assert (match.n_without_row, match.n_unused) == (2, 2)
    assert list_exclusions(match.excluded) == ["2 of 4 rows left out: about users without votes."]
    assert match.notes == [
        "2 of 4 users have no row in the table of people; nothing is known about them, and they count as average."
    ]
    everybody = table.match(np.array([4, 1, 2, 3]))
    assert (everybody.excluded, everybody.notes) == ((), [])


def test_a_table_of_other_people_is_refused():
    table = Covariates.read(pl.DataFrame({"user": ["x", "y"], "age": [1, 2]}))
    with pytest.raises(DataError, match=r"none of the users, such as 'ann', is in the table of people, which has 'x'"):
        table.match(np.array(["ann"], dtype=object))


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        ([1, 2, None], [1.0, 2.0, None]),
        ([1.5, float("nan")], [1.5, None]),
        (["1", " 2.5 ", "", "NA", "1e3"], [1.0, 2.5, None, None, 1000.0]),
        ([None, None], [None, None]),
        (["1", "two"], None),
        ([True, False], None),
        ([1.0, float("inf")], None),
    ],
)
def test_numbers_are_read_where_all_values_are_numbers(values, numbers):
    found = read_numbers(pl.Series("age", values, strict=False))
    assert (found if found is None else found.to_list()) == numbers


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ([1, 2, None], ["1", "2", None]),
        ([1.0, 2.5], ["1", "2.5"]),
        ([True, None], ["true", None]),
        (["True", "FALSE", " a "], ["true", "false", "a"]),
        (["", "NA", "nan", "None"], [None, None, None, "None"]),
    ],
)
def test_levels_are_text_whatever_the_type(values, levels):
    assert read_levels(pl.Series("level", values)).to_list() == levels


def test_objects_of_several_types_are_levels():
    table = Covariates.read(pd.DataFrame({"user": [1, 2, 3], "mixed": ["a", 7, None]}))
    assert read_levels(table.columns["mixed"]).to_list() == ["a", "7", None]


@pytest.mark.parametrize(
    "column",
    [
        pl.Series(["low", "high", None], dtype=pl.Enum(["low", "middle", "high"])),
        pd.Categorical(["low", "high", None], categories=["low", "middle", "high"], ordered=True),
    ],
)
def test_categories_keep_their_order(column):
    frame = pl.DataFrame if isinstance(column, pl.Series) else pd.DataFrame
    table = Covariates.read(frame({"user": [1, 2, 3], "size": column}))
    assert table.columns["size"].dtype.categories.to_list() == ["low", "middle", "high"]
    assert read_levels(table.columns["size"]).to_list() == ["low", "high", None]


def test_categories_that_are_numbers_are_categories_all_the_same():
    table = Covariates.read(pd.DataFrame({"user": [1, 2], "zip": pd.Categorical([8001, 8002])}))
    assert read_numbers(table.columns["zip"]) is None
    assert read_levels(table.columns["zip"]).to_list() == ["8001", "8002"]
