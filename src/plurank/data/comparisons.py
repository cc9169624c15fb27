"""Comparisons: who preferred what to what, checked, compact, and never changed again."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank.choices import Pairs, RatingTies, SplitBy, Ties
from plurank.data.encoding import Labels, as_series
from plurank.data.exclusions import Exclusion, list_exclusions
from plurank.exceptions import DataError
from plurank.random import RandomState
from plurank.text import describe_spread, list_sizes

if TYPE_CHECKING:
    from plurank.data.diagnostics import DataReport
    from plurank.data.ratings import RatingTable


RowNumbers = NDArray[np.int64] | int
COLUMNS = {"winners": np.int32, "losers": np.int32, "offsets": np.int64, "weights": np.float64}
NO_WEIGHTS = np.empty(0)
NO_WEIGHTS.setflags(write=False)  # as all columns are


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons:
    """Pairwise comparisons of many users, two int32 item columns in user order: 8 bytes a comparison.

    Comparison e says that its user preferred item ``winners[e]`` to item ``losers[e]``; the comparisons of
    user u are ``offsets[u]:offsets[u + 1]``. Items and users are numbered in the order of ``items`` and
    ``users``, the labels. A comparison of weight 2 counts as two; ``weights`` is None where all weigh 1. ``rated`` says
    whether comparisons were made from ratings or rankings, None where nobody knows; ``ratings`` are the ratings or
    votes themselves, where they are at hand and complete. ``texts`` are display texts of the items, None where ids
    are all there is. ``excluded`` lists what reading or conversion left out,
    and ``n_ties`` is how many rows were ties, each of which became two comparisons of half the weight.
    Make one with ``read_comparisons``, ``from_frame``, ``from_arrays``, ``from_ratings`` or
    ``from_rankings``.
    """

    winners: NDArray[np.int32]
    losers: NDArray[np.int32]
    offsets: NDArray[np.int64]
    items: Labels
    users: Labels
    weights: NDArray[np.float64] | None = None
    rated: bool | None = None
    ratings: "RatingTable | None" = None
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
        """How many users there are."""
        return len(self.users)

    @property
    def n_items(self) -> int:
        """How many items there are, compared or not."""
        return len(self.items)

    def __len__(self) -> int:
        return len(self.winners)

    def __getitem__(self, rows: Any) -> "Comparisons":
        """Select comparisons by an array of their numbers or of marks, or by a slice; users and items are renumbered.

        scikit-learn splits comparisons this way, as in ``cross_val_score(model, comparisons)``. To keep the comparisons
        of a user together, give it ``groups=comparisons.user_of_each()`` and ``cv=GroupKFold()``.
        """
        keep = np.zeros(len(self), dtype=bool)
        try:
            keep[rows] = True
        except (IndexError, ValueError, TypeError):
            kind = "array of numbers of comparisons, an array of marks or a slice"
            raise IndexError(f"expected an {kind}, each number below {len(self):,}; got {rows!r:.80}.") from None
        return self.select(keep)

    __iter__ = None  # comparisons are selected, not gone through one by one

    @property
    def shape(self) -> tuple[int, int]:
        """The number of comparisons, and 3: user, winner, loser."""
        return len(self), 3

    def __repr__(self) -> str:
        weighted = "" if self.weights is None else f", total weight {self.weights.sum():,.10g}"
        left_out = "".join(f"; {sentence.rstrip('.')}" for sentence in list_exclusions(self.excluded))
        sizes = list_sizes(self.n_users, self.n_items, len(self))
        return f"<Comparisons: {sizes} ({self._spread()}){weighted}{left_out}>"

    def _spread(self) -> str:
        per_user = np.diff(self.offsets)
        if not len(per_user):
            return "none"
        return describe_spread(int(per_user.min()), float(np.median(per_user)), int(per_user.max()))

    @property
    def total_weight(self) -> float:
        """How many comparisons they count as."""
        return float(len(self)) if self.weights is None else float(self.weights.sum())

    @property
    def kernel_weights(self) -> NDArray[np.float64]:
        """The weights as kernels take them: empty where all weigh 1."""
        return NO_WEIGHTS if self.weights is None else self.weights

    def weights_of_users(self) -> NDArray[np.float64]:
        """Return how many comparisons those of each user count as, (M,)."""
        if self.weights is None:
            return np.diff(self.offsets).astype(np.float64)
        return np.bincount(self.user_of_each(), self.weights, self.n_users).astype(np.float64, copy=False)

    def user_of_each(self) -> NDArray[np.int32]:
        """Return the user number of every comparison, (n,)."""
        return np.repeat(np.arange(self.n_users, dtype=np.int32), np.diff(self.offsets))

    def to_frame(self) -> pl.DataFrame:
        """Return a polars frame with columns user, winner, loser and, where there are any, weight."""
        users, items = as_series(self.users, "user"), as_series(self.items, "item")
        columns = {
            "user": users.gather(self.user_of_each()),
            "winner": items.gather(self.winners),
            "loser": items.gather(self.losers),
        }
        frame = pl.DataFrame(columns)
        return frame if self.weights is None else frame.with_columns(weight=self.weights)

    def block(self, begin: int, end: int) -> "Comparisons":
        """Return users begin to end - 1 as Comparisons of the same items, without copying."""
        first, last = self.offsets[begin], self.offsets[end]
        return self._take(slice(first, last), self.offsets[begin : end + 1] - first, self.users[begin:end])

    def take_users(self, chosen: NDArray[np.bool_]) -> "Comparisons":
        """Keep the marked users; all items stay."""
        if chosen.all():
            return self
        users, sizes = np.flatnonzero(chosen), np.diff(self.offsets)[chosen]
        ends = np.cumsum(sizes)
        rows = np.repeat(self.offsets[users] - ends + sizes, sizes) + np.arange(sizes.sum())
        return self._take(rows, np.concatenate([[0], ends]), self.users[chosen])

    def select(self, keep: NDArray[np.bool_]) -> "Comparisons":
        """Keep the marked comparisons and the users who still have any; all items stay."""
        per_user = np.bincount(self.user_of_each()[keep], minlength=self.n_users)
        stay = per_user > 0
        offsets = np.concatenate([[0], np.cumsum(per_user[stay])]).astype(np.int64)
        return self._take(keep, offsets, self.users[stay])

    def _take(self, rows: Any, offsets: NDArray[np.int64], users: Labels) -> "Comparisons":
        weights = None if self.weights is None else self.weights[rows]
        part = (self.winners[rows], self.losers[rows], offsets, self.items, users, weights, self.rated)
        return Comparisons(*part, texts=self.texts)  # ratings and exclusions are of the whole

    def with_items(self, items: Any) -> "Comparisons":
        """Return the same comparisons with texts of the items, without the items that are hidden.

        Comparisons and ratings of hidden items are left out, and ``excluded`` counts them.

        Parameters
        ----------
        items : Items, path or data frame
            The table about items, as ``read_items`` reads it.

        Examples
        --------
        >>> import plurank, polars as pl
        >>> votes = plurank.Comparisons.from_arrays(["ann", "ann"], ["a", "b"], ["b", "c"])
        >>> votes.with_items(pl.DataFrame({"item": ["a", "b", "c"], "text": ["Ale", "Beer", "Cider"]})).texts
        ('Ale', 'Beer', 'Cider')
        """
        from plurank.data.items import add_items, read_items

        return add_items(self, read_items(items))

    def split(
        self,
        test_size: float = 0.2,
        by: SplitBy = "comparison",
        random_state: RandomState = None,
    ) -> tuple["Comparisons", "Comparisons"]:
        """Split at random into training and test comparisons, by single comparisons, by items or by whole users.

        Hold out items or whole users when the comparisons come from ratings: a user's own pairs tell on each other.
        By item, each item of each user is held out with probability ``test_size``: comparisons of two such items are
        for testing, comparisons without any for training, and the rest is left out.
        """
        from plurank.data.split import split

        return split(self, test_size, by, random_state)

    def diagnose(self) -> "DataReport":
        """Look for what makes trouble later: lonely users, disconnected items, duplicates and the like."""
        from plurank.data.diagnostics import diagnose

        return diagnose(self)

    def summary(self) -> dict[str, Any]:
        """Return counts, comparisons per user and what :meth:`diagnose` found, as plain values that JSON can hold."""
        from plurank.data.summary import summarise

        return summarise(self.diagnose())

    @classmethod
    def from_arrays(
        cls,
        users: Any,
        winners: Any,
        losers: Any,
        weights: Any = None,
        *,
        items: Any = None,
    ) -> "Comparisons":
        """Build from columns of ids, any hashable ones; ``items`` may list items that nobody compared."""
        from plurank.data.build import Rows, number_rows

        columns = as_series(users, "user"), as_series(winners, "winner"), as_series(losers, "loser")
        return number_rows(Rows(*columns, weights), items)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        columns: Mapping[str, str] | None = None,
        ties: Ties = "half",
        items: Any = None,
    ) -> "Comparisons":
        """Build from a pandas, polars or pyarrow frame, one comparison a row.

        Understood are ``user, winner, loser[, weight]`` and the names other tools use (see the README); name
        yours with ``columns={"user": "voter", ...}``. A tie counts as half a win each way, or is dropped with
        ``ties="drop"``. Rows that a column ``valid`` calls false are left out. ``items`` lists items, compared or
        not, or is a table about them from ``read_items``.
        """
        from plurank.data.build import number_rows
        from plurank.data.columns import read_rows
        from plurank.data.items import Items

        rows = read_rows(frame, columns, ties)
        return number_rows(rows).with_items(items) if isinstance(items, Items) else number_rows(rows, items)

    @classmethod
    def from_ratings(
        cls,
        frame: Any,
        pairs: Pairs = "full",
        ties: RatingTies = "ignore",
        random_state: RandomState = None,
        *,
        pairs_per_rating: float = 5,
        columns: Mapping[str, str] | None = None,
        items: Any = None,
    ) -> "Comparisons":
        """Compare the items a user rated: columns user, item, rating (higher is better).

        Or a column for the user and one for each item. Missing ratings are left out; so are users who rated one item
        only, or all items alike: ``excluded`` of the result counts them. ``items`` is a table about items, as for
        ``with_items``: hidden ones are left out before anything is compared.

        pairs: ``full`` (all pairs) or ``partial`` (at random, ``pairs_per_rating`` times as many as the user
        has ratings); ties: ``ignore``, ``both`` (one comparison each way) or ``random`` (one way, by a coin).
        Paper: section 6.3.
        """
        from plurank.data.ratings import compare_ratings

        return compare_ratings(frame, pairs, ties, random_state, pairs_per_rating, columns, items)

    @classmethod
    def from_rankings(
        cls,
        frame: Any,
        ties: RatingTies = "ignore",
        random_state: RandomState = None,
        *,
        columns: Mapping[str, str] | None = None,
        items: Any = None,
    ) -> "Comparisons":
        """Compare all items a user ranked: columns user, item, rank (1 is best; leave unranked items out).

        ``items`` is a table about items, as for ``with_items``.
        """
        from plurank.data.ratings import compare_rankings

        return compare_rankings(frame, ties, random_state, columns, items)


def refuse_rows(bad: NDArray[np.bool_], what: str, remedy: str, numbers: RowNumbers = 1) -> None:
    """Raise a DataError that names the first bad rows; ``numbers`` are those of all rows, or that of the first."""
    if bad.any():
        rows = np.flatnonzero(bad) + numbers if isinstance(numbers, int) else numbers[bad]
        shown = ", ".join(f"{row}" for row in rows[:5]) + (", ..." if len(rows) > 5 else "")
        plural = "row" if len(rows) == 1 else f"{len(rows):,} rows:"
        raise DataError(f"{plural} {shown}: {what}. {remedy}.")
