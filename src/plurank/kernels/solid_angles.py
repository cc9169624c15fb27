"""Algorithm 2's rows of E seen along random directions; sources: ``native/solid_angles.cpp``."""

import numpy as np

from plurank.kernels.arrays import check
from plurank.kernels.library import (
    FLOAT,
    INT,
    MARKS,
    OUT_FLOATS,
    OUT_MARKS,
    SINGLES,
    function,
)
from plurank.kernels.threads import run
from plurank.types import Masks, Singles

_are_apart = function("are_apart", INT, INT, SINGLES, SINGLES, INT, INT, INT, FLOAT, OUT_MARKS)
_stay_above = function("stay_above", INT, INT, SINGLES, SINGLES, MARKS, INT, INT, OUT_MARKS, OUT_FLOATS)


def are_apart(points: Singles, others: Singles, n_first: int, least: float) -> Masks:
    """Check which points have at least this squared distance in their first coordinates already, (n, m).

    ``((points[:, None, :n_first] - others[:, :n_first]) ** 2).sum(axis=2) >= least``
    """
    n_columns = points.shape[1]
    check(n_first <= n_columns == others.shape[1])
    apart = np.empty((len(points), len(others)), np.bool_)
    given = np.ascontiguousarray(points), np.ascontiguousarray(others), len(others), n_columns, n_first, least
    run(_are_apart, len(points), apart.size * n_first, *given, apart)
    return apart


def stay_above(points: Singles, rivals: Singles, apart: Masks, left: Masks) -> Masks:
    """Take out directions along which a rival that is apart lies above a point.

    ``left &= ~(apart[:, :, None] & (rivals > points[:, None])).any(axis=1)``; points and left (n, P), rivals (m, P),
    apart (n, m); left is changed, and returned.
    """
    n_columns = points.shape[1]
    check(left.shape == points.shape and rivals.shape[1] == n_columns and apart.shape == (len(points), len(rivals)))
    given = np.ascontiguousarray(points), np.ascontiguousarray(rivals), np.ascontiguousarray(apart)
    work = points.size * max(len(rivals), 1)
    run(_stay_above, len(points), work, *given, len(rivals), n_columns, left, memory=n_columns + 1)
    return left
