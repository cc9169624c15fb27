"""Who won, where a row names two items and an outcome: the item, the side, a tie, or a signed number."""

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


def read_comparison(comparison: pl.Series) -> tuple[Mask, Mask]:
    """Read signed numbers as solidago writes them: below 0 left is preferred, above 0 right, 0 is a tie.

    Gives where the right item won and where it is a tie, (n,) each.
    """
    values = as_numbers(comparison)
    remedy = "Use negative for left, positive for right, 0 for a tie"
    refuse_rows(np.isnan(values), f"{comparison.name} is not a number", remedy)
    return values > 0, values == 0


def read_outcome(left: pl.Series, right: pl.Series, outcome: pl.Series) -> tuple[Mask, Mask]:
    """Read the item or the side that won; gives where the right item won and where it is a tie, (n,) each.

    One column says items or sides throughout, so that items called "a" or "left" are read for what they are.
    """
    left, right, outcome = (_as_text(series) for series in (left, right, outcome))
    items = _read_items(left, right, outcome)
    if outcome.name.strip().lower() == "label" and items.any(axis=0).all():
        return items[1], items[2]
    sides = _read_words(left.name, right.name, outcome)
    readings = [claims for claims in (items, sides) if claims.any(axis=0).all()]
    if not readings:
        _refuse_outcome(left, right, outcome, items, sides)
    if len(readings) == 2 and (items != sides).any():
        at = int(np.argmax((items != sides).any(axis=0)))
        raise DataError(
            f"row {at + 1}: {outcome.name} {outcome[at]!r} could mean the item or the side. "
            "Name the column 'label' if it holds items, or rename the items."
        )
    return readings[0][1], readings[0][2]


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


def _refuse_outcome(left: pl.Series, right: pl.Series, outcome: pl.Series, items: Mask, sides: Mask) -> None:
    """Name the first row that does not fit the reading that fits most rows."""
    unclear = min((~items.any(axis=0), ~sides.any(axis=0)), key=np.sum)
    at = int(np.argmax(unclear))
    what = f"row {at + 1}: {outcome.name} {outcome[at]!r}"
    if items[:, at].any():
        raise DataError(f"{what} names an item where other rows name a side. Name sides throughout, or items.")
    if sides[:, at].any():
        raise DataError(f"{what} names a side where other rows name an item. Name items throughout, or sides.")
    raise DataError(f"{what} is neither left ({left[at]!r}) nor right ({right[at]!r}). Use one of them, or 'tie'.")


def _as_text(series: pl.Series) -> pl.Series:
    """Write ids as text, whole numbers alike whatever their type."""
    if series.dtype == pl.Object:
        return pl.Series(series.name, [str(value) for value in series.to_list()])
    whole = series.cast(pl.Int64, strict=False) if series.dtype.is_float() else series
    return (whole if whole.eq_missing(series).all() else series).cast(pl.String, strict=False)
