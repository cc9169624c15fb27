"""Comparisons on disk, in shards of whole users, of which there may be more than fit into memory.

A store is a folder with ``manifest.json`` (counts, and the names, sizes and checksums of all files), ``items.parquet``
(the labels of items) and ``shards/``. Users are sorted over all shards as in :class:`Comparisons`. ``plurank ingest``
makes one.
"""

from collections.abc import Callable
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank.data.coded import Exclusion
from plurank.data.comparisons import Comparisons
from plurank.data.diagnostics import summarise_counts
from plurank.data.encoding import Labels, as_labels
from plurank.exceptions import DataError, ParameterError
from plurank.io import as_path
from plurank.store.shards import (
    ITEMS,
    SHARDS,
    USERS,
    FileRecord,
    check_arrays,
    check_content,
    check_size,
    map_array,
    map_columns,
    read_labels,
    read_manifest,
)
from plurank.text import describe_spread, list_sizes

if TYPE_CHECKING:
    from plurank.data.frames import File

_checked: set[tuple[Path, int, int]] = set()  # files whose content this process has checked, with size and time


def open_store(path: "File") -> "Store":
    r"""Open a store made by ``ingest``.

    Parameters
    ----------
    path : str or path
        Folder of the store.

    Returns
    -------
    Store
        The store; files are read when they are needed.

    Raises
    ------
    DataError
        If there is no such store, or it is incomplete or damaged.

    Examples
    --------
    >>> import plurank, pathlib
    >>> _ = pathlib.Path("votes.csv").write_text("user,winner,loser\nann,tea,milk\nbob,milk,tea\n")
    >>> _ = plurank.ingest("votes.csv", "votes.store")
    >>> plurank.open_store("votes.store").n_users
    2
    """
    return Store(path)


class Store:
    r"""Comparisons on disk, sorted by user, which may be more than memory holds.

    ``ingest`` makes one, ``open_store`` opens it, and the ``fit`` of ``MixedRanking`` and ``TopicRanking`` reads it
    group by group of users. Files are memory-mapped; their checksums are verified when they are first used.

    Parameters
    ----------
    path : str or path
        Folder of the store.

    Attributes
    ----------
    path : pathlib.Path
        Folder of the store.
    rated : None
        Unknown whether comparisons were made from ratings.

    Raises
    ------
    DataError
        If there is no such store, or it is incomplete or damaged.

    Examples
    --------
    >>> import plurank, pathlib
    >>> _ = pathlib.Path("votes.csv").write_text("user,winner,loser\nann,tea,milk\nbob,milk,tea\n")
    >>> plurank.ingest("votes.csv", "votes.store")
    <Store: 2 users, 2 items, 2 comparisons (1 each)>
    """

    rated: bool | None = None

    def __init__(self, path: "File") -> None:
        self.path = _existing_folder(path)
        self._manifest = read_manifest(self.path)
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
    def total_weight(self) -> float:
        """Sum of the weights: how many comparisons these count as."""
        return float(self._manifest["total_weight"])

    @property
    def is_weighted(self) -> bool:
        """Whether comparisons have weights."""
        return bool(self._manifest["is_weighted"])

    @property
    def excluded(self) -> tuple[Exclusion, ...]:
        """What the ingest left out, and why."""
        return tuple(Exclusion(**entry) for entry in self._manifest.get("excluded", []))

    @property
    def per_user(self) -> tuple[int, float, int]:
        """Comparisons per user: the fewest, the median and the most."""
        m = self._manifest
        return m["least_per_user"], m["median_per_user"], m["most_per_user"]

    def summary(self) -> dict[str, Any]:
        """Return counts and comparisons per user, for JSON.

        Returns
        -------
        dict
            Plain Python values; ``problems`` is None, because the store would have to be read to look for them.
        """
        return summarise_counts((self.n_users, self.n_items, len(self)), self.per_user, self.excluded)

    def __repr__(self) -> str:
        weighted = f", total weight {self.total_weight:,.10g}" if self.is_weighted else ""
        sizes = list_sizes(self.n_users, self.n_items, len(self))
        return f"<Store: {sizes} ({describe_spread(*self.per_user)}){weighted}>"

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
        """Where the comparisons of each user begin, (n_users + 1,); read on first use."""
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

    def block(self, begin: int, end: int, *, labelled: bool = True) -> Comparisons:
        """Return the comparisons of users ``begin`` to ``end - 1``.

        Parameters
        ----------
        begin, end : int
            Range of users, by their position.
        labelled : bool, default=True
            Whether to read the users' labels; without, they are their positions, which takes no time.

        Returns
        -------
        Comparisons
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
        return join_users([self._part(number, begin, end, labelled) for number in touched or [0]])

    def to_comparisons(self) -> Comparisons:
        """Read everything into memory.

        Returns
        -------
        Comparisons
            All comparisons of the store.

        Raises
        ------
        DataError
            If a file is damaged.
        """
        return self.block(0, self.n_users)

    def take_users(self, chosen: NDArray[np.bool_]) -> Comparisons:
        """Read the comparisons of the marked users into memory; all items stay.

        Parameters
        ----------
        chosen : ndarray of bool, shape (n_users,)
            True for users to read, at least one.

        Returns
        -------
        Comparisons
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
                parts.append(self._part(number, first, last, True).take_users(chosen[first:last]))
        return join_users(parts)

    def _part(self, number: int, begin: int, end: int, labelled: bool) -> Comparisons:
        """Return those of users begin to end - 1 that live in one shard."""
        first, last = self._first_users[number : number + 2]
        folder = self._checked_folder(number)
        own = np.clip([begin, end], first, last) - first
        columns = map_columns(folder, int(own[0]), int(own[1]), is_weighted=self.is_weighted)
        if labelled:
            users = as_labels(read_labels(folder / USERS, int(own[0]), int(own[1])))
        else:
            users = np.arange(first + own[0], first + own[1])
        return Comparisons(*columns[:3], self.items, users, columns[3])

    def _folder(self, number: int) -> Path:
        return self.path / SHARDS / str(self._manifest["shards"][number]["name"])

    def _checked_folder(self, number: int) -> Path:
        folder, shard = self._folder(number), self._manifest["shards"][number]
        _check_once(folder, shard["files"], lambda: check_arrays(folder, shard, self.n_items, self.is_weighted))
        return folder


def join_users(parts: list[Comparisons]) -> Comparisons:
    """Put the comparisons of different users one after the other; all parts have the same items."""
    if len(parts) == 1:
        return parts[0]
    starts = [0, *accumulate(len(part) for part in parts)]
    ends = [part.offsets[1:] + start for part, start in zip(parts, starts, strict=False)]
    weights = [part.weights for part in parts if part.weights is not None]
    return Comparisons(
        np.concatenate([part.winners for part in parts]),
        np.concatenate([part.losers for part in parts]),
        np.concatenate([np.zeros(1, dtype=np.int64), *ends]),
        parts[0].items,
        np.concatenate([part.users for part in parts]),
        np.concatenate(weights) if weights else None,
    )


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


def _existing_folder(path: "File") -> Path:
    folder = as_path(path, "store").resolve()
    if folder.is_file():
        raise DataError(f"{folder} is a file; expected the folder of a store, made by `plurank ingest`.")
    if not folder.is_dir():
        raise DataError(f"{folder}: there is no such store. Make one with `plurank ingest`.")
    return folder
