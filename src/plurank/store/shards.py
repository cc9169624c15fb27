"""The files of a store: shards, labels and the manifest, each file with a checksum.

A shard has what some users said as plain arrays, all of which can be mapped into memory, and their labels:
``offsets.npy`` int64 (n_users + 1,) and ``users.parquet`` (n_users,). Of comparisons ``winners.npy`` and ``losers.npy``
int32 (n,) and, where some comparison does not weigh 1, ``weights.npy`` float64 (n,); of rated or ranked items
``codes.npy`` and ``levels.npy`` int32 (n,), for each user sorted by level and then by item.
"""

import json
import re
import shutil
import zlib
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.build import LEAST_WEIGHT, MOST_WEIGHT
from plurank.data.coded import COLUMNS, check_exclusions
from plurank.data.encoding import encode_series, write_array
from plurank.data.rated import ARRAYS
from plurank.exceptions import DataError
from plurank.io import write_beside
from plurank.types import Codes, Integers
from plurank.validation import is_number

TYPES = {**COLUMNS, **ARRAYS, "values": np.float64}  # values are of runs only, and become levels
USERS = "users.parquet"
LABEL_GROUP = 2**16  # labels that are read together where only some are wanted
PIECE = 2**22  # bytes read at once for a checksum
REMEDY = "Ingest the data again, or copy the store again from where it is whole; workers must reach it too."


class FileRecord(TypedDict):
    """What a file must be like to be taken for whole."""

    name: str
    size: int
    checksum: int


class Shard(NamedTuple):
    """What some users said, sorted by user: their labels, where the rows of each begin, and the columns, (n,) each."""

    users: pl.Series
    offsets: Integers
    columns: dict[str, NDArray[Any]]

    @property
    def n_rows(self) -> int:
        """Number of comparisons, or of rated or ranked items."""
        return int(self.offsets[-1])

    def owners(self) -> Codes:
        """Return the user of every row, (n,)."""
        return np.repeat(np.arange(len(self.users), dtype=np.int32), np.diff(self.offsets))


def write_shard(folder: Path, shard: Shard) -> list[FileRecord]:
    """Write a shard into a folder, each file whole or absent."""
    records = []
    for name, array in {**shard.columns, "offsets": shard.offsets}.items():
        with write_beside(folder / f"{name}.npy") as beside, beside.open("wb") as file:
            write_array(file, array)
        records.append(describe_file(folder / f"{name}.npy"))
    return [*records, write_labels(folder / USERS, shard.users)]


def clear_folder(folder: Path) -> None:
    """Create an empty folder, without what an interrupted attempt may have left."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def write_labels(target: Path, ids: pl.Series) -> FileRecord:
    """Write labels as a column of Parquet, any part of which can be read alone."""
    with write_beside(target) as beside:
        try:
            ids.rename("id").to_frame().write_parquet(beside, compression="lz4", row_group_size=LABEL_GROUP)
        except pl.exceptions.PolarsError as error:  # polars may wrap a full disk
            raise OSError(f"{target.name} could not be written: {error}") from error
    return describe_file(target)


def describe_file(file: Path) -> FileRecord:
    """Return a file's name, size and checksum."""
    return {"name": file.name, "size": file.stat().st_size, "checksum": checksum(file)}


def checksum(file: Path) -> int:
    """Return the CRC-32 of a file, the fastest checksum of the standard library."""
    value = 0
    with file.open("rb") as content:
        while piece := content.read(PIECE):
            value = zlib.crc32(piece, value)
    return value


def check_size(folder: Path, record: FileRecord) -> None:
    """Raise an error for a file that is not there or not as long as it was written."""
    file = folder / record["name"]
    if not file.is_file():
        raise DataError(f"{file} is missing, so the store is damaged. {REMEDY}")
    size = file.stat().st_size
    if size != record["size"]:
        raise DataError(f"{file} is damaged: expected {record['size']:,} bytes, got {size:,}. {REMEDY}")


def check_content(folder: Path, record: FileRecord) -> None:
    """Raise an error for a file that is not what was written."""
    check_size(folder, record)
    if checksum(folder / record["name"]) != record["checksum"]:
        raise DataError(f"{folder / record['name']} is damaged: its content has changed. {REMEDY}")


def map_array(folder: Path, name: str) -> NDArray[Any]:
    """Map an array of a shard into memory."""
    # a plain array over the mapped one, since kernels are compiled for plain ones
    return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))


