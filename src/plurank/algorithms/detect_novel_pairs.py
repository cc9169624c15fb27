"""Find one novel pair for each ranking: an ordered pair (i, j) that this ranking alone puts in this order.

Paper: Algorithm 2 (NovelPairDetect via random projections), section 5; the statistics of Proposition 3 in the appendix.
Needs the moments E as an operator; gives the rows of K novel pairs, their solid angles, and the terms of
the regression of Algorithm 3. Differences from the paper:
- the loop stops at K pairs (``while k <= K`` as printed collects K + 1);
- the sets J are computed only for rows that can have a positive solid angle: those that are the highest for some
  direction, and those not separated from one of these;
- where the diagonal of E has empty places (no user has that ordered pair in both halves), ``E_ii - 2 E_ij + E_jj``
  says nothing there, and a row with an empty set J would count as extreme in every direction. So the appendix's other
  statistic takes its place for all rows: the distance of whole rows, as the mean square per column, estimated from the
  projections. The same goes for the regression of Algorithm 3.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plurank.choices import Directions
from plurank.exceptions import NotIdentifiableError
from plurank.progress import Progress, silent
from plurank.statistics.pair_moments import Moments

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
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
    geometry = _Geometry(moments, projections, separation_tol)
    candidates, angles = _estimate_solid_angles(geometry, on_progress)
    chosen = _choose_distinct(geometry, candidates, angles, n_rankings)
    rows = candidates[chosen]
    gram, targets = geometry.regression_terms(rows)
    return NovelPairs(rows, angles[chosen], geometry.statistic, gram, targets)


def project(
    moments: Moments,
    n_projections: int,
    directions: Directions,
    *,
    rng: np.random.Generator,
    on_progress: Progress = silent,
) -> NDArray[np.float32]:
    """Give <E_w, d_r> for all rows and directions, (W, P); E[d d^T] is the identity for both kinds of directions."""
    n_rows = len(moments.counts)
    projections = np.empty((n_rows, n_projections), dtype=np.float32)
    for begin in range(0, n_projections, CHUNK):
        on_progress("projecting on random directions", begin / n_projections)
        chunk = rng.standard_normal((n_rows, min(CHUNK, n_projections - begin)))
        if directions == "sphere":
            chunk *= np.sqrt(n_rows) / np.linalg.norm(chunk, axis=0)
        projections[:, begin : begin + CHUNK] = moments.product(chunk)
    return projections


class _Geometry:
    """Which rows of E are far apart, by the one or the other statistic of the appendix."""

    def __init__(self, moments: Moments, projections: NDArray[np.float32], separation_tol: float) -> None:
        self.moments, self.projections, self.separation_tol = moments, projections, separation_tol
        self.squares = np.einsum("wr,wr->w", projections, projections)
        self.seen = self.squares > 0
        self.diagonal = moments.diagonal()
        self.statistic = "entries" if (self.diagonal[self.seen] > 0).all() else "rows"

    def separated(self, rows: Rows) -> NDArray[np.bool_]:
        """Give the sets J of some rows, as columns of (W, n); ordered pairs that never occur are in none."""
        far = self._distances(rows) >= self.separation_tol
        far[rows, np.arange(len(rows))] = False
        far[~self.seen] = False
        return far

    def highest(self) -> Rows:
        """Give the row that lies highest along every direction, (P,), among those that occur."""
        parts = np.array_split(self.projections, range(CHUNK, self.projections.shape[1], CHUNK), axis=1)
        return np.concatenate([np.where(self.seen[:, None], part, -np.inf).argmax(axis=0) for part in parts])

    def _distances(self, rows: Rows) -> NDArray[np.floating]:
        """E_ii - 2 E_ij + E_jj, or |E_i - E_j|^2 / W, between all rows and some, (W, n).

        E |<x, d>|^2 = |x|^2 for isotropic d, so the projections tell the length of a difference of rows.
        """
        if self.statistic == "entries":
            return self.diagonal[:, None] + self.diagonal[rows] - 2.0 * self.moments.columns(rows)
        distances = self.projections @ self.projections[rows].T
        distances *= -2.0
        distances += self.squares[:, None] + self.squares[rows]
        distances /= self.projections.size
        return distances

    def regression_terms(self, rows: Rows) -> tuple[Floats, Floats]:
        """Quadratic and linear terms of Algorithm 3: of ``(x_i - b Y) (x'_i - b Y')^T``, or of ``|E_i - b E_I|^2``."""
        if self.statistic == "entries":
            targets = self.moments.columns(rows)
        else:
            targets = (self.projections @ self.projections[rows].T).astype(np.float64) / self.projections.shape[1]
        return targets[rows].copy(), targets


def _estimate_solid_angles(geometry: _Geometry, on_progress: Progress) -> tuple[Rows, Floats]:
    """Give the rows with a chance of a positive solid angle, and their estimates: the share of directions along which
    no row of J lies above.
    """
    highest = geometry.highest()
    near = np.zeros(len(geometry.seen), dtype=bool)
    for rows in _chunks(np.unique(highest)):
        near |= ~geometry.separated(rows).all(axis=1)
    candidates = np.flatnonzero(near & geometry.seen)
    angles = np.zeros(len(candidates))
    for begin in range(0, len(candidates), CHUNK):
        on_progress("estimating solid angles", begin / len(candidates))
        rows = candidates[begin : begin + CHUNK]
        separated = geometry.separated(rows)
        for at, row in enumerate(rows):
            angles[begin + at] = _solid_angle(geometry.projections, row, separated[:, at], highest)
    return candidates, angles


def _solid_angle(projections: NDArray[np.float32], row: int, separated: NDArray[np.bool_], highest: Rows) -> float:
    rivals = np.flatnonzero(separated)
    n_above_all = 0
    # along any other direction the highest row is itself in J
    for directions in _chunks(np.flatnonzero(~separated[highest])):
        best_rivals = projections[np.ix_(rivals, directions)].max(axis=0, initial=-np.inf)
        n_above_all += int((best_rivals <= projections[row, directions]).sum())
    return n_above_all / projections.shape[1]


def _chunks(values: Rows) -> list[Rows]:
    return [values[begin : begin + CHUNK] for begin in range(0, len(values), CHUNK)]


def _choose_distinct(geometry: _Geometry, candidates: Rows, angles: Floats, n_rankings: int) -> NDArray[np.int64]:
    """Take candidates by falling solid angle, each separated from all taken before."""
    chosen: list[int] = []
    free = angles > 0
    for c in np.lexsort((candidates, -angles)):
        if free[c]:
            chosen.append(int(c))
            free &= geometry.separated(candidates[[c]])[candidates, 0]
        if len(chosen) == n_rankings:
            return np.array(chosen)
    found = "1 pair of items is" if len(chosen) == 1 else f"{len(chosen)} pairs of items are"
    raise NotIdentifiableError(
        f"{n_rankings} rankings were asked for, but only {found} novel and separated by at "
        f"least {geometry.separation_tol:g}. Try fewer rankings, more users or comparisons, a smaller separation_tol, "
        "or detection='whitened'."
    )
