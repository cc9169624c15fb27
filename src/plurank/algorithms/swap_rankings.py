"""Swap a ranking that is hardly needed for one of the users whom no ranking explains.

Ours. A start that looks at some of the users misses rankings that few follow, and then has two that are alike or one
that follows noise. Those who follow a missed ranking stand out among many users: their comparisons are far less likely
than the fit itself expects. The ranking missed least, by its followers and its distance to the nearest other one, makes
room for one fitted to them alone. A swap is kept only where the posterior is higher after as many passes without it.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurank.algorithms.crowd import InMemory
from plurank.algorithms.refine_by_likelihood import FIRST_ROUNDS, refine_scores
from plurank.components.bradley_terry import BradleyTerry
from plurank.data.comparisons import Comparisons
from plurank.inference.priors import Priors, count_weights, keep_from_zero, mean_of

Floats = NDArray[np.float64]
FAR = 5.0  # standard deviations below what is expected of a user
PASSES, TOL = 6, 1e-8
NEAR_CERTAIN = 1e-9  # a probability that is nearer to 0 or 1 counts as this


class Trial(NamedTuple):
    """Rankings, and their log posterior."""

    component: BradleyTerry
    log_posterior: float


def swap_rankings(
    comparisons: Comparisons, component: BradleyTerry, mean_weights: Floats, priors: Priors
) -> tuple[BradleyTerry, Floats]:
    """Give K rankings that leave fewer users unexplained, or the same, with the mean of these users' weights (K,)."""
    crowd = InMemory(comparisons).begin(mean_weights)
    crowd.weigh(component, count_weights(mean_weights, priors.concentration)[None], FIRST_ROUNDS)
    crowd.accept()
    for _ in range(component.scores.shape[1]):
        odd = find_unexplained(crowd, component)
        if not odd.any():
            break
        alone = comparisons.take_users(odd)
        scores, mean = _swapped(component.scores, mean_of(crowd.weights), alone, odd.mean(), priors)
        tried = InMemory(comparisons, crowd.weights)
        swap = _refine(tried, replace(component, scores=scores), replace(priors, mean=mean))
        stay = _refine(crowd, component, replace(priors, mean=mean_of(crowd.weights)))
        if swap.log_posterior <= stay.log_posterior:
            component = stay.component
            break
        component, crowd = swap.component, tried
    return component, mean_of(crowd.weights)


def find_unexplained(crowd: InMemory, component: BradleyTerry) -> NDArray[np.bool_]:
    """Tell which users' comparisons are far less likely than expected of them, (M,).

    Expected is the mean log-likelihood of comparisons that come out as the fit says, and far is against its deviation.
    """
    c = crowd.comparisons
    users, counts = c.user_of_each(), 1.0 if c.weights is None else c.weights
    p = component.probabilities(crowd.weights, crowd.evidence, users, c.winners, c.losers)
    p = np.clip(p, NEAR_CERTAIN, 1.0 - NEAR_CERTAIN)
    odds = np.log(p) - np.log1p(-p)
    short = np.bincount(users, counts * (1.0 - p) * odds, minlength=c.n_users)  # log p less its mean
    spread = np.bincount(users, counts * p * (1.0 - p) * odds**2, minlength=c.n_users)
    return short < -FAR * np.sqrt(spread)


def _swapped(scores: Floats, mean: Floats, odd: Comparisons, share: float, priors: Priors) -> tuple[Floats, Floats]:
    """Fit one ranking to the odd users, who are this share of all, and put it in the place of the one missed least,
    whose followers go to its nearest; gives scores (Q, K) and mean weights (K,)."""
    place, nearest = missed_least(scores, mean)
    alone = InMemory(odd, np.ones((odd.n_users, 1)))
    found = _refine(alone, BradleyTerry(np.zeros((odd.n_items, 1))), replace(priors, mean=np.ones(1)))
    scores, mean = scores.copy(), mean.copy()
    scores[:, place] = found.component.scores[:, 0]
    mean[nearest] += mean[place]
    mean[place] = share
    return scores, keep_from_zero(mean)


def missed_least(scores: Floats, mean_weights: Floats) -> tuple[int, int]:
    """Give the ranking with the least weight times squared distance to the nearest other one, and that one."""
    centred = scores - scores.mean(axis=0)
    squares = (centred**2).sum(axis=0)
    apart = squares[:, None] + squares - 2.0 * centred.T @ centred
    np.fill_diagonal(apart, np.inf)
    place = int(np.argmin(mean_weights * apart.min(axis=1)))
    return place, int(np.argmin(apart[place]))


def _refine(crowd: InMemory, component: BradleyTerry, priors: Priors) -> Trial:
    """Refine scores; the log posterior has the constant of the Dirichlet, which depends on the mean weights."""
    found = refine_scores(crowd, component, priors.counts, priors.scores, max_iter=PASSES, tol=TOL)
    constant = float(_log_gamma(priors.counts.sum(keepdims=True)).sum() - _log_gamma(priors.counts).sum())
    return Trial(found.component, found.history[-1] + crowd.comparisons.n_users * constant)


def _log_gamma(counts: Floats) -> Floats:
    """Integrate weights by Laplace's method, as for users with comparisons: Stirling's formula."""
    return counts * np.log(counts) - counts - 0.5 * np.log(counts)
