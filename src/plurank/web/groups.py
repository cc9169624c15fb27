"""Who stands behind the rankings, and what all camps share: counts and probabilities, never single people."""

from typing import Any

from plurank.exceptions import ParameterError
from plurank.models.base import RankingModel
from plurank.report.privacy import is_few, show_rounded

SHOWN = (
    "item", "text", "votes", "enough_votes", "label", "liked_by_all", "disliked_by_all", "contested", "same_place",
)  # fmt: skip


def describe_camps(model: RankingModel, *, show_few: bool) -> list[dict[str, Any]]:
    """Return for every ranking how many people follow it most, and nearly alone, and how many votes they cast.

    Unless ``show_few``, counts of one to four people are given as words, without their votes. The other camps are
    rounded then: all camps together are the users of the model, so the total less the others would tell.
    """
    rows = model.camps().to_dicts()
    if show_few:
        return [{name: row[name] for name in ("people", "people_80", "votes")} for row in rows]
    is_rounded = any(is_few(row["people"]) for row in rows)
    return [
        {
            "people": show_rounded(row["people"]) if is_rounded else row["people"],
            "people_80": show_rounded(row["people_80"]) if is_rounded or is_few(row["people_80"]) else row["people_80"],
            "votes": None if is_rounded else row["votes"],
        }
        for row in rows
    ]


def describe_common_ground(model: RankingModel) -> list[dict[str, Any]] | None:
    """Return what all camps like, dislike and dispute; None where a model does not know how certain it is."""
    try:
        found = model.common_ground()
    except ParameterError:
        return None
    return found.select(SHOWN).to_dicts()
