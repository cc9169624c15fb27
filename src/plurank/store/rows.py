"""What a batch of an input says, whatever its form: rows are read, checked, numbered and sorted by user."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from plurank import kernels
from plurank.choices import Ties
from plurank.data.build import NO_ROWS, RowNumbers, refuse_missing, sort_rows
from plurank.data.coded import renumber
from plurank.data.columns import Given, OutcomeForm, check_options, read_rows
from plurank.data.encoding import encode_series
from plurank.data.formats import is_polis_matrix, is_polis_votes
from plurank.data.frames import FileKind
from plurank.data.ratings import no_rows, read_values, without_a
from plurank.data.readers import Form, find_form, refuse_texts
from plurank.exceptions import Argument, DataError, ParameterError
from plurank.store.shards import Shard
from plurank.types import Codes, Masks

REMEDY = "A store supports integers and text: write such ids as text."
VALUES: dict[Form, str] = {"ratings": "rating", "rankings": "rank"}
MIXED = "The inputs of a store are all of one form: ingest these into different stores."
WHOLE = (
    "which takes the whole file to read. Fit the file itself, or write it as a table of user, item, rating "
    "(plurank.Ratings.from_file and to_frame) and ingest that."
)


@dataclass(frozen=True)
class InputFile:
    """A file to ingest, its kind, and what messages call it."""

    path: Path
    kind: FileKind
    name: str


@dataclass(frozen=True)
class Job:
    """What to read, and how."""

    files: list[InputFile]
    columns: Given
    ties: Ties
    offered: Any = None  # items that everybody could have ranked, as of ``Rankings.from_frame``


class Sorted(NamedTuple):
    """The rows of a batch, sorted by user, with items numbered as in ``items``; and why others were left out."""

    shard: Shard
    items: pl.Series
    left_out: dict[str, int]


def decide_form(frame: pl.DataFrame, columns: Given) -> Form:
    """Decide what a table holds by its columns; raise for tables that have to be read whole."""
    if not columns:
        refuse_texts(frame.columns)
        if is_polis_votes(frame):
            raise DataError(f"these are votes of pol.is, of which a person's last on a comment counts, {WHOLE}")
        if is_polis_matrix(frame):
            raise DataError(f"this is a matrix of votes of pol.is, {WHOLE}")
    return find_form(frame.columns, columns)


def check_roles_of(job: Job, form: Form) -> None:
    """Raise an error for options that are not those of the form."""
    if form == "comparisons":
        check_options(job.columns, job.ties)
    if job.offered is not None and form != "rankings":
        raise ParameterError((Argument("offered"), f" is for rankings, got {form}."), parameter="offered")


def no_observations(form: Form) -> str:
    """Say that an input has no rows."""
    return no_rows(VALUES[form]) if form in VALUES else NO_ROWS


def sort_batch(
    frame: pl.DataFrame, form: Form, job: Job, first_row: int, reading: OutcomeForm | None, *, from_text: bool
) -> Sorted:
    """Read, check, number and sort the rows of a batch."""
    if form in VALUES:
        return _sort_values(frame, form, job, first_row, from_text=from_text)
    return _sort_comparisons(frame, job, first_row, reading, from_text=from_text)


def _sort_comparisons(
    frame: pl.DataFrame, job: Job, first_row: int, reading: OutcomeForm | None, *, from_text: bool
) -> Sorted:
    rows = read_rows(frame, job.columns, job.ties, first_row=first_row, reading=reading)
    left_out = {entry.reason: entry.n for entry in rows.excluded}
    if not len(rows.users):
        return Sorted(Shard(rows.users, np.zeros(1, np.int64), {}), rows.first, left_out)
    users, first, second = check_ids(rows.numbers, rows.users, rows.first, rows.second)
    s, items = sort_rows(replace(rows, users=users, first=first, second=second), from_text=from_text)
    weights = {} if s.weights is None else {"weights": s.weights}
    return Sorted(Shard(s.users, s.offsets, {"winners": s.winners, "losers": s.losers, **weights}), items, left_out)


def _sort_values(frame: pl.DataFrame, form: Form, job: Job, first_row: int, *, from_text: bool) -> Sorted:
    """Sort ratings, or ranks, of which the best has the highest value."""
    value = VALUES[form]
    rows = read_values(frame, value, job.columns, first_row=first_row, may_be_wide=False)
    n_missing = int((~rows.given).sum())
    left_out = {without_a(value): n_missing} if n_missing else {}
    users, items = check_ids(first_row, rows.users, rows.items)
    owners, user_ids = _number_given(users, rows.given, from_text=from_text)
    codes, item_ids = _number_given(items, rows.given, from_text=from_text)
    order, offsets = kernels.group(owners, len(user_ids))
    values = rows.numbers[rows.given][order] * (-1.0 if form == "rankings" else 1.0)
    return Sorted(Shard(user_ids, offsets, {"codes": codes[order], "values": values}), item_ids, left_out)


def _number_given(ids: pl.Series, given: Masks, *, from_text: bool) -> tuple[Codes, pl.Series]:
    """Number the ids of rows that are given; all rows decide whether ids of text are integers."""
    (codes,), labels = encode_series(ids, from_text=from_text)
    occurs = np.bincount(codes[given], minlength=len(labels)) > 0
    return renumber(occurs)[codes[given]], labels.filter(pl.Series(occurs))


def check_ids(numbers: RowNumbers, users: pl.Series, *items: pl.Series) -> list[pl.Series]:
    """Return columns of users and of items whose ids are all int64 or all text; raise for ids of other kinds."""
    checked, *items_checked = (_check_column(ids, numbers) for ids in (users, *items))
    if len({ids.dtype for ids in items_checked}) > 1:
        texts, integers = sorted(items_checked, key=lambda ids: ids.dtype != pl.String)
        raise DataError(
            f"ids are text in {texts.name} and numbers in {integers.name}. Write them the same way in both."
        )
    return [checked, *items_checked]


def _check_column(ids: pl.Series, numbers: RowNumbers) -> pl.Series:
    if ids.dtype == pl.String or ids.dtype == pl.Int64:
        return ids
    refuse_missing(ids, numbers)  # a better reason, and why integers often come as floats
    if not ids.dtype.is_integer():
        kind = "of several types" if ids.dtype == pl.Object else f"of type {ids.dtype}"
        raise DataError(f"the ids in {ids.name} are {kind}. {REMEDY}")
    whole = ids.cast(pl.Int64, strict=False)
    if whole.has_nulls():
        raise DataError(f"the ids in {ids.name} are numbers beyond 64 bits, such as {ids.max()!r}. {REMEDY}")
    return whole
