"""How many observations a user's comparisons are worth.

Ours. n ratings, or a ranking of n items, make up to n (n - 1) / 2 comparisons, but each item was looked at once: they
are worth about n - 1 observations, or a few times that where people were sure. Counted in full they would drown the
priors, and weights would seem far too certain.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.comparisons import Comparisons

FEW = 0.01  # of the users, or of the comparisons, may be exceptions
CHANCES = 20  # comparisons that could have contradicted others are the least to go by


def look_rated(comparisons: Comparisons) -> bool:
    """Tell whether comparisons are made from ratings or rankings, or, where nobody knows, seem to be.

    Then hardly anybody who could contradict themselves does, and hardly any comparison is repeated.
    """
    c = comparisons
    if c.rated is not None:
        return c.rated
    chances = count_chances(c)
    telling = chances > 0
    if chances.sum() < CHANCES:
        return False
    consistent = kernels.find_consistent(c.offsets, c.winners, c.losers, c.n_items)
    if (~consistent[telling]).mean() > FEW:
        return False
    n_repeated = kernels.find_duplicates(c.offsets, c.winners, c.losers, c.n_items)
    if c.weights is not None:
        n_repeated += np.maximum(c.weights - 1.0, 0.0).sum()
    return bool(n_repeated <= FEW * len(c))


def weigh_observations(comparisons: Comparisons, worth: float = 1.0) -> Comparisons:
    """Weigh comparisons so that those of a user who rated n items count as worth (n - 1), where they would be more."""
    c = comparisons
    weights = np.ones(len(c)) if c.weights is None else c.weights
    totals = np.bincount(c.user_of_each(), weights, c.n_users)
    shares = np.minimum(1.0, worth * (count_items(c) - 1) / np.maximum(totals, 1e-300))
    if (shares == 1.0).all():
        return c
    return replace(c, weights=weights * np.repeat(shares, np.diff(c.offsets)))


def count_chances(comparisons: Comparisons) -> NDArray[np.int64]:
    """Give how many comparisons of each user others can imply or contradict, (M,): those beyond a tree of the items."""
    return np.maximum(np.diff(comparisons.offsets) - count_items(comparisons) + 1, 0)


def count_items(comparisons: Comparisons) -> NDArray[np.int64]:
    """Give the number of items each user compared, (M,)."""
    c = comparisons
    return np.diff(kernels.signed_item_counts(c.offsets, c.winners, c.losers, c.kernel_weights, c.n_items)[0])
