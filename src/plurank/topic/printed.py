"""Algorithm 2 as printed, on the raw estimate of E; ``projections.py`` has the version that converges.

Paper: Algorithm 2 (NovelPairDetect via random projections), section 5; the statistics of Proposition 3 in the appendix.
Needs the moments E as an operator; gives the rows of K novel pairs, their solid angles, and the terms of
the regression of Algorithm 3. Differences from the paper:
- the loop stops at K pairs (``while k <= K`` as printed collects K + 1);
- the sets J are computed only where they can change a solid angle: for candidates, the rows not separated from one that
  is the highest along some direction; and among rivals, the rows that lie above some candidate along a direction whose
  highest row is not separated from it. No other row has a positive solid angle, and no other row can take one away;
- where the diagonal of E has empty places (no user has that ordered pair in both halves), ``E_ii - 2 E_ij + E_jj``
  says nothing there, and a row with an empty set J would count as extreme in every direction. So the appendix's other
  statistic takes its place for all rows: the distance of whole rows, as the mean square per column, estimated from the
  projections. The same goes for the regression of Algorithm 3;
- projections are looked at in parts (see ``row_projections``); nothing is left out for it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.choices import Directions
from plurank.topic.moments import Moments, PairOperator, UserFactors
from plurank.topic.projections import not_enough
from plurank.topic.whitened import NovelPairs
from plurank.types import Floats, Masks, Progress, Singles, silent

# Project the rows of E on random directions, and give the projections of any rows.
#
# Paper: Algorithm 2, the products E d of its first lines. Needs the moments E; gives projections of rows, part by part.
# Differences from the paper: where all of them, (W, P), would be large and there are fewer users than rows, one vector
# is kept for every user (M, P), and a row's projections are summed from those of its users whenever they are asked for.
# The directions are the same either way, and the values too, up to rounding. Memory is then that of users times
# directions, not of rows times directions. Users of a store are elsewhere, so there the projections of all rows are
# kept.

Rows = NDArray[np.int64]
CHUNK, CHUNK_BYTES = 64, 2**29  # directions multiplied at a time, fewer where they are long
KEPT_BYTES = 2**30  # of projections of all rows, or they are not kept
PART_BYTES = 2**24  # of projections made at a time where they are not kept


class Points(NamedTuple):
    """Some rows (n,) and their projections (n, P)."""

    rows: Rows
    values: Singles


class Projections(Protocol):
    """Projections of W rows on P directions."""

    @property
    def shape(self) -> tuple[int, int]:
        """W and P."""

    @property
    def seen(self) -> Rows:
        """The rows of ordered pairs that occur, sorted: all others are zero."""

    def of(self, rows: Rows) -> Points:
        """Return some rows."""

    def parts(self, rows: Rows) -> Iterator[Points]:
        """Return some rows, in parts of which each fits in memory."""


@dataclass(frozen=True)
class KeptProjections:
    """Projections of all rows, (W, P)."""

    values: Singles

    @property
    def shape(self) -> tuple[int, int]:
        """W and P."""
        return self.values.shape[0], self.values.shape[1]

    @cached_property
    def seen(self) -> Rows:
        """The rows that are not zero."""
        return np.flatnonzero(np.einsum("wr,wr->w", self.values, self.values) > 0)

    def of(self, rows: Rows) -> Points:
        """Return some rows."""
        are_all = np.array_equal(rows, np.arange(len(self.values)))
        return Points(rows, self.values if are_all else self.values[rows])  # all need no copy

    def parts(self, rows: Rows) -> Iterator[Points]:
        """Return some rows, all at once: they are in memory anyway."""
        yield self.of(rows)


@dataclass(frozen=True)
class UserProjections:
    """What every user adds to the projections of rows, (M, P)."""

    factors: UserFactors
    users: Singles

    @property
    def shape(self) -> tuple[int, int]:
        """W and P."""
        return len(self.factors.row_factors), self.users.shape[1]

    @cached_property
    def seen(self) -> Rows:
        """The rows that occur in the half that rows are made of."""
        return np.flatnonzero(self.factors.row_factors)

    def of(self, rows: Rows) -> Points:
        """Sum the projections of some rows."""
        return Points(rows, self.factors.to_rows(self.users, rows))

    def parts(self, rows: Rows) -> Iterator[Points]:
        """Sum the projections of some rows, part by part."""
        size = max(PART_BYTES // (4 * self.users.shape[1]), 1)
        for begin in range(0, len(rows), size):
            yield self.of(rows[begin : begin + size])


def project_rows(
    moments: Moments,
    n_projections: int,
    directions: Directions,
    *,
    rng: np.random.Generator,
    on_progress: Progress = silent,
) -> Projections:
    """Keep the projections of all rows, or those of users where they are fewer and all would take much memory."""
    n_rows = len(moments.counts)
    is_large = 4 * n_rows * n_projections > KEPT_BYTES
    factors = moments.factors() if is_large and isinstance(moments, PairOperator) else None
    if factors is None or factors.n_users >= n_rows:
        return KeptProjections(project(moments, n_projections, directions, rng=rng, on_progress=on_progress))
    users = np.empty((factors.n_users, n_projections), dtype=np.float32)
    for begin, chunk in draw_directions(n_rows, n_projections, directions, rng, on_progress):
        users[:, begin : begin + chunk.shape[1]] = factors.to_users(chunk)
    return UserProjections(factors, users)


def project(
    moments: Moments,
    n_projections: int,
    directions: Directions,
    *,
    rng: np.random.Generator,
    on_progress: Progress = silent,
) -> Singles:
    """Return <E_w, d_r> for all rows and directions, (W, P)."""
    projections = np.empty((len(moments.counts), n_projections), dtype=np.float32)
    for begin, chunk in draw_directions(*projections.shape, directions, rng, on_progress):
        projections[:, begin : begin + chunk.shape[1]] = moments.product(chunk)
    return projections


def draw_directions(
    n_rows: int, n_projections: int, directions: Directions, rng: np.random.Generator, on_progress: Progress
) -> Iterator[tuple[int, Floats]]:
    """Draw P directions, some at a time: the number of the first, and (W, c), which the next ones overwrite.

    E[d d^T] is the identity for both kinds of directions.
    """
    size = int(np.clip(CHUNK_BYTES // (8 * n_rows), 1, CHUNK))
    drawn = np.empty(n_rows * min(size, n_projections))
    for begin in range(0, n_projections, size):
        on_progress("projecting on random directions", begin / n_projections)
        chunk = drawn[: n_rows * min(size, n_projections - begin)].reshape(n_rows, -1)
        rng.standard_normal(out=chunk)
        if directions == "sphere":
            chunk *= np.sqrt(n_rows) / np.linalg.norm(chunk, axis=0)
        yield begin, chunk


TOGETHER = 1024  # candidates, or rivals, looked at together
N_FIRST = 64  # projections that most distances are seen in
FEW = 20  # a distance by itself takes so much longer than one of many, about


def detect_printed(
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
    projections = project_rows(moments, n_projections, directions, rng=rng, on_progress=on_progress)
    geometry = _Geometry(moments, projections, separation_tol)
    candidates, angles = _estimate_solid_angles(geometry, on_progress)
    chosen = _choose_distinct(geometry, candidates, angles, n_rankings)
    rows = candidates[chosen]
    gram, targets = geometry.regression_terms(rows)
    return NovelPairs(rows, angles[chosen], geometry.statistic, gram, targets)


class _Geometry:
    """Which rows of E are far apart, by the one or the other statistic of the appendix."""

    def __init__(self, moments: Moments, projections: Projections, separation_tol: float) -> None:
        self.moments, self.projections, self.separation_tol = moments, projections, separation_tol
        self.diagonal = moments.diagonal()
        self.statistic = "entries" if (self.diagonal[projections.seen] > 0).all() else "rows"

    def parts(self) -> Iterator[Points]:
        """Return all rows that occur, in parts."""
        return self.projections.parts(self.projections.seen)

    def separated(self, some: Points, others: Points) -> Masks:
        """Return which of some rows are in the sets J of others, (n, m): by E_ii - 2 E_ij + E_jj, or |E_i - E_j|^2 / W.

        E |<x, d>|^2 = |x|^2 for isotropic d, so the projections tell the length of a difference of rows.
        """
        if self.statistic == "rows":
            return _far_apart(some.values, others.values, self.separation_tol * np.prod(self.projections.shape))
        far = np.empty((len(some.rows), len(others.rows)), dtype=bool)
        for begin in range(0, len(others.rows), CHUNK):
            rows = others.rows[begin : begin + CHUNK]
            entries = self.moments.columns(rows)[some.rows]
            distances = self.diagonal[some.rows, None] + self.diagonal[rows] - 2.0 * entries
            far[:, begin : begin + CHUNK] = (distances >= self.separation_tol) & (some.rows[:, None] != rows)
        return far

    def regression_terms(self, rows: Rows) -> tuple[Floats, Floats]:
        """Quadratic and linear terms of Algorithm 3: of ``(x_i - b Y) (x'_i - b Y')^T``, or of ``|E_i - b E_I|^2``."""
        if self.statistic == "entries":
            targets = self.moments.columns(rows)
        else:
            n_rows, n_projections = self.projections.shape
            targets, novel = np.zeros((n_rows, len(rows))), self.projections.of(rows).values
            for part in self.parts():
                targets[part.rows] = (part.values @ novel.T).astype(np.float64) / n_projections
        return targets[rows].copy(), targets


def _far_apart(some: Singles, others: Singles, least: float) -> Masks:
    """Return which rows have at least this squared distance, (n, m); most show it in their first projections."""
    far = kernels.are_apart(some, others, min(N_FIRST, some.shape[1]), least)
    at, other = np.nonzero(~far)
    rows, columns = np.unique(at), np.unique(other)
    if FEW * len(at) < len(rows) * len(columns):
        for i, j in zip(_split_rows(at), _split_rows(other), strict=True):
            differences = some[i].astype(np.float64) - others[j]
            far[i, j] = np.einsum("wr,wr->w", differences, differences) >= least
        return far
    theirs = others[columns].astype(np.float64)
    for i in _split_rows(rows):
        own = some[i].astype(np.float64)
        squares = np.einsum("wr,wr->w", own, own)[:, None] + np.einsum("wr,wr->w", theirs, theirs)
        far[np.ix_(i, columns)] = squares - 2.0 * own @ theirs.T >= least
    return far


def _split_rows(values: Rows) -> list[Rows]:
    return np.split(values, range(TOGETHER, len(values), TOGETHER))


def _estimate_solid_angles(geometry: _Geometry, on_progress: Progress) -> tuple[Rows, Floats]:
    """Return the rows with a chance of a positive solid angle, and their estimates: the share of directions along which
    no row of J lies above.
    """
    highest, which = np.unique(_find_highest(geometry), return_inverse=True)
    candidates, lowest = _find_candidates(geometry, highest, which)
    rivals = np.setdiff1d(_find_above(geometry, lowest), highest)
    angles = []
    for begin, rows in enumerate(_split_rows(candidates)):
        on_progress("estimating solid angles", begin * TOGETHER / len(candidates))
        some = geometry.projections.of(rows)
        angles.append(_find_unbeaten(geometry, some, highest, which, rivals).mean(axis=1))
    return candidates, np.concatenate(angles)


def _find_highest(geometry: _Geometry) -> Rows:
    """Return the row that lies highest along every direction, (P,), among those that occur."""
    n_projections = geometry.projections.shape[1]
    highest, values = np.zeros(n_projections, dtype=np.int64), np.full(n_projections, -np.inf, dtype=np.float32)
    for part in geometry.parts():
        at = part.values.argmax(axis=0)
        here = part.values[at, np.arange(n_projections)]
        higher = here > values
        highest[higher], values[higher] = part.rows[at][higher], here[higher]
    return highest


def _find_candidates(geometry: _Geometry, highest: Rows, which: Rows) -> tuple[Rows, Singles]:
    """Return the rows not separated from one of the highest (m,), and for every direction how low such a row of its own
    highest one lies, (P,); which (P,): the highest one of every direction."""
    tops = geometry.projections.of(highest)
    lowest = np.full(len(which), np.inf, dtype=np.float32)
    candidates = []
    for part in geometry.parts():
        near = ~geometry.separated(part, tops)
        candidates.append(part.rows[near.any(axis=1)])
        for at in np.flatnonzero(near.any(axis=0)):
            directions = np.flatnonzero(which == at)
            values = part.values[np.ix_(near[:, at], directions)]
            lowest[directions] = np.minimum(lowest[directions], values.min(axis=0))
    return np.concatenate(candidates), lowest


def _find_above(geometry: _Geometry, lowest: Singles) -> Rows:
    """Return the rows that lie above these values (P,) along some direction."""
    return np.concatenate([part.rows[(part.values > lowest).any(axis=1)] for part in geometry.parts()])


def _find_unbeaten(geometry: _Geometry, some: Points, highest: Rows, which: Rows, rivals: Rows) -> Masks:
    """Return along which directions none of the highest rows and of other rivals that are in J lies above, (n, P)."""
    tops, *others = _split_rows(rivals)
    first = geometry.projections.of(np.concatenate([highest, tops]))
    separated = geometry.separated(first, some).T
    # along any other direction the highest row is itself in J
    left = np.ascontiguousarray(~separated[:, which])
    kernels.stay_above(some.values, first.values, np.ascontiguousarray(separated), left)
    for rows in others:
        more = geometry.projections.of(rows)
        kernels.stay_above(some.values, more.values, np.ascontiguousarray(geometry.separated(more, some).T), left)
    return left


def _choose_distinct(geometry: _Geometry, candidates: Rows, angles: Floats, n_rankings: int) -> Rows:
    """Take candidates by falling solid angle, each separated from all taken before."""
    chosen: list[int] = []
    free = angles > 0
    for c in np.lexsort((candidates, -angles)):
        if free[c]:
            chosen.append(int(c))
            free[free] = _separated_from(geometry, candidates[free], candidates[c])
        if len(chosen) == n_rankings:
            return np.array(chosen)
    raise not_enough(n_rankings, len(chosen), geometry.separation_tol)


def _separated_from(geometry: _Geometry, rows: Rows, row: int) -> Masks:
    """Return which rows are in the set J of one, (n,)."""
    one = geometry.projections.of(np.array([row]))
    return np.concatenate([geometry.separated(part, one)[:, 0] for part in geometry.projections.parts(rows)])
