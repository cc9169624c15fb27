"""Comparisons from ratings and from rankings.

Paper: section 6.3, the choices Full or Partial and Both, Ignore or Random.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank import kernels
from plurank.choices import Pairs, RatingTies
from plurank.data.build import as_numbers, refuse_missing, refuse_rows
from plurank.data.coded import Exclusion, PairTable, RatingTable, ValueKind, renumber
from plurank.data.columns import (
    Columns,
    as_columns,
    check_roles,
    find_column,
    find_optional,
    has_role,
    list_names,
)
from plurank.data.encoding import Labels, as_series, encode, missing
from plurank.data.items import (
    HIDDEN,
    ON_HIDDEN,
    read_items,
    refuse_reversed,
)
from plurank.exceptions import Argument, DataError
from plurank.random import RandomState, as_generator, spawn
from plurank.types import Codes, Masks
from plurank.validation import check_choice, check_positive

TIES = {"ignore": 0, "both": 1, "random": 2}
# why somebody's values make no comparison: one only, or all alike
SILENT: dict[ValueKind, tuple[str, str]] = {
    "rating": ("rated a single item", "gave the same rating throughout"),
    "vote": ("cast a single vote", "gave the same answer throughout"),
    "rank": ("ranked a single item", "ranked all items alike"),
}
LEAST_WIDE = 2  # columns of items
MOST_PAIRS = 2 * 10**9  # in memory, at 8 bytes each


def compare_ratings(
    frame: Any,
    pairs: Pairs,
    ties: RatingTies,
    random_state: RandomState,
    pairs_per_rating: float,
    columns: Mapping[str, str] | None,
    items: Any = None,
    most: int = MOST_PAIRS,
) -> PairTable:
    """Turn ratings into comparisons; see :meth:`Comparisons.from_ratings`."""
    check_choice("pairs", pairs, Pairs)
    check_choice("ties", ties, RatingTies)
    check_positive("pairs_per_rating", pairs_per_rating)
    rng = as_generator(random_state)
    rated = read_rated(frame, "rating", columns, items)
    if pairs == "full":
        _refuse_too_many(rated, most)
    made = compare_rated(rated, ties, pairs_per_rating if pairs == "partial" else None, rng)
    return _refuse_nothing(_add_texts(made, items))


def compare_rankings(
    frame: Any,
    ties: RatingTies,
    random_state: RandomState,
    columns: Mapping[str, str] | None,
    items: Any = None,
) -> PairTable:
    """Turn rankings into comparisons; see :meth:`Comparisons.from_rankings`."""
    check_choice("ties", ties, RatingTies)
    rng = as_generator(random_state)
    ranked = read_rated(frame, "rank", columns, items)
    made = compare_rated(replace(ranked, values=-ranked.values), ties, None, rng)
    return _refuse_nothing(_add_texts(made, items))


def _add_texts(made: PairTable, items: Any) -> PairTable:
    return made if items is None else replace(made, texts=read_items(items).texts_of(made.items))


def is_agreement(values: NDArray[np.float64]) -> bool:
    """Check whether ratings are votes of agree (1), pass (0) and disagree (-1)."""
    found = set(np.unique(values).tolist())
    return {-1.0, 1.0} <= found <= {-1.0, 0.0, 1.0}


def read_rated(frame: Any, value: str, columns: Mapping[str, str] | None, items: Any = None) -> RatingTable:
    """Check, number and sort by user; leave out what is missing or, by the table of items, hidden, and count it."""
    users, rated, numbers, given, is_wide = read_values(frame, value, columns)
    if not given.any():
        raise DataError(all_missing(value))
    (user_codes,), user_labels = encode(users)
    (item_codes,), item_labels = encode(rated)
    table = None if items is None else read_items(items)
    hidden = np.zeros(len(item_labels), dtype=bool) if table is None else table.is_hidden(item_labels)
    keep = given & ~hidden[item_codes]
    if not keep.any():
        raise DataError(f"every {value} is of an item that is hidden. Is the column that hides items read rightly?")
    kind: ValueKind = "rank" if value == "rank" else "vote" if is_agreement(numbers[keep]) else "rating"
    excluded = _count_excluded(user_codes, item_codes, given, keep, hidden, kind, is_wide=is_wide)
    rows, numbers = np.flatnonzero(keep) + 1, numbers[keep]
    user_codes, user_labels = _compact(user_codes[keep], user_labels)
    item_codes, item_labels = _compact(item_codes[keep], item_labels)
    keys = user_codes.astype(np.int64) * len(item_labels) + item_codes
    repeated = ~pl.Series(keys).is_first_distinct().to_numpy()
    remedy = f"Keep one {value} a user and item"
    refuse_rows(repeated, f"the user already has a {value} for this item", remedy, rows)
    if kind == "vote" and table is not None:
        ups, downs = (np.bincount(item_codes[numbers == sign], minlength=len(item_labels)) for sign in (1, -1))
        refuse_reversed(table, item_labels, ups, downs)
    order, offsets = kernels.group(user_codes, len(user_labels))
    return RatingTable(offsets, item_codes[order], numbers[order], item_labels, user_labels, kind, excluded)


class RatedRows(NamedTuple):
    """One value a row, the ids not yet numbered: values (n,), marks (n,) of those that are not missing, and whether the
    table had a column for each item."""

    users: pl.Series
    items: pl.Series
    numbers: NDArray[np.float64]
    given: Masks
    is_wide: bool = False


def read_values(
    frame: Any, value: str, columns: Mapping[str, str] | None, *, first_row: int = 1, may_be_wide: bool = True
) -> RatedRows:
    """Read users, items and values from a frame, or from a part of one, whose first row has this number."""
    check_roles(columns, ("user", "item", value))
    found = as_columns(frame)
    if not any(len(column) for column in found.values()):
        raise DataError(no_rows(value))
    wide = _read_wide(found, value, columns) if may_be_wide else None
    users, items, values = wide or tuple(find_column(found, role, columns) for role in ("user", "item", value))
    refuse_missing(users.rename("user"), first_row)
    refuse_missing(items.rename("item"), first_row)
    given, numbers = ~_find_absent(values), as_numbers(values)
    bad = ~np.isfinite(numbers) & given
    remedy = "Fix it, with a point as in 0.5, or drop the row"
    refuse_rows(bad, f"{value} is not a number", remedy, first_row)
    return RatedRows(users, items, numbers, given, wide is not None)


def no_rows(value: str) -> str:
    """Say that there is no row."""
    return f"there are no {value}s: expected at least one row of user, item, {value}."


def all_missing(value: str) -> str:
    """Say that there is no value."""
    return f"there are no {value}s: all of them are missing."


def without_a(kind: str) -> str:
    """Say why a row was left out that has no value."""
    return f"without a {kind}"


def _compact(codes: Codes, labels: Labels) -> tuple[Codes, Labels]:
    """Leave out labels that have no code any more, and number the others anew."""
    occurs = _occurs(codes, len(labels))
    return renumber(occurs)[codes], labels[occurs]


def _count_excluded(
    users: Codes, items: Codes, given: Masks, keep: Masks, hidden: Masks, kind: ValueKind, *, is_wide: bool
) -> tuple[Exclusion, ...]:
    """Count what is left out of rows (n,), ``given`` those with a value and ``keep`` those of items not hidden (Q,)."""
    n_users, n_items, n_rows = int(users.max()) + 1, len(hidden), len(given)
    n_given, n_kept = (int(_occurs(users[rows], n_users).sum()) for rows in (given, keep))
    n_unrated = int((~_occurs(items[given], n_items) & ~hidden).sum())
    return (
        *Exclusion.some("item", int(hidden.sum()), n_items, HIDDEN),
        *Exclusion.some("item", n_unrated, n_items, without_a(kind)),
        *Exclusion.some("row", int((~given).sum()), n_rows, "empty cells" if is_wide else without_a(kind)),
        *Exclusion.some("row", int((given & ~keep).sum()), n_rows, ON_HIDDEN),
        *Exclusion.some("user", n_users - n_given, n_users, f"gave no {kind}"),
        *Exclusion.some("user", n_given - n_kept, n_users, "answered about hidden items only"),
    )


def _occurs(codes: NDArray[np.integer[Any]], n: int) -> NDArray[np.bool_]:
    return np.bincount(codes, minlength=n) > 0


def _find_absent(values: pl.Series) -> NDArray[np.bool_]:
    """Mark values that are not there: null, NaN, or blank text."""
    return missing(values.str.strip_chars() if values.dtype == pl.String else values)


def _read_wide(
    found: Columns, value: str, columns: Mapping[str, str] | None
) -> tuple[pl.Series, pl.Series, pl.Series] | None:
    """Read a table with a row per user and a column an item as one value a row; None for other tables.

    It has a column for the user, none for the item or the value, and nothing but numbers, or nothing, in all others.
    """
    given = columns or {}
    if "item" in given or value in given or has_role(found, "item", value):
        return None
    users = find_optional(found, "user", columns)
    names = [name for name in found if users is None or name != users.name]
    if users is None or len(names) < LEAST_WIDE:
        return None
    cells = [as_series(found[name], name) for name in names]
    for cell in cells:
        bad = ~np.isfinite(as_numbers(cell)) & ~_find_absent(cell)
        if bad.any():
            at = int(np.argmax(bad))
            raise DataError(
                f"expected columns user, item, {value}, or user and one column of numbers for each item; the columns "
                f"are {list_names(found)}, and row {at + 1} of {cell.name!r:.60} is {cell[at]!r:.60}.",
                hint=(
                    "Remove columns that are not items, or name yours with ",
                    Argument("columns", ("item", value)),
                    ".",
                ),
            )
    numbers = np.concatenate([as_numbers(cell) for cell in cells])
    each = users.gather(np.tile(np.arange(len(users)), len(names)))
    items = pl.Series("item", names).gather(np.repeat(np.arange(len(names)), len(users)))
    repeated = encode(users)[0][0]
    refuse_rows(np.bincount(repeated)[repeated] > 1, "the user has more than one row", "Keep one row per user")
    return each, items, pl.Series(value, numbers)


def compare_rated(
    rated: RatingTable, ties: RatingTies, pairs_per_rating: float | None, rng: np.random.Generator
) -> PairTable:
    """Compare all pairs of values of each user, or draw so many pairs for every value."""
    choose, toss = spawn(rng, 2)
    data = (rated.offsets, rated.items, rated.values)
    if pairs_per_rating is None:
        _refuse_too_many(rated, MOST_PAIRS)
        n_draws = _count_tied_pairs(rated) if ties == "random" else 0
        offsets, winners, losers = kernels.decided_pairs(*data, TIES[ties], toss.random(n_draws))
    else:
        n_rated = np.diff(rated.offsets)
        n_wanted = np.minimum(n_rated * (n_rated - 1) / 2, np.round(float(pairs_per_rating) * n_rated)).astype(np.int64)
        pairs = kernels.sample_pairs(n_rated, n_wanted, choose.random(n_wanted.sum()))
        draws = toss.random(len(pairs) if ties == "random" else 0)
        offsets, winners, losers = kernels.expand_pairs(*data, n_wanted, pairs, TIES[ties], draws)
    return _drop_silent_users(offsets, winners, losers, rated)


def _refuse_too_many(rated: RatingTable, most_pairs: int) -> None:
    n_rated = np.diff(rated.offsets)
    n_pairs, most = int((n_rated * (n_rated - 1) // 2).sum()), int(n_rated.max())
    if n_pairs > most_pairs:
        raise DataError(
            f"all pairs are {n_pairs:,} comparisons (one user values {most:,} items); at most {most_pairs:,} are made. "
            "Use a random part of the pairs (pairs='partial', `plurank convert --pairs partial`), or fewer values."
        )


def _refuse_nothing(comparisons: PairTable) -> PairTable:
    if not len(comparisons):
        raise DataError(
            "there is nothing to compare: no user values two items differently. "
            "Each user needs at least two items; equal values count with ties='both' (`plurank convert --ties both`)."
        )
    return comparisons


def _count_tied_pairs(rated: RatingTable) -> int:
    values = pl.DataFrame({"user": rated.user_of_each(), "value": rated.values})
    runs = values.group_by("user", "value").len()["len"].cast(pl.Int64)
    return int((runs * (runs - 1) // 2).sum())


def _drop_silent_users(
    offsets: NDArray[np.int64], winners: NDArray[np.int32], losers: NDArray[np.int32], rated: RatingTable
) -> PairTable:
    """Leave out users whose values make no comparison, one item only or all equal, and count them."""
    spoke = np.diff(offsets) > 0
    kept = np.concatenate([offsets[:-1][spoke], offsets[-1:]])
    labels = (rated.item_labels, rated.user_labels[spoke])
    excluded = (*rated.excluded, *_count_silent(rated, ~spoke))
    return PairTable(winners, losers, kept, *labels, rated=True, ratings=rated, excluded=excluded)


def _count_silent(rated: RatingTable, silent: NDArray[np.bool_]) -> tuple[Exclusion, ...]:
    """Count users without a comparison, (M,) marks, by the reason."""
    if not silent.any():
        return ()
    n_values, users = np.diff(rated.offsets), rated.user_of_each()
    first = np.append(rated.values, np.nan)[rated.offsets[:-1]]  # of those with any
    varied = _occurs(users[rated.values != first[users]], len(silent))
    total = len(silent) + sum(entry.n for entry in rated.excluded if entry.what == "user")
    single, alike = SILENT[rated.kind]
    return (
        *Exclusion.some("user", int((silent & (n_values <= 1)).sum()), total, single),
        *Exclusion.some("user", int((silent & (n_values > 1) & ~varied).sum()), total, alike),
        *Exclusion.some("user", int((silent & varied).sum()), total, "had only equal pairs drawn"),
    )
