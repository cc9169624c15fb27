"""Refine scores by maximising the posterior with quasi-Newton steps, and orders by EM.

Ours. The gradient and an estimate of the Hessian come from one pass over the comparisons, in which every user's weights
take a Newton step. They are integrated out by Laplace's method: a Gaussian around each user's most probable weights, so
that the log posterior of the scores has a log-determinant per user. At the end: the average curvature over the
posterior's width, beyond that at its peak.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, Self, TypeVar

import numpy as np

from plurank.data.comparisons import Comparisons
from plurank.mixed.bradley_terry import BradleyTerry, ScoreSums
from plurank.mixed.priors import ScorePrior
from plurank.mixed.users import Users
from plurank.topic.orders import OrderedComponent, PairCounts
from plurank.types import Floats, Progress, silent

# Directions that learn the Hessian of a function from its gradients (limited-memory BFGS).
#
# Ours: starts from a preconditioner, an estimate of the Hessian that a pass over the comparisons gives, so that scores
# of rare and of frequent items move at their own pace, and all sums are plain ones with one order.

MEMORY = 12


class QuasiNewton:
    """Remembers the last few steps and how the gradient changed along them."""

    def __init__(self) -> None:
        self._steps: deque[tuple[Floats, Floats, float]] = deque(maxlen=MEMORY)

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been learnt."""
        return not self._steps

    def direction(self, gradient: Floats, precondition: Callable[[Floats], Floats]) -> Floats:
        """Return a direction of ascent; ``precondition`` applies a first guess of the inverse Hessian."""
        ascent = gradient.copy()
        taken = []
        for step, change, scale in reversed(self._steps):
            share = scale * _dot(step, ascent)
            taken.append(share)
            ascent -= share * change
        ascent = precondition(ascent)
        for (step, change, scale), share in zip(self._steps, reversed(taken), strict=True):
            ascent += (share - scale * _dot(change, ascent)) * step
        return ascent

    def remember(self, step: Floats, gradient_before: Floats, gradient_after: Floats) -> None:
        """Learn from a step, unless the function curves the wrong way along it."""
        change = gradient_before - gradient_after
        along = _dot(step, change)
        if along > 0.0:
            self._steps.append((step, change, 1.0 / along))

    def copy(self, times: float = 1.0) -> Self:
        """Return a memory that learns on its own from here, of a function that is so many times as large."""
        twin = type(self)()
        twin._steps.extend((step, times * change, scale / times) for step, change, scale in self._steps)
        return twin

    def forget(self) -> None:
        """Start again from the first guess."""
        self._steps.clear()

    def to_arrays(self) -> dict[str, Floats]:
        """Return what has been learnt as arrays: steps and changes (n, ...)."""
        kinds = zip(*((step, change) for step, change, _ in self._steps), strict=True)
        return {name: np.array(kind) for name, kind in zip(("steps", "changes"), kinds, strict=False)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Floats]) -> Self:
        """Restore a memory from :meth:`to_arrays`."""
        memory = cls()
        for step, change in zip(arrays.get("steps", ()), arrays.get("changes", ()), strict=True):
            memory._steps.append((step, change, 1.0 / _dot(step, change)))
        return memory


def _dot(a: Floats, b: Floats) -> float:
    return float((a * b).sum())


# Raise the posterior of scores, or of orders, and user weights together until it stands still.
#
# Ours: the paper stops at the rankings that Algorithm 4 rounds to. One pass over the comparisons weighs every user
# anew, given the rankings, and collects what all users say about the rankings. Scores take a quasi-Newton step on the
# posterior with the weights integrated out (Laplace); orders take an EM step. A step is kept only where the posterior
# grows, so it never falls.

Component = TypeVar("Component", bound=BradleyTerry | OrderedComponent)
Ordered = TypeVar("Ordered", bound=OrderedComponent)
LONGEST_STEP = 5.0  # in a score, which is a log odds
ARMIJO = 1e-4  # of the gain that the gradient predicts
SHRINK, GROW = 0.3, 2.0  # a step after one that failed, and after one that did not
SHORTEST = 1e-6
FIRST_ROUNDS, ROUNDS = 20, 1  # Newton steps a user takes in the first pass and in every other
PATIENCE = 2  # passes in a row that hardly gain
INFORMED_EVERY = 5  # passes
MIN_GAIN_PER_SCORE = 0.05  # of the log posterior: a score is then a third of its standard error from the optimum
STAGE = "fitting rankings and weights"


