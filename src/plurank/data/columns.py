"""Column names: ours, those of other tools, and yours."""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank.data.comparisons import Ties, refuse_rows
from plurank.data.encoding import as_series, missing
from plurank.exceptions import DataError, ParameterError

# role -> names understood, ours first; compared without regard to case
ALIASES: dict[str, tuple[str, ...]] = {
    "user": (
        "user", "user_id", "userid", "worker", "assessor", "voter", "judge", "annotator", "participant", "respondent",
        "rater", "voter-id",
    ),
    "winner": ("winner", "top_item", "chosen"),
    "loser": ("loser", "bottom_item", "rejected"),
    "left": ("left", "model_a", "entity_a", "item_a"),
    "right": ("right", "model_b", "entity_b", "item_b"),
    "outcome": ("winner", "label", "comparison"),
    "weight": ("weight", "weights"),
    "item": ("item", "item_id", "itemid", "movieid", "movie_id", "comment-id"),
    "rating": ("rating", "stars", "score", "vote"),
    "rank": ("rank", "position", "place"),
}  # fmt: skip
TIE_WORDS = ("tie", "draw", "equal", "both_bad", "tie (bothbad)")
SIDE_WORDS = {"left": ("left", "a", "model_a", "entity_a", "item_a"), "right": ("right", "b", "model_b", "entity_b", "item_b")}

Columns = dict[str, pl.Series]


def as_columns(frame: Any) -> Columns:
    """Take any eager data frame apart into named columns."""
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, pl.DataFrame):
        try:
            narwhal = nw.from_native(frame, eager_only=True)
        except TypeError:
            raise DataError(
                f"expected a pandas, polars or pyarrow data frame, got {type(frame).__name__}. "
                "For plain columns use Comparisons.from_arrays."
            ) from None
        return {str(name): as_series(narwhal[name].to_numpy(), str(name)) for name in narwhal.columns}
    return {name: frame[name] for name in frame.columns}


def find_column(found: Columns, role: str, given: Mapping[str, str] | None, *, needed: bool = True) -> pl.Series | None:
    """Find the column for a role: the one given, else ours, else the only alias."""
    if given and role in given:
        if given[role] not in found:
            raise DataError(f"there is no column {given[role]!r} for {role}; the columns are {_names(found)}.")
        return found[given[role]]
    by_name = {name.strip().lower(): name for name in found}
    matches = [by_name[alias] for alias in ALIASES[role] if alias in by_name]
    if matches and (matches[0].strip().lower() == role or len(matches) == 1):
        return found[matches[0]]
    if matches:
        raise DataError(f"{_names(matches)} could all be the {role}: say which with columns={{'{role}': ...}}.")
    if needed:
        raise DataError(
            f"no column for the {role}: expected one of {', '.join(ALIASES[role])}; the columns are {_names(found)}. "
            f"Name it with columns={{'{role}': ...}}."
        )
    return None


def _names(names: Sequence[str] | Columns) -> str:
    return ", ".join(repr(name) for name in names) or "none"


def check_roles(given: Mapping[str, str] | None, roles: Sequence[str]) -> None:
    """Refuse a ``columns=`` that names a role nobody reads."""
    unknown = sorted(set(given or {}) - set(roles))
    if unknown:
        raise ParameterError(f"columns= knows the roles {', '.join(roles)}, not {_names(unknown)}.")


def read_columns(
    frame: Any, given: Mapping[str, str] | None, ties: Ties
) -> tuple[pl.Series, pl.Series, pl.Series, NDArray[np.float64] | None]:
    """Read user, winner, loser and weights from a frame, in whichever of the understood forms it is."""
    check_roles(given, ("user", "winner", "loser", "left", "right", "outcome", "weight"))
    if ties not in ("half", "drop"):
        raise ParameterError(f"ties must be 'half' or 'drop', got {ties!r}.")
    found = as_columns(frame)
    if not found or not len(next(iter(found.values()))):
        raise DataError("there are no comparisons: expected at least one row of user, winner, loser.")
    _refuse_other_forms(found, given)
    users = _rename(find_column(found, "user", given), "user")
    weights = find_column(found, "weight", given, needed=False)
    values = None if weights is None else _as_numbers(weights, "weight")
    losers = find_column(found, "loser", given, needed=False)
    if losers is not None:
        winners = find_column(found, "winner", given)
        return users, _rename(winners, "winner"), _rename(losers, "loser"), values
    return _read_sides(found, given, users, values, ties)


def _refuse_other_forms(found: Columns, given: Mapping[str, str] | None) -> None:
    names = {name.strip().lower() for name in found}
    compared = names.intersection(ALIASES["loser"] + ALIASES["left"])
    if given or compared or not names.intersection(ALIASES["item"]):
        return
    for role, method in (("rating", "from_ratings"), ("rank", "from_rankings")):
        if names.intersection(ALIASES[role]):
            raise DataError(
                f"these are {role}s, not comparisons (columns {_names(found)}): turn them into comparisons with "
                f"Comparisons.{method} or `plurank convert`."
            )


