"""Exposure: which items a user rated, as a few numbers that a user's factors are regressed on.

Ours. The leading directions, beyond the first, of the matrix of who rated what, scaled by how many items a user rated
and how many users rated an item.
"""

from typing import NamedTuple

import numpy as np

from plurank.thurstone.blocks import BlockData
from plurank.types import Floats

N_DIRECTIONS = 10
N_ITERATIONS = 12  # of the subspace, which are enough for a regression
EXTRA = 4  # directions that make the subspace converge faster


class Exposure(NamedTuple):
    """Directions (Q, G) such that a user's exposure is their sum over the items rated, by the root of their number."""

    directions: Floats

    @property
    def n(self) -> int:
        """Number of directions."""
        return self.directions.shape[1]

    def of(self, data: BlockData) -> Floats:
        """Return the exposure of a block's users, (m, G)."""
        return sum_of_users(data, self.directions)

    @classmethod
    def none(cls, n_items: int) -> "Exposure":
        """Return no directions."""
        return cls(np.zeros((n_items, 0)))


def sum_of_users(data: BlockData, table: Floats) -> Floats:
    """Sum rows of a table (Q, G) over each user's items, by the root of their number, (m, G)."""
    offsets = data.observed.offsets
    if not table.shape[1]:
        return np.zeros((data.n_users, 0))
    sizes = np.diff(offsets)
    total = np.zeros((data.n_users, table.shape[1]))
    some = sizes > 0
    if some.any():
        total[some] = np.add.reduceat(table[data.observed.codes], offsets[:-1][some], axis=0)
    return total / np.sqrt(np.maximum(sizes, 1))[:, None]


def sum_of_items(data: BlockData, rows: Floats) -> Floats:
    """Sum users' rows (m, G), by the root of the number of their items, over each item's users, (Q, G)."""
    starts, _, owners = data.by_item
    scaled = rows / np.sqrt(np.maximum(np.diff(data.observed.offsets), 1))[:, None]
    total = np.zeros((data.n_items, rows.shape[1]))
    some = np.diff(starts) > 0
    if some.any():
        total[some] = np.add.reduceat(scaled[owners], starts[:-1][some], axis=0)
    return total


def first_directions(n_items: int, rng: np.random.Generator) -> Floats:
    """Return the start of the subspace iteration, (Q, G + extra)."""
    n = min(N_DIRECTIONS + 1 + EXTRA, n_items)
    return np.linalg.qr(rng.standard_normal((n_items, n)))[0]


def finish_directions(directions: Floats, item_counts: Floats, n_users: int, products: Floats) -> Exposure:
    """Return the directions that exposure is made of: without the first, and of unit variance over users.

    directions (Q, G + 1 + extra) are orthonormal and span the subspace; products are theirs with the matrix times them.
    """
    values, vectors = np.linalg.eigh((products + products.T) / 2.0)
    order = np.argsort(-values)[1 : N_DIRECTIONS + 1]
    order = order[values[order] > 1e-8]
    scale = np.sqrt(np.maximum(values[order], 1e-300) / max(n_users, 1))
    turned = directions @ vectors[:, order] / scale
    return Exposure(turned / np.sqrt(np.maximum(item_counts, 1.0))[:, None])
