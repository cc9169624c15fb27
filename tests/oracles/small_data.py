"""Small random comparisons, and changes to comparisons that a law says something about."""

import numpy as np

from plurank import Comparisons


def draw_comparisons(rng, n_users=12, n_items=5, most=9, weighted=False, labels=None):
    """Comparisons of users with 1 to ``most`` comparisons each (the first with one only), any pair, any winner."""
    per_user = rng.integers(1, most + 1, n_users)
    per_user[0] = 1
    n = int(per_user.sum())
    winners = rng.integers(0, n_items, n)
    losers = (winners + rng.integers(1, n_items, n)) % n_items
    weights = None
    if weighted:
        weights = rng.choice([0.5, 0.7, 1.0, 2.0, 3.5], n)
        weights[np.repeat(per_user == 1, per_user)] = 0.5  # a weight above 1 would be more than one comparison
    items = np.arange(n_items) if labels is None else labels
    return build(np.repeat(np.arange(n_users), per_user), winners, losers, weights, items)


def build(users, winners, losers, weights, items):
    """Comparisons from item numbers; users in order."""
    users = np.asarray(users)
    order = np.argsort(users, kind="stable")
    names, per_user = np.unique(users, return_counts=True)
    return Comparisons(
        np.asarray(winners, np.int32)[order],
        np.asarray(losers, np.int32)[order],
        np.concatenate([[0], np.cumsum(per_user)]).astype(np.int64),
        np.asarray(items),
        names,
        None if weights is None else np.asarray(weights, float)[order],
    )


def users_of(c):
    return np.repeat(np.arange(c.n_users), np.diff(c.offsets))


def relabelled(c, permutation):
    """Item i becomes item permutation[i]."""
    return Comparisons(
        permutation[c.winners].astype(np.int32),
        permutation[c.losers].astype(np.int32),
        c.offsets,
        c.items,
        c.users,
        c.weights,
    )


def reordered(c, order):
    """User order[u] comes at place u."""
    pick = np.concatenate([np.arange(c.offsets[u], c.offsets[u + 1]) for u in order])
    offsets = np.concatenate([[0], np.cumsum(np.diff(c.offsets)[order])]).astype(np.int64)
    weights = None if c.weights is None else c.weights[pick]
    return Comparisons(c.winners[pick], c.losers[pick], offsets, c.items, c.users[order], weights)


def reversed_all(c):
    return Comparisons(c.losers, c.winners, c.offsets, c.items, c.users, c.weights)


def flipped(c, rate, rng):
    """Turn comparisons round, each with the given chance."""
    flip = rng.random(len(c)) < rate
    winners, losers = np.where(flip, c.losers, c.winners), np.where(flip, c.winners, c.losers)
    return Comparisons(winners.astype(np.int32), losers.astype(np.int32), c.offsets, c.items, c.users, c.weights)


def repeated(c, times):
    """Comparison e times[e] times over, without weights."""
    users = np.repeat(users_of(c), times)
    return build(users, np.repeat(c.winners, times), np.repeat(c.losers, times), None, c.items)


def weighted(c, weights):
    return Comparisons(c.winners, c.losers, c.offsets, c.items, c.users, np.asarray(weights, float))
