"""Newton's method on the simplex: the inner step of every user's weights."""

import numpy as np

from plurank.kernels.compiling import kernel, put

FAST = {"reassoc", "contract"}
CERTAIN = 1e6  # the evidence for a weight that cannot vary, because it is the only one


@kernel(fastmath=FAST)
def factorise(bend):
    """Replace the lower triangle of a positive definite matrix by its Cholesky factor, its diagonal by the inverses."""
    for k in range(bend.shape[0]):
        for m in range(k + 1):
            rest = bend[k, m]
            for c in range(m):
                rest -= bend[k, c] * bend[m, c]
            if k == m:
                bend[k, k] = 1.0 / np.sqrt(max(rest, 1e-300))
            else:
                bend[k, m] = rest * bend[m, m]


@kernel(fastmath=FAST)
def solve_factorised(factor, right):
    """Solve ``L L^T x = right`` in place."""
    n = right.size
    for k in range(n):
        rest = right[k]
        for c in range(k):
            rest -= factor[k, c] * right[c]
        right[k] = rest * factor[k, k]
    for k in range(n - 1, -1, -1):
        rest = right[k]
        for c in range(k + 1, n):
            rest -= factor[c, k] * right[c]
        right[k] = rest * factor[k, k]


@kernel(fastmath=FAST)
def invert_factorised(factor, inverse):
    """Replace L by its inverse, and fill inverse (K, K) with ``(L L^T)^-1``."""
    n = factor.shape[0]
    for k in range(n):
        for m in range(k):
            total = 0.0
            for c in range(m, k):
                total += factor[k, c] * factor[c, m]
            factor[k, m] = -factor[k, k] * total
    for k in range(n):
        for m in range(k + 1):
            total = 0.0
            for c in range(k, n):
                total += factor[c, k] * factor[c, m]
            inverse[k, m] = inverse[m, k] = total


@kernel(fastmath=FAST)
def newton_direction(theta, slope, bend, ones, step):
    """Find the step that maximises ``slope . d - d^T bend d / 2`` among those that keep the sum of theta.

    ``step = H^-1 slope - nu H^-1 1``. Gives the length, at most 1, that leaves a tenth of every weight in place.
    bend (K, K) is overwritten; ones and step (K,) are filled.
    """
    factorise(bend)
    ones[:] = 1.0
    put(slope, step)
    solve_factorised(bend, ones)
    solve_factorised(bend, step)
    nu = step.sum() / ones.sum()
    longest = 1.0
    for k in range(theta.size):
        step[k] -= nu * ones[k]
        if step[k] < 0.0:
            longest = min(longest, -0.9 * theta[k] / step[k])
    return longest


@kernel(fastmath=FAST)
def integrate_weights(theta, bend, covariance, across):
    """Integrate a user's weights out by Laplace's method; gives the logarithm of their volume, up to a constant.

    In the softmax basis the volume is ``det(J^T H J)^-1/2`` over directions that keep the sum, with J = diag(theta) -
    theta theta^T: ``-(log det H + log 1^T H^-1 1) / 2 - sum_k log theta_k``. covariance (K, K) is filled with
    ``H^-1 - H^-1 1 1^T H^-1 / (1^T H^-1 1)``; bend (K, K), H, is overwritten,
    and across (K,) filled.
    """
    factorise(bend)
    volume = 0.0
    for k in range(theta.size):
        volume += np.log(bend[k, k] / theta[k])
    invert_factorised(bend, covariance)
    total = 0.0
    for k in range(theta.size):
        across[k] = covariance[k].sum()
        total += across[k]
    for k in range(theta.size):
        for m in range(theta.size):
            covariance[k, m] -= across[k] * across[m] / total
    return volume - 0.5 * np.log(total)


@kernel(fastmath=FAST)
def shift_of_mean(theta, prior, covariance, slope, shift):
    """Fill shift (K,): how far theta's mean lies from its most probable value, to first order.

    It is the covariance times the slope of the volume's logarithm; slope (K,), the comparisons' part, is completed.
    """
    for k in range(theta.size):
        slope[k] += (prior[k] * covariance[k, k] / (theta[k] * theta[k]) - 1.0) / theta[k]
    for k in range(theta.size):
        shift[k] = 0.0
        for m in range(theta.size):
            shift[k] += covariance[k, m] * slope[m]


@kernel(fastmath=FAST)
def mean_weights(theta, shift, mean):
    """Fill mean (K,) with theta's posterior mean: shifted, in proportion, so that no weight leaves the simplex."""
    total = 0.0
    for k in range(theta.size):
        mean[k] = theta[k] * np.exp(min(max(shift[k] / theta[k], -1.0), 1.0))
        total += mean[k]
    for k in range(theta.size):
        mean[k] /= total


@kernel(fastmath=FAST)
def evidence_of(theta, covariance):
    """Give n such that Dirichlet(n theta) has the total variance of the covariance (K, K)."""
    if theta.size == 1:
        return CERTAIN
    variance = 0.0
    spread = 1.0
    for k in range(theta.size):
        variance += covariance[k, k]
        spread -= theta[k] * theta[k]
    return max(spread / max(variance, 1e-300) - 1.0, 0.0)
