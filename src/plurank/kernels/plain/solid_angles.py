"""Plain twins of ``kernels/solid_angles.py``, where the docstrings are."""

# ruff: noqa: D103
import numpy as np

from plurank.types import Masks, Singles


def are_apart(points: Singles, others: Singles, n_first: int, least: float) -> Masks:
    differences = points[:, None, :n_first].astype(np.float64) - others[:, :n_first].astype(np.float64)
    return np.asarray((differences**2).sum(axis=2) >= least)


def stay_above(points: Singles, rivals: Singles, apart: Masks, left: Masks) -> Masks:
    for i in range(len(points)):
        left[i] &= ~(rivals[apart[i]] > points[i]).any(axis=0)
    return left
