"""What sets a ranking apart from the others, as far as the posterior of the scores supports it."""

import numpy as np
from numpy.typing import NDArray

from plurank.inference.common_ground import WIDER
from plurank.inference.posterior import LEVEL, SEED, place_bounds
from plurank.metrics.rankings import places_of
from plurank.mixed.leaderboard import ScoredRankings
from plurank.models.consensus import has_enough_votes
from plurank.types import Floats, Integers

LEAST_LEAD = 0.2  # of all places: what is nearer to its place in other rankings stands at about the same position
SURE = 0.95  # probability of everything that is stated
N_DRAWS, LEAST_DRAWS, MOST_NUMBERS = 400, 100, 2**23


def mean_leads(places: NDArray[np.floating], shares: Floats) -> Floats:
    """Return how many places higher than in the other rankings every item stands, (Q, K), as a share of all places.

    places (Q, K); the other rankings count by their shares (K,).
    """
    if len(shares) == 1:
        return np.zeros(places.shape)
    others = 1.0 - np.eye(len(shares))
    mass = shares[:, None] * others + 1e-12 * others  # of ranking j, as seen from ranking k
    found: Floats = (places @ (mass / mass.sum(axis=0)) - places) / len(places)
    return found


def judged_items(model: ScoredRankings) -> NDArray[np.bool_]:
    """Return which items have enough votes for anything to be said of them, (Q,)."""
    return has_enough_votes(model)


def sure_leads(model: ScoredRankings) -> tuple[list[Integers], list[Integers]]:
    """Return for every ranking the items it surely puts higher, and lower, than the others do; the furthest first."""
    shares, scores = model.mean_weights_, model.scores_
    n_draws = int(np.clip(MOST_NUMBERS // scores.size, LEAST_DRAWS, N_DRAWS))
    values, vectors = np.linalg.eigh(model.score_correlations_)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    rng = np.random.default_rng([SEED, 3])
    higher, lower = np.zeros(scores.shape), np.zeros(scores.shape)
    for _ in range(n_draws):
        drawn = scores + WIDER * model.score_errors_ * (rng.standard_normal(scores.shape) @ root.T)
        leads = mean_leads(places_of(np.argsort(-drawn, axis=0, kind="stable").T) + 1.0, shares)
        higher += leads >= LEAST_LEAD
        lower += leads <= -LEAST_LEAD
    leads = mean_leads(places_of(model.rankings_) + 1.0, shares)
    judged = judged_items(model)[:, None]
    higher, lower = higher * judged, lower * judged
    high = [_furthest(leads[:, k], higher[:, k] / n_draws) for k in range(len(shares))]
    low = [_furthest(-leads[:, k], lower[:, k] / n_draws) for k in range(len(shares))]
    return high, low


def _furthest(leads: Floats, probabilities: Floats) -> Integers:
    """Return the items that surely lead, the largest lead first."""
    order = np.argsort(-leads, kind="stable")
    return order[probabilities[order] >= SURE]


def sure_places(model: ScoredRankings, k: int, n: int) -> tuple[Integers, Integers]:
    """Return the items that surely come first in ranking k, at most n, and others surely in its best third.

    The first m items come first where each is surely among the first m; the upper end of a 90% interval leaves 5%.
    """
    order = model.rankings_[k]
    upper = place_bounds(model.scores_[:, k], WIDER * model.score_errors_[:, k], LEVEL)[1]
    upper = np.where(judged_items(model), upper, len(order) + 1)
    first = next((m for m in range(min(n, len(order)), 0, -1) if (upper[order[:m]] <= m).all()), 0)
    rest = order[first:]
    near = rest[upper[rest] <= max(1.0, len(order) / 3)]
    return order[:first], near[: n - first]
