"""Find the users who follow one ranking alone, and weigh everybody by them: a start for any number of items.

Ours: takes the place of novel pairs where there are many items. Each user's wins minus losses per item, per comparison,
lie near the hull of K points, one for each ranking; in the leading K directions noise is small. Averages over near
neighbours make it smaller, and successive projection takes K extreme points. Linear in the number of comparisons.
"""

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.algorithms.detect_whitened import successive_projection
from plurank.data.comparisons import Comparisons
from plurank.statistics.item_moments import SignedCounts, leading_item_directions

Floats = NDArray[np.float64]
N_USERS = 3_000  # with most comparisons, among whom the extreme points are looked for
N_NEIGHBOURS = 10
BLOCK = 500  # points whose distances to all are held at once
LEAST_WEIGHT = 0.02


def find_user_vertices(comparisons: Comparisons, n_rankings: int, *, rng: np.random.Generator) -> Floats:
    """Give weights of all users on K kinds of users, (M, K), none of them zero."""
    c, signed, counts = comparisons, SignedCounts.of(comparisons), comparisons.weights_of_users()
    leading = leading_item_directions(
        # nothing is taken out: a start may be a little biased
        lambda items: signed.to_items(signed.to_users(items) / counts[:, None]),
        signed.seen(),
        min(n_rankings, c.n_items - 1),
        rng=rng,
    )
    users = signed.to_users(leading)
    points = users / counts[:, None]
    vertices = _extreme_points(points[np.argsort(-counts, kind="stable")[:N_USERS]], n_rankings)
    weights = kernels.regress_on_simplex(vertices @ vertices.T, points @ vertices.T, 1e-9, 1000)
    weights = np.maximum(weights, LEAST_WEIGHT)
    return weights / weights.sum(axis=1, keepdims=True)


def _extreme_points(points: Floats, n: int) -> Floats:
    """Average each point over its neighbours, then take n extreme ones; points repeat where there are too few."""
    smooth = points[_neighbours(points, min(N_NEIGHBOURS, len(points)))].mean(axis=1)
    # a constant coordinate makes projections affine: n points then span n - 1 dimensions
    lifted = np.column_stack([np.full(len(smooth), max(float(np.abs(smooth).mean()), 1e-12)), smooth])
    return smooth[successive_projection(lifted, n)]


def _neighbours(points: Floats, n: int) -> NDArray[np.int64]:
    """Return the n points nearest to each, itself among them, in the order of their numbers, (N, n)."""
    half = np.square(points).sum(axis=1) / 2.0  # |x - y|^2 / 2 = |x|^2 / 2 + |y|^2 / 2 - x y
    blocks = np.array_split(points, len(points) // BLOCK + 1)
    nearest = [np.argpartition(half - block @ points.T, n - 1, axis=1)[:, :n] for block in blocks]
    return np.sort(np.concatenate(nearest), axis=1)
