"""What the report says, section by section, as plain values for the page's template."""

import platform
from importlib.metadata import version
from typing import Any

import numpy as np
import polars as pl

from plurank.data.diagnostics import Summary
from plurank.data.encoding import look_up
from plurank.metrics.predictions import Quality
from plurank.metrics.rankings import places_from_one
from plurank.mixed.leaderboard import ScoredRankings
from plurank.models.base import RankingModel
from plurank.models.summary import NOUNS, describe_mixing
from plurank.report import descriptions, effects
from plurank.report.camps import FEWEST, Camp
from plurank.report.ground import Ground
from plurank.report.page_blocks import Table, table
from plurank.report.story import describe_exclusions
from plurank.report.texts import fit_text, has_statements, text_of, texts_of
from plurank.text import count, describe_spread, label, listing, percent

PACKAGES = ("plurank", "numpy", "scipy", "polars", "vl-convert-python")
N_SHOWN = 10
COMMITTEE, FEWEST_ITEMS, MOST_ITEMS = 3, 9, 5_000  # items of a committee, and of which to choose


def health(model: RankingModel, data: Summary | None) -> dict[str, Any]:
    """Say how much there was, who was left out, and what may distort the results."""
    if data is None:
        return {
            "rows": describe_exclusions(model, data),
            "problems": None,
            "note": "The model does not remember what data it was fitted to.",
        }
    spread = describe_spread(data["min_per_user"], data["median_per_user"], data["max_per_user"])
    noun = NOUNS[(data is model.data_ and getattr(model, "observed_", None)) or "comparisons"]
    votes = model.user_votes_ if noun == "comparison" else None  # otherwise votes are what is counted
    rows = [
        ("people", f"{data['n_users']:,}"), *describe_exclusions(model, data), ("items", f"{data['n_items']:,}"),
        *([("votes", f"{int(votes.sum()):,}")] if votes is not None else []),
        (f"{noun}s", f"{data['n_comparisons']:,}"), (f"{noun}s a person", spread),
    ]  # fmt: skip
    if data["n_item_groups"] is not None:
        rows.append(("groups of linked items", f"{data['n_item_groups']:,}"))
    if data["n_duplicates"] is not None and noun == "comparison":
        rows.append(("repeated comparisons", f"{data['n_duplicates']:,}"))
    problems = data["problems"]
    if problems is not None:  # what was left out is in the rows already
        problems = [problem[0].upper() + problem[1:] for problem in problems if " left out: " not in problem]
    return {"rows": rows, "problems": problems, "note": data["note"]}


def rankings(model: RankingModel, camps: list[Camp], ground: Ground | None) -> list[dict[str, Any]]:
    """Describe every ranking: its people, what sets it apart, and its best items with their places."""
    in_lists = has_statements(model)
    return [
        {
            "number": found["ranking"],
            "share": percent(found["share"]),
            "width": f"{100 * found['share']:.1f}",
            "people": camp.sentence,
            "caution": camp.caution,
            "sentence": "" if in_lists else found["sentence"],
            "lists": _lists(model, found) if in_lists else [],
            "items": best_items(model, found["ranking"] - 1, ground),
        }
        for found, camp in zip(descriptions.find_rankings(model), camps, strict=True)
    ]


def _lists(model: RankingModel, found: dict[str, Any]) -> list[tuple[str, list[tuple[str, str]]]]:
    """List statements that a ranking puts surely higher, and lower, than others do, with the votes on them."""
    other = "the other ranking" if len(model.rankings_) == 2 else "the other rankings"
    lists = ((f"Higher than in {other}", found["high"]), (f"Lower than in {other}", found["low"]))
    return [
        (name, [(text_of(model, i), _votes_on_item(model, i)) for i in codes]) for name, codes in lists if len(codes)
    ]


def _votes_on_item(model: RankingModel, code: int) -> str:
    """Say how many votes there are on an item; nothing where nobody counted them."""
    return "" if model.item_votes_ is None else count(int(model.item_votes_[code]), "vote")


