"""Ids of any kind become numbers 0, 1, 2, ..., and nothing that is no id gets in."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank import kernels
from plurank.exceptions import DataError

Labels = NDArray[Any]
Codes = NDArray[np.int32]


def as_series(values: Any, name: str) -> pl.Series:
    """Hold a column of ids as a polars series; columns that polars cannot type hold Python objects."""
    if isinstance(values, pl.Series):
        series = values.rename(name)
    else:
        array = values if isinstance(values, np.ndarray) else _object_array(values)
        if array.ndim != 1:
            raise DataError(f"{name} must be one column of ids, got an array of shape {array.shape}.")
        series = _series_from_array(array, name)
    if series.dtype == pl.Categorical or series.dtype == pl.Enum:
        return series.cast(pl.String)
    return series


def _object_array(values: Any) -> NDArray[Any]:
    values = list(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _series_from_array(array: NDArray[Any], name: str) -> pl.Series:
    if array.dtype.kind in "iuf":
        return pl.Series(name, array)
    if array.dtype.kind == "U":
        return pl.Series(name, array.tolist(), dtype=pl.String)
    kinds = {type(value) for value in array}
    nothing = {None.__class__}
    if kinds <= {str} | nothing:
        return pl.Series(name, array.tolist(), dtype=pl.String)
    if kinds <= {int} | nothing and all(-(2**63) <= v < 2**63 for v in array if v is not None):
        return pl.Series(name, array.tolist(), dtype=pl.Int64)
    return pl.Series(name, array.tolist(), dtype=pl.Object)


def missing(series: pl.Series) -> NDArray[np.bool_]:
    """Mark null, NaN and empty-string ids."""
    if series.dtype == pl.Object:
        return np.array([v is None or v != v for v in series.to_list()], dtype=bool)
    absent = series.is_null()
    if series.dtype.is_float():
        absent = absent | series.is_nan().fill_null(True)
    if series.dtype == pl.String:
        absent = absent | (series == "").fill_null(True)
    return absent.to_numpy()


def encode(*columns: pl.Series, from_text: bool = False) -> tuple[list[Codes], Labels]:
    """Number the ids of several columns with one vocabulary, sorted by value.

    ``from_text``: ids that are all whole numbers, written the plain way ("7", not "007"), become integers.
    """
    dtypes = {series.dtype for series in columns}
    if len(dtypes) > 1 or pl.Object in dtypes:
        columns = _common_type(columns)
    joined = pl.concat([series.rename("id") for series in columns]) if len(columns) > 1 else columns[0]
    if joined.dtype == pl.Object:
        codes, labels = _encode_objects(joined.to_list())
        order = np.array(sorted(range(len(labels)), key=lambda at: _sort_key(labels[at])), dtype=np.int64)
    else:
        # equal 64-bit hashes of different ids: below one in a million even for five million distinct ids
        codes, first = kernels.encode_keys(joined.hash().to_numpy())
        ids = joined.gather(first)
        numbers = _plain_integers(ids) if from_text and ids.dtype == pl.String else ids
        ids = ids if numbers.has_nulls() else numbers
        order = ids.arg_sort().to_numpy()
        labels = ids.to_numpy() if ids.dtype.is_numeric() else _object_array(ids.to_list())
    places = np.empty(len(labels), dtype=np.int32)
    places[order] = np.arange(len(labels), dtype=np.int32)
    codes, labels = places[codes], labels[order]
    lengths = np.cumsum([len(series) for series in columns])[:-1]
    return np.split(codes, lengths), labels


def _common_type(columns: tuple[pl.Series, ...]) -> tuple[pl.Series, ...]:
    if all(series.dtype.is_integer() for series in columns):
        return tuple(series.cast(pl.Int64) for series in columns)
    return tuple(pl.Series(series.name, series.to_list(), dtype=pl.Object) for series in columns)


def _encode_objects(values: list[Any]) -> tuple[Codes, Labels]:
    try:
        numbers: dict[Any, int] = {}
        codes = np.fromiter((numbers.setdefault(v, len(numbers)) for v in values), np.int32, len(values))
    except TypeError as error:
        raise DataError(f"ids must be hashable (numbers, strings, tuples): {error}.") from None
    return codes, _object_array(numbers)


def _plain_integers(ids: pl.Series) -> pl.Series:
    """Read "7" as 7; anything else, "007" among it, is null."""
    numbers = ids.cast(pl.Int64, strict=False)
    return pl.select(pl.when(numbers.cast(pl.String) == ids).then(numbers)).to_series()


def look_up(column: Any, labels: Labels, name: str) -> Codes:
    """Find ids in a vocabulary; unknown ids get -1. The text "7" finds the number 7 and the other way round."""
    series = as_series(column, name)
    numbers = {label: code for code, label in enumerate(labels.tolist())}
    if labels.dtype.kind in "iu" and series.dtype == pl.String:
        series = _plain_integers(series)
    elif labels.dtype == object and series.dtype.is_integer():
        found = look_up(series.cast(pl.String), labels, name)
        if (found >= 0).any():
            return found
    return np.fromiter((numbers.get(v, -1) for v in series.to_list()), np.int32, len(series))


def _sort_key(label: Any) -> tuple[str, Any]:
    """Order ids of one type by value and of several types by type, so that mixed ids sort at all."""
    if isinstance(label, (bool, int, float)):
        return ("", label)
    return (type(label).__name__, label if isinstance(label, str) else repr(label))
