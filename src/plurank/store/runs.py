"""The first half of an ingest: read inputs in batches, sort each by user, and write it as a run.

A run is a shard whose items are numbered in order of appearance over all runs.
"""

import glob
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank.choices import Ties
from plurank.data.build import (
    NO_ROWS,
    ONLY_INVALID,
    ONLY_TIES,
    TIES_DROPPED,
    RowNumbers,
    Rows,
    refuse_missing,
    sort_rows,
)
from plurank.data.columns import (
    Given,
    Reading,
    decide_reading,
    may_matter,
    names_winners,
    read_rows,
)
from plurank.data.exclusions import Exclusion
from plurank.data.frames import (
    KINDS,
    TEXT_KINDS,
    File,
    existing,
    find_separator,
    kind_of,
    open_bytes,
    parse_csv,
    plain_suffix,
    reading,
)
from plurank.exceptions import DataError, ParameterError
from plurank.io import as_path, write_beside, write_json
from plurank.store.shards import (
    clear_folder,
    map_part,
    merge_parts,
    read_labels,
    write_labels,
    write_shard,
)
from plurank.types import Codes, Progress

# How much of a data set is held in memory at once, given the most that may be used.

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
BINARY_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
LEAST, MOST = 500 * 10**6, 10**15
PROGRAM = 300 * 10**6  # Python and its libraries, before any data
# the most bytes taken for each row, beside those of its ids, which are held about four times
COPIES = 4
BATCH_ROW, SHARD_ROW, USER_ROW, ITEM = 1000, 500, 80, 100


