"""Raise the posterior of scores, or of orders, and user weights together until it stands still.

Ours: the paper stops at the rankings that Algorithm 4 rounds to. One pass over the comparisons weighs every user anew,
given the rankings, and collects what all users say about the rankings. Scores take a quasi-Newton step on the posterior
with the weights integrated out; orders take an EM step. A step is kept only where the posterior grows, so it never
falls.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from plurank.algorithms.crowd import Crowd, InMemory
from plurank.algorithms.quasi_newton import QuasiNewton
from plurank.components.bradley_terry import BradleyTerry, ScoreSums
from plurank.components.ordered import OrderedComponent
from plurank.components.score_prior import ScorePrior
from plurank.progress import Progress, silent
from plurank.statistics.pair_counts import PairCounts

Floats = NDArray[np.float64]
Component = TypeVar("Component", bound=BradleyTerry | OrderedComponent)
Ordered = TypeVar("Ordered", bound=OrderedComponent)
LONGEST_STEP = 5.0  # in a score, which is a log odds
ENOUGH = 1e-4  # of the gain the slope promises
SHRINK, GROW = 0.3, 2.0  # a step after one that failed, and after one that did not
SHORTEST = 1e-6
FIRST_ROUNDS, ROUNDS = 20, 1  # Newton steps a user takes in the first pass and in every other
PATIENCE = 2  # passes in a row that hardly gain
INFORMED_EVERY = 5  # passes
MATTERS = 0.05  # of the log posterior, a score: it then is a third of its standard error away from the best one
STAGE = "fitting rankings and weights"


@dataclass(frozen=True)
class Refinement(Generic[Component]):
    """The component at the end, the log posterior after every pass, and whether it stood still; the weights that go
    with it are the crowd's."""

    component: Component
    history: list[float]
    converged: bool


@dataclass
class Climb:
    """Where a refinement of scores has got to: scores with what the crowd says about them, the log posterior after
    every pass, how many passes in a row hardly gained, how far to go next, and the last few steps."""

    scores: Floats
    here: ScoreSums
    history: list[float]
    still: int = 0
    length: float = 1.0
    memory: QuasiNewton = field(default_factory=QuasiNewton)


def refine_scores(
    crowd: Crowd,
    component: BradleyTerry,
    user_prior: Floats,
    score_prior: ScorePrior,
    *,
    max_iter: int,
    tol: float,
    on_progress: Progress = silent,
    resumed: Climb | None = None,
    on_pass: Callable[[Climb], None] | None = None,
    memory: QuasiNewton | None = None,
) -> Refinement[BradleyTerry]:
    """Refine scores by quasi-Newton steps; tol is the gain of the log posterior per comparison that counts as none.

    user_prior: (1, K) or (M, K) Dirichlet counts. ``on_pass`` is told after every pass where the climb has got to, and
    ``resumed`` goes on from there. ``memory``, of a fit that was similar, is used and goes on learning.
    """

    def evaluate(scores: Floats, n_rounds: int, informed: bool) -> ScoreSums:
        found = crowd.weigh(BradleyTerry(scores, component.mixing), user_prior, n_rounds, informed=informed)
        value, gradient, _ = score_prior.evaluate(scores)
        return found._replace(log_posterior=found.log_posterior + value, slope=found.slope + gradient)

    if resumed is None:
        here = evaluate(component.scores, FIRST_ROUNDS, True)
        crowd.accept()
        resumed = Climb(component.scores, here, [here.log_posterior], memory=memory or QuasiNewton())
    climb, enough = resumed, tol * crowd.total_weight
    while len(climb.history) < max_iter and climb.still < PATIENCE:
        on_progress(STAGE, len(climb.history) / max_iter)
        if _take_step(climb, evaluate, score_prior, enough):
            crowd.accept()
        if on_pass is not None:
            on_pass(climb)
    on_progress(STAGE, 1.0)
    return Refinement(BradleyTerry(climb.scores, component.mixing), climb.history, climb.still >= PATIENCE)


