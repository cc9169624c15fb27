"""Counts of comparisons, data-quality warnings, and summaries that models store."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from plurank import kernels
from plurank.data.coded import Exclusion, PairTable, check_exclusions, list_exclusions
from plurank.data.encoding import index_pairs
from plurank.text import (
    count,
    describe_spread,
    describe_ties,
    list_sizes,
    shorten,
)
from plurank.types import Codes

LONGEST = 60  # characters of an item in a sentence


@dataclass(frozen=True)
class DataReport:
    """Counts and data-quality problems of comparisons, made by ``Comparisons.diagnose``.

    ``str(report)`` is a short text for people, ``to_dict`` plain values for JSON.

    Attributes
    ----------
    n_users, n_items, n_comparisons : int
        Sizes.
    min_per_user, median_per_user, max_per_user : int, float, int
        Comparisons per user.
    n_users_with_fewer_than_two : int
        Users with fewer than two comparisons, which do not help to tell rankings apart.
    uncompared_items, undefeated_items, winless_items : list
        Labels of items that were never compared, only won, and only lost.
    item_groups : list of list
        Labels of items that are linked by comparisons, the largest group first; one group where all are connected.
    n_duplicates : int
        Comparisons that repeat an earlier one of the same user.
    alike_items : list of str
        Items whose labels differ only in surrounding spaces.
    n_ties : int
        Rows that were ties.
    excluded : tuple of Exclusion
        What reading or conversion left out.

    Examples
    --------
    >>> import plurank
    >>> report = plurank.Comparisons.from_arrays(["ann", "ann"], ["tea", "milk"], ["milk", "tea"]).diagnose()
    >>> print(report)
    1 user, 2 items, 2 comparisons (2 each)
    - no problems found.
    """

    n_users: int
    n_items: int
    n_comparisons: int
    min_per_user: int
    median_per_user: float
    max_per_user: int
    n_users_with_fewer_than_two: int
    uncompared_items: list[Any]
    undefeated_items: list[Any]
    winless_items: list[Any]
    item_groups: list[list[Any]]
    n_duplicates: int
    alike_items: list[Any]
    n_ties: int = 0
    excluded: tuple[Exclusion, ...] = ()

    @property
    def n_compared_items(self) -> int:
        """Number of items in at least one comparison."""
        return self.n_items - len(self.uncompared_items)

    @property
    def is_connected(self) -> bool:
        """Whether every compared item is linked to every other by a chain of comparisons."""
        return len(self.item_groups) <= 1

    @property
    def problems(self) -> list[str]:
        """One sentence for each problem; an empty list where there is none."""
        found = list_exclusions(self.excluded)
        if self.n_users_with_fewer_than_two:
            found.append(
                f"{self.n_users_with_fewer_than_two:,} of {count(self.n_users, 'user')} made fewer than two "
                "comparisons: that does not help to tell rankings apart."
            )
        if self.alike_items:
            shown = _some(self.alike_items)
            found.append(
                f"{len(self.alike_items):,} items ({shown}) differ only in spaces around them: are they the same?"
            )
        if self.uncompared_items:
            found.append(f"{_list_items(self.uncompared_items)} never compared: any place in a ranking is a guess.")
        if not self.is_connected:
            sizes = ", ".join(f"{len(group):,}" for group in self.item_groups[:5])
            more = ", ..." if len(self.item_groups) > 5 else ""
            found.append(
                f"the items fall into {len(self.item_groups):,} groups that are never compared with each "
                f"other (of {sizes}{more} items): the order of the groups is a guess."
            )
        if self.undefeated_items:
            found.append(f"{_list_items(self.undefeated_items)} never beaten: how far above the others is a guess.")
        if self.winless_items:
            found.append(f"{_list_items(self.winless_items)} never preferred: how far below the others is a guess.")
        if self.n_duplicates:
            found.append(
                f"{count(self.n_duplicates, 'comparison')} {'repeats' if self.n_duplicates == 1 else 'repeat'} "
                "an earlier one of the same user: fine if people were asked again, wrong if rows were copied."
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain Python values, for JSON.

        Returns
        -------
        dict
            All attributes, and ``n_compared_items``, ``is_connected`` and ``problems``.
        """
        found = {"n_compared_items": self.n_compared_items, "is_connected": self.is_connected}
        excluded = [entry.to_dict() for entry in self.excluded]
        return {**asdict(self), **found, "excluded": excluded, "problems": self.problems}

    def __str__(self) -> str:
        sizes = list_sizes(self.n_users, self.n_items, self.n_comparisons)
        spread = describe_spread(self.min_per_user, self.median_per_user, self.max_per_user)
        problems = [f"- {problem}" for problem in self.problems or ["no problems found."]]
        ties = [describe_ties(self.n_comparisons, self.n_ties)] if self.n_ties else []
        return "\n".join([f"{sizes} ({spread})", *ties, *problems])