@dataclass(frozen=True)
class Budget:
    """The bytes that there are for data, and the sizes of the pieces that are worked on one at a time."""

    room: int
    text_bytes: int  # of a text file, read at once
    batch_rows: int  # read and sorted at once
    shard_rows: int  # comparisons of a shard; more only of a single user

    @classmethod
    def of(cls, memory: int) -> "Budget":
        """Divide up the memory; short rows, of six bytes, are the ones that take most for each byte of text."""
        room = memory - PROGRAM
        return cls(room, text_bytes=room * 6 // (BATCH_ROW + COPIES * 54), batch_rows=2**22, shard_rows=2**23)

    def rows_of_batch(self, width: float) -> int:
        """Return how many rows to read at once, if the ids of one take so many bytes."""
        return max(1, min(self.batch_rows, int(self.room / (BATCH_ROW + COPIES * width))))

    def rows_of_shard(self, width: float) -> int:
        """Return how many comparisons to merge at once, if the labels of users are so many bytes for each."""
        return max(1, min(self.shard_rows, int(self.room / (SHARD_ROW + COPIES * width))))

    @property
    def rows_of_user(self) -> int:
        """How many comparisons of one user can be merged."""
        return self.room // USER_ROW

    def has_room_for_items(self, n_items: int, n_bytes: int) -> bool:
        """Check whether so many items, whose ids are so many bytes, leave room for the rest."""
        return ITEM * n_items + COPIES * n_bytes <= self.room // 2


def parse_memory(memory: Any) -> int:
    """Return a number of bytes, written as such or like "2GB", "1.5 GiB" or "800M"."""
    text = str(memory).strip().lower() if isinstance(memory, (int, str)) and not isinstance(memory, bool) else ""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", text)
    if found is None or (found[3] and not found[2]):
        raise ParameterError(f"memory must be a size such as '2GB' or '800MB', got {memory!r}.")
    n_bytes = float(found[1]) * (BINARY_UNITS if found[3] else UNITS)[found[2]]
    if n_bytes < LEAST:
        raise ParameterError(f"memory must be at least {LEAST // 10**6}MB, got {memory!r}.")
    if n_bytes > MOST:
        raise ParameterError(f"memory must be at most {MOST // 10**12:,}TB, got {memory!r:.60}.")
    return int(n_bytes)


# What to ingest: files, globs and folders become one list of files, which must not change while they are read.

Inputs = File | Iterable[File]


def list_inputs(inputs: Inputs, without: tuple[Path, ...]) -> list[Path]:
    """Return the files meant, in the order given; those of a folder or a glob are sorted by name.

    ``without``: folders whose files a glob does not mean, such as the store that is being made.
    """
    given = [inputs] if isinstance(inputs, (str, PathLike)) or not isinstance(inputs, Iterable) else list(inputs)
    if not given:
        raise ParameterError("expected at least one file, glob or folder to ingest, got none.")
    files = [file for entry in given for file in _find_files(entry, without)]
    for file in files:
        if kind_of(existing(file)) == "JSON":
            raise DataError(
                f"{file.name} is one JSON array, which has to be read at once. Write one record a line, .jsonl."
            )
    _refuse_repeats(files)
    return files


def _find_files(entry: File, without: tuple[Path, ...]) -> list[Path]:
    path = as_path(entry)
    if path.is_dir():
        return _files_of_folder(path)
    if path.exists() or not glob.has_magic(str(path)):
        return [path]
    folder = next(parent for parent in (*path.parents, Path()) if parent.is_dir())  # is meant as it is written
    pattern = str(Path(glob.escape(str(folder))) / path.relative_to(folder))
    matches = (match for match in map(Path, glob.glob(pattern, recursive=True)) if match.is_file())
    found = sorted(match for match in matches if not any(match.resolve().is_relative_to(each) for each in without))
    if not found:
        raise DataError(f"{path}: no file has a name like this.")
    return found


def _files_of_folder(folder: Path) -> list[Path]:
    known = [file for file in folder.iterdir() if file.is_file() and KINDS.get(plain_suffix(file), "JSON") != "JSON"]
    found = sorted(file for file in known if file.name[0] not in "._")  # such names are other programs' notes
    if not found:
        endings = ", ".join(ending for ending, kind in KINDS.items() if kind != "JSON")
        raise DataError(f"{folder} holds no file to ingest. Expected an ending of {endings}, or these with .gz.")
    return found


def _refuse_repeats(files: list[Path]) -> None:
    seen: set[Path] = set()
    for file in files:
        if file.resolve() in seen:
            raise DataError(f"{file} is given twice; its comparisons would count twice. Give every file once.")
        seen.add(file.resolve())


def fingerprint(files: list[Path]) -> list[dict[str, Any]]:
    """Return what tells whether files have changed: path, size and time of the last change of each."""
    found = []
    for file in files:
        status = existing(file).stat()
        found.append({"path": str(file.resolve()), "size": status.st_size, "changed": status.st_mtime_ns})
    return found


def name_files(files: list[Path]) -> list[str]:
    """Return the names to tell people: without folders, unless several files have the same name."""
    names = [file.name for file in files]
    return [file.name if names.count(file.name) == 1 else str(file) for file in files]


# Ids of all inputs: whole numbers or text, decided over everything, and the items numbered as they come.

# in files that say so: "integers" or "text"; in text files: "plain" if all are plain whole numbers, else "words"
IdKind = Literal["integers", "text", "plain", "words"]
REMEDY = "A store holds whole numbers and text: write such ids as text."


def check_ids(rows: Rows) -> Rows:
    """Return rows whose ids are all int64 or all text; refuse ids of other kinds."""
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
    """Return what the ids of a batch are; those of text files have been read as numbers where all of them are."""
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


# Files of any size read in batches of rows, each a frame as :func:`plurank.data.readers.read_table` gives it.
#
# Text is cut where a record ends, so that a batch is the header and some whole records; Parquet is cut by row numbers.
# Where batches begin depends on the file and the budget alone.

PROBE_ROWS = 10_000  # looked at first, to see how wide the rows of a Parquet file are
MOST_GROWTH = 16  # a record may be this many times longer than the text usually read at once


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


def read_batches(file: Path, given: Given, budget: Budget, scratch: Path, begin: Place) -> Iterator[Batch]:
    """Read a file from some place on; ``scratch`` is a folder for what must be unzipped first."""
    kind = kind_of(file)
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
    # columns that nobody asks for are named in messages and never read
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
            is_blank = place.n_rows > 0 and not text.strip()  # which JSON must not be, but an empty file is told so
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
            'Is a quote (") left open? If not, give more memory.'
        )


