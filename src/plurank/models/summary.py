"""What a fitted model is, as plain values that JSON can hold, and in words.

Commands print it, reports and notebooks show it, and the service describes its model by it. What one class of models
adds, its own methods say: ``_own_values``, ``_ranking_values``, ``_item_lists``, ``_user_values`` and ``_details``.
"""

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from plurank.data.coded import Exclusion, list_exclusions
from plurank.data.encoding import look_up
from plurank.exceptions import DataError
from plurank.metrics.predictions import Influence
from plurank.metrics.rankings import most_divided_items
from plurank.models.consensus import PURE
from plurank.models.fields import plain
from plurank.text import count, listing, percent, shorten

if TYPE_CHECKING:
    from plurank.models.base import RankingModel

Facts = list[tuple[str, str]]  # names and values to print
N_DIVIDED = 5  # items listed
NOUNS = {"comparisons": "comparison", "ratings": "rating", "votes": "vote", "rankings": "ranked item"}  # fitted to
LONGEST = 60  # characters of a user in a message
# how users' weights look, up to which mean share of the ranking they follow most, between 1 / K and 1
HABITS = (
    (0.15, "Nobody stands out: nearly everybody mixes the rankings in about the same shares."),
    (0.5, "Most people mix several rankings, each in a way of their own."),
    (0.8, "Most people have one main ranking, and follow others a little."),
    (1.0, "Most people follow one ranking nearly alone."),
)
ALIKE_BLENDS = "Everybody blends the rankings in nearly the same shares: small differences decide who prefers what."
DIRECTIONS = (
    "Hardly anybody follows one ranking alone, so read the rankings as directions of taste that everybody blends, "
    "not as groups of people."
)
HARDLY_ANYBODY = (5, 0.1, 0.02)  # people, but at most the first share of all, and at least the second


def summarise_model(model: "RankingModel") -> dict[str, Any]:
    """Return what all models have in common: sizes, camps, data, quality, and how the fit went."""
    data = model.data_ or {}
    return {
        "model": type(model).__name__,
        "method": model.about,
        "settings": {name: _json_value(value) for name, value in model.get_params(deep=False).items()},
        "n_rankings": len(model.rankings_),
        "n_users": len(model.users_),
        "n_items": len(model.items_),
        "n_comparisons": data.get("n_comparisons"),
        "n_votes": None if model.user_votes_ is None else int(model.user_votes_.sum()),
        "data": model.data_,
        "excluded": data.get("excluded", []),
        "concentration": float(model.concentration_),
        "mixing_in_words": describe_mixing(model),
        "camps": model.camps().to_dicts(),
        "influence": summarise_influence(model.influence),
        "quality": model.quality_,
        "n_iter": int(model.n_iter_),
        "converged": bool(model.converged_),
    }


def _json_value(value: Any) -> Any:
    """Return a parameter as JSON has it; None for a random generator, which is no value."""
    return None if isinstance(value, np.random.Generator) else plain(value)


def summarise_influence(influence: Influence | None) -> dict[str, Any] | None:
    """Return whether rankings rest on a handful of users, in numbers and in a sentence; None where unknown."""
    return None if influence is None else {**influence.to_dict(), "sentence": influence.sentence}


def summarise_ranking(model: "RankingModel", k: int, *, items: bool) -> dict[str, Any]:
    """Return what every ranking has: its number, counted from 1, its mean weight and, on request, all items."""
    found = {"ranking": k + 1, "mean_weight": float(model.mean_weights_[k])}
    if not items:
        return found
    order = model.rankings_[k]
    return {**found, "items": model.items_[order].tolist(), "texts": [model.item_text(code) for code in order]}


def list_divided(model: "RankingModel") -> list[dict[str, Any]]:
    """Return the items whose places in the rankings differ most, with these places."""
    found = most_divided_items(model.rankings_, N_DIVIDED)
    rows = zip(found.items.tolist(), found.places.tolist(), strict=True)
    return [
        {"item": plain(model.items_[code]), "text": model.item_text(code), "places": places} for code, places in rows
    ]