def diagnose(comparisons: PairTable) -> DataReport:
    """Examine a set of comparisons in linear time."""
    c = comparisons
    per_user = np.diff(c.offsets)
    won = np.bincount(c.winners, minlength=c.n_items) > 0
    lost = np.bincount(c.losers, minlength=c.n_items) > 0
    labels = c.items
    return DataReport(
        n_users=c.n_users,
        n_items=c.n_items,
        n_comparisons=len(c),
        min_per_user=int(per_user.min()) if len(per_user) else 0,
        median_per_user=float(np.median(per_user)) if len(per_user) else 0.0,
        max_per_user=int(per_user.max(initial=0)),
        n_users_with_fewer_than_two=int((per_user < 2).sum()),
        uncompared_items=labels[~won & ~lost].tolist(),
        undefeated_items=labels[won & ~lost].tolist(),
        winless_items=labels[~won & lost].tolist(),
        item_groups=_item_groups(c, won | lost),
        n_duplicates=int(kernels.find_duplicates(c.offsets, c.winners, c.losers, c.n_items)),
        alike_items=_alike_items([item for item in labels.tolist() if isinstance(item, str)]),
        n_ties=c.n_ties,
        excluded=c.excluded,
    )


def _alike_items(texts: list[str]) -> list[str]:
    """Return the items that another one equals but for spaces around them, beside each other."""
    times = Counter(text.strip() for text in texts)
    return sorted((text for text in texts if times[text.strip()] > 1), key=str.strip)


def _item_groups(c: PairTable, compared: np.ndarray[Any, np.dtype[np.bool_]]) -> list[list[Any]]:
    """Return the groups of items linked by comparisons, largest first."""
    _, lower, higher = index_pairs(c.winners, c.losers, c.n_items)
    group_of = _link(lower, higher, c.n_items)[compared]
    order, offsets = kernels.group(group_of, int(group_of.max(initial=-1)) + 1)
    labels = c.items[compared]
    groups = [labels[order[b:e]].tolist() for b, e in pairwise(offsets) if e > b]
    return sorted(groups, key=len, reverse=True)


def _link(lower: Codes, higher: Codes, n_items: int) -> Codes:
    """Return for every item the first one that it is linked to, by any number of pairs, (Q,).

    Groups begin as single items. Wherever a pair links two, the later one joins the earliest that it is linked to.
    """
    first = np.arange(n_items, dtype=np.int32)
    while (first[lower] != first[higher]).any():
        np.minimum.at(first, first[lower], first[higher])
        np.minimum.at(first, first[higher], first[lower])
        while (first[first] != first).any():
            first = first[first]
    return first


def _list_items(items: list[Any]) -> str:
    return f"item {_some(items)} was" if len(items) == 1 else f"{len(items):,} items ({_some(items)}) were"


def _some(items: list[Any]) -> str:
    return ", ".join(shorten(repr(item), LONGEST) for item in items[:5]) + (", ..." if len(items) > 5 else "")


