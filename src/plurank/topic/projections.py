"""Find one novel pair for each ranking: an ordered pair (i, j) that this ranking alone puts in this order.

Paper: Algorithm 2 (NovelPairDetect via random projections), section 5. Needs the moments of the comparisons; gives the
rows of K novel pairs, their solid angles, and the terms of the regression of Algorithm 3. Differences from the paper:
- rows are those of the rank-K estimate of E. By Lemma 2 E has rank K, so that <E_i, d> = <E_i, Pi d> with Pi the
  projection to its row space: solid angles are the same, but nearly all of the noise of the raw estimate lies outside
  of that space. ``printed.py`` is the algorithm on the raw estimate;
- an isotropic direction d enters through ``g = sum_i d_i x_i`` alone, x_i the row in K dimensions, so that g is drawn;
- what is left of a row's noise, with covariance C / c_i where the row was seen c_i times, is taken out of distances,
  counts against a row along every direction, and rows whose distance it could explain are not told apart. It vanishes
  with the number of users;
- the tolerance 0.01 (zeta / 2) is raised to a quarter of the rows' squared distance from the mean row, which puts it on
  the scale of E, as Theorem 2 asks;
- the loop stops at K pairs (``while k <= K`` as printed collects K + 1).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plurank.exceptions import Argument, NotIdentifiableError
from plurank.topic.moments import Moments
from plurank.topic.whitened import NovelPairs, embed
from plurank.types import Floats, Masks, Progress, silent

Rows = NDArray[np.int64]
CERTAINTIES = (8.0, 4.0, 2.0, 1.0, 0.5, 0.0)  # standard deviations of a distance; the first that leaves K pairs is used
NEAREST = 0.25  # of the squared distance from the mean row: rows closer than that belong together
PENALTY = 2.0  # standard deviations of its height that count against a row
HIGHEST_PER_RANKING = 20  # rows looked at along a direction: no lower one stands out
CHUNK_BYTES = 2**27  # of projections held at a time


@dataclass(frozen=True)
class NoisyRows:
    """Rows of E that occur, (n, K), how often they were seen (n,), and the noise of a row that was seen once (K, K)."""

    points: Floats
    counts: Floats
    noise: Floats

    @property
    def variance(self) -> Floats:
        """Expected squared length of a row's noise, (n,)."""
        return np.trace(self.noise) / self.counts

    @property
    def deviation(self) -> Floats:
        """Standard deviation of that squared length, (n,)."""
        return np.sqrt(2.0 * np.sum(self.noise**2)) / self.counts

    @property
    def spread(self) -> Floats:
        """Squared distance from the mean row, without noise, (n,)."""
        apart = self.points - np.average(self.points, axis=0, weights=self.counts)
        return np.maximum(np.einsum("nk,nk->n", apart, apart) - self.variance, 0.0)


@dataclass(frozen=True)
class Separation:
    """The sets J: which rows are too far apart to belong to the same ranking."""

    rows: NoisyRows
    tolerance: float
    certainty: float
    _terms: tuple[Floats, Floats, Floats, Floats]

    @classmethod
    def of(cls, rows: NoisyRows, tolerance: float, certainty: float) -> "Separation":
        """Work out what all distances have in common."""
        squares = np.einsum("nk,nk->n", rows.points, rows.points)
        return cls(rows, tolerance, certainty, (squares, rows.variance, rows.deviation, rows.spread))

    def between(self, some: Rows, others: Rows) -> Masks:
        """Return which of the others are in the set J of each, (n, m)."""
        squares, variance, deviation, spread = self._terms
        products = self.rows.points[some] @ self.rows.points[others].T
        distances = squares[some, None] + squares[others] - 2.0 * products - variance[some, None] - variance[others]
        least = np.maximum(NEAREST * np.minimum(spread[some, None], spread[others]), self.tolerance)
        least = np.maximum(least, self.certainty * (deviation[some, None] + deviation[others]))
        return (distances >= least) & (some[:, None] != others)


def detect_novel_pairs(
    moments: Moments,
    n_rankings: int,
    n_projections: int,
    separation_tol: float,
    *,
    rng: np.random.Generator,
    on_progress: Progress = silent,
) -> NovelPairs:
    """Run Algorithm 2 on the rank-K estimate of E."""
    points = embed(moments, n_rankings, rng=rng)
    seen = np.flatnonzero(moments.counts > 0)
    rows = NoisyRows(points[seen], moments.counts[seen], moments.row_noise(points))
    highest = find_highest(rows, n_projections, HIGHEST_PER_RANKING * n_rankings, rng, on_progress)
    found = 0
    for certainty in CERTAINTIES:
        separation = Separation.of(rows, separation_tol, certainty)
        angles = estimate_solid_angles(separation, highest)
        chosen = choose_distinct(separation, angles, n_rankings)
        found = max(found, len(chosen))
        if len(chosen) == n_rankings:
            novel = seen[chosen]
            gram, targets = points[novel] @ points[novel].T, points @ points[novel].T
            return NovelPairs(novel, angles[chosen], "rank K", gram, targets)
    raise not_enough(n_rankings, found, separation_tol)


