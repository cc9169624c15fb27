"""Runs: batches of rows sorted by user and set down on disk, from which shards are merged.

A run is a shard whose items are numbered in order of appearance over all runs, with the items that it adds, and a
record of where in the inputs it ends. A run without its record does not count.
"""

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import polars as pl

from plurank.data.ingest_ids import IdKind, Vocabulary, check_ids, kind_of_ids
from plurank.data.outcomes import Reading
from plurank.data.rows import Rows, sort_rows
from plurank.data.shards import Shard, clear_folder, map_part, merge_parts, write_labels, write_shard
from plurank.writing import write_json

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
    """Give the folder of a run."""
    return runs / f"{number:06d}"


def list_runs(runs: Path) -> list[Run]:
    """Give the runs that are finished, in the order of the rows."""
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
    s = sort_rows(check_ids(rows), from_text=from_text)
    codes, new_items = vocabulary.add(s.items)
    run = Run(
        int(folder.name),
        origin,
        user_kind=kind_of_ids(s.users, from_text=from_text),
        item_kind=kind_of_ids(s.items, from_text=from_text),
        n_users=len(s.users),
        n_comparisons=len(s.winners),
        label_bytes=int(s.users.estimated_size()),
        is_weighted=s.weights is not None,
        n_rows=n_rows,
        left_out=left_out,
    )
    clear_folder(folder)
    write_shard(folder, Shard(codes[s.winners], codes[s.losers], s.offsets, s.users, s.weights))
    write_labels(folder / NEW_ITEMS, new_items)
    write_json(folder / RECORD, asdict(run))
    return run


def rewrite_as_text(run: Run, folder: Path, target: Path) -> None:
    """Sort a run of whole numbers again, its users as text."""
    part = map_part(folder, 0, run.n_users, is_weighted=run.is_weighted)
    clear_folder(target)
    write_shard(target, merge_parts([replace(part, users=part.users.cast(pl.String))]))
    write_json(target / RECORD, asdict(run))
