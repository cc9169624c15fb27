"""Who won, where a row names two items and an outcome: the item, the side, a tie, or a signed number."""

from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank.data.comparisons import refuse_rows
from plurank.data.rows import as_numbers
from plurank.exceptions import DataError

TIE_WORDS = ("tie", "draw", "equal", "both_bad", "bothbad", "tie (bothbad)")
LEFT_WORDS = ("left", "a", "model_a", "entity_a", "item_a")
RIGHT_WORDS = ("right", "b", "model_b", "entity_b", "item_b")

Mask = NDArray[np.bool_]
Reading = Literal["items", "sides"]


def read_comparison(comparison: pl.Series, first_row: int) -> tuple[Mask, Mask]:
    """Read signed numbers as solidago writes them: below 0 left is preferred, above 0 right, 0 is a tie.

    Gives where the right item won and where it is a tie, (n,) each.
    """
    values = as_numbers(comparison)
    remedy = "Use negative for left, positive for right, 0 for a tie"
    refuse_rows(np.isnan(values), f"{comparison.name} is not a number", remedy, first_row)
    return values > 0, values == 0


def read_outcome(left: pl.Series, right: pl.Series, outcome: pl.Series, reading: Reading | None) -> tuple[Mask, Mask]:
    """Read the item or the side that won; gives where the right item won and where it is a tie, (n,) each.

    One column says items or sides throughout, so that items called "a" or "left" are read for what they are.
    ``reading`` says which, where that was decided over more rows than these.
    """
    survey = Survey()
    claims = survey.add(left, right, outcome)
    _, won, tied = claims[reading or survey.decide()]
    return won, tied


class Survey:
    """Which readings the outcomes of a column allow, over any number of parts of it."""

    def __init__(self) -> None:
        self.n_misfits: dict[Reading, int] = {"items": 0, "sides": 0}
        self.misfits: dict[Reading, str] = {}  # what to say of the first row that does not fit
        self.ambiguity: str | None = None

    def add(self, left: pl.Series, right: pl.Series, outcome: pl.Series, first_row: int = 1) -> dict[Reading, Mask]:
        """Look at more rows; gives how each reading understands them, (3, n) as in :func:`_read_items`."""
        left, right, outcome = (as_text(series) for series in (left, right, outcome))
        claims: dict[Reading, Mask] = {
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

    def decide(self) -> Reading:
        """Give the reading that fits all rows; refuse where none does, or both do and differ."""
        fitting = [reading for reading, n in self.n_misfits.items() if n == 0]
        if not fitting:
            raise DataError(self.misfits[min(self.n_misfits, key=lambda reading: self.n_misfits[reading])])
        if len(fitting) == 2 and self.ambiguity is not None:
            raise DataError(self.ambiguity)
        return fitting[0]


def _describe_misfit(left: str, right: str, claims: dict[Reading, Mask], at: int) -> str:
    if claims["items"][:, at].any():
        return "names an item where other rows name a side. Name sides throughout, or items."
    if claims["sides"][:, at].any():
        return "names a side where other rows name an item. Name items throughout, or sides."
    return f"is neither left ({left!r:.60}) nor right ({right!r:.60}). Use one of them, or 'tie'."


def _read_items(left: pl.Series, right: pl.Series, outcome: pl.Series) -> Mask:
    """Read item ids: (3, n) marks where left won, right won, and neither."""
    is_left, is_right = ((outcome == side).fill_null(False).to_numpy() for side in (left, right))
    tied = _words(outcome).is_in(TIE_WORDS).to_numpy() & ~is_left & ~is_right
    return np.stack([is_left, is_right & ~is_left, tied])


def _read_words(left: str, right: str, outcome: pl.Series) -> Mask:
    """Read side words, the names of the two columns among them; marks as in :func:`_read_items`."""
    words = _words(outcome)
    choices = ((*LEFT_WORDS, left.lower()), (*RIGHT_WORDS, right.lower()), TIE_WORDS)
    return np.stack([words.is_in(choice).to_numpy() for choice in choices])


def _words(outcome: pl.Series) -> pl.Series:
    return outcome.str.strip_chars().str.to_lowercase().fill_null("")


def as_text(series: pl.Series) -> pl.Series:
    """Write ids as text, whole numbers alike whatever their type."""
    if series.dtype == pl.Object:
        return pl.Series(series.name, [str(value) for value in series.to_list()])
    whole = series.cast(pl.Int64, strict=False) if series.dtype.is_float() else series
    return (whole if whole.eq_missing(series).all() else series).cast(pl.String, strict=False)
