"""People who rate items: a latent utility for every item, and thresholds of their own, with a known truth."""

from dataclasses import dataclass

import numpy as np
import polars as pl

CUTS = (-1.6, -0.5, 0.5, 1.6)


@dataclass(frozen=True)
class RatedTruth:
    """Ratings as a frame and what they were drawn from: scores (Q, K), user weights (M, K), utilities (M, Q)."""

    frame: pl.DataFrame
    scores: np.ndarray
    user_weights: np.ndarray
    utilities: np.ndarray

    @property
    def ballots(self):
        """The same people rank the items that they rated, the best first."""
        rows = zip(self.frame["user"].to_list(), self.frame["item"].to_list(), strict=True)
        utilities = pl.Series("utility", [self.utilities[int(user[1:]), int(item[1:])] for user, item in rows])
        ranks = pl.col("utility").rank("ordinal", descending=True).over("user").alias("rank")
        return self.frame.select("user", "item", utilities).select("user", "item", ranks)


def simulate_ratings(n_users, n_items, seed, *, share=0.6, score_scale=1.5, counts=(0.6, 0.4), cuts=CUTS):
    """Draw scores from a normal and weights from a Dirichlet; everybody rates so large a share of the items.

    Users are "u000", "u001", ..., items "i00", "i01", ..., ratings 1 to ``len(cuts) + 1``.
    """
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(counts, n_users)
    scores = score_scale * rng.standard_normal((n_items, len(counts)))
    utilities = weights @ scores.T + rng.standard_normal((n_users, n_items))
    thresholds = np.asarray(cuts) + 0.3 * rng.standard_normal((n_users, 1))
    stars = 1 + (utilities[:, :, None] > thresholds[:, None]).sum(axis=2)
    rated = rng.random((n_users, n_items)) < share
    rated[:, 0] |= ~rated.any(axis=1)
    users, items = np.nonzero(rated)
    names = {"user": [f"u{u:03}" for u in users], "item": [f"i{i:02}" for i in items]}
    return RatedTruth(pl.DataFrame({**names, "rating": stars[users, items]}), scores, weights, utilities)
