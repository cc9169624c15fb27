"""Tables of covariates: what is known about users, or about items, one row each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import polars as pl

from plurank.data.build import refuse_missing
from plurank.data.coded import Exclusion
from plurank.data.columns import ALIASES, as_columns, list_names, plain_name
from plurank.data.encoding import Labels, as_series, look_up
from plurank.data.frames import parse_ids, read_table
from plurank.exceptions import DataError
from plurank.text import count, shorten
from plurank.types import Codes

Key = Literal["user", "item"]
Series = Mapping[str, pl.Series]
NAMES: dict[Key, tuple[str, ...]] = {"user": ALIASES["user"], "item": ("item", "item_id", "itemid", "id")}
TABLES: dict[Key, str] = {"user": "table of people", "item": "table of features"}
USES: dict[Key, str] = {"user": "votes", "item": "comparisons"}  # what somebody without any is not in the data for
UNKNOWN = "(missing)"  # how we write that there is no value
MISSING = ("", "NA", "N/A", "NaN", "nan", UNKNOWN)  # how tables do
SHOWN = 60  # characters of an id in a message


class Match(NamedTuple):
    """Where the users, or items, of data are in a table: the row of each, (n,), -1 for none."""

    rows: Codes
    key: Key
    n_unused: int  # rows about others
    n_rows: int

    @property
    def n_without_row(self) -> int:
        """Number of users, or items, that are not in the table."""
        return int((self.rows < 0).sum())

    @property
    def excluded(self) -> tuple[Exclusion, ...]:
        """Rows that are about nobody in the data."""
        return Exclusion.some("row", self.n_unused, self.n_rows, f"about {self.key}s without {USES[self.key]}")

    @property
    def notes(self) -> list[str]:
        """One sentence on whom the table lacks; an empty list where everybody has a row."""
        if not self.n_without_row:
            return []
        verb = "has no row in" if self.n_without_row == 1 else "have no row in"
        total = count(len(self.rows), self.key)
        what = f"{self.n_without_row:,} of {total} {verb} the {TABLES[self.key]}"
        return [f"{what}; nothing is known about them, and they count as average."]


@dataclass(frozen=True, eq=False)
class Covariates:
    """A table of covariates by user or item, as read: ``columns`` without the key, ``ids`` all different."""

    key: Key
    ids: pl.Series
    columns: Series

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def read(cls, source: Any, key: Key = "user") -> Self:
        """Take a file, a data frame, or a table as it is; one row for each user, or item."""
        if isinstance(source, cls):
            return source
        if not isinstance(source, (str, PathLike)):
            return cls._from_columns(as_series_by_name(source), key)
        frame = read_table(source)
        name = _find_key(frame.columns, key)
        if name is not None:  # ids that are integers are so here as in the votes
            frame = frame.with_columns(parse_ids(frame.select(name)))
        try:
            return cls._from_columns(as_series_by_name(frame), key)
        except DataError as error:
            raise error.within(Path(source).name) from None

    @classmethod
    def _from_columns(cls, columns: Series, key: Key) -> Self:
        name = _find_key(columns, key)
        if name is None:
            raise DataError(
                f"no column for the {key}: expected one of {', '.join(NAMES[key])}; the columns are "
                f"{list_names(columns)}. The {TABLES[key]} has one row for each {key}."
            )
        ids = columns[name]
        if not len(ids):
            raise DataError(f"the {TABLES[key]} is empty: expected at least one row.")
        refuse_missing(ids)
        _refuse_repeated(ids, key)
        return cls(key, ids, {other: series for other, series in columns.items() if other != name})

    def match(self, labels: Labels) -> Match:
        """Find users, or items, of data in the table; raise where none is there."""
        rows = look_up(labels, self.ids, self.key)
        if len(labels) and (rows < 0).all():
            raise DataError(
                f"none of the {self.key}s, such as {shorten(repr(labels.tolist()[0]), SHOWN)}, is in the "
                f"{TABLES[self.key]}, which has {shorten(repr(self.ids[0]), SHOWN)} and others. "
                "Is it the table of these data?"
            )
        n_unused = len(self) - int((rows >= 0).sum())
        return Match(rows, self.key, n_unused, len(self))

    def take(self, rows: Codes) -> Series:
        """Return the columns of some rows, by name."""
        return {name: series.gather(rows) for name, series in self.columns.items()}


def _find_key(names: Iterable[str], key: Key) -> str | None:
    named = {plain_name(name): name for name in names}
    return next((named[name] for name in NAMES[key] if name in named), None)


def _refuse_repeated(ids: pl.Series, key: Key) -> None:
    if ids.dtype != pl.Object and ids.n_unique() == len(ids):
        return
    seen = set()
    for value in ids.to_list():
        if value in seen:
            raise DataError(f"{key} {shorten(repr(value), SHOWN)} has more than one row. Keep one row for each {key}.")
        seen.add(value)


def as_series_by_name(frame: Any) -> dict[str, pl.Series]:
    """Hold the columns of any data frame as polars series; categories keep their order as an Enum."""
    return {name: _as_covariate(values, name) for name, values in as_columns(frame).items()}


def _as_covariate(values: Any, name: str) -> pl.Series:
    categories = _find_categories(values)
    series = as_series(values, name)
    if categories is None:
        return series
    return read_levels(series).cast(pl.Enum(list(dict.fromkeys(categories))))


def _find_categories(values: Any) -> list[str] | None:
    """Return the categories of a categorical column in their order, None for any other."""
    if isinstance(values, pl.Series):
        return values.dtype.categories.to_list() if isinstance(values.dtype, pl.Enum) else None
    import narwhals.stable.v1 as nw  # polars frames need not wait for it; only here have all categories an order

    column = nw.from_native(values, series_only=True)
    if column.dtype not in (nw.Categorical, nw.Enum):
        return None
    return read_levels(as_series(column.cat.get_categories().to_list(), "categories")).drop_nulls().to_list()


# What a column holds: numbers, or the levels of a category.


def read_numbers(series: pl.Series) -> pl.Series | None:
    """Return a column as numbers, null where missing; None where some value is no finite number."""
    if isinstance(series.dtype, pl.Enum) or series.dtype == pl.Boolean or series.dtype.is_temporal():
        return None
    if series.dtype.is_numeric() or series.dtype == pl.Null:
        numbers = series.cast(pl.Float64).fill_nan(None)
        return numbers if numbers.is_finite().all() else None
    texts = read_levels(series)
    numbers = texts.cast(pl.Float64, strict=False)
    is_number = numbers.is_finite().fill_null(False) | texts.is_null()
    return numbers if is_number.all() else None


def read_levels(series: pl.Series) -> pl.Series:
    """Return a column as text, null where missing; integers alike whatever their type, truth as "true", "false"."""
    if isinstance(series.dtype, pl.Enum):
        return series.cast(pl.String)
    if series.dtype == pl.Object:
        values = [None if value is None else str(value) for value in series.to_list()]
        return read_levels(pl.Series(series.name, values, dtype=pl.String))
    if series.dtype.is_float():
        whole = series.cast(pl.Int64, strict=False)
        texts = pl.select(
            pl.when(whole.cast(pl.Float64) == series).then(whole.cast(pl.String)).otherwise(series.cast(pl.String))
        ).to_series()
    else:
        texts = series.cast(pl.String)
    texts = texts.rename(series.name).str.strip_chars()
    lower = texts.str.to_lowercase()
    texts = texts.zip_with(~lower.is_in(["true", "false"]).fill_null(False), lower)
    return texts.set(texts.is_in(MISSING).fill_null(False), None)


def as_rows(rows: Any) -> Series:
    """Take one description, ``{"age": 34}``, a data frame, or a table as columns."""
    if isinstance(rows, Covariates):
        return rows.columns
    if isinstance(rows, Mapping):
        return {str(name): as_series([value], str(name)) for name, value in rows.items()}
    return as_series_by_name(rows)


def as_numeric(series: pl.Series) -> pl.Series:
    """Return a column of new people as numbers; raise where a value is none."""
    numbers = read_numbers(series)
    if numbers is None:
        wrong = next(value for value in series.to_list() if read_numbers(pl.Series([value], strict=False)) is None)
        raise DataError(f"{series.name} must be a number, as it was in the fit, got {shorten(repr(wrong), SHOWN)}.")
    return numbers