def read_labels(file: Path, begin: int = 0, end: int | None = None) -> pl.Series:
    """Read labels begin to end - 1, or all of them."""
    length = None if end is None else end - begin
    return _query(file, lambda scan: scan.slice(begin, length))


def count_labels(file: Path) -> int:
    """Return how many labels there are, without reading them."""
    return int(_query(file, lambda scan: scan.select(pl.len()))[0])


def _query(file: Path, ask: Callable[[pl.LazyFrame], pl.LazyFrame]) -> pl.Series:
    try:
        return ask(pl.scan_parquet(file, glob=False)).collect().to_series()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, IndexError):
        raise DataError(f"{file} does not contain labels. {REMEDY}") from None


def map_part(folder: Path, begin: int, end: int, names: Sequence[str]) -> Shard:
    """Map users begin to end - 1 of a shard into memory; offsets begin with 0."""
    offsets, columns = map_columns(folder, begin, end, names)
    return Shard(read_labels(folder / USERS, begin, end), offsets, columns)


def map_columns(folder: Path, begin: int, end: int, names: Sequence[str]) -> tuple[Integers, dict[str, NDArray[Any]]]:
    """Map offsets, beginning with 0, and columns of users begin to end - 1 into memory."""
    offsets = map_array(folder, "offsets")[begin : end + 1]
    rows = slice(offsets[0], offsets[-1])
    return offsets - offsets[0], {name: map_array(folder, name)[rows] for name in names}


def merge_parts(parts: list[Shard]) -> Shard:
    """Sort the rows of several parts by user, those of one user in the order of the parts.

    Comparisons without weights weigh 1 where others have some.
    """
    (codes,), users = encode_series(pl.concat([part.users for part in parts]))
    each = np.repeat(codes, np.concatenate([np.diff(part.offsets) for part in parts]))
    order, offsets = kernels.group(each, len(users))
    names = dict.fromkeys(name for part in parts for name in part.columns)
    return Shard(
        users, offsets, {name: np.concatenate([_column_of(part, name) for part in parts])[order] for name in names}
    )


def _column_of(part: Shard, name: str) -> NDArray[Any]:
    return part.columns[name] if name in part.columns else np.ones(part.n_rows)


def find_repeated(owners: Codes, codes: Codes, n_items: int) -> NDArray[np.int64]:
    """Return the rows, of users ``owners`` in ascending order, of items that the same user has already, (n,)."""
    order, offsets = kernels.group(codes, n_items)
    again = np.zeros(len(order), dtype=bool)
    again[1:] = owners[order][1:] == owners[order][:-1]
    again[offsets[:-1][np.diff(offsets) > 0]] = False
    return np.sort(order[again])


# The manifest: counts, and the names, sizes and checksums of all files.

MANIFEST, ITEMS, SHARDS = "manifest.json", "items.parquet", "shards"
FORMAT = "plurank store"
COMPARED, RATED = 1, 2  # versions: of comparisons, as earlier programs read them, and of rated or ranked items
SHARED_FIELDS = (
    "n_users", "n_items", "n_comparisons", "least_per_user", "median_per_user", "most_per_user", "items", "shards",
)  # fmt: skip
FIELDS = {
    COMPARED: (*SHARED_FIELDS, "total_weight", "is_weighted"),
    RATED: (*SHARED_FIELDS, "form", "values", "offered"),
}

Manifest = dict[str, Any]


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a store; raise where there is none, or it is damaged."""
    file = folder / MANIFEST
    if not file.is_file():
        if folder.suffix == ".part":
            raise DataError(f"{folder} is an unfinished store. Run the same `plurank ingest` again to continue.")
        raise DataError(f"{folder} is not a store: it has no {MANIFEST}. Make one with `plurank ingest`.")
    try:
        manifest = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise DataError(f"{file} is damaged, or not of a store. Ingest the data again.")
    version = manifest.get("version")
    if version not in (COMPARED, RATED):
        raise DataError(
            f"{folder} is a store of version {version}; this plurank reads {COMPARED} and {RATED}. "
            "Ingest the data again."
        )
    is_sealed = manifest.get("checksum") == seal(manifest) and manifest.keys() >= set(FIELDS[version])
    if not is_sealed or not _is_manifest(manifest):
        raise DataError(f"{file} is damaged: its content has changed. Ingest the data again.")
    return manifest


def seal(manifest: Manifest) -> int:
    """Return the checksum of a manifest without its own."""
    content = {key: value for key, value in manifest.items() if key != "checksum"}
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())


# Checks of everything that is used as a position in an array. Checksums find damage, but a forged store can have valid
# ones, and kernels would then read and write anywhere.

COUNTS = ("n_users", "n_items", "n_comparisons", "least_per_user", "most_per_user")


def array_names(manifest: Manifest) -> tuple[str, ...]:
    """Return the names of the columns that shards have."""
    if manifest["version"] == RATED:
        return "codes", "levels"
    return ("winners", "losers", "weights") if manifest["is_weighted"] else ("winners", "losers")


def _is_manifest(manifest: Manifest) -> bool:
    """Check whether a manifest has fields of the right kinds, and names no file that is not the store's own."""
    shards = manifest["shards"]
    return (
        all(_is_count(manifest[name]) for name in COUNTS)
        and is_number(manifest["median_per_user"])
        and manifest["median_per_user"] > 0
        and (_is_rated(manifest) if manifest["version"] == RATED else _is_compared(manifest))
        and check_exclusions(manifest.get("excluded", []))  # which older stores do not have
        and _is_record(manifest["items"], {ITEMS})
        and isinstance(shards, list)
        and all(_is_shard(shard, array_names(manifest)) for shard in shards)
        and all(sum(shard[name] for shard in shards) == manifest[name] for name in ("n_users", "n_comparisons"))
    )


