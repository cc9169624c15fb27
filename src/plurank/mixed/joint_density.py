"""The joint posterior density of scores and of how weights depend on covariates, given comparisons.

Ours. Weights are integrated out by importance sampling: draws of every user's weights follow their prior when
coefficients change, since what is drawn are standardised logits: their locations and spreads are those that a
Dirichlet has. No draw counts very much, as some are proposed from a distribution with heavier tails in all directions.
Scores follow, too: with a smaller concentration users differ more, and rankings that are nearer together predict the
same. In these coordinates the posterior is close to a Gaussian, along what the answers leave open, too.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import digamma, gammaln

from plurank import kernels
from plurank.choices import Mixing
from plurank.data.coded import renumber
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import look_up
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.drawn_weights import LEAST_COUNT, log_mixture, propose
from plurank.mixed.priors import ScorePrior
from plurank.regression.coefficients import Coefficients, draw_log_dirichlets, softmax
from plurank.regression.density import DrawnWeights, RegressionDensity
from plurank.regression.sampling import root_of
from plurank.types import Codes, Floats, Integers, Masks

FREEDOM = 2.0  # degrees beyond the number of rankings, of the Wishart prior of the precision of items' scores
LEAST_INFORMATION = 0.1  # as a share of that with noise
USERS_AT_ONCE = 2000  # whose gradients are held
WIDER = 0.5  # share of the prior's counts, and the largest count, in draws with heavier tails than the prior


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

    def with_most(self, most: int) -> "ComparedUsers":
        """Return every n-th of these users, so that they have about as many comparisons at most."""
        return self.every_nth(max(self.comparisons.n_users * most // max(len(self.comparisons), 1), 1))

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

    def sum_by_user(self, values: Floats) -> Floats:
        """Sum values (n, c) of comparisons for every user, (M, c)."""
        offsets, n = self.comparisons.offsets, len(self.comparisons)
        index = np.arange(n, dtype=np.int32)
        return kernels.sum_gathered(offsets[:-1], offsets[1:], index, np.zeros(0), np.ascontiguousarray(values))

    def sum_by_user_and_item(self, values: Floats, users: slice) -> Floats:
        """Sum values (n, K) of comparisons as sum_by_item does, for each of some users, (m, Q K)."""
        c, n_users = self.comparisons, users.stop - users.start
        rows = slice(int(c.offsets[users.start]), int(c.offsets[users.stop]))
        cells = (c.user_of_each()[rows] - users.start) * c.n_items
        winners, losers, n_cells = cells + c.winners[rows], cells + c.losers[rows], n_users * c.n_items
        columns = [
            np.bincount(winners, column, n_cells) - np.bincount(losers, column, n_cells) for column in values[rows].T
        ]
        return np.stack(columns, axis=1).reshape(n_users, -1)

    def among_most_compared(self, most: int) -> tuple["ComparedUsers", Masks]:
        """Return comparisons among so many items, those compared most, with the users who have any; and which items."""
        c = self.comparisons
        counts = np.bincount(c.winners, minlength=c.n_items) + np.bincount(c.losers, minlength=c.n_items)
        kept = np.zeros(c.n_items, dtype=bool)
        kept[np.argsort(-counts, kind="stable")[:most]] = True
        part, place = c.select(kept[c.winners] & kept[c.losers]), renumber(kept)
        part = replace(part, winners=place[part.winners], losers=place[part.losers], items=c.items[kept], texts=None)
        return ComparedUsers(part, self.design[look_up(part.users, c.users, "user")], self.mixing), kept

    def leads(self, table: Floats) -> Floats:
        """By how much a table (Q, c) has more for the winner than for the loser of each comparison, (n, c)."""
        return np.asarray(table[self.comparisons.winners] - table[self.comparisons.losers])


def standardise(counts: Floats) -> Floats:
    """Return counts (M, K) of Dirichlets; location and spread of the logarithms of the Gamma variables that weights are
    made of (about digamma and the root of trigamma); and the derivatives of these two in the counts, (M, 5, K)."""
    inverse, one, two, rest = (1.0 / (counts + more) for more in range(4))
    location = -np.log(rest) - rest / 2.0 - rest**2 / 12.0 - inverse - one - two
    variance = inverse**2 + one**2 + two**2 + rest + rest**2 / 2.0 + rest**3 / 6.0
    spread = np.sqrt(variance)
    slope = -(inverse**3 + one**3 + two**3 + (rest**2 + rest**3 + rest**4 / 2.0) / 2.0) / spread
    return np.stack([counts, location, spread, variance, slope], axis=1)


def _log_volume(spread: Floats) -> Floats:
    """By how much spreads (M, K) enlarge volumes of standardised logits, which sum to 0: logarithms (M,)."""
    return np.asarray(np.log(spread).sum(axis=1) + np.log((1.0 / spread).mean(axis=1)))


@dataclass(frozen=True)
class WeightDraws:
    """Standardised draws eta (M, K, N), which sum to 0 over the rankings, and minus the logarithms of the density that
    proposed them (M, N)."""

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
    coefficients and near the prior (M, K) by these. One part has heavier tails than posteriors by any other."""

    mixtures: Floats
    counts: Floats

    @classmethod
    def near(cls, users: ComparedUsers, scores: Floats, coefficients: Coefficients) -> "Proposals":
        """Propose by scores (Q, K) and coefficients."""
        counts = np.maximum(coefficients.counts_of(users.design), LEAST_COUNT)
        parts = propose(BradleyTerry(scores, users.mixing), users.comparisons, counts)
        return cls(np.stack([*parts, np.clip(WIDER * counts, LEAST_COUNT, WIDER)], axis=1), counts)

    def draw(self, n: int, rng: np.random.Generator) -> WeightDraws:
        """Draw n weights of every user; all parts of the mixtures are drawn from in turn."""
        logs = draw_log_dirichlets(self.mixtures[:, np.arange(n) % self.mixtures.shape[1]], rng)
        return self.standardise(logs)

    def standardise(self, logs: Floats) -> WeightDraws:
        """Return draws with logarithms of weights (M, N, K)."""
        _, location, spread, _, _ = standardise(self.counts).transpose(1, 0, 2)
        inverse = 1.0 / spread[:, :, None]
        eta = (logs.transpose(0, 2, 1) - location[:, :, None]) * inverse
        eta -= eta.sum(axis=1, keepdims=True) / inverse.sum(axis=1, keepdims=True) * inverse  # logits are up to a sum
        n_draws, n_parts = logs.shape[1], self.mixtures.shape[1]
        shares = np.bincount(np.arange(n_draws) % n_parts, minlength=n_parts) / n_draws
        density = log_mixture(self.mixtures, shares, logs) + _log_volume(spread)[:, None]
        return WeightDraws(np.ascontiguousarray(eta), -density)


