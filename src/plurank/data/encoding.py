"""Ids of any kind become integer codes 0, 1, 2, ..., and pairs of items their numbers."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from types import NoneType, SimpleNamespace
from typing import Any, BinaryIO

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank import kernels
from plurank.exceptions import DataError
from plurank.types import Codes

# Arrays in files: plain npy.


def write_array(file: BinaryIO, array: NDArray[Any]) -> None:
    """Write an array as npy; given the file itself, numpy would not say that the disk is full."""
    np.save(SimpleNamespace(write=file.write), array, allow_pickle=False)


Labels = NDArray[Any]

# columns whose ids are all of one of these types are polars columns, others hold Python objects
TYPED: dict[type, Any] = {
    str: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean, bytes: pl.Binary,
    datetime: None, date: pl.Date, timedelta: pl.Duration,
}  # fmt: skip


def as_series(values: Any, name: str) -> pl.Series:
    """Hold a column of ids from any library as a polars series; ids of several types stay Python objects."""
    series = _to_polars(values, name).rename(name)
    if series.dtype == pl.Object or series.dtype.is_nested():
        return _from_objects(series.to_list(), name)
    if series.dtype == pl.Categorical or series.dtype == pl.Enum:
        return series.cast(pl.String)
    if isinstance(series.dtype, (pl.Datetime, pl.Duration)) and series.dtype.time_unit == "ns":
        _refuse_finer((series.to_physical() % 1000 != 0).any(), name)
    return series


def _to_polars(values: Any, name: str) -> pl.Series:
    if isinstance(values, pl.Series):
        return values
    if isinstance(values, (str, bytes, dict, set, frozenset)) or not isinstance(values, Iterable):
        raise DataError(f"{name} must be a column, got {values!r:.60}. Use a list, an array or a series.")
    n_dimensions = len(getattr(values, "shape", (0,)))
    if n_dimensions != 1:
        raise DataError(f"{name} must be one column, got an array or a frame of {n_dimensions} dimensions.")
    if isinstance(values, np.ndarray):
        return _from_array(values, name)
    if isinstance(values, (list, tuple, range)):
        return _from_array(object_array(values), name)
    import narwhals as nw  # commands have no columns of other libraries, and need not wait for it

    column = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(column, nw.Series):
        pandas = column.implementation.is_pandas_like()
        return _from_array(column.to_numpy(), name) if pandas else column.to_polars()
    if hasattr(values, "__arrow_c_array__"):
        return pl.Series(name, values)
    return _from_array(object_array(values), name)


def join_labels(known: Labels, new: Labels, name: str) -> tuple[Labels, Codes]:
    """Append labels that are not known yet; return all labels, and the code of each new one among them."""
    codes = look_up(new, known, name)
    fresh = new[codes < 0]
    codes = codes.copy()
    codes[codes < 0] = len(known) + np.arange(len(fresh), dtype=np.int32)
    if known.dtype.kind in "iuf" and known.dtype == new.dtype:
        return np.concatenate([known, fresh]), codes
    return object_array([*known.tolist(), *fresh.tolist()]), codes


def object_array(values: Iterable[Any]) -> Labels:
    """Hold Python objects in an array, (n,), tuples as they are."""
    return np.fromiter(values, dtype=object)


def _from_array(array: NDArray[Any], name: str) -> pl.Series:
    kind = array.dtype.kind
    if kind not in "iubfMm" or isinstance(array, np.ma.MaskedArray):
        return _from_objects(array.tolist(), name)
    simple = {"f": np.dtype(np.float64), "M": np.dtype("M8[us]"), "m": np.dtype("m8[us]")}
    plain = array.astype(simple.get(kind, array.dtype))
    if kind in "Mm":
        _refuse_finer(((plain != array) & ~np.isnat(array)).any(), name)
    return pl.Series(name, plain)


def _refuse_finer(is_finer: bool | np.bool_, name: str) -> None:
    if is_finer:
        raise DataError(f"{name}: some times are finer than a microsecond, and would become alike. Write them as text.")


def _from_objects(values: list[Any], name: str) -> pl.Series:
    if set(map(type, values)) != {str}:
        values = [_plain_value(value) for value in values]
    _refuse_half_characters(values, name)
    kinds = set(map(type, values)) - {NoneType}
    if len(kinds) == 1 and kinds <= TYPED.keys():
        try:
            return pl.Series(name, values, dtype=TYPED[kinds.pop()])
        except (pl.exceptions.PolarsError, OverflowError, TypeError):
            pass  # such as integers beyond 64 bits
    return pl.Series(name, values, dtype=pl.Object)


def _refuse_half_characters(values: list[Any], name: str) -> None:
    try:
        "".join(value for value in values if isinstance(value, str)).encode()
    except UnicodeEncodeError:
        raise DataError(f"{name}: contains invalid Unicode (an unpaired surrogate). Fix the encoding.") from None


def _plain_value(value: Any) -> Any:
    """Return numpy's scalars as Python's, and None for every kind of nothing: NaN, NaT and pandas' NA."""
    if isinstance(value, np.generic):
        value = value.item()
    try:
        return None if value != value else value
    except (TypeError, ValueError):
        return None if type(value).__name__ == "NAType" else value


