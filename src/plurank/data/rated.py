"""Ratings and Rankings: what users said about single items, sorted by user and never changed."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank import data
from plurank.data.build import refuse_missing
from plurank.data.coded import Exclusion, RatingTable, ValueKind, list_exclusions
from plurank.data.comparisons import Comparisons
from plurank.data.diagnostics import Summary, summarise_counts
from plurank.data.encoding import Labels, as_labels, as_series, look_up, object_array
from plurank.data.ratings import SILENT, compare_rated, is_agreement, read_rated
from plurank.exceptions import Argument, DataError
from plurank.random import RandomState, as_generator, draw_seed, uniforms_of
from plurank.text import count, describe_spread
from plurank.types import Codes, Floats, Integers, Masks
from plurank.validation import check_choice, check_share

SplitRated = Literal["item", "user"]
ARRAYS = {"offsets": np.int64, "codes": np.int32, "levels": np.int32}
NOUNS: dict[ValueKind, str] = {"rating": "rating", "vote": "vote", "rank": "ranked item"}  # of an observation
UNRANKED = -np.inf  # the value of an item that was offered and not ranked


@dataclass(frozen=True, eq=False, repr=False)
class RatedItems(ABC):
    """Items that users rated or ranked, as integer codes: 8 bytes an observation, and a few for each user.

    User u said something about items ``codes[offsets[u]:offsets[u + 1]]``, in the order of ``levels``, the worst first.
    """

    offsets: Integers
    codes: Codes
    levels: Codes
    items: Labels
    users: Labels
    values: Floats
    texts: tuple[str, ...] | None = None
    excluded: tuple[Exclusion, ...] = ()

    def __post_init__(self) -> None:
        for field in fields(self):
            array = getattr(self, field.name)
            if isinstance(array, np.ndarray):
                view = np.ascontiguousarray(array, ARRAYS.get(field.name)).view()
                view.setflags(write=False)
                object.__setattr__(self, field.name, view)

    @property
    @abstractmethod
    def kind(self) -> ValueKind:
        """What a value is."""

    @property
    def noun(self) -> str:
        """What to call an observation."""
        return NOUNS[self.kind]

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.users)

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.items)

    def __len__(self) -> int:
        return len(self.codes)

    __iter__ = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of observations, and 3 for user, item and value."""
        return len(self), 3

    def __repr__(self) -> str:
        left_out = "".join(f"; {sentence.rstrip('.')}" for sentence in list_exclusions(self.excluded))
        per_user = describe_spread(*self.per_user) if self.n_users else "none"
        return f"<{type(self).__name__}: {self.sizes} ({per_user}){left_out}>"

    @property
    def sizes(self) -> str:
        """Counts of users, items and observations, in words."""
        counted = (count(self.n_users, "user"), count(self.n_items, "item"), count(len(self), self.noun))
        return ", ".join(counted)

    @property
    def per_user(self) -> tuple[int, float, int]:
        """Observations per user: the fewest, the median and the most."""
        return spread_of(np.diff(self.offsets))

    def user_of_each(self) -> Codes:
        """Return the user of every observation.

        Returns
        -------
        ndarray of int32, shape (n,)
            Positions in ``users``.
        """
        return np.repeat(np.arange(self.n_users, dtype=np.int32), np.diff(self.offsets))

    def block(self, begin: int, end: int) -> Self:
        """Return users begin to end - 1 with the same items, without copying."""
        first, last = self.offsets[begin], self.offsets[end]
        return self._take(slice(first, last), self.offsets[begin : end + 1] - first, self.users[begin:end])

    def take_users(self, chosen: Masks) -> Self:
        """Keep the marked users, (M,); all items stay."""
        if chosen.all():
            return self
        keep = np.repeat(chosen, np.diff(self.offsets))
        return self._take(keep, np.append(0, np.cumsum(np.diff(self.offsets)[chosen])), self.users[chosen])

    def select(self, keep: Masks) -> Self:
        """Keep the marked observations, (n,), and the users who still have any; all items stay.

        Parameters
        ----------
        keep : ndarray of bool, shape (n,)
            True for observations to keep.

        Returns
        -------
        Ratings or Rankings
            Without ``excluded``, which describes the whole.
        """
        per_user = np.bincount(self.user_of_each()[keep], minlength=self.n_users)
        stay = per_user > 0
        return self._take(keep, np.append(0, np.cumsum(per_user[stay])), self.users[stay])

    def without_silent_users(self) -> Self:
        """Leave out users without any observation."""
        return self.take_users(np.diff(self.offsets) > 0)

    def _take(self, rows: Any, offsets: NDArray[np.int64], users: Labels) -> Self:
        part = {"offsets": offsets, "codes": self.codes[rows], "levels": self.levels[rows], "users": users}
        return replace(self, **part, excluded=())

    def __getitem__(self, rows: Any) -> Self:
        keep = np.zeros(len(self), dtype=bool)
        keep[rows] = True
        return self.select(keep)

    def split(
        self, test_size: float = 0.2, by: SplitRated = "item", random_state: RandomState = None
    ) -> tuple[Self, Self]:
        """Split at random into training and test observations.

        Parameters
        ----------
        test_size : float, default=0.2
            Share of each user's items, or of the users, to hold out, between 0 and 1.
        by : {"item", "user"}, default="item"
            What is held out: each item of each user with probability ``test_size``, or whole users.
        random_state : int, numpy.random.Generator or None, default=None
            Seed.

        Returns
        -------
        train, test : Ratings or Rankings
            Both have all items; users without an observation in a part are not in it.

        Raises
        ------
        DataError
            If one of the parts would be empty.
        ParameterError
            If ``test_size`` is not between 0 and 1, or ``by`` is unknown.
        """
        check_share("test_size", test_size)
        check_choice("by", by, SplitRated)
        held_out = self.draw_held_out(test_size, by, as_generator(random_state))
        if held_out.all() or not held_out.any():
            what = count(self.n_users, "user") if by == "user" else count(len(self), self.noun)
            raise DataError(
                f"cannot hold out {test_size:g} of {what} by {by}: one side would be empty.",
                hint=("Use more data or another ", Argument("test_size"), "."),
            )
        return self.select(~held_out), self.select(held_out)

    def draw_held_out(self, share: float, by: SplitRated, rng: np.random.Generator) -> Masks:
        """Mark observations to hold out, (n,)."""
        if by == "user":
            users = np.zeros(self.n_users, dtype=bool)
            users[rng.permutation(self.n_users)[: round(share * self.n_users)]] = True
            return np.repeat(users, np.diff(self.offsets))
        keys = self.user_of_each().astype(np.int64) * self.n_items + self.codes
        return uniforms_of(draw_seed(rng), keys) < share

    def table(self) -> RatingTable:
        """Return the values as a table, as comparisons are made of it."""
        values = self.values[self.levels] if len(self.values) else self.levels.astype(np.float64)
        return RatingTable(self.offsets, self.codes, values, self.items, self.users, self.kind)

    def to_comparisons(self) -> Comparisons:
        """Compare any two items of a user with different values.

        Returns
        -------
        Comparisons
            With ``rated=True``; users whose values are all alike are left out, and ``excluded`` counts them.

        Raises
        ------
        DataError
            If all pairs would be more than 2,000,000,000.
        """
        made = compare_rated(self.table(), "ignore", None, as_generator(0))
        return Comparisons.from_table(replace(made, texts=self.texts, excluded=(*self.excluded, *made.excluded)))

    @cached_property
    def _summary(self) -> Summary:
        summary = summarise_counts((self.n_users, self.n_items, len(self)), self.per_user, self.excluded)
        rated = np.bincount(self.codes, minlength=self.n_items) > 0
        few = int((np.diff(self.offsets) < 2).sum())
        return {
            **summary,
            "n_users_with_fewer_than_two": few,
            "n_duplicates": 0,
            "n_ties": 0,
            "uncompared_items": self.items[~rated].tolist()[:20],
            "problems": self.problems,
        }

    @property
    def problems(self) -> list[str]:
        """One sentence for each data-quality problem; an empty list where there is none."""
        found = list_exclusions(self.excluded)
        single, alike = SILENT[self.kind]
        users = count(self.n_users, "user")
        if few := int((np.diff(self.offsets) < 2).sum()):
            found.append(f"{few:,} of {users} {single}: that does not help to tell rankings apart.")
        if same := self._count_uniform():
            found.append(f"{same:,} of {users} {alike}.")
        if seldom := int((np.bincount(self.codes, minlength=self.n_items) < 2).sum()):
            found.append(f"{seldom:,} of {count(self.n_items, 'item')} got fewer than two {self.noun}s.")
        return found

    def _count_uniform(self) -> int:
        """Count users with several observations, all of the same level."""
        sizes = np.diff(self.offsets)
        several = sizes > 1
        first, last = self.offsets[:-1][several], self.offsets[1:][several] - 1
        return int((self.levels[first] == self.levels[last]).sum())  # they are sorted by level

    def diagnose(self) -> list[str]:
        """Look for data-quality problems.

        Returns
        -------
        list of str
            One sentence for each problem.
        """
        return self.problems

    def summary(self) -> Summary:
        """Return counts, observations per user and data-quality problems, for JSON.

        Returns
        -------
        dict
            Plain Python values; ``n_comparisons`` counts ratings or ranked items.
        """
        return self._summary

    def with_texts(self, items: Any) -> Self:
        """Return the same observations with texts of the items."""
        return self if items is None else replace(self, texts=data.read_items(items).texts_of(self.items))


