"""Comparisons from ratings and from rankings.

Paper: section 6.3, the choices Full or Partial and Both, Ignore or Random.
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.columns import _as_numbers, as_columns, check_roles, find_column
from plurank.data.comparisons import Comparisons, RatingTies, refuse_rows
from plurank.data.encoding import Labels, as_series, encode, missing
from plurank.exceptions import DataError, ParameterError
from plurank.rng import RandomState, as_generator, spawn

TIES = {"ignore": 0, "both": 1, "random": 2}


def compare_ratings(
    frame: Any,
    pairs: Literal["full", "partial"],
    ties: RatingTies,
    random_state: RandomState,
    pairs_per_rating: float,
    columns: Mapping[str, str] | None,
) -> Comparisons:
    """Turn ratings into comparisons; see :meth:`Comparisons.from_ratings`."""
    if pairs not in ("full", "partial"):
        raise ParameterError(f"pairs must be 'full' or 'partial', got {pairs!r}.")
    if not pairs_per_rating > 0:
        raise ParameterError(f"pairs_per_rating must be positive, got {pairs_per_rating!r}.")
    rated = _read_rated(frame, "rating", columns)
    share = pairs_per_rating if pairs == "partial" else None
    return _compare(*rated, ties, share, as_generator(random_state))


def compare_rankings(
    frame: Any, ties: RatingTies, random_state: RandomState, columns: Mapping[str, str] | None
) -> Comparisons:
    """Turn rankings into comparisons; see :meth:`Comparisons.from_rankings`."""
    offsets, items, ranks, item_labels, user_labels = _read_rated(frame, "rank", columns)
    return _compare(offsets, items, -ranks, item_labels, user_labels, ties, None, as_generator(random_state))


Rated = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64], Labels, Labels]


def _read_rated(frame: Any, value: str, columns: Mapping[str, str] | None) -> Rated:
    """Check and sort by user: offsets, item numbers, values, item labels, user labels."""
    check_roles(columns, ("user", "item", value))
    found = as_columns(frame)
    if not found or not len(next(iter(found.values()))):
        raise DataError(f"there are no {value}s: expected at least one row of user, item, {value}.")
    users, items, values = (find_column(found, role, columns) for role in ("user", "item", value))
    assert users is not None
    assert items is not None
    assert values is not None
    users, items = as_series(users, "user"), as_series(items, "item")
    for series in (users, items):
        refuse_rows(missing(series), f"{series.name} is missing (empty, null or NaN)", "Fill it in or drop the row")
    numbers = _as_numbers(values, value)
    refuse_rows(~np.isfinite(numbers), f"{value} is not a number", "Mend or drop the row")
    (user_codes,), user_labels = encode(users)
    (item_codes,), item_labels = encode(items)
    keys = user_codes.astype(np.int64) * len(item_labels) + item_codes
    repeated = ~pl.Series(keys).is_first_distinct().to_numpy()
    refuse_rows(repeated, f"the user already has a {value} for this item", f"Keep one {value} a user and item")
    order, offsets = kernels.group(user_codes, len(user_labels))
    return offsets, item_codes[order], numbers[order], item_labels, user_labels


def _compare(
    offsets: NDArray[np.int64],
    items: NDArray[np.int32],
    ratings: NDArray[np.float64],
    item_labels: Labels,
    user_labels: Labels,
    ties: RatingTies,
    pairs_per_rating: float | None,
    rng: np.random.Generator,
) -> Comparisons:
    if ties not in TIES:
        raise ParameterError(f"ties must be one of {', '.join(TIES)}, got {ties!r}.")
    choose, toss = spawn(rng, 2)
    n_rated = np.diff(offsets)
    if pairs_per_rating is None:
        n_draws = _count_tied_pairs(offsets, ratings) if ties == "random" else 0
        compared = kernels.decided_pairs(offsets, items, ratings, TIES[ties], toss.random(n_draws))
    else:
        n_wanted = np.minimum(n_rated * (n_rated - 1) // 2, np.round(pairs_per_rating * n_rated).astype(np.int64))
        codes = kernels.sample_pairs(n_rated, n_wanted, choose.random(n_wanted.sum()))
        draws = toss.random(len(codes) if ties == "random" else 0)
        compared = kernels.expand_pairs(offsets, items, ratings, n_wanted, codes, TIES[ties], draws)
    return _drop_silent_users(*compared, item_labels, user_labels)


def _count_tied_pairs(offsets: NDArray[np.int64], ratings: NDArray[np.float64]) -> int:
    users = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    runs = pl.DataFrame({"user": users, "rating": ratings}).group_by("user", "rating").len()["len"].to_numpy().astype(np.int64)
    return int((runs * (runs - 1) // 2).sum())


def _drop_silent_users(
    offsets: NDArray[np.int64],
    winners: NDArray[np.int32],
    losers: NDArray[np.int32],
    item_labels: Labels,
    user_labels: Labels,
) -> Comparisons:
    """Leave out users whose values make no comparison: one item only, or all equal."""
    if not len(winners):
        raise DataError("no two items are valued differently by the same user, so there is nothing to compare.")
    spoke = np.diff(offsets) > 0
    kept = np.concatenate([offsets[:-1][spoke], offsets[-1:]])
    return Comparisons(winners, losers, kept, item_labels, user_labels[spoke])
