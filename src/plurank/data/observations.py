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
from plurank.data.sampling import Source, every_nth_user

FEW = 0.01  # of the users, or of the comparisons, may be exceptions
ENOUGH_TO_LOOK = 2_000_000  # comparisons
CHANCES = 20  # comparisons that could have contradicted others are the least to go by


def look_rated(source: Source) -> bool:
    """Tell whether comparisons are made from ratings or rankings, or, where nobody knows, seem to be.

    Then hardly anybody who could contradict themselves does, and hardly any comparison is repeated. Of many users,
    every n-th is looked at.
    """
    if source.rated is not None:
        return source.rated
    c = every_nth_user(source, ENOUGH_TO_LOOK)
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
