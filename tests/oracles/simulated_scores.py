"""People who follow rankings with scores: Bradley-Terry comparisons with a known truth, mixed in either way."""

from dataclasses import dataclass

import numpy as np

from tests.oracles.small_data import build


@dataclass(frozen=True)
class Truth:
    """Comparisons and what they were drawn from: scores (Q, K), user weights (M, K)."""

    comparisons: object
    scores: np.ndarray
    user_weights: np.ndarray
    mixing: str

    @property
    def rankings(self):
        return np.argsort(-self.scores.T, axis=1)

    def probabilities(self, users, left, right):
        """P(left over right), (n,)."""
        return win_probabilities(self.scores[left] - self.scores[right], self.user_weights[users], self.mixing)

    def tastes(self):
        """What each user ranks the items by, (M, Q): blended scores, or the mean probability to be preferred."""
        if self.mixing == "utility":
            return self.user_weights @ self.scores.T
        gaps = self.scores[:, None] - self.scores[None]
        return self.user_weights @ sigmoid(gaps).mean(axis=1).T


def sigmoid(gap):
    return 1.0 / (1.0 + np.exp(-gap))


def win_probabilities(gaps, weights, mixing):
    """P(win), (n,), of score gaps (n, K) for weights (n, K)."""
    if mixing == "utility":
        return sigmoid((gaps * weights).sum(axis=1))
    return (sigmoid(gaps) * weights).sum(axis=1)


def simulate_scores(
    n_users, n_items, n_rankings, comparisons_per_user, mixing, seed, *, score_scale=1.0, shared=1.0, concentration=1.0
):
    """Draw scores from normals (what rankings share, and what each has of its own), weights from a Dirichlet."""
    rng = np.random.default_rng(seed)
    scores = shared * rng.standard_normal((n_items, 1)) + score_scale * rng.standard_normal((n_items, n_rankings))
    weights = rng.dirichlet(np.full(n_rankings, concentration / n_rankings), n_users)
    users = np.repeat(np.arange(n_users), comparisons_per_user)
    left = rng.integers(0, n_items, len(users))
    right = (left + rng.integers(1, n_items, len(users))) % n_items
    left_wins = rng.random(len(users)) < win_probabilities(scores[left] - scores[right], weights[users], mixing)
    winners, losers = np.where(left_wins, left, right), np.where(left_wins, right, left)
    return Truth(build(users, winners, losers, None, np.arange(n_items)), scores, weights, mixing)
