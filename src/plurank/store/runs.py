"""The first half of an ingest: inputs, batch by batch, become runs on disk, each sorted by user.

A run is a shard whose items are numbered in order of appearance over all runs; ratings and ranks are numbers still.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank.data.build import (
    ONLY_INVALID,
    ONLY_TIES,
    TIES_DROPPED,
)
from plurank.data.coded import Exclusion
from plurank.data.columns import OutcomeForm, decide_reading, names_winners
from plurank.data.frames import TEXT_KINDS
from plurank.data.ratings import all_missing
from plurank.data.readers import Form
from plurank.exceptions import Argument, DataError, ParameterError
from plurank.io import write_json
from plurank.store.batches import Batch, Budget, Place, read_batches
from plurank.store.rows import (
    MIXED,
    VALUES,
    Job,
    Sorted,
    check_roles_of,
    decide_form,
    no_observations,
    sort_batch,
)
from plurank.store.shards import Shard, clear_folder, map_part, merge_parts, read_labels, write_labels, write_shard
from plurank.types import Codes, Progress

ITEM_COLUMNS = ("winners", "losers", "codes")
RUNS, RECORD, NEW_ITEMS, LEFT_OUT = "runs", "run.json", "items.parquet", "left_out.json"

# Ids of all inputs: integers or text, decided over all of them; items are numbered in order of appearance.

# in files that say so: "integers" or "text"; in text files: "plain" if all are plain integers, else "words"
IdKind = Literal["integers", "text", "plain", "words"]


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
                f"{role} ids are integers in {files['integers']} and text in {files[kind]}. "
                "Write them the same way in all files."
            )
    return pl.Int64 if files.keys() <= {"integers", "plain"} else pl.String


class Vocabulary:
    """The items so far, as text, numbered in order of appearance; found by their hashes, and compared."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.n_items = self.n_bytes = 0
        self.texts = pl.Series("id", [], pl.String)
        self.hashes = np.empty(0, dtype=np.uint64)  # sorted
        self.codes = np.empty(0, dtype=np.int32)  # of the items with these hashes

    def add(self, ids: pl.Series) -> tuple[Codes, pl.Series]:
        """Number distinct ids; return their numbers, and those of them that are new, in order."""
        texts = ids.cast(pl.String).rename("id")
        hashes = texts.hash().to_numpy()
        codes = self._find(texts, hashes)
        is_new = codes < 0
        codes[is_new] = np.arange(self.n_items, self.n_items + int(is_new.sum()))
        self._insert(hashes[is_new], codes[is_new])
        new = texts.filter(pl.Series(is_new))
        self.texts = pl.concat([self.texts, new])
        self.n_bytes += int(new.estimated_size())
        self._check_size()
        return codes, new

    def _find(self, texts: pl.Series, hashes: NDArray[np.uint64]) -> Codes:
        """Return the numbers of ids, -1 for those that are new; exactly, should two hashes be equal."""
        at = np.searchsorted(self.hashes, hashes)
        is_known = (np.append(self.hashes, np.uint64(0))[at] == hashes) & (at < self.n_items)
        codes = np.where(is_known, np.append(self.codes, np.int32(0))[at], np.int32(-1))
        if self.texts.gather(codes[is_known]).equals(texts.filter(pl.Series(is_known))):
            return codes
        numbers = {text: code for code, text in enumerate(self.texts.to_list())}
        return np.array([numbers.get(text, -1) for text in texts.to_list()], dtype=np.int32)

    def _insert(self, hashes: NDArray[np.uint64], codes: Codes) -> None:
        order = np.argsort(hashes)
        at = np.searchsorted(self.hashes, hashes[order])
        self.hashes, self.codes = np.insert(self.hashes, at, hashes[order]), np.insert(self.codes, at, codes[order])
        self.n_items += len(codes)

    def _check_size(self) -> None:
        if not self.budget.can_hold_items(self.n_items, self.n_bytes):
            raise ParameterError(
                f"there are at least {self.n_items:,} items, too many for the memory allowed.",
                parameter="memory",
                hint=("Increase ", Argument("memory"), " and run again to continue."),
            )


def read_inputs(job: Job, part: Path, budget: Budget, on_progress: Progress) -> None:
    """Turn the inputs into runs, in the folder of the ingest, continuing after those that exist."""
    reader = InputReader(job, part, budget)
    sizes = [file.path.stat().st_size for file in job.files]
    for number in range(reader.runs[-1].origin.file if reader.runs else 0, len(sizes)):
        for done in reader.read_file(number):
            share = (sum(sizes[:number]) + done * sizes[number]) / sum(sizes)
            on_progress(f"reading {job.files[number].name}", share)
    if not reader.runs:
        raise DataError(_say_why_nothing(reader))
    write_json(part / LEFT_OUT, reader.describe_left_out())


def _say_why_nothing(reader: "InputReader") -> Any:
    """Say why no row is left."""
    if reader.form in VALUES:
        return all_missing(VALUES[reader.form])
    return ONLY_TIES if TIES_DROPPED in reader.left_out else ONLY_INVALID


