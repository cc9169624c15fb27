"""What a person's own answers say about items, beyond the rankings that the person follows.

Ours. Rankings that a population shares do not say all there is about one person. Whoever has put an item before others
may like it more than any mix of rankings says: the log odds of i over j are those of the rankings plus ``e_i - e_j``.
The deviations e are Gaussian around 0, with a standard deviation that is chosen on comparisons held out; an item that
the person did not compare has none. Works on any model, as it looks at what the rankings predict alone.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.comparisons import Comparisons
from plurank.elementary import expit, logit
from plurank.types import Codes, Floats
from plurank.validation import is_number

SPREADS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # that are tried
SURE = 2.0  # standard errors, over people, that deviations have to gain
FARTHEST = 1e-12  # from 0 and 1 that probabilities are taken to be at least


@dataclass(frozen=True)
class Deviations:
    """Deviations (n,) of people's own items and their standard errors (n,), by rising ``row * n_items + item``."""

    n_items: int
    keys: NDArray[np.int64]
    values: Floats
    errors: Floats

    def shift(self, chances: Floats, rows: Codes, left: Codes, right: Codes) -> Floats:
        """Return P(left over right), (n,), with deviations, for people in these rows, from what rankings predict."""
        return expit(log_odds(chances) + self._of(rows, left) - self._of(rows, right))

    def _of(self, rows: Codes, items: Codes) -> Floats:
        wanted = rows.astype(np.int64) * self.n_items + items
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        return np.where(self.keys[at] == wanted, self.values[at], 0.0)

    def table(self) -> tuple[Floats, Floats]:
        """Return deviations and errors of all items for the first person, (Q,) each; 0 where there are none."""
        found = np.zeros((2, self.n_items))
        own = self.keys < self.n_items
        found[:, self.keys[own]] = self.values[own], self.errors[own]
        return found[0], found[1]


def log_odds(chances: Floats) -> Floats:
    """Return log odds that are finite."""
    return logit(np.clip(chances, FARTHEST, 1.0 - FARTHEST))


def find_deviations(asked: Comparisons, chances: Floats, scale: float) -> Deviations:
    """Find the most probable deviations of people, given what rankings predicted of all they were asked, (n,)."""
    rows = asked.user_of_each().astype(np.int64) * asked.n_items
    keys, places = np.unique(np.concatenate([rows + asked.winners, rows + asked.losers]), return_inverse=True)
    edges = np.searchsorted(keys, np.arange(asked.n_users + 1, dtype=np.int64) * asked.n_items)
    counts = np.ones(len(asked)) if asked.weights is None else asked.weights
    values, curvature = kernels.solve_deviations(
        asked.offsets, edges, places[: len(asked)], places[len(asked) :], counts, log_odds(chances), scale**-2
    )
    return Deviations(asked.n_items, keys, values, 1.0 / np.sqrt(curvature))


def choose_scale(
    asked: Comparisons, chances: Floats, rows: Codes, test: Comparisons, predicted: Floats
) -> float | None:
    """Choose the spread of deviations that predicts test comparisons best, from what rankings predict of those and of
    the ones asked; None where it gains no more than chance could.

    rows: of the test comparisons' users among those asked, (n,), -1 for others.
    """
    counts = np.ones(len(test)) if test.weights is None else test.weights
    best, chosen = np.zeros(len(test)), None
    for scale in SPREADS:
        shifted = find_deviations(asked, chances, scale).shift(predicted, rows, test.winners, test.losers)
        gains = counts * np.log(np.maximum(shifted, FARTHEST) / np.maximum(predicted, FARTHEST))
        if gains.sum() <= best.sum():
            break
        best, chosen = gains, scale
    by_person = np.bincount(rows + 1, best)
    return chosen if best.sum() > SURE * np.sqrt(by_person @ by_person) else None


def check_scale(value: Any) -> None:
    """Raise a ValueError where a model's file has no spread of deviations; older files have None."""
    if value is not None and not (is_number(value) and 0.0 < value < np.inf):
        raise ValueError("user_effect_scale_ is not positive")
