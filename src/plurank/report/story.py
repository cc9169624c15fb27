"""What somebody in a hurry reads: two paragraphs, and the numbers at the head of the page."""

from typing import Any

from plurank.data.diagnostics import Summary
from plurank.metrics.predictions import Quality
from plurank.models.base import RankingModel
from plurank.models.consensus import HANDFUL
from plurank.models.summary import describe_mixing
from plurank.report.camps import Camp, describe_camps
from plurank.text import count, listing, people, percent


def tell_story(
    model: RankingModel,
    summary: Summary,
    data: Summary | None,
    quality: Quality | None,
    camps: list[Camp],
    ground: str,
    *,
    fewest: int,
) -> list[list[str]]:
    """Say what was found, in two paragraphs: who ranks how, and what they share. ``ground`` is about common ground."""
    n_rankings = len(model.rankings_)
    found = "one ranking for everybody" if n_rankings == 1 else f"{n_rankings} rankings that people share"
    items = count(len(model.items_), "item")
    sentences = [f"From {_votes(summary, data)} {items} by {_people(model, data)}, plurank found {found}."]
    if n_rankings > 1:
        sentences += [describe_camps(camps), describe_mixing(model, fewest)]
        sentences += [text for text in (_handfuls(camps), influence_of(summary)) if text]
    shared = [ground] if ground else []
    if quality is not None and n_rankings > 1:
        shared.append(
            f"Asked about choices it had not seen, the model is right {percent(quality.accuracy)} of the time; one "
            f"ranking for everybody is right {percent(quality.single_accuracy)} of the time."
        )
    return [paragraph for paragraph in (sentences, shared) if paragraph]


def _votes(summary: Summary, data: Summary | None) -> str:
    """Say how many votes there were; "comparisons of" where nobody counted them."""
    if summary["n_votes"] is not None:
        return f"{count(summary['n_votes'], 'vote')} on"
    return f"{count(data['n_comparisons'], 'comparison')} of" if data else "comparisons of"


def _people(model: RankingModel, data: Summary | None) -> str:
    """Say how many people there are, of how many, and why others were left out."""
    left_out = excluded_of(model, data, "user")
    if not left_out:
        return people(len(model.users_))
    n_out = sum(entry["n"] for entry in left_out)
    return f"{len(model.users_):,} of {people(len(model.users_) + n_out)} ({n_out:,} left out: {_reasons(left_out)})"


def _reasons(left_out: list[dict[str, Any]]) -> str:
    if len(left_out) == 1:
        return str(left_out[0]["reason"])
    return listing([f"{entry['n']:,} {entry['reason']}" for entry in left_out])


def excluded_of(model: RankingModel, data: Summary | None, what: str) -> list[dict[str, Any]]:
    """Return who or what was left out, as the comparisons say, or else the model."""
    for summary in (data, model.data_):
        if summary is not None and summary.get("excluded"):
            return [entry for entry in summary["excluded"] if entry["what"] == what and entry["n"]]
    return []


def describe_exclusions(model: RankingModel, data: Summary | None) -> list[tuple[str, str]]:
    """List people, items and rows that were left out, and why."""
    return [
        (f"{name} left out", f"{entry['n']:,} of {entry['total']:,}: {entry['reason']}")
        for what, name in (("user", "people"), ("item", "items"), ("row", "rows"))
        for entry in excluded_of(model, data, what)
    ]


def _handfuls(camps: list[Camp]) -> str:
    """Warn of rankings that rest on a handful of people."""
    few = [f"ranking {camp.ranking}" for camp in camps if camp.people < HANDFUL]
    if not few:
        return ""
    rests = "rests on a handful of people; take it" if len(few) == 1 else "rest on a handful of people each; take them"
    sentence = listing(few)
    return f"{sentence[0].upper()}{sentence[1:]} {rests} with caution."


def influence_of(summary: Summary) -> str:
    """Say whether the rankings depend on a few people, where the model looked."""
    found = summary["influence"]
    return found["sentence"] if found is not None and found["flagged"] else ""


def key_figures(summary: Summary, data: Summary | None, quality: Quality | None) -> list[tuple[str, str]]:
    """Return the numbers that stand at the head of the page."""
    rows = [("people", f"{summary['n_users']:,}"), ("items", f"{summary['n_items']:,}")]
    if summary["n_votes"] is not None:
        rows.append(("votes", f"{summary['n_votes']:,}"))
    elif data:
        rows.append(("comparisons", f"{data['n_comparisons']:,}"))
    rows.append(("rankings" if summary["n_rankings"] > 1 else "ranking", f"{summary['n_rankings']:,}"))
    return [*rows, ("predicted right", percent(quality.accuracy))] if quality else rows
