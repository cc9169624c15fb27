"""Ratings and ranks, which are numbers in runs, become levels: places among the values of all ratings, or of the user's
ranks. In memory ``data/rated.py`` does the same."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from plurank import kernels
from plurank.data.ratings import is_agreement, without_a
from plurank.data.readers import Form
from plurank.exceptions import DataError
from plurank.store.shards import Shard, find_repeated, map_array
from plurank.types import Codes, Floats, Integers

MOST_VALUES = 100_000  # of ratings, which every process holds


def collect_values(folders: Sequence[Path]) -> Floats:
    """Return the values that ratings of all runs have, ascending."""
    values = np.zeros(0)
    for folder in folders:
        values = np.union1d(values, map_array(folder, "values"))
        if len(values) > MOST_VALUES:
            raise DataError(
                f"there are more than {MOST_VALUES:,} different ratings, which a store does not hold. Round them: a "
                "model tells only a few levels apart."
            )
    return values


def sort_levels(shard: Shard, items: pl.Series, values: Floats, form: Form) -> Shard:
    """Turn values into levels, and sort each user's items by level, then by item; raise for items rated twice."""
    owners, codes = shard.owners(), shard.columns["codes"]
    _refuse_duplicates(shard, owners, items, "rank" if form == "rankings" else "rating")
    own = shard.columns["values"]
    scale = values if form == "ratings" else np.unique(own)
    levels = np.searchsorted(scale, own).astype(np.int32)
    order = np.arange(len(codes))
    for column, n in ((codes, len(items)), (levels, len(scale)), (owners, len(shard.users))):
        order = order[kernels.group(column[order], n)[0]]
    levels = levels[order]
    if form == "rankings":
        levels = _count_groups(levels, shard.offsets)
    return shard._replace(columns={"codes": codes[order], "levels": levels})


def _count_groups(levels: Codes, offsets: Integers) -> Codes:
    """Number each user's groups of tied items from 0 on, given their levels, sorted."""
    steps = np.cumsum(np.append(False, levels[1:] != levels[:-1]))
    return (steps - np.repeat(steps[offsets[:-1]], np.diff(offsets))).astype(np.int32)


def _refuse_duplicates(shard: Shard, owners: Codes, items: pl.Series, value: str) -> None:
    codes = shard.columns["codes"]
    repeated = find_repeated(owners, codes, len(items))
    if len(repeated):
        first = int(repeated[0])
        user, item = shard.users[int(owners[first])], items[int(codes[first])]
        raise DataError(
            f"user {user!r:.60} has more than one {value} for item {item!r:.60}. Keep one {value} a user and item."
        )


def describe_as_votes(excluded: list[dict[str, Any]], values: Floats) -> list[dict[str, Any]]:
    """Call ratings votes where that is what they all are."""
    if not is_agreement(values):
        return excluded
    reasons = {without_a("rating"): without_a("vote")}
    return [{**entry, "reason": reasons.get(entry["reason"], entry["reason"])} for entry in excluded]
