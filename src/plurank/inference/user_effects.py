"""What users' own answers say about items, beyond the rankings that they follow.

Ours. Rankings that a population shares do not say all there is about one person. Whoever has put an item before others
may like it more than any mix of rankings says: the log odds of i over j are those of the rankings plus ``e_i - e_j``.
The user effects e are Gaussian around 0, with a scale that is chosen on comparisons held out; an item that the user did
not compare has none. Works on any model, as it looks at what the rankings predict alone.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.comparisons import Comparisons
from plurank.elementary import expit, logit
from plurank.types import Codes, Floats
from plurank.validation import is_number

SCALES = tuple(0.25 * 2 ** (n / 2) for n in range(13))  # that are tried, to 16
SURE = 1.0  # standard errors, over users, that effects have to gain
FARTHEST = 1e-12  # from 0 and 1 that probabilities are taken to be at least


@dataclass(frozen=True)
class UserEffects:
    """Effects (n,) of users on items that they compared, and errors (n,), by rising ``row * n_items + item``."""

    n_items: int
    keys: NDArray[np.int64]
    values: Floats
    errors: Floats

    @classmethod
    def none(cls, n_items: int) -> "UserEffects":
        """Return the effects of nobody."""
        return cls(n_items, np.zeros(0, np.int64), np.zeros(0), np.zeros(0))

    @classmethod
    def join(cls, parts: Iterable["UserEffects"], n_items: int) -> "UserEffects":
        """Put those of different users together; rows count all of them."""
        some = [cls.none(n_items), *parts]
        keys = np.concatenate([each.keys for each in some])
        order = np.argsort(keys, kind="stable")
        columns = (np.concatenate([getattr(each, name) for each in some])[order] for name in ("values", "errors"))
        return cls(n_items, keys[order], *columns)

    def renumber(self, rows: NDArray[np.integer[Any]], n_items: int) -> "UserEffects":
        """Return those of users who are in other rows (M,) then, among as many items or more; -1 leaves users out."""
        now = rows.astype(np.int64)[self.keys // self.n_items]
        kept = now >= 0
        keys = (now * n_items + self.keys % self.n_items)[kept]
        order = np.argsort(keys, kind="stable")
        return UserEffects(n_items, keys[order], self.values[kept][order], self.errors[kept][order])

    def replace(self, newer: "UserEffects") -> "UserEffects":
        """Return these with newer ones in their place, where there are any."""
        kept = ~np.isin(self.keys, newer.keys)
        older = UserEffects(self.n_items, self.keys[kept], self.values[kept], self.errors[kept])
        return UserEffects.join((older, newer), self.n_items)

    def of_user(self, row: int) -> "UserEffects":
        """Return those of one user, who is in row 0 then."""
        begin, end = np.searchsorted(self.keys, (row * self.n_items, (row + 1) * self.n_items))
        return UserEffects(
            self.n_items, self.keys[begin:end] - row * self.n_items, self.values[begin:end], self.errors[begin:end]
        )

    def shift(self, chances: Floats, rows: Codes, left: Codes, right: Codes) -> Floats:
        """Return P(left over right), (n,), with effects, for users in these rows, from what rankings predict."""
        apart = self.find(rows, left)[0] - self.find(rows, right)[0]
        return np.where(apart == 0.0, chances, expit(log_odds(chances) + apart))

    def find(self, rows: Codes, items: Codes) -> tuple[Floats, Floats]:
        """Return effects and errors, (n,) each, of users in these rows, -1 for unknown ones; NaN errors where there are
        none."""
        if not len(self.keys):
            return np.zeros(len(rows)), np.full(len(rows), np.nan)
        wanted = rows.astype(np.int64) * self.n_items + items
        at = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        known = self.keys[at] == wanted
        values, errors = (column[at].astype(np.float64) for column in (self.values, self.errors))
        return np.where(known, values, 0.0), np.where(known, errors, np.nan)

    def table(self, scale: float) -> tuple[Floats, Floats]:
        """Return effects and errors of all items for the first user, (Q,) each; 0 and the scale of effects where the
        user did not compare an item."""
        values, errors = np.zeros(self.n_items), np.full(self.n_items, scale)
        own = self.keys < self.n_items
        values[self.keys[own]], errors[self.keys[own]] = self.values[own], self.errors[own]
        return values, errors


def log_odds(chances: Floats) -> Floats:
    """Return log odds that are finite."""
    return logit(np.clip(chances, FARTHEST, 1.0 - FARTHEST))


def find_user_effects(
    asked: Comparisons, chances: Floats, scale: float, known: UserEffects | None = None
) -> UserEffects:
    """Find the most probable effects of users, given what rankings predicted of all they were asked, (n,).

    known: effects that they have by what they said before.
    """
    users = asked.user_of_each().astype(np.int64)
    rows = users * asked.n_items
    keys, places = np.unique(np.concatenate([rows + asked.winners, rows + asked.losers]), return_inverse=True)
    edges = np.searchsorted(keys, np.arange(asked.n_users + 1, dtype=np.int64) * asked.n_items)
    counts = np.ones(len(asked)) if asked.weights is None else asked.weights
    before, errors = (known or UserEffects.none(asked.n_items)).find(keys // asked.n_items, keys % asked.n_items)
    precision = np.where(np.isnan(errors), scale, errors) ** -2
    ahead, behind = places[: len(asked)], places[len(asked) :]
    odds = log_odds(chances) + before[ahead] - before[behind]
    values, curvature = kernels.solve_user_effects(asked.offsets, edges, ahead, behind, counts, odds, precision)
    return UserEffects(asked.n_items, keys, before + values, 1.0 / np.sqrt(curvature))


class HeldOutEffects(NamedTuple):
    """Comparisons that users were asked, others of theirs that are predicted, and what rankings that know none of the
    latter predict of both, (n,) each; the latter's users (n,) by numbers that all trials share, and as rows of those
    who were asked, -1 for others."""

    asked: Comparisons
    chances: Floats
    test: Comparisons
    users: Codes
    rows: Codes
    predicted: Floats

    def gains(self, scale: float) -> Floats:
        """Return what effects of this scale gain in log-likelihood, (n,)."""
        counts = np.ones(len(self.test)) if self.test.weights is None else self.test.weights
        effects = find_user_effects(self.asked, self.chances, scale)
        shifted = effects.shift(self.predicted, self.rows, self.test.winners, self.test.losers)
        return counts * np.log(np.maximum(shifted, FARTHEST) / np.maximum(self.predicted, FARTHEST))


def choose_scale(trials: Sequence[HeldOutEffects]) -> float | None:
    """Choose the scale of effects that predicts best what trials hold out of the same users; None where it gains no
    more than chance could."""
    best, chosen = [np.zeros(len(trial.test)) for trial in trials], None
    for scale in SCALES:
        gains = [trial.gains(scale) for trial in trials]
        if sum(each.sum() for each in gains) <= sum(each.sum() for each in best):
            break
        best, chosen = gains, scale
    if chosen is None:
        return None
    by_user = np.bincount(np.concatenate([trial.users for trial in trials]), np.concatenate(best))
    return chosen if by_user.sum() > SURE * np.sqrt(by_user @ by_user) else None


def check_scale(value: Any) -> None:
    """Raise a ValueError where a model's file has no scale of user effects; older files have None."""
    if value is not None and not (is_number(value) and 0.0 < value < np.inf):
        raise ValueError("a scale of user effects is not positive")
