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

from plurank import kernels, metrics, topic
from plurank.choices import Mixing
from plurank.data.comparisons import Comparisons
from plurank.exceptions import DataError, NotIdentifiableError
from plurank.inference.posterior import dirichlet_counts
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.priors import Priors, ScorePrior, keep_from_zero, mean_of
from plurank.mixed.refine import FIRST_ROUNDS, QuasiNewton, Refinement, refine_scores
from plurank.mixed.users import Users
from plurank.random import draw_seed, spawn
from plurank.types import Floats, Progress, silent

# Find the users who follow one ranking alone, and weigh everybody by them: a start for any number of items.
#
# Ours: takes the place of novel pairs where there are many items. Each user's wins minus losses per item, per
# comparison, lie near the hull of K points, one for each ranking; in the leading K directions noise is small. Averages
# over near neighbours make it smaller, and successive projection takes K extreme points. Linear in the number of
# comparisons.

N_USERS = 3_000  # with most comparisons, among whom the extreme points are looked for
N_NEIGHBOURS = 10
BLOCK = 500  # points whose distances to all are held at once
LEAST_WEIGHT = 0.02


def find_user_vertices(comparisons: Comparisons, n_rankings: int, *, rng: np.random.Generator) -> Floats:
    """Return weights of all users on K kinds of users, (M, K), none of them zero."""
    c, signed, counts = comparisons, topic.SignedCounts.of(comparisons), comparisons.weights_of_users()
    leading = topic.leading_item_directions(
        # nothing is taken out: a start may be a little biased
        lambda items: signed.to_items(signed.to_users(items) / counts[:, None]),
        signed.seen(),
        min(n_rankings, c.n_items - 1),
        rng=rng,
    )
    users = signed.to_users(leading)
    points = users / counts[:, None]
    vertices = _extreme_points(points[np.argsort(-counts, kind="stable")[:N_USERS]], n_rankings)
    weights = kernels.regress_on_simplex(vertices @ vertices.T, points @ vertices.T, 1e-9, 1000)
    weights = np.maximum(weights, LEAST_WEIGHT)
    return weights / weights.sum(axis=1, keepdims=True)


def _extreme_points(points: Floats, n: int) -> Floats:
    """Average each point over its neighbours, then take n extreme ones; points repeat where there are too few."""
    smooth = points[_neighbours(points, min(N_NEIGHBOURS, len(points)))].mean(axis=1)
    # a constant coordinate makes projections affine: n points then span n - 1 dimensions
    lifted = np.column_stack([np.full(len(smooth), max(float(np.abs(smooth).mean()), 1e-12)), smooth])
    return smooth[topic.successive_projection(lifted, n)]


