"""Find one novel pair for each ranking: an ordered pair (i, j) that this ranking alone puts in this order.

Paper: Algorithm 2 (NovelPairDetect via random projections), section 5; the statistics of Proposition 3 in the appendix.
Needs the moments E as an operator; gives the rows of K novel pairs, their solid angles, and the geometry for Algorithm 3.
Differences from the paper:
- the loop stops at K pairs (``while k <= K`` as printed collects K + 1);
- the sets J are computed only for rows that can have a positive solid angle: those that are the highest for some
  direction, and those not separated from one of these;
- where the diagonal of E is structurally empty (no user has the same ordered pair in both halves),
  ``E_ii - 2 E_ij + E_jj`` says nothing, so the appendix's other statistic takes its place: the distance of whole rows, as
  the mean square per column, estimated from the projections. The same goes for the regression of Algorithm 3.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from plurank.exceptions import NotIdentifiableError
from plurank.progress import Progress, silent
from plurank.statistics.pair_moments import Moments

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Directions = Literal["gaussian", "sphere"]
CHUNK = 64  # directions multiplied at a time


@dataclass(frozen=True)
class NovelPairs:
    """K novel pairs, and what Algorithm 3 needs to express every row by them.

    rows (K,); solid_angles (K,); statistic: how rows were told apart;
    gram (K, K) and targets (W, K): the quadratic and the linear term of every row's regression on the novel rows.
    """

    rows: Rows
    solid_angles: Floats
    statistic: str
    gram: Floats
    targets: Floats


def detect_novel_pairs(
    moments: Moments,
    n_rankings: int,
    n_projections: int,
    separation_tol: float,
    directions: Directions,
    *,
    rng: np.random.Generator,
    on_progress: Progress = silent,
) -> NovelPairs:
    """Run Algorithm 2."""
    projections = project(moments, n_projections, directions, rng=rng, on_progress=on_progress)
    candidates, separated, statistic = _find_candidates(moments, projections, separation_tol)
    angles = _estimate_solid_angles(projections, candidates, separated)
    chosen = _choose_distinct(candidates, angles, separated, n_rankings, separation_tol)
    rows = candidates[chosen]
    gram, targets = _geometry(moments, projections, rows, statistic)
    return NovelPairs(rows, angles[chosen], statistic, gram, targets)


def project(
    moments: Moments,
    n_projections: int,
    directions: Directions,
    *,
    rng: np.random.Generator,
    on_progress: Progress = silent,
) -> Floats:
    """Give <E_w, d_r> for all rows and directions, (W, P); E[d d^T] is the identity for both kinds of directions."""
    n_rows = len(moments.counts)
    projections = np.empty((n_rows, n_projections))
    for begin in range(0, n_projections, CHUNK):
        on_progress("projecting on random directions", begin / n_projections)
        chunk = rng.standard_normal((n_rows, min(CHUNK, n_projections - begin)))
        if directions == "sphere":
            chunk *= np.sqrt(n_rows) / np.linalg.norm(chunk, axis=0)
        projections[:, begin : begin + CHUNK] = moments.product(chunk)
    return projections


def _find_candidates(
    moments: Moments, projections: Floats, separation_tol: float
) -> tuple[Rows, NDArray[np.bool_], str]:
    """Give the rows that can have a positive solid angle, and the set J of each as a column of (W, n_candidates)."""
    diagonal = moments.diagonal()
    seen = np.flatnonzero((projections != 0).any(axis=1))
    statistic = "entries" if len(seen) and (diagonal[seen] > 0).all() else "rows"

    def separate(rows: Rows) -> NDArray[np.bool_]:
        if statistic == "entries":
            distances = _entry_distances(moments, diagonal, rows)
        else:
            distances = _row_distances(projections, rows)
        separated = distances >= separation_tol
        separated[rows, np.arange(len(rows))] = False
        return separated

    highest = np.unique(projections.argmax(axis=0))
    from_highest = separate(highest)
    never_seen = np.ones(len(projections), dtype=bool)
    never_seen[seen] = False
    near = np.flatnonzero(~from_highest.all(axis=1) & ~never_seen)
    extra = np.setdiff1d(near, highest)
    return np.concatenate([highest, extra]), np.hstack([from_highest, separate(extra)]), statistic


def _entry_distances(moments: Moments, diagonal: Floats, rows: Rows) -> Floats:
    """E_ii - E_ij - E_ji + E_jj between all rows and some, (W, n)."""
    return diagonal[:, None] + diagonal[rows] - 2.0 * moments.columns(rows)


def _row_distances(projections: Floats, rows: Rows) -> Floats:
    """|E_i - E_j|^2 / W between all rows and some, (W, n): E |<x, d>|^2 = |x|^2 for isotropic d."""
    squares = np.einsum("wr,wr->w", projections, projections)
    cross = projections @ projections[rows].T
    return (squares[:, None] + squares[rows] - 2.0 * cross) / (projections.shape[1] * len(projections))


def _estimate_solid_angles(projections: Floats, candidates: Rows, separated: NDArray[np.bool_]) -> Floats:
    """Share of directions along which no row of J_i lies above row i, for every candidate i."""
    highest = projections.argmax(axis=0)
    angles = np.empty(len(candidates))
    for c, row in enumerate(candidates):
        # along any other direction the highest row itself is in J
        possible = np.flatnonzero(~separated[highest, c])
        rivals = projections[np.ix_(separated[:, c], possible)].max(axis=0, initial=-np.inf)
        angles[c] = (rivals <= projections[row, possible]).sum() / projections.shape[1]
    return angles


def _choose_distinct(
    candidates: Rows, angles: Floats, separated: NDArray[np.bool_], n_rankings: int, separation_tol: float
) -> NDArray[np.int64]:
    """Take candidates by falling solid angle, each separated from all taken before."""
    chosen: list[int] = []
    for c in np.lexsort((candidates, -angles)):
        if all(separated[candidates[c], other] for other in chosen):
            chosen.append(int(c))
        if len(chosen) == n_rankings:
            return np.array(chosen)
    raise NotIdentifiableError(
        f"{n_rankings} rankings were asked for, but only {len(chosen)} pairs of items are novel and separated by at least "
        f"{separation_tol:g}. Try fewer rankings, more users or comparisons, a smaller separation_tol, or detection='whitened'."
    )


def _geometry(moments: Moments, projections: Floats, rows: Rows, statistic: str) -> tuple[Floats, Floats]:
    """Quadratic and linear terms of ``(x_i - b Y) (x'_i - b Y')^T`` (entries of E) or ``|E_i - b E_I|^2`` (rows of E)."""
    if statistic == "entries":
        targets = moments.columns(rows)
        return targets[rows].copy(), targets
    targets = projections @ projections[rows].T / projections.shape[1]
    return targets[rows].copy(), targets
