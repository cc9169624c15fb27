"""Ids of all inputs: whole numbers or text, decided over everything, and the items numbered as they come."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank.data.comparisons import RowNumbers
from plurank.data.encoding import Codes
from plurank.data.ingest_memory import Budget
from plurank.data.rows import Rows, refuse_missing
from plurank.exceptions import DataError, ParameterError

# in files that say so: "integers" or "text"; in text files: "plain" if all are plain whole numbers, else "words"
IdKind = Literal["integers", "text", "plain", "words"]
REMEDY = "A store holds whole numbers and text: write such ids as text."


def check_ids(rows: Rows) -> Rows:
    """Give rows whose ids are all int64 or all text; refuse ids of other kinds."""
    users, first, second = (_check_column(ids, rows.numbers) for ids in (rows.users, rows.first, rows.second))
    if first.dtype != second.dtype:
        texts, numbers = sorted((first, second), key=lambda ids: ids.dtype != pl.String)
        raise DataError(f"ids are text in {texts.name} and numbers in {numbers.name}. Write them the same way in both.")
    return replace(rows, users=users, first=first, second=second)


def _check_column(ids: pl.Series, numbers: RowNumbers) -> pl.Series:
    if ids.dtype == pl.String or ids.dtype == pl.Int64:
        return ids
    refuse_missing(ids, numbers)  # a better reason, and why whole numbers often come as floats
    if not ids.dtype.is_integer():
        kind = "of several types" if ids.dtype == pl.Object else f"of type {ids.dtype}"
        raise DataError(f"the ids in {ids.name} are {kind}. {REMEDY}")
    whole = ids.cast(pl.Int64, strict=False)
    if whole.has_nulls():
        raise DataError(f"the ids in {ids.name} are numbers beyond 64 bits, such as {ids.max()!r}. {REMEDY}")
    return whole


def kind_of_ids(ids: pl.Series, *, from_text: bool) -> IdKind:
    """Tell what the ids of a batch are; those of text files have been read as numbers where all of them are."""
    if ids.dtype == pl.Int64:
        return "plain" if from_text else "integers"
    return "words" if from_text else "text"


def settle_type(role: str, files: Mapping[IdKind, str]) -> type[pl.DataType]:
    """Decide what ids are, from the kinds that occur and a file for each; text files follow where others are typed."""
    for kind in ("text", "words"):
        if "integers" in files and kind in files:
            raise DataError(
                f"{role} ids are whole numbers in {files['integers']} and text in {files[kind]}. "
                "Write them the same way in all files."
            )
    return pl.Int64 if files.keys() <= {"integers", "plain"} else pl.String


class Vocabulary:
    """The items so far, as text, numbered in order of appearance."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.n_items = self.n_bytes = 0
        self.hashes = np.empty(0, dtype=np.uint64)  # sorted
        self.codes = np.empty(0, dtype=np.int32)  # of the items with these hashes

    def add(self, ids: pl.Series) -> tuple[Codes, pl.Series]:
        """Number ids that differ from each other; gives their numbers, and those of them that are new, in order."""
        texts = ids.cast(pl.String)
        hashes = texts.hash().to_numpy()
        at = np.searchsorted(self.hashes, hashes)
        is_known = np.append(self.hashes, np.uint64(0))[at] == hashes
        is_known &= at < self.n_items
        codes = np.append(self.codes, np.int32(0))[at]
        codes[~is_known] = self.n_items + np.arange(np.sum(~is_known), dtype=np.int32)
        self._insert(hashes[~is_known], codes[~is_known])
        new = texts.filter(pl.Series(~is_known))
        self.n_bytes += int(new.estimated_size())
        self._check_size()
        return codes, new

    def _insert(self, hashes: NDArray[np.uint64], codes: Codes) -> None:
        order = np.argsort(hashes)
        at = np.searchsorted(self.hashes, hashes[order])
        self.hashes, self.codes = np.insert(self.hashes, at, hashes[order]), np.insert(self.codes, at, codes[order])
        self.n_items += len(codes)

    def _check_size(self) -> None:
        if not self.budget.has_room_for_items(self.n_items, self.n_bytes):
            raise ParameterError(
                f"there are at least {self.n_items:,} items, more than the memory given has room for. "
                "Give more memory, and run again to go on."
            )
