"""A shard on disk: the comparisons of some users as plain arrays, their labels beside, each file with a checksum.

``winners.npy``, ``losers.npy`` int32 (n,), ``offsets.npy`` int64 (n_users + 1,), where some comparison does not weigh 1
``weights.npy`` float64 (n,), all of which can be mapped into memory, and ``users.parquet``, the labels (n_users,).
"""

import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.build import SortedRows
from plurank.data.encoding import encode_series, write_array
from plurank.exceptions import DataError
from plurank.io import write_beside
from plurank.types import Codes

USERS = "users.parquet"
LABEL_GROUP = 2**16  # labels that are read together where only some are wanted
PIECE = 2**22  # bytes read at once for a checksum
REMEDY = "Ingest the data again, or copy the store again from where it is whole; workers must reach it too."


class FileRecord(TypedDict):
    """What a file must be like to be taken for whole."""

    name: str
    size: int
    checksum: int


def write_shard(folder: Path, shard: SortedRows) -> list[FileRecord]:
    """Write a shard into a folder, each file whole or absent."""
    records = []
    for name in ("winners", "losers", "offsets", "weights"):
        array = getattr(shard, name)
        if array is not None:
            with write_beside(folder / f"{name}.npy") as beside, beside.open("wb") as file:
                write_array(file, array)
            records.append(describe_file(folder / f"{name}.npy"))
    return [*records, write_labels(folder / USERS, shard.users)]


def clear_folder(folder: Path) -> None:
    """Make a new, empty folder, without what an interrupted attempt may have left."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def write_labels(target: Path, ids: pl.Series) -> FileRecord:
    """Write labels as a column of Parquet, any part of which can be read alone."""
    with write_beside(target) as beside:
        try:
            ids.rename("id").to_frame().write_parquet(beside, compression="lz4", row_group_size=LABEL_GROUP)
        except pl.exceptions.PolarsError as error:  # polars may wrap a full disk
            raise OSError(f"{target.name} could not be written: {error}") from error
    return describe_file(target)


def describe_file(file: Path) -> FileRecord:
    """Return a file's name, size and checksum."""
    return {"name": file.name, "size": file.stat().st_size, "checksum": checksum(file)}


def checksum(file: Path) -> int:
    """Return the CRC-32 of a file, the fastest checksum Python brings along."""
    value = 0
    with file.open("rb") as content:
        while piece := content.read(PIECE):
            value = zlib.crc32(piece, value)
    return value


def check_size(folder: Path, record: FileRecord) -> None:
    """Raise an error for a file that is not there or not as long as it was written."""
    file = folder / record["name"]
    if not file.is_file():
        raise DataError(f"{file} is missing, so the store is damaged. {REMEDY}")
    size = file.stat().st_size
    if size != record["size"]:
        raise DataError(f"{file} is damaged: expected {record['size']:,} bytes, got {size:,}. {REMEDY}")


def check_content(folder: Path, record: FileRecord) -> None:
    """Raise an error for a file that is not what was written."""
    check_size(folder, record)
    if checksum(folder / record["name"]) != record["checksum"]:
        raise DataError(f"{folder / record['name']} is damaged: it is not what was written. {REMEDY}")


def map_array(folder: Path, name: str) -> NDArray[Any]:
    """Map an array of a shard into memory: winners, losers, offsets or weights."""
    # a plain array over the mapped one, since kernels are compiled for plain ones
    return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))


def read_labels(file: Path, begin: int = 0, end: int | None = None) -> pl.Series:
    """Read labels begin to end - 1, or all of them."""
    length = None if end is None else end - begin
    return _query(file, lambda scan: scan.slice(begin, length))


def count_labels(file: Path) -> int:
    """Return how many labels there are, without reading them."""
    return int(_query(file, lambda scan: scan.select(pl.len()))[0])


def _query(file: Path, ask: Callable[[pl.LazyFrame], pl.LazyFrame]) -> pl.Series:
    try:
        return ask(pl.scan_parquet(file, glob=False)).collect().to_series()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, IndexError):
        raise DataError(f"{file} does not hold labels. {REMEDY}") from None


def map_part(folder: Path, begin: int, end: int, *, is_weighted: bool) -> SortedRows:
    """Map users begin to end - 1 of a shard into memory; offsets begin with 0."""
    winners, losers, offsets, weights = map_columns(folder, begin, end, is_weighted=is_weighted)
    return SortedRows(winners, losers, offsets, read_labels(folder / USERS, begin, end), weights)


def map_columns(
    folder: Path, begin: int, end: int, *, is_weighted: bool
) -> tuple[Codes, Codes, NDArray[np.int64], NDArray[np.float64] | None]:
    """Map winners, losers, offsets and weights of users begin to end - 1 into memory; offsets begin with 0."""
    offsets = map_array(folder, "offsets")[begin : end + 1]
    rows = slice(offsets[0], offsets[-1])
    names = ("winners", "losers", "weights") if is_weighted else ("winners", "losers")
    columns = [map_array(folder, name)[rows] for name in names]
    return columns[0], columns[1], offsets - offsets[0], columns[2] if is_weighted else None


def merge_parts(parts: list[SortedRows]) -> SortedRows:
    """Sort the comparisons of several parts by user, those of one user in the order of the parts."""
    (codes,), users = encode_series(pl.concat([part.users for part in parts]))
    each = np.repeat(codes, np.concatenate([np.diff(part.offsets) for part in parts]))
    order, offsets = kernels.group(each, len(users))
    winners, losers = (
        np.concatenate(columns)[order] for columns in zip(*((p.winners, p.losers) for p in parts), strict=True)
    )
    if all(part.weights is None for part in parts):
        return SortedRows(winners, losers, offsets, users)
    weights = [np.ones(len(part.winners)) if part.weights is None else part.weights for part in parts]
    return SortedRows(winners, losers, offsets, users, np.concatenate(weights)[order])
