"""The likelihood of new users, with their weights integrated out.

Each likelihood is linear inside: ``P(i over j) = link(theta . x_ij)`` with features x_ij of the pair, one a ranking.

Wallach, Murray, Salakhutdinov and Mimno 2009 (Algorithm 3, from left to right; see the kernel) where every comparison
is made by one ranking. Ours: where a person blends the scores of the rankings there is no such token, and the integral
over the weights is found by importance sampling.

A comparison of weight c has its likelihood to the power of c. A whole weight is that many tokens; users with other
weights, or with more than ``MOST_TOKENS`` comparisons, are integrated by importance sampling too.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.choices import Mixing
from plurank.data.comparisons import Comparisons
from plurank.elementary import expit
from plurank.exceptions import DataError
from plurank.inference.posterior import Draws, propose_weights, weigh_draws
from plurank.random import draw_seed, uniforms_of
from plurank.types import Codes, Floats

Seeds = NDArray[np.uint64]
MOST_REDRAWN = 4  # earlier tokens at a comparison: more particles are worth more than more draws of each
MOST_TOKENS = 20_000  # of one user
DRAWS_PER_PARTICLE = 4  # a draw of weights costs one look at every comparison, a particle several
LEAST_COUNT = 1e-9  # of a Dirichlet, so that logarithms of weights are finite
WEIGHING_ROUNDS = 50


class Component(Protocol):
    """K rankings that say how likely comparisons are."""

    @property
    def mixing(self) -> Mixing:
        """Whether users mix the rankings' probabilities or their utilities."""

    def chances(self, winners: Codes, losers: Codes) -> Floats:
        """P(winner over loser) under each ranking, (n, K)."""


class Utilities(Component, Protocol):
    """Rankings with scores, whose weighted average is a user's utility."""

    @property
    def scores(self) -> Floats:
        """Scores of the items, (Q, K)."""

    def update_memberships(self, comparisons: Comparisons, init: Floats, prior: Floats, n_rounds: int) -> Any:
        """Find users' weights: their ``means`` (M, K) and ``user_concentration`` (M,)."""


class UserLikelihood(Protocol):
    """How users decide whose weights nobody knows."""

    @property
    def prior(self) -> Floats:
        """The counts of the Dirichlet of their weights, (K,)."""

    def log_likelihoods(self, comparisons: Comparisons, seeds: Seeds, n_particles: int) -> Floats:
        """Estimate the log-likelihood of all that each user said, (M,)."""

    def draw_posterior(self, comparisons: Comparisons, n: int, seed: int) -> Draws:
        """Draw the weights of one user, given what they said."""

    def chances(self, weights: Floats, left: Codes, right: Codes) -> Floats:
        """P(left over right) for pairs and for each of several weights (m, K), (n, m)."""


@dataclass(frozen=True)
class TokenLikelihood:
    """Each comparison is made by one ranking; ``likelihoods(winners, losers)`` gives its probabilities, (n, K)."""

    prior: Floats
    likelihoods: Callable[[Codes, Codes], Floats]

    def log_likelihoods(self, comparisons: Comparisons, seeds: Seeds, n_particles: int) -> Floats:
        """Read comparisons of whole weight from left to right, integrate the others."""
        c = comparisons
        spoke = np.diff(c.offsets) > 0
        values = np.zeros(c.n_users)
        countable = spoke & _is_countable(c)
        tokens = _repeat(c.take_users(countable))
        p = np.ascontiguousarray(self.likelihoods(tokens.winners, tokens.losers))
        values[countable] = kernels.read_left_to_right(
            tokens.offsets, p, self.prior, seeds[countable], n_particles, MOST_REDRAWN
        )
        others = spoke & ~countable
        if others.any():
            values[others] = self._posteriors(c.take_users(others)).integrate(seeds[others], n_particles)
        return values

    def draw_posterior(self, comparisons: Comparisons, n: int, seed: int) -> Draws:
        """Draw the weights of one user, given what they said."""
        return self._posteriors(comparisons).draw(0, n, seed)

    def chances(self, weights: Floats, left: Codes, right: Codes) -> Floats:
        """P(left over right) for pairs and for each of several weights (m, K), (n, m)."""
        return np.minimum(self.likelihoods(left, right) @ weights.T, 1.0)

    def _posteriors(self, comparisons: Comparisons) -> "Posteriors":
        c = comparisons
        p = np.ascontiguousarray(self.likelihoods(c.winners, c.losers))
        prior = np.maximum(self.prior, LEAST_COUNT)
        init = prior + c.weights_of_users()[:, None] / len(prior)
        near, _ = kernels.infer_dirichlets(c.offsets, p, c.kernel_weights, prior, init, WEIGHING_ROUNDS, 1e-3)
        return Posteriors(c, prior, near, p, np.log)


