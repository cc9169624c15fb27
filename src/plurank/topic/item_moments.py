"""Second-order moments of wins minus losses per item: Q dimensions instead of Q (Q - 1).

Ours (the paper works on ordered pairs only). ``C = sum_m (s_m s_m^T - self_m) / (n_m - 1)`` with s_m (Q,) the wins
minus losses of user m, whitened by how often each item was compared; an operator again, linear in the comparisons.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.comparisons import Comparisons
from plurank.types import Floats

N_ROUNDS = 4  # the gap to the noise is wide in item space


@dataclass(frozen=True)
class SignedCounts:
    """Wins minus losses per item of some users, s (M, Q), sparse, by user and by item."""

    n_items: int
    by_user: tuple[NDArray[np.int64], NDArray[np.int32], Floats]  # begins, items, counts
    by_item: tuple[NDArray[np.int64], NDArray[np.int32], Floats]  # begins, users, counts

    @classmethod
    def of(cls, comparisons: Comparisons) -> "SignedCounts":
        """Count."""
        c = comparisons
        begins, items, counts = kernels.signed_item_counts(c.offsets, c.winners, c.losers, c.kernel_weights, c.n_items)
        order, item_begins = kernels.group(items, c.n_items)
        users = np.repeat(np.arange(c.n_users, dtype=np.int32), np.diff(begins))[order]
        return cls(c.n_items, (begins, items, counts), (item_begins, users, counts[order]))

    def to_users(self, items: Floats) -> Floats:
        """Multiply s by values of items (Q, c), (M, c)."""
        begins, index, counts = self.by_user
        return kernels.sum_gathered(begins[:-1], begins[1:], index, counts, items)

    def to_items(self, users: Floats) -> Floats:
        """Multiply s^T by values of users (M, c), (Q, c)."""
        begins, index, counts = self.by_item
        return kernels.sum_gathered(begins[:-1], begins[1:], index, counts, users)

    def seen(self) -> Floats:
        """How often each item was compared, but for wins that losses of the same user cancel, (Q,)."""
        begins, _, counts = self.by_item
        return np.add.reduceat(np.append(np.abs(counts), 0.0), begins[:-1]) * (np.diff(begins) > 0)


def leading_item_directions(
    product: Callable[[Floats], Floats],
    seen: Floats,
    n_directions: int,
    *,
    rng: np.random.Generator,
) -> Floats:
    """Return the leading directions of whitened C, scaled back to s, (Q, n_directions), by subspace iteration.

    product: of C with (Q, c).
    """
    n_items = len(seen)
    whiten = np.divide(1.0, np.sqrt(seen), out=np.zeros(n_items), where=seen > 0)[:, None]
    items = rng.standard_normal((n_items, n_directions))
    for _ in range(N_ROUNDS):
        scaled = whiten * np.linalg.qr(items)[0]
        items = whiten * product(scaled)
    return whiten * np.linalg.qr(items)[0]


def laplacian(
    n_items: int, lower: NDArray[np.int32], higher: NDArray[np.int32], weights: Floats
) -> Callable[[Floats], Floats]:
    """Return the product of ``sum_pairs weight (e_i - e_j) (e_i - e_j)^T`` with (Q, c), from pairs and their weights.

    What comparisons have in common with themselves, and is taken out of C, is of that form.
    """
    order, begins = kernels.group(np.concatenate([lower, higher]), n_items)
    others, links = np.concatenate([higher, lower])[order], np.tile(weights, 2)[order]
    degrees = np.add.reduceat(np.append(links, 0.0), begins[:-1]) * (np.diff(begins) > 0)

    def product(items: Floats) -> Floats:
        return degrees[:, None] * items - kernels.sum_gathered(begins[:-1], begins[1:], others, links, items)

    return product