def _share_read(stream: Any, size: int) -> float:
    # of a zipped file, what was read of the file itself
    return min(1.0, getattr(stream, "fileobj", stream).tell() / size)


# The first half of an ingest: all inputs, batch by batch, become sorted runs on disk.


@dataclass(frozen=True)
class Source:
    """What to read, and how."""

    files: list[Path]
    columns: Given
    ties: Ties


def read_inputs(source: Source, part: Path, budget: Budget, on_progress: Progress) -> None:
    """Turn the inputs into runs, in the folder of the ingest, going on after those that are there."""
    reader = InputReader(source, part, budget)
    sizes = [file.stat().st_size for file in source.files]
    for number in range(reader.runs[-1].origin.file if reader.runs else 0, len(sizes)):
        for done in reader.read_file(number):
            share = (sum(sizes[:number]) + done * sizes[number]) / sum(sizes)
            on_progress(f"reading {reader.names[number]}", share)
    if not reader.runs:
        raise DataError(ONLY_TIES if TIES_DROPPED in reader.left_out else ONLY_INVALID)
    write_json(part / LEFT_OUT, reader.describe_left_out())


class InputReader:
    """Reads inputs, and remembers of what was read before: the runs, the items, and what kinds of ids there are."""

    def __init__(self, source: Source, part: Path, budget: Budget) -> None:
        self.source, self.part, self.budget = source, part, budget
        self.names = name_files(source.files)
        self.vocabulary = Vocabulary(budget)
        self.kinds: dict[str, dict[IdKind, str]] = {"user": {}, "item": {}}
        self.runs: list[Run] = []
        self.n_rows, self.left_out = 0, Counter[str]()  # of rows that are in no run yet
        for run in list_runs(part / RUNS):
            self.vocabulary.add(read_labels(run_folder(part / RUNS, run.number) / NEW_ITEMS))
            self._remember(run)

    def read_file(self, number: int) -> Iterator[float]:
        """Turn an input, or what is left of it, into runs; gives the share of it that is read, again and again."""
        place, reading = self._where_we_were(number)
        with self._naming(number):
            for batch in self._batches(number, place):
                place = batch.end
                if len(batch.frame):
                    reading = reading or self._decide_reading(batch, number)
                    self._add(batch, number, reading)
                yield batch.done
            if not place.n_rows:
                raise DataError(NO_ROWS)

    def _where_we_were(self, number: int) -> tuple[Place, Reading | None]:
        last = self.runs[-1].origin if self.runs else None
        if last is None or last.file != number:
            return Place(), None
        return Place(last.position, last.n_rows), last.reading

    def _batches(self, number: int, place: Place) -> Iterator[Batch]:
        return read_batches(self.source.files[number], self.source.columns, self.budget, self.part, place)

    def _decide_reading(self, batch: Batch, number: int) -> Reading | None:
        """Read a whole input in advance, where rows are such that it takes all of them to understand one."""
        if not names_winners(batch.frame, self.source.columns):
            return None
        batches = (batch for batch in self._batches(number, Place()) if len(batch.frame))
        return decide_reading(((batch.frame, batch.begin.n_rows + 1) for batch in batches), self.source.columns)

    def _add(self, batch: Batch, number: int, reading: Reading | None) -> None:
        """Turn a batch into a run."""
        first_row = batch.begin.n_rows + 1
        rows = read_rows(batch.frame, self.source.columns, self.source.ties, first_row=first_row, reading=reading)
        self.n_rows += len(batch.frame)
        self.left_out.update({entry.reason: entry.n for entry in rows.excluded})
        if len(rows.users):
            folder = run_folder(self.part / RUNS, len(self.runs))
            origin = Origin(number, batch.end.position, batch.end.n_rows, reading)
            from_text = kind_of(self.source.files[number]) in TEXT_KINDS
            self._remember(
                write_run(
                    folder, rows, self.vocabulary, origin,
                    from_text=from_text, n_rows=self.n_rows, left_out=dict(self.left_out),
                )
            )  # fmt: skip
            self.n_rows, self.left_out = 0, Counter()

    def describe_left_out(self) -> list[dict[str, Any]]:
        """Return what was left out of all inputs, as plain values."""
        total, n_rows = Counter(self.left_out), self.n_rows + sum(run.n_rows for run in self.runs)
        for run in self.runs:
            total.update(run.left_out)
        return [Exclusion("row", total[reason], n_rows, reason).to_dict() for reason in sorted(total)]

    def _remember(self, run: "Run") -> None:
        self.runs.append(run)
        for role, kind in (("user", run.user_kind), ("item", run.item_kind)):
            self.kinds[role].setdefault(kind, self.names[run.origin.file])
            settle_type(role, self.kinds[role])

    @contextmanager
    def _naming(self, number: int) -> Iterator[None]:
        """Put the input's name before errors about its content; those of the readers have its short name already."""
        try:
            yield
        except DataError as error:
            raise error.within(self.names[number], self.source.files[number].name) from None


