"""From novel pairs to rankings.

Paper: Algorithm 3 (Estimate Rankings) and Algorithm 4 (Post Processing), section 5. Ours: the rankings found correct
the vertices they were found from.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.topic.moments import Moments
from plurank.topic.orders import ranking_matrix
from plurank.types import Floats, Progress, silent

# Express every ordered pair as a mixture of the novel pairs, and so estimate B.
#
# Paper: Algorithm 3 (Estimate Rankings), section 5. Needs the novel pairs' geometry and the row counts; gives the
# weighted ranking matrix (W, K): row (i, j) is ``mu_ij sigma_(i,j),k a_k`` up to noise.
# Differences from the paper: columns are not scaled (its appendix shows that Algorithm 4 does not need it), so column k
# sums to the mean weight a_k; the regression is solved for all rows at once.

STEPS_PER_RANKING = 100


def estimate_ranking_matrix(gram: Floats, targets: Floats, counts: Floats, regression_tol: float) -> Floats:
    """Run Algorithm 3: gram (K, K), targets (W, K), counts (W,) -> B diag(a), (W, K)."""
    n_rankings = len(gram)
    tolerance = regression_tol * float(np.trace(gram)) / n_rankings
    seen = counts > 0
    shares = np.zeros_like(targets)
    shares[seen] = kernels.regress_on_simplex(gram, targets[seen], tolerance, STEPS_PER_RANKING * n_rankings)
    shares *= (counts / counts.sum())[:, None]
    return shares


# From weights of ordered pairs to rankings.
#
# Paper: Algorithm 4 (Post Processing), section 5: ratio, then rounding. Needs the weighted ranking matrix; gives
# rankings. Differences from the paper: exact halves are rounded the same way for (i, j) and (j, i), in favour of the
# item that comes first, so that the two still add up to 1; the rounded columns need not be transitive, so each becomes
# a total order by the share of comparisons an item wins, and the triples that disagree are counted.


@dataclass(frozen=True)
class Rounded:
    """rankings (K, Q), best first; wins (n_pairs, K): whether the lower item is preferred; n_intransitive (K,)."""

    rankings: NDArray[np.int64]
    wins: NDArray[np.bool_]
    n_intransitive: NDArray[np.int64]


def round_to_rankings(matrix: Floats, lower: NDArray[np.int32], higher: NDArray[np.int32], n_items: int) -> Rounded:
    """Run Algorithm 4 on the weighted ranking matrix (W, K), then order the items of each column."""
    forward, backward = matrix[0::2], matrix[1::2]
    wins = forward >= backward  # the ratio forward / (forward + backward) is at least one half
    margins = forward - backward
    rankings, n_intransitive = [], []
    for k in range(matrix.shape[1]):
        shares = _win_shares(wins[:, k], lower, higher, n_items)
        # among equal shares, the larger total margin first
        total = np.bincount(lower, margins[:, k], n_items) - np.bincount(higher, margins[:, k], n_items)
        ranking = np.lexsort((np.arange(n_items), -total, -shares))
        rankings.append(ranking)
        n_intransitive.append(count_intransitive(wins[:, k], lower, higher, ranking))
    return Rounded(np.stack(rankings), wins, np.array(n_intransitive))


def _win_shares(wins: NDArray[np.bool_], lower: NDArray[np.int32], higher: NDArray[np.int32], n_items: int) -> Floats:
    """Return the share of its pairs that each item wins; one half for an item without any."""
    won = np.bincount(lower, wins, n_items) + np.bincount(higher, ~wins, n_items)
    compared = np.bincount(lower, minlength=n_items) + np.bincount(higher, minlength=n_items)
    return np.divide(won, compared, out=np.full(n_items, 0.5), where=compared > 0)


def count_intransitive(
    wins: NDArray[np.bool_], lower: NDArray[np.int32], higher: NDArray[np.int32], ranking: NDArray[np.int64]
) -> int:
    """Count triples of items that go round in a circle, pairs never compared being filled in by the ranking.

    In a tournament every triple that is no circle has one item that beats the other two:
    ``C(Q, 3) - sum_i C(wins_i, 2)``.
    """
    n_items = len(ranking)
    places = np.empty(n_items, dtype=np.int64)
    places[ranking] = np.arange(n_items)
    won = n_items - 1 - places  # as if the ranking decided every pair
    disagrees = wins != (places[lower] < places[higher])
    change = np.where(wins[disagrees], 1, -1)
    np.add.at(won, lower[disagrees], change)
    np.add.at(won, higher[disagrees], -change)
    return int(n_items * (n_items - 1) * (n_items - 2) // 6 - (won * (won - 1) // 2).sum())


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