def best_items(model: RankingModel, k: int, ground: Ground | None) -> list[tuple[int, str, str]]:
    """Return the best items of a ranking that have enough votes: place, text, how sure the place is and the votes."""
    order = model.rankings_[k]
    places = np.arange(1, len(order) + 1)
    if ground is not None:
        kept = ground.enough[order]
        order, places = order[kept], places[kept]
    board = model.leaderboard(k + 1).select("lower", "upper").rows() if isinstance(model, ScoredRankings) else None
    found = []
    for code, place in zip(order[:N_SHOWN].tolist(), places[:N_SHOWN].tolist(), strict=True):
        parts = [] if board is None else [_interval(board[place - 1], len(model.items_))]
        parts.append(_votes_on_item(model, code))
        found.append((place, text_of(model, code), " · ".join(part for part in parts if part)))
    return found


def _interval(bounds: tuple[int, ...], n_items: int) -> str:
    """Say between which places an item is; a place that could be nearly any is said to be unknown."""
    lower, upper = bounds
    if lower == upper:
        return ""
    if upper - lower + 1 > n_items / 2:
        return f"place hardly known, {lower:,} to {upper:,}"
    return f"place {lower:,} to {upper:,}"


def places_table(model: RankingModel) -> Table:
    """List the places of all items with their 90% intervals, the best on average first."""
    places = places_from_one(model.rankings_)
    order = (places @ model.mean_weights_).argsort(kind="stable")
    votes, intervals = model.item_votes_, _place_intervals(model)
    head = ["item", *(f"ranking {k + 1}" for k in range(places.shape[1])), *(["votes"] if votes is not None else [])]
    rows = [
        (
            text_of(model, i),
            *(_item_place(place, bounds, i) for place, bounds in zip(places[i], intervals, strict=True)),
            *([f"{votes[i]:,}"] if votes is not None else []),
        )
        for i in order
    ]
    return table(head, rows)


def _place_intervals(model: RankingModel) -> list[dict[int, tuple[int, int]]]:
    """Return for every ranking the bounds of the places of all items, by their numbers; empty without uncertainty."""
    if not isinstance(model, ScoredRankings):
        return [{} for _ in model.rankings_]
    boards = (model.leaderboard(k + 1).select("lower", "upper").rows() for k in range(len(model.rankings_)))
    return [dict(zip(order.tolist(), board, strict=True)) for order, board in zip(model.rankings_, boards, strict=True)]


def _item_place(place: int, bounds: dict[int, tuple[int, int]], item: int) -> str:
    low, high = bounds.get(int(item), (place, place))
    return f"{place:,}" if low == high else f"{place:,} ({low:,} to {high:,})"


def selection_table(selection: dict[str, Any]) -> Table:
    """List how well every candidate for the number of rankings predicts comparisons held out."""
    rows = [
        (
            f"{row['n_rankings']}{' (chosen)' if row['chosen'] else ''}",
            "any" if row["n_rankings"] == 1 else row["mixing"],
            _with_error(row, "held_out"),
            _with_error(row, "behind"),
        )
        for row in selection["candidates"]
    ]
    return table(["rankings", "mixing", "held-out log-likelihood", "behind the best"], rows)


def _with_error(row: dict[str, Any], name: str) -> str:
    error = row[f"{name}_se"]  # None with one user alone
    return f"{row[name]:.4f}" if error is None else f"{row[name]:.4f} ± {error:.4f}"


def committee(model: RankingModel, ground: Ground | None, camps: list[Camp]) -> dict[str, Any] | None:
    """Describe the few items that serve the most people; None where items are statements to agree with, or few."""
    if ground is None or ground.agreement is not None or not FEWEST_ITEMS <= len(model.items_) <= MOST_ITEMS:
        return None
    found = model.committee(COMMITTEE)
    shares = zip(found.left_out["served"].to_list(), camps, strict=True)
    by_camp = [
        f"{percent(share)} of camp {camp.ranking}" for share, camp in shares if camp.people and not camp.is_hidden
    ]
    reach = f"{percent(found.share_served)} of people ({percent(found.lower)} to {percent(found.upper)})"
    sentence = (
        f"If only {COMMITTEE} items could be chosen, these would serve the most people: {reach} have one of them among "
    )
    sentence += f"their first {found.top}{': ' + listing(by_camp) if by_camp else ''}."
    return {"sentence": sentence, "texts": texts_of(model, look_up(found.items, model.items_, "item").tolist())}