def _take_step(
    climb: Climb, evaluate: Callable[[Floats, int, bool], ScoreSums], score_prior: ScorePrior, enough: float
) -> bool:
    """Try one step; tell whether it was taken."""
    here, value, length = climb.here, climb.here.log_posterior, climb.length
    ascent = climb.memory.direction(here.slope, preconditioner(here, score_prior))
    step = ascent * (length * min(1.0, LONGEST_STEP / max(np.abs(ascent).max(), 1e-300)))
    there = evaluate(climb.scores + step, ROUNDS, len(climb.history) % INFORMED_EVERY == 0)
    if not there.information.size:
        there = there._replace(information=here.information)
    promised = float((step * here.slope).sum())
    gained = there.log_posterior >= value + ENOUGH * promised  # what is no number did not
    gain = there.log_posterior - value if gained else 0.5 * promised
    climb.still = climb.still + 1 if gain < enough and promises_little(step, here, enough) else 0
    if not gained and length > SHORTEST:
        # too far: what has been learnt elsewhere may mislead here, so forget it first, then go less far
        if climb.memory.is_empty or length == 1.0:
            climb.length *= SHRINK
        else:
            climb.memory.forget()
            climb.length = 1.0
        climb.history.append(value)
        return False
    if not there.log_posterior >= value:
        climb.still = PATIENCE  # not even the shortest step helps
        return False
    climb.memory.remember(step, here.slope, there.slope)
    climb.scores, climb.here, climb.length = climb.scores + step, there, min(1.0, GROW * length)
    climb.history.append(there.log_posterior)
    return True


def preconditioner(here: ScoreSums, score_prior: ScorePrior) -> Callable[[Floats], Floats]:
    """Return what multiplies a gradient (Q, K) with the inverses of K x K blocks, one for every item.

    Products of gradients know how the scores of an item go together but are noisy; the curvature, as if one saw which
    ranking makes a comparison, is smooth but too large. A block is the mean of both, and the prior's precision.
    """
    share = 1.0 if here.slope.shape[1] == 1 else 0.5  # of one ranking the curvature is exact
    blocks = (1.0 - share) * here.information
    np.einsum("qkk->qk", blocks)[:] += share * here.curvature  # the diagonals
    blocks = score_prior.add_precision(blocks)

    def apply(gradient: Floats) -> Floats:
        return np.asarray(np.linalg.solve(blocks, gradient[:, :, None])[:, :, 0], dtype=np.float64)

    return apply


def promises_little(step: Floats, here: ScoreSums, enough: float) -> bool:
    """Tell whether no ranking promises to gain its share of what is enough, or what matters beside the errors of its
    scores: in the sum over all, a ranking that few follow would not count."""
    promised, weight = 0.5 * (step * here.slope).sum(axis=0), here.curvature.sum(axis=0)
    return bool((promised < np.maximum(enough * weight / weight.sum(), MATTERS * len(step))).all())


def refine_orders(
    crowd: InMemory,
    component: Ordered,
    user_prior: Floats,
    *,
    max_iter: int,
    tol: float,
    on_progress: Progress = silent,
) -> Refinement[Ordered]:
    """Refine orders by EM: weights given the orders, expected wins, then better orders for these wins."""
    comparisons, pairs = crowd.comparisons, PairCounts.of(crowd.comparisons)
    crowd.weights, value, crowd.evidence = component.weigh(comparisons, crowd.weights, user_prior, FIRST_ROUNDS)
    history, still, enough = [value], 0, tol * crowd.total_weight
    while len(history) < max_iter and still < PATIENCE:
        on_progress(STAGE, len(history) / max_iter)
        wins = pairs.expected_wins(component.chances(pairs.winners, pairs.losers), crowd.weights, crowd.evidence)
        trial = component.improved(pairs, wins)
        new_weights, new_value, new_evidence = trial.weigh(comparisons, crowd.weights, user_prior, FIRST_ROUNDS)
        if new_value < value:
            still = PATIENCE  # an average to second order can mislead where nearly nothing is left to gain
            break
        still = still + 1 if new_value - value < enough else 0
        component, value, crowd.weights, crowd.evidence = trial, new_value, new_weights, new_evidence
        history.append(value)
    on_progress(STAGE, 1.0)
    return Refinement(component, history, still >= PATIENCE)
