"""The second half of an ingest: sorted runs are merged into the shards of a store."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from plurank.data.encoding import as_labels, as_series, invert
from plurank.data.rated import add_offered_items
from plurank.data.readers import Form
from plurank.exceptions import Argument, DataError, ParameterError
from plurank.io import write_beside, write_json
from plurank.store.batches import PROGRAM, USER_ROW, Budget
from plurank.store.levels import collect_values, describe_as_votes, sort_levels
from plurank.store.runs import (
    LEFT_OUT,
    NEW_ITEMS,
    RECORD,
    RUNS,
    Run,
    renumber_items,
    rewrite_as_text,
    run_folder,
    settle_type,
)
from plurank.store.shards import (
    COMPARED,
    FORMAT,
    ITEMS,
    MANIFEST,
    RATED,
    SHARDS,
    USERS,
    Shard,
    clear_folder,
    map_array,
    map_part,
    merge_parts,
    read_labels,
    seal,
    write_labels,
    write_shard,
)
from plurank.types import Codes, Floats, Integers, Progress

# Where to cut the users of all runs into shards, so that none holds more rows than it may.
#
# Users are looked at in sorted order. Edges are users drawn from the runs, one for every so many rows; how many
# rows lie between two of them is counted exactly, and where there are too many, more edges are drawn.

NOUNS: dict[Form, str] = {"comparisons": "comparisons", "ratings": "ratings", "rankings": "ranked items"}
DRAWS = 32  # edges for every shard's worth of rows


@dataclass(frozen=True)
class Cuts:
    """How many users of each run come before each shard but the first, (n_shards - 1, n_runs).

    ``sizes`` are the rows of each shard, (n_shards,), and ``largest`` is the first user of the largest.
    """

    positions: Integers
    sizes: Integers
    largest: Any


def cut_into_shards(folders: Sequence[Path], total: int, most: int) -> Cuts:
    """Cut the users of sorted runs into shards of at most so many rows, or of one user who has more."""
    edges = read_labels(folders[0] / USERS, 0, 0)
    before = np.zeros(0, dtype=np.int64)
    while True:
        bounds = np.concatenate([[0], before, [total]])
        heavy = np.flatnonzero(np.diff(bounds) > most)
        drawn = _draw_edges(folders, edges, heavy, max(1, most // DRAWS))
        if not len(drawn):
            break
        edges = pl.concat([edges, drawn]).unique().sort()
        before = sum((_count_before(folder, edges)[1] for folder in folders), start=np.zeros(len(edges), np.int64))
    chosen = pack(before, total, most)
    positions = np.stack([_count_before(folder, edges.gather(chosen))[0] for folder in folders], axis=1)
    sizes = np.diff(np.concatenate([[0], before[chosen], [total]]))
    firsts = pl.concat([edges.head(1), edges.gather(chosen)])
    return Cuts(positions, sizes, firsts[int(np.argmax(sizes))] if len(firsts) else None)


def _count_before(folder: Path, edges: pl.Series) -> tuple[Integers, Integers]:
    """Return how many users of a run, and how many rows of theirs, come before each edge."""
    positions = read_labels(folder / USERS).search_sorted(edges, "left").to_numpy().astype(np.int64)
    return positions, np.asarray(map_array(folder, "offsets")[positions])


def _draw_edges(folders: Sequence[Path], edges: pl.Series, heavy: Integers, step: int) -> pl.Series:
    """Draw users strictly between edges c - 1 and c, for all heavy c: the user of every so many rows.

    The first of each run is drawn, too, so that an edge with very many rows is soon alone.
    """
    drawn = [edges.clear()]
    seen = np.zeros(len(heavy), dtype=np.int64)
    for folder in folders if len(heavy) else ():
        users, offsets = read_labels(folder / USERS), map_array(folder, "offsets")
        begins = np.concatenate([[0], users.search_sorted(edges, "right").to_numpy()])[heavy]
        ends = np.concatenate([users.search_sorted(edges, "left").to_numpy(), [len(users)]])[heavy]
        for c in np.flatnonzero(begins < ends):
            first, last = offsets[begins[c]], offsets[ends[c]]
            rows = np.append(np.arange(first - seen[c] % step + step, last, step), first)
            drawn.append(users.gather(np.searchsorted(offsets, rows, "right") - 1))
            seen[c] += last - first
    return pl.concat(drawn).unique()


def pack(before: Integers, total: int, most: int) -> Integers:
    """Choose edges so that shards are as large as they may be; ``before`` are the rows before each edge."""
    chosen, begun = [], 0
    for edge, (here, following) in enumerate(pairwise([*before, total])):
        if following - begun > most and here > begun:
            chosen.append(edge)
            begun = here
    return np.array(chosen, dtype=np.int64)


TEXT_RUNS, CUTS, RECORDS = "text-runs", "cuts.npy", "records"


@dataclass(frozen=True)
class Merged:
    """What all shards share: the form, the new number of every item of the runs (Q,), the items, and the values that
    ratings have, (n_levels,)."""

    form: Form
    ranks: Codes
    items: pl.Series
    values: Floats

    @property
    def is_rated(self) -> bool:
        """Whether these are ratings or rankings."""
        return self.form != "comparisons"


def merge_runs(
    runs: list[Run], part: Path, store: Path, budget: Budget, on_progress: Progress, offered: Any = None
) -> None:
    """Merge runs into a store, continuing after the shards that exist."""
    folders = _sort_alike(runs, part)
    ranks, items = _sort_items(runs, part)
    values = collect_values(folders) if runs[0].form == "ratings" else np.zeros(0)
    merged = Merged(runs[0].form, ranks, items if offered is None else _append_offered(items, offered), values)
    positions = _find_positions(runs, folders, part / CUTS, budget)
    (part / RECORDS).mkdir(exist_ok=True)
    records = []
    for number in range(len(positions) - 1):
        record = part / RECORDS / f"{number:06d}.json"
        if not record.exists():
            shard = _merge_users(runs, folders, positions[number], positions[number + 1], merged)
            write_json(record, _write_shard(store / SHARDS / record.stem, shard))
        records.append(json.loads(record.read_bytes()))
        on_progress("sorting users", (number + 1) / (len(positions) - 1))
    left_out = part / LEFT_OUT
    excluded = json.loads(left_out.read_bytes()) if left_out.exists() else []
    _write_manifest(store, records, merged, excluded, is_offered=offered is not None)


def _append_offered(items: pl.Series, offered: Any) -> pl.Series:
    """Add items that were offered and that nobody ranked, after the others."""
    labels = add_offered_items(as_labels(items), np.arange(len(items), dtype=np.int32), offered)
    added = as_series(labels, items.name)
    if added.dtype != items.dtype:
        raise DataError(
            f"items are {'text' if items.dtype == pl.String else 'integers'} where they were ranked, and not all of "
            "them where they were offered. Write them the same way."
        )
    return added


def _sort_alike(runs: list[Run], part: Path) -> list[Path]:
    """Return the folders of all runs, their users sorted as text where ids are text, else as integers."""
    folders = [run_folder(part / RUNS, run.number) for run in runs]
    if settle_type("user", {run.user_kind: "" for run in runs}) == pl.String:
        for run in runs:
            if run.user_kind == "plain":
                again = run_folder(part / TEXT_RUNS, run.number)
                if not (again / RECORD).exists():
                    rewrite_as_text(run, folders[run.number], again)
                folders[run.number] = again
    return folders


def _sort_items(runs: list[Run], part: Path) -> tuple[Codes, pl.Series]:
    """Return the place of each item of the runs among all items, and all items in order."""
    items = pl.concat([read_labels(run_folder(part / RUNS, run.number) / NEW_ITEMS) for run in runs])
    items = items.cast(settle_type("item", {run.item_kind: "" for run in runs}))
    order = items.arg_sort().to_numpy()
    return invert(order), items.gather(order)


def _find_positions(runs: list[Run], folders: list[Path], file: Path, budget: Budget) -> Integers:
    """Return which users of each run go to which shard: from row s to row s + 1 of (n_shards + 1, n_runs)."""
    if not file.exists():
        total = sum(run.n_observations for run in runs)
        width = sum(run.label_bytes for run in runs) / total
        cuts = cut_into_shards(folders, total, budget.rows_of_shard(width))
        _refuse_giants(cuts, runs[0].form, budget)
        ends = [run.n_users for run in runs]
        with write_beside(file) as beside, beside.open("wb") as content:
            np.save(content, np.vstack([np.zeros(len(runs), np.int64), cuts.positions, ends]))
    positions: Integers = np.load(file, allow_pickle=False)
    return positions


def _refuse_giants(cuts: Cuts, form: Form, budget: Budget) -> None:
    """Raise an error if one user has more rows than can be merged at once."""
    n = int(cuts.sizes.max())
    if n > max(budget.rows_of_user, budget.rows_of_shard(0)):
        needed = (n * USER_ROW + PROGRAM) // 10**9 + 1
        raise ParameterError(
            f"user {cuts.largest!r:.60} has {n:,} {NOUNS[form]}, too many for the memory allowed.",
            parameter="memory",
            hint=("Run again with ", Argument("memory", f"{needed}GB"), " to continue."),
        )


def _merge_users(runs: list[Run], folders: list[Path], begins: Integers, ends: Integers, merged: Merged) -> Shard:
    """Merge the users from one position of each run to another, and number items by their places."""
    parts = [
        map_part(folder, int(begin), int(end), run.columns)
        for run, folder, begin, end in zip(runs, folders, begins, ends, strict=True)
        if begin < end
    ]
    shard = renumber_items(merge_parts(parts), merged.ranks)
    if merged.is_rated:
        return sort_levels(shard, merged.items, merged.values, merged.form)
    if "weights" not in shard.columns and any("weights" in run.columns for run in runs):
        return shard._replace(columns={**shard.columns, "weights": np.ones(shard.n_rows)})
    return shard


def _write_shard(folder: Path, shard: Shard) -> dict[str, Any]:
    """Write a shard; return its record, with the number of users by their number of rows."""
    clear_folder(folder)
    files = write_shard(folder, shard)
    per_user, n_users = np.unique(np.diff(shard.offsets), return_counts=True)
    weights = shard.columns.get("weights")
    return {
        "name": folder.name,
        "n_users": len(shard.users),
        "n_comparisons": shard.n_rows,
        "total_weight": float(shard.n_rows if weights is None else weights.sum()),
        "is_weighted": weights is not None,
        "files": files,
        "per_user": list(zip(per_user.tolist(), n_users.tolist(), strict=True)),
    }


def _write_manifest(
    store: Path, records: list[dict[str, Any]], merged: Merged, excluded: list[dict[str, Any]], *, is_offered: bool
) -> None:
    """Write the items and the manifest."""
    for leftover in store.glob(".*.part"):  # of an ingest that was killed just here
        leftover.unlink()
    per_user: Counter[int] = Counter()
    for record in records:
        per_user.update(dict(record["per_user"]))
    if merged.is_rated:
        own = {"version": RATED, "form": merged.form, "values": merged.values.tolist(), "offered": is_offered}
    else:
        own = {
            "version": COMPARED,
            "total_weight": math.fsum(record["total_weight"] for record in records),
            "is_weighted": records[0]["is_weighted"],
        }
    manifest = {
        "format": FORMAT,
        **own,
        "n_users": per_user.total(),
        "n_items": len(merged.items),
        "n_comparisons": sum(record["n_comparisons"] for record in records),
        "least_per_user": min(per_user),
        "median_per_user": _median(per_user),
        "most_per_user": max(per_user),
        "excluded": describe_as_votes(excluded, merged.values),
        "items": write_labels(store / ITEMS, merged.items),
        "shards": [{key: record[key] for key in ("name", "n_users", "n_comparisons", "files")} for record in records],
    }
    write_json(store / MANIFEST, {**manifest, "checksum": seal(manifest)})


def _median(counts: Counter[int]) -> float:
    """Return the median of values that occur so many times."""
    values = np.array(sorted(counts))
    ends = np.cumsum([counts[value] for value in values])
    middle = [(ends[-1] - 1) // 2, ends[-1] // 2]
    return float(values[np.searchsorted(ends, middle, "right")].mean())