@dataclass(frozen=True, eq=False, repr=False)
class Ratings(RatedItems):
    """Ratings of items by many users: stars, votes of -1, 0 and 1, or any other ordinal scale.

    Sorted by user, and for each user by value; never changed. An observation takes 8 bytes. Make ratings with
    ``from_frame``, ``from_file`` or ``from_arrays``; the constructor takes arrays as they are and checks nothing.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_users + 1,)
        Where the ratings of each user begin.
    codes : ndarray of int32, shape (n,)
        Code of the item: its position in ``items``.
    levels : ndarray of int32, shape (n,)
        Code of the value: its position in ``values``.
    items, users : ndarray of shape (n_items,) and (n_users,)
        Labels.
    values : ndarray of shape (n_levels,)
        The values that ratings have, ascending; higher is better.
    texts : tuple of str or None, default=None
        What to display for each item; None where the labels are all there is.
    excluded : tuple of Exclusion, default=()
        What reading left out, and why.

    Examples
    --------
    >>> import plurank, polars as pl
    >>> stars = pl.DataFrame({"user": ["ann", "ann", "bob"], "item": ["tea", "milk", "tea"], "rating": [5, 3, 4]})
    >>> ratings = plurank.Ratings.from_frame(stars)
    >>> ratings
    <Ratings: 2 users, 2 items, 3 ratings (1 to 2 each, median 1.5)>
    >>> ratings.values.tolist()
    [3.0, 4.0, 5.0]
    """

    @property
    def kind(self) -> ValueKind:
        """What a value is: "vote" for -1, 0 and 1, otherwise "rating"."""
        return "vote" if is_agreement(self.values) else "rating"

    @property
    def n_levels(self) -> int:
        """Number of different values."""
        return len(self.values)

    @classmethod
    def from_table(cls, table: RatingTable, items: Any = None) -> Self:
        """Take over values that are validated, as readers return them."""
        values = np.unique(table.values)
        codes, levels = _sort_levels(table, np.searchsorted(values, table.values))
        return cls(
            table.offsets, codes, levels, table.item_labels, table.user_labels, values, excluded=table.excluded
        ).with_texts(items)

    @classmethod
    def from_frame(cls, frame: Any, *, columns: Mapping[str, str] | None = None, items: Any = None) -> Self:
        """Build ratings from a data frame.

        Parameters
        ----------
        frame : pandas, polars or pyarrow data frame
            Columns user, item, rating (higher is better), or a column for the user and one for each item.
        columns : mapping of str to str or None, default=None
            Names of your columns by role: user, item, rating.
        items : Items, path, data frame or None, default=None
            A table about items; items it hides are left out.

        Returns
        -------
        Ratings
            Sorted by user; ``excluded`` says what was left out, such as rows without a rating.

        Raises
        ------
        DataError
            If columns are missing, a rating is not a number, or a user rated an item twice.
        ParameterError
            If a role in ``columns`` is unknown.

        Examples
        --------
        >>> import plurank, polars as pl
        >>> wide = pl.DataFrame({"user": ["ann", "bob"], "tea": [5, 4], "milk": [3, None]})
        >>> len(plurank.Ratings.from_frame(wide))
        3
        """
        return cls.from_table(read_rated(frame, "rating", columns, items), items)

    @classmethod
    def from_arrays(cls, users: Any, items: Any, values: Any) -> Self:
        """Build ratings from columns of labels and values.

        Parameters
        ----------
        users, items : array-like of shape (n,)
            Who rated, and what; labels of any hashable type.
        values : array-like of shape (n,)
            The ratings; higher is better.

        Returns
        -------
        Ratings
            Sorted by user.

        Raises
        ------
        DataError
            If the columns differ in length, a label is missing, a value is not a number, or a user rated an item twice.
        """
        return cls.from_frame(_frame_of(users, items, values, "rating"))

    @classmethod
    def from_file(cls, path: Any, *, columns: Mapping[str, str] | None = None, items: Any = None) -> Self:
        r"""Read ratings from a file.

        Parameters
        ----------
        path : str or path
            A table (CSV, TSV, Parquet, JSON lines, JSON), MovieLens or a pol.is export, plain or gzipped.
        columns : mapping of str to str or None, default=None
            Names of your columns by role: user, item, rating.
        items : Items, path, data frame or None, default=None
            A table about items; items it hides are left out.

        Returns
        -------
        Ratings
            Sorted by user.

        Raises
        ------
        DataError
            If there is no such file, it cannot be read, or it does not hold ratings.

        Examples
        --------
        >>> import plurank, pathlib
        >>> _ = pathlib.Path("stars.csv").write_text("user,item,rating\nann,tea,5\nann,milk,3.5\n")
        >>> plurank.Ratings.from_file("stars.csv").values.tolist()
        [3.5, 5.0]
        """
        found = data.read_observations(path, columns=columns, items=items, form="ratings")
        assert isinstance(found, cls)
        return found

    def to_frame(self) -> pl.DataFrame:
        """Return the ratings as a data frame with labels.

        Returns
        -------
        polars.DataFrame
            Columns user, item, rating; one row per rating.

        Examples
        --------
        >>> import plurank
        >>> plurank.Ratings.from_arrays(["ann", "ann"], ["tea", "milk"], [5, 3]).to_frame().rows()
        [('ann', 'milk', 3.0), ('ann', 'tea', 5.0)]
        """
        users, items = as_series(self.users, "user"), as_series(self.items, "item")
        labels = [users.gather(self.user_of_each()), items.gather(self.codes)]
        return pl.DataFrame([*labels, pl.Series("rating", self.values[self.levels])])


