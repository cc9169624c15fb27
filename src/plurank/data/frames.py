"""Files become data frames: CSV, TSV, Parquet, JSON lines and JSON, gzipped or not."""

import csv
import gzip
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Literal, NoReturn, TextIO

import polars as pl

from plurank.exceptions import DataError
from plurank.io import as_path
from plurank.text import count, reason_of

File = str | PathLike[str]
FileKind = Literal["CSV", "TSV", "Parquet", "JSON lines", "JSON"]
KINDS: dict[str, FileKind] = {
    ".csv": "CSV", ".txt": "CSV", ".tsv": "TSV", ".tab": "TSV", ".parquet": "Parquet", ".pq": "Parquet",
    ".jsonl": "JSON lines", ".ndjson": "JSON lines",
    ".json": "JSON",
}  # fmt: skip
TEXT_KINDS = ("CSV", "TSV")  # where numbers and text look alike
PREFLIB = (".soc", ".soi", ".toc", ".toi")
# a gzipped table is a few times, rarely 20 times, as large as its file; from some size on, more is refused
MOST_UNZIPPED, MOST_RATIO = 2**26, 100
NESTED = (dict, list)
UNREADABLE = (
    pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, EOFError, zlib.error, json.JSONDecodeError,
    RecursionError,
)  # fmt: skip


def read_table(path: File) -> pl.DataFrame:
    """Read a file into a frame; in CSV and TSV every column is text."""
    file = existing(path)
    return parse_table(file, kind_of(file))


def parse_table(file: Path, kind: FileKind) -> pl.DataFrame:
    """Read a file that exists, of a known kind, as :func:`read_table` does."""
    with reading(file, kind):
        content = _unzip_table(file) if is_gzipped(file) else file
        if kind == "Parquet":
            return pl.read_parquet(content, glob=False)
        if kind == "JSON lines":
            with file.open("rb") as opened:  # by name it would be a glob
                return pl.read_ndjson(content if isinstance(content, bytes) else opened, infer_schema_length=None)
        if kind == "JSON":
            return _parse_json(content, file)
        return parse_csv(content, file, find_separator(file, kind))


def read_numbered_table(path: File) -> pl.DataFrame:
    """Read a file into a frame; text columns of a CSV or TSV that hold only integers become integers."""
    file = existing(path)
    kind = kind_of(file)
    frame = parse_table(file, kind)
    return parse_ids(frame) if kind in TEXT_KINDS else frame


