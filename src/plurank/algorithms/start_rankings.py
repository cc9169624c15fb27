"""Where the refinement starts: kinds of users, novel pairs, or chance; the best of them after a few passes over some
users, with rankings swapped for those of users whom it does not explain.

Ours. ``items`` (find_user_vertices) takes linear time for any number of items; ``pairs`` is the paper's way with
whitened detection, for few items; ``random`` scores need no structure at all.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurank.algorithms.crowd import Crowd, InMemory
from plurank.algorithms.find_user_vertices import find_user_vertices
from plurank.algorithms.quasi_newton import QuasiNewton
from plurank.algorithms.recover_rankings import recover_rankings
from plurank.algorithms.refine_by_likelihood import Refinement, refine_scores
from plurank.algorithms.swap_rankings import swap_rankings
from plurank.choices import Mixing
from plurank.components.bradley_terry import BradleyTerry
from plurank.components.score_prior import ScorePrior
from plurank.data.comparisons import Comparisons
from plurank.evaluation.ranking_error import places_of
from plurank.exceptions import DataError, NotIdentifiableError
from plurank.inference.priors import Priors, mean_of
from plurank.progress import Progress, silent
from plurank.rng import draw_seed, spawn
from plurank.statistics.pair_moments import pair_moments

Floats = NDArray[np.float64]
Start = Literal["best", "items", "pairs", "random"]
Point = tuple[Floats, Floats]  # scores (Q, K) and weights (M, K)
ENOUGH = 125_000  # comparisons to start from
MANY = 500_000  # comparisons of users among whom a ranking that is missing is noticed
FEW_ITEMS = 200  # up to here novel pairs are tried too
TRIAL_PASSES, LONG_TRIAL_PASSES, TRIAL_TOL = 20, 100, 1e-8
FEW_PASSES, PASSES_PER_RANKING = 12, 4  # few rankings are told apart sooner
PART, PART_PASSES, PART_TOL = 4, 20, 1e-5  # a quarter of the users, where that is more than were started from
SPREAD = 2.0  # of the scores that places are turned into
CHANCE_SPREAD = 0.5


class Begun(NamedTuple):
    """A start: what the rankings are, the mean weights of some users (K,), and what many users told of the curvature,
    per comparison."""

    component: BradleyTerry
    mean_weights: Floats
    memory: QuasiNewton


def start_rankings(
    crowd: Crowd,
    n_rankings: int,
    mixing: Mixing,
    how: Start,
    priors: Priors,
    *,
    rng: np.random.Generator,
    on_progress: Progress = silent,
) -> Begun:
    """Start from some users, then look at many for those whom the start does not explain."""
    some = crowd.sample(n_rankings, ENOUGH, rng)
    begun = _best_start(some, n_rankings, mixing, how, priors, rng, on_progress)
    if n_rankings == 1:
        return begun
    many = some if some.n_users == crowd.source.n_users else crowd.sample(n_rankings, MANY, rng)
    found = Begun(*swap_rankings(many, begun.component, begun.mean_weights, priors), begun.memory)
    n_part = min(crowd.source.n_users // PART, many.n_users)
    return found if n_part <= some.n_users else _refine_on_part(many.block(0, n_part), found, priors)


def _refine_on_part(part: Comparisons, begun: Begun, priors: Priors) -> Begun:
    """Refine a start on a part of the users: passes over all of them are then few."""
    users = InMemory(part).begin(begun.mean_weights)
    own, memory = replace(priors, mean=begun.mean_weights), QuasiNewton()
    found = refine_scores(
        users, begun.component, own.counts, own.scores, max_iter=PART_PASSES, tol=PART_TOL, memory=memory
    )
    return Begun(found.component, mean_of(users.weights), memory.copy(1.0 / part.total_weight))


def _best_start(
    comparisons: Comparisons,
    n_rankings: int,
    mixing: Mixing,
    how: Start,
    priors: Priors,
    rng: np.random.Generator,
    on_progress: Progress,
) -> Begun:
    """Try the ways that ``how`` names for a few passes and keep the one with the highest posterior."""
    few = comparisons.n_items <= FEW_ITEMS and n_rankings > 1
    names = [how] if how != "best" else ["items", "pairs", "random"] if few else ["items", "random"]
    tried = []
    for n, (name, child) in enumerate(zip(names, spawn(rng, len(names)), strict=True)):
        on_progress("finding a start", n / len(names))
        try:
            scores, weights = WAYS[name](comparisons, n_rankings, mixing, child)
        except (NotIdentifiableError, DataError):
            if how != "best":
                raise
            continue
        sample = InMemory(comparisons, weights)
        n_passes = min(max(FEW_PASSES, PASSES_PER_RANKING * n_rankings), TRIAL_PASSES)
        tried.append((_refine(sample, BradleyTerry(scores, mixing), priors, n_passes), sample))
    if any(trial.component.are_alike for trial, _ in tried):
        # one ranking for all is found quickly: others get the time to show whether they are better
        tried = [
            (
                trial if trial.component.are_alike else _refine(sample, trial.component, priors, LONG_TRIAL_PASSES),
                sample,
            )
            for trial, sample in tried
        ]
    best, sample = max(tried, key=lambda each: each[0].history[-1])
    return Begun(best.component, mean_of(sample.weights), QuasiNewton())


def _refine(sample: InMemory, component: BradleyTerry, priors: Priors, n_passes: int) -> Refinement[BradleyTerry]:
    return refine_scores(sample, component, priors.counts, priors.scores, max_iter=n_passes, tol=TRIAL_TOL)


def from_items(comparisons: Comparisons, n_rankings: int, mixing: Mixing, rng: np.random.Generator) -> Point:
    """Weigh everybody by the users who stand out, then score the items for each kind of users."""
    weights = find_user_vertices(comparisons, n_rankings, rng=rng)
    return scores_of_weights(comparisons, weights, mixing), weights


def from_pairs(comparisons: Comparisons, n_rankings: int, _: Mixing, rng: np.random.Generator) -> Point:
    """Recover strict rankings from novel pairs (Algorithm 1) and space their scores evenly."""
    moments = pair_moments(comparisons, draw_seed(rng))
    rankings = recover_rankings(moments, n_rankings, "whitened", rng=rng).rounded.rankings
    places = places_of(rankings)
    return SPREAD * (1.0 - 2.0 * places / (len(places) - 1)), uniform(comparisons.n_users, n_rankings)


def from_chance(comparisons: Comparisons, n_rankings: int, _: Mixing, rng: np.random.Generator) -> Point:
    """Draw scores."""
    scores = CHANCE_SPREAD * rng.standard_normal((comparisons.n_items, n_rankings))
    return scores, uniform(comparisons.n_users, n_rankings)


def scores_of_weights(comparisons: Comparisons, weights: Floats, mixing: Mixing) -> Floats:
    """Take the one Newton step from equal scores that fits users with these weights, (Q, K)."""
    nought = BradleyTerry(np.zeros((comparisons.n_items, weights.shape[1])), mixing)
    seen = nought.weigh(comparisons, weights, np.ones((1, weights.shape[1])), 0)
    _, _, prior = ScorePrior(1.0, 1.0).evaluate(nought.scores)
    return seen.sums.slope / (seen.sums.curvature + prior)


def uniform(n_users: int, n_rankings: int) -> Floats:
    """Give everybody the same weight on every ranking, (M, K)."""
    return np.full((n_users, n_rankings), 1.0 / n_rankings)


WAYS: dict[str, Callable[[Comparisons, int, Mixing, np.random.Generator], Point]] = {
    "items": from_items,
    "pairs": from_pairs,
    "random": from_chance,
}
