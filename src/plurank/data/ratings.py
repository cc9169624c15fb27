"""Comparisons from ratings and from rankings.

Paper: section 6.3, the choices Full or Partial and Both, Ignore or Random.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank import kernels
from plurank.choices import Pairs, RatingTies
from plurank.data.checks import check_choice, check_positive
from plurank.data.columns import as_columns, check_roles, find_column
from plurank.data.comparisons import Comparisons, refuse_rows
from plurank.data.encoding import Labels, encode
from plurank.data.rows import as_numbers, refuse_missing
from plurank.exceptions import DataError
from plurank.rng import RandomState, as_generator, spawn

TIES = {"ignore": 0, "both": 1, "random": 2}
MOST_PAIRS = 2 * 10**9  # in memory, at 8 bytes each


def compare_ratings(
    frame: Any,
    pairs: Pairs,
    ties: RatingTies,
    random_state: RandomState,
    pairs_per_rating: float,
    columns: Mapping[str, str] | None,
) -> Comparisons:
    """Turn ratings into comparisons; see :meth:`Comparisons.from_ratings`."""
    check_choice("pairs", pairs, Pairs)
    check_choice("ties", ties, RatingTies)
    check_positive("pairs_per_rating", pairs_per_rating)
    rng = as_generator(random_state)
    rated = read_rated(frame, "rating", columns)
    return _refuse_nothing(compare_rated(rated, ties, pairs_per_rating if pairs == "partial" else None, rng))


def compare_rankings(
    frame: Any, ties: RatingTies, random_state: RandomState, columns: Mapping[str, str] | None
) -> Comparisons:
    """Turn rankings into comparisons; see :meth:`Comparisons.from_rankings`."""
    check_choice("ties", ties, RatingTies)
    rng = as_generator(random_state)
    ranked = read_rated(frame, "rank", columns)
    return _refuse_nothing(compare_rated(replace(ranked, values=-ranked.values), ties, None, rng))


@dataclass(frozen=True)
class Rated:
    """Values that users gave to items, higher is better; user u's are ``offsets[u]:offsets[u + 1]``."""

    offsets: NDArray[np.int64]
    items: NDArray[np.int32]
    values: NDArray[np.float64]
    item_labels: Labels
    user_labels: Labels

    def user_of_each(self) -> NDArray[np.int64]:
        """Give the user of each value, (n,)."""
        return np.repeat(np.arange(len(self.user_labels)), np.diff(self.offsets))

    def select(self, keep: NDArray[np.bool_]) -> "Rated":
        """Keep some of the values, (n,), of the same users and items."""
        offsets = np.append(0, np.cumsum(keep))[self.offsets]
        return replace(self, offsets=offsets, items=self.items[keep], values=self.values[keep])


def read_rated(frame: Any, value: str, columns: Mapping[str, str] | None) -> Rated:
    """Check, number and sort by user."""
    check_roles(columns, ("user", "item", value))
    found = as_columns(frame)
    if not any(len(column) for column in found.values()):
        raise DataError(f"there are no {value}s: expected at least one row of user, item, {value}.")
    users, items, values = (find_column(found, role, columns) for role in ("user", "item", value))
    refuse_missing(users.rename("user"))
    refuse_missing(items.rename("item"))
    numbers = as_numbers(values)
    refuse_rows(~np.isfinite(numbers), f"{value} is not a number", "Mend it, with a point as in 0.5, or drop the row")
    (user_codes,), user_labels = encode(users)
    (item_codes,), item_labels = encode(items)
    keys = user_codes.astype(np.int64) * len(item_labels) + item_codes
    repeated = ~pl.Series(keys).is_first_distinct().to_numpy()
    refuse_rows(repeated, f"the user already has a {value} for this item", f"Keep one {value} a user and item")
    order, offsets = kernels.group(user_codes, len(user_labels))
    return Rated(offsets, item_codes[order], numbers[order], item_labels, user_labels)


def compare_rated(
    rated: Rated, ties: RatingTies, pairs_per_rating: float | None, rng: np.random.Generator
) -> Comparisons:
    """Compare all pairs of values of each user, or draw so many pairs for every value."""
    choose, toss = spawn(rng, 2)
    data = (rated.offsets, rated.items, rated.values)
    if pairs_per_rating is None:
        _refuse_too_many(rated)
        n_draws = _count_tied_pairs(rated) if ties == "random" else 0
        offsets, winners, losers = kernels.decided_pairs(*data, TIES[ties], toss.random(n_draws))
    else:
        n_rated = np.diff(rated.offsets)
        n_wanted = np.minimum(n_rated * (n_rated - 1) / 2, np.round(float(pairs_per_rating) * n_rated)).astype(np.int64)
        pairs = kernels.sample_pairs(n_rated, n_wanted, choose.random(n_wanted.sum()))
        draws = toss.random(len(pairs) if ties == "random" else 0)
        offsets, winners, losers = kernels.expand_pairs(*data, n_wanted, pairs, TIES[ties], draws)
    return _drop_silent_users(offsets, winners, losers, rated)


def _refuse_too_many(rated: Rated) -> None:
    n_rated = np.diff(rated.offsets)
    n_pairs, most = int((n_rated * (n_rated - 1) // 2).sum()), int(n_rated.max())
    if n_pairs > MOST_PAIRS:
        raise DataError(
            f"all pairs are {n_pairs:,} comparisons (one user values {most:,} items); at most {MOST_PAIRS:,} are made. "
            "Take some of the pairs with pairs='partial', or fewer of the values."
        )


def _refuse_nothing(comparisons: Comparisons) -> Comparisons:
    if not len(comparisons):
        raise DataError(
            "there is nothing to compare: no user values two items differently. "
            "Each user needs two items or more; equal values count with ties='both'."
        )
    return comparisons


def _count_tied_pairs(rated: Rated) -> int:
    values = pl.DataFrame({"user": rated.user_of_each(), "value": rated.values})
    runs = values.group_by("user", "value").len()["len"].cast(pl.Int64)
    return int((runs * (runs - 1) // 2).sum())


def _drop_silent_users(
    offsets: NDArray[np.int64], winners: NDArray[np.int32], losers: NDArray[np.int32], rated: Rated
) -> Comparisons:
    """Leave out users whose values make no comparison: one item only, or all equal."""
    spoke = np.diff(offsets) > 0
    kept = np.concatenate([offsets[:-1][spoke], offsets[-1:]])
    labels = (rated.item_labels, rated.user_labels[spoke])
    return Comparisons(winners, losers, kept, *labels, rated=True, ratings=rated)