def missing(series: pl.Series) -> NDArray[np.bool_]:
    """Mark null, NaN and empty-string ids."""
    if series.dtype == pl.Object:
        return np.array([value is None or (isinstance(value, str) and not value) for value in series.to_list()])
    if series.dtype == pl.String:
        absent = series == ""
    elif series.dtype.is_float():
        absent = series.is_nan()
    else:
        absent = series.is_null()
    absent = absent.fill_null(True)
    return absent.to_numpy() if absent.any() else np.zeros(len(series), dtype=bool)


def encode(*columns: pl.Series, from_text: bool = False) -> tuple[list[Codes], Labels]:
    """Number the ids of several columns with one vocabulary, sorted by value.

    ``from_text``: ids that are all integers, in canonical form ("7", not "007"), become integers.
    """
    codes, ids = encode_series(*columns, from_text=from_text)
    return codes, as_labels(ids)


def encode_series(*columns: pl.Series, from_text: bool = False) -> tuple[list[Codes], pl.Series]:
    """Number ids as :func:`encode` does; the vocabulary stays a polars series."""
    columns = _common_type(columns)
    if columns[0].dtype == pl.Object:
        codes, ids = _encode_objects([value for series in columns for value in series.to_list()])
    else:
        codes, ids = _encode_hashes(pl.concat([series.rename("id") for series in columns]), from_text)
    return np.split(codes, np.cumsum([len(series) for series in columns])[:-1]), ids


def _common_type(columns: tuple[pl.Series, ...]) -> tuple[pl.Series, ...]:
    dtypes = {series.dtype for series in columns}
    if len(dtypes) == 1:
        return columns
    if all(dtype.is_integer() or dtype.is_float() for dtype in dtypes):
        whole = [series.cast(pl.Int64, strict=False) for series in columns]
        if all(after.eq_missing(before).all() for after, before in zip(whole, columns, strict=True)):
            return tuple(whole)
    return tuple(pl.Series(series.name, series.to_list(), dtype=pl.Object) for series in columns)


def _encode_hashes(joined: pl.Series, from_text: bool) -> tuple[Codes, pl.Series]:
    codes, ids = _number(joined)
    if from_text and ids.dtype == pl.String:
        numbers = _plain_integers(ids)
        ids = ids if numbers.has_nulls() else numbers
    order = ids.arg_sort().to_numpy()
    return invert(order)[codes], ids.gather(order)


def _number(series: pl.Series) -> tuple[Codes, pl.Series]:
    """Number ids in the order in which they first occur, by their hashes; exactly, should two hashes be equal."""
    codes, first = kernels.encode_keys(series.hash().to_numpy())
    ids = series.gather(first)
    if ids.gather(codes).equals(series):
        return codes, ids
    numbers: dict[Any, int] = {}
    codes = np.fromiter((numbers.setdefault(value, len(numbers)) for value in series.to_list()), np.int32, len(series))
    return codes, pl.Series(series.name, list(numbers), dtype=series.dtype)