def find_highest(
    rows: NoisyRows, n_projections: int, n_highest: int, rng: np.random.Generator, on_progress: Progress
) -> Rows:
    """Return the rows that lie highest along random directions, the highest first, (P, n_highest).

    Along g a row lies at ``x_i g``, less a few standard deviations of that, so that noise alone does not lift a row.
    """
    n, n_highest = len(rows.points), min(n_highest, len(rows.points))
    root = np.linalg.cholesky(_definite(rows.points.T @ rows.points))
    rarely = 1.0 / np.sqrt(rows.counts)
    found = np.empty((n_projections, n_highest), dtype=np.int64)
    for begin, end in _chunks(n_projections, 8 * n):
        on_progress("projecting on random directions", begin / n_projections)
        g = root @ rng.standard_normal((len(root), end - begin))
        noise = np.sqrt(np.maximum(np.einsum("kr,kl,lr->r", g, rows.noise, g), 0.0))
        heights = g.T @ rows.points.T
        heights -= PENALTY * noise[:, None] * rarely
        found[begin:end] = find_largest(heights, n_highest)
    return found


def find_largest(values: Floats, n_largest: int) -> Rows:
    """Return where the largest values of each line (m, n) are, the largest first, (m, n_largest).

    They lie in those n_largest groups of neighbours whose own largest values are largest: nothing else is sorted.
    """
    m, n = values.shape
    size = max(int(np.sqrt(n / n_largest)), 1)
    n_whole = n - n % size
    largest = values[:, :n_whole].reshape(m, -1, size).max(axis=2)
    groups = np.argpartition(-largest, min(n_largest, largest.shape[1]) - 1, axis=1)[:, :n_largest]
    members = (np.sort(groups, axis=1)[:, :, None] * size + np.arange(size)).reshape(m, -1)
    members = np.hstack([members, np.broadcast_to(np.arange(n_whole, n), (m, n - n_whole))])
    order = np.argsort(-np.take_along_axis(values, members, axis=1), axis=1, kind="stable")[:, :n_largest]
    return np.take_along_axis(members, order, axis=1)


def _definite(matrix: Floats) -> Floats:
    """Add what rounding may have taken from a covariance."""
    return matrix + 1e-12 * np.trace(matrix) * np.eye(len(matrix))


def _chunks(n: int, bytes_each: int) -> Iterator[tuple[int, int]]:
    size = max(CHUNK_BYTES // bytes_each, 1)
    return ((begin, min(begin + size, n)) for begin in range(0, n, size))


def estimate_solid_angles(separation: Separation, highest: Rows) -> Floats:
    """Return for every row the share of directions along which no row of its set J lies above it, (n,)."""
    unbeaten = np.zeros(len(separation.rows.points))
    for rows in highest:  # the highest first
        beaten = np.tril(separation.between(rows, rows), -1).any(axis=1)
        unbeaten[rows[~beaten]] += 1.0
    return unbeaten / len(highest)


def choose_distinct(separation: Separation, angles: Floats, n_rankings: int) -> Rows:
    """Take rows by falling solid angle, each separated from all taken before; at most K, (k,)."""
    chosen: list[int] = []
    candidates = np.flatnonzero(angles > 0)
    for row in candidates[np.lexsort((candidates, -angles[candidates]))]:
        if not chosen or separation.between(np.array([row]), np.array(chosen)).all():
            chosen.append(int(row))
        if len(chosen) == n_rankings:
            break
    return np.array(chosen)


def not_enough(n_rankings: int, found: int, separation_tol: float) -> NotIdentifiableError:
    """Return the error for fewer novel pairs than rankings."""
    pairs = "1 pair of items is" if found == 1 else f"{found} pairs of items are"
    return NotIdentifiableError(
        f"{n_rankings} rankings were asked for, but only {pairs} novel and separated by at least {separation_tol:g}.",
        hint=(
            "Try fewer rankings, more users or comparisons, a smaller ", Argument("separation_tol"), ", or ",
            Argument("detection", "whitened"), ".",
        ),
    )  # fmt: skip