@dataclass(frozen=True)
class Refinement(Generic[Component]):
    """The component at the end, the log posterior after every pass, and whether it converged; the weights that go with
    it are the users'."""

    component: Component
    history: list[float]
    converged: bool


@dataclass
class RefineState:
    """The current state of a refinement of scores: scores with what the users say about them, the log posterior after
    every pass, how many passes in a row hardly gained, how far to go next, and the last few steps."""

    scores: Floats
    here: ScoreSums
    history: list[float]
    n_stalled: int = 0
    length: float = 1.0
    memory: QuasiNewton = field(default_factory=QuasiNewton)


def refine_scores(
    users: Users,
    component: BradleyTerry,
    user_prior: Floats,
    score_prior: ScorePrior,
    *,
    max_iter: int,
    tol: float,
    on_progress: Progress = silent,
    resumed: RefineState | None = None,
    on_pass: Callable[[RefineState], None] | None = None,
    memory: QuasiNewton | None = None,
) -> Refinement[BradleyTerry]:
    """Refine scores by quasi-Newton steps; tol is the gain of the log posterior per comparison that counts as none.

    user_prior: (1, K) or (M, K) Dirichlet counts. ``on_pass`` is called after every pass with the current state, and
    ``resumed`` goes on from one. ``memory``, of a fit that was similar, is used and goes on learning.
    """

    def evaluate(scores: Floats, n_rounds: int, informed: bool) -> ScoreSums:
        found = users.update_memberships(
            BradleyTerry(scores, component.mixing), user_prior, n_rounds, informed=informed
        )
        value, gradient, _ = score_prior.evaluate(scores)
        return found._replace(log_posterior=found.log_posterior + value, gradient=found.gradient + gradient)

    if resumed is None:
        here = evaluate(component.scores, FIRST_ROUNDS, True)
        users.accept()
        resumed = RefineState(component.scores, here, [here.log_posterior], memory=memory or QuasiNewton())
    state, enough = resumed, tol * users.total_weight
    while len(state.history) < max_iter and state.n_stalled < PATIENCE:
        on_progress(STAGE, len(state.history) / max_iter)
        if _take_step(state, evaluate, score_prior, enough):
            users.accept()
        if on_pass is not None:
            on_pass(state)
    on_progress(STAGE, 1.0)
    return Refinement(BradleyTerry(state.scores, component.mixing), state.history, state.n_stalled >= PATIENCE)


def _take_step(
    state: RefineState, evaluate: Callable[[Floats, int, bool], ScoreSums], score_prior: ScorePrior, enough: float
) -> bool:
    """Try one step; return whether it was taken."""
    here, value, length = state.here, state.here.log_posterior, state.length
    ascent = state.memory.direction(here.gradient, preconditioner(here, score_prior))
    step = ascent * (length * min(1.0, LONGEST_STEP / max(np.abs(ascent).max(), 1e-300)))
    there = evaluate(state.scores + step, ROUNDS, len(state.history) % INFORMED_EVERY == 0)
    if not there.information.size:
        there = there._replace(information=here.information)
    predicted_gain = float((step * here.gradient).sum())
    gained = there.log_posterior >= value + ARMIJO * predicted_gain  # what is no number did not
    gain = there.log_posterior - value if gained else 0.5 * predicted_gain
    state.n_stalled = state.n_stalled + 1 if gain < enough and promises_little(step, here, enough) else 0
    if not gained and length > SHORTEST:
        # too far: what has been learnt elsewhere may mislead here, so forget it first, then go less far
        if state.memory.is_empty or length == 1.0:
            state.length *= SHRINK
        else:
            state.memory.forget()
            state.length = 1.0
        state.history.append(value)
        return False
    if not there.log_posterior >= value:
        state.n_stalled = PATIENCE  # not even the shortest step helps
        return False
    state.memory.remember(step, here.gradient, there.gradient)
    state.scores, state.here, state.length = state.scores + step, there, min(1.0, GROW * length)
    state.history.append(there.log_posterior)
    return True