@dataclass(frozen=True, eq=False, repr=False)
class Rankings(RatedItems):
    """Rankings of items by many users: complete or partial, with ties, or the first few of the items on offer.

    Sorted by user, and for each user from the worst to the best item; never changed. An observation takes 8 bytes. Make
    rankings with ``from_frame`` or ``from_file``; the constructor takes arrays as they are and checks nothing.

    Parameters
    ----------
    offsets : ndarray of int64, shape (n_users + 1,)
        Where the items of each user begin.
    codes : ndarray of int32, shape (n,)
        Code of the item: its position in ``items``.
    levels : ndarray of int32, shape (n,)
        How many groups of items the user ranked below this one; ties have the same level. Where items were offered and
        not ranked, these have level 0 and no others do.
    items, users : ndarray of shape (n_items,) and (n_users,)
        Labels.
    values : ndarray of shape (0,)
        Empty: places mean something among each other only.
    texts : tuple of str or None, default=None
        What to display for each item; None where the labels are all there is.
    excluded : tuple of Exclusion, default=()
        What reading left out, and why.
    n_unranked : int, default=0
        How many of the observations are items that were offered and not ranked.

    Examples
    --------
    >>> import plurank, polars as pl
    >>> ballots = pl.DataFrame({"user": ["ann", "ann", "bob"], "item": ["tea", "milk", "cola"], "rank": [1, 2, 1]})
    >>> plurank.Rankings.from_frame(ballots, offered="all")
    <Rankings: 2 users, 3 items, 3 ranked items (1 to 2 each, median 1.5), 3 offered and not ranked>
    """

    n_unranked: int = 0

    @property
    def kind(self) -> ValueKind:
        """What a value is: "rank"."""
        return "rank"

    def __repr__(self) -> str:
        offered = f", {self.n_unranked:,} offered and not ranked" if self.n_unranked else ""
        return f"{super().__repr__()[:-1]}{offered}>"

    @property
    def sizes(self) -> str:
        """Counts of users, items and ranked items, in words."""
        n_ranked = count(len(self) - self.n_unranked, "ranked item")
        return f"{count(self.n_users, 'user')}, {count(self.n_items, 'item')}, {n_ranked}"

    @property
    def per_user(self) -> tuple[int, float, int]:
        """Ranked items per user: the fewest, the median and the most."""
        if not self.n_unranked:
            return super().per_user
        sizes = np.bincount(self.user_of_each()[self.levels > 0], minlength=self.n_users)
        return spread_of(sizes)

    @classmethod
    def from_table(cls, table: RatingTable, items: Any = None, offered: Any = None) -> Self:
        """Take over ranks that are validated, 1 the best; ``offered`` as for ``from_frame``."""
        table = replace(table, values=-table.values)
        table, n_unranked = (table, 0) if offered is None else _add_offered(table, offered)
        users = table.user_of_each()
        order = np.lexsort((table.items, table.values, users))
        values, sizes = table.values[order], np.diff(table.offsets)
        steps = np.cumsum(np.append(False, values[1:] != values[:-1]))
        first = np.repeat(table.offsets[:-1][sizes > 0], sizes[sizes > 0])
        all_ranked = values[first] > UNRANKED  # of the user's items: level 0 is for those that were not ranked
        levels = (steps - steps[first] + (all_ranked if n_unranked else 0)).astype(np.int32)
        labels = (table.item_labels, table.user_labels)
        made = cls(
            table.offsets, table.items[order], levels, *labels, np.empty(0), excluded=table.excluded,
            n_unranked=n_unranked,
        )  # fmt: skip
        return made.with_texts(items)

    @classmethod
    def from_frame(
        cls, frame: Any, *, offered: Any = None, columns: Mapping[str, str] | None = None, items: Any = None
    ) -> Self:
        """Build rankings from a data frame.

        Parameters
        ----------
        frame : pandas, polars or pyarrow data frame
            Columns user, item, rank (1 is best; the same rank twice is a tie), or a column for the user and one for
            each item.
        offered : "all", array-like of labels or None, default=None
            Items that every user could have ranked: those left out are below the ones ranked. "all" are all items of
            the frame; None knows nothing about items that were not ranked.
        columns : mapping of str to str or None, default=None
            Names of your columns by role: user, item, rank.
        items : Items, path, data frame or None, default=None
            A table about items; items it hides are left out.

        Returns
        -------
        Rankings
            Sorted by user.

        Raises
        ------
        DataError
            If columns are missing, a rank is not a number, a user ranked an item twice, or ranked one that was not
            offered.
        ParameterError
            If a role in ``columns`` is unknown.

        Examples
        --------
        >>> import plurank, polars as pl
        >>> ballots = pl.DataFrame({"user": ["ann", "ann"], "item": ["tea", "milk"], "rank": [1, 2]})
        >>> plurank.Rankings.from_frame(ballots, offered=["tea", "milk", "cola"]).to_frame().rows()
        [('ann', 'cola', None), ('ann', 'milk', 2), ('ann', 'tea', 1)]
        """
        return cls.from_table(read_rated(frame, "rank", columns, items), items, offered)

    @classmethod
    def from_file(
        cls, path: Any, *, offered: Any = None, columns: Mapping[str, str] | None = None, items: Any = None
    ) -> Self:
        """Read rankings from a file.

        Parameters
        ----------
        path : str or path
            A table (CSV, TSV, Parquet, JSON lines, JSON) or ballots of PrefLib, plain or gzipped.
        offered : "all", array-like of labels or None, default=None
            Items that every user could have ranked, as for ``from_frame``.
        columns : mapping of str to str or None, default=None
            Names of your columns by role: user, item, rank.
        items : Items, path, data frame or None, default=None
            A table about items; items it hides are left out.

        Returns
        -------
        Rankings
            Sorted by user.

        Raises
        ------
        DataError
            If there is no such file, it cannot be read, or it does not hold rankings.
        """
        found = data.read_observations(path, columns=columns, items=items, form="rankings", offered=offered)
        assert isinstance(found, cls)
        return found

    def to_frame(self) -> pl.DataFrame:
        """Return the rankings as a data frame with labels.

        Returns
        -------
        polars.DataFrame
            Columns user, item, rank (1 is best; null for items offered and not ranked).
        """
        users = self.user_of_each()
        last = np.maximum(self.offsets[1:] - 1, 0)
        best = self.levels[last][users] if len(self) else self.levels
        ranks = pl.Series("rank", best - self.levels + 1)
        if self.n_unranked:
            ranks = ranks.to_frame().select(pl.when(pl.Series(self.levels > 0)).then(pl.col("rank"))).to_series()
        labels = [as_series(self.users, "user").gather(users), as_series(self.items, "item").gather(self.codes)]
        return pl.DataFrame([*labels, ranks.cast(pl.Int64)])

    def without_unranked(self) -> Self:
        """Return the items that users ranked, without those they were only offered; every user stays."""
        if not self.n_unranked:
            return self
        keep = self.levels > 0
        sizes = np.bincount(self.user_of_each()[keep], minlength=self.n_users)
        return self._take(keep, np.append(0, np.cumsum(sizes)), self.users)

    def _take(self, rows: Any, offsets: NDArray[np.int64], users: Labels) -> Self:
        part = super()._take(rows, offsets, users)
        return replace(part, n_unranked=int((part.levels == 0).sum())) if self.n_unranked else part


