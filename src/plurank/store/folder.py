"""What all stores share: a folder with shards of whole users, of which there may be more than fit into memory.

A store is a folder with ``manifest.json`` (counts, and the names, sizes and checksums of all files), ``items.parquet``
(the labels of items) and ``shards/``. Users are sorted over all shards as in memory. ``plurank ingest`` makes one.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank.data.coded import Exclusion
from plurank.data.comparisons import Comparisons
from plurank.data.diagnostics import summarise_counts
from plurank.data.encoding import Labels, as_labels
from plurank.data.rated import Rankings, Ratings
from plurank.exceptions import DataError, ParameterError
from plurank.io import as_path
from plurank.store.shards import (
    ITEMS,
    SHARDS,
    USERS,
    FileRecord,
    array_names,
    check_arrays,
    check_content,
    check_size,
    map_array,
    map_columns,
    read_labels,
    read_manifest,
)
from plurank.types import Masks

if TYPE_CHECKING:
    from plurank.data.frames import File

Part = TypeVar("Part", Comparisons, Ratings | Rankings)
_checked: set[tuple[Path, int, int]] = set()  # files whose content this process has checked, with size and time


class BaseStore(ABC, Generic[Part]):
    """A store; ``Part`` is what some of its users said, in memory.

    Files are memory-mapped; their checksums are verified when they are first used.
    """

    version: ClassVar[int]
    about: ClassVar[str]

    def __init__(self, path: "File") -> None:
        self.path = existing_folder(path)
        self._manifest = read_manifest(self.path)
        if self._manifest["version"] != self.version:
            raise DataError(f"{self.path} is not a store of {self.about}. Open it with plurank.open_store.")
        check_size(self.path, self._manifest["items"])
        for number, shard in enumerate(self._manifest["shards"]):
            for record in shard["files"]:
                check_size(self._folder(number), record)
        self._first_users = [0, *accumulate(shard["n_users"] for shard in self._manifest["shards"])]

    def __getstate__(self) -> dict[str, Any]:
        # with the manifest, so that a worker notices other files at the same path
        return {name: value for name, value in self.__dict__.items() if name not in ("items", "offsets")}

    @property
    def n_users(self) -> int:
        """Number of users."""
        return int(self._manifest["n_users"])

    @property
    def n_items(self) -> int:
        """Number of items."""
        return int(self._manifest["n_items"])

    def __len__(self) -> int:
        return int(self._manifest["n_comparisons"])

    @property
    def n_shards(self) -> int:
        """Number of shards that the users are in."""
        return len(self._manifest["shards"])

    @property
    def n_bytes(self) -> int:
        """Total size of the files."""
        files = [self._manifest["items"], *(file for shard in self._manifest["shards"] for file in shard["files"])]
        return sum(file["size"] for file in files)

    @property
    def excluded(self) -> tuple[Exclusion, ...]:
        """What the ingest left out, and why."""
        return tuple(Exclusion(**entry) for entry in self._manifest.get("excluded", []))

    @property
    def per_user(self) -> tuple[int, float, int]:
        """Observations per user: the fewest, the median and the most."""
        m = self._manifest
        return m["least_per_user"], m["median_per_user"], m["most_per_user"]

    def summary(self) -> dict[str, Any]:
        """Return counts and observations per user, for JSON.

        Returns
        -------
        dict
            Plain Python values; ``problems`` is None, because the store would have to be read to look for them.
        """
        return summarise_counts((self.n_users, self.n_items, len(self)), self.per_user, self.excluded)

    @cached_property
    def items(self) -> Labels:
        """Labels of the items, (n_items,)."""
        _check_once(self.path, [self._manifest["items"]])
        labels = read_labels(self.path / ITEMS)
        if len(labels) != self.n_items:
            raise DataError(f"{self.path} has {len(labels):,} items, expected {self.n_items:,}. Ingest the data again.")
        return as_labels(labels)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where the observations of each user begin, (n_users + 1,); read on first use."""
        parts = [np.zeros(1, dtype=np.int64)]
        for number in range(self.n_shards):
            parts.append(parts[-1][-1] + map_array(self._checked_folder(number), "offsets")[1:])
        return np.concatenate(parts)

    @property
    def users(self) -> Labels:
        """Labels of the users, (n_users,); read at every use."""
        folders = [self._checked_folder(number) for number in range(self.n_shards)]
        return as_labels(pl.concat([read_labels(folder / USERS) for folder in folders]))

    @property
    def fingerprint(self) -> int:
        """A number that changes with what is in the store."""
        return int(self._manifest["checksum"])

    def block(self, begin: int, end: int, *, labelled: bool = True) -> Part:
        """Return what users ``begin`` to ``end - 1`` said.

        Parameters
        ----------
        begin, end : int
            Range of users, by their position.
        labelled : bool, default=True
            Whether to read the users' labels; without, they are their positions, which takes no time.

        Returns
        -------
        Comparisons, Ratings or Rankings
            Of all items of the store; inside one shard without copying.

        Raises
        ------
        ParameterError
            If the range is not within 0 and ``n_users``.
        DataError
            If a file is damaged.
        """
        if not 0 <= begin <= end <= self.n_users:
            raise ParameterError(
                f"expected 0 <= begin <= end <= {self.n_users:,} users, got {begin} and {end}.", parameter="begin"
            )
        numbers = range(self.n_shards)
        touched = [n for n in numbers if self._first_users[n] < end and begin < self._first_users[n + 1]]
        return self._join([self._read(number, begin, end, labelled) for number in touched or [0]])

    def take_users(self, chosen: Masks) -> Part:
        """Read what the marked users said into memory; all items stay.

        Parameters
        ----------
        chosen : ndarray of bool, shape (n_users,)
            True for users to read, at least one.

        Returns
        -------
        Comparisons, Ratings or Rankings
            Of all items of the store.

        Raises
        ------
        DataError
            If a file is damaged.
        """
        parts = []
        for number in range(self.n_shards):
            first, last = self._first_users[number : number + 2]
            if chosen[first:last].any():
                parts.append(self._read(number, first, last, True).take_users(chosen[first:last]))
        return self._join(parts)

    def _read(self, number: int, begin: int, end: int, labelled: bool) -> Part:
        """Return those of users begin to end - 1 that live in one shard."""
        first, last = self._first_users[number : number + 2]
        folder = self._checked_folder(number)
        own = np.clip([begin, end], first, last) - first
        offsets, columns = map_columns(folder, int(own[0]), int(own[1]), array_names(self._manifest))
        if labelled:
            users = as_labels(read_labels(folder / USERS, int(own[0]), int(own[1])))
        else:
            users = np.arange(first + own[0], first + own[1])
        return self._make(users, offsets, columns)

    @abstractmethod
    def _make(self, users: Labels, offsets: NDArray[np.int64], columns: dict[str, Any]) -> Part:
        """Return the content of a shard, or of a part of one, in memory."""

    @abstractmethod
    def _join(self, parts: list[Part]) -> Part:
        """Put what different users said one after the other."""

    def _folder(self, number: int) -> Path:
        return self.path / SHARDS / str(self._manifest["shards"][number]["name"])

    def _checked_folder(self, number: int) -> Path:
        folder, shard = self._folder(number), self._manifest["shards"][number]
        _check_once(folder, shard["files"], lambda: check_arrays(folder, shard, self._manifest))
        return folder


def join_offsets(parts: list[Part]) -> NDArray[np.int64]:
    """Return where the rows of each user begin where several parts are put one after the other."""
    joined = [np.zeros(1, dtype=np.int64)]
    for part in parts:
        joined.append(joined[-1][-1] + part.offsets[1:])
    return np.concatenate(joined)


def _check_once(folder: Path, records: list[FileRecord], check_more: Callable[[], None] = lambda: None) -> None:
    """Check the content of files unless this process has done so, and they have not been touched since."""
    keys = {_key(folder, record) for record in records}
    if not keys <= _checked:
        for record in records:
            check_content(folder, record)
        check_more()
        _checked.update(keys)


def _key(folder: Path, record: FileRecord) -> tuple[Path, int, int]:
    check_size(folder, record)
    file = folder / record["name"]
    return file.resolve(), record["checksum"], file.stat().st_mtime_ns


def existing_folder(path: "File") -> Path:
    """Return the folder of a store."""
    folder = as_path(path, "store").resolve()
    if folder.is_file():
        raise DataError(f"{folder} is a file; expected the folder of a store, made by `plurank ingest`.")
    if not folder.is_dir():
        raise DataError(f"{folder}: there is no such store. Make one with `plurank ingest`.")
    return folder
