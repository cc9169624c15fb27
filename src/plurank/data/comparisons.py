"""Comparisons: who preferred what to what, made from frames, arrays, ratings and rankings, and never changed again."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

import numpy as np

from plurank import data
from plurank.choices import Pairs, RatingTies, SplitBy, Ties
from plurank.data.build import Rows, number_rows
from plurank.data.coded import PairTable
from plurank.data.diagnostics import DataReport, diagnose, summarise
from plurank.data.encoding import as_series
from plurank.exceptions import Argument, DataError
from plurank.random import RandomState, as_generator, draw_seed, uniforms_of
from plurank.text import count
from plurank.types import Masks
from plurank.validation import check_choice, check_share


@dataclass(frozen=True, eq=False, repr=False)
class Comparisons(PairTable):
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

    def with_items(self, items: Any) -> Self:
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
        return data.add_items(self, data.read_items(items))

    def split(
        self,
        test_size: float = 0.2,
        by: SplitBy = "comparison",
        random_state: RandomState = None,
    ) -> tuple[Self, Self]:
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
            If ``test_size`` is not between 0 and 1, or ``by`` is not one of the three.

        Examples
        --------
        >>> import plurank
        >>> made = plurank.simulate(50, 6, 2, 10, random_state=0)
        >>> train, test = made.comparisons.split(0.2, random_state=0)
        >>> len(train), len(test)
        (400, 100)
        """
        check_share("test_size", test_size)
        check_choice("by", by, SplitBy)
        kept, held_out = draw_held_out(self, test_size, by, as_generator(random_state))
        if not kept.any() or not held_out.any():
            what = count(self.n_users, "user") if by == "user" else count(len(self), "comparison")
            raise DataError(
                f"cannot hold out {test_size:g} of {what} by {by}: one side would be empty.",
                hint=("Use more data or another ", Argument("test_size"), "."),
            )
        return self.select(kept), self.select(held_out)

    def diagnose(self) -> DataReport:
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
        return self._report

    @cached_property
    def _report(self) -> DataReport:
        return diagnose(self)

    def summary(self) -> dict[str, Any]:
        """Return counts, comparisons per user and the data-quality problems that ``diagnose`` finds, for JSON.

        Returns
        -------
        dict
            Plain Python values; at most 20 items of each list.
        """
        return summarise(self.diagnose())

    @classmethod
    def from_table(cls, table: PairTable) -> Self:
        """Take over columns that are validated, as readers return them."""
        return cls(*(getattr(table, field.name) for field in fields(PairTable)))

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
        """Build comparisons from columns of labels.

        Parameters
        ----------
        users, winners, losers : array-like of shape (n,)
            Who compared, the preferred item, and the other item; labels of any hashable type.
        weights : array-like of shape (n,) or None, default=None
            How many comparisons each row counts as, between 1e-12 and 1e12; None counts each once.
        items : array-like or None, default=None
            Further items, which need not occur in a comparison.

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
        columns = as_series(users, "user"), as_series(winners, "winner"), as_series(losers, "loser")
        return cls.from_table(number_rows(Rows(*columns, weights), items))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        columns: Mapping[str, str] | None = None,
        ties: Ties = "half",
        items: Any = None,
    ) -> Self:
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
        data.check_options(columns, ties)
        rows = data.read_rows(frame, columns, ties)
        if isinstance(items, data.Items):
            return cls.from_table(data.add_items(number_rows(rows), items))
        return cls.from_table(number_rows(rows, items))

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
    ) -> Self:
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
        return cls.from_table(data.compare_ratings(frame, pairs, ties, random_state, pairs_per_rating, columns, items))

    @classmethod
    def from_rankings(
        cls,
        frame: Any,
        ties: RatingTies = "ignore",
        random_state: RandomState = None,
        *,
        columns: Mapping[str, str] | None = None,
        items: Any = None,
    ) -> Self:
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
        return cls.from_table(data.compare_rankings(frame, ties, random_state, columns, items))


def draw_held_out(comparisons: Comparisons, share: float, by: SplitBy, rng: np.random.Generator) -> tuple[Masks, Masks]:
    """Mark comparisons to train on and to hold out, (n,) each.

    By item, items are drawn for every user: comparisons of items not drawn are kept, those of two items drawn are held
    out, and the others are neither.
    """
    c = comparisons
    if by == "item":
        users, seed = c.user_of_each().astype(np.int64) * c.n_items, draw_seed(rng)
        first, second = (uniforms_of(seed, users + side) < share for side in (c.winners, c.losers))
        return ~(first | second), first & second
    n = c.n_users if by == "user" else len(c)
    held_out = np.zeros(n, dtype=bool)
    held_out[rng.permutation(n)[: round(share * n)]] = True
    if by == "user":
        held_out = np.repeat(held_out, np.diff(c.offsets))
    return ~held_out, held_out
