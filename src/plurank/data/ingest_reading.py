"""The first half of an ingest: all inputs, batch by batch, become sorted runs on disk."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plurank.choices import Ties
from plurank.data.columns import Given, decide_reading, names_winners, read_rows
from plurank.data.exclusions import Exclusion
from plurank.data.ingest_batches import Batch, Place, read_batches
from plurank.data.ingest_ids import IdKind, Vocabulary, settle_type
from plurank.data.ingest_inputs import name_files
from plurank.data.ingest_memory import Budget
from plurank.data.ingest_runs import LEFT_OUT, NEW_ITEMS, RUNS, Origin, Run, list_runs, run_folder, write_run
from plurank.data.outcomes import Reading
from plurank.data.readers import is_text
from plurank.data.rows import NO_ROWS, ONLY_INVALID, ONLY_TIES, TIES_DROPPED
from plurank.data.shards import read_labels
from plurank.exceptions import DataError
from plurank.progress import Progress
from plurank.writing import write_json


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
            from_text = is_text(self.source.files[number])
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

    def _remember(self, run: Run) -> None:
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
            short, text = self.source.files[number].name, str(error)
            rest = text.removeprefix(short) if text.startswith(short) else f": {text}"
            raise DataError(f"{self.names[number]}{rest}") from None
