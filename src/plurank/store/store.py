"""Comparisons on disk, in shards of whole users, and how any store is opened."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plurank.data.comparisons import Comparisons
from plurank.data.encoding import Labels
from plurank.store.folder import BaseStore, existing_folder, join_offsets
from plurank.store.rated import RatedStore
from plurank.store.shards import COMPARED, RATED, read_manifest
from plurank.text import describe_spread, list_sizes

if TYPE_CHECKING:
    from plurank.data.frames import File


def open_store(path: "File") -> "Store | RatedStore":
    r"""Open a store made by ``ingest``.

    Parameters
    ----------
    path : str or path
        Folder of the store.

    Returns
    -------
    Store or RatedStore
        The store, of comparisons, or of ratings or rankings; files are read when they are needed.

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
    is_rated = read_manifest(existing_folder(path))["version"] == RATED
    return RatedStore(path) if is_rated else Store(path)


class Store(BaseStore[Comparisons]):
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

    version = COMPARED
    about = "comparisons"
    rated: bool | None = None

    @property
    def total_weight(self) -> float:
        """Sum of the weights: how many comparisons these count as."""
        return float(self._manifest["total_weight"])

    @property
    def is_weighted(self) -> bool:
        """Whether comparisons have weights."""
        return bool(self._manifest["is_weighted"])

    def __repr__(self) -> str:
        weighted = f", total weight {self.total_weight:,.10g}" if self.is_weighted else ""
        sizes = list_sizes(self.n_users, self.n_items, len(self))
        return f"<Store: {sizes} ({describe_spread(*self.per_user)}){weighted}>"

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

    def _make(self, users: Labels, offsets: NDArray[np.int64], columns: dict[str, Any]) -> Comparisons:
        return Comparisons(columns["winners"], columns["losers"], offsets, self.items, users, columns.get("weights"))

    def _join(self, parts: list[Comparisons]) -> Comparisons:
        return join_users(parts)


def join_users(parts: list[Comparisons]) -> Comparisons:
    """Put the comparisons of different users one after the other; all parts have the same items."""
    if len(parts) == 1:
        return parts[0]
    weights = [part.weights for part in parts if part.weights is not None]
    return Comparisons(
        np.concatenate([part.winners for part in parts]),
        np.concatenate([part.losers for part in parts]),
        join_offsets(parts),
        parts[0].items,
        np.concatenate([part.users for part in parts]),
        np.concatenate(weights) if weights else None,
    )
