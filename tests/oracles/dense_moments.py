"""The moments of data in plain arrays: X, its halves, E and F written out, for few items only."""

from itertools import combinations

import numpy as np

from plurank.kernels.plain.sums import choose_half
from plurank.random import uniforms_at


class DenseMoments:
    """What :class:`plurank.topic.moments.PairOperator` computes, entry by entry.

    Users with a single comparison are left out: it has no company.
    """

    def __init__(self, c, seed):
        c = c.select(np.repeat(np.diff(c.offsets) >= 2, np.diff(c.offsets)))
        pairs = sorted({(min(i, j), max(i, j)) for i, j in zip(c.winners.tolist(), c.losers.tolist(), strict=True)})
        self.lower, self.higher = (np.array(side) for side in zip(*pairs, strict=True))
        self.rows = np.array(
            [2 * pairs.index((min(i, j), max(i, j))) + (i > j) for i, j in zip(c.winners, c.losers, strict=True)]
        )
        self.users = np.repeat(np.arange(c.n_users), np.diff(c.offsets))
        self.weights = np.ones(len(c)) if c.weights is None else c.weights
        self.n_rows, self.n_users = 2 * len(pairs), c.n_users
        in_a = choose_half(c.offsets, uniforms_at(seed, 0, len(c)))
        self.X_a, self.X_b = self._table(in_a), self._table(~in_a)
        self.counts = self._table(np.ones(len(c), bool)).sum(axis=1)

    def _table(self, chosen):
        X = np.zeros((self.n_rows, self.n_users))
        for e in np.flatnonzero(chosen):
            X[self.rows[e], self.users[e]] += self.weights[e]
        return X

    @property
    def E(self):
        """scale X~_b X~_a^T; with equally many comparisons a user, scale is the number of users."""
        users_a, users_b = self.X_a.sum(axis=0), self.X_b.sum(axis=0)
        scale = users_a.sum() * users_b.sum() / (users_a @ users_b)
        return scale * _stochastic_rows(self.X_b) @ _stochastic_rows(self.X_a).T

    @property
    def F(self):
        """Every user's comparisons two by two, each user's products scaled to the number of comparisons.

        A weight above 1 stands for so many comparisons, which meet each other too.
        """
        F = np.zeros((self.n_rows, self.n_rows))
        for u in range(self.n_users):
            own = np.flatnonzero(self.users == u)
            products = np.zeros_like(F)
            for e, f in combinations(own, 2):
                products[self.rows[e], self.rows[f]] += self.weights[e] * self.weights[f]
                products[self.rows[f], self.rows[e]] += self.weights[e] * self.weights[f]
            for e in own:
                products[self.rows[e], self.rows[e]] += max(self.weights[e] ** 2 - self.weights[e], 0.0)
            if products.any():
                F += products * self.weights[own].sum() / products.sum()
        return F


def _stochastic_rows(X):
    sums = X.sum(axis=1, keepdims=True)
    return np.divide(X, sums, out=np.zeros_like(X), where=sums > 0)