def _rename(series: pl.Series | None, name: str) -> pl.Series:
    assert series is not None  # find_column raises where a needed column is absent
    return as_series(series, name)


def _as_numbers(series: pl.Series, name: str) -> NDArray[np.float64]:
    """Read numbers; text that is no number, and null, become NaN, which the caller refuses."""
    if series.dtype == pl.Object:
        series = pl.Series(name, [str(v) for v in series.to_list()])
    return series.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()


def _read_sides(
    found: Columns,
    given: Mapping[str, str] | None,
    users: pl.Series,
    weights: NDArray[np.float64] | None,
    ties: Ties,
) -> tuple[pl.Series, pl.Series, pl.Series, NDArray[np.float64] | None]:
    """Read left, right and an outcome: the item that won, the side that won, a tie, or a signed number."""
    outcome = find_column(found, "outcome", given, needed=False)
    left, right = (find_column(found, side, given, needed=False) for side in ("left", "right"))
    if left is None or right is None or outcome is None:
        raise DataError(
            f"expected the columns user, winner, loser (or user, left, right, winner); the columns are {_names(found)}. "
            "Name yours with columns={'user': ..., 'winner': ..., 'loser': ...}."
        )
    for series in (left, right, outcome):
        refuse_rows(missing(series), f"{series.name} is missing (empty, null or NaN)", "Fill it in or drop the row")
    if outcome.name.strip().lower() == "comparison":
        won_left, tied = _signs(outcome)
    else:
        won_left, tied = _sides(left, right, outcome)
    n = len(users)
    winner_at = np.where(won_left, np.arange(n), np.arange(n) + n)
    loser_at = np.where(won_left, np.arange(n) + n, np.arange(n))
    both = _stack(left, right)
    rows = np.flatnonzero(~tied)
    if ties == "half" and tied.any():
        # a tie is half a win each way: the row, and the row the other way round
        again = np.flatnonzero(tied)
        at = np.sort(np.concatenate([np.arange(n), again]), kind="stable")
        second = np.concatenate([[False], at[1:] == at[:-1]])
        weights = (np.ones(n) if weights is None else weights)[at] * np.where(tied[at], 0.5, 1.0)
        first_won = np.where(tied[at], ~second, won_left[at])
        winner_at, loser_at = np.where(first_won, at, at + n), np.where(first_won, at + n, at)
        return users.gather(at), both.gather(winner_at).rename("winner"), both.gather(loser_at).rename("loser"), weights
    if not len(rows):
        raise DataError("every row is a tie and ties='drop' leaves nothing. Use ties='half'.")
    kept = None if weights is None else weights[rows]
    return (
        users.gather(rows),
        both.gather(winner_at[rows]).rename("winner"),
        both.gather(loser_at[rows]).rename("loser"),
        kept,
    )


def _stack(left: pl.Series, right: pl.Series) -> pl.Series:
    left, right = as_series(left, "item"), as_series(right, "item")
    if left.dtype == right.dtype and left.dtype != pl.Object:
        return pl.concat([left, right])
    if left.dtype.is_integer() and right.dtype.is_integer():
        return pl.concat([left.cast(pl.Int64), right.cast(pl.Int64)])
    return pl.Series("item", left.to_list() + right.to_list(), dtype=pl.Object)


def _signs(outcome: pl.Series) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Read a signed comparison: below zero the left item is preferred, above zero the right one, zero is a tie."""
    values = _as_numbers(outcome, "comparison")
    refuse_rows(np.isnan(values), f"{outcome.name} is not a number", "Use negative for left, positive for right, 0 for a tie")
    return values < 0, values == 0


def _sides(
    left: pl.Series, right: pl.Series, outcome: pl.Series
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Read who won; an item id, a side word and a tie word must not contradict each other."""
    left, right, outcome = (_as_text(series) for series in (left, right, outcome))
    word = outcome.str.strip_chars().str.to_lowercase()
    says_left = word.is_in((*SIDE_WORDS["left"], left.name.lower()))
    says_right = word.is_in((*SIDE_WORDS["right"], right.name.lower()))
    says_tie = word.is_in(TIE_WORDS)
    is_left, is_right = outcome == left, outcome == right
    claims = np.stack([(is_left | says_left).to_numpy(), (is_right | says_right).to_numpy(), says_tie.to_numpy()])
    unclear = claims.sum(axis=0) != 1
    if unclear.any():
        at = int(np.argmax(unclear))
        values = f"winner {outcome[at]!r}", f"left ({left[at]!r})", f"right ({right[at]!r})"
        if claims[:, at].any():
            raise DataError(f"row {at + 1}: {values[0]} could mean more than one of {values[1]}, {values[2]} or a tie.")
        raise DataError(f"row {at + 1}: {values[0]} is neither {values[1]} nor {values[2]}. Use one of them, or 'tie'.")
    return claims[0], claims[2]


def _as_text(series: pl.Series) -> pl.Series:
    if series.dtype == pl.Object:
        return pl.Series(series.name, [str(v) for v in series.to_list()])
    return series.cast(pl.String)
