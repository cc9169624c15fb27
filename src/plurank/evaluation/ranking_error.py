"""The paper's reconstruction error."""

from typing import Any

import numpy as np

from plurank.evaluation.alignment import align, kendall_distances


def ranking_error(estimated: Any, truth: Any) -> float:
    """Give the mean normalised Kendall distance of aligned rankings: 0 all right, 1 all reversed.

    Paper: section 6.2; the l1 distance of the columns of sigma divided by W = Q (Q - 1), after bipartite matching.
    Both arguments are (K, Q), items best first: numbers or labels, but the same ones.
    """
    order = align(estimated, truth)
    distances = kendall_distances(truth, [estimated[k] for k in order])
    return float(np.diagonal(distances).mean())