def summarise_user(model: "RankingModel", user: Any, top: int | None) -> dict[str, Any]:
    """Return one user's weights and top items."""
    code = int(look_up([user], model.users_, "user")[0])
    if code < 0:
        some = ", ".join(shorten(repr(known), LONGEST) for known in model.users_[:3].tolist())
        raise DataError(f"unknown user {user!r:.60}. The model has {count(len(model.users_), 'user')}, such as {some}.")
    rows = model.rank(user).head(len(model.items_) if top is None else top).to_dicts()
    texts = [model.item_text(code) for code in look_up([row["item"] for row in rows], model.items_, "item")]
    return {
        "user": user,
        "n_items": len(model.items_),
        "weights": model.user_weights_[code].tolist(),
        "items": [{**row, "text": text} for row, text in zip(rows, texts, strict=True)],
    }


def summary_facts(summary: dict[str, Any]) -> Facts:
    """List a summary for people: size of the data, what was left out, details, held-out quality, convergence."""
    rows = [("data", _describe_sizes(summary))]
    rows += left_out(Exclusion(**entry) for entry in summary["excluded"])
    if summary["n_rankings"] > 1:
        rows.append(("concentration", f"{summary['concentration']:.3g}"))
    rows += summary["details"].items()
    if summary["quality"] is not None:
        rows.append(("held-out", describe_quality(summary["quality"])))
    if not summary["converged"]:
        rows.append(("fit", f"not converged after {count(summary['n_iter'], 'iteration')}"))
    given = (f"{name} {value}" for name, value in summary["settings"].items() if value is not None)
    return [*rows, ("settings", ", ".join(given))]


def left_out(excluded: Iterable[Exclusion]) -> Facts:
    """List what was left out of the data, and why."""
    return [("left out", sentence.rstrip(".").replace(" left out", "", 1)) for sentence in list_exclusions(excluded)]


def _describe_sizes(summary: dict[str, Any]) -> str:
    sizes = f"{count(summary['n_users'], 'user')}, {count(summary['n_items'], 'item')}"
    n_comparisons = summary["n_comparisons"]
    noun = NOUNS[summary.get("observed") or "comparisons"]
    return sizes if n_comparisons is None else f"{sizes}, {count(n_comparisons, noun)}"


def describe_quality(quality: dict[str, Any]) -> str:
    """Return how many held-out comparisons a model predicts, and how many one ranking does."""
    correct, single = percent(quality["accuracy"]), percent(quality["single_accuracy"])
    return f"{correct} of {count(quality['n_test'], 'comparison')} predicted correctly; {single} with one ranking"


def facts_as_html(rows: Facts) -> str:
    """Return names and values as an HTML table."""
    cells = (f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in rows)
    return f"<table>{''.join(cells)}</table>"


def describe_mixing(model: "RankingModel", fewest: int = 1) -> str:
    """Say in a sentence or two how people mix the rankings; groups of fewer people than ``fewest`` get no number."""
    n_rankings = len(model.rankings_)
    if n_rankings == 1:
        return "There is one ranking for everybody."
    main = model.user_weights_.max(axis=1)
    own = (float(main.mean()) - 1.0 / n_rankings) / (1.0 - 1.0 / n_rankings)  # 0: all alike, 1: one ranking each
    words = next(words for most, words in HABITS if own <= most + 1e-9)
    if words == HABITS[0][1] and getattr(model, "mixing", None) == "utility":
        words = ALIKE_BLENDS
    n_pure = int((main >= PURE).sum())
    shares = [f"{_so_many(n_pure, len(main), fewest)} one ranking at {percent(PURE)} or more"]
    if n_rankings > 2 and n_pure < len(main):
        at_half = _so_many(int((main >= 0.5).sum()), len(main), fewest)
        shares.append(f"{at_half} one at half or more".replace(" of people", ""))
    sentence = listing(shares)
    directions = f" {DIRECTIONS}" if are_directions(model) else ""
    return f"{words} {sentence[0].upper()}{sentence[1:]}.{directions}"


def _so_many(n: int, n_users: int, fewest: int) -> str:
    if n in (0, n_users):
        return "everybody follows" if n else "nobody follows"
    return f"{percent(n / n_users)} of people follow" if n >= fewest else f"fewer than {fewest} people follow"


def are_directions(model: "RankingModel") -> bool:
    """Check whether hardly anybody follows one ranking alone."""
    n_users = len(model.user_weights_)
    people, most, least = HARDLY_ANYBODY
    n_pure = int((np.max(model.user_weights_, axis=1) >= PURE).sum())
    return n_pure < max(1, min(people, most * n_users), least * n_users)
