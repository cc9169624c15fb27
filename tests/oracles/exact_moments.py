"""The paper's model in plain arrays: every matrix of sections 3 to 5 written out, for few items only."""

import numpy as np

import plurank


class ExactMoments:
    """The moments of infinitely many users: rankings (K, Q), chances mu of pairs, mean a and correlation R of weights.

    Everything is dense. ``has_diagonal=False`` hides the diagonal of E, as data do in which nobody repeats a pair.
    Ordered pairs that no ranking has (p = 0) have rows of zeros, as in data.
    """

    def __init__(self, rankings, mu, a, R, has_diagonal=True):
        self.rankings = np.asarray(rankings)
        self.n_items = self.rankings.shape[1]
        self.lower, self.higher = (x.astype(np.int32) for x in np.triu_indices(self.n_items, 1))
        self.mu, self.a, self.R = np.repeat(mu, 2), np.asarray(a), np.asarray(R)
        self.sigma = plain_ranking_matrix(self.rankings, self.lower, self.higher)
        self.B = self.mu[:, None] * self.sigma
        self.p = self.B @ self.a
        self.B_bar = np.divide(self.B * self.a, self.p[:, None], out=np.zeros_like(self.B), where=self.p[:, None] > 0)
        self.R_bar = self.R / np.outer(self.a, self.a)
        self.E = self.B_bar @ self.R_bar @ self.B_bar.T
        self.F = self.B @ self.R @ self.B.T
        self.has_diagonal = has_diagonal

    @property
    def counts(self):
        return self.p

    def product(self, directions):
        return self.E @ directions

    def columns(self, rows):
        return ((self.E + self.E.T) / 2)[:, rows]

    def diagonal(self):
        return np.diagonal(self.E).copy() if self.has_diagonal else np.zeros(len(self.E))

    def cooccurrence(self, directions):
        return self.F @ directions

    def row_noise(self, points):
        return np.zeros((points.shape[1], points.shape[1]))  # infinitely many users have none

    def guess_range(self, n_directions, *, rng):
        return rng.standard_normal((len(self.F), n_directions))

    @property
    def novel_to(self):
        """Which ranking each row is novel to, -1 where it is not, (W,)."""
        return np.where(self.sigma.sum(axis=1) == 1, self.sigma.argmax(axis=1), -1)

    @property
    def eigenvalues(self):
        """lambda_min and lambda_max of R-bar."""
        values = np.linalg.eigvalsh(self.R_bar)
        return values[0], values[-1]

    @property
    def b(self):
        """The largest share that one ranking has in an ordered pair that is not novel; 0 without such pairs."""
        others = (self.novel_to < 0) & (self.p > 0)
        return self.B_bar[others].max(initial=0.0)


def plain_ranking_matrix(rankings, lower, higher):
    """sigma, (2 n_pairs, K): entry by entry, as section 3 defines it."""
    rows = []
    for i, j in zip(lower.tolist(), higher.tolist(), strict=True):
        for first, second in ((i, j), (j, i)):
            rows.append([float(list(r).index(first) < list(r).index(second)) for r in np.asarray(rankings).tolist()])
    return np.array(rows)


def dirichlet_correlation(a, concentration):
    """E[theta theta^T] for theta ~ Dirichlet(concentration * a)."""
    a = np.asarray(a)
    return (concentration * np.outer(a, a) + np.diag(a)) / (concentration + 1.0)


def draw_separable(n_items, n_rankings, rng):
    """Draw random rankings until each has a novel pair."""
    while True:
        rankings = np.stack([rng.permutation(n_items) for _ in range(n_rankings)])
        if plurank.is_separable(rankings):
            return rankings


def draw_mu(n_items, rng, uniform):
    """Chances of the unordered pairs: all alike, or different by up to a factor of ten."""
    n_pairs = n_items * (n_items - 1) // 2
    mu = np.ones(n_pairs) if uniform else rng.uniform(0.1, 1.0, n_pairs)
    return mu / mu.sum()
