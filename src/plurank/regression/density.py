"""The posterior density of coefficients, given what is known of every user's weights, with gradient and Hessian.

Ours. What is known of a user's weights is a set of draws, each with a share (importance sampling): one draw where the
weights are given, as in a Gibbs sweep, many where the weights are integrated out. Sums over users are sums over fixed
blocks, added as a tree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from scipy.special import digamma, gammaln, polygamma

from plurank.engine.blocks import sum_tree
from plurank.regression.coefficients import Coefficients, contrasts, softmax
from plurank.types import Floats

BLOCK = 2048  # users whose sums are added at once
CONCENTRATION_SHARE, CONCENTRATION_ERROR = 2 / 3, 1.0  # median of the concentration over K, sd of its logarithm


class DrawnWeights(NamedTuple):
    """Covariates (m, P) of users, and draws of their weights: logarithms (m, N, K), and logarithms of how much each
    draw counts before the prior of the weights does, (m, N)."""

    design: Floats
    logs: Floats
    offsets: Floats

    @classmethod
    def known(cls, design: Floats, log_weights: Floats) -> "DrawnWeights":
        """Take weights as given, by their logarithms (m, K)."""
        return cls(design, log_weights[:, None, :], np.zeros((len(design), 1)))

    def take(self, rows: Floats | slice) -> "DrawnWeights":
        """Return some of the users."""
        return DrawnWeights(self.design[rows], self.logs[rows], self.offsets[rows])

    def blocks(self) -> "list[DrawnWeights]":
        """Cut users into fixed blocks."""
        return [self.take(slice(begin, begin + BLOCK)) for begin in range(0, len(self.design), BLOCK)]


class DensitySums(NamedTuple):
    """Log density, its gradient (D,) and Hessian (D, D); the latter is empty where it was not asked for."""

    value: float
    gradient: Floats
    hessian: Floats

    def merge(self, other: "DensitySums") -> "DensitySums":
        """Add those of other users."""
        return DensitySums(self.value + other.value, self.gradient + other.gradient, self.hessian + other.hessian)


@dataclass(frozen=True)
class RegressionDensity:
    """Log posterior density of coefficients as vectors (D,): the logarithm of the concentration, then the table in
    contrasts between rankings.

    parts: the users. scale: standard deviation of slopes, in log odds per unit of a covariate. concentration: median,
    and standard deviation of the logarithm, of a log-normal prior; by default the usual one. The mean weights where
    all covariates are 0 are uniform on the simplex.
    """

    parts: Sequence[DrawnWeights]
    scale: float
    concentration: tuple[float, float] | None = None

    @property
    def n_rankings(self) -> int:
        """Number of rankings."""
        return int(self.parts[0].logs.shape[2])

    @property
    def n_covariates(self) -> int:
        """Number of covariates."""
        return int(self.parts[0].design.shape[1])

    @cached_property
    def contrasts(self) -> Floats:
        """Contrasts between rankings, (K - 1, K)."""
        return contrasts(self.n_rankings)

    def to_vector(self, coefficients: Coefficients) -> Floats:
        """Return coefficients as a vector."""
        own = coefficients.table @ self.contrasts.T
        return np.concatenate([[np.log(coefficients.concentration)], own.ravel()])

    def from_vector(self, vector: Floats) -> Coefficients:
        """Return the coefficients that a vector stands for."""
        own = vector[1:].reshape(1 + self.n_covariates, self.n_rankings - 1)
        return Coefficients(float(np.exp(vector[0])), own @ self.contrasts)

    def evaluate(self, vector: Floats, *, with_hessian: bool = False) -> DensitySums:
        """Return the log density up to a constant, and its derivatives."""
        task = partial(sum_users, self.from_vector(vector), self.contrasts, with_hessian)
        return sum_tree((task(part) for part in self.parts), DensitySums.merge).merge(self._prior(vector, with_hessian))

    def _prior(self, vector: Floats, with_hessian: bool) -> DensitySums:
        """Log density of the prior, and its derivatives."""
        k, precision = self.n_rankings, np.zeros(len(vector))
        median, error = self.concentration or (CONCENTRATION_SHARE * k, CONCENTRATION_ERROR)
        precision[0], precision[k:] = error**-2, self.scale**-2
        centre = np.zeros(len(vector))
        centre[0] = np.log(median)
        apart = vector - centre
        mean = softmax(vector[1:k] @ self.contrasts)
        gradient = -precision * apart
        gradient[1:k] += self.contrasts @ (1.0 - k * mean)
        value = -0.5 * float(precision @ apart**2) + float(np.log(mean).sum())
        if not with_hessian:
            return DensitySums(value, gradient, np.zeros(0))
        hessian = -np.diag(precision)
        hessian[1:k, 1:k] -= k * self.contrasts @ (np.diag(mean) - np.outer(mean, mean)) @ self.contrasts.T
        return DensitySums(value, gradient, hessian)

    def log_likelihoods(self, coefficients: Coefficients) -> Floats:
        """Return the log-likelihood of every user's data up to what does not depend on coefficients, (M,)."""
        return np.concatenate([_user_terms(coefficients, part)[0] for part in self.parts])


