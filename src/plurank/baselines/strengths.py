"""Bradley-Terry strengths of items from a table of wins: by maximum likelihood, or as a random walk.

Baselines use these for one ranking at a time; wins may be fractions, as those of a cluster of users are. A small prior
keeps undefeated items and unconnected groups of items finite: every item also wins and loses ``prior`` comparisons
against an imagined item of strength 1. It treats wins and losses alike, so reversing every comparison reverses all.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from plurank.elementary import expit
from plurank.topic.pair_blocks import laplacian
from plurank.types import Codes, Floats

SOLVER_ACCURACY = 1e-3  # of a Newton step; the next round corrects what is left
SOLVER_STEPS = 200
STEP_LENGTHS = (1.0, 0.3, 0.1)


@dataclass(frozen=True)
class WinTable:
    """Pairs (lower, higher) of items, (n_pairs,) each, how often each side won, (n_pairs, 2), and the prior."""

    n_items: int
    lower: Codes
    higher: Codes
    wins: Floats
    prior: float

    @cached_property
    def played(self) -> Floats:
        """Comparisons of every pair, (n_pairs,)."""
        return self.wins.sum(axis=1)

    @cached_property
    def won(self) -> Floats:
        """Wins of every item, (Q,)."""
        return self.sum_sides(self.wins[:, 0], self.wins[:, 1])

    def sum_sides(self, of_lower: Floats, of_higher: Floats) -> Floats:
        """Sum over pairs what the lower and the higher item get, (Q,)."""
        sums: Floats = np.zeros(self.n_items)
        for side, values in ((self.lower, of_lower), (self.higher, of_higher)):
            sums += np.bincount(side, values, self.n_items)
        return sums

    def matrix(self, forward: Floats, backward: Floats) -> "scipy.sparse.csr_array":
        """Lay values of (lower, higher) and of (higher, lower) out as a sparse matrix, (Q, Q)."""
        at = (np.concatenate([self.lower, self.higher]), np.concatenate([self.higher, self.lower]))
        values, shape = np.concatenate([forward, backward]), (self.n_items, self.n_items)
        return scipy.sparse.coo_array((values, at), shape=shape).tocsr()

    def log_posterior(self, scores: Floats) -> float:
        """Log-likelihood of all wins given scores (Q,), the logarithms of strengths, plus the log prior."""
        leads = scores[self.lower] - scores[self.higher]
        lost = self.wins[:, 0] @ np.logaddexp(0.0, -leads) + self.wins[:, 1] @ np.logaddexp(0.0, leads)
        return -float(lost) - prior_cost(self.prior, scores)


def prior_cost(prior: float, scores: Floats) -> float:
    """Minus the log prior of scores (Q,)."""
    return prior * float((np.logaddexp(0.0, scores) + np.logaddexp(0.0, -scores)).sum())


def minorise_maximise(table: WinTable, scores: Floats) -> Floats:
    """Take one step of Hunter's algorithm: ``g_i = wins_i / sum_j n_ij / (g_i + g_j)``; it never lowers the posterior.

    The imagined item adds ``prior`` to the wins and ``2 prior / (g_i + 1)`` to the sum.
    """
    strengths = np.exp(scores)
    shares = table.played / (strengths[table.lower] + strengths[table.higher])
    sums = table.sum_sides(shares, shares) + 2.0 * table.prior / (strengths + 1.0)
    return np.log((table.won + table.prior) / sums)


def newton(table: WinTable, scores: Floats) -> Floats:
    """Return the Newton step of the log posterior at scores, (Q,), by conjugate gradients."""
    chances, own = expit(scores[table.lower] - scores[table.higher]), expit(scores)
    expected = table.sum_sides(table.played * chances, table.played * (1.0 - chances))
    slope = table.won - expected + table.prior * (1.0 - 2.0 * own)
    bends = table.played * chances * (1.0 - chances)
    pull, of_pairs = 2.0 * table.prior * own * (1.0 - own), laplacian(table.n_items, table.lower, table.higher, bends)
    return _solve(lambda step: of_pairs(step[:, None])[:, 0] + pull * step, table.sum_sides(bends, bends) + pull, slope)


def _solve(curvature: Callable[[Floats], Floats], diagonal: Floats, slope: Floats) -> Floats:
    """Return the step whose product with the curvature is the slope, (Q,), by conjugate gradients.

    They are scaled by the diagonal, because some items are compared far more often than others.
    """
    step, rest = np.zeros_like(slope), slope
    direction, left = rest / diagonal, rest @ (rest / diagonal)
    for _ in range(SOLVER_STEPS):
        if np.linalg.norm(rest) <= SOLVER_ACCURACY * np.linalg.norm(slope):
            break
        bent = curvature(direction)
        length = left / (direction @ bent)
        step, rest = step + length * direction, rest - length * bent
        scaled, before = rest / diagonal, left
        left = rest @ scaled
        direction = scaled + left / before * direction
    return step


def improve(table: WinTable, scores: Floats) -> Floats:
    """Take Hunter's step, then a Newton step where it raises the posterior further.

    Hunter's step is sure but slow where few comparisons hold groups of items together; Newton's is the other way round.
    """
    scores = minorise_maximise(table, scores)
    value, step = table.log_posterior(scores), newton(table, scores)
    for length in STEP_LENGTHS:
        if table.log_posterior(scores + length * step) > value:
            return scores + length * step
    return scores


def maximise(table: WinTable, max_iter: int, tol: float, on_round: Callable[[int], None]) -> tuple[Floats, int, bool]:
    """Return the scores (Q,) of the highest posterior, the number of rounds, and whether it converged."""
    scores = np.zeros(table.n_items)
    for n_rounds in range(1, max_iter + 1):
        on_round(n_rounds)
        before, scores = scores, improve(table, scores)
        if np.abs(scores - before).max() < tol:
            return scores, n_rounds, True
    return scores, max_iter, False


def walk(table: WinTable, max_iter: int, tol: float, on_round: Callable[[int], None]) -> tuple[Floats, int, bool]:
    """Return scores by rank centrality (Negahban, Oh and Shah), the steps of the walk, and whether it settled.

    A walker at item i goes to item j as often as j beats i; how much of the time he spends at an item is its strength.
    Shares of wins are those after ``prior`` more wins of both sides, so that he can always leave. Groups of items never
    compared with each other are walked separately, each with a mean score of 0.
    """
    shares = (table.wins + table.prior) / (table.played + 2.0 * table.prior)[:, None]
    moves = table.matrix(shares[:, 1], shares[:, 0])  # row i, column j: how often j beats i
    leaving = moves.sum(axis=1)
    # one step of the walk among moves, lazy so that it does not swing between two items
    onward = moves.multiply((1.0 / np.where(leaving > 0, leaving, 1.0))[:, None]).T.tocsr()
    time = np.ones(table.n_items)
    for n_rounds in range(1, max_iter + 1):
        on_round(n_rounds)
        before, time = time, (time + np.where(leaving > 0, onward @ time, time)) / 2.0
        if (np.abs(time - before) <= tol * before).all():
            break
    # who leaves an item rarely stays there long
    scores = np.log(time / np.where(leaving > 0, leaving, 1.0))
    _, groups = scipy.sparse.csgraph.connected_components(moves, directed=False)
    means = np.bincount(groups, scores) / np.bincount(groups)
    return scores - means[groups], n_rounds, bool((np.abs(time - before) <= tol * before).all())
