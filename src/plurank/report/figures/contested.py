"""What the rankings agree on, and what they do not."""

from typing import Any

import altair as alt
import numpy as np

from plurank.data.checks import check_whole
from plurank.evaluation.contrast import disagreement, places_from_one
from plurank.exceptions import ParameterError
from plurank.models.base import RankingModel
from plurank.report.texts import texts_of
from plurank.report.theme import (
    LINES,
    MAIN,
    OTHER,
    WIDTH,
    by_name,
    data,
    finish,
    heading,
    names_of,
    row_height,
    whole_axis,
)
from plurank.wording import count

FEW_RANKINGS = 6  # whose numbers can be written beside their marks


def sort_by_agreement(model: RankingModel, top: int) -> tuple[list[int], list[int]]:
    """Give the items agreed on most and those contested most, the extreme ones first; none is in both."""
    if len(model.rankings_) == 1:
        raise ParameterError("there is one ranking only, so nothing is contested. Fit a model with more rankings.")
    apart = disagreement(model.rankings_, model.mean_weights_)
    order = np.argsort(apart, kind="stable").tolist()
    n = min(check_whole("top", top, 1), max(1, len(order) // 3))
    return order[:n], order[::-1][:n]


def draw_contested(model: RankingModel, top: int) -> Any:
    """Draw for some items the places they have in all rankings: a short bar is common ground."""
    agreed, contested = sort_by_agreement(model, top)
    kinds = (("Most agreed on", agreed, MAIN), ("Most contested", contested, OTHER))
    panels = [_panel(model, items, title, colour) for title, items, colour in kinds if items]
    chart = alt.vconcat(*panels, spacing=24).resolve_scale(x="shared")
    numbered = len(model.rankings_) <= FEW_RANKINGS
    marks = "The numbers are those of the rankings." if numbered else "A tick is the place in one ranking."
    rankings = "both" if len(model.rankings_) == 2 else f"all {len(model.rankings_)}"
    about = f"Places of items in {rankings} rankings, of {count(len(model.items_), 'item')}. {marks}"
    return finish(chart, "Common ground, and what divides people", about)


def _panel(model: RankingModel, items: list[int], title: str, colour: str) -> Any:
    places = places_from_one(model.rankings_)[items]
    names = names_of(texts_of(model, items), LINES)
    ranges = [
        {"item": name, "best": int(row.min()), "worst": int(row.max())} for name, row in zip(names, places, strict=True)
    ]
    marks = [
        {"item": name, "place": place, "rankings": ", ".join(str(k + 1) for k in np.flatnonzero(row == place))}
        for name, row in zip(names, places, strict=True)
        for place in np.unique(row).tolist()
    ]
    scale = alt.Scale(domain=[1, len(model.items_)], nice=False, padding=14)
    x = alt.X("best:Q", scale=scale, title="place", axis=whole_axis(1, len(model.items_)))
    y = by_name("item", names)
    bars = alt.Chart(data(ranges)).mark_rule(color=colour, strokeWidth=5, opacity=0.35).encode(x=x, x2="worst:Q", y=y)
    dots = alt.Chart(data(marks)).encode(
        x=alt.X("place:Q", scale=scale, title="place"), y=y, tooltip=["item:N", "place:N", "rankings:N"]
    )
    if len(model.rankings_) <= FEW_RANKINGS:
        layers = [bars, dots.mark_point(color=colour), dots.mark_text(dy=-10, fontSize=10).encode(text="rankings:N")]
    else:
        layers = [bars, dots.mark_tick(color=colour, thickness=2, height=12)]
    return alt.layer(*layers).properties(width=WIDTH, height=row_height(names, 6) * len(items), title=heading(title))