@dataclass(frozen=True)
class UtilityLikelihood:
    """Each person blends the scores into one taste."""

    prior: Floats
    component: Utilities

    def log_likelihoods(self, comparisons: Comparisons, seeds: Seeds, n_particles: int) -> Floats:
        """Integrate over the weights."""
        return self._posteriors(comparisons).integrate(seeds, n_particles)

    def draw_posterior(self, comparisons: Comparisons, n: int, seed: int) -> Draws:
        """Draw the weights of one user, given what they said."""
        return self._posteriors(comparisons).draw(0, n, seed)

    def chances(self, weights: Floats, left: Codes, right: Codes) -> Floats:
        """P(left over right) for pairs and for each of several weights (m, K), (n, m)."""
        return expit(self._leads(left, right) @ weights.T)

    def _leads(self, left: Codes, right: Codes) -> Floats:
        return self.component.scores[left] - self.component.scores[right]

    def _posteriors(self, comparisons: Comparisons) -> "Posteriors":
        c = comparisons
        prior = np.maximum(self.prior, LEAST_COUNT)
        init = np.tile(prior / prior.sum(), (c.n_users, 1))
        found = self.component.update_memberships(c, init, prior[None], WEIGHING_ROUNDS)
        near = np.maximum(found.user_concentration[:, None] * found.means, LEAST_COUNT)
        return Posteriors(c, prior, near, self._leads(c.winners, c.losers), _log_sigmoid)


def likelihood_of(component: Component, prior: Floats) -> UserLikelihood:
    """Say how new users decide by rankings of a kind, their weights from a Dirichlet(prior)."""
    if component.mixing == "utility":
        return UtilityLikelihood(prior, cast(Utilities, component))
    return TokenLikelihood(prior, component.chances)


def with_prior(likelihood: UserLikelihood, prior: Floats) -> UserLikelihood:
    """Return how users decide whose weights come from another Dirichlet(prior)."""
    assert isinstance(likelihood, (TokenLikelihood, UtilityLikelihood)), "only these have a prior of their own"
    return replace(likelihood, prior=prior)


@dataclass(frozen=True)
class Posteriors:
    """What users' weights may be: Dirichlet(prior) times ``prod_e link(theta . x_e)^c_e`` for each user.

    near (M, K): counts of a Dirichlet near each user's posterior; x (n, K) features of what they said.
    """

    comparisons: Comparisons
    prior: Floats
    near: Floats
    x: Floats
    log_link: Callable[[Floats], Floats]

    def integrate(self, seeds: Seeds, n_particles: int) -> Floats:
        """Estimate the logarithm of the integral over the weights, of every user, (M,)."""
        c = self.comparisons
        values = np.zeros(c.n_users)
        for u in np.flatnonzero(np.diff(c.offsets)):
            _, likelihoods, shares = self._propose(int(u), n_particles * DRAWS_PER_PARTICLE, int(seeds[u]))
            values[u] = np.logaddexp.reduce(likelihoods + shares) - np.logaddexp.reduce(shares)
        return values

    def draw(self, user: int, n: int, seed: int) -> Draws:
        """Draw weights of one user, each with its share of the posterior."""
        logs, likelihoods, shares = self._propose(user, n, seed)
        return weigh_draws(logs, likelihoods + shares)

    def _propose(self, user: int, n: int, seed: int) -> tuple[Floats, Floats, Floats]:
        """Logarithms of weights (n, K), of the likelihood there and of the prior over the proposals, (n,) each."""
        c = self.comparisons
        own = slice(c.offsets[user], c.offsets[user + 1])
        counts = 1.0 if c.weights is None else c.weights[own]
        logs, shares = propose_weights(self.prior, self.near[user], n, seed)
        likelihoods = (self.log_link(np.exp(logs) @ self.x[own].T) * counts).sum(axis=1)
        return logs, likelihoods, shares


