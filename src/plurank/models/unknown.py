"""Items that a model does not know."""

import warnings
from typing import Any

import numpy as np

from plurank.data.comparisons import Comparisons
from plurank.data.encoding import Labels, look_up
from plurank.exceptions import DataError, SkippedWarning
from plurank.wording import count, shorten

LONGEST = 60  # characters of an item in a message


def refuse_unknown(items: list[Any]) -> None:
    """Refuse items that a model does not know, by name."""
    if items:
        shown = ", ".join(shorten(repr(item), LONGEST) for item in items[:5]) + (", ..." if len(items) > 5 else "")
        raise DataError(
            f"the model does not know {len(items):,} of the items compared ({shown}). Drop their rows or fit again."
        )


def skip_unknown(comparisons: Comparisons, items: Labels) -> Comparisons:
    """Leave out comparisons of items that are not among a model's, and say how many there were."""
    is_known = look_up(comparisons.items, items, "item") >= 0
    keep = is_known[comparisons.winners] & is_known[comparisons.losers]
    if keep.all():
        return comparisons
    compared = np.unique([comparisons.winners, comparisons.losers])
    n_items = int((~is_known[compared]).sum())
    skipped = f"skipped {int((~keep).sum()):,} of {count(len(keep), 'comparison')}"
    warnings.warn(f"{skipped}: the model does not know {count(n_items, 'item')}.", SkippedWarning, stacklevel=3)
    return comparisons.select(keep)
