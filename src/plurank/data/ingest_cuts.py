"""Where to cut the users of all runs into shards, so that none holds more comparisons than it may.

Users are looked at in sorted order. Edges are users drawn from the runs, one for every so many comparisons; how many
comparisons lie between two of them is counted exactly, and where there are too many, more edges are drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank.data.shards import USERS, map_array, read_labels

DRAWS = 32  # edges for every shard's worth of comparisons
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Cuts:
    """How many users of each run come before each shard but the first, (n_shards - 1, n_runs).

    ``sizes`` are the comparisons of each shard, (n_shards,), and ``largest`` is the first user of the largest.
    """

    positions: Counts
    sizes: Counts
    largest: Any


def cut_into_shards(folders: Sequence[Path], total: int, most: int) -> Cuts:
    """Cut the users of sorted runs into shards of at most so many comparisons, or of one user who has more."""
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


def _count_before(folder: Path, edges: pl.Series) -> tuple[Counts, Counts]:
    """Give how many users of a run, and how many comparisons of theirs, come before each edge."""
    positions = read_labels(folder / USERS).search_sorted(edges, "left").to_numpy().astype(np.int64)
    return positions, np.asarray(map_array(folder, "offsets")[positions])


def _draw_edges(folders: Sequence[Path], edges: pl.Series, heavy: Counts, step: int) -> pl.Series:
    """Draw users strictly between edges c - 1 and c, for all heavy c: the user of every so many comparisons.

    The first of each run is drawn, too, so that an edge with very many comparisons is soon alone.
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


def pack(before: Counts, total: int, most: int) -> Counts:
    """Choose edges so that shards are as large as they may be; ``before`` are the comparisons before each edge."""
    chosen, begun = [], 0
    for edge, (here, following) in enumerate(pairwise([*before, total])):
        if following - begun > most and here > begun:
            chosen.append(edge)
            begun = here
    return np.array(chosen, dtype=np.int64)
