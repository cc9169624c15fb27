"""How many observations a user's comparisons are worth.

Ours. n ratings, or a ranking of n items, make up to n (n - 1) / 2 comparisons, but each item was looked at once: they
are worth about n - 1 observations, or a few times that where people were sure. Counted in full they would drown the
priors, and weights would seem far too certain.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.comparisons import Comparisons

FEW = 0.01  # of the users, or of the comparisons, may be exceptions
CHANCES = 20  # comparisons that could have contradicted others are the least to go by


class Contradictions(NamedTuple):
    """How often people could contradict themselves, and do: comparisons, those that others can imply or contradict,
    users who have any, users who contradict themselves, comparisons made more than once."""

    n: float
    chances: float
    telling: float
    inconsistent: float
    repeated: float

    @classmethod
    def of(cls, comparisons: Comparisons) -> "Contradictions":
        """Count in comparisons."""
        c = comparisons
        chances = count_chances(c)
        consistent = kernels.find_consistent(c.offsets, c.winners, c.losers, c.n_items)
        repeated = float(kernels.find_duplicates(c.offsets, c.winners, c.losers, c.n_items))
        if c.weights is not None:
            repeated += float(np.maximum(c.weights - 1.0, 0.0).sum())
        telling = chances > 0
        return cls(len(c), int(chances.sum()), int(telling.sum()), int((telling & ~consistent).sum()), repeated)

    def merge(self, other: "Contradictions") -> "Contradictions":
        """Add those of other users."""
        return Contradictions(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    @property
    def look_rated(self) -> bool:
        """Whether the comparisons seem to be made from ratings or rankings.

        Then hardly anybody who could contradict themselves does, and hardly any comparison is repeated.
        """
        enough = self.chances >= CHANCES
        return enough and self.inconsistent <= FEW * self.telling and self.repeated <= FEW * self.n


def look_rated(comparisons: Comparisons) -> bool:
    """Tell whether comparisons are made from ratings or rankings, or, where nobody knows, seem to be."""
    return Contradictions.of(comparisons).look_rated if comparisons.rated is None else comparisons.rated


def observed_shares(comparisons: Comparisons, worth: float) -> NDArray[np.float64]:
    """Give what each comparison of a user counts as, (M,), if those of one who rated n items are worth (n - 1)."""
    c = comparisons
    totals = c.weights_of_users()
    return np.minimum(1.0, worth * (count_items(c) - 1) / np.maximum(totals, 1e-300))


def share_out(comparisons: Comparisons, shares: NDArray[np.float64]) -> Comparisons:
    """Let all comparisons of a user count less, by the user's share (M,)."""
    c = comparisons
    if (shares == 1.0).all():
        return c
    each = np.repeat(shares, np.diff(c.offsets))
    return replace(c, weights=each if c.weights is None else c.weights * each)


def weigh_observations(comparisons: Comparisons, worth: float = 1.0) -> Comparisons:
    """Weigh comparisons so that those of a user who rated n items count as worth (n - 1), where they would be more."""
    return share_out(comparisons, observed_shares(comparisons, worth))


def count_chances(comparisons: Comparisons) -> NDArray[np.int64]:
    """Give how many comparisons of each user others can imply or contradict, (M,): those beyond a tree of the items."""
    return np.maximum(np.diff(comparisons.offsets) - count_items(comparisons) + 1, 0)


def count_items(comparisons: Comparisons) -> NDArray[np.int64]:
    """Give the number of items each user compared, (M,)."""
    c = comparisons
    return np.diff(kernels.signed_item_counts(c.offsets, c.winners, c.losers, c.kernel_weights, c.n_items)[0])