RUNS, RECORD, NEW_ITEMS, LEFT_OUT = "runs", "run.json", "items.parquet", "left_out.json"


@dataclass(frozen=True)
class Origin:
    """Where rows come from: the number of an input, where in it the next batch begins, and how winners are read."""

    file: int
    position: int
    n_rows: int
    reading: Reading | None


@dataclass(frozen=True)
class Run:
    """What is known of a run without opening it."""

    number: int
    origin: Origin
    user_kind: IdKind
    item_kind: IdKind
    n_users: int
    n_comparisons: int
    label_bytes: int
    is_weighted: bool
    n_rows: int = 0  # of the inputs, since the run before
    left_out: dict[str, int] = field(default_factory=dict)  # how many of these, by the reason


def run_folder(runs: Path, number: int) -> Path:
    """Return the folder of a run."""
    return runs / f"{number:06d}"


def list_runs(runs: Path) -> list[Run]:
    """Return the runs that are finished, in the order of the rows."""
    found: list[Run] = []
    while (record := run_folder(runs, len(found)) / RECORD).is_file():
        fields = json.loads(record.read_bytes())
        found.append(Run(**{**fields, "origin": Origin(**fields["origin"])}))
    return found


def write_run(
    folder: Path,
    rows: Rows,
    vocabulary: Vocabulary,
    origin: Origin,
    *,
    from_text: bool,
    n_rows: int,
    left_out: dict[str, int],
) -> Run:
    """Check and sort the rows of a batch, and set them down."""
    s, items = sort_rows(check_ids(rows), from_text=from_text)
    codes, new_items = vocabulary.add(items)
    run = Run(
        int(folder.name),
        origin,
        user_kind=kind_of_ids(s.users, from_text=from_text),
        item_kind=kind_of_ids(items, from_text=from_text),
        n_users=len(s.users),
        n_comparisons=len(s.winners),
        label_bytes=int(s.users.estimated_size()),
        is_weighted=s.weights is not None,
        n_rows=n_rows,
        left_out=left_out,
    )
    clear_folder(folder)
    write_shard(folder, s._replace(winners=codes[s.winners], losers=codes[s.losers]))
    write_labels(folder / NEW_ITEMS, new_items)
    write_json(folder / RECORD, asdict(run))
    return run


def rewrite_as_text(run: Run, folder: Path, target: Path) -> None:
    """Sort a run of whole numbers again, its users as text."""
    part = map_part(folder, 0, run.n_users, is_weighted=run.is_weighted)
    clear_folder(target)
    write_shard(target, merge_parts([part._replace(users=part.users.cast(pl.String))]))
    write_json(target / RECORD, asdict(run))
