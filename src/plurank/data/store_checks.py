"""What a store must be like before its numbers are used as places in arrays, however well it is sealed.

Checksums find damage. Whoever makes a store on purpose can seal anything; kernels would then read and write anywhere.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurank.data.checks import is_number
from plurank.data.exclusions import check_exclusions
from plurank.data.rows import LEAST_WEIGHT, MOST_WEIGHT
from plurank.data.shards import USERS, count_labels, map_array
from plurank.exceptions import DataError

COUNTS = ("n_users", "n_items", "n_comparisons", "least_per_user", "most_per_user")
ARRAYS = {"winners": np.int32, "losers": np.int32, "offsets": np.int64, "weights": np.float64}


def is_manifest(manifest: dict[str, Any], items: str) -> bool:
    """Tell whether a manifest has fields of the right kinds, and names no file that is not the store's own."""
    shards = manifest["shards"]
    return (
        all(_is_count(manifest[name]) for name in COUNTS)
        and all(is_number(manifest[name]) and manifest[name] > 0 for name in ("total_weight", "median_per_user"))
        and isinstance(manifest["is_weighted"], bool)
        and check_exclusions(manifest.get("excluded", []))  # which older stores do not have
        and _is_record(manifest["items"], {items})
        and isinstance(shards, list)
        and all(_is_shard(shard, manifest["is_weighted"]) for shard in shards)
        and all(sum(shard[name] for shard in shards) == manifest[name] for name in ("n_users", "n_comparisons"))
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_whole(value) and 0 < value < 2**62


def _is_shard(shard: Any, is_weighted: bool) -> bool:
    if not isinstance(shard, dict) or not isinstance(shard.get("files"), list):
        return False
    names = {f"{name}.npy" for name in ARRAYS if is_weighted or name != "weights"} | {USERS}
    return (
        re.fullmatch("[0-9]{1,20}", str(shard.get("name"))) is not None
        and _is_count(shard.get("n_users"))
        and _is_count(shard.get("n_comparisons"))
        and all(_is_record(record, names) for record in shard["files"])
        and {record["name"] for record in shard["files"]} == names
    )


def _is_record(record: Any, names: set[str]) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("name"), str)
        and record["name"] in names
        and _is_whole(record.get("size"))
        and _is_whole(record.get("checksum"))
    )


def check_arrays(folder: Path, shard: dict[str, Any], n_items: int, is_weighted: bool) -> None:
    """Refuse a shard whose arrays are not what its manifest says, or lead outside each other."""
    n_users, n = shard["n_users"], shard["n_comparisons"]
    for name in ARRAYS if is_weighted else list(ARRAYS)[:3]:
        try:
            array = map_array(folder, name)
        except Exception:  # a damaged npy can raise nearly anything
            array = np.empty(0)
        expected = n_users + 1 if name == "offsets" else n
        if array.dtype != ARRAYS[name] or array.shape != (expected,) or not _is_sound(name, array, n, n_items):
            raise DataError(f"{folder / name}.npy is not what a store has there. Ingest the data again.")
    if count_labels(folder / USERS) != n_users:
        raise DataError(f"{folder / USERS} is not what a store has there. Ingest the data again.")


def _is_sound(name: str, array: NDArray[Any], n: int, n_items: int) -> bool:
    if name == "offsets":
        return bool(array[0] == 0 and array[-1] == n and (np.diff(array) >= 0).all())
    if name == "weights":
        return bool(array.min() >= LEAST_WEIGHT / 2 and array.max() <= MOST_WEIGHT)  # a tie is half a win
    return bool(array.min() >= 0 and array.max() < n_items)
