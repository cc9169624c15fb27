"""The paper's reconstruction error."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurank.evaluation.alignment import align, kendall_distances


def ranking_error(estimated: Any, truth: Any) -> float:
    """Give the mean normalised Kendall distance of aligned rankings: 0 all right, 1 all reversed.

    Paper: section 6.2; the l1 distance of the columns of sigma divided by W = Q (Q - 1), after bipartite matching.
    Both arguments are (K, Q), items best first: numbers or labels, but the same ones.
    """
    order = align(estimated, truth)
    distances = kendall_distances(truth, [estimated[k] for k in order])
    return float(np.diagonal(distances).mean())


def places_of(rankings: NDArray[np.int64]) -> NDArray[np.int32]:
    """Give the place of every item in every ranking, (Q, K), 0 for the best."""
    return np.ascontiguousarray(np.argsort(rankings, axis=1).T.astype(np.int32))


def order_by_score(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the items by score (Q, K), best first, (K, Q)."""
    return np.argsort(-scores.T, axis=1, kind="stable")