def _encode_objects(values: list[Any]) -> tuple[Codes, pl.Series]:
    numbers: dict[Any, int] = {}
    try:
        codes = np.fromiter((numbers.setdefault(v, len(numbers)) for v in values), np.int32, len(values))
    except TypeError as error:
        raise DataError(f"ids must be hashable (numbers, strings, tuples): {error}.") from None
    labels = object_array(numbers)
    order = np.array(sorted(range(len(labels)), key=lambda at: _sort_key(labels[at])), dtype=np.int64)
    return invert(order)[codes], pl.Series("id", labels[order].tolist(), dtype=pl.Object)


def invert(order: NDArray[Any]) -> Codes:
    """Return the inverse of a permutation."""
    places = np.empty(len(order), dtype=np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    return places


def as_labels(ids: pl.Series) -> Labels:
    """Return ids as an array: integers as int64, floats as float64, all others as Python objects."""
    if ids.dtype.is_float():
        return ids.cast(pl.Float64).to_numpy()
    numbers = ids.cast(pl.Int64, strict=False) if ids.dtype.is_integer() else ids
    return numbers.to_numpy() if numbers.dtype == pl.Int64 and not numbers.has_nulls() else object_array(ids.to_list())


def _sort_key(label: Any) -> tuple[str, Any]:
    """Order ids of one type by value and of several types by type, so that mixed ids sort at all."""
    if isinstance(label, (bool, int, float)):
        return ("", label)
    return (type(label).__name__, label if isinstance(label, str) else repr(label))


def _plain_integers(ids: pl.Series) -> pl.Series:
    """Read "7" as 7; anything else, "007" among it, is null."""
    numbers = ids.cast(pl.Int64, strict=False)
    return pl.select(pl.when(numbers.cast(pl.String) == ids).then(numbers)).to_series()


def look_up(column: Any, labels: Labels | pl.Series, name: str) -> Codes:
    """Find ids in a vocabulary; unknown ids get -1. The text "7" finds the number 7 and vice versa."""
    series, known = as_series(column, name), as_series(labels, name)
    if known.dtype.is_integer() and series.dtype == pl.String:
        series = _plain_integers(series)
    elif known.dtype == pl.String and series.dtype.is_integer():
        series = series.cast(pl.String)
    known, series = _common_type((known, series))
    if known.dtype != pl.Object:
        # the labels differ from each other, so label number n gets code n, and what is no label a higher one
        codes, _ = _number(pl.concat([known, series.rename(known.name)]))
        found = codes[len(known) :]
        return np.where(found < len(known), found, np.int32(-1))
    numbers = {label: code for code, label in enumerate(known.to_list())}
    try:
        return np.fromiter((numbers.get(value, -1) for value in series.to_list()), np.int32, len(series))
    except TypeError as error:
        raise DataError(f"{name}: ids must be hashable (numbers, strings, tuples): {error}.") from None


def index_pairs(winners: Codes, losers: Codes, n_items: int) -> tuple[Codes, Codes, Codes]:
    """Number the unordered pairs that occur, sorted: rows (n,), lower (n_pairs,) and higher item (n_pairs,).

    Row ``2 p`` is pair p won by its lower item, row ``2 p + 1`` by its higher one, so ``row ^ 1`` is the reverse. A
    table of all pairs is made only where it is no larger than the comparisons themselves.
    """
    low, high = np.minimum(winners, losers), np.maximum(winners, losers)
    if n_items * n_items <= 4 * len(winners) + 65536:
        keys = low.astype(np.int64) * n_items + high
        there = np.zeros(n_items * n_items, np.bool_)
        there[keys] = True
        pairs = np.flatnonzero(there)
        lower, higher = pairs // max(n_items, 1), pairs % max(n_items, 1)
        number = (np.cumsum(there) - 1).astype(np.int32)[keys]
    else:
        by_high, _ = kernels.group(high, n_items)  # a radix sort: by the higher item, then by the lower one
        by_low, _ = kernels.group(low[by_high], n_items)
        order = by_high[by_low]
        sorted_low, sorted_high = low[order], high[order]
        is_new = np.ones(len(order), np.bool_)
        is_new[1:] = (sorted_low[1:] != sorted_low[:-1]) | (sorted_high[1:] != sorted_high[:-1])
        lower, higher = sorted_low[is_new], sorted_high[is_new]
        number = np.empty(len(order), np.int32)
        number[order] = np.cumsum(is_new) - 1
    return 2 * number + (winners > losers), lower.astype(np.int32), higher.astype(np.int32)