@dataclass(frozen=True)
class JointDensity:
    """Log posterior density of vectors (D,): scores, and coefficients as ``RegressionDensity`` has them.

    Scores (Q, K) are in coordinates that depend on the coefficients. scale: standard deviation of slopes. score_prior:
    of the scores; None for a Gaussian whose precision is unknown (Wishart) and integrated out.
    """

    users: ComparedUsers
    draws: WeightDraws
    scale: float
    score_prior: ScorePrior | None = None

    @cached_property
    def _regression(self) -> RegressionDensity:
        """The prior of coefficients: a regression on nobody."""
        nobody = DrawnWeights(self.users.design[:0], np.zeros((0, 1, self._n_rankings)), np.zeros((0, 1)))
        return RegressionDensity([nobody], self.scale)

    @property
    def _n_rankings(self) -> int:
        return self.draws.eta.shape[1]

    @property
    def _n_scores(self) -> int:
        """How many numbers of a vector stand for scores."""
        return self._n_rankings * self.users.comparisons.n_items

    def to_vector(self, scores: Floats, coefficients: Coefficients) -> Floats:
        """Return scores (Q, K) and coefficients as a vector."""
        own = np.linalg.solve(_spread(coefficients).T, scores.T).T
        return np.concatenate([own.ravel(), self._regression.to_vector(coefficients)])

    def from_vector(self, vector: Floats) -> tuple[Floats, Coefficients]:
        """Return the scores (Q, K) and coefficients that a vector stands for."""
        coefficients = self._regression.from_vector(vector[self._n_scores :])
        return self._coordinates(vector) @ _spread(coefficients), coefficients

    def _coordinates(self, vector: Floats) -> Floats:
        """Return the coordinates (Q, K) of the scores."""
        return vector[: self._n_scores].reshape(-1, self._n_rankings)

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
        terms, prior = self._terms(scores, coefficients), self._regression.evaluate(vector[self._n_scores :])
        precision, log_prior = self._score_precision(scores)
        in_scores = self.users.sum_by_item(terms.in_scores) - scores @ precision
        logits = self.users.intercepted.T @ (terms.in_logits @ self._regression.contrasts.T)
        own = prior.gradient + np.concatenate([[terms.in_concentration.sum()], logits.ravel()])
        apart, coordinates = self._spread_parts(vector, coefficients)
        through = (in_scores * apart).sum(), in_scores.sum(axis=1) @ coordinates
        own[:k] += self._through_spread(coefficients, *map(np.atleast_1d, through))[0]
        own[0] += n * (k - 1) * _growth(coefficients)
        value = terms.value + prior.value + log_prior + 0.5 * n * (k - 1) * np.log(coefficients.concentration + 1.0)
        in_own = in_scores @ _spread(coefficients).T
        return JointValue(value, np.concatenate([in_own.ravel(), own]), terms.shares)

    def precision(self, vector: Floats, n_each: float = 1.0) -> Floats:
        """Return about the precision (D, D) of the posterior by these draws, where every user stands for so many:
        products of users' gradients, and what the priors say."""
        products = sum((own.T @ own for own in self._user_gradients(vector)), np.zeros((len(vector), len(vector))))
        return n_each * products + self._prior_precision(vector)

    def split_precision(self, other: "JointDensity", vector: Floats, n_each: float = 1.0) -> tuple[Floats, Floats]:
        """Return about the precision (D, D) of the posterior, given independent draws, too; and the covariance (D, D)
        of the noise that so many draws leave in the gradient.

        Products of gradients by the ones and by the others have no noise of the draws on average, others do. Of the
        latter a part is left at least, so that the precision is positive.
        """
        one, another = (np.vstack(list(each._user_gradients(vector))) for each in (self, other))
        prior = self._prior_precision(vector)
        noisy = 0.5 * n_each * (one.T @ one + another.T @ another) + prior
        root, across = root_of(noisy), one.T @ another
        across = 0.5 * n_each * (across + across.T) + prior
        white = solve_triangular(root, solve_triangular(root, across, lower=True).T, lower=True)
        values, directions = np.linalg.eigh((white + white.T) / 2.0)
        turned, kept = root @ directions, np.clip(values, LEAST_INFORMATION, 1.0)
        return (turned * kept) @ turned.T, (turned * (1.0 - kept)) @ turned.T

    def _prior_precision(self, vector: Floats) -> Floats:
        """Precision (D, D) of the priors of scores and coefficients."""
        scores, coefficients = self.from_vector(vector)
        n, spread, found = self._n_scores, _spread(coefficients), np.zeros((len(vector), len(vector)))
        of_scores = spread @ self._score_precision(scores)[0] @ spread.T
        found[:n, :n] = np.kron(np.eye(len(scores)), of_scores)
        found[n:, n:] = -self._regression.evaluate(vector[n:], with_hessian=True).hessian
        return found

    def _user_gradients(self, vector: Floats) -> Iterator[Floats]:
        """Yield gradients of what each user says, (m, D) of some users at a time."""
        scores, coefficients = self.from_vector(vector)
        users, k = self.users, scores.shape[1]
        terms = self._terms(scores, coefficients)
        apart, coordinates = (users.leads(each) for each in self._spread_parts(vector, coefficients))
        shared = terms.in_scores.sum(axis=1, keepdims=True) * coordinates
        through = users.sum_by_user(np.hstack([(terms.in_scores * apart).sum(axis=1, keepdims=True), shared]))
        logits = terms.in_logits @ self._regression.contrasts.T
        rows = (users.intercepted[:, :, None] * logits[:, None, :]).reshape(len(logits), -1)
        own = np.hstack([terms.in_concentration[:, None], rows])
        own[:, :k] += self._through_spread(coefficients, through[:, 0], through[:, 1:])
        in_own = terms.in_scores @ _spread(coefficients).T
        for begin in range(0, len(own), USERS_AT_ONCE):
            some = slice(begin, min(begin + USERS_AT_ONCE, len(own)))
            yield np.hstack([users.sum_by_user_and_item(in_own, some), own[some]])

    def _terms(self, scores: Floats, coefficients: Coefficients) -> Terms:
        c, mean = self.users.comparisons, coefficients.mean_weights(self.users.design)
        counts = np.maximum(coefficients.concentration * mean, LEAST_COUNT)
        priors = standardise(counts)
        values, shares, in_counts, in_scores = kernels.weigh_draws(
            c.offsets, c.winners, c.losers, c.kernel_weights, scores, self.users.mixing, self.draws.eta,
            self.draws.offsets, priors,
        )  # fmt: skip
        spreads, slopes = priors[:, 2], priors[:, 4]
        total, inverse = counts.sum(axis=1, keepdims=True), 1.0 / spreads
        in_volume = slopes * inverse * (1.0 - inverse / inverse.sum(axis=1, keepdims=True))
        residual = counts * (in_counts - digamma(counts) + digamma(total) + in_volume)
        centre = residual.sum(axis=1)
        value = float(values.sum()) + float((gammaln(total[:, 0]) - gammaln(counts).sum(axis=1)).sum())
        value += float(_log_volume(spreads).sum())
        return Terms(shares, in_scores, centre, residual - mean * centre[:, None], value)

    def _score_precision(self, scores: Floats) -> tuple[Floats, float]:
        """Return the precision (K, K) of the prior of items' scores, and its log density."""
        n, k = scores.shape
        if self.score_prior is not None:
            return -self.score_prior.evaluate(np.eye(k))[1], self.score_prior.evaluate(scores)[0]
        products, freedom = np.eye(k) + scores.T @ scores, k + FREEDOM + n
        return freedom * np.linalg.inv(products), -0.5 * freedom * float(np.linalg.slogdet(products)[1])

    def _spread_parts(self, vector: Floats, coefficients: Coefficients) -> tuple[Floats, Floats]:
        """Return how scores grow with the logarithm of the concentration, (Q, K), and what rankings have of their own,
        in coordinates, times the spread, (Q, K)."""
        own = self._coordinates(vector)
        own = np.sqrt(coefficients.concentration + 1.0) * (own - own.mean(axis=1, keepdims=True))
        mean = coefficients.counts / coefficients.concentration
        return _growth(coefficients) * (own - (own @ mean)[:, None]), own

    def _through_spread(self, coefficients: Coefficients, in_concentration: Floats, shared: Floats) -> Floats:
        """Gradients (m, K) in the logarithm of the concentration and the intercepts that come through the scores: of
        the former (m,), and minus those in the mean weights (m, K)."""
        mean = coefficients.counts / coefficients.concentration
        in_logits = -mean * (shared - (shared @ mean)[..., None])
        return np.hstack([in_concentration[:, None], np.atleast_2d(in_logits) @ self._regression.contrasts.T])


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
