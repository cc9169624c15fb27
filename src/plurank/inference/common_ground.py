"""Which items all rankings agree on, by the posterior of the scores.

Ours. Scores are about Gaussian around their most probable values, so orders are drawn from that posterior, and an item
has a property with the probability that it has it in a draw. Nothing is said from point ranks alone. The lists made of
these probabilities hold the expected share of false entries below a bound: an item is listed as long as the mean
probability of being wrong, over all items listed so far, is at most ``FALSE_DISCOVERIES`` (a Bayesian false discovery
rate; Newton et al. 2004, Biostatistics 5:155).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from plurank.inference.posterior import SEED
from plurank.types import Floats, Integers, Masks

# How many agree: shares of agreement by camp, from votes of agree, pass and disagree.
#
# Ours. A share is that of the people who agree among those who agree or disagree, with a Beta posterior (Jeffreys'
# prior), independent between camps. Where a model of the votes says what share of everybody in a camp is expected to
# agree, also of those who did not vote on the item, that takes the place of the prior, as a few votes. An item counts
# as agreed on where at least ``CLEAR_SHARE`` of every camp agrees, and of the people who dissent most often: a minority
# too small for a ranking of its own is not overlooked.

CLEAR_SHARE = 0.6  # a bare majority of some votes may be chance, and is not what people call agreement
LEAST_CLEAR = 5  # votes for or against, for a camp to be a side of a dispute
MOST_EXPECTED = 10.0  # votes that the expected share counts as
PRIOR_VOTES = 2.0  # of dissenters, at the mean share of all: a few of their votes decide nothing


class Agreement(NamedTuple):
    """The share that agrees by item and camp, NaN without votes, with its bounds, (Q, K) each; and the probabilities
    that all camps agree, that all disagree, and that one clearly agrees and another clearly disagrees, (Q,) each."""

    share: Floats
    lower: Floats
    upper: Floats
    liked: Floats
    disliked: Floats
    contested: Floats


def find_agreement(
    agree: Integers, disagree: Integers, dissenters: Integers, level: float, drawn: Floats | None = None
) -> Agreement:
    """Estimate shares from counts by camp (Q, K), and those of dissenters who agree and disagree (Q, 2).

    drawn (D, Q, K): shares of everybody in a camp by draws of a model, NaN for camps without users.
    """
    first, second = agree + 0.5, disagree + 0.5
    tail = (1.0 - level) / 2.0
    lower = np.where(
        agree == 0, 0.0, scipy.special.betaincinv(first, second, tail)
    )  # the usual form of Jeffreys' interval
    upper = np.where(disagree == 0, 1.0, scipy.special.betaincinv(first, second, 1.0 - tail))
    if drawn is not None:
        for_all, against_all = _as_votes(drawn)
        first, second = agree + for_all, disagree + against_all
    above, below = (scipy.special.betainc(a, b, 1.0 - CLEAR_SHARE) for a, b in ((second, first), (first, second)))
    mean = (agree.sum(axis=1) + 1.0) / (agree.sum(axis=1) + disagree.sum(axis=1) + 2.0)
    for_it, against = dissenters[:, 0] + PRIOR_VOTES * mean, dissenters[:, 1] + PRIOR_VOTES * (1.0 - mean)
    above_there = scipy.special.betainc(against, for_it, 1.0 - CLEAR_SHARE)
    below_there = scipy.special.betainc(for_it, against, 1.0 - CLEAR_SHARE)
    heard = agree + disagree >= LEAST_CLEAR  # a camp with fewer votes is no side of a dispute
    high, low = np.where(heard, above, 0.0), np.where(heard, below, 0.0)
    neither = np.maximum(1.0 - high - low, 0.0)
    contested = 1.0 - (1.0 - high).prod(axis=1) - (1.0 - low).prod(axis=1) + neither.prod(axis=1)
    liked, disliked = above.prod(axis=1) * above_there, below.prod(axis=1) * below_there
    share = np.where(agree + disagree > 0, agree / np.maximum(agree + disagree, 1), np.nan)
    return Agreement(share, lower, upper, liked, disliked, np.clip(contested, 0.0, 1.0))


def _as_votes(drawn: Floats) -> tuple[Floats, Floats]:
    """Return votes for and against, (Q, K) each, that say what draws of a share (D, Q, K) do, or as many as count."""
    mean = np.clip(np.nan_to_num(drawn.mean(axis=0), nan=0.5), 0.01, 0.99)
    variance = np.maximum(np.nan_to_num(drawn.var(axis=0), nan=1.0), 1e-9)
    votes = np.clip(mean * (1.0 - mean) / variance - 1.0, 1.0, MOST_EXPECTED)
    return mean * votes, (1.0 - mean) * votes


FALSE_DISCOVERIES = 0.05  # expected share of wrong entries in a list
LEAST_PROBABILITY = 0.9  # of every single entry: a list of sure items must not carry doubtful ones
WIDER = 1.25  # standard errors are those at given weights and priors, a little too small (benchmarks/common_ground.py)
N_DRAWS = 1000
MOST_NUMBERS = 2**24  # drawn in all; items beyond that get fewer draws
LEAST_DRAWS = 100
MOST_PEOPLE = 2_000  # to average a camp over
LEAST_SHAPE = 1e-2  # below it a Gamma variate may round to zero
NEAR = 5  # ranks within a fifth of all items count as the same position


class CommonGround(NamedTuple):
    """For every item, (Q,) each: probabilities that it is in the top, or bottom, third of every ranking, that all
    rankings put it at about the same position, and that one has it in its top third and another in its bottom third.

    ``worst_ranking`` (from 0) is the ranking that most often puts the item lowest, ``worst_rank`` its rank in the
    least favourable ranking: mean, lower and upper bound, (3, Q)."""

    liked: Floats
    disliked: Floats
    same: Floats
    contested: Floats
    worst_ranking: NDArray[np.int64]
    worst_rank: Floats


def find_common_ground(
    scores: Floats, errors: Floats, correlations: Floats, blends: Sequence[Floats], level: float
) -> CommonGround:
    """Draw orders from the posterior of scores (Q, K), with standard errors (Q, K) and correlations (K, K).

    blends: what the camps' weights (K, K) may be, a camp a row, used in turns; the identity where camps are the
    rankings themselves.
    """
    n_items, n_rankings = scores.shape
    n_draws = int(np.clip(MOST_NUMBERS // scores.size, LEAST_DRAWS, N_DRAWS))
    third, near = n_items // 3, max(1, n_items // NEAR)  # of fewer than three items none is in a third
    values, vectors = np.linalg.eigh(correlations)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    rng = np.random.default_rng([SEED, 2])
    hits, lowest = np.zeros((4, n_items)), np.zeros((n_items, n_rankings), np.int64)
    worst = np.empty((n_draws, n_items), np.int32)
    for draw in range(n_draws):
        drawn = scores + WIDER * errors * (rng.standard_normal(scores.shape) @ root.T)
        ranks = _ranks(drawn @ blends[draw % len(blends)].T)
        high, low = ranks.min(axis=1), ranks.max(axis=1)
        hits[0] += low <= third
        hits[1] += high > n_items - third
        hits[2] += low - high <= near
        hits[3] += (high <= third) & (low > n_items - third)
        lowest[np.arange(n_items), ranks.argmax(axis=1)] += 1
        worst[draw] = low
    tail = (1.0 - level) / 2.0
    bounds = np.quantile(worst, (tail, 1.0 - tail), axis=0, method="nearest")
    liked, disliked, same, contested = hits / n_draws
    ranks_there = np.vstack([worst.mean(axis=0), bounds])
    return CommonGround(liked, disliked, same, contested, lowest.argmax(axis=1), ranks_there)


def draw_camps(weights: Floats, concentrations: Floats, n_draws: int) -> list[Floats]:
    """Draw what the mean weights of camps may be, (K, K) each: those of the people who follow a ranking most.

    User weights (M, K) are drawn from Dirichlet posteriors with concentrations (M,); their means alone would be too
    much alike. Of many people every n-th counts.
    """
    step = 1 + len(weights) // MOST_PEOPLE
    weights, concentrations = weights[::step], concentrations[::step]
    rng = np.random.default_rng([SEED, 3])
    drawn = []
    for _ in range(n_draws):
        people = rng.standard_gamma(np.maximum(concentrations[:, None] * weights, LEAST_SHAPE))
        people /= people.sum(axis=1, keepdims=True)
        followers = np.eye(weights.shape[1])[people.argmax(axis=1)]  # (M, K), one 1 a row
        sizes = followers.sum(axis=0)[:, None]
        camps = followers.T @ people / np.maximum(sizes, 1.0)
        drawn.append(np.where(sizes > 0, camps, np.eye(len(sizes))))  # nobody there: the ranking itself
    return drawn


def _ranks(scores: Floats) -> NDArray[np.int32]:
    """Rank items in every ranking, (Q, K), 1 for the best."""
    order = np.argsort(-scores, axis=0, kind="stable")
    ranks = np.empty(order.shape, np.int32)
    np.put_along_axis(ranks, order, np.arange(1, len(scores) + 1, dtype=np.int32)[:, None], axis=0)
    return ranks


def control_false_discoveries(probabilities: Floats, candidates: Masks, rate: float = FALSE_DISCOVERIES) -> Masks:
    """Mark the largest set of candidates (n,) whose expected share of false entries is at most a rate."""
    wrong = np.where(candidates & (probabilities >= LEAST_PROBABILITY), 1.0 - probabilities, np.inf)
    order = np.argsort(wrong, kind="stable")
    shares = np.cumsum(wrong[order]) / np.arange(1, len(wrong) + 1)
    chosen = np.zeros(len(wrong), dtype=bool)
    chosen[order[shares <= rate]] = True
    return chosen