def parse_ids(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn text columns that hold only plain integers into integers."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    numbers = frame.select(pl.col(texts).cast(pl.Int64, strict=False))
    plain = [name for name in texts if (numbers[name].cast(pl.String) == frame[name]).all(ignore_nulls=False)]
    return frame.with_columns(numbers.select(plain))


def existing(path: File) -> Path:
    """Check that a path is a file with something in it."""
    file = as_path(path)
    if file.is_dir():
        raise DataError(f"{file} is a folder; expected a file.")
    if not file.is_file():
        raise DataError(f"{file}: there is no such file.")
    if file.stat().st_size == 0:
        raise DataError(f"{file.name} is empty; expected a header and at least one row.")
    return file


def plain_suffix(file: Path) -> str:
    """Return the ending of a file's name in lower case, without .gz."""
    name = file.with_suffix("") if file.suffix.lower() == ".gz" else file
    return name.suffix.lower()


def kind_of(file: Path) -> FileKind:
    """Return the kind of a table by the ending of the file's name."""
    ending = plain_suffix(file)
    if ending in PREFLIB:
        raise DataError(
            f"{file.name} holds rankings, not comparisons: turn them into comparisons with Comparisons.from_rankings "
            "or `plurank convert`."
        )
    if ending == ".plurank":
        raise DataError(f"{file.name} is a model; expected a file of data. `plurank show` looks into models.")
    if ending not in KINDS:
        endings = ", ".join(KINDS)
        raise DataError(
            f"{file.name}: unknown kind of file. Expected an ending of {endings}, or these with .gz. "
            "Ratings and rankings of other kinds become comparisons with `plurank convert`."
        )
    return KINDS[ending]


@contextmanager
def reading(file: Path, kind: str) -> Iterator[None]:
    """Turn whatever the libraries say about a file they cannot read into a sentence."""
    try:
        yield
    except UnicodeDecodeError:
        _refuse_encoding(file)
    except UNREADABLE as error:
        raise DataError(
            f"{file.name} could not be read as {kind}: {reason_of(error)}. Is it damaged, or a file of another kind?"
        ) from None


def _unzip_table(file: Path) -> bytes:
    """Return what a gzipped file holds; raise where it is beyond what a table of its size could be."""
    most = max(MOST_UNZIPPED, MOST_RATIO * file.stat().st_size)
    with open_bytes(file) as zipped:
        content = zipped.read(most + 1)
    if len(content) > most:
        raise DataError(
            f"{file.name} unzips to more than {most // 2**20:,} MB, over {MOST_RATIO} times its size: expected a "
            "table, got what may be made to fill memory. If it is meant, make a store of it with `plurank ingest`."
        )
    return content


def _parse_json(content: Path | bytes, file: Path) -> pl.DataFrame:
    """Read an array of records; values that are lists or records themselves, such as conversations, are left out."""
    records = json.loads(content if isinstance(content, bytes) else content.read_bytes())
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise DataError(
            f"{file.name}: expected an array of records, as in [{{...}}, {{...}}]. One a line: call it .jsonl."
        )
    flat = [{name: value for name, value in record.items() if not isinstance(value, NESTED)} for record in records]
    return pl.DataFrame(flat, infer_schema_length=None, strict=False)


def parse_csv(content: Path | bytes, file: Path, separator: str) -> pl.DataFrame:
    """Read a CSV file, or its header and some of its rows, into a frame of text; errors name the file."""
    try:
        frame = pl.read_csv(content, separator=separator, infer_schema=False, glob=False)
    except pl.exceptions.ComputeError as error:
        _explain(file, separator, str(error))
        raise
    header = "".join(frame.columns)
    if "\ufffd" in header or "\0" in header:
        _refuse_bytes(file)
    return _drop_blank_lines(frame)


def find_separator(file: Path, kind: FileKind) -> str:
    """Return the tab of TSV; of CSV the first of commas, semicolons, tabs and bars that is in the header."""
    if kind == "TSV":
        return "\t"
    with open_text(file, errors="replace") as lines:
        header = lines.readline(2**20)
    return next((separator for separator in ",;\t|" if separator in header), ",")


def _drop_blank_lines(frame: pl.DataFrame) -> pl.DataFrame:
    if all(column.has_nulls() for column in frame):
        return frame.filter(~pl.all_horizontal(pl.all().is_null()))
    return frame


def _explain(file: Path, separator: str, reason: str) -> None:
    """Raise a sentence for what often goes wrong in CSV."""
    if "utf-8" in reason.lower():
        _refuse_bytes(file)
    if "more fields" in reason:
        with suppress(csv.Error), open_text(file, errors="replace") as lines:
            _refuse_longer_rows(file, csv.reader(lines, delimiter=separator))


def _refuse_longer_rows(file: Path, rows: Iterator[list[str]]) -> None:
    width = len(next(rows))
    for number, row in enumerate(rows, start=1):
        if len(row) > width:
            raise DataError(
                f"{file.name}: row {number}: expected {count(width, 'value')} as in the header, got {len(row)}. "
                'Put values that hold the separator in "quotes".'
            )


def _refuse_bytes(file: Path) -> NoReturn:
    """Raise an error for a file that is not text; damaged gzip, which older polars takes for text, raises here."""
    with open_bytes(file) as content:
        while content.read(2**20):
            pass
    _refuse_encoding(file)


def _refuse_encoding(file: Path) -> NoReturn:
    raise DataError(f"{file.name} is not UTF-8 text (perhaps Latin-1 or UTF-16). Save it as UTF-8.")


def open_text(file: Path, errors: str = "strict") -> TextIO:
    """Open a text file, gzipped or not, whatever its name says."""
    return TextIOWrapper(open_bytes(file), encoding="utf-8-sig", errors=errors, newline="")


def is_gzipped(file: Path) -> bool:
    """Check whether a file is gzipped, whatever its name says."""
    with file.open("rb") as start:
        return start.read(2) == b"\x1f\x8b"


def open_bytes(file: Path) -> BinaryIO:
    """Open a file for reading, gzipped or not, whatever its name says."""
    opener: Any = gzip.open if is_gzipped(file) else open
    stream: BinaryIO = opener(file, "rb")
    return stream