def preconditioner(here: ScoreSums, score_prior: ScorePrior) -> Callable[[Floats], Floats]:
    """Return what multiplies a gradient (Q, K) with the inverses of K x K blocks, one for every item.

    Products of gradients know how the scores of an item go together but are noisy; the curvature, as if one saw which
    ranking makes a comparison, is smooth but too large. A block is the mean of both, and the prior's precision.
    """
    share = 1.0 if here.gradient.shape[1] == 1 else 0.5  # of one ranking the curvature is exact
    blocks = (1.0 - share) * here.information
    np.einsum("qkk->qk", blocks)[:] += share * here.hessian  # the diagonals
    blocks = score_prior.add_precision(blocks)

    def apply(gradient: Floats) -> Floats:
        return np.asarray(np.linalg.solve(blocks, gradient[:, :, None])[:, :, 0], dtype=np.float64)

    return apply


def promises_little(step: Floats, here: ScoreSums, enough: float) -> bool:
    """Check whether no ranking promises to gain its share of what is enough, or what matters beside the errors of its
    scores: in the sum over all, a ranking that few follow would not count."""
    predicted_gain, weight = 0.5 * (step * here.gradient).sum(axis=0), here.hessian.sum(axis=0)
    return bool((predicted_gain < np.maximum(enough * weight / weight.sum(), MIN_GAIN_PER_SCORE * len(step))).all())


def refine_orders(
    comparisons: Comparisons,
    weights: Floats,
    component: Ordered,
    user_prior: Floats,
    *,
    max_iter: int,
    tol: float,
    on_progress: Progress = silent,
) -> tuple[Refinement[Ordered], Floats]:
    """Refine orders by EM: weights given the orders, expected wins, then better orders for these wins.

    Returns the orders, and the weights of the users, (M, K).
    """
    pairs, enough = PairCounts.of(comparisons), tol * Users(comparisons).total_weight
    weights, value, user_concentration = component.update_memberships(comparisons, weights, user_prior, FIRST_ROUNDS)
    history, n_stalled = [value], 0
    while len(history) < max_iter and n_stalled < PATIENCE:
        on_progress(STAGE, len(history) / max_iter)
        wins = pairs.expected_wins(component.chances(pairs.winners, pairs.losers), weights, user_concentration)
        trial = component.improved(pairs, wins)
        tried = trial.update_memberships(comparisons, weights, user_prior, FIRST_ROUNDS)
        gain = tried[1] - value
        if gain < 0.0:
            n_stalled = PATIENCE  # an average to second order can mislead where nearly nothing is left to gain
            break
        n_stalled = n_stalled + 1 if gain < enough else 0
        component, (weights, value, user_concentration) = trial, tried
        history.append(value)
    on_progress(STAGE, 1.0)
    return Refinement(component, history, n_stalled >= PATIENCE), weights


MAX_ROUNDS = 5
NEARLY_ONE = 0.95  # shrinking by less changes nothing
STANDS_STILL = 0.05  # relative change of the errors


def hessian_off_peak(users: Users, component: BradleyTerry, user_prior: Floats, score_prior: ScorePrior) -> Floats:
    """Return the mean Hessian over the width of the posterior beyond that at its peak, at least 0, on the diagonals of
    (Q, K, K).

    ``max(w H(w s) - H(s), 0)`` with H the curvature at scores: the mean curvature of a logistic likelihood over a
    Gaussian of variance v is about w times that at scores shrunk by ``w = 1 / sqrt(1 + pi v / 8)``. Here ``v = 2 e^2``
    for the difference of two scores, and ``e_k^2 = median_i 1 / (w H(w s) + prior precision)_ik`` of ranking k. w and
    e are computed in turns, at most 5 times, until e changes by less than 5%.
    """
    at_peak = users.update_memberships(component, user_prior, 0).hessian
    least = score_prior.evaluate(component.scores)[2]
    within, errors = at_peak, _typical_errors(at_peak + least)
    for _ in range(MAX_ROUNDS):
        shrink = 1.0 / np.sqrt(1.0 + np.pi / 8.0 * 2.0 * errors**2)  # a lead is between two scores
        if (shrink > NEARLY_ONE).all():
            break
        shrunk = BradleyTerry(shrink * component.scores, component.mixing)
        within = shrink * users.update_memberships(shrunk, user_prior, 0).hessian
        narrower = _typical_errors(within + least)
        settled = bool((np.abs(narrower / errors - 1.0) < STANDS_STILL).all())
        errors = np.sqrt(errors * narrower)  # half way, for the wider the steeper and the steeper the narrower
        if settled:
            break
    more: Floats = np.maximum(within - at_peak, 0.0)[:, :, None] * np.eye(at_peak.shape[1])
    return more


def _typical_errors(hessian: Floats) -> Floats:
    return np.sqrt(np.median(1.0 / hessian, axis=0))
