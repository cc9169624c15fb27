"""Files of any size, read in batches of rows that fit into memory; each is a frame as of ``data.frames.read_table``.

Text is cut where a record ends, so that a batch is the header and some whole records; Parquet is cut by row numbers.
Where batches begin depends on the file and the budget alone.
"""

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl

from plurank.data.columns import Given, may_matter
from plurank.data.frames import FileKind, find_separator, open_bytes, parse_csv, reading
from plurank.exceptions import Argument, DataError, ParameterError
from plurank.io import write_beside
from plurank.validation import show_value

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
BINARY_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
LEAST, MOST = 500 * 10**6, 10**15
PROGRAM = 300 * 10**6  # Python and its libraries, before any data
# the most bytes taken for each row, beside those of its ids, which are held about four times
COPIES = 4
BATCH_ROW, SHARD_ROW, USER_ROW, ITEM = 1000, 500, 80, 100
PROBE_ROWS = 10_000  # read first, to estimate the width of rows of a Parquet file
MOST_GROWTH = 16  # a record may be this many times longer than the text usually read at once


@dataclass(frozen=True)
class Budget:
    """The bytes that there are for data, and the sizes of the pieces that are worked on one at a time."""

    data_bytes: int
    text_bytes: int  # of a text file, read at once
    batch_rows: int  # read and sorted at once
    shard_rows: int  # comparisons of a shard; more only of a single user

    @classmethod
    def of(cls, memory: int) -> "Budget":
        """Divide up the memory; short rows, of six bytes, are the ones that take most for each byte of text."""
        data_bytes = memory - PROGRAM
        text_bytes = data_bytes * 6 // (BATCH_ROW + COPIES * 54)
        return cls(data_bytes, text_bytes, batch_rows=2**22, shard_rows=2**23)

    def rows_of_batch(self, width: float) -> int:
        """Return how many rows to read at once, if the ids of one take so many bytes."""
        return max(1, min(self.batch_rows, int(self.data_bytes / (BATCH_ROW + COPIES * width))))

    def rows_of_shard(self, width: float) -> int:
        """Return how many comparisons to merge at once, if the labels of users are so many bytes for each."""
        return max(1, min(self.shard_rows, int(self.data_bytes / (SHARD_ROW + COPIES * width))))

    @property
    def rows_of_user(self) -> int:
        """How many comparisons of one user can be merged."""
        return self.data_bytes // USER_ROW

    def can_hold_items(self, n_items: int, n_bytes: int) -> bool:
        """Check whether so many items, whose ids are so many bytes, leave memory for the rest."""
        return ITEM * n_items + COPIES * n_bytes <= self.data_bytes // 2


def parse_memory(memory: Any) -> int:
    """Return a number of bytes, written as such or like "2GB", "1.5 GiB" or "800M"."""
    text = str(memory).strip().lower() if isinstance(memory, (int, str)) and not isinstance(memory, bool) else ""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", text)
    if found is None or (found[3] and not found[2]):
        expected = "a size such as '2GB' or '800MB'"
        raise ParameterError(parameter="memory", expected=expected, got=show_value(memory))
    n_bytes = float(found[1]) * (BINARY_UNITS if found[3] else UNITS)[found[2]]
    if n_bytes < LEAST:
        raise ParameterError(parameter="memory", expected=f"at least {LEAST // 10**6}MB", got=show_value(memory))
    if n_bytes > MOST:
        raise ParameterError(parameter="memory", expected=f"at most {MOST // 10**12:,}TB", got=show_value(memory))
    return int(n_bytes)


@dataclass(frozen=True)
class Place:
    """Where a batch begins: a byte of text or a row of Parquet, and how many rows of the file come before."""

    position: int = 0
    n_rows: int = 0


@dataclass(frozen=True)
class Batch:
    """Some rows of a file, where they begin, where the next batch does, and the share of the file read by then."""

    frame: pl.DataFrame
    begin: Place
    end: Place
    done: float


def read_batches(
    file: Path, kind: FileKind, given: Given, budget: Budget, scratch: Path, begin: Place
) -> Iterator[Batch]:
    """Read a file from some place on; ``scratch`` is a folder for what must be unzipped first."""
    with reading(file, kind):
        if kind == "Parquet":
            yield from _read_parquet(_unzip(file, scratch), given, budget, begin)
        elif kind == "JSON lines":
            yield from _read_json_lines(file, budget, begin)
        else:
            separator = find_separator(file, kind)
            yield from _read_text(file, budget, begin, lambda text: parse_csv(text, file, separator), is_csv=True)


