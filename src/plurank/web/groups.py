"""Who stands behind the rankings, and what all camps share: counts and probabilities, never single people."""

from typing import Any

from plurank.exceptions import ParameterError
from plurank.models.base import RankingModel

LEAST_PEOPLE = 5  # smaller counts could tell who somebody is
FEW = f"fewer than {LEAST_PEOPLE}"
SHOWN = (
    "item", "text", "votes", "enough_votes", "label", "liked_by_all", "disliked_by_all", "contested", "same_place",
)  # fmt: skip


def describe_camps(model: RankingModel, *, show_few: bool) -> list[dict[str, Any]]:
    """Return for every ranking how many people follow it most, and nearly alone, and how many votes they cast.

    Unless ``show_few``, counts below five people are replaced by words, and their votes left out.
    """
    return [_describe_camp(row, show_few) for row in model.camps().iter_rows(named=True)]


def _describe_camp(row: dict[str, Any], show_few: bool) -> dict[str, Any]:
    is_few = row["people"] < LEAST_PEOPLE and not show_few
    counts = {name: _hide_few(row[name], show_few) for name in ("people", "people_80")}
    return {**counts, "votes": None if is_few else row["votes"]}


def _hide_few(n: int, show_few: bool) -> int | str:
    return n if show_few or n >= LEAST_PEOPLE else FEW


def describe_common_ground(model: RankingModel) -> list[dict[str, Any]] | None:
    """Return what all camps like, dislike and dispute; None where a model does not know how certain it is."""
    try:
        found = model.common_ground()
    except ParameterError:
        return None
    return found.select(SHOWN).to_dicts()
