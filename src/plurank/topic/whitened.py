"""Find one novel pair for each ranking in a whitened embedding of the rows of E.

Ours: takes the place of Algorithm 2. Needs the moments F as an operator; gives the embedding (``embedding.py``) and, by
successive projection, K extreme rows.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plurank.topic.embedding import embed
from plurank.topic.moments import Moments
from plurank.topic.projections import NovelPairs
from plurank.types import Floats

N_DIRECTIONS = 150  # times K, for the solid angles


@dataclass(frozen=True)
class WhitenedPairs(NovelPairs):
    """Novel pairs found in the embedding; points (W, K) with rows of zeros where an ordered pair never occurs."""

    points: Floats


def detect_whitened(moments: Moments, n_rankings: int, *, rng: np.random.Generator) -> WhitenedPairs:
    """Embed, then take extreme points."""
    points = embed(moments, n_rankings, rng=rng)
    rows = successive_projection(points, n_rankings)
    vertices = points[rows]
    gram, targets = vertices @ vertices.T, points @ vertices.T
    return WhitenedPairs(rows, solid_angles(vertices, rng=rng), "whitened", gram, targets, points)


def successive_projection(points: Floats, n: int) -> NDArray[np.int64]:
    """Take the longest point, project all points off it, and repeat: n extreme points of their hull."""
    residual = points.copy()
    rows = np.empty(n, dtype=np.int64)
    for k in range(n):
        lengths = np.einsum("wk,wk->w", residual, residual)
        rows[k] = np.argmax(lengths)
        # where fewer than n points differ nothing is left, and the first point is taken again
        axis = residual[rows[k]] / np.sqrt(max(lengths[rows[k]], 1e-300))
        residual -= np.outer(residual @ axis, axis)
    return rows


def solid_angles(vertices: Floats, *, rng: np.random.Generator) -> Floats:
    """Estimate the solid angle of each of K points in their hull: the share of directions in which it lies furthest."""
    n = len(vertices)
    highest = (vertices @ rng.standard_normal((vertices.shape[1], N_DIRECTIONS * n))).argmax(axis=0)
    return np.bincount(highest, minlength=n) / (N_DIRECTIONS * n)
