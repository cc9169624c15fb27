"""What a fitted model says, in sentences: its rankings, what surely sets each apart, and who follows it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurank.exceptions import ParameterError
from plurank.inference.common_ground import WIDER
from plurank.inference.posterior import LEVEL, SEED, place_bounds
from plurank.metrics.rankings import places_of
from plurank.mixed.leaderboard import ScoredRankings
from plurank.models.base import RankingModel
from plurank.models.consensus import has_enough_votes
from plurank.report.texts import mention, texts_of
from plurank.types import Floats, Integers
from plurank.validation import check_whole

N_NAMED, N_TYPICAL = 3, 3
ITEMS = ("top", "high", "low")  # of a description
LEAST_LEAD = 0.2  # of all places: what is nearer to its place in other rankings stands at about the same position
SURE = 0.95  # probability of everything that is stated
N_DRAWS, LEAST_DRAWS, MOST_NUMBERS = 400, 100, 2**23


def describe_rankings(model: RankingModel, n: int = N_NAMED) -> list[dict[str, Any]]:
    """Describe every ranking in a sentence, by the items that set it apart.

    Only what holds with 95% probability is stated. For a model without a posterior, ``top`` is the beginning of the
    ranking, ``high`` and ``low`` are empty, and the sentence says that nothing is known about its certainty.

    Parameters
    ----------
    model : RankingModel
        A fitted model.
    n : int, default=3
        The most items to name in each list.

    Returns
    -------
    list of dict
        One for each ranking: ranking (from 1), share (its mean weight), top (items first or in the best third), high
        and low (items far above and below their mean place in the other rankings), sentence.

    Raises
    ------
    ParameterError
        If the model is not fitted, or ``n`` is not an integer >= 1.

    Examples
    --------
    >>> import plurank
    >>> votes = plurank.Comparisons.from_arrays([1, 2, 3], ["tea", "tea", "milk"], ["milk", "juice", "juice"])
    >>> plurank.describe_rankings(plurank.SingleRanking().fit(votes), 1)[0]["top"]
    ['tea']
    """
    if not hasattr(model, "rankings_"):
        raise ParameterError(parameter="model", expected="a fitted model of plurank", got=type(model).__name__)
    check_whole("n", n, 1)
    return [
        {
            name: _ids(model, found[name]) if name in ITEMS else found[name]
            for name in ("ranking", "share", *ITEMS, "sentence")
        }
        for found in find_rankings(model, n)
    ]


def _ids(model: RankingModel, codes: Any) -> list[Any]:
    found: list[Any] = model.items_[np.asarray(codes, dtype=np.int64)].tolist()
    return found


def find_rankings(model: RankingModel, n: int = N_NAMED) -> list[dict[str, Any]]:
    """Describe every ranking as :func:`describe_rankings` does, items by their codes."""
    n_rankings = len(model.rankings_)
    none: list[Any] = [[]] * n_rankings
    leads = sure_leads(model) if isinstance(model, ScoredRankings) and n_rankings > 1 else (none, none)
    described = []
    for k, share in enumerate(model.mean_weights_.tolist()):
        high, low = list(leads[0][k][:n]), list(leads[1][k][:n])
        if isinstance(model, ScoredRankings):
            first, near = sure_places(model, k, n)
            top, lead = [*first, *near], _lead(texts_of(model, first), texts_of(model, near))
        else:
            top = model.rankings_[k][:n].tolist()
            lead = f"Begins with {mention(texts_of(model, top))}; this kind of model does not say how sure that is"
        is_rare = bool(top) and {*top} <= {*leads[0][k]}  # all of it is surely lower elsewhere
        also = [code for code in high if not (is_rare and code in top)]
        sentence = _sentence(lead, texts_of(model, also), texts_of(model, low), n_rankings, is_rare=is_rare)
        found = {"ranking": k + 1, "share": share, "top": top, "high": high, "low": low}
        described.append({**found, "sentence": sentence})
    return described


def _lead(first: list[str], near: list[str]) -> str:
    """Say what surely comes first, and what is surely in the best third."""
    if not first and not near:
        return "Has no item that is surely in its best third"
    if not first:
        return f"Has {mention(near)} in its best third"
    return f"Puts {mention(first)} first{', and ' + mention(near) + ' in its best third' if near else ''}"


def _sentence(lead: str, high: list[str], low: list[str], n_rankings: int, *, is_rare: bool) -> str:
    """Say what comes first, whether others have it so too, and what else is surely higher or lower than in others."""
    parts = [f"{mention(texts)} {where}" for texts, where in ((high, "higher"), (low, "lower")) if texts]
    others, do = ("the other", "does") if n_rankings == 2 else ("the others", "do")
    sentence = f"{lead}, unlike {others}" if is_rare else lead
    return f"{sentence}; puts {' and '.join(parts)} than {others} {do}." if parts else f"{sentence}."


def typical_people(model: RankingModel, n: int = N_TYPICAL) -> list[dict[str, Any]]:
    """Name for each ranking the people nearest to it: ranking, users, weights. Of people as near, the best known."""
    user_concentration = _concentration_of_users(model)
    found = []
    for k in range(len(model.rankings_)):
        # a weight is worth no more than two digits; beyond them, the concentration decides
        order = np.lexsort((-user_concentration, -np.round(model.user_weights_[:, k], 2)))[:n]
        weights = model.user_weights_[order, k].tolist()
        found.append({"ranking": k + 1, "users": model.users_[order].tolist(), "weights": weights})
    return found


def mixed_people(model: RankingModel, n: int = N_TYPICAL) -> dict[str, Any]:
    """Name the people who mix the rankings most evenly: users, and weights, all of each of them."""
    weights = model.user_weights_
    evenness = -(weights * np.log(np.maximum(weights, 1e-300))).sum(axis=1)
    order = np.lexsort((-_concentration_of_users(model), -np.round(evenness, 2)))[:n]
    return {"users": model.users_[order].tolist(), "weights": weights[order].tolist()}


def _concentration_of_users(model: RankingModel) -> Floats:
    """How much is known of every user, (M,); the same of all where the model does not say."""
    found: Floats = getattr(model, "user_concentration_", np.zeros(len(model.users_)))
    return found


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