def _is_countable(comparisons: Comparisons) -> NDArray[np.bool_]:
    """Return for every user whether the comparisons are whole ones, and not too many, (M,)."""
    c = comparisons
    few = c.weights_of_users() <= MOST_TOKENS
    if c.weights is None:
        return few
    broken = np.bincount(c.user_of_each(), c.weights % 1.0 != 0.0, c.n_users)
    return few & (broken == 0)


def _repeat(comparisons: Comparisons) -> Comparisons:
    """Write a comparison of weight c as c comparisons."""
    c = comparisons
    if c.weights is None:
        return c
    times = c.weights.astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(times)])[c.offsets]
    return Comparisons(np.repeat(c.winners, times), np.repeat(c.losers, times), offsets, c.items, c.users)


def _log_sigmoid(x: Floats) -> Floats:
    return np.minimum(x, 0.0) - np.log(1.0 + np.exp(-np.abs(x)))


BLOCK_CELLS = 2**23  # comparisons times rankings that are held at once


def mean_log_likelihood(
    likelihoods: Sequence[UserLikelihood], comparisons: Comparisons, n_particles: int, rng: np.random.Generator
) -> float:
    """Return the log-likelihood of whole new users per comparison; several likelihoods are averaged."""
    if not len(comparisons):
        raise DataError("there is nothing to score: expected at least one comparison, got none.")
    values = [_log_likelihoods(likelihood, comparisons, n_particles, draw_seed(rng)) for likelihood in likelihoods]
    by_user = np.logaddexp.reduce(values, axis=0) - np.log(len(values))
    return float(by_user.sum() / comparisons.total_weight)


def _log_likelihoods(likelihood: UserLikelihood, comparisons: Comparisons, n_particles: int, seed: int) -> Floats:
    """Estimate the log-likelihood of every user, (M,), block by block."""
    parts = []
    for begin, end in _blocks(comparisons, BLOCK_CELLS // len(likelihood.prior)):
        block = comparisons.block(begin, end)
        parts.append(likelihood.log_likelihoods(block, user_seeds(block, seed), n_particles))
    return np.concatenate(parts)


def _blocks(comparisons: Comparisons, most: int) -> Iterator[tuple[int, int]]:
    """Cut users into blocks with about ``most`` tokens; what comes out for a user does not depend on them."""
    sizes = np.maximum(np.diff(comparisons.offsets), np.minimum(comparisons.weights_of_users(), MOST_TOKENS))
    ends = np.cumsum(sizes)
    edges = np.searchsorted(ends, np.arange(0, ends[-1], most), side="right")
    return itertools.pairwise(np.unique(np.append(edges, comparisons.n_users)).tolist())


def user_seeds(comparisons: Comparisons, seed: int) -> Seeds:
    """Return every user a seed, (M,), made of what they said: it depends neither on other users nor on any order.

    Weight 2 makes the same seed as the comparison twice.
    """
    c = comparisons
    pairs = c.winners.astype(np.int64) * c.n_items + c.losers
    bits = (uniforms_of(seed, pairs) * 2.0**53).astype(np.uint64)
    bits *= np.uint64(1024) if c.weights is None else (1024.0 * c.weights).astype(np.uint64)
    sums = np.concatenate([[np.uint64(0)], np.cumsum(bits)])  # they wrap, and so do their differences
    return np.diff(sums[c.offsets]) + np.uint64(seed)
