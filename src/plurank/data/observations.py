"""How many observations a user's comparisons are worth.

Ours. n ratings, or a ranking of n items, make up to n (n - 1) / 2 comparisons, but each item was looked at once: what
was odd about one rating is in all comparisons of its item. So a comparison counts the less the more others of the same
user have its items, and all together are worth n - 1 observations, or a few times that where people were sure. Counted
in full they would drown the priors, and weights would seem far too certain.
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


def weigh_observations(comparisons: Comparisons, worth: float = 1.0) -> Comparisons:
    """Let a comparison count as ``1 / (1 + (m - 1) / (2 worth))``, m: how many the user has of its items, on average.

    All n (n - 1) / 2 of somebody who rated n items then count as n - 1 if an item rated is worth 1, and as nearly
    ``worth`` times that if it is worth more. Comparisons that share no item count in full.
    """
    c = comparisons
    meetings = kernels.count_meetings(c.offsets, c.winners, c.losers, c.kernel_weights, c.n_items)
    shares = 1.0 / (1.0 + np.maximum(meetings - 1.0, 0.0) / (2.0 * worth))
    return replace(c, weights=shares if c.weights is None else c.weights * shares)


def count_chances(comparisons: Comparisons) -> NDArray[np.int64]:
    """Give how many comparisons of each user others can imply or contradict, (M,): those beyond a tree of the items."""
    return np.maximum(np.diff(comparisons.offsets) - count_items(comparisons) + 1, 0)


def count_items(comparisons: Comparisons) -> NDArray[np.int64]:
    """Give the number of items each user compared, (M,)."""
    c = comparisons
    return np.diff(kernels.signed_item_counts(c.offsets, c.winners, c.losers, c.kernel_weights, c.n_items)[0])
