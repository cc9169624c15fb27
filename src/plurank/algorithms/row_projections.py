"""Project the rows of E on random directions, and give the projections of any rows.

Paper: Algorithm 2, the products E d of its first lines. Needs the moments E; gives projections of rows, part by part.
Differences from the paper: where all of them, (W, P), would be large and there are fewer users than rows, one vector is
kept for every user (M, P), and a row's projections are summed from those of its users whenever they are asked for. The
directions are the same either way, and the values too, up to rounding. Memory is then that of users times directions,
not of rows times directions. Users of a store are elsewhere, so there the projections of all rows are kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from plurank.choices import Directions
from plurank.progress import Progress, silent
from plurank.statistics.pair_moments import Moments, PairOperator
from plurank.statistics.user_factors import UserFactors

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
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
        """Give some rows."""

    def parts(self, rows: Rows) -> Iterator[Points]:
        """Give some rows, in parts of which each fits in memory."""


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
        """Give some rows."""
        are_all = np.array_equal(rows, np.arange(len(self.values)))
        return Points(rows, self.values if are_all else self.values[rows])  # all need no copy

    def parts(self, rows: Rows) -> Iterator[Points]:
        """Give some rows, all at once: they are in memory anyway."""
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
    """Give <E_w, d_r> for all rows and directions, (W, P)."""
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
