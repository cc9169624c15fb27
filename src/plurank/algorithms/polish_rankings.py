"""Let the rankings found correct the vertices they were found from.

Ours. A vertex taken from one row has that row's noise; total orders average over hundreds of rows. So: from the
rankings compute which mixture every row should be (B-bar of Lemma 2), fit the K vertices to all rows by least squares,
and run Algorithms 3 and 4 again. The round whose strict rankings explain the embedding best is kept.
"""

import numpy as np
from numpy.typing import NDArray

from plurank.algorithms.estimate_ranking_matrix import estimate_ranking_matrix
from plurank.algorithms.round_to_rankings import Rounded, round_to_rankings
from plurank.components.strict import ranking_matrix
from plurank.progress import Progress, silent
from plurank.statistics.pair_moments import Moments

Floats = NDArray[np.float64]
MAX_ROUNDS = 30
PATIENCE = 2  # rounds without a better fit before the best one is taken


def polish_rankings(
    moments: Moments, points: Floats, matrix: Floats, regression_tol: float, on_progress: Progress = silent
) -> tuple[Floats, Rounded, int, bool]:
    """Improve the weighted ranking matrix (W, K), given the embedded rows (W, K).

    Gives the matrix, its rankings, the number of rounds, and whether more of them would not have helped.
    """
    least, n_worse = np.inf, 0
    best: tuple[Floats, Rounded] | None = None
    for n_rounds in range(MAX_ROUNDS):
        on_progress("polishing rankings", n_rounds / MAX_ROUNDS)
        rounded = round_to_rankings(matrix, moments.lower, moments.higher, moments.n_items)
        vertices, misfit = _fit_vertices(moments, points, matrix.sum(axis=0), rounded.rankings)
        is_same = best is not None and np.array_equal(best[1].rankings, rounded.rankings)
        n_worse = 0 if misfit < least else n_worse + 1
        if best is None or misfit < least:
            least, best = misfit, (matrix, rounded)
        if is_same or n_worse == PATIENCE:
            return *best, n_rounds, True
        gram, targets = vertices @ vertices.T, points @ vertices.T
        matrix = estimate_ranking_matrix(gram, targets, moments.counts, regression_tol)
    assert best is not None
    return *best, MAX_ROUNDS, False


def _fit_vertices(
    moments: Moments, points: Floats, mean_weights: Floats, rankings: NDArray[np.int64]
) -> tuple[Floats, float]:
    """Fit vertices V to ``points = B-bar V``, rows weighted by their counts; give V (K, K) and the misfit."""
    shares = ranking_matrix(rankings, moments.lower, moments.higher) * mean_weights
    totals = shares.sum(axis=1, keepdims=True)
    shares = np.divide(shares, totals, out=np.zeros_like(shares), where=totals > 0)
    weighted = shares * moments.counts[:, None]
    vertices = np.linalg.lstsq(shares.T @ weighted, weighted.T @ points, rcond=None)[0]
    misfit = float((moments.counts[:, None] * (points - shares @ vertices) ** 2).sum())
    return vertices, misfit