def spread_of(sizes: Integers) -> tuple[int, float, int]:
    """Return the least, the median and the largest of sizes, (n,); zeros where there are none."""
    return (int(sizes.min()), float(np.median(sizes)), int(sizes.max())) if len(sizes) else (0, 0.0, 0)


def _frame_of(users: Any, items: Any, values: Any, name: str) -> pl.DataFrame:
    columns = [as_series(users, "user"), as_series(items, "item"), as_series(values, name)]
    if len({len(column) for column in columns}) > 1:
        sizes = ", ".join(f"{len(column):,} {column.name}s" for column in columns)
        raise DataError(f"expected columns of the same length, got {sizes}.")
    return pl.DataFrame(columns)


def _sort_levels(table: RatingTable, levels: NDArray[np.int64]) -> tuple[Codes, Codes]:
    """Sort each user's items by level, then by item."""
    order = np.lexsort((table.items, levels, table.user_of_each()))
    return table.items[order], levels[order].astype(np.int32)


def add_offered_items(labels: Labels, ranked: Codes, offered: Any) -> Labels:
    """Return the labels of all items on offer: those of which some were ranked, and others after them."""
    if isinstance(offered, str) and offered == "all":
        return labels
    wanted = as_series(offered, "item")
    refuse_missing(wanted)
    known = look_up(wanted, labels, "item")
    others = np.setdiff1d(ranked, known)
    if len(others):
        raise DataError(
            f"{count(len(others), 'item')} {'was' if len(others) == 1 else 'were'} ranked and not offered, such as "
            f"{labels.tolist()[others[0]]!r:.60}. Add to the items offered, or drop such rows."
        )
    fresh = dict.fromkeys(label for label, code in zip(wanted.to_list(), known, strict=True) if code < 0)
    return as_labels(as_series(object_array([*labels.tolist(), *fresh]), "item")) if fresh else labels


def _add_offered(table: RatingTable, offered: Any) -> tuple[RatingTable, int]:
    """Add the items that users were offered and did not rank, below all others; return how many these are."""
    labels = add_offered_items(table.item_labels, table.items, offered)
    codes = np.arange(len(labels))  # all that were ranked are among those offered
    n_users, users = len(table.user_labels), table.user_of_each()
    ranked = users.astype(np.int64) * len(labels) + table.items
    every = (np.arange(n_users)[:, None] * len(labels) + codes[None]).ravel()
    more = np.setdiff1d(every, ranked)
    keys = np.concatenate([ranked, more])
    values = np.concatenate([table.values, np.full(len(more), UNRANKED)])
    order = np.argsort(keys, kind="stable")
    sizes = np.bincount(keys // len(labels), minlength=n_users)
    offsets = np.append(0, np.cumsum(sizes)).astype(np.int64)
    items = (keys % len(labels))[order].astype(np.int32)
    made = RatingTable(offsets, items, values[order], labels, table.user_labels, table.kind, table.excluded)
    return made, len(more)
