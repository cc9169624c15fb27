"""How many agree: shares of agreement by camp, from votes of agree, pass and disagree.

Ours. A share is that of the people who agree among those who agree or disagree, with a Beta posterior (Jeffreys'
prior), independent between camps. An item counts as agreed on where at least ``CLEAR_SHARE`` of every camp agrees, and
of the people who dissent most often: a minority too small for a ranking of its own is not overlooked.
"""

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
CLEAR_SHARE = 0.6  # a bare majority of some votes may be chance, and is not what people call agreement
LEAST_CLEAR = 5  # votes for or against, for a camp to be a side of a dispute
DISSENTERS = 0.05  # of an item's voters: those who most often vote against the majority on other items
LEAST_DISSENTERS = 5  # of them, where there are so many voters
PRIOR_VOTES = 2.0  # of dissenters, at the mean share of all: a few of their votes decide nothing


class Agreement(NamedTuple):
    """The share that agrees by item and camp, NaN without votes, with its bounds, (Q, K) each; and the probabilities
    that all camps agree, that all disagree, and that one clearly agrees and another clearly disagrees, (Q,) each."""

    share: Floats
    lower: Floats
    upper: Floats
    liked: Floats
    disliked: Floats
    contested: Floats


def find_agreement(agree: Counts, disagree: Counts, dissenters: Counts, level: float) -> Agreement:
    """Estimate shares from counts by camp (Q, K), and those of dissenters who agree and disagree (Q, 2)."""
    first, second = agree + 0.5, disagree + 0.5
    tail = (1.0 - level) / 2.0
    lower = np.where(
        agree == 0, 0.0, scipy.special.betaincinv(first, second, tail)
    )  # the usual form of Jeffreys' interval
    upper = np.where(disagree == 0, 1.0, scipy.special.betaincinv(first, second, 1.0 - tail))
    above, below = (scipy.special.betainc(a, b, 1.0 - CLEAR_SHARE) for a, b in ((second, first), (first, second)))
    mean = (agree.sum(axis=1) + 1.0) / (agree.sum(axis=1) + disagree.sum(axis=1) + 2.0)
    for_it, against = dissenters[:, 0] + PRIOR_VOTES * mean, dissenters[:, 1] + PRIOR_VOTES * (1.0 - mean)
    above_there = scipy.special.betainc(against, for_it, 1.0 - CLEAR_SHARE)
    below_there = scipy.special.betainc(for_it, against, 1.0 - CLEAR_SHARE)
    heard = agree + disagree >= LEAST_CLEAR  # a camp with fewer votes is no side of a dispute
    high, low = np.where(heard, above, 0.0), np.where(heard, below, 0.0)
    neither = np.maximum(1.0 - high - low, 0.0)
    contested = 1.0 - (1.0 - high).prod(axis=1) - (1.0 - low).prod(axis=1) + neither.prod(axis=1)
    liked, disliked = above.prod(axis=1) * above_there, below.prod(axis=1) * below_there
    share = np.where(agree + disagree > 0, agree / np.maximum(agree + disagree, 1), np.nan)
    return Agreement(share, lower, upper, liked, disliked, np.clip(contested, 0.0, 1.0))


def count_dissenters(users: Counts, items: Counts, votes: Floats, n_users: int, n_items: int) -> Counts:
    """Count the dissenters who agree and disagree with every item, (Q, 2), from votes of 1 and -1, (n,).

    Somebody dissents by voting against the majority of the others. The dissenters of an item are the
    twentieth of its voters who dissent most on all other items, so that nobody is one for their vote on that item.
    """
    net, n_votes = np.bincount(items, votes, n_items), np.bincount(items, minlength=n_items)
    against = -votes * (net[items] - votes) / np.maximum(n_votes[items] - 1, 1)
    total, cast = np.bincount(users, against, n_users), np.bincount(users, minlength=n_users)
    # somebody with hardly any other votes is nobody's dissenter
    rates = (total[users] - against) / (cast[users] - 1 + LEAST_DISSENTERS)
    order = np.lexsort((-rates, items))
    first = np.cumsum(n_votes) - n_votes
    places = np.empty(len(items), np.int64)
    places[order] = np.arange(len(items)) - first[items[order]]  # among the voters of the item
    member = places < np.maximum(LEAST_DISSENTERS, np.ceil(DISSENTERS * n_votes))[items]
    return np.stack([np.bincount(items[member & (votes * sign > 0)], minlength=n_items) for sign in (1, -1)], axis=1)
