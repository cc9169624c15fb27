"""Second-order moments of wins minus losses per item: Q dimensions instead of Q (Q - 1).

Ours (the paper works on ordered pairs only). ``C = sum_m (s_m s_m^T - self_m) / (n_m - 1)`` with s_m (Q,) the wins
minus losses of user m, whitened by how often each item was compared; an operator again, linear in the comparisons.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from plurank import kernels

Floats = NDArray[np.float64]
N_ROUNDS = 4  # the gap to the noise is wide in item space

SignedCounts = tuple[NDArray[np.int64], NDArray[np.int32], Floats, NDArray[np.int32], NDArray[np.int32], Floats]


def leading_user_directions(
    signed: SignedCounts, user_factors: Floats, n_items: int, n_directions: int, *, rng: np.random.Generator
) -> Floats:
    """Give the coordinates of all users on the leading directions of C, (M, n_directions), by subspace iteration.

    signed: s as a sparse matrix by users (indptr, indices, data), and the pairs (lower, higher) with the weight of the
    comparisons to take out of C, each of which is ``(e_i - e_j) (e_i - e_j)^T``.
    """
    indptr, indices, data, lower, higher, own = signed
    order, begins = kernels.group(indices, n_items)
    users = np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))[order]
    by_item = data[order]
    links = coo_array((own, (lower, higher)), shape=(n_items, n_items)).tocsr()
    links = links + links.T
    degrees: Floats = np.asarray(links.sum(axis=1)).ravel()
    seen = np.add.reduceat(np.append(np.abs(by_item), 0.0), begins[:-1]) * (np.diff(begins) > 0)
    whiten = np.divide(1.0, np.sqrt(seen), out=np.zeros(n_items), where=seen > 0)[:, None]

    def of_users(items: Floats) -> Floats:
        return kernels.sum_gathered(indptr[:-1], indptr[1:], indices, data, whiten * items)

    items = rng.standard_normal((n_items, n_directions))
    for _ in range(N_ROUNDS):
        basis, _ = np.linalg.qr(items)
        scaled = of_users(basis) * user_factors[:, None]
        items = kernels.sum_gathered(begins[:-1], begins[1:], users, by_item, scaled)
        items = whiten * (items - (degrees[:, None] * (whiten * basis) - links @ (whiten * basis)))
    basis, _ = np.linalg.qr(items)
    return of_users(basis)