class InputReader:
    """Reads inputs, and keeps track of what was read before: the runs, the items, and what kinds of ids there are."""

    def __init__(self, job: Job, part: Path, budget: Budget) -> None:
        self.job, self.part, self.budget = job, part, budget
        self.vocabulary = Vocabulary(budget)
        self.kinds: dict[str, dict[IdKind, str]] = {"user": {}, "item": {}}
        self.runs: list[Run] = []
        self.form: Form = "comparisons"
        self.file_of_form: str | None = None  # the first input, which decides the form
        self.n_rows, self.left_out = 0, Counter[str]()  # of rows that are in no run yet
        for run in list_runs(part / RUNS):
            self.vocabulary.add(read_labels(run_folder(part / RUNS, run.number) / NEW_ITEMS))
            self._remember(run)

    def read_file(self, number: int) -> Iterator[float]:
        """Turn an input, or what is left of it, into runs; yields the share that has been read."""
        place, reading = self._resume_point(number)
        with self._naming(number):
            for batch in self._batches(number, place):
                place = batch.end
                self._settle_form(batch.frame, number)
                if len(batch.frame):
                    reading = reading or self._decide_reading(batch, number)
                    self._add(batch, number, reading)
                yield batch.done
            if not place.n_rows:
                raise DataError(no_observations(self.form))

    def _settle_form(self, frame: pl.DataFrame, number: int) -> None:
        """Decide the form of the first input; raise where that of another one is different."""
        if not frame.width:
            return  # blank lines
        form, name = decide_form(frame, self.job.columns), self.job.files[number].name
        if self.file_of_form is None:
            self._take_form(form, name)
            check_roles_of(self.job, form)
        elif form != self.form:
            raise DataError(f"this holds {form}, and {self.file_of_form} holds {self.form}. {MIXED}")

    def _take_form(self, form: Form, name: str) -> None:
        self.form, self.file_of_form = form, name

    def _resume_point(self, number: int) -> tuple[Place, OutcomeForm | None]:
        last = self.runs[-1].origin if self.runs else None
        if last is None or last.file != number:
            return Place(), None
        return Place(last.position, last.n_rows), last.reading

    def _batches(self, number: int, place: Place) -> Iterator[Batch]:
        file = self.job.files[number]
        return read_batches(file.path, file.kind, self.job.columns, self.budget, self.part, place)

    def _decide_reading(self, batch: Batch, number: int) -> OutcomeForm | None:
        """Read a whole input in advance, where rows are such that it takes all of them to understand one."""
        if self.form != "comparisons" or not names_winners(batch.frame, self.job.columns):
            return None
        batches = (batch for batch in self._batches(number, Place()) if len(batch.frame))
        return decide_reading(((batch.frame, batch.begin.n_rows + 1) for batch in batches), self.job.columns)

    def _add(self, batch: Batch, number: int, reading: OutcomeForm | None) -> None:
        """Turn a batch into a run."""
        first_row, from_text = batch.begin.n_rows + 1, self.job.files[number].kind in TEXT_KINDS
        rows = sort_batch(batch.frame, self.form, self.job, first_row, reading, from_text=from_text)
        self.n_rows += len(batch.frame)
        self.left_out.update(rows.left_out)
        if len(rows.shard.users):
            folder = run_folder(self.part / RUNS, len(self.runs))
            origin = Origin(number, batch.end.position, batch.end.n_rows, reading)
            self._remember(
                write_run(
                    folder, rows, self.form, self.vocabulary, origin,
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
        if self.file_of_form is None:
            self._take_form(run.form, self.job.files[run.origin.file].name)
        for role, kind in (("user", run.user_kind), ("item", run.item_kind)):
            self.kinds[role].setdefault(kind, self.job.files[run.origin.file].name)
            settle_type(role, self.kinds[role])

    @contextmanager
    def _naming(self, number: int) -> Iterator[None]:
        """Put the input's name before errors about its content; those of the readers have its short name already."""
        file = self.job.files[number]
        try:
            yield
        except DataError as error:
            raise error.within(file.name, file.path.name) from None


@dataclass(frozen=True)
class Origin:
    """Where rows come from: the number of an input, where in it the next batch begins, and how winners are read."""

    file: int
    position: int
    n_rows: int
    reading: OutcomeForm | None


@dataclass(frozen=True)
class Run:
    """What is known of a run without opening it."""

    number: int
    origin: Origin
    form: Form
    columns: list[str]
    user_kind: IdKind
    item_kind: IdKind
    n_users: int
    n_observations: int
    label_bytes: int
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
    rows: Sorted,
    form: Form,
    vocabulary: Vocabulary,
    origin: Origin,
    *,
    from_text: bool,
    n_rows: int,
    left_out: dict[str, int],
) -> Run:
    """Number the items of a batch anew, and write it."""
    shard, items = rows.shard, rows.items
    codes, new_items = vocabulary.add(items)
    run = Run(
        int(folder.name),
        origin,
        form,
        list(shard.columns),
        user_kind=kind_of_ids(shard.users, from_text=from_text),
        item_kind=kind_of_ids(items, from_text=from_text),
        n_users=len(shard.users),
        n_observations=shard.n_rows,
        label_bytes=int(shard.users.estimated_size()),
        n_rows=n_rows,
        left_out=left_out,
    )
    clear_folder(folder)
    write_shard(folder, renumber_items(shard, codes))
    write_labels(folder / NEW_ITEMS, new_items)
    write_json(folder / RECORD, asdict(run))
    return run


def renumber_items(shard: Shard, codes: Codes) -> Shard:
    """Return the shard with other codes of items, (Q,)."""
    items = {name: codes[shard.columns[name]] for name in ITEM_COLUMNS if name in shard.columns}
    return shard._replace(columns={**shard.columns, **items})


def rewrite_as_text(run: Run, folder: Path, target: Path) -> None:
    """Sort a run of integer ids again, with users as text."""
    part = map_part(folder, 0, run.n_users, run.columns)
    clear_folder(target)
    write_shard(target, merge_parts([part._replace(users=part.users.cast(pl.String))]))
    write_json(target / RECORD, asdict(run))
