"""Comparisons: who preferred what to what, checked, compact, and never changed again."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.encoding import Labels, as_series, encode, missing
from plurank.exceptions import DataError
from plurank.rng import RandomState

if TYPE_CHECKING:
    from plurank.data.diagnostics import DataReport

Ties = Literal["half", "drop"]
RatingTies = Literal["ignore", "both", "random"]


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons:
    """Pairwise comparisons of many users, two int32 item columns in user order: 8 bytes a comparison.

    Comparison e says that its user preferred item ``winners[e]`` to item ``losers[e]``; the comparisons of user u are
    ``offsets[u]:offsets[u + 1]``. Items and users are numbered in the order of ``items`` and ``users``, the labels.
    A comparison of weight 2 counts as two; ``weights`` is None where all weigh 1.
    Make one with ``read_comparisons``, ``from_frame``, ``from_arrays``, ``from_ratings`` or ``from_rankings``.
    """

    winners: NDArray[np.int32]
    losers: NDArray[np.int32]
    offsets: NDArray[np.int64]
    items: Labels
    users: Labels
    weights: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        arrays = (self.winners, self.losers, self.offsets, self.items, self.users, self.weights)
        for array in arrays:
            if array is not None:
                array.setflags(write=False)

    @property
    def n_users(self) -> int:
        """How many users there are."""
        return len(self.users)

    @property
    def n_items(self) -> int:
        """How many items there are, compared or not."""
        return len(self.items)

    def __len__(self) -> int:
        return len(self.winners)

    def __repr__(self) -> str:
        per_user = np.diff(self.offsets)
        spread = "none"
        if len(per_user):
            low, middle, high = int(per_user.min()), float(np.median(per_user)), int(per_user.max())
            spread = f"{low:,} each" if low == high else f"{low:,} to {high:,} each, median {middle:,.0f}"
        weighted = "" if self.weights is None else f", total weight {self.weights.sum():,.10g}"
        return (
            f"<Comparisons: {self.n_users:,} users, {self.n_items:,} items, "
            f"{len(self):,} comparisons ({spread}){weighted}>"
        )

    @property
    def kernel_weights(self) -> NDArray[np.float64]:
        """The weights as kernels take them: empty where all weigh 1."""
        return np.empty(0) if self.weights is None else self.weights

    def user_of_each(self) -> NDArray[np.int32]:
        """Give the user number of every comparison, (n,)."""
        return np.repeat(np.arange(self.n_users, dtype=np.int32), np.diff(self.offsets))

    def to_frame(self) -> pl.DataFrame:
        """Give a polars frame with columns user, winner, loser and, where there are any, weight."""
        columns = {
            "user": self.users[self.user_of_each()],
            "winner": self.items[self.winners],
            "loser": self.items[self.losers],
        }
        frame = pl.DataFrame([as_series(values, name) for name, values in columns.items()])
        return frame if self.weights is None else frame.with_columns(weight=self.weights)

    def block(self, begin: int, end: int) -> "Comparisons":
        """Give users begin to end - 1 as Comparisons of the same items, without copying."""
        at = slice(self.offsets[begin], self.offsets[end])
        return Comparisons(
            self.winners[at],
            self.losers[at],
            self.offsets[begin : end + 1] - self.offsets[begin],
            self.items,
            self.users[begin:end],
            None if self.weights is None else self.weights[at],
        )

    def select(self, keep: NDArray[np.bool_]) -> "Comparisons":
        """Keep the marked comparisons and the users who still have any; all items stay."""
        per_user = np.bincount(self.user_of_each()[keep], minlength=self.n_users)
        stay = per_user > 0
        return Comparisons(
            self.winners[keep],
            self.losers[keep],
            np.concatenate([[0], np.cumsum(per_user[stay])]).astype(np.int64),
            self.items,
            self.users[stay],
            None if self.weights is None else self.weights[keep],
        )

    def split(
        self,
        test_size: float = 0.2,
        by: Literal["comparison", "user"] = "comparison",
        random_state: RandomState = None,
    ) -> tuple["Comparisons", "Comparisons"]:
        """Split at random into training and test comparisons, by single comparisons or by whole users.

        Hold out whole users when the comparisons come from ratings: a user's own pairs tell on each other.
        """
        from plurank.data.splitting import split

        return split(self, test_size, by, random_state)

    def diagnose(self) -> "DataReport":
        """Look for what will make trouble later: lonely users, disconnected items, duplicates and the like."""
        from plurank.data.diagnostics import diagnose

        return diagnose(self)

    @classmethod
    def from_arrays(
        cls,
        users: Any,
        winners: Any,
        losers: Any,
        weights: Any = None,
        *,
        items: Any = None,
    ) -> Self:
        """Build from columns of ids, any hashable ones; ``items`` may list items that nobody compared."""
        columns = [as_series(c, n) for c, n in ((users, "user"), (winners, "winner"), (losers, "loser"))]
        return cls._from_columns(*columns, weights, items)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        columns: Mapping[str, str] | None = None,
        ties: Ties = "half",
        items: Any = None,
    ) -> Self:
        """Build from a pandas, polars or pyarrow frame, one comparison a row.

        Understood are ``user, winner, loser[, weight]`` and the names other tools use (see the README); name yours with
        ``columns={"user": "voter", ...}``. A tie counts as half a win each way, or is dropped with ``ties="drop"``.
        """
        from plurank.data.columns import read_columns

        return cls._from_columns(*read_columns(frame, columns, ties), items)

    @classmethod
    def from_ratings(
        cls,
        frame: Any,
        pairs: Literal["full", "partial"] = "full",
        ties: RatingTies = "ignore",
        random_state: RandomState = None,
        *,
        pairs_per_rating: float = 5,
        columns: Mapping[str, str] | None = None,
    ) -> "Comparisons":
        """Compare the items a user rated: columns user, item, rating (higher is better).

        pairs: ``full`` (all pairs) or ``partial`` (a random ``pairs_per_rating`` times the user's number of ratings);
        ties: ``ignore``, ``both`` (one comparison each way) or ``random`` (one way, by a coin). Paper: section 6.3.
        """
        from plurank.data.ratings import compare_ratings

        return compare_ratings(frame, pairs, ties, random_state, pairs_per_rating, columns)

    @classmethod
    def from_rankings(
        cls, frame: Any, ties: RatingTies = "ignore", random_state: RandomState = None, *,
        columns: Mapping[str, str] | None = None,
    ) -> "Comparisons":
        """Compare all items a user ranked: columns user, item, rank (1 is best; unranked items are absent)."""
        from plurank.data.ratings import compare_rankings

        return compare_rankings(frame, ties, random_state, columns)

    @classmethod
    def _from_columns(
        cls, users: pl.Series, winners: pl.Series, losers: pl.Series, weights: Any, items: Any, from_text: bool = False
    ) -> Self:
        """Check, number and sort; every way in but ratings ends here."""
        _check_lengths(users, winners, losers)
        for series in (users, winners, losers):
            refuse_rows(missing(series), f"{series.name} is missing (empty, null or NaN)", "Fill it in or drop the row")
        weights = _check_weights(weights, len(users))
        listed = [] if items is None else [as_series(items, "item")]
        with ThreadPoolExecutor(1) as aside:
            encoded_users = aside.submit(encode, users, from_text=from_text)
            (winner_codes, loser_codes, *_), item_labels = encode(winners, losers, *listed, from_text=from_text)
            (user_codes,), user_labels = encoded_users.result()
        selves = winner_codes == loser_codes
        if selves.any():
            example = item_labels.tolist()[winner_codes[np.argmax(selves)]]
            refuse_rows(selves, f"an item is compared with itself ({example!r})", "Drop such rows")
        if weights is not None:
            weights = weights[kernels.group(user_codes, len(user_labels))[0]]
        columns = kernels.group_pairs(user_codes, len(user_labels), winner_codes, loser_codes)
        return cls(*columns, item_labels, user_labels, weights)


def refuse_rows(bad: NDArray[np.bool_], what: str, remedy: str) -> None:
    """Raise a DataError that names the first bad rows, counted from 1 without the header."""
    if bad.any():
        rows = np.flatnonzero(bad) + 1
        shown = ", ".join(f"{row}" for row in rows[:5]) + (", ..." if len(rows) > 5 else "")
        plural = "row" if len(rows) == 1 else f"{len(rows):,} rows:"
        raise DataError(f"{plural} {shown}: {what}. {remedy}.")


def _check_lengths(*columns: pl.Series) -> None:
    lengths = {series.name: len(series) for series in columns}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{n} has {length:,}" for n, length in lengths.items())
        raise DataError(f"all columns must have the same number of rows, but {counts}.")
    if 0 in lengths.values():
        raise DataError("there are no comparisons: expected at least one row of user, winner, loser.")


def _check_weights(weights: Any, n: int) -> NDArray[np.float64] | None:
    if weights is None:
        return None
    try:
        values = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("weights must be numbers; at least one is not.") from None
    if values.shape != (n,):
        raise DataError(f"expected {n:,} weights, one a comparison, got an array of shape {values.shape}.")
    refuse_rows(~(np.isfinite(values) & (values > 0)), "the weight is not a positive number", "Mend or drop it")
    return None if (values == 1.0).all() else values
