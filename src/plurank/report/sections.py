"""What the report says, section by section, as plain values for the page's template."""

from typing import Any

import numpy as np

from plurank.data.summary import Summary
from plurank.evaluation.contrast import places_from_one
from plurank.evaluation.quality import Quality
from plurank.models.base import RankingModel
from plurank.models.standings import ScoredRankings
from plurank.report import descriptions
from plurank.report.blocks import Table, table
from plurank.report.figures.contested import sort_by_agreement
from plurank.report.wording import label, listing, people, percent
from plurank.wording import count, describe_spread

N_SHOWN, N_CONTESTED = 10, 8


def tell_story(model: RankingModel, data: Summary | None, quality: Quality | None) -> list[str]:
    """Say in one paragraph, for somebody in a hurry, what was found."""
    n_rankings = len(model.rankings_)
    described = descriptions.describe_rankings(model)
    came = f"{count(data['n_comparisons'], 'comparison')} of" if data else "comparisons of"
    found = "one ranking for everybody" if n_rankings == 1 else f"{n_rankings} rankings that people share"
    items, crowd = count(len(model.items_), "item"), people(len(model.users_))
    told = [f"From {came} {items} by {crowd}, plurank found {found}."]
    if n_rankings > 1:
        first = described[0]
        best = listing([label(item, 60) for item in first["top"]])
        told.append(f"The most followed, ranking 1 with a share of {percent(first['share'])}, puts {best} first.")
        told.append(descriptions.describe_mixing(model))
    if quality is not None and n_rankings > 1:
        told.append(
            f"Asked about choices it had not seen, it is right {percent(quality.accuracy)} of the time; one ranking "
            f"for everybody is right {percent(quality.single_accuracy)} of the time."
        )
    return told


def key_figures(model: RankingModel, data: Summary | None, quality: Quality | None) -> list[tuple[str, str]]:
    """Give the numbers that stand at the head of the page."""
    rows = [("people", f"{len(model.users_):,}"), ("items", f"{len(model.items_):,}")]
    if data:
        rows.append(("comparisons", f"{data['n_comparisons']:,}"))
    rows.append(("rankings" if len(model.rankings_) > 1 else "ranking", f"{len(model.rankings_):,}"))
    return [*rows, ("predicted right", percent(quality.accuracy))] if quality else rows


def health(data: Summary | None) -> dict[str, Any]:
    """Say how much there was, and what will make trouble."""
    if data is None:
        return {"rows": [], "problems": None, "note": "The model does not remember what data it was fitted to."}
    spread = describe_spread(data["min_per_user"], data["median_per_user"], data["max_per_user"])
    rows = [
        ("people", f"{data['n_users']:,}"), ("items", f"{data['n_items']:,}"),
        ("comparisons", f"{data['n_comparisons']:,}"), ("comparisons a person", spread),
    ]  # fmt: skip
    if data["n_item_groups"] is not None:
        rows.append(("groups of linked items", f"{data['n_item_groups']:,}"))
    if data["n_duplicates"] is not None:
        rows.append(("repeated comparisons", f"{data['n_duplicates']:,}"))
    problems = None if data["problems"] is None else [problem[0].upper() + problem[1:] for problem in data["problems"]]
    return {"rows": rows, "problems": problems, "note": data["note"]}


def rankings(model: RankingModel) -> list[dict[str, Any]]:
    """Describe every ranking, with its best items and their places."""
    told = descriptions.describe_rankings(model)
    return [
        {
            "number": found["ranking"],
            "share": percent(found["share"]),
            "width": f"{100 * found['share']:.1f}",
            "sentence": found["sentence"],
            "items": best_items(model, found["ranking"] - 1),
        }
        for found in told
    ]


def best_items(model: RankingModel, k: int) -> list[tuple[str, str]]:
    """Give the best items of a ranking, each with the interval of its place where that is not certain."""
    names = [label(item, 60) for item in model.items_[model.rankings_[k][:N_SHOWN]].tolist()]
    if not isinstance(model, ScoredRankings):
        return [(name, "") for name in names]
    bounds = model.leaderboard(k + 1).select("lower", "upper").rows()
    return [(name, "" if a == b else f"{a}–{b}") for name, (a, b) in zip(names, bounds, strict=False)]


def places_table(model: RankingModel) -> Table:
    """List the places of all items, the best on average first."""
    places = places_from_one(model.rankings_)
    order = (places @ model.mean_weights_).argsort(kind="stable")
    head = ["item", *(f"ranking {k + 1}" for k in range(places.shape[1]))]
    return table(head, [(label(model.items_[i]), *(f"{place:,}" for place in places[i])) for i in order])


def agreement_table(model: RankingModel) -> Table:
    """List what is common ground and what is contested."""
    agreed, contested = sort_by_agreement(model, N_CONTESTED)
    places = places_from_one(model.rankings_)
    rows = [
        (label(model.items_[i]), kind, ", ".join(f"{place:,}" for place in places[i]))
        for kind, items in (("agreed on", agreed), ("contested", contested))
        for i in items
    ]
    return table(("item", "", "places in rankings 1, 2, ..."), rows)


def who(model: RankingModel) -> dict[str, Any]:
    """Say how people mix the rankings, who follows one nearly alone, and who mixes most."""
    typical = [
        (f"Ranking {found['ranking']}", _named(found["users"], [percent(w) for w in found["weights"]]))
        for found in descriptions.typical_people(model)
    ]
    mixed = descriptions.mixed_people(model)
    main = [f"at most {percent(max(row))} of one" for row in mixed["weights"]]
    return {
        "sentence": descriptions.describe_mixing(model),
        "typical": [*typical, ("Most mixed", _named(mixed["users"], main))],
    }


def _named(users: list[Any], remarks: list[str]) -> str:
    return listing([f"{label(user, 40)} ({remark})" for user, remark in zip(users, remarks, strict=True)])


def shares_table(model: RankingModel) -> Table:
    """List the shares of the rankings, and how many people follow each most."""
    main = np.bincount(model.user_weights_.argmax(axis=1), minlength=len(model.rankings_))
    head = ("ranking", "mean share", "people who follow it most")
    rows = zip(model.mean_weights_, main, strict=True)
    return table(head, [(str(k), percent(share), f"{n:,}") for k, (share, n) in enumerate(rows, start=1)])


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
        "it predicts better than one ranking for everybody" if gain > 0.001
        else "it predicts as one ranking for everybody does" if gain > -0.001
        else "one ranking for everybody predicts better: try fewer rankings, or `plurank select`"
    )  # fmt: skip
    told = f"Fitted to {count(quality.n_train, 'comparison')} and asked about {quality.n_test:,} others, {verdict}."
    return {"sentence": told, "rows": table(("", "predicted right", "log-likelihood a comparison"), rows)}


def bins_table(quality: Quality) -> Table:
    """List what was predicted and how often it happened."""
    bins = quality.calibration.select("predicted", "share", "n").rows()
    rows = [(f"{predicted:.0%}", f"{share:.0%}", f"{n:,}") for predicted, share, n in bins]
    return table(("predicted", "happened", "comparisons"), rows)