def _is_compared(manifest: Manifest) -> bool:
    weight = manifest["total_weight"]
    return is_number(weight) and weight > 0 and isinstance(manifest["is_weighted"], bool)


def _is_rated(manifest: Manifest) -> bool:
    """Check the scale: values of ratings, finite and ascending, none of rankings; only these have items on offer."""
    form, values, offered = manifest["form"], manifest["values"], manifest["offered"]
    if form not in ("ratings", "rankings") or not isinstance(values, list) or not isinstance(offered, bool):
        return False
    is_scale = all(is_number(value) for value in values) and all(one < other for one, other in pairwise(values))
    return is_scale and bool(values) == (form == "ratings") and not (offered and form == "ratings")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_whole(value) and 0 < value < 2**62


def _is_shard(shard: Any, columns: Sequence[str]) -> bool:
    if not isinstance(shard, dict) or not isinstance(shard.get("files"), list):
        return False
    names = {f"{name}.npy" for name in (*columns, "offsets")} | {USERS}
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


def check_arrays(folder: Path, shard: dict[str, Any], manifest: Manifest) -> None:
    """Raise an error for a shard whose arrays are not what its manifest says, or lead outside each other."""
    n_users, n = shard["n_users"], shard["n_comparisons"]
    for name in ("offsets", *array_names(manifest)):
        try:
            array = map_array(folder, name)
        except Exception:  # a damaged npy can raise nearly anything
            array = np.empty(0)
        expected = n_users + 1 if name == "offsets" else n
        if array.dtype != TYPES[name] or array.shape != (expected,) or not _is_sound(name, array, n, manifest):
            raise DataError(f"{folder / name}.npy is not valid. Ingest the data again.")
    if count_labels(folder / USERS) != n_users:
        raise DataError(f"{folder / USERS} is not valid. Ingest the data again.")
    if manifest["version"] == RATED:
        _check_rated(folder, n_users, manifest)


def _is_sound(name: str, array: NDArray[Any], n: int, manifest: Manifest) -> bool:
    if name == "offsets":
        return bool(array[0] == 0 and array[-1] == n and (np.diff(array) >= 0).all())
    if name == "weights":
        return bool(array.min() >= LEAST_WEIGHT / 2 and array.max() <= MOST_WEIGHT)  # a tie is half a win
    most = manifest["n_items"] if name != "levels" else len(manifest["values"]) or n
    return bool(array.min() >= 0 and array.max() < most)


def _check_rated(folder: Path, n_users: int, manifest: Manifest) -> None:
    """Raise an error where a user has an item twice, or levels that are not sorted, of rankings those from 0 on."""
    offsets, codes, levels = (map_array(folder, name) for name in ("offsets", "codes", "levels"))
    owners = np.repeat(np.arange(n_users, dtype=np.int32), np.diff(offsets))
    steps = np.diff(levels)[owners[1:] == owners[:-1]]
    sound = (steps >= 0).all()
    if manifest["form"] == "rankings":
        sound = sound and (steps <= 1).all() and (levels[offsets[:-1][np.diff(offsets) > 0]] == 0).all()
    if not sound:
        raise DataError(f"{folder / 'levels'}.npy is not valid. Ingest the data again.")
    if len(find_repeated(owners, codes, manifest["n_items"])):
        raise DataError(f"{folder / 'codes'}.npy is not valid. Ingest the data again.")