# Summaries of comparisons as plain values that JSON can hold; a model stores that of the data it was fitted to.

Summary = dict[str, Any]
MOST_LISTED = 20  # items, or a model of a million items would remember them twice
COUNTS = ("n_users", "n_items", "n_comparisons")
PER_USER = ("min_per_user", "median_per_user", "max_per_user")
FOUND_COUNTS = ("n_users_with_fewer_than_two", "n_item_groups", "n_duplicates")
FOUND_LISTS = ("uncompared_items", "undefeated_items", "winless_items")


def summarise(report: DataReport) -> Summary:
    """Summarise comparisons of which a report was made."""
    return {
        **{name: getattr(report, name) for name in (*COUNTS, *PER_USER)},
        "n_users_with_fewer_than_two": report.n_users_with_fewer_than_two,
        "n_item_groups": len(report.item_groups),
        "n_duplicates": report.n_duplicates,
        **{name: getattr(report, name)[:MOST_LISTED] for name in FOUND_LISTS},
        "problems": report.problems,
        "n_updates": 0,
        "note": None,
        "excluded": _plain(report.excluded),
        "n_ties": report.n_ties,
    }


def summarise_counts(
    counts: tuple[int, int, int], per_user: tuple[int, float, int], excluded: Iterable[Exclusion]
) -> Summary:
    """Summarise comparisons without diagnosing them: ``problems`` and the like are None."""
    known = dict(zip((*COUNTS, *PER_USER), (*counts, *per_user), strict=True))
    unknown = dict.fromkeys((*FOUND_COUNTS, *FOUND_LISTS, "problems"))
    return {**known, **unknown, "n_updates": 0, "note": None, "excluded": _plain(excluded), "n_ties": None}


def _plain(excluded: Iterable[Exclusion]) -> list[dict[str, Any]]:
    return [exclusion.to_dict() for exclusion in excluded]


def add_update(summary: Summary | None, more: Any, n_users: int, n_items: int) -> Summary | None:
    """Count comparisons, ratings or ranked items that came later; what cannot be added up stays that of the first fit,
    and a note says so."""
    if summary is None:
        return None
    n_updates = summary["n_updates"] + 1
    return {
        **summary,
        "n_users": n_users,
        "n_items": n_items,
        "n_comparisons": summary["n_comparisons"] + len(more),
        "n_updates": n_updates,
        "excluded": [*summary["excluded"], *_plain(more.excluded)],
        "n_ties": None if summary["n_ties"] is None else summary["n_ties"] + getattr(more, "n_ties", 0),
        "note": f"Comparisons per user and problems are those of the first fit, before {count(n_updates, 'update')}.",
    }


def check_summary(value: Any) -> None:
    """Raise a ValueError where a value, read from a file, is no summary."""
    if value is None:
        return
    if not isinstance(value, dict):
        raise ValueError("the data are not described as expected")
    value.setdefault("excluded", [])  # which older files do not have
    value.setdefault("n_ties", None)
    if set(value) != set(EXPECTED):
        raise ValueError("the data are not described as expected")
    for name, is_right in EXPECTED.items():
        if not is_right(value[name]):
            raise ValueError(f"{name} of the data is {value[name]!r:.50}")


def _is_natural(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, (str, int, float)) for entry in value)


EXPECTED: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys((*COUNTS, "min_per_user", "max_per_user", "n_updates"), _is_natural),
    "median_per_user": lambda value: isinstance(value, (int, float)) and value >= 0,
    **dict.fromkeys(FOUND_COUNTS, lambda value: value is None or _is_natural(value)),
    **dict.fromkeys(FOUND_LISTS, lambda value: value is None or _is_list(value)),
    "problems": lambda value: value is None or (_is_list(value) and all(isinstance(entry, str) for entry in value)),
    "note": lambda value: value is None or isinstance(value, str),
    "excluded": check_exclusions,
    "n_ties": lambda value: value is None or _is_natural(value),
}
