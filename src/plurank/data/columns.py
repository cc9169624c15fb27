"""Columns: which names stand for which role, and who won in each row."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank.choices import Ties
from plurank.data.build import (
    MARKED_INVALID,
    NO_ROWS,
    Rows,
    as_numbers,
    refuse_missing,
    refuse_rows,
)
from plurank.data.encoding import as_series
from plurank.exceptions import Argument, DataError, ParameterError, Words
from plurank.types import Masks
from plurank.validation import check_choice

# Who won, where a row names two items and an outcome: the item, the side, a tie, or a signed number.

TIE_WORDS = ("tie", "draw", "equal", "both_bad", "bothbad", "tie (bothbad)")
LEFT_WORDS = ("left", "a", "model_a", "entity_a", "item_a")
RIGHT_WORDS = ("right", "b", "model_b", "entity_b", "item_b")

OutcomeForm = Literal["items", "sides"]  # what a column of outcomes names


def read_comparison(comparison: pl.Series, first_row: int) -> tuple[Masks, Masks]:
    """Read signed numbers as solidago writes them: below 0 left is preferred, above 0 right, 0 is a tie.

    Returns where the right item won and where it is a tie, (n,) each.
    """
    values = as_numbers(comparison)
    remedy = "Use negative for left, positive for right, 0 for a tie"
    refuse_rows(np.isnan(values), f"{comparison.name} is not a number", remedy, first_row)
    return values > 0, values == 0


def read_outcome(
    left: pl.Series, right: pl.Series, outcome: pl.Series, reading: OutcomeForm | None
) -> tuple[Masks, Masks]:
    """Read the item or the side that won; returns where the right item won and where it is a tie, (n,) each.

    One column says items or sides throughout, so that items called "a" or "left" are read for what they are.
    ``reading`` says which, where that was decided over more rows than these.
    """
    reader = OutcomeReader()
    claims = reader.add(left, right, outcome)
    _, won, tied = claims[reading or reader.decide()]
    return won, tied


class OutcomeReader:
    """Reads the outcomes of a column part by part, and decides whether they name items or sides."""

    def __init__(self) -> None:
        self.n_misfits: dict[OutcomeForm, int] = {"items": 0, "sides": 0}
        self.misfits: dict[OutcomeForm, str] = {}  # what to say of the first row that does not fit
        self.ambiguity: str | None = None

    def add(
        self, left: pl.Series, right: pl.Series, outcome: pl.Series, first_row: int = 1
    ) -> dict[OutcomeForm, Masks]:
        """Add rows; return how each reading understands them, (3, n) as in :func:`_read_items`."""
        left, right, outcome = (as_text(series) for series in (left, right, outcome))
        claims: dict[OutcomeForm, Masks] = {
            "items": _read_items(left, right, outcome),
            "sides": _read_words(left.name, right.name, outcome),
        }
        for reading, claim in claims.items():
            misfit = ~np.any(claim, axis=0)
            self.n_misfits[reading] += int(np.sum(misfit))
            if np.any(misfit) and reading not in self.misfits:
                at = int(np.argmax(misfit))
                row = f"row {at + first_row}: {outcome.name} {outcome[at]!r:.60}"
                self.misfits[reading] = f"{row} {_describe_misfit(left[at], right[at], claims, at)}"
        unlike = np.any(claims["items"] != claims["sides"], axis=0)
        if self.ambiguity is None and np.any(unlike) and outcome.name.strip().lower() != "label":
            at = int(np.argmax(unlike))
            self.ambiguity = (
                f"row {at + first_row}: {outcome.name} {outcome[at]!r:.60} could mean the item or the side. "
                "Name the column 'label' if it holds items, or rename the items."
            )
        return claims

    def decide(self) -> OutcomeForm:
        """Return the reading that fits all rows; raise where none does, or both do and differ."""
        fitting = [reading for reading, n in self.n_misfits.items() if n == 0]
        if not fitting:
            raise DataError(self.misfits[min(self.n_misfits, key=lambda reading: self.n_misfits[reading])])
        if len(fitting) == 2 and self.ambiguity is not None:
            raise DataError(self.ambiguity)
        return fitting[0]


def _describe_misfit(left: str, right: str, claims: dict[OutcomeForm, Masks], at: int) -> str:
    if claims["items"][:, at].any():
        return "names an item where other rows name a side. Name sides throughout, or items."
    if claims["sides"][:, at].any():
        return "names a side where other rows name an item. Name items throughout, or sides."
    return f"is neither left ({left!r:.60}) nor right ({right!r:.60}). Use one of them, or 'tie'."


def _read_items(left: pl.Series, right: pl.Series, outcome: pl.Series) -> Masks:
    """Read item ids: (3, n) marks where left won, right won, and neither."""
    is_left, is_right = ((outcome == side).fill_null(False).to_numpy() for side in (left, right))
    tied = _words(outcome).is_in(TIE_WORDS).to_numpy() & ~is_left & ~is_right
    return np.stack([is_left, is_right & ~is_left, tied])


def _read_words(left: str, right: str, outcome: pl.Series) -> Masks:
    """Read side words, the names of the two columns among them; marks as in :func:`_read_items`."""
    words = _words(outcome)
    choices = ((*LEFT_WORDS, left.lower()), (*RIGHT_WORDS, right.lower()), TIE_WORDS)
    return np.stack([words.is_in(choice).to_numpy() for choice in choices])


def _words(outcome: pl.Series) -> pl.Series:
    return outcome.str.strip_chars().str.to_lowercase().fill_null("")


def as_text(series: pl.Series) -> pl.Series:
    """Write ids as text, integers alike whatever their type."""
    if series.dtype == pl.Object:
        return pl.Series(series.name, [str(value) for value in series.to_list()])
    whole = series.cast(pl.Int64, strict=False) if series.dtype.is_float() else series
    return (whole if whole.eq_missing(series).all() else series).cast(pl.String, strict=False)


# role -> names understood, ours first; compared without regard to case, and a space is as good as _
ALIASES: dict[str, tuple[str, ...]] = {
    "user": (
        "user", "user_id", "userid", "worker", "assessor", "voter", "judge", "annotator", "participant",
        "respondent", "rater", "voter-id",
    ),
    "winner": ("winner", "top_item", "chosen"),
    "loser": ("loser", "bottom_item", "rejected"),
    "left": ("left", "model_a", "entity_a", "item_a"),
    "right": ("right", "model_b", "entity_b", "item_b"),
    "outcome": ("winner", "label"),
    "comparison": ("comparison",),
    "weight": ("weight", "weights"),
    "valid": ("valid",),
    "item": ("item", "item_id", "itemid", "movieid", "movie_id", "comment-id"),
    "rating": ("rating", "stars", "score", "vote"),
    "rank": ("rank", "position", "place"),
}  # fmt: skip
# names that mean a role only where no other does, such as those of All Our Ideas
FALLBACKS: dict[str, tuple[str, ...]] = {
    "user": ("session_id", "session"), "winner": ("winner_id",), "loser": ("loser_id",),
    "left": ("left_choice_id",), "right": ("right_choice_id",),
}  # fmt: skip
MOST_NAMES = 30  # of columns, in a message
YES_WORDS, NO_WORDS = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
ROLES = ("user", "winner", "loser", "left", "right", "outcome", "comparison", "weight", "valid")

Columns = Mapping[str, Any]
Given = Mapping[str, str] | None


def as_columns(frame: Any) -> Columns:
    """Take any eager data frame apart into named columns; those that are used become polars series later."""
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, pl.DataFrame):
        return {column.name: column for column in frame.iter_columns()}
    import narwhals as nw  # commands read polars frames only, and need not wait for it

    try:
        columns = list(nw.from_native(frame, eager_only=True).iter_columns())
    except TypeError:
        raise DataError(
            f"expected a pandas, polars or pyarrow data frame, got {type(frame).__name__}. "
            "Read files with read_comparisons, and plain columns with Comparisons.from_arrays."
        ) from None
    except nw.exceptions.DuplicateError:
        names = getattr(frame, "column_names", None) or frame.columns
        raise DataError(
            f"two columns have the same name; the columns are {list_names(names)}. Rename or drop one of them."
        ) from None
    return {str(column.name): column.to_native() for column in columns}


def find_column(found: Columns, role: str, given: Given) -> pl.Series:
    """Find the column for a role: the one given, else ours, else the only alias."""
    column = find_optional(found, role, given)
    if column is None:
        nameless = " If the first line is data already, put a line of column names above it."
        end = "" if given or has_role(found, *ALIASES) else nameless
        raise DataError(
            f"no column for the {role}: expected one of {', '.join(ALIASES[role])}; "
            f"the columns are {list_names(found)}.",
            hint=("Name it with ", Argument("columns", (role,)), f".{end}"),
        )
    return column


def find_optional(found: Columns, role: str, given: Given) -> pl.Series | None:
    """Find the column for a role as :func:`find_column` does, None where there is none."""
    if given and role in given:
        name = str(given[role])
        if name not in found:
            raise DataError(f"there is no column {name!r} for the {role}; the columns are {list_names(found)}.")
        return as_series(found[name], name)
    plain = {name: plain_name(name) for name in found}
    matches: list[str] = []
    for names in (ALIASES[role], FALLBACKS.get(role, ())):
        matches = matches or [name for alias in names for name in found if plain[name] == alias]
    ours = [name for name in matches if plain[name] == role]
    if len(ours or matches) > 1:
        raise DataError(
            f"{list_names(ours or matches)} could all be the {role}.",
            hint=("Select one with ", Argument("columns", (role,)), "."),
        )
    return as_series(found[matches[0]], matches[0]) if matches else None


def plain_name(name: str) -> str:
    """Return a name as it is compared, without the suffix that polars adds to repeated names in a CSV."""
    return re.sub(r"_duplicated_\d+$", "", name.strip().lower().replace(" ", "_"))


def list_names(names: Iterable[Any]) -> str:
    """List names of columns, each and all together at a length that fits a message."""
    listed = [str(name) for name in names]
    more = f" and {len(listed) - MOST_NAMES:,} more" if len(listed) > MOST_NAMES else ""
    return (", ".join(f"{name!r:.60}" for name in listed[:MOST_NAMES]) or "none") + more


def check_roles(given: Given, roles: Sequence[str]) -> None:
    """Raise an error for a ``columns=`` with an unknown role."""
    if given is not None and not isinstance(given, Mapping):
        raise ParameterError(parameter="columns", expected="a dict such as {'user': 'voter'}", got=f"{given!r:.60}")
    unknown = sorted(str(role) for role in set(given or {}) - set(roles))
    if unknown:
        raise ParameterError(
            (Argument("columns"), f": unknown role {list_names(unknown)}; roles are {', '.join(roles)}."),
            parameter="columns",
            expected=f"columns by role, of {', '.join(roles)}",
            got=list_names(unknown),
        )


def check_options(given: Given, ties: Ties) -> None:
    """Raise an error for options of :func:`read_rows` that are not valid."""
    check_roles(given, ROLES)
    check_choice("ties", ties, Ties)


def may_matter(name: str, given: Given) -> bool:
    """Check whether a column of this name may be asked for."""
    return name in (given or {}).values() or has_role([name], *ALIASES)


def has_role(names: Iterable[str], *roles: str) -> bool:
    """Check whether some column has a name that is understood as one of the roles."""
    plain = {plain_name(name) for name in names}
    return any(plain.intersection((*ALIASES[role], *FALLBACKS.get(role, ()))) for role in roles)


def read_rows(frame: Any, given: Given, ties: Ties, *, first_row: int = 1, reading: OutcomeForm | None = None) -> Rows:
    """Read user, winner, loser and weights from a frame, in whichever of the understood forms it is.

    Where the frame is a part of a file, ``first_row`` is the number of its first row, and ``reading`` is what
    :func:`decide_reading` says of the whole.
    """
    found = as_columns(frame)
    if not any(len(column) for column in found.values()):
        raise DataError(NO_ROWS)
    _refuse_other_forms(found, given)
    users = find_column(found, "user", given).rename("user")
    weights = find_optional(found, "weight", given)
    numbers = None if weights is None else as_numbers(weights)
    losers, valid = (find_optional(found, role, given) for role in ("loser", "valid"))
    invalid = None if valid is None else ~read_flags(valid, first_row)
    if losers is not None:
        winners = find_column(found, "winner", given).rename("winner")
        rows = Rows(users, winners, losers.rename("loser"), numbers, numbers=first_row)
        return rows if invalid is None else rows.without(invalid, MARKED_INVALID)
    left, right, outcomes, is_number = _find_sides(found, given, first_row)
    won, tied = read_comparison(outcomes, first_row) if is_number else read_outcome(left, right, outcomes, reading)
    rows = Rows(users, left, right, numbers, second_won=won, tied=tied, numbers=first_row)
    rows = rows if invalid is None else rows.without(invalid, MARKED_INVALID)
    return rows.without_ties() if ties == "drop" else rows


def read_flags(series: pl.Series, first_row: int = 1) -> NDArray[np.bool_]:
    """Read what is true or false, as booleans, 1 and 0, or words; raise for anything else."""
    words = as_text(series).str.strip_chars().str.to_lowercase()
    yes, no = (words.is_in(list(choice)).fill_null(False).to_numpy() for choice in (YES_WORDS, NO_WORDS))
    bad = ~(yes | no)
    if bad.any():
        example = f"{series[int(np.argmax(bad))]!r:.60}"
        remedy = f"Use true or false, or give the column {series.name!r:.60} another name"
        refuse_rows(bad, f"{series.name} is neither true nor false ({example})", remedy, first_row)
    return yes


def names_winners(frame: Any, given: Given) -> bool:
    """Check whether rows name the winner, by item or by side, which only the whole file can tell apart."""
    found = as_columns(frame)
    return all(find_optional(found, role, given) is None for role in ("loser", "comparison"))


def decide_reading(parts: Iterable[tuple[Any, int]], given: Given) -> OutcomeForm:
    """Decide over all parts of a file, frames and the numbers of their first rows, if winners are items or sides."""
    reader = OutcomeReader()
    for frame, first_row in parts:
        found = as_columns(frame)
        _refuse_other_forms(found, given)
        find_column(found, "user", given)
        left, right, outcomes, _ = _find_sides(found, given, first_row)
        reader.add(left, right, outcomes, first_row)
    return reader.decide()


def _refuse_other_forms(found: Columns, given: Given) -> None:
    if given or has_role(found, "loser", "left") or not has_role(found, "item"):
        return
    for role, method in (("rating", "from_ratings"), ("rank", "from_rankings")):
        if has_role(found, role):
            raise DataError(
                f"these are {role}s, not comparisons (columns {list_names(found)}).",
                hint=f"Convert them with `plurank convert` (Comparisons.{method}).",
            )


def _find_sides(found: Columns, given: Given, first_row: int) -> tuple[pl.Series, pl.Series, pl.Series, bool]:
    """Find left, right and the outcome, and whether that is a signed number or names the winner."""
    if given and "winner" in given and "outcome" not in given:
        given = {**given, "outcome": given["winner"]}
    left, right = find_optional(found, "left", given), find_optional(found, "right", given)
    outcome, comparison = find_optional(found, "outcome", given), find_optional(found, "comparison", given)
    outcomes = [series for series in (outcome, comparison) if series is not None]
    if left is None or right is None or not outcomes:
        own: Words = ("Name yours with ", Argument("columns", ("user", "winner", "loser")), ".")
        sides: Words = (
            "Name those of the two items with ", Argument("columns", ("left", "right")),
            ", or that of the loser with ", Argument("columns", ("loser",)), ".",
        )  # fmt: skip
        raise DataError(
            "expected the columns user, winner, loser (or user, left, right, winner); "
            f"the columns are {list_names(found)}.",
            hint=sides if outcomes else own,
        )
    if len(outcomes) == 2:
        raise DataError(f"{list_names(s.name for s in outcomes)} could both say who won. Drop one of the columns.")
    for series in (left, right, *outcomes):
        refuse_missing(series, first_row)
    return left, right, outcomes[0], comparison is not None
