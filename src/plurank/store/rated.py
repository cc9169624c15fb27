"""Ratings, votes and rankings on disk, in shards of whole users."""

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurank.data.coded import ValueKind, list_exclusions
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import Labels
from plurank.data.rated import NOUNS, Rankings, Ratings
from plurank.data.ratings import is_agreement
from plurank.store.folder import BaseStore, join_offsets
from plurank.store.shards import RATED
from plurank.text import count, describe_spread
from plurank.types import Codes, Floats, Integers


class RatedStore(BaseStore[Ratings | Rankings]):
    r"""Ratings, votes or rankings on disk, sorted by user, which may be more than memory holds.

    ``ingest`` makes one, ``open_store`` opens it, and the ``fit`` of ``MixedRanking`` reads it block by block of users.
    Files are memory-mapped; their checksums are verified when they are first used.

    Parameters
    ----------
    path : str or path
        Folder of the store.

    Attributes
    ----------
    path : pathlib.Path
        Folder of the store.

    Raises
    ------
    DataError
        If there is no such store, or it is incomplete or damaged.

    Examples
    --------
    >>> import plurank, pathlib
    >>> _ = pathlib.Path("stars.csv").write_text("user,item,rating\nann,tea,5\nann,milk,3\nbob,tea,4\n")
    >>> plurank.ingest("stars.csv", "stars.store")
    <RatedStore: 2 users, 2 items, 3 ratings (1 to 2 each, median 1.5)>
    """

    version = RATED
    about = "ratings or rankings"

    @property
    def kind(self) -> ValueKind:
        """What a value is: "rating", "vote" for -1, 0 and 1, or "rank"."""
        if self._manifest["form"] == "rankings":
            return "rank"
        return "vote" if is_agreement(self.values) else "rating"

    @property
    def noun(self) -> str:
        """What to call an observation."""
        return NOUNS[self.kind]

    @cached_property
    def values(self) -> Floats:
        """The values that ratings have, ascending, (n_levels,); none of rankings."""
        return np.array(self._manifest["values"], np.float64)

    @property
    def n_ranked(self) -> int:
        """Number of items that users rated or ranked."""
        return int(self._manifest["n_comparisons"])

    @property
    def n_unranked(self) -> int:
        """How many of the observations are items that were offered and not ranked."""
        return self.n_users * self.n_items - self.n_ranked if self._manifest["offered"] else 0

    def __len__(self) -> int:
        return self.n_ranked + self.n_unranked

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where the observations of each user begin, (n_users + 1,); read on first use."""
        if not self.n_unranked:
            return super().offsets
        return np.arange(self.n_users + 1, dtype=np.int64) * self.n_items

    @property
    def sizes(self) -> str:
        """Counts of users, items and observations, in words."""
        counted = (count(self.n_users, "user"), count(self.n_items, "item"), count(self.n_ranked, self.noun))
        return ", ".join(counted)

    def __repr__(self) -> str:
        left_out = "".join(f"; {sentence.rstrip('.')}" for sentence in list_exclusions(self.excluded))
        offered = f", {self.n_unranked:,} offered and not ranked" if self.n_unranked else ""
        return f"<RatedStore: {self.sizes} ({describe_spread(*self.per_user)}){left_out}{offered}>"

    def to_memory(self) -> Ratings | Rankings:
        """Read everything into memory.

        Returns
        -------
        Ratings or Rankings
            All observations of the store.

        Raises
        ------
        DataError
            If a file is damaged.
        """
        return replace(self.block(0, self.n_users), excluded=self.excluded)

    def to_comparisons(self) -> Comparisons:
        """Read everything into memory, and compare any two items of a user with different values.

        Returns
        -------
        Comparisons
            As ``to_comparisons`` of ratings or rankings in memory makes them.

        Raises
        ------
        DataError
            If a file is damaged, or all pairs would be more than 2,000,000,000.
        """
        return self.to_memory().to_comparisons()

    def _make(self, users: Labels, offsets: NDArray[np.int64], columns: dict[str, Any]) -> Ratings | Rankings:
        codes, levels = columns["codes"], columns["levels"]
        if self.kind != "rank":
            return Ratings(offsets, codes, levels, self.items, users, self.values)
        before = len(codes)
        if self.n_unranked:
            offsets, codes, levels = add_unranked(offsets, codes, levels, self.n_items)
        return Rankings(offsets, codes, levels, self.items, users, self.values, n_unranked=len(codes) - before)

    def _join(self, parts: list[Ratings | Rankings]) -> Ratings | Rankings:
        if len(parts) == 1:
            return parts[0]
        joined: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in parts]) for name in ("codes", "levels", "users")
        }
        if n_unranked := sum(part.n_unranked for part in parts if isinstance(part, Rankings)):
            joined["n_unranked"] = n_unranked
        return replace(parts[0], offsets=join_offsets(parts), **joined)


def add_unranked(offsets: Integers, codes: Codes, levels: Codes, n_items: int) -> tuple[Integers, Codes, Codes]:
    """Put the items that users did not rank below those that they ranked, as level 0."""
    n_users = len(offsets) - 1
    sizes = np.diff(offsets)
    is_ranked = np.zeros((n_users, n_items), dtype=bool)
    is_ranked[np.repeat(np.arange(n_users), sizes), codes] = True
    is_first = np.arange(n_items) < (n_items - sizes)[:, None]  # the places of those not ranked
    all_codes, all_levels = np.empty((n_users, n_items), np.int32), np.zeros((n_users, n_items), np.int32)
    all_codes[is_first] = np.nonzero(~is_ranked)[1]
    all_codes[~is_first], all_levels[~is_first] = codes, levels + 1
    every = np.arange(n_users + 1, dtype=np.int64) * n_items
    return every, all_codes.ravel(), all_levels.ravel()