def _unzip(file: Path, scratch: Path) -> Path:
    """Return a Parquet file that can be read from anywhere; what was unzipped of the file before is replaced."""
    if file.suffix.lower() != ".gz":
        return file
    target = scratch / "unzipped.parquet"
    with write_beside(target) as beside, beside.open("wb") as plain, open_bytes(file) as zipped:
        shutil.copyfileobj(zipped, plain, 2**20)
    return target


def _read_parquet(file: Path, given: Given, budget: Budget, begin: Place) -> Iterator[Batch]:
    scan = pl.scan_parquet(file, glob=False)
    names = scan.collect_schema().names()
    # other columns are never read; messages name them
    wanted = scan.select([pl.col(name) if may_matter(name, given) else pl.lit(None).alias(name) for name in names])
    n_rows = scan.select(pl.len()).collect().item()
    probe = wanted.head(PROBE_ROWS).collect()
    size = budget.rows_of_batch(probe.estimated_size() / max(len(probe), 1))
    for at in range(begin.position, max(n_rows, 1), size):
        frame = wanted.slice(at, size).collect()
        end = at + len(frame)
        yield Batch(frame, Place(at, at), Place(end, end), end / max(n_rows, 1))


def _read_json_lines(file: Path, budget: Budget, begin: Place) -> Iterator[Batch]:
    """Read records that may lack some fields: columns and their types are those of the whole file."""
    schema = pl.DataFrame()

    def parse(text: bytes) -> pl.DataFrame:
        found = pl.scan_ndjson(text, infer_schema_length=None).collect()
        return pl.concat([schema, found], how="diagonal_relaxed")

    for batch in _read_text(file, budget, Place(), parse):
        if len(batch.frame):
            schema = batch.frame.clear()
    yield from _read_text(file, budget, begin, parse)


def _read_text(
    file: Path, budget: Budget, begin: Place, parse: Callable[[bytes], pl.DataFrame], *, is_csv: bool = False
) -> Iterator[Batch]:
    """Read whole records, as many as the budget allows; in CSV each batch is parsed with the header before it."""
    size = file.stat().st_size
    with open_bytes(file) as stream:
        header = _read_header(stream, budget) if is_csv else b""
        place = begin if begin.position else Place(len(header))
        stream.seek(place.position)
        for text in _cut_records(stream, budget, place, is_csv=is_csv):
            is_blank = place.n_rows > 0 and not text.strip()  # not valid JSON; an empty file raises later
            frame = pl.DataFrame() if is_blank else parse(header + text)
            end = Place(place.position + len(text), place.n_rows + len(frame))
            yield Batch(frame, place, end, _share_read(stream, size))
            place = end


def _read_header(stream: BinaryIO, budget: Budget) -> bytes:
    """Read the first record, with the blank lines before it."""
    header = line = stream.readline(budget.text_bytes)
    while line and not (header.strip(b"\r\n") and header.endswith(b"\n") and header.count(b'"') % 2 == 0):
        line = stream.readline(budget.text_bytes)
        header += line
        _refuse_longer(stream, header, budget, Place())
    return header


def _cut_records(stream: BinaryIO, budget: Budget, place: Place, *, is_csv: bool) -> Iterator[bytes]:
    """Cut the rest of a stream into pieces of whole records; there is always one, if need be without any."""
    text, is_last, n_pieces = b"", False, 0
    while not is_last:
        wanted, end = budget.text_bytes, 0
        while not (end or is_last):
            text += stream.read(max(0, wanted - len(text)))
            is_last = len(text) < wanted
            end = len(text) if is_last else _end_of_records(text[:wanted], is_csv=is_csv)
            if not end:
                _refuse_longer(stream, text[:wanted], budget, place)
            wanted *= 2
        if end or not n_pieces:
            yield text[:end]
            n_pieces += 1
        text = text[end:]


def _end_of_records(text: bytes, *, is_csv: bool) -> int:
    """Return where the last record that is whole ends: after the last newline, in CSV the last outside quotes."""
    end = text.rfind(b"\n") + 1
    is_quoted = is_csv and text.count(b'"', 0, end) % 2 == 1
    while is_quoted and end:
        before = text.rfind(b"\n", 0, end - 1) + 1
        is_quoted = text.count(b'"', before, end) % 2 == 0
        end = before
    return end


def _refuse_longer(stream: BinaryIO, text: bytes, budget: Budget, place: Place) -> None:
    if len(text) >= MOST_GROWTH * budget.text_bytes:
        raise DataError(
            f"{Path(stream.name).name}: a row after row {place.n_rows} does not end within {len(text):,} bytes. "
            'Is a quote (") left open?',
            hint=("If not, increase ", Argument("memory"), "."),
        )


def _share_read(stream: Any, size: int) -> float:
    # of a zipped file, what was read of the file itself
    return min(1.0, getattr(stream, "fileobj", stream).tell() / size)
