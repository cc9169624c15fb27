"""Ids of any kind: the same comparisons whichever library holds them."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from plurank import Comparisons, DataError
from plurank.data.encoding import as_series, encode, look_up

UTC = dt.UTC
KINDS = {
    "text": ["b", "a", "c"],
    "emoji": ["🍣", "a,b", 'say "hi"\nbye'],
    "whole numbers": [30, -1, 2],
    "floats": [1.5, 0.25, -3.0],
    "truth values and repeats": [True, False, True],
    "days": [dt.date(2024, 2, 29), dt.date(2020, 1, 1), dt.date(2021, 5, 5)],
    "times": [dt.datetime(2024, 2, 29, 12), dt.datetime(2020, 1, 1), dt.datetime(2021, 5, 5, 1, 2, 3, 4)],
    "durations": [dt.timedelta(days=3), dt.timedelta(seconds=1), dt.timedelta(hours=-1)],
    "bytes": [b"b", b"a", b"\xff"],
}


@pytest.mark.parametrize("ids", KINDS.values(), ids=KINDS)
def test_every_library_gives_the_same_comparisons(ids, assert_same):
    data = {"user": ids, "winner": ["x", "y", "x"], "loser": ["y", "x", "y"]}
    expected = Comparisons.from_frame(pl.DataFrame(data))
    assert expected.users.tolist() == sorted(set(ids))
    for other in (pd.DataFrame(data), pa.table(data), pl.DataFrame(data).lazy()):
        assert_same(Comparisons.from_frame(other), expected)
    for column in (ids, tuple(ids), iter(ids), pd.Series(ids), pd.Index(ids), pa.array(ids), pl.Series(ids)):
        assert_same(Comparisons.from_arrays(column, data["winner"], data["loser"]), expected)


@pytest.mark.parametrize("ids", KINDS.values(), ids=KINDS)
def test_ids_come_back_as_they_went_in(ids, assert_same):
    c = Comparisons.from_arrays(ids, ["x", "y", "x"], ["y", "x", "y"])
    assert set(c.to_frame()["user"].to_list()) == set(ids)
    assert_same(Comparisons.from_frame(c.to_frame()), c)


@pytest.mark.parametrize(
    "column",
    [
        np.array([3, 1, 2], np.int8),
        np.array([3, 1, 2], np.uint64),
        np.array([3, 1, 2], object),
        np.array([np.int64(3), 1, np.int32(2)], object),
        pd.array([3, 1, 2], dtype="Int64"),
        pd.Series(pd.array([3, 1, 2], dtype="UInt8")),
        pd.Series(pd.Categorical([3, 1, 2])),
        pd.Series([3, 1, 2], dtype="int64[pyarrow]"),
        pl.Series([3, 1, 2], dtype=pl.Int16),
        pa.chunked_array([[3, 1], [2]]),
        pa.array([3, 1, 2], pa.uint32()),
        pa.array([3, 1, 2]).dictionary_encode(),
        np.ma.array([3, 1, 2], mask=False),
        (n for n in (3, 1, 2)),
    ],
    ids=lambda column: f"{type(column).__module__}.{type(column).__name__} {getattr(column, 'dtype', '')}",
)
def test_whole_numbers_of_any_type_are_the_same_ids(column):
    c = Comparisons.from_arrays(column, ["x", "y", "x"], ["y", "x", "y"])
    assert c.users.dtype == np.int64
    assert c.users.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(pd.Categorical(["b", "a"])),
        pd.Series(["b", "a"], dtype=object),
        pd.array(["b", "a"], dtype="string"),
        pl.Series(["b", "a"], dtype=pl.Categorical),
        pl.Series(["b", "a"], dtype=pl.Enum(["b", "a"])),
        np.array(["b", "a"]),
        np.array(["b", "a"], dtype=object),
        np.array(["b", "a"], dtype=np.dtypes.StringDType()),
        pa.array(["b", "a"]).dictionary_encode(),
    ],
    ids=lambda column: f"{type(column).__module__}.{type(column).__name__} {getattr(column, 'dtype', '')}",
)
def test_text_of_any_type_is_the_same_ids(column):
    c = Comparisons.from_arrays(column, ["x", "y"], ["y", "x"])
    assert c.users.dtype == object
    assert c.users.tolist() == ["a", "b"]


def test_numpy_times_of_any_unit_are_times():
    days = np.array(["2021-01-01", "2020-01-01"], "M8[D]")
    for unit in ("D", "h", "s", "ms", "us", "ns"):
        c = Comparisons.from_arrays(days.astype(f"M8[{unit}]"), ["x", "y"], ["y", "x"])
        assert c.users.tolist() == [dt.datetime(2020, 1, 1), dt.datetime(2021, 1, 1)]


def test_times_with_a_zone_are_the_same_moments_in_every_library():
    moments = [dt.datetime(2021, 1, 1, tzinfo=UTC), dt.datetime(2020, 1, 1, tzinfo=UTC)]
    data = {"user": moments, "winner": ["x", "y"], "loser": ["y", "x"]}
    for frame in (pd.DataFrame(data), pa.table(data), pl.DataFrame(data)):
        users = Comparisons.from_frame(frame).users.tolist()
        assert [user.replace(tzinfo=None).isoformat() for user in users] == [
            "2020-01-01T00:00:00",
            "2021-01-01T00:00:00",
        ]


def test_whole_numbers_and_whole_floats_are_the_same_items():
    c = Comparisons.from_arrays([1, 1], np.array([1, 2]), np.array([2.0, 3.0]))
    assert c.items.dtype == np.int64
    assert c.items.tolist() == [1, 2, 3]


def test_numbers_and_text_may_be_mixed_and_stay_different():
    c = Comparisons.from_arrays([1, "u", 1], ["1", 1, "a"], [1, "a", 2.5])
    assert c.items.tolist() == [1, 2.5, "1", "a"]
    assert c.to_frame().rows() == [(1, "1", 1), (1, "a", 2.5), ("u", 1, "a")]


def test_a_column_of_numbers_and_one_of_text_may_be_mixed(assert_same):
    data = {"user": [1, 2], "winner": [1, 2], "loser": ["a", "b"]}
    expected = Comparisons.from_frame(pl.DataFrame(data))
    assert expected.items.tolist() == [1, 2, "a", "b"]
    for frame in (pd.DataFrame(data), pa.table(data)):
        assert_same(Comparisons.from_frame(frame), expected)


def test_mixed_ids_come_back_through_a_frame(assert_same):
    c = Comparisons.from_arrays([1, "u", (1, 2)], ["1", 1, "a"], [1, "a", Decimal("2.5")])
    assert_same(Comparisons.from_frame(c.to_frame()), c)


def test_any_hashable_object_can_be_an_id():
    c = Comparisons.from_arrays([(1, 2), (1, 10), frozenset("a")], ["x", "y", "x"], ["y", "x", "y"])
    assert set(c.users.tolist()) == {(1, 2), (1, 10), frozenset("a")}


def test_whole_numbers_beyond_64_bits_are_ids():
    large = pl.Series([2**63 + 1, 2], dtype=pl.UInt64)
    c = Comparisons.from_arrays(large, large, [5, 7])
    assert c.users.tolist() == [2, 2**63 + 1]
    assert c.items.tolist() == [2, 5, 7, 2**63 + 1]
    assert Comparisons.from_arrays([2**70, 1], ["x", "y"], ["y", "x"]).users.tolist() == [1, 2**70]


def test_different_ids_stay_different_however_many():
    n = 200_000
    users = np.repeat(np.arange(n), 2)
    c = Comparisons.from_arrays(users[::-1].copy(), users % 7, users % 7 + 1)
    assert (c.n_users, len(c)) == (n, 2 * n)
    np.testing.assert_array_equal(c.offsets, np.arange(0, 2 * n + 1, 2))


@pytest.mark.parametrize(
    "nothing",
    [None, float("nan"), np.nan, pd.NA, pd.NaT, np.datetime64("NaT", "us"), ""],
    ids=["None", "nan", "np.nan", "pd.NA", "pd.NaT", "np.NaT", "empty text"],
)
@pytest.mark.parametrize(
    "others", [["a", "b"], [1, 2], [1, "b"], [1.5, 2.5]], ids=["text", "numbers", "mixed", "floats"]
)
def test_nothing_is_no_id_in_a_list(nothing, others):
    with pytest.raises(DataError) as caught:
        Comparisons.from_arrays([others[0], nothing, others[1]], ["x", "x", "x"], ["y", "y", "y"])
    assert str(caught.value) == "row 2: user is missing (empty, null or NaN). Fill it in or drop the row."


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["a", None], dtype=object),
        pd.Series(["a", np.nan], dtype=object),
        pd.Series(["a", pd.NA], dtype=object),
        pd.Series(["a", None], dtype="string"),
        pd.Series(["a", None], dtype="str"),
        pd.Series(pd.Categorical(["a", None])),
        pd.Series(pd.array([1, None], dtype="Int64")),
        pd.Series([1, None]),
        pd.Series([pd.Timestamp("2020"), pd.NaT]),
        pl.Series(["a", None]),
        pl.Series([1, None]),
        pl.Series([1.5, float("nan")]),
        pl.Series([1.5, None]),
        pl.Series(["a", None], dtype=pl.Categorical),
        pl.Series(["a", ""]),
        pa.array(["a", None]),
        pa.array([1, None]),
        np.array([1.0, np.nan], np.float32),
        np.array(["2020", "NaT"], "M8[D]"),
        np.ma.array([1, 2], mask=[False, True]),
    ],
    ids=lambda column: f"{type(column).__module__}.{type(column).__name__} {getattr(column, 'dtype', '')}",
)
def test_nothing_is_no_id_in_any_library(column):
    with pytest.raises(DataError) as caught:
        Comparisons.from_arrays(["u", "u"], column, ["zz", "zz"])
    assert str(caught.value) == "row 2: winner is missing (empty, null or NaN). Fill it in or drop the row."


def test_a_column_of_nulls_is_refused():
    with pytest.raises(DataError, match=r"^2 rows: 1, 2: winner is missing"):
        Comparisons.from_frame(pl.DataFrame({"user": [1, 2], "winner": [None, None], "loser": [1, 2]}))


def test_many_bad_rows_are_counted_and_the_first_are_named():
    with pytest.raises(DataError, match=r"^1,000 rows: 1, 2, 3, 4, 5, ...: user is missing"):
        Comparisons.from_arrays([""] * 1000, [1] * 1000, [2] * 1000)


@pytest.mark.parametrize("ids", [[[1], [2]], pl.Series([[1], [2]]), pl.Series([{"a": 1}, {"a": 2}]), [{1}, {2}]])
def test_ids_that_cannot_be_told_apart_quickly_are_refused(ids):
    with pytest.raises(DataError, match=r"^ids must be hashable \(numbers, strings, tuples\): unhashable type: '"):
        Comparisons.from_arrays(ids, ["x", "y"], ["y", "x"])


@pytest.mark.parametrize(
    ("column", "came"),
    [("ab", "'ab'"), (b"ab", "b'ab'"), (7, "7"), (None, "None"), ({"a": 1}, "{'a': 1}"), ({1}, "{1}")],
)
def test_what_is_no_column_is_refused(column, came):
    with pytest.raises(DataError) as caught:
        Comparisons.from_arrays(column, ["x"], ["y"])
    assert str(caught.value) == f"user must be a column, got {came}. Use a list, an array or a series."


@pytest.mark.parametrize("table", [np.zeros((2, 2)), np.array(3), pd.DataFrame({"a": [1]}), pl.DataFrame({"a": [1]})])
def test_a_table_or_a_single_value_is_no_column(table):
    with pytest.raises(DataError, match=r"^user must be one column, got an array or a frame of"):
        Comparisons.from_arrays(table, ["x"], ["y"])


def test_missing_and_unhashable_listed_items_are_refused():
    with pytest.raises(DataError) as caught:
        Comparisons.from_arrays([1], ["x"], ["y"], items=["z", None])
    assert str(caught.value) == "items: entry 2 is missing (empty, null or NaN). Leave it out."


@pytest.mark.parametrize(
    ("column", "labels", "codes"),
    [
        (["b", "zz", "a", None], ["a", "b"], [1, -1, 0, -1]),
        ([7, 8], ["7", "9"], [0, -1]),
        (["7", "07", "x", None], [7, 9], [0, -1, -1, -1]),
        (np.array([9, 7, 1], np.int8), [7, 9], [1, 0, -1]),
        ([7.0, 7.5, float("nan")], [7, 9], [0, -1, -1]),
        ([1, "1", "a"], [1, "1"], [0, 1, -1]),
        (["a", 1], ["a", "b"], [0, -1]),
        ([True, False], [False, True], [1, 0]),
        ([dt.date(2020, 1, 1)], [dt.date(2020, 1, 1)], [0]),
        ([], ["a"], []),
    ],
)
def test_ids_are_found_in_a_vocabulary_as_numbers_or_as_text(column, labels, codes):
    vocabulary = as_series(labels, "x")
    known = vocabulary.to_numpy() if vocabulary.dtype.is_numeric() else np.array(labels, dtype=object)
    found = look_up(column, known, "user")
    assert found.dtype == np.int32
    assert found.tolist() == codes


def test_looking_up_an_unhashable_id_is_refused():
    with pytest.raises(DataError, match=r"^user: ids must be hashable"):
        look_up([[1], "a"], np.array(["a"], dtype=object), "user")


@pytest.mark.parametrize("times", [np.array([1, 2, 3], "M8[ns]"), np.array([1, 2, 3], "m8[ns]")])
@pytest.mark.parametrize("library", [np.asarray, pd.Series, pl.Series, pa.array])
def test_times_that_would_become_alike_are_refused(times, library):
    with pytest.raises(DataError, match=r"some times are finer than a microsecond.*Write them as text\."):
        Comparisons.from_arrays([1, 2, 3], library(times), library(np.roll(times, 1)))
    coarse = library(times * 1000) if times.dtype.kind == "m" else library(times.astype("i8").view("M8[us]"))
    assert Comparisons.from_arrays(coarse, ["a"] * 3, ["b"] * 3).n_users == 3


def test_half_of_a_character_is_refused_among_ids_of_several_types():
    with pytest.raises(DataError, match="winner: contains invalid Unicode"):
        Comparisons.from_arrays([1, 2], ["\ud800", 5], ["a", "b"])


def test_half_of_a_character_is_refused_with_a_sentence():
    with pytest.raises(DataError, match="winner: contains invalid Unicode"):
        Comparisons.from_arrays(["u"], ["\ud800"], ["b"])


@pytest.mark.parametrize("ids", [["a", "b", "c", "a"], [3, 1, 2, 3], [0.5, 2.5, 1.5, 0.5]])
def test_ids_whose_hashes_are_equal_stay_apart(ids, monkeypatch):
    monkeypatch.setattr(pl.Series, "hash", lambda series: pl.Series(np.zeros(len(series), np.uint64)))
    (codes,), labels = encode(as_series(ids, "ids"))
    assert labels.tolist() == sorted(set(ids))
    assert labels[codes].tolist() == ids
    assert look_up([*ids, ids[1]], labels, "ids").tolist() == [*codes.tolist(), codes[1]]
    assert look_up([type(ids[0])("9")], labels, "ids").tolist() == [-1]
