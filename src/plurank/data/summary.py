"""Summaries of comparisons as plain values that JSON can hold; a model keeps that of the data it was fitted to."""

from collections.abc import Callable, Iterable
from typing import Any

from plurank.data.comparisons import Comparisons
from plurank.data.diagnostics import DataReport
from plurank.data.exclusions import Exclusion, check_exclusions
from plurank.text import count

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
    """Summarise comparisons that nobody looked through for problems: ``problems`` and the like are None."""
    known = dict(zip((*COUNTS, *PER_USER), (*counts, *per_user), strict=True))
    unknown = dict.fromkeys((*FOUND_COUNTS, *FOUND_LISTS, "problems"))
    return {**known, **unknown, "n_updates": 0, "note": None, "excluded": _plain(excluded), "n_ties": None}


def _plain(excluded: Iterable[Exclusion]) -> list[dict[str, Any]]:
    return [exclusion.to_dict() for exclusion in excluded]


def add_update(summary: Summary | None, more: Comparisons, n_users: int, n_items: int) -> Summary | None:
    """Count comparisons that came later; what cannot be added up stays that of the first fit, and a note says so."""
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
        "n_ties": None if summary["n_ties"] is None else summary["n_ties"] + more.n_ties,
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


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, (str, int, float)) for entry in value)


EXPECTED: dict[str, Callable[[Any], bool]] = {
    **dict.fromkeys((*COUNTS, "min_per_user", "max_per_user", "n_updates"), _is_count),
    "median_per_user": lambda value: isinstance(value, (int, float)) and value >= 0,
    **dict.fromkeys(FOUND_COUNTS, lambda value: value is None or _is_count(value)),
    **dict.fromkeys(FOUND_LISTS, lambda value: value is None or _is_list(value)),
    "problems": lambda value: value is None or (_is_list(value) and all(isinstance(entry, str) for entry in value)),
    "note": lambda value: value is None or isinstance(value, str),
    "excluded": check_exclusions,
    "n_ties": lambda value: value is None or _is_count(value),
}
