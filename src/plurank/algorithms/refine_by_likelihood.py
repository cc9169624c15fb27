"""Raise the posterior of scores, or of orders, and user weights together until it stands still.

Ours: the paper stops at the rankings that Algorithm 4 rounds to. One pass over the comparisons weighs every user anew,
given the rankings, and collects what all users say about the rankings. Scores take a quasi-Newton step on the posterior
with the weights integrated out; orders take an EM step. A step is kept only where the posterior grows, so it never
falls.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from plurank.algorithms.quasi_newton import QuasiNewton
from plurank.components.bradley_terry import BradleyTerry, ScorePass, ScorePrior
from plurank.components.ordered import OrderedComponent
from plurank.data.comparisons import Comparisons
from plurank.progress import Progress, silent
from plurank.statistics.pair_counts import PairCounts

Floats = NDArray[np.float64]
Component = TypeVar("Component", bound=BradleyTerry | OrderedComponent)
Ordered = TypeVar("Ordered", bound=OrderedComponent)
LONGEST_STEP = 5.0  # in a score, which is a log odds
ENOUGH = 1e-4  # of the gain the slope promises
SHRINK = 0.3
SHORTEST = 1e-6
FIRST_ROUNDS, ROUNDS = 20, 1  # Newton steps a user takes in the first pass and in every other
PATIENCE = 2  # passes in a row that hardly gain
STAGE = "fitting rankings and weights"


@dataclass(frozen=True)
class Refinement(Generic[Component]):
    """A component, weights (M, K) and the evidence behind them (M,) at the end, the log posterior after every pass, and
    whether it stood still."""

    component: Component
    weights: Floats
    evidence: Floats
    history: list[float]
    converged: bool


def refine_scores(
    comparisons: Comparisons,
    component: BradleyTerry,
    weights: Floats,
    user_prior: Floats,
    score_prior: ScorePrior,
    *,
    max_iter: int,
    tol: float,
    on_progress: Progress = silent,
) -> Refinement[BradleyTerry]:
    """Refine scores by quasi-Newton steps; tol is the gain of the log posterior per comparison that counts as none.

    user_prior: (1, K) or (M, K) Dirichlet counts.
    """

    def evaluate(scores: Floats, start: Floats, n_rounds: int) -> tuple[float, ScorePass]:
        done = BradleyTerry(scores, component.mixing).weigh(comparisons, start, user_prior, n_rounds)
        value, slope, curvature = score_prior.evaluate(scores)
        return done.log_posterior + value, done._replace(slope=done.slope + slope, curvature=done.curvature + curvature)

    scores, memory, enough = component.scores, QuasiNewton(), tol * comparisons.total_weight
    value, here = evaluate(scores, weights, FIRST_ROUNDS)
    history, still, length = [value], 0, 1.0
    while len(history) < max_iter and still < PATIENCE:
        on_progress(STAGE, len(history) / max_iter)
        ascent = memory.direction(here.slope, here.curvature)
        step = ascent * (length * min(1.0, LONGEST_STEP / max(np.abs(ascent).max(), 1e-300)))
        promised = float((step * here.slope).sum())
        new_value, there = evaluate(scores + step, here.weights, ROUNDS)
        if new_value < value + ENOUGH * promised and length > SHORTEST:
            # too far: what has been learnt elsewhere may mislead here, so forget it first, then go less far
            if memory.is_empty or length == 1.0:
                length *= SHRINK
            else:
                memory.forget()
                length = 1.0
            history.append(value)
            continue
        if new_value < value:
            still = PATIENCE  # not even the shortest step helps
            break
        memory.remember(step, here.slope, there.slope)
        still = still + 1 if new_value - value < enough else 0
        scores, value, here, length = scores + step, new_value, there, 1.0
        history.append(value)
    on_progress(STAGE, 1.0)
    return Refinement(BradleyTerry(scores, component.mixing), here.weights, here.evidence, history, still >= PATIENCE)


def refine_orders(
    comparisons: Comparisons,
    component: Ordered,
    weights: Floats,
    user_prior: Floats,
    *,
    max_iter: int,
    tol: float,
    on_progress: Progress = silent,
) -> Refinement[Ordered]:
    """Refine orders by EM: weights given the orders, expected wins, then better orders for these wins."""
    pairs = PairCounts.of(comparisons)
    weights, value, evidence = component.weigh(comparisons, weights, user_prior, FIRST_ROUNDS)
    history, still, enough = [value], 0, tol * comparisons.total_weight
    while len(history) < max_iter and still < PATIENCE:
        on_progress(STAGE, len(history) / max_iter)
        wins = pairs.expected_wins(component.chances(pairs.winners, pairs.losers), weights, evidence)
        trial = component.improved(pairs, wins)
        new_weights, new_value, new_evidence = trial.weigh(comparisons, weights, user_prior, FIRST_ROUNDS)
        if new_value < value:
            still = PATIENCE  # an average to second order can mislead where nearly nothing is left to gain
            break
        still = still + 1 if new_value - value < enough else 0
        component, weights, value, evidence = trial, new_weights, new_value, new_evidence
        history.append(value)
    on_progress(STAGE, 1.0)
    return Refinement(component, weights, evidence, history, still >= PATIENCE)
