"""The paper's matrices for a known population: what infinitely many users would show.

Paper: sections 3 and 4, Lemma 2 and Eq. 5. Needs rankings, the Dirichlet prior of user weights and how often pairs are
shown; gives B-bar and R-bar, with ``E = B-bar R-bar B-bar^T``, and the solid angles. Differences from the paper: an
ordered pair that no ranking has never occurs, so it has no row.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurank.components.strict import ranking_matrix
from plurank.data.checks import check_not_negative, check_numbers
from plurank.data.synthetic import check_rankings
from plurank.exceptions import ParameterError

Floats = NDArray[np.float64]
DIRECTIONS_AT_A_TIME = 100_000


@dataclass(frozen=True)
class Population:
    """The moments of W ordered pairs that can occur.

    pairs (W, 2): the item preferred and the other; probabilities (W,): B a; shares (W, K): B-bar, which share of a
    pair's occurrences each ranking accounts for; correlations (K, K): R-bar.
    """

    pairs: NDArray[np.int64]
    probabilities: Floats
    shares: Floats
    correlations: Floats

    @property
    def moments(self) -> Floats:
        """E, (W, W)."""
        return self.shares @ self.correlations @ self.shares.T

    @property
    def novel_to(self) -> NDArray[np.int64]:
        """The ranking to which each pair is novel, -1 where it is novel to none, (W,)."""
        alone = (self.shares > 0).sum(axis=1) == 1
        return np.where(alone, self.shares.argmax(axis=1), -1)

    def solid_angles(self, n_directions: int, *, rng: np.random.Generator) -> Floats:
        """Estimate the solid angle of each ranking's novel pairs (Eq. 5) as a share of random directions, (K,).

        Every row of E is a mixture of the novel rows, and those have projections ``g = R-bar B-bar^T d`` on d. So it is
        enough to draw g, of covariance ``R-bar B-bar^T B-bar R-bar`` for Gaussian d, and see which entry is largest.
        The standard error is ``sqrt(q (1 - q) / n_directions)``.
        """
        root = np.linalg.qr(self.shares @ self.correlations, mode="r")
        n_highest = np.zeros(len(self.correlations), dtype=np.int64)
        for begin in range(0, n_directions, DIRECTIONS_AT_A_TIME):
            size = (min(DIRECTIONS_AT_A_TIME, n_directions - begin), len(root))
            highest = (rng.standard_normal(size) @ root).argmax(axis=1)
            n_highest += np.bincount(highest, minlength=len(n_highest))
        return n_highest / n_directions


def known_population(
    rankings: Any, mean_weights: Any, concentration: float, pair_probabilities: Any = None
) -> Population:
    """Compute the moments of a model: rankings (K, Q), weights from Dirichlet(concentration * mean_weights).

    ``pair_probabilities`` ((Q, Q), symmetric; None is uniform) need not sum to 1.
    """
    rankings = check_rankings(rankings)
    if rankings.shape[1] < 2:
        raise ParameterError("rankings must have at least 2 items to compare, got 1.")
    mean = _check_mean(mean_weights, len(rankings))
    check_not_negative("concentration", concentration)
    lower, higher = (items.astype(np.int32) for items in np.triu_indices(rankings.shape[1], 1))
    shown = _check_pairs(pair_probabilities, rankings.shape[1])[lower, higher]
    weighted = np.repeat(shown / shown.sum(), 2)[:, None] * ranking_matrix(rankings, lower, higher) * mean
    probabilities = weighted.sum(axis=1)
    pairs = np.stack([lower, higher, higher, lower], axis=1).reshape(-1, 2).astype(np.int64)
    occurs = probabilities > 0
    shares = weighted[occurs] / probabilities[occurs, None]
    correlations = (concentration + np.diag(1.0 / mean)) / (concentration + 1.0)
    return Population(pairs[occurs], probabilities[occurs], shares, correlations)


def _check_mean(mean_weights: Any, n_rankings: int) -> Floats:
    mean = check_numbers("mean_weights", mean_weights)
    if mean.shape != (n_rankings,) or not (mean > 0).all() or not np.isclose(mean.sum(), 1.0):
        raise ParameterError(
            f"mean_weights must be {n_rankings} positive numbers that sum to 1, got {mean.tolist()}. "
            "Leave out rankings that nobody follows."
        )
    return mean / mean.sum()


def _check_pairs(pair_probabilities: Any, n_items: int) -> Floats:
    table = check_numbers(
        "pair_probabilities", 1.0 - np.eye(n_items) if pair_probabilities is None else pair_probabilities
    )
    square = table.shape == (n_items, n_items)
    if not square or not np.allclose(table, table.T) or not ((table > 0) == ~np.eye(n_items, dtype=bool)).all():
        raise ParameterError(
            f"pair_probabilities must be a symmetric ({n_items}, {n_items}) table with zeros on the diagonal "
            "and positive numbers elsewhere."
        )
    return table
