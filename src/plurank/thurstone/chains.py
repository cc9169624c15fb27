"""Several chains: run them, keep some draws, and summarise what they agree on, with rankings in the same order."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.special import ndtr

from plurank.regression.ridge import FeatureMatrix
from plurank.thurstone.diagnostics import Convergence
from plurank.thurstone.draws import Draw
from plurank.thurstone.exposure import Exposure
from plurank.thurstone.item_regression import ItemRegression
from plurank.thurstone.people import PeopleRegression, table_of
from plurank.thurstone.sampler import Chain, Observations, Shape
from plurank.types import Floats, Integers, Progress, silent

SAME = 0.8  # correlation of scores between chains that have found the same rankings
MOST_TABLES = 120  # of coefficients that a chain keeps
N_PARTS = 5  # of a chain, whose means say how far that of the chain may be off
N_PAIRS = 20  # whose probabilities are followed to see whether chains agree


@dataclass(frozen=True)
class Length:
    """How long chains are: sweeps before anything is kept, draws that are kept, and sweeps from one to the next."""

    burn_in: int
    n_draws: int
    thin: int

    @property
    def n_sweeps(self) -> int:
        """Sweeps of a chain."""
        return self.burn_in + self.n_draws * self.thin

    @classmethod
    def of(cls, n_sweeps: int, n_draws: int) -> "Length":
        """Return the length of chains with so many sweeps, of which the first half is the burn-in."""
        burn_in = max(n_sweeps // 2, 1)
        kept = max(min(n_draws, n_sweeps - burn_in), 1)
        return cls(burn_in, kept, max((n_sweeps - burn_in) // kept, 1))

    @property
    def part(self) -> int:
        """Sweeps of a part of what is kept."""
        return max(self.n_draws * self.thin // N_PARTS, 1)

    def shorten(self) -> "Length":
        """Return the length of chains that begin where others ended: half of the burn-in."""
        return replace(self, burn_in=max(self.burn_in // 2, 1))


@dataclass
class Moments:
    """Sums over the sweeps of a chain: centred scores (Q, K) and their products (Q, K, K), weights (M, K) and their
    squares summed (M,), counts (K,); and means of scores over parts of the chain, (parts, Q, K)."""

    scores: Floats
    products: Floats
    weights: Floats
    squares: Floats
    counts: Floats
    parts: Floats
    logs: list[float] = field(default_factory=list)
    n: int = 0

    @classmethod
    def blank(cls, n_items: int, n_users: int, n_rankings: int) -> "Moments":
        """Begin with nothing."""
        k = n_rankings
        return cls(
            np.zeros((n_items, k)), np.zeros((n_items, k, k)), np.zeros((n_users, k)), np.zeros(n_users), np.zeros(k),
            np.zeros((0, n_items, k)),
        )  # fmt: skip

    def add(self, chain: Chain) -> Integers:
        """Add where the chain is, with rankings in the order of the mean so far; returns that order."""
        first = 1 + chain.shape.n_rankings
        table = chain.population.items
        scores = table[:, :1] + table[:, 1:first]
        scores = chain.population.unit * (scores - scores.mean(axis=0))
        order = np.arange(first - 1) if self.n == 0 else match_rankings(scores, self.scores / self.n)
        scores = scores[:, order]
        self.n += 1
        self.scores += scores
        self.products += scores[:, :, None] * scores[:, None, :]
        begin = 0
        for state in chain.states:
            weights = state.vectors[:, 1:first][:, order]
            end = begin + len(weights)
            self.weights[begin:end] += weights
            self.squares[begin:end] += (weights**2).sum(axis=1)
            begin = end
        self.counts += chain.population.counts[order]
        self.logs.append(float(np.log(chain.population.counts.sum())))
        return order

    def end_part(self) -> None:
        """Keep the mean of the scores since the last part ended."""
        before = len(self.parts)
        size = self.n // (before + 1)  # parts are of the same length
        mean = (self.scores - size * self.parts.sum(axis=0)) / size
        self.parts = np.concatenate([self.parts, mean[None]])

    def variances(self, n_chains: int) -> Floats:
        """Posterior variances of scores, (Q, K), and twice those of their means, which may be off where chains are
        short or apart: draws lie around the mean, and so does the truth around what it should be."""
        spread = np.diagonal(self.products, axis1=1, axis2=2) / self.n - (self.scores / self.n) ** 2
        chains = self.parts.reshape(n_chains, -1, *self.scores.shape).mean(axis=1)
        of_mean = [each.var(axis=0, ddof=1) / len(each) for each in (self.parts, chains) if len(each) > 1]
        return np.asarray(np.maximum(spread, 0.0) + 2.0 * np.max([np.zeros_like(spread), *of_mean], axis=0))

    def merge(self, other: "Moments") -> "Moments":
        """Add those of another chain, with rankings in the same order."""
        return Moments(
            self.scores + other.scores, self.products + other.products, self.weights + other.weights,
            self.squares + other.squares, self.counts + other.counts, np.concatenate([self.parts, other.parts]),
            [*self.logs, *other.logs], self.n + other.n,
        )  # fmt: skip

    def agrees(self, other: "Moments") -> bool:
        """Check whether another chain has found the same rankings, in the same order, beyond what these share."""
        one, another = (each.scores / each.n for each in (self, other))
        if one.shape[1] > 1:
            one, another = (each - each.mean(axis=1, keepdims=True) for each in (one, another))
        sizes = np.sqrt((one**2).sum() * (another**2).sum())
        return bool((one * another).sum() >= SAME * sizes)

    def reorder(self, order: Integers) -> None:
        """Put the rankings into this order."""
        self.scores, self.weights, self.counts = self.scores[:, order], self.weights[:, order], self.counts[order]
        self.products, self.parts = self.products[:, order][:, :, order], self.parts[:, :, order]


def match_rankings(scores: Floats, reference: Floats) -> Integers:
    """Return the order of columns (K,) in which scores (Q, K) are nearest to a reference (Q, K)."""
    cost = (reference**2).sum(axis=0)[:, None] + (scores**2).sum(axis=0)[None] - 2.0 * reference.T @ scores
    return np.asarray(linear_sum_assignment(cost)[1], np.int64)


@dataclass
class ChainResult:
    """What a chain leaves: draws, moments, its log-likelihood (n,) and probabilities of pairs (n, P) by sweep; where
    there are covariates of users, or features of items, tables of coefficients (n, 1 + P, K); and the chain itself."""

    draws: list[Draw]
    moments: Moments
    log_likelihoods: Floats
    pairs: Floats
    tables: Floats
    item_tables: Floats
    chain: Chain

    def reorder(self, order: Integers) -> None:
        """Put the rankings into this order."""
        self.moments.reorder(order)
        self.draws = [draw.reorder(order) for draw in self.draws]
        self.tables, self.item_tables = self.tables[:, :, order], self.item_tables[:, :, order]


def run_chain(
    observations: Observations,
    shape: Shape,
    seed: Sequence[int],
    exposure: Exposure,
    length: Length,
    on_progress: Progress = silent,
    prior: tuple[Floats, Floats] | None = None,
    people: Floats | None = None,
    init: Chain | None = None,
    features: FeatureMatrix | None = None,
) -> ChainResult:
    """Run one chain; people: covariates (M, P) of the users; init: a chain without factors, where this one begins;
    features: those of the items."""
    users = None if people is None else PeopleRegression(people)
    items = None if features is None else ItemRegression(features)
    chain = Chain(observations, shape, seed, exposure, prior, users, items)
    if init is not None:
        chain.begin_at(init)
    source = observations.source
    moments = Moments.blank(source.n_items, source.n_users, shape.n_rankings)
    rng = np.random.default_rng(0)  # the same pairs for all chains
    rows = rng.integers(source.n_users, size=N_PAIRS)
    sides = rng.integers(source.n_items, size=(2, N_PAIRS))
    draws: list[Draw] = []
    tables, item_tables = [], []
    pairs, number = [], int(seed[-1])
    for sweep in range(length.n_sweeps):
        chain.sweep()
        on_progress("sampling", (sweep + 1) / length.n_sweeps)
        after = sweep + 1 - length.burn_in
        if after <= 0:
            continue
        order = moments.add(chain)
        if after % length.part == 0:
            moments.end_part()
        if people is not None:
            tables.append(table_of(chain.population.counts, chain.population.slopes)[:, order])
        if features is not None:
            item_tables.append(_item_table(chain)[:, order])
        pairs.append(_pair_chances(chain, rows, sides))
        if after % length.thin == 0 and len(draws) < length.n_draws:
            draws.append(Draw.of(chain, number).reorder(order))
    logs = np.array(chain.log_likelihoods[length.burn_in :])
    return ChainResult(
        draws, moments, logs, np.array(pairs), _some_tables(tables, shape.n_rankings),
        _some_tables(item_tables, shape.n_rankings), chain,
    )  # fmt: skip


def _some_tables(tables: list[Floats], n_rankings: int) -> Floats:
    """Return some tables, evenly spread over sweeps, (n, 1 + P, K)."""
    if not tables:
        return np.zeros((0, 1, n_rankings))
    return np.array(tables[:: max(len(tables) // MOST_TABLES, 1)])


def _item_table(chain: Chain) -> Floats:
    """What is expected of the scores of items, beyond the mean score of every ranking, (1 + P, K)."""
    population, first = chain.population, 1 + chain.shape.n_rankings
    table = np.vstack([population.item_mean, population.item_slopes])
    mean = population.items[:, :first].mean(axis=0)
    table[0, :first] -= mean
    return np.asarray(population.unit * (table[:, :1] + table[:, 1:first]))


def _pair_chances(chain: Chain, users: Integers, sides: Integers) -> Floats:
    """P(first over second) of some users, (P,)."""
    size, items = chain.shape.size, chain.population.items
    begins = np.cumsum([0, *(len(state.vectors) for state in chain.states)])
    block = np.searchsorted(begins, users, side="right") - 1
    vectors = np.array([chain.states[b].vectors[user - begins[b]] for b, user in zip(block, users, strict=True)])
    apart = items[sides[0], :size] - items[sides[1], :size]
    return np.asarray(ndtr(chain.population.unit * np.einsum("pd,pd->p", vectors[:, :size], apart) / np.sqrt(2.0)))


def run_chains(
    observations: Observations,
    shape: Shape,
    seed: Sequence[int],
    exposure: Exposure,
    length: Length,
    n_chains: int,
    on_progress: Progress = silent,
    people: Floats | None = None,
    inits: Sequence[Chain | None] | None = None,
    features: FeatureMatrix | None = None,
) -> tuple[list[ChainResult], Convergence]:
    """Run several chains, the one with the highest mean log-likelihood first, and diagnose whether they agree; inits:
    where they begin."""

    def report(n: int) -> Progress:
        return lambda stage, done: on_progress(stage, (n + done) / n_chains)

    starts = inits or [None] * n_chains
    results = [
        run_chain(observations, shape, [*seed, n], exposure, length, report(n), None, people, starts[n], features)
        for n in range(n_chains)
    ]  # one after the other: kernels use all threads
    convergence = Convergence.of(
        np.array([each.log_likelihoods for each in results]), np.array([each.pairs for each in results]),
        length.n_sweeps,
    )  # fmt: skip
    results.sort(key=lambda each: -float(each.log_likelihoods.mean()))
    reference = results[0].moments
    for other in results[1:]:
        other.reorder(match_rankings(other.moments.scores / other.moments.n, reference.scores / reference.n))
    return results, convergence