def who(model: RankingModel, *, with_people: bool) -> dict[str, Any]:
    """Say how people mix the rankings and, on request, who follows one nearly alone, and who mixes most."""
    sentence = describe_mixing(model, 1 if with_people else FEWEST)
    if not with_people:
        return {"sentence": sentence, "typical": []}
    typical = [
        (f"Ranking {found['ranking']}", _named(found["users"], [percent(w) for w in found["weights"]]))
        for found in descriptions.typical_people(model)
    ]
    mixed = descriptions.mixed_people(model)
    main = [f"at most {percent(max(row))} of one" for row in mixed["weights"]]
    return {"sentence": sentence, "typical": [*typical, ("Most mixed", _named(mixed["users"], main))]}


def _named(users: list[Any], remarks: list[str]) -> str:
    return listing([f"{fit_text(label(user), 40)} ({remark})" for user, remark in zip(users, remarks, strict=True)])


def by_covariate(found: pl.DataFrame | None) -> dict[str, Any] | None:
    """Say who follows which ranking, as far as covariates tell; None where there are none."""
    if found is None:
        return None
    sentences, rest = effects.describe_effects(found)
    return {"sentences": sentences, "rest": rest, "note": effects.describe_limits(found)}


def effects_table(found: pl.DataFrame) -> Table:
    """List the shares of the rankings for every level of a covariate."""
    head, rows = effects.pivot(found)
    return table(["level", *head[2:]], [(f"{attribute}: {level}", *rest) for attribute, level, *rest in rows])


def shares_table(camps: list[Camp]) -> Table:
    """List the shares of the rankings, and the people who follow each most."""
    head = ("ranking", "mean share", "people who follow it most", "with a weight of 80% or more", "votes they cast")
    rows = [
        (
            str(camp.ranking),
            percent(camp.share),
            camp.shown,
            camp.shown_80,
            "unknown" if camp.votes is None else "not shown" if camp.is_hidden else f"{camp.votes:,}",
        )
        for camp in camps
    ]
    return table(head, rows)


def judged(model: RankingModel, quality: Quality) -> dict[str, Any]:
    """Compare the model with one ranking and with guessing."""
    kind = "this model" if type(model).__name__ != "SingleRanking" else "this model (one ranking)"
    rows = [
        (kind, f"{quality.accuracy:.1%}", f"{quality.log_likelihood:.3f}"),
        ("one ranking for everybody", f"{quality.single_accuracy:.1%}", f"{quality.single_log_likelihood:.3f}"),
        ("guessing", "50.0%", f"{np.log(0.5):.3f}"),
    ]
    gain = quality.log_likelihood - quality.single_log_likelihood
    verdict = (
        "it is one ranking for everybody itself" if len(model.rankings_) == 1
        else "it predicts better than one ranking for everybody" if gain > 0.001
        else "it predicts as one ranking for everybody does" if gain > -0.001
        else "one ranking for everybody predicts better: try fewer rankings, or `plurank select`"
    )  # fmt: skip
    sentence = f"Fitted to {count(quality.n_train, 'comparison')} and asked about {quality.n_test:,} others, {verdict}."
    return {"sentence": sentence, "rows": table(("model", "predicted right", "log-likelihood a comparison"), rows)}


def bins_table(quality: Quality) -> Table:
    """List what was predicted and how often it happened."""
    bins = quality.calibration.select("predicted", "share", "n").rows()
    rows = [(f"{predicted:.0%}", f"{share:.0%}", f"{n:,}") for predicted, share, n in bins]
    return table(("predicted", "happened", "comparisons"), rows)


def name_method(summary: Summary) -> str:
    """Name the method of a model, given its summary."""
    return f"{summary['method']} ({summary['model']})"


def settings(summary: Summary) -> list[tuple[str, str]]:
    """List how the model was fitted, in words where its summary has any."""
    given = {name: _show_value(value) for name, value in summary["settings"].items() if value is not None}
    ended = "to the end" if summary["converged"] else "stopped while it improved"
    rows = {"method": name_method(summary), **given, **summary["details"]}
    return [*rows.items(), ("passes", f"{summary['n_iter']:,}, {ended}")]


def _show_value(value: Any) -> str:
    return f"{value:,g}" if isinstance(value, float) else str(value)


def versions() -> list[tuple[str, str]]:
    """List what made the report."""
    return [("Python", platform.python_version()), *((name, version(name)) for name in PACKAGES)]
