"""Least squares on the simplex, all rows at once."""

import numpy as np
from numba import prange

from plurank.kernels.compiling import kernel


@kernel(parallel=True)
def regress_on_simplex(gram, targets, tolerance, max_steps):
    """Minimise ``b @ gram @ b / 2 - targets[w] @ b`` over the simplex, for every row w.

    With gram = V V^T and targets = X V^T this is ``min |X[w] - b V|`` over b >= 0, sum b = 1. Each step moves weight
    from the worst coordinate in use to the best one, exactly as far as pays; it ends when their gradients differ by at
    most tolerance, which bounds how far the objective is from its minimum. gram (K, K), targets (W, K) -> (W, K).
    """
    n_vertices = gram.shape[0]
    out = np.empty(targets.shape)
    for w in prange(targets.shape[0]):
        b = out[w]
        b[:] = 1.0 / n_vertices
        gradient = np.empty(n_vertices)
        for k in range(n_vertices):
            gradient[k] = gram[k].sum() / n_vertices - targets[w, k]
        for _ in range(max_steps):
            best = 0
            worst = -1
            for k in range(n_vertices):
                if gradient[k] < gradient[best]:
                    best = k
                if b[k] > 0.0 and (worst < 0 or gradient[k] > gradient[worst]):
                    worst = k
            gap = gradient[worst] - gradient[best]
            if not gap > tolerance:
                break
            curvature = gram[best, best] + gram[worst, worst] - 2.0 * gram[best, worst]
            if curvature * b[worst] <= gap:
                step = b[worst]
                b[worst] = 0.0
            else:
                step = gap / curvature
                b[worst] -= step
            b[best] += step
            for k in range(n_vertices):
                gradient[k] += step * (gram[k, best] - gram[k, worst])
    return out