def _neighbours(points: Floats, n: int) -> NDArray[np.int64]:
    """Return the n points nearest to each, itself among them, in the order of their numbers, (N, n)."""
    half = np.square(points).sum(axis=1) / 2.0  # |x - y|^2 / 2 = |x|^2 / 2 + |y|^2 / 2 - x y
    blocks = np.array_split(points, len(points) // BLOCK + 1)
    nearest = [np.argpartition(half - block @ points.T, n - 1, axis=1)[:, :n] for block in blocks]
    return np.sort(np.concatenate(nearest), axis=1)


# Swap a ranking that is hardly needed for one of the users whom no ranking explains.
#
# Ours. A start that looks at some of the users misses rankings that few follow, and then has two that are alike or one
# that follows noise. Those who follow a missed ranking stand out among many users: their comparisons are far less
# likely than the fit itself expects. The ranking missed least, by its followers and its distance to the nearest other
# one, makes room for one fitted to them alone. A swap is kept only where the posterior is higher after as many passes
# without it.

UNEXPLAINED_DEVIATIONS = 5.0  # standard deviations of a user's log-likelihood below its expectation
PASSES, TOL = 6, 1e-8
NEAR_CERTAIN = 1e-9  # a probability that is nearer to 0 or 1 counts as this


class Refined(NamedTuple):
    """Rankings, and their log posterior."""

    component: BradleyTerry
    log_posterior: float


def swap_rankings(
    comparisons: Comparisons, component: BradleyTerry, mean_weights: Floats, priors: Priors
) -> tuple[BradleyTerry, Floats]:
    """Return K rankings that leave fewer users unexplained, or the same, with the mean of these users' weights (K,)."""
    users = Users(comparisons).begin(mean_weights)
    users.update_memberships(component, dirichlet_counts(mean_weights, priors.concentration)[None], FIRST_ROUNDS)
    users.accept()
    for _ in range(component.scores.shape[1]):
        odd = find_unexplained(comparisons, users.weights, users.user_concentration, component)
        if not odd.any():
            break
        alone = comparisons.take_users(odd)
        scores, mean = _swapped(component.scores, mean_of(users.weights), alone, odd.mean(), priors)
        tried = Users(comparisons, users.weights)
        swap = _refine_to_compare(tried, replace(component, scores=scores), replace(priors, mean=mean))
        stay = _refine_to_compare(users, component, replace(priors, mean=mean_of(users.weights)))
        if swap.log_posterior <= stay.log_posterior:
            component = stay.component
            break
        component, users = swap.component, tried
    return component, mean_of(users.weights)


def find_unexplained(
    comparisons: Comparisons, weights: Floats, user_concentration: Floats, component: BradleyTerry
) -> NDArray[np.bool_]:
    """Return which users' comparisons are far less likely than expected of them, (M,).

    Expected is the mean log-likelihood of comparisons that come out as the fit says, and far is against its deviation.
    """
    c = comparisons
    rows, counts = c.user_of_each(), 1.0 if c.weights is None else c.weights
    p = component.probabilities(weights, user_concentration, rows, c.winners, c.losers)
    p = np.clip(p, NEAR_CERTAIN, 1.0 - NEAR_CERTAIN)
    odds = np.log(p) - np.log1p(-p)
    short = np.bincount(rows, counts * (1.0 - p) * odds, minlength=c.n_users)  # log p less its mean
    variance = np.bincount(rows, counts * p * (1.0 - p) * odds**2, minlength=c.n_users)
    return short < -UNEXPLAINED_DEVIATIONS * np.sqrt(variance)


def _swapped(scores: Floats, mean: Floats, odd: Comparisons, share: float, priors: Priors) -> tuple[Floats, Floats]:
    """Fit one ranking to the odd users, who are this share of all, and put it in the place of the one missed least,
    whose followers go to its nearest; gives scores (Q, K) and mean weights (K,)."""
    place, nearest = most_redundant(scores, mean)
    alone = Users(odd, np.ones((odd.n_users, 1)))
    found = _refine_to_compare(alone, BradleyTerry(np.zeros((odd.n_items, 1))), replace(priors, mean=np.ones(1)))
    scores, mean = scores.copy(), mean.copy()
    scores[:, place] = found.component.scores[:, 0]
    mean[nearest] += mean[place]
    mean[place] = share
    return scores, keep_from_zero(mean)


def most_redundant(scores: Floats, mean_weights: Floats) -> tuple[int, int]:
    """Return the ranking with the least weight times squared distance to the nearest other one, and that one."""
    centred = scores - scores.mean(axis=0)
    squares = (centred**2).sum(axis=0)
    apart = squares[:, None] + squares - 2.0 * centred.T @ centred
    np.fill_diagonal(apart, np.inf)
    place = int(np.argmin(mean_weights * apart.min(axis=1)))
    return place, int(np.argmin(apart[place]))


def _refine_to_compare(users: Users, component: BradleyTerry, priors: Priors) -> Refined:
    """Refine scores; the log posterior has the constant of the Dirichlet, which depends on the mean weights."""
    found = refine_scores(users, component, priors.counts, priors.scores, max_iter=PASSES, tol=TOL)
    constant = float(_log_gamma(priors.counts.sum(keepdims=True)).sum() - _log_gamma(priors.counts).sum())
    return Refined(found.component, found.history[-1] + users.source.n_users * constant)


def _log_gamma(counts: Floats) -> Floats:
    """Integrate weights by Laplace's method, as for users with comparisons: Stirling's formula."""
    return counts * np.log(counts) - counts - 0.5 * np.log(counts)


Init = Literal["best", "items", "pairs", "random"]
Point = tuple[Floats, Floats]  # scores (Q, K) and weights (M, K)
INIT_SAMPLE = 125_000  # comparisons to start from
SWAP_SAMPLE = 500_000  # comparisons among which a missing ranking is noticed
FEW_ITEMS = 200  # up to here novel pairs are tried too
TRIAL_PASSES, LONG_TRIAL_PASSES, TRIAL_TOL = 20, 100, 1e-8
FEW_PASSES, PASSES_PER_RANKING = 12, 4  # few rankings are told apart sooner
PART_DIVISOR, PART_PASSES, PART_TOL = 4, 20, 1e-5  # a quarter of the users, if more than the first sample has
SPREAD = 2.0  # of the scores that places are turned into
CHANCE_SPREAD = 0.5


class InitResult(NamedTuple):
    """A start: what the rankings are, the mean weights of some users (K,), and what many users told of the curvature,
    per comparison."""

    component: BradleyTerry
    mean_weights: Floats
    memory: QuasiNewton


def init_rankings(
    users: Users,
    n_rankings: int,
    mixing: Mixing,
    how: Init,
    priors: Priors,
    *,
    rng: np.random.Generator,
    on_progress: Progress = silent,
) -> InitResult:
    """Start from some users, then look at many for those whom the start does not explain."""
    some = users.sample(n_rankings, INIT_SAMPLE, rng)
    begun = _best_start(some, n_rankings, mixing, how, priors, rng, on_progress)
    if n_rankings == 1:
        return begun
    many = some if some.n_users == users.source.n_users else users.sample(n_rankings, SWAP_SAMPLE, rng)
    found = InitResult(*swap_rankings(many, begun.component, begun.mean_weights, priors), begun.memory)
    n_part = min(users.source.n_users // PART_DIVISOR, many.n_users)
    return found if n_part <= some.n_users else _refine_on_part(many.block(0, n_part), found, priors)


def _refine_on_part(part: Comparisons, begun: InitResult, priors: Priors) -> InitResult:
    """Refine a start on a part of the users: passes over all of them are then few."""
    users = Users(part).begin(begun.mean_weights)
    own, memory = replace(priors, mean=begun.mean_weights), QuasiNewton()
    found = refine_scores(
        users, begun.component, own.counts, own.scores, max_iter=PART_PASSES, tol=PART_TOL, memory=memory
    )
    return InitResult(found.component, mean_of(users.weights), memory.copy(1.0 / part.total_weight))


def _best_start(
    comparisons: Comparisons,
    n_rankings: int,
    mixing: Mixing,
    how: Init,
    priors: Priors,
    rng: np.random.Generator,
    on_progress: Progress,
) -> InitResult:
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
        sample = Users(comparisons, weights)
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
    return InitResult(best.component, mean_of(sample.weights), QuasiNewton())


def _refine(sample: Users, component: BradleyTerry, priors: Priors, n_passes: int) -> Refinement[BradleyTerry]:
    return refine_scores(sample, component, priors.counts, priors.scores, max_iter=n_passes, tol=TRIAL_TOL)


def from_items(comparisons: Comparisons, n_rankings: int, mixing: Mixing, rng: np.random.Generator) -> Point:
    """Weigh everybody by the users who stand out, then score the items for each kind of users."""
    weights = find_user_vertices(comparisons, n_rankings, rng=rng)
    return scores_of_weights(comparisons, weights, mixing), weights


def from_pairs(comparisons: Comparisons, n_rankings: int, _: Mixing, rng: np.random.Generator) -> Point:
    """Recover strict rankings from novel pairs (Algorithm 1) and space their scores evenly."""
    moments = topic.pair_moments(comparisons, draw_seed(rng))
    rankings = topic.recover_rankings(moments, n_rankings, "whitened", rng=rng).rounded.rankings
    places = metrics.places_of(rankings)
    return SPREAD * (1.0 - 2.0 * places / (len(places) - 1)), uniform(comparisons.n_users, n_rankings)


def from_random(comparisons: Comparisons, n_rankings: int, _: Mixing, rng: np.random.Generator) -> Point:
    """Draw scores."""
    scores = CHANCE_SPREAD * rng.standard_normal((comparisons.n_items, n_rankings))
    return scores, uniform(comparisons.n_users, n_rankings)


def scores_of_weights(comparisons: Comparisons, weights: Floats, mixing: Mixing) -> Floats:
    """Take the one Newton step from equal scores that fits users with these weights, (Q, K)."""
    nought = BradleyTerry(np.zeros((comparisons.n_items, weights.shape[1])), mixing)
    seen = nought.update_memberships(comparisons, weights, np.ones((1, weights.shape[1])), 0)
    _, _, prior = ScorePrior(1.0, 1.0).evaluate(nought.scores)
    return seen.sums.gradient / (seen.sums.hessian + prior)


def uniform(n_users: int, n_rankings: int) -> Floats:
    """Return the same weight for every user on every ranking, (M, K)."""
    return np.full((n_users, n_rankings), 1.0 / n_rankings)


WAYS: dict[str, Callable[[Comparisons, int, Mixing, np.random.Generator], Point]] = {
    "items": from_items,
    "pairs": from_pairs,
    "random": from_random,
}
