"""Files at the door: CSV, TSV, Parquet and JSON lines, compressed or not."""

import gzip
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Literal

import polars as pl

from plurank.data.columns import read_columns
from plurank.data.comparisons import Comparisons, Ties
from plurank.exceptions import DataError

File = str | PathLike[str]
Kind = Literal["csv", "tsv", "parquet", "jsonl"]
KINDS: dict[str, Kind] = {
    ".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet",
    ".jsonl": "jsonl", ".ndjson": "jsonl",
}  # fmt: skip


def read_comparisons(path: File, *, columns: Mapping[str, str] | None = None, ties: Ties = "half") -> Comparisons:
    """Read comparisons from CSV, TSV, Parquet or JSON lines, plain or gzipped.

    Columns are understood as in :meth:`Comparisons.from_frame`. Ids in text files stay text unless all of them are
    plain whole numbers.
    """
    frame = read_table(path)
    try:
        return Comparisons._from_columns(*read_columns(frame, columns, ties), None, from_text=True)
    except DataError as error:
        raise DataError(f"{Path(path).name}: {error}") from None


def read_table(path: File) -> pl.DataFrame:
    """Read a file into a frame; in CSV and TSV every column is text."""
    file = existing(path)
    suffixes = [suffix.lower() for suffix in file.suffixes]
    ending = suffixes[-2] if suffixes[-1:] == [".gz"] and len(suffixes) > 1 else "".join(suffixes[-1:])
    if ending not in KINDS:
        raise DataError(
            f"{file.name}: unknown kind of file. Expected one ending in {', '.join(KINDS)}, with or without .gz."
        )
    return _read(file, KINDS[ending])


def existing(path: File) -> Path:
    """Check that a path is a file with something in it."""
    file = Path(path)
    if not file.exists():
        raise DataError(f"{file}: there is no such file.")
    if file.is_dir():
        raise DataError(f"{file} is a folder; expected a file.")
    if file.stat().st_size == 0:
        raise DataError(f"{file.name} is empty; expected a header and at least one row.")
    return file


def _read(file: Path, kind: Kind) -> pl.DataFrame:
    try:
        if kind == "parquet":
            return pl.read_parquet(file)
        if kind == "jsonl":
            content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file
            return pl.read_ndjson(content, infer_schema_length=None)
        return pl.read_csv(file, separator="\t" if kind == "tsv" else ",", infer_schema=False)
    except (pl.exceptions.PolarsError, OSError, EOFError) as error:
        reason = str(error).strip().split("\n", 1)[0].rstrip(".")
        raise DataError(f"{file.name} could not be read as {kind}: {reason}.") from None


def parse_ids(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn text columns that hold only plain whole numbers into integers."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    numbers = frame.select(pl.col(texts).cast(pl.Int64, strict=False))
    plain = [name for name in texts if (numbers[name].cast(pl.String) == frame[name]).all(ignore_nulls=False)]
    return frame.with_columns(numbers.select(plain))
