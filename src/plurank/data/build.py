"""Rows of ids, as they came, become columns of integer codes: validated, numbered and sorted by user."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.coded import Exclusion, PairTable
from plurank.data.encoding import as_labels, as_series, encode_series, missing
from plurank.exceptions import Argument, DataError
from plurank.types import Codes

RowNumbers = NDArray[np.int64] | int  # of all rows, or of the first
NO_ROWS = "there are no comparisons: expected at least one row of user, winner, loser."
LEAST_WEIGHT, MOST_WEIGHT = 1e-12, 1e12  # beyond these, sums lose precision or overflow
TIES_DROPPED, MARKED_INVALID = "ties", "marked as invalid"
ONLY_INVALID = (
    "every row is marked as invalid, which leaves no comparison. Rename the column if it means something else."
)
ONLY_TIES = (
    "every row is a tie, and ", Argument("ties", "drop"), " leaves no comparison. Use ", Argument("ties", "half"), ".",
)  # fmt: skip


@dataclass(frozen=True)
class Rows:
    """One comparison a row, the ids not yet numbered.

    The first item was preferred, or the second where ``second_won`` says so, or neither where ``tied``.
    ``numbers`` are the row numbers that messages use: those of all rows, or that of the first where none was left out.
    """

    users: pl.Series
    first: pl.Series
    second: pl.Series
    weights: Any = None
    second_won: NDArray[np.bool_] | None = None
    tied: NDArray[np.bool_] | None = None
    numbers: RowNumbers = 1
    excluded: tuple[Exclusion, ...] = ()

    @property
    def n_ties(self) -> int:
        """How many rows are ties, which count half a win each way."""
        return 0 if self.tied is None else int(self.tied.sum())

    def without_ties(self) -> "Rows":
        """Leave the tied rows out."""
        return self if self.tied is None else self.without(self.tied, TIES_DROPPED)

    def without(self, marked: NDArray[np.bool_], reason: str) -> "Rows":
        """Leave the marked rows out, and count them."""
        if not marked.any():
            return self
        at = np.flatnonzero(~marked)
        n_rows = len(marked) + sum(entry.n for entry in self.excluded)  # of the table, whatever was left out before
        earlier = tuple(replace(entry, total=n_rows) for entry in self.excluded)
        return Rows(
            self.users.gather(at),
            self.first.gather(at),
            self.second.gather(at),
            None if self.weights is None else self.weights[at],
            None if self.second_won is None else self.second_won[at],
            None if self.tied is None else self.tied[at],
            numbers=at + self.numbers if isinstance(self.numbers, int) else self.numbers[at],
            excluded=earlier + Exclusion.some("row", int(marked.sum()), n_rows, reason),
        )


class SortedRows(NamedTuple):
    """Comparisons in user order as integer codes, one shard of a store or a whole table; labels are a polars series."""

    winners: Codes
    losers: Codes
    offsets: NDArray[np.int64]
    users: pl.Series
    weights: NDArray[np.float64] | None = None


def number_rows(rows: Rows, items: Any = None, *, from_text: bool = False) -> PairTable:
    """Validate, number and sort; all input but ratings and rankings ends here."""
    s, labels = sort_rows(rows, items, from_text=from_text)
    return PairTable(
        s.winners, s.losers, s.offsets, as_labels(labels), as_labels(s.users), s.weights,
        excluded=rows.excluded, n_ties=rows.n_ties,
    )  # fmt: skip


def sort_rows(rows: Rows, items: Any = None, *, from_text: bool = False) -> tuple[SortedRows, pl.Series]:
    """Validate, number and sort, as :func:`number_rows` does; returns the labels of items beside the rows."""
    _check_lengths(rows)
    # where rows name sides, items were checked before the outcome was read
    for series in (rows.users, rows.first, rows.second) if rows.second_won is None else (rows.users,):
        refuse_missing(series, rows.numbers)
    weights = _check_weights(rows.weights, len(rows.users), rows.numbers)
    listed = [] if items is None else [_check_items(items)]
    with ThreadPoolExecutor(1) as aside:
        encoded_users = aside.submit(encode_series, rows.users, from_text=from_text)
        (first, second, *_), item_ids = encode_series(rows.first, rows.second, *listed, from_text=from_text)
        (users,), user_ids = encoded_users.result()
    selves = first == second
    if selves.any():
        example = item_ids[int(first[np.argmax(selves)])]
        refuse_rows(selves, f"an item is compared with itself ({example!r:.60})", "Drop such rows", rows.numbers)
    if rows.second_won is not None:
        first, second = np.where(rows.second_won, second, first), np.where(rows.second_won, first, second)
    if rows.tied is not None and rows.tied.any():
        users, first, second, weights = _halve_ties(rows.tied, users, first, second, weights)
    order, offsets = kernels.group(users, len(user_ids))
    weights = None if weights is None else weights[order]
    return SortedRows(first[order], second[order], offsets, user_ids, weights), item_ids


def refuse_rows(bad: NDArray[np.bool_], what: str, remedy: str, numbers: RowNumbers = 1) -> None:
    """Raise a DataError that names the first bad rows; ``numbers`` are those of all rows, or that of the first."""
    if bad.any():
        rows = np.flatnonzero(bad) + numbers if isinstance(numbers, int) else numbers[bad]
        shown = ", ".join(f"{row}" for row in rows[:5]) + (", ..." if len(rows) > 5 else "")
        plural = "row" if len(rows) == 1 else f"{len(rows):,} rows:"
        raise DataError(f"{plural} {shown}: {what}. {remedy}.")


def refuse_missing(series: pl.Series, numbers: RowNumbers = 1) -> None:
    """Raise an error for rows without an id."""
    absent = missing(series)
    refuse_rows(absent, f"{series.name} is missing (empty, null or NaN)", "Fill it in or drop the row", numbers)


def _halve_ties(
    tied: NDArray[np.bool_], users: Codes, first: Codes, second: Codes, weights: NDArray[np.float64] | None
) -> tuple[Codes, Codes, Codes, NDArray[np.float64]]:
    """Make a tie half a win each way: the row, and the row the other way round."""
    at = np.repeat(np.arange(len(tied)), np.where(tied, 2, 1))
    again = np.concatenate([[False], at[1:] == at[:-1]])
    halves = np.where(tied, 0.5, 1.0) if weights is None else np.where(tied, 0.5 * weights, weights)
    winners, losers = np.where(again, second[at], first[at]), np.where(again, first[at], second[at])
    return users[at], winners, losers, halves[at]


def _check_lengths(rows: Rows) -> None:
    lengths = {series.name: len(series) for series in (rows.users, rows.first, rows.second)}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name} has {length:,}" for name, length in lengths.items())
        raise DataError(f"all columns must have the same number of rows, but {counts}.")
    if not len(rows.users):
        reasons = {entry.reason for entry in rows.excluded}
        raise DataError(ONLY_TIES if TIES_DROPPED in reasons else ONLY_INVALID if reasons else NO_ROWS)


def _check_items(items: Any) -> pl.Series:
    series = as_series(items, "items")
    absent = missing(series)
    if absent.any():
        raise DataError(f"items: entry {np.argmax(absent) + 1} is missing (empty, null or NaN). Leave it out.")
    return series


def _check_weights(weights: Any, n: int, numbers: RowNumbers) -> NDArray[np.float64] | None:
    if weights is None:
        return None
    values = as_numbers(as_series(weights, "weights"))
    if len(values) != n:
        raise DataError(f"expected {n:,} weights, one for each comparison, got {len(values):,}.")
    bad = ~(np.isfinite(values) & (values > 0))
    refuse_rows(bad, "the weight is not a positive number", "Use a decimal point (0.5), or remove the row", numbers)
    extreme = (values < LEAST_WEIGHT) | (values > MOST_WEIGHT)
    refuse_rows(
        extreme, f"the weight is not between {LEAST_WEIGHT:g} and {MOST_WEIGHT:g}", "Scale all weights", numbers
    )
    return None if (values == 1.0).all() else values


def as_numbers(series: pl.Series) -> NDArray[np.float64]:
    """Read numbers, also from text; what is not a number becomes NaN."""
    if series.dtype == pl.Object:
        return np.array([_as_number(value) for value in series.to_list()])
    if series.dtype == pl.String:
        series = series.str.strip_chars()
    elif not (series.dtype.is_numeric() or series.dtype in (pl.Boolean, pl.Null)):
        return np.full(len(series), np.nan)
    return series.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()


def _as_number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return float("nan")
