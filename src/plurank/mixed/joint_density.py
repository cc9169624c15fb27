"""The joint posterior density of scores and of how weights depend on covariates, given comparisons.

Ours. Weights are integrated out by importance sampling: draws of every user's weights follow their prior when
coefficients change, since what is drawn are standardised logarithms of the Gamma variables that weights are made of. So
do scores: with a smaller concentration users differ more, and rankings that are nearer together predict the same. In
these coordinates the posterior is close to a Gaussian, along what the answers leave open, too.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import digamma, gammaln

from plurank import kernels
from plurank.choices import Mixing
from plurank.data.comparisons import Comparisons
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.drawn_weights import LEAST_COUNT, log_mixture, propose
from plurank.mixed.priors import ScorePrior
from plurank.regression.coefficients import Coefficients, draw_log_dirichlets, softmax
from plurank.regression.density import DrawnWeights, RegressionDensity
from plurank.regression.sampling import root_of
from plurank.types import Codes, Floats, Integers

FREEDOM = 2.0  # degrees beyond the number of rankings, of the Wishart prior of the precision of items' scores
LEAST_INFORMATION = 0.1  # as a share of that with noise
LEAST_TOTAL = 1e-300
WIDER = 0.5  # share of the prior's counts in draws that are spread out more than the prior


class Terms(NamedTuple):
    """What every user says: shares of draws (M, N), gradients in the scores of winners (n, K), in the logarithm of the
    concentration (M,) and in the logits of the mean weights (M, K); and the log-likelihood."""

    shares: Floats
    in_scores: Floats
    in_concentration: Floats
    in_logits: Floats
    value: float


class JointValue(NamedTuple):
    """Log density up to a constant, its gradient (D,), and shares of the draws (M, N)."""

    value: float
    gradient: Floats
    shares: Floats


@dataclass(frozen=True)
class ComparedUsers:
    """What users said, and their covariates (M, P)."""

    comparisons: Comparisons
    design: Floats
    mixing: Mixing

    def every_nth(self, most: int) -> "ComparedUsers":
        """Return these users or, of many, every n-th."""
        if len(self.design) <= most:
            return self
        rows = np.arange(len(self.design)) % -(-len(self.design) // most) == 0
        return ComparedUsers(self.comparisons.take_users(rows), self.design[rows], self.mixing)

    @cached_property
    def intercepted(self) -> Floats:
        """Covariates with a column of ones before them, (M, 1 + P)."""
        return np.hstack([np.ones((len(self.design), 1)), self.design])

    @cached_property
    def by_item(self) -> tuple[Integers, Codes, Floats]:
        """Where the comparisons of each item begin (Q + 1,), their positions (2 n,), and 1 where it won, else -1."""
        c = self.comparisons
        order, starts = kernels.group(np.concatenate([c.winners, c.losers]), c.n_items)
        return starts, (order % max(len(c), 1)).astype(np.int32), np.where(order < len(c), 1.0, -1.0)

    def sum_by_item(self, values: Floats) -> Floats:
        """Sum values (n, K) of comparisons over those that each item won, less those that it lost, (Q, K)."""
        starts, positions, signs = self.by_item
        return kernels.sum_gathered(starts[:-1], starts[1:], positions, signs, values)

    def sum_by_user_and_item(self, values: Floats) -> Floats:
        """Sum values (n, K) of comparisons as sum_by_item does, for every user, (M, Q, K)."""
        c, n_cells = self.comparisons, self.comparisons.n_users * self.comparisons.n_items
        cells = c.user_of_each() * c.n_items
        columns = [
            np.bincount(cells + c.winners, column, n_cells) - np.bincount(cells + c.losers, column, n_cells)
            for column in values.T
        ]
        return np.stack(columns, axis=1).reshape(c.n_users, c.n_items, -1)


def standardise(counts: Floats) -> Floats:
    """Return counts (M, K) of Gamma variables, location and spread of their logarithms (about digamma and the root of
    trigamma), and the derivatives of these two in the counts, (M, 5, K)."""
    inverse, one, two, rest = (1.0 / (counts + more) for more in range(4))
    location = -np.log(rest) - rest / 2.0 - rest**2 / 12.0 - inverse - one - two
    variance = inverse**2 + one**2 + two**2 + rest + rest**2 / 2.0 + rest**3 / 6.0
    spread = np.sqrt(variance)
    slope = -(inverse**3 + one**3 + two**3 + (rest**2 + rest**3 + rest**4 / 2.0) / 2.0) / spread
    return np.stack([counts, location, spread, variance, slope], axis=1)


@dataclass(frozen=True)
class WeightDraws:
    """Standardised draws eta (M, K, N), and minus the logarithms of the density that proposed them (M, N)."""

    eta: Floats
    offsets: Floats

    def keep_one(self, shares: Floats, fresh: "WeightDraws", rng: np.random.Generator) -> "WeightDraws":
        """Replace all draws of a user but one, which is chosen by the shares (conditional importance sampling)."""
        bounds = np.cumsum(shares, axis=1)
        n = shares.shape[1]
        kept = np.minimum((bounds < rng.random((len(shares), 1))).sum(axis=1), n - 1)
        chosen = kept[:, None] == np.arange(n)
        return WeightDraws(
            np.where(chosen[:, None, :], self.eta, fresh.eta), np.where(chosen, self.offsets, fresh.offsets)
        )


@dataclass(frozen=True)
class Proposals:
    """What draws of weights are proposed from: mixtures of Dirichlets (M, J, K), near the posterior by some scores and
    coefficients and near the prior (M, K) by these."""

    mixtures: Floats
    counts: Floats

    @classmethod
    def near(cls, users: ComparedUsers, scores: Floats, coefficients: Coefficients) -> "Proposals":
        """Propose by scores (Q, K) and coefficients."""
        counts = np.maximum(coefficients.counts_of(users.design), LEAST_COUNT)
        parts = propose(BradleyTerry(scores, users.mixing), users.comparisons, counts)
        return cls(np.stack([*parts, np.maximum(WIDER * counts, LEAST_COUNT)], axis=1), counts)

    def draw(self, n: int, rng: np.random.Generator) -> WeightDraws:
        """Draw n weights of every user; all parts of the mixtures are drawn from in turn."""
        logs = draw_log_dirichlets(self.mixtures[:, np.arange(n) % self.mixtures.shape[1]], rng)
        return self.standardise(logs, rng.standard_gamma(self.counts.sum(axis=1)[:, None], logs.shape[:2]))

    def standardise(self, logs: Floats, totals: Floats) -> WeightDraws:
        """Return draws with logarithms of weights (M, N, K), and with totals (M, N) of the Gamma variables."""
        totals = np.maximum(totals, LEAST_TOTAL)
        _, location, spread, _, _ = standardise(self.counts)[:, :, None, :].transpose(1, 0, 2, 3)
        eta = (logs + np.log(totals)[:, :, None] - location) / spread
        n_draws, n_parts = logs.shape[1], self.mixtures.shape[1]
        shares = np.bincount(np.arange(n_draws) % n_parts, minlength=n_parts) / n_draws
        density = log_mixture(self.mixtures, shares, logs) + np.log(spread).sum(axis=2)
        counts = self.counts.sum(axis=1)[:, None]
        density += counts * np.log(totals) - totals - gammaln(counts)
        return WeightDraws(np.ascontiguousarray(eta.transpose(0, 2, 1)), -density)


@dataclass(frozen=True)
class JointDensity:
    """Log posterior density of vectors (D,): scores (Q K,) in coordinates that depend on the coefficients, and those as
    ``RegressionDensity`` has them. scale: standard deviation of slopes. score_prior: of the scores; None for a Gaussian
    whose precision is unknown (Wishart) and integrated out."""

    users: ComparedUsers
    draws: WeightDraws
    scale: float
    score_prior: ScorePrior | None = None

    @cached_property
    def _regression(self) -> RegressionDensity:
        """The prior of coefficients: a regression on nobody."""
        k = self.draws.eta.shape[1]
        return RegressionDensity(
            [DrawnWeights(self.users.design[:0], np.zeros((0, 1, k)), np.zeros((0, 1)))], self.scale
        )

    def to_vector(self, scores: Floats, coefficients: Coefficients) -> Floats:
        """Return scores (Q, K) and coefficients as a vector."""
        own = np.linalg.solve(_spread(coefficients).T, scores.T).T
        return np.concatenate([own.ravel(), self._regression.to_vector(coefficients)])

    def from_vector(self, vector: Floats) -> tuple[Floats, Coefficients]:
        """Return the scores (Q, K) and coefficients that a vector stands for."""
        k = self.draws.eta.shape[1]
        n = self.users.comparisons.n_items * k
        coefficients = self._regression.from_vector(vector[n:])
        return vector[:n].reshape(-1, k) @ _spread(coefficients), coefficients

    @cached_property
    def _known(self) -> dict[bytes, JointValue]:
        """What was evaluated."""
        return {}

    def evaluate(self, vector: Floats) -> JointValue:
        """Return the log density, its gradient, and shares of the draws."""
        key = vector.tobytes()
        if key not in self._known:
            self._known[key] = self._evaluate(vector)
        return self._known[key]

    def _evaluate(self, vector: Floats) -> JointValue:
        scores, coefficients = self.from_vector(vector)
        n, k = scores.shape
        terms, prior = self._terms(scores, coefficients), self._regression.evaluate(vector[n * k :])
        precision, log_prior = self._score_precision(scores)
        in_scores = self.users.sum_by_item(terms.in_scores) - scores @ precision
        table = self.users.intercepted.T @ (terms.in_logits @ self._regression.contrasts.T)
        own = prior.gradient + np.concatenate([[terms.in_concentration.sum()], table.ravel()])
        grown = self._through_spread(vector, coefficients, in_scores[None])[0]
        own[:k] += grown
        own[0] += n * (k - 1) * _growth(coefficients)
        value = terms.value + prior.value + log_prior + 0.5 * n * (k - 1) * np.log(coefficients.concentration + 1.0)
        return JointValue(value, np.concatenate([(in_scores @ _spread(coefficients).T).ravel(), own]), terms.shares)

    def precision(self, vector: Floats, n_each: float = 1.0) -> Floats:
        """Return about the precision (D, D) of the posterior by these draws, where every user stands for so many:
        products of users' gradients, and what the priors say."""
        own = self._user_gradients(vector)
        return n_each * (own.T @ own) + self._prior_precision(vector)

    def precision_without_noise(self, other: "JointDensity", vector: Floats, n_each: float = 1.0) -> Floats:
        """Return about the precision (D, D) of the posterior, given independent draws, too.

        Products of gradients by the ones and by the others have no noise of the draws on average. By how much they are
        smaller than products of gradients by the same draws is limited, so that the precision is positive.
        """
        one, another, prior = *(each._user_gradients(vector) for each in (self, other)), self._prior_precision(vector)
        root = root_of(0.5 * n_each * (one.T @ one + another.T @ another) + prior)
        across = one.T @ another
        across = 0.5 * n_each * (across + across.T) + prior
        white = solve_triangular(root, solve_triangular(root, across, lower=True).T, lower=True)
        values, directions = np.linalg.eigh((white + white.T) / 2.0)
        turned = root @ directions
        return np.asarray((turned * np.maximum(values, LEAST_INFORMATION)) @ turned.T)

    def _prior_precision(self, vector: Floats) -> Floats:
        """Precision (D, D) of the priors of scores and coefficients."""
        scores, coefficients = self.from_vector(vector)
        n, k = scores.shape
        spread, found = _spread(coefficients), np.zeros((len(vector), len(vector)))
        of_scores = spread @ self._score_precision(scores)[0] @ spread.T
        found[: n * k, : n * k] = np.kron(np.eye(n), of_scores)
        found[n * k :, n * k :] = -self._regression.evaluate(vector[n * k :], with_hessian=True).hessian
        return found

    def _user_gradients(self, vector: Floats) -> Floats:
        """Gradients (M, D) of what each user says."""
        scores, coefficients = self.from_vector(vector)
        terms = self._terms(scores, coefficients)
        in_scores = self.users.sum_by_user_and_item(terms.in_scores)
        logits = terms.in_logits @ self._regression.contrasts.T
        table = (self.users.intercepted[:, :, None] * logits[:, None, :]).reshape(len(logits), -1)
        own = np.hstack([terms.in_concentration[:, None], table])
        own[:, : scores.shape[1]] += self._through_spread(vector, coefficients, in_scores)
        return np.hstack([(in_scores @ _spread(coefficients).T).reshape(len(own), -1), own])

    def _terms(self, scores: Floats, coefficients: Coefficients) -> Terms:
        c, mean = self.users.comparisons, coefficients.mean_weights(self.users.design)
        counts = np.maximum(coefficients.concentration * mean, LEAST_COUNT)
        priors = standardise(counts)
        values, shares, in_counts, in_scores = kernels.weigh_draws(
            c.offsets, c.winners, c.losers, c.kernel_weights, scores, self.users.mixing, self.draws.eta,
            self.draws.offsets, priors,
        )  # fmt: skip
        spreads, slopes = priors[:, 2], priors[:, 4]
        residual = counts * (in_counts - digamma(counts) + slopes / spreads)
        centre = residual.sum(axis=1)
        value = float(values.sum()) + float((np.log(spreads) - gammaln(counts)).sum())
        return Terms(shares, in_scores, centre, residual - mean * centre[:, None], value)

    def _score_precision(self, scores: Floats) -> tuple[Floats, float]:
        """Return the precision (K, K) of the prior of items' scores, and its log density."""
        n, k = scores.shape
        if self.score_prior is not None:
            return -self.score_prior.evaluate(np.eye(k))[1], self.score_prior.evaluate(scores)[0]
        products, freedom = np.eye(k) + scores.T @ scores, k + FREEDOM + n
        return freedom * np.linalg.inv(products), -0.5 * freedom * float(np.linalg.slogdet(products)[1])

    def _through_spread(self, vector: Floats, coefficients: Coefficients, in_scores: Floats) -> Floats:
        """Gradients (m, K) in the logarithm of the concentration and the intercepts that come through the scores, given
        gradients (m, Q, K) in these."""
        n, k = in_scores.shape[1:]
        own, mean = vector[: n * k].reshape(n, k), coefficients.counts / coefficients.concentration
        own = own - own.mean(axis=1, keepdims=True)
        wide = np.sqrt(coefficients.concentration + 1.0)
        apart = own - (own @ mean)[:, None]
        in_concentration = wide * _growth(coefficients) * np.tensordot(in_scores, apart, 2)
        in_mean = -wide * in_scores.sum(axis=2) @ own
        in_logits = mean * (in_mean - (in_mean @ mean)[:, None])
        return np.hstack([in_concentration[:, None], in_logits @ self._regression.contrasts.T])


def _growth(coefficients: Coefficients) -> float:
    """Derivative of the logarithm of ``sqrt(alpha + 1)`` in that of alpha."""
    return 0.5 * coefficients.concentration / (coefficients.concentration + 1.0)


def _spread(coefficients: Coefficients) -> Floats:
    """Return the matrix (K, K) that makes scores of their coordinates.

    What rankings have of their own, less its mean by the mean weights, is ``sqrt(alpha + 1)`` times as far apart: so
    much less do users differ, and predictions depend little on the concentration.
    """
    mean = softmax(coefficients.table[0])
    k = len(mean)
    shared = np.full((k, k), 1.0 / k)
    apart = np.eye(k) - shared
    return np.asarray(shared + np.sqrt(coefficients.concentration + 1.0) * (apart - np.outer(apart @ mean, np.ones(k))))
