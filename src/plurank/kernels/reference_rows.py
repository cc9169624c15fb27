"""The plain twins of the kernels on projected rows."""

# ruff: noqa: D103
import numpy as np
from numpy.typing import NDArray

from plurank.kernels.reference_mixing import Codes, Floats, Ints, ones_if_empty

Mask = NDArray[np.bool_]
Singles = NDArray[np.float32]


def add_gathered(begins: Ints, ends: Ints, index: Codes, weights: Floats, values: Singles, out: Singles) -> Singles:
    weights = ones_if_empty(weights, index.size)
    for g, (b, e) in enumerate(zip(begins, ends, strict=True)):
        for at in range(b, e):
            out[g] += (weights[at] * values[index[at]]).astype(out.dtype)
    return out


def are_apart(points: Singles, others: Singles, n_first: int, least: float) -> Mask:
    differences = points[:, None, :n_first].astype(np.float64) - others[:, :n_first].astype(np.float64)
    return np.asarray((differences**2).sum(axis=2) >= least)


def stay_above(points: Singles, rivals: Singles, apart: Mask, left: Mask) -> Mask:
    for i in range(len(points)):
        left[i] &= ~(rivals[apart[i]] > points[i]).any(axis=0)
    return left
