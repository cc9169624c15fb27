"""What a fitted model says, in sentences: its rankings, the people behind them, common ground and disputes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurank.components.ordered import places_of
from plurank.data.checks import check_whole
from plurank.evaluation.contrast import disagreement
from plurank.exceptions import ParameterError
from plurank.models.base import RankingModel
from plurank.report.wording import label, listing, percent

Floats = NDArray[np.float64]
N_NAMED, N_TYPICAL = 3, 3
LEAST_LEAD = 0.08  # of all places: what is put so much higher or lower than elsewhere is worth a word
# how people's weights look, up to which mean share of the ranking they follow most, between 1 / K and 1
HABITS = (
    (0.15, "Nobody stands out: nearly everybody mixes the rankings in about the same shares."),
    (0.5, "Most people mix several rankings, each in a way of their own."),
    (0.8, "Most people have one main ranking, and follow others a little."),
    (1.0, "Most people follow one ranking nearly alone."),
)
ALIKE_BLENDS = "Everybody blends the rankings in nearly the same shares: small differences decide who prefers what."


def describe_rankings(model: RankingModel, n: int = N_NAMED) -> list[dict[str, Any]]:
    """Describe every ranking: ranking (from 1), share, top, high and low (items it puts unusually high, low), sentence.

    Unusual is what stands far from its mean place in the other rankings, weighted by their shares.
    """
    if not hasattr(model, "rankings_"):
        raise ParameterError(f"model must be a fitted model of plurank, got {type(model).__name__}.")
    check_whole("n", n, 1)
    leads = _leads(model)
    described = []
    for k, share in enumerate(model.mean_weights_.tolist()):
        high, low = (_extreme(model, sign * leads[:, k], n) for sign in (1.0, -1.0))
        found = {"ranking": k + 1, "share": share, "top": model.items_[model.rankings_[k][:n]].tolist()}
        described.append(
            {**found, "high": high, "low": low, "sentence": _sentence(found["top"], high, low, len(leads.T))}
        )
    return described


def _leads(model: RankingModel) -> Floats:
    """How many places higher than in the other rankings every item stands, (Q, K), as a share of all places."""
    places, shares = places_of(model.rankings_) + 1.0, model.mean_weights_
    if len(shares) == 1:
        return np.zeros_like(places)
    others = 1.0 - np.eye(len(shares))
    mass = shares[:, None] * others + 1e-12 * others  # of ranking j, as seen from ranking k
    return (places @ (mass / mass.sum(axis=0)) - places) / len(places)


def _extreme(model: RankingModel, leads: Floats, n: int) -> list[Any]:
    order = np.argsort(-leads, kind="stable")[:n]
    found: list[Any] = model.items_[order[leads[order] >= LEAST_LEAD]].tolist()
    return found


def _sentence(top: list[Any], high: list[Any], low: list[Any], n_rankings: int) -> str:
    """Say what comes first, and what sets the ranking apart."""
    first = f"Puts {_names(top)} first"
    rare = [item for item in high if item not in top]
    if not high and not low:
        return f"{first}."
    parts = [f"{_names(rare)} higher" if rare else "", f"{_names(low)} lower" if low else ""]
    unusual = " and ".join(part for part in parts if part)
    others, do = ("the other", "does") if n_rankings == 2 else ("the others", "do")
    same = f"unlike {others}" if len(rare) < len(high) else ""
    if not unusual:
        return f"{first}, {same}."
    return f"{first}{', ' + same if same else ''}; puts {unusual} than {others} {do}."


def _names(items: list[Any]) -> str:
    return listing([label(item, 60) for item in items])


def describe_mixing(model: RankingModel) -> str:
    """Say in a sentence or two how people mix the rankings."""
    n_rankings = len(model.rankings_)
    if n_rankings == 1:
        return "There is one ranking for everybody."
    main = model.user_weights_.max(axis=1)
    pure, at_half = float((main >= 0.8).mean()), float((main >= 0.5).mean())
    own = (float(main.mean()) - 1.0 / n_rankings) / (1.0 - 1.0 / n_rankings)  # 0: all alike, 1: one ranking each
    words = next(words for most, words in HABITS if own <= most + 1e-9)
    if words == HABITS[0][1] and getattr(model, "mixing", None) == "utility":
        words = ALIKE_BLENDS
    shares = [f"{_so_many(pure)} one ranking at 80% or more"]
    if n_rankings > 2 and pure < 1.0:
        shares.append(f"{_so_many(at_half)} one at half or more".replace(" of people", ""))
    told = listing(shares)
    return f"{words} {told[0].upper()}{told[1:]}."


def _so_many(share: float) -> str:
    if share in (0.0, 1.0):
        return "everybody follows" if share else "nobody follows"
    return f"{percent(share)} of people follow"


def typical_people(model: RankingModel, n: int = N_TYPICAL) -> list[dict[str, Any]]:
    """Name for each ranking the people nearest to it: ranking, users, weights. Of people as near, the best known."""
    evidence = _evidence(model)
    found = []
    for k in range(len(model.rankings_)):
        # a weight is worth no more than two digits; behind them evidence decides
        order = np.lexsort((-evidence, -np.round(model.user_weights_[:, k], 2)))[:n]
        weights = model.user_weights_[order, k].tolist()
        found.append({"ranking": k + 1, "users": model.users_[order].tolist(), "weights": weights})
    return found


def mixed_people(model: RankingModel, n: int = N_TYPICAL) -> dict[str, Any]:
    """Name the people who mix the rankings most evenly: users, and weights, all of each of them."""
    weights = model.user_weights_
    evenness = -(weights * np.log(np.maximum(weights, 1e-300))).sum(axis=1)
    order = np.lexsort((-_evidence(model), -np.round(evenness, 2)))[:n]
    return {"users": model.users_[order].tolist(), "weights": weights[order].tolist()}


def _evidence(model: RankingModel) -> Floats:
    """How much is known of every user, (M,); the same of all where the model does not say."""
    found: Floats = getattr(model, "user_evidence_", np.zeros(len(model.users_)))
    return found


def describe_agreement(model: RankingModel, n: int = N_NAMED) -> dict[str, Any]:
    """Say what all rankings put high and low alike, and what they dispute: agreed_high, agreed_low, contested."""
    places = places_of(model.rankings_) + 1.0
    n_items = len(places)
    worst, best = places.max(axis=1), places.min(axis=1)
    contested = np.argsort(-disagreement(model.rankings_, model.mean_weights_), kind="stable")
    third = max(1.0, n_items / 3)
    found = {
        "agreed_high": [i for i in np.argsort(worst, kind="stable") if worst[i] <= third][:n],
        "agreed_low": [i for i in np.argsort(-best, kind="stable") if best[i] > n_items - third][:n],
        "contested": [i for i in contested if worst[i] > best[i]][:n],
    }
    named: dict[str, Any] = {name: model.items_[np.array(items, dtype=int)].tolist() for name, items in found.items()}
    return {**named, "sentence": _agreement(named, len(places[0]))}


def _agreement(named: dict[str, Any], n_rankings: int) -> str:
    high, low, contested = named["agreed_high"], named["agreed_low"], named["contested"]
    if n_rankings == 1:
        return "With one ranking for everybody nothing is contested."
    if not contested:
        return "All rankings are the same."
    parts = []
    if high:
        parts.append(f"Every ranking has {_names(high)} in its best third.")
    if low:
        parts.append(f"Every ranking has {_names(low)} in its last third.")
    if not parts:
        parts.append("No item is in the best third, or in the last, of every ranking.")
    return " ".join([*parts, f"People differ most about {_names(contested)}."])
