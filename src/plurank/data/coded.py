"""Comparisons and ratings as integer codes, sorted by user.

Frames, arrays, files and ratings all become one of these tables; they are validated once, on the way. What was left out
on the way is listed with them.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from itertools import groupby
from typing import Any, Literal, Self, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank.data.encoding import Labels, as_series
from plurank.text import count, describe_spread, list_sizes
from plurank.types import Codes

Table = TypeVar("Table", bound="PairTable")
ValueKind = Literal["rating", "vote", "rank"]
Excludable = Literal["user", "item", "row", "column"]
COLUMNS = {"winners": np.int32, "losers": np.int32, "offsets": np.int64, "weights": np.float64}
NO_WEIGHTS = np.empty(0)
NO_WEIGHTS.setflags(write=False)  # as all columns are

# What reading or conversion left out, so that nothing is dropped silently.


@dataclass(frozen=True)
class Exclusion:
    """``n`` of ``total`` users, items, rows or columns that were left out, and why: "cast a single vote"."""

    what: Excludable
    n: int
    total: int
    reason: str

    def __str__(self) -> str:
        return f"{self.n:,} of {count(self.total, self.what)} left out: {self.reason}"

    @classmethod
    def some(cls, what: Excludable, n: int, total: int, reason: str) -> "tuple[Exclusion, ...]":
        """Return an exclusion, or nothing where nothing was left out."""
        return (cls(what, int(n), int(total), reason),) if n else ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def list_exclusions(excluded: Iterable[Exclusion]) -> list[str]:
    """Return one sentence for each kind left out, with all reasons: "48 of 234 users left out: 31 ..., 17 ..."."""
    sentences = []
    for (what, total), some in groupby(excluded, key=lambda entry: (entry.what, entry.total)):
        entries = list(some)
        if len(entries) == 1:
            sentences.append(f"{entries[0]}.")
            continue
        reasons = ", ".join(f"{entry.n:,} {entry.reason}" for entry in entries)
        n = sum(entry.n for entry in entries)
        sentences.append(f"{n:,} of {count(total, what)} left out: {reasons}.")
    return sentences


def check_exclusions(value: Any) -> bool:
    """Check whether plain values, read from a file, are exclusions."""
    names = {"what": str, "n": int, "total": int, "reason": str}
    return isinstance(value, list) and all(
        isinstance(entry, dict)
        and entry.keys() == names.keys()
        and all(type(entry[name]) is kind for name, kind in names.items())
        for entry in value
    )


# The tables.


@dataclass(frozen=True)
class RatingTable:
    """Values that users gave to items, higher is better; user u's are ``offsets[u]:offsets[u + 1]``.

    ``kind`` says what the values are, and ``excluded`` what reading them left out.
    """

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    values: NDArray[np.float64]
    item_labels: Labels
    user_labels: Labels
    kind: ValueKind = "rating"
    excluded: tuple[Exclusion, ...] = ()

    def user_of_each(self) -> NDArray[np.int64]:
        """Return the user of each value, (n,)."""
        return np.repeat(np.arange(len(self.user_labels)), np.diff(self.offsets))

    def select(self, keep: NDArray[np.bool_]) -> "RatingTable":
        """Keep some of the values, (n,), of the same users and items."""
        offsets = np.append(0, np.cumsum(keep))[self.offsets]
        return replace(self, offsets=offsets, items=self.items[keep], values=self.values[keep])

    def without_items(self, hidden: NDArray[np.bool_]) -> "RatingTable":
        """Leave out some of the items, (Q,), and their values."""
        if not hidden.any():
            return self
        part = self.select(~hidden[self.items])
        return replace(part, items=renumber(~hidden)[part.items], item_labels=self.item_labels[~hidden])


def renumber(keep: NDArray[np.bool_]) -> Codes:
    """Return the new codes of the entries that stay, (n,); those of other entries are meaningless."""
    return np.cumsum(keep, dtype=np.int32) - np.int32(1)


@dataclass(frozen=True, eq=False, repr=False)
class PairTable:
    """Columns of comparisons in user order, as :class:`plurank.Comparisons` documents them."""

    winners: NDArray[np.int32]
    losers: NDArray[np.int32]
    offsets: NDArray[np.int64]
    items: Labels
    users: Labels
    weights: NDArray[np.float64] | None = None
    rated: bool | None = None
    ratings: RatingTable | None = None
    texts: tuple[str, ...] | None = None
    excluded: tuple[Exclusion, ...] = ()
    n_ties: int = 0

    def __post_init__(self) -> None:
        # views that cannot be written to; the arrays given stay as they are
        for field in fields(self):
            array = getattr(self, field.name)
            if isinstance(array, np.ndarray):
                view = np.ascontiguousarray(array, COLUMNS.get(field.name)).view()  # as kernels take them
                view.setflags(write=False)
                object.__setattr__(self, field.name, view)

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.users)

    @property
    def n_items(self) -> int:
        """Number of items, compared or not."""
        return len(self.items)

    def __len__(self) -> int:
        return len(self.winners)

    def __getitem__(self, rows: Any) -> Self:
        """Select comparisons by an array of their numbers or of marks, or by a slice; users and items are renumbered.

        scikit-learn splits comparisons this way, as in ``cross_val_score(model, comparisons)``. To keep the comparisons
        of a user together, pass ``groups=comparisons.user_of_each()`` and ``cv=GroupKFold()``.
        """
        keep = np.zeros(len(self), dtype=bool)
        try:
            keep[rows] = True
        except (IndexError, ValueError, TypeError):
            kind = "array of numbers of comparisons, an array of marks or a slice"
            raise IndexError(f"expected an {kind}, each number below {len(self):,}; got {rows!r:.80}.") from None
        return self.select(keep)

    __iter__ = None  # comparisons are selected, not iterated over

    @property
    def shape(self) -> tuple[int, int]:
        """Number of comparisons, and 3 for user, winner and loser."""
        return len(self), 3

    def __repr__(self) -> str:
        weighted = "" if self.weights is None else f", total weight {self.weights.sum():,.10g}"
        left_out = "".join(f"; {sentence.rstrip('.')}" for sentence in list_exclusions(self.excluded))
        sizes = list_sizes(self.n_users, self.n_items, len(self))
        return f"<{type(self).__name__}: {sizes} ({self._spread()}){weighted}{left_out}>"

    def _spread(self) -> str:
        per_user = np.diff(self.offsets)
        if not len(per_user):
            return "none"
        return describe_spread(int(per_user.min()), float(np.median(per_user)), int(per_user.max()))

    @property
    def total_weight(self) -> float:
        """Sum of the weights: how many comparisons these count as."""
        return float(len(self)) if self.weights is None else float(self.weights.sum())

    @property
    def kernel_weights(self) -> NDArray[np.float64]:
        """The weights as kernels take them: empty where all weigh 1."""
        return NO_WEIGHTS if self.weights is None else self.weights

    def weights_of_users(self) -> NDArray[np.float64]:
        """Return the total weight of each user's comparisons.

        Returns
        -------
        ndarray of shape (n_users,)
            Where there are no weights, the number of comparisons.
        """
        if self.weights is None:
            return np.diff(self.offsets).astype(np.float64)
        return np.bincount(self.user_of_each(), self.weights, self.n_users).astype(np.float64, copy=False)

    def user_of_each(self) -> NDArray[np.int32]:
        """Return the user of every comparison.

        Returns
        -------
        ndarray of int32, shape (n,)
            Positions in ``users``; of use as ``groups`` in scikit-learn's cross-validation.
        """
        return np.repeat(np.arange(self.n_users, dtype=np.int32), np.diff(self.offsets))

    def block(self, begin: int, end: int) -> Self:
        """Return users begin to end - 1 with the same items, without copying."""
        first, last = self.offsets[begin], self.offsets[end]
        return self._take(slice(first, last), self.offsets[begin : end + 1] - first, self.users[begin:end])

    def take_users(self, chosen: NDArray[np.bool_]) -> Self:
        """Keep the marked users; all items stay."""
        if chosen.all():
            return self
        users, sizes = np.flatnonzero(chosen), np.diff(self.offsets)[chosen]
        ends = np.cumsum(sizes)
        rows = np.repeat(self.offsets[users] - ends + sizes, sizes) + np.arange(sizes.sum())
        return self._take(rows, np.concatenate([[0], ends]), self.users[chosen])

    def select(self, keep: NDArray[np.bool_]) -> Self:
        """Keep the marked comparisons and the users who still have any; all items stay.

        Parameters
        ----------
        keep : ndarray of bool, shape (n,)
            True for comparisons to keep.

        Returns
        -------
        Comparisons
            Without ``ratings`` and ``excluded``, which describe the whole.
        """
        per_user = np.bincount(self.user_of_each()[keep], minlength=self.n_users)
        stay = per_user > 0
        offsets = np.concatenate([[0], np.cumsum(per_user[stay])]).astype(np.int64)
        return self._take(keep, offsets, self.users[stay])

    def _take(self, rows: Any, offsets: NDArray[np.int64], users: Labels) -> Self:
        weights = None if self.weights is None else self.weights[rows]
        part = (self.winners[rows], self.losers[rows], offsets, self.items, users, weights, self.rated)
        return type(self)(*part, texts=self.texts)  # ratings and exclusions are of the whole

    def to_frame(self) -> pl.DataFrame:
        """Return the comparisons as a data frame with labels.

        Returns
        -------
        polars.DataFrame
            Columns user, winner, loser and, where there are weights, weight; one row per comparison.

        Examples
        --------
        >>> import plurank
        >>> plurank.Comparisons.from_arrays(["ann", "bob"], ["tea", "milk"], ["milk", "tea"]).to_frame().rows()
        [('ann', 'tea', 'milk'), ('bob', 'milk', 'tea')]
        """
        users, items = as_series(self.users, "user"), as_series(self.items, "item")
        columns = {
            "user": users.gather(self.user_of_each()),
            "winner": items.gather(self.winners),
            "loser": items.gather(self.losers),
        }
        frame = pl.DataFrame(columns)
        return frame if self.weights is None else frame.with_columns(weight=self.weights)
