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
    """Pairwise comparisons of many users, sorted by user and never changed.

    Comparison e says that its user preferred item ``winners[e]`` to item ``losers[e]``; the comparisons of user u are
    ``offsets[u]:offsets[u + 1]``. Items and users are integer codes: positions in ``items`` and ``users``, the labels.
    Without weights a comparison takes 8 bytes. Make comparisons with ``read_comparisons``, ``from_frame``,
    ``from_arrays``, ``from_ratings`` or ``from_rankings``; the constructor takes arrays as they are and checks nothing.

    Indexing with row numbers, a boolean mask or a slice selects comparisons and drops users without any, so
    ``cross_val_score(model, comparisons)`` works; all items stay. To keep each user's comparisons together, pass
    ``groups=comparisons.user_of_each()`` and ``cv=GroupKFold()``.

    Parameters
    ----------
    winners : ndarray of int32, shape (n,)
        Code of the preferred item.
    losers : ndarray of int32, shape (n,)
        Code of the other item.
    offsets : ndarray of int64, shape (n_users + 1,)
        Where the comparisons of each user begin.
    items : ndarray of shape (n_items,)
        Labels of the items, compared or not.
    users : ndarray of shape (n_users,)
        Labels of the users.
    weights : ndarray of shape (n,) or None, default=None
        How many comparisons each one counts as; None where all count as 1.
    rated : bool or None, default=None
        Whether the comparisons were made from ratings or rankings; None where that is unknown.
    ratings : RatingTable or None, default=None
        The ratings or votes behind the comparisons, where they are available and complete.
    texts : tuple of str or None, default=None
        What to display for each item; None where the labels are all there is.
    excluded : tuple of Exclusion, default=()
        What reading or conversion left out, and why.
    n_ties : int, default=0
        Number of rows that were ties; each became two comparisons of half the weight.

    Examples
    --------
    >>> import plurank
    >>> votes = plurank.Comparisons.from_arrays(["ann", "ann", "bob"], ["tea", "tea", "milk"], ["milk", "juice", "tea"])
    >>> votes
    <Comparisons: 2 users, 3 items, 3 comparisons (1 to 2 each, median 1.5)>
    >>> len(votes[:2])
    2
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
        """Number of users."""
        return len(self.users)

    @property
    def n_items(self) -> int:
        """Number of items, compared or not."""
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
        """Number of comparisons, and 3 for user, winner and loser."""
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

    def to_frame(self) -> pl.DataFrame:
        """Return the comparisons as a data frame with labels.

        Returns
        -------
        polars.DataFrame
            Columns user, winner, loser and, where there are weights, weight; one row a comparison.

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

        Returns
        -------
        Comparisons
            The comparisons of items that are shown.

        Raises
        ------
        DataError
            If the table has none of the items, or hides an item of every comparison.

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
        """Split at random into training and test comparisons.

        Hold out items or whole users where the comparisons were made from ratings or rankings: the pairs of one user
        are not independent of each other. By item, each item of each user is drawn with probability ``test_size``:
        comparisons of two drawn items are for testing, comparisons without one for training, and the others are in
        neither part.

        Parameters
        ----------
        test_size : float, default=0.2
            Share of the comparisons, of each user's items or of the users to hold out, between 0 and 1.
        by : {"comparison", "item", "user"}, default="comparison"
            What is held out.
        random_state : int, numpy.random.Generator or None, default=None
            Seed.

        Returns
        -------
        train, test : Comparisons
            Both have all items; users without a comparison in a part are not in it.

        Raises
        ------
        DataError
            If one of the parts would be empty.
        ParameterError
            If ``test_size`` is not between 0 and 1, or ``by`` is none of the three words.

        Examples
        --------
        >>> import plurank
        >>> made = plurank.simulate(50, 6, 2, 10, random_state=0)
        >>> train, test = made.comparisons.split(0.2, random_state=0)
        >>> len(train), len(test)
        (400, 100)
        """
        from plurank.data.split import split

        return split(self, test_size, by, random_state)

    def diagnose(self) -> "DataReport":
        """Look for data-quality problems: users with few comparisons, disconnected items, duplicates and others.

        Returns
        -------
        DataReport
            Counts, and one sentence for each problem.

        Examples
        --------
        >>> import plurank
        >>> votes = plurank.Comparisons.from_arrays(["ann", "bob"], ["tea", "cola"], ["milk", "beer"])
        >>> votes.diagnose().is_connected
        False
        """
        from plurank.data.diagnostics import diagnose

        return diagnose(self)

    def summary(self) -> dict[str, Any]:
        """Return counts, comparisons per user and the data-quality problems that ``diagnose`` finds, for JSON.

        Returns
        -------
        dict
            Plain Python values; at most 20 items of each list.
        """
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
        """Build comparisons from columns of labels.

        Parameters
        ----------
        users, winners, losers : array-like of shape (n,)
            Who compared, the preferred item, and the other item; labels of any hashable type.
        weights : array-like of shape (n,) or None, default=None
            How many comparisons each row counts as, between 1e-12 and 1e12; None counts each once.
        items : array-like or None, default=None
            Further items that nobody may have compared.

        Returns
        -------
        Comparisons
            Sorted by user.

        Raises
        ------
        DataError
            If there are no rows, the columns differ in length, a label is missing, an item is compared with itself, or
            a weight is not a positive number. The message names the rows.

        Examples
        --------
        >>> import plurank
        >>> votes = plurank.Comparisons.from_arrays(["ann", "bob"], ["tea", "milk"], ["milk", "tea"], items=["cola"])
        >>> votes.items.tolist()
        ['cola', 'milk', 'tea']
        """
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
        """Build comparisons from a data frame with one comparison a row.

        Columns are ``user, winner, loser`` and, optionally, ``weight``; or ``user, left, right`` and a column that says
        which of the two won. Names that other tools use for these are understood, too. Rows that a column ``valid``
        calls false are left out.

        Parameters
        ----------
        frame : pandas, polars or pyarrow data frame
            The comparisons.
        columns : mapping of str to str or None, default=None
            Names of your columns by role, as in ``{"user": "voter"}``. Roles are user, winner, loser, left, right,
            outcome, comparison, weight and valid.
        ties : {"half", "drop"}, default="half"
            Whether a tie counts as half a win each way, or is left out.
        items : array-like, Items or None, default=None
            Items, compared or not; or a table about them from ``read_items``.

        Returns
        -------
        Comparisons
            Sorted by user; ``excluded`` and ``n_ties`` say what was left out and how many rows were ties.

        Raises
        ------
        DataError
            If columns are missing or ambiguous, or rows are not valid comparisons.
        ParameterError
            If ``ties`` or a role in ``columns`` is unknown.

        Examples
        --------
        >>> import plurank, polars as pl
        >>> sides = {"left": ["a", "a"], "right": ["b", "b"]}
        >>> frame = pl.DataFrame({"voter": ["ann", "bob"], **sides, "winner": ["a", "tie"]})
        >>> votes = plurank.Comparisons.from_frame(frame)
        >>> len(votes), votes.total_weight, votes.n_ties
        (3, 2.0, 1)
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
        """Build comparisons of the items that each user rated.

        The frame has columns user, item and rating (higher is better), or a column for the user and one for each item.
        Missing ratings are left out; so are users who rated a single item, or all items alike. ``excluded`` of the
        result counts both.

        Parameters
        ----------
        frame : pandas, polars or pyarrow data frame
            The ratings.
        pairs : {"full", "partial"}, default="full"
            Whether to compare all pairs of items of a user, or a random sample.
        ties : {"ignore", "both", "random"}, default="ignore"
            What two items with the same rating give: nothing, one comparison each way, or one in a random direction.
        random_state : int, numpy.random.Generator or None, default=None
            Seed of sampled pairs and random ties.
        pairs_per_rating : float, default=5
            With ``pairs="partial"``: how many pairs to draw for each rating of a user.
        columns : mapping of str to str or None, default=None
            Names of your columns by role: user, item, rating.
        items : Items, path, data frame or None, default=None
            A table about items, as for ``with_items``; items it hides are left out before anything is compared.

        Returns
        -------
        Comparisons
            With ``rated=True`` and the ratings themselves in ``ratings``.

        Raises
        ------
        DataError
            If columns are missing, a rating is not a number, a user rated an item twice, there is nothing to compare,
            or all pairs would be more than 2,000,000,000.
        ParameterError
            If ``pairs``, ``ties``, ``pairs_per_rating`` or a role in ``columns`` is not valid.

        References
        ----------
        The choices of pairs and ties are those of section 6.3 of W. Ding, P. Ishwar and V. Saligrama (2015), "A Topic
        Modeling Approach to Ranking", AISTATS.

        Examples
        --------
        >>> import plurank, polars as pl
        >>> stars = pl.DataFrame({"user": ["ann", "ann", "ann"], "item": ["a", "b", "c"], "rating": [5, 3, 3]})
        >>> plurank.Comparisons.from_ratings(stars).to_frame().rows()
        [('ann', 'a', 'b'), ('ann', 'a', 'c')]
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
        """Build comparisons of all items that each user ranked.

        Parameters
        ----------
        frame : pandas, polars or pyarrow data frame
            Columns user, item, rank (1 is best; leave unranked items out), or a column for the user and one for each
            item.
        ties : {"ignore", "both", "random"}, default="ignore"
            What two items of the same rank give: nothing, one comparison each way, or one in a random direction.
        random_state : int, numpy.random.Generator or None, default=None
            Seed of random ties.
        columns : mapping of str to str or None, default=None
            Names of your columns by role: user, item, rank.
        items : Items, path, data frame or None, default=None
            A table about items, as for ``with_items``; items it hides are left out before anything is compared.

        Returns
        -------
        Comparisons
            With ``rated=True``.

        Raises
        ------
        DataError
            If columns are missing, a rank is not a number, a user ranked an item twice, there is nothing to compare, or
            all pairs would be more than 2,000,000,000.
        ParameterError
            If ``ties`` or a role in ``columns`` is not valid.

        Examples
        --------
        >>> import plurank, polars as pl
        >>> ballots = pl.DataFrame({"user": ["ann", "ann", "ann"], "item": ["a", "b", "c"], "rank": [2, 1, 3]})
        >>> plurank.Comparisons.from_rankings(ballots).to_frame().rows()
        [('ann', 'b', 'a'), ('ann', 'a', 'c'), ('ann', 'b', 'c')]
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
