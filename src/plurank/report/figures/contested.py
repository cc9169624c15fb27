"""What all camps like, dislike or dispute: places with their intervals, and shares that agree."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from plurank.exceptions import ParameterError
from plurank.inference.posterior import LEVEL, place_bounds
from plurank.metrics.rankings import places_from_one
from plurank.mixed.leaderboard import ScoredRankings
from plurank.models.base import RankingModel
from plurank.report.charts import (
    Chart,
    Spec,
    layer,
    mark,
    name,
    number,
    stack,
)
from plurank.report.ground import Ground, agreement_cells, find_ground
from plurank.report.texts import texts_of
from plurank.report.theme import (
    COLOURS,
    LINES,
    SHAPES,
    WIDTH,
    by_name,
    finish,
    heading,
    names_of,
    whole_axis,
)
from plurank.report.theme import row_height as height_of
from plurank.text import count
from plurank.validation import check_whole

FEW_RANKINGS = len(COLOURS)  # that have a colour and a shape of their own
LINE = 11  # pixels between the rankings of one item


def draw_contested(model: RankingModel, top: int, ground: Ground | None = None) -> Chart:
    """Draw the places of items in all rankings, with intervals: what all camps like, dislike, and dispute."""
    check_whole("top", top, 1)
    found = ground or find_ground(model)
    assert isinstance(model, ScoredRankings)  # or there would be no common ground to find
    panels = [
        _panel(
            found.lists[label][:top], title, model, _places(model, found.lists[label][:top]), _place_x(model), "ranking"
        )
        for label, (title, _) in found.words.items()
        if found.lists[label]
    ]
    if not panels:
        raise ParameterError(
            "nothing is surely common ground or contested, so there is nothing to draw. More votes would tell more."
        )
    about = [f"Places among {count(len(model.items_), 'item')}; a line holds the place with 90% probability."]
    if model.mixing_ == "utility":
        about.append("Camps blend the rankings, so their own orders are nearer to each other.")
    return finish(_stack(panels), "Common ground, and what divides people", about)


def draw_agreement(model: RankingModel, top: int, ground: Ground | None = None, fewest: int = 1) -> Chart:
    """Draw the share of every camp that agrees with items, with intervals; camps with fewer votes are left out."""
    check_whole("top", top, 1)
    found = ground or find_ground(model)
    if found.agreement is None:
        raise ParameterError("the model was not fitted to votes of agree and disagree, so nobody agrees or disagrees.")
    cells = [row for row in agreement_cells(found, fewest) if not row["hidden"]]
    title = "share that agrees, of those who took a side"
    x = number("at", scale={"domain": [0, 1], "nice": False}, title=title, axis={"format": "%"})
    panels = []
    for label, (title, _) in found.words.items():
        codes = found.lists[label][:top]
        rows = [
            {"code": c["code"], "ranking": c["ranking"], "at": c["share"], "lower": c["lower"], "upper": c["upper"]}
            for c in cells
            if c["code"] in codes
        ]
        panels += [_panel(codes, title, model, rows, x, "camp")] if rows else []
    if not panels:
        raise ParameterError("the votes do not say what camps agree on, so there is nothing to draw.")
    about = "The share of each camp that agrees; a line holds it with 90% probability."
    return finish(_stack(panels), "Who agrees, camp by camp", about)


def _stack(panels: list[Spec]) -> Spec:
    return stack(*panels, spacing=24, resolve={"scale": {"x": "shared", "color": "shared", "shape": "shared"}})


def _place_x(model: RankingModel) -> Spec:
    scale = {"domain": [1, len(model.items_)], "nice": False, "padding": 14}
    return number("at", scale=scale, title="place", axis=whole_axis(1, len(model.items_)))


def _places(model: ScoredRankings, codes: Sequence[int]) -> list[dict[str, Any]]:
    """Return the places of some items in every ranking, with their bounds."""
    places = places_from_one(model.rankings_)
    rows = []
    for k in range(len(model.rankings_)):
        lower, upper = place_bounds(model.scores_[:, k], model.score_errors_[:, k], LEVEL)
        rows += [
            {
                "code": i,
                "ranking": k + 1,
                "at": int(places[i, k]),
                "lower": int(lower[i]),
                "upper": int(upper[i]),
            }
            for i in codes
        ]
    return rows


def _panel(
    codes: Sequence[int], title: str, model: RankingModel, rows: list[dict[str, Any]], x: Spec, who: str
) -> Spec:
    """Draw a row per item, and in it a mark and an interval for everybody ``who`` has a number."""
    n_rankings = len(model.rankings_)
    names = names_of(texts_of(model, codes), LINES)
    named = dict(zip(codes, names, strict=True))
    numbers = [str(k + 1) for k in range(n_rankings)]
    shown = [{**row, "item": named[row["code"]], "ranking": str(row["ranking"])} for row in rows]
    where = {
        "x": x,
        "y": by_name("item", names),
        "yOffset": name("ranking", sort=numbers),
        "color": name("ranking", scale={"domain": numbers, "range": _cycle(COLOURS, n_rankings)}, title=who),
    }
    reach = [{**row, "at": row["lower"]} for row in shown]
    lines = mark("rule", reach, {**where, "x2": {"field": "upper"}}, strokeWidth=2.5, opacity=0.6)
    seen = [name("item"), name("ranking"), number("at"), number("lower"), number("upper")]
    points = mark("point", shown, {**where, "tooltip": seen}, size=45)
    if n_rankings <= FEW_RANKINGS:
        shapes = {"domain": numbers, "range": _cycle(SHAPES, n_rankings)}
        points["encoding"]["shape"] = name("ranking", scale=shapes, title=who)
    height = max(height_of(names, 6), LINE * n_rankings + 8) * len(codes)
    return layer(lines, points, width=WIDTH, height=height, title=heading(title))


def _cycle(values: Sequence[str], n: int) -> list[str]:
    return [values[k % len(values)] for k in range(n)]


def dividing_items(model: RankingModel, ground: Ground | None, most: int) -> Any:
    """Return the items that are surely contested, at most so many."""
    found = ground or find_ground(model)
    return np.array(found.lists["contested"][:most], dtype=np.int64)
