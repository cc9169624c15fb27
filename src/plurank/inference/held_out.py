"""How likely whole new users are, ``log p(w_1 .. w_N | rankings, prior)``: nobody knows their weights.

Wallach, Murray, Salakhutdinov and Mimno 2009 (Algorithm 3, from left to right; see the kernel) where every comparison
is made by one ranking. Ours: where a person blends the scores of the rankings there is no such token, and the integral
over the weights is found by importance sampling.

A comparison of weight c has its likelihood to the power of c. A whole weight is that many tokens; users with other
weights, or with more than ``MOST_TOKENS`` comparisons, are integrated by importance sampling too.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from plurank import kernels
from plurank.components.bradley_terry import BradleyTerry
from plurank.components.ordered import OrderedComponent
from plurank.data.comparisons import Comparisons
from plurank.exceptions import DataError
from plurank.rng import as_generator, draw_seed, uniforms_of

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
Seeds = NDArray[np.uint64]
MOST_REDRAWN = 4  # earlier tokens at a comparison: more particles are worth more than more draws of each
MOST_TOKENS = 20_000  # of one user
BLOCK_CELLS = 2**23  # comparisons times rankings that are held at once
DRAWS_PER_PARTICLE = 4  # a draw of weights costs one look at every comparison, a particle several
LEAST_COUNT = 1e-9  # of a Dirichlet, so that logarithms of weights are finite
FLATTER = 0.5  # evidence of the proposals for tails, as a share of the posterior's
WEIGHING_ROUNDS = 50


class Law(Protocol):
    """How users decide whose weights nobody knows."""

    @property
    def prior(self) -> Floats:
        """The counts of the Dirichlet of their weights, (K,)."""

    def log_likelihoods(self, comparisons: Comparisons, seeds: Seeds, n_particles: int) -> Floats:
        """Estimate the log-likelihood of all that each user said, (M,)."""


@dataclass(frozen=True)
class Tokens:
    """Each comparison is made by one ranking; ``likelihoods(winners, losers)`` gives its probabilities, (n, K)."""

    prior: Floats
    likelihoods: Callable[[Codes, Codes], Floats]

    def log_likelihoods(self, comparisons: Comparisons, seeds: Seeds, n_particles: int) -> Floats:
        """Read comparisons of whole weight from left to right, integrate the others."""
        c = comparisons
        spoke = np.diff(c.offsets) > 0
        values = np.zeros(c.n_users)
        countable = spoke & _is_countable(c)
        tokens = _repeat(_of_users(c, countable))
        p = np.ascontiguousarray(self.likelihoods(tokens.winners, tokens.losers))
        values[countable] = kernels.read_left_to_right(
            tokens.offsets, p, self.prior, seeds[countable], n_particles, MOST_REDRAWN
        )
        others = spoke & ~countable
        if others.any():
            values[others] = self._integrate(_of_users(c, others), seeds[others], n_particles)
        return values

    def _integrate(self, comparisons: Comparisons, seeds: Seeds, n_particles: int) -> Floats:
        c = comparisons
        p = np.ascontiguousarray(self.likelihoods(c.winners, c.losers))
        prior = np.maximum(self.prior, LEAST_COUNT)
        start = prior + _totals(c)[:, None] / len(prior)
        posteriors, _ = kernels.infer_dirichlets(c.offsets, p, c.kernel_weights, prior, start, WEIGHING_ROUNDS, 1e-3)
        return _integrate(c, prior, posteriors, p, _log_mixture, seeds, n_particles)


@dataclass(frozen=True)
class Blends:
    """Each person blends the scores into one taste."""

    prior: Floats
    component: BradleyTerry

    def log_likelihoods(self, comparisons: Comparisons, seeds: Seeds, n_particles: int) -> Floats:
        """Integrate over the weights."""
        c = comparisons
        prior = np.maximum(self.prior, LEAST_COUNT)
        start = np.tile(prior / prior.sum(), (c.n_users, 1))
        found = self.component.weigh(c, start, prior[None], WEIGHING_ROUNDS)
        posteriors = np.maximum(found.evidence[:, None] * found.means, LEAST_COUNT)
        leads = self.component.scores[c.winners] - self.component.scores[c.losers]
        return _integrate(c, prior, posteriors, leads, _log_sigmoid, seeds, n_particles)


def law_of(component: BradleyTerry | OrderedComponent, prior: Floats) -> Law:
    """Say how new users decide by rankings of a kind, their weights from a Dirichlet(prior)."""
    if isinstance(component, BradleyTerry) and component.mixing == "utility":
        return Blends(prior, component)
    return Tokens(prior, component.chances)


def mean_log_likelihood(
    laws: Sequence[Law], comparisons: Comparisons, n_particles: int, rng: np.random.Generator
) -> float:
    """Give the log-likelihood of whole new users per comparison; that of several laws is of their mean likelihood."""
    if not len(comparisons):
        raise DataError("there is nothing to score: expected at least one comparison, got none.")
    values = [_log_likelihoods(law, comparisons, n_particles, draw_seed(rng)) for law in laws]
    by_user = logsumexp(values, axis=0) - np.log(len(values))
    return float(by_user.sum() / comparisons.total_weight)


def _log_likelihoods(law: Law, comparisons: Comparisons, n_particles: int, seed: int) -> Floats:
    """Estimate the log-likelihood of every user, (M,), block by block."""
    parts = []
    for begin, end in _blocks(comparisons, BLOCK_CELLS // len(law.prior)):
        block = comparisons.block(begin, end)
        parts.append(law.log_likelihoods(block, user_seeds(block, seed), n_particles))
    return np.concatenate(parts)


def _blocks(comparisons: Comparisons, most: int) -> Iterator[tuple[int, int]]:
    """Cut users into blocks with about ``most`` tokens; what comes out for a user does not depend on them."""
    sizes = np.maximum(np.diff(comparisons.offsets), np.minimum(_totals(comparisons), MOST_TOKENS))
    ends = np.cumsum(sizes)
    edges = np.searchsorted(ends, np.arange(0, ends[-1], most), side="right")
    return itertools.pairwise(np.unique(np.append(edges, comparisons.n_users)).tolist())


def user_seeds(comparisons: Comparisons, seed: int) -> Seeds:
    """Give every user a seed, (M,), made of what they said: it depends neither on other users nor on any order.

    Weight 2 makes the same seed as the comparison twice.
    """
    c = comparisons
    pairs = c.winners.astype(np.int64) * c.n_items + c.losers
    bits = (uniforms_of(seed, pairs) * 2.0**53).astype(np.uint64)
    bits *= np.uint64(1024) if c.weights is None else (1024.0 * c.weights).astype(np.uint64)
    sums = np.concatenate([[np.uint64(0)], np.cumsum(bits)])  # they wrap, and so do their differences
    return np.diff(sums[c.offsets]) + np.uint64(seed)


def _totals(comparisons: Comparisons) -> Floats:
    return np.bincount(comparisons.user_of_each(), comparisons.weights, comparisons.n_users).astype(np.float64)


def _is_countable(comparisons: Comparisons) -> NDArray[np.bool_]:
    """Tell for every user whether the comparisons are whole ones, and not too many, (M,)."""
    c = comparisons
    few = _totals(c) <= MOST_TOKENS
    if c.weights is None:
        return few
    broken = np.bincount(c.user_of_each(), c.weights % 1.0 != 0.0, c.n_users)
    return few & (broken == 0)


def _of_users(comparisons: Comparisons, chosen: NDArray[np.bool_]) -> Comparisons:
    return comparisons.select(np.repeat(chosen, np.diff(comparisons.offsets)))


def _repeat(comparisons: Comparisons) -> Comparisons:
    """Write a comparison of weight c as c comparisons."""
    c = comparisons
    if c.weights is None:
        return c
    times = c.weights.astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(times)])[c.offsets]
    return Comparisons(np.repeat(c.winners, times), np.repeat(c.losers, times), offsets, c.items, c.users)


def _log_mixture(x: Floats) -> Floats:
    return np.log(x)


def _log_sigmoid(x: Floats) -> Floats:
    return np.minimum(x, 0.0) - np.log(1.0 + np.exp(-np.abs(x)))


def _integrate(
    comparisons: Comparisons,
    prior: Floats,
    posteriors: Floats,
    x: Floats,
    log_link: Callable[[Floats], Floats],
    seeds: Seeds,
    n_particles: int,
) -> Floats:
    """Estimate ``log E[prod_e link(theta . x_e)^c_e]`` over theta ~ Dirichlet(prior), of every user, (M,).

    posteriors (M, K): counts of a Dirichlet near each user's posterior, x (n, K).
    """
    c = comparisons
    counts = np.ones(len(c)) if c.weights is None else c.weights
    values = np.zeros(c.n_users)
    for u in np.flatnonzero(np.diff(c.offsets)):
        own = slice(c.offsets[u], c.offsets[u + 1])
        logs, shares = _draw_weights(prior, posteriors[u], n_particles * DRAWS_PER_PARTICLE, int(seeds[u]))
        likelihoods = log_link(np.exp(logs) @ x[own].T) @ counts[own]
        values[u] = logsumexp(likelihoods + shares) - logsumexp(shares)
    return values


def _draw_weights(prior: Floats, posterior: Floats, n: int, seed: int) -> tuple[Floats, Floats]:
    """Draw logarithms of weights (n, K), and say how much denser the prior is there than the proposals, (n,), in logs.

    A quarter comes from the prior itself and a quarter from a flatter posterior, so that no draw can count too much.
    """
    proposals = np.stack([prior, FLATTER * posterior, posterior, posterior])
    chosen = np.arange(n) % len(proposals)
    logs = _draw_log_dirichlet(proposals[chosen], seed)
    shares = np.bincount(chosen, minlength=len(proposals)) / n
    with np.errstate(divide="ignore"):
        mixed = logsumexp(np.log(shares) + _log_density(proposals, logs), axis=1)
    return logs, _log_density(prior[None], logs)[:, 0] - mixed


def _draw_log_dirichlet(counts: Floats, seed: int) -> Floats:
    """Draw a row for every row of counts, (n, K); ``G(a) = G(a + 1) U^(1/a)`` keeps tiny weights apart from 0."""
    rng = as_generator(seed)
    logs = np.log(rng.standard_gamma(counts + 1.0)) - rng.standard_exponential(counts.shape) / counts
    return logs - logsumexp(logs, axis=1, keepdims=True)


def _log_density(counts: Floats, logs: Floats) -> Floats:
    """Log density of Dirichlets (m, K) at weights with logarithms (n, K), (n, m), up to a term that all share."""
    constants = gammaln(counts.sum(axis=1)) - gammaln(counts).sum(axis=1)
    return logs @ counts.T + constants