def _user_terms(coefficients: Coefficients, users: DrawnWeights) -> tuple[Floats, Floats, Floats, Floats]:
    """Return log-likelihoods (m,), mean weights (m, K), shares of the draws (m, N), and mean log weights (m, K)."""
    mean = coefficients.mean_weights(users.design)
    counts = coefficients.concentration * mean
    logs = np.matmul(users.logs, counts[:, :, None])[:, :, 0] + users.offsets
    top = logs.max(axis=1, keepdims=True)
    shares = np.exp(logs - top)
    totals = shares.sum(axis=1, keepdims=True)
    shares /= totals
    values = gammaln(coefficients.concentration) - gammaln(counts).sum(axis=1) + (top + np.log(totals))[:, 0]
    return values, mean, shares, np.matmul(shares[:, None, :], users.logs)[:, 0, :]


def sum_users(coefficients: Coefficients, contrast: Floats, with_hessian: bool, users: DrawnWeights) -> DensitySums:
    """Sum the log density over users, with its derivatives.

    With counts ``a = alpha p`` and ``g_k = E log theta_k - digamma(a_k)`` the derivative in the logits is
    ``a_k (g_k - p . g)``, and that in log alpha is ``alpha digamma(alpha) + a . g``.
    """
    alpha = coefficients.concentration
    values, mean, shares, expected = _user_terms(coefficients, users)
    counts = alpha * mean
    residual = expected - digamma(counts)
    centre = (mean * residual).sum(axis=1, keepdims=True)
    logits = counts * (residual - centre)
    design = np.hstack([np.ones((len(mean), 1)), users.design])
    by_table = design.T @ (logits @ contrast.T)
    own = alpha * digamma(alpha) + alpha * centre[:, 0]
    gradient = np.concatenate([[own.sum()], by_table.ravel()])
    if not with_hessian:
        return DensitySums(float(values.sum()), gradient, np.zeros(0))
    inner = _logit_hessians(alpha, mean, residual, _covariances(users.logs, shares, expected))
    return DensitySums(float(values.sum()), gradient, _sum_hessian(inner, design, contrast))


def _covariances(logs: Floats, shares: Floats, expected: Floats) -> Floats:
    """Covariances (m, K, K) of log weights over draws (m, N, K), given their shares (m, N) and means (m, K)."""
    if shares.shape[1] == 1:
        return np.zeros((*expected.shape, expected.shape[1]))
    apart = logs - expected[:, None, :]
    return np.matmul((apart * shares[:, :, None]).transpose(0, 2, 1), apart)


def _logit_hessians(alpha: float, mean: Floats, residual: Floats, covariance: Floats) -> Floats:
    """Return Hessians (m, 1 + K, 1 + K) in log alpha and the logits of every user."""
    m, k = mean.shape
    counts = alpha * mean
    jacobian = np.empty((m, k, 1 + k))
    jacobian[:, :, 0] = counts
    jacobian[:, :, 1:] = -counts[:, :, None] * mean[:, None, :]
    np.einsum("mkk->mk", jacobian[:, :, 1:])[:] += counts
    curvature = covariance.copy()
    np.einsum("mkk->mk", curvature)[:] -= polygamma(1, counts)
    found = np.matmul(jacobian.transpose(0, 2, 1), np.matmul(curvature, jacobian))
    centre = (mean * residual).sum(axis=1, keepdims=True)
    slopes = counts * (residual - centre)
    found[:, 0, 0] += alpha * centre[:, 0] + alpha * digamma(alpha) + alpha**2 * polygamma(1, alpha)
    found[:, 0, 1:] += slopes
    found[:, 1:, 0] += slopes
    cross = mean[:, :, None] * slopes[:, None, :]
    found[:, 1:, 1:] -= cross + cross.transpose(0, 2, 1)
    np.einsum("mkk->mk", found[:, 1:, 1:])[:] += slopes
    return found


def _sum_hessian(inner: Floats, design: Floats, contrast: Floats) -> Floats:
    """Sum Hessians (m, 1 + K, 1 + K) over users with covariates (m, 1 + P): (D, D)."""
    n, k = design.shape[1], len(contrast)
    logits = np.matmul(np.matmul(contrast, inner[:, 1:, 1:]), contrast.T)
    blocks = np.empty((n, k, n, k))
    for i in range(k):
        for j in range(i + 1):
            blocks[:, i, :, j] = design.T @ (design * logits[:, i, j, None])
            blocks[:, j, :, i] = blocks[:, i, :, j]
    found = np.empty((1 + n * k, 1 + n * k))
    found[0, 0] = inner[:, 0, 0].sum()
    found[0, 1:] = found[1:, 0] = (design.T @ (inner[:, 0, 1:] @ contrast.T)).ravel()
    found[1:, 1:] = blocks.reshape(n * k, n * k)
    return found
