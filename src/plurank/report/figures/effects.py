"""Who follows which ranking: shares by level with intervals, and curves for numbers."""

import math
from typing import Any

import polars as pl

from plurank.report.charts import Chart, Spec, layer, mark, name, number, stack
from plurank.report.effects import Cell, list_cells
from plurank.report.theme import COLOURS, GREY, SHAPES, WIDTH, by_name, finish, heading, names_of, row_height
from plurank.text import listing

FEW_RANKINGS = len(COLOURS)  # that have a colour and a shape of their own
LINE, CURVE = 11, 200  # pixels between the rankings of one level, and of a curve's height
N_TICKS, FEWEST_POINTS = 6, 3  # of an axis, and of a curve
ABOUT = (
    "Shares of people who are otherwise like everybody; a line or a band holds the share with {level:.0%} probability.",
    "Beside a level: how many people have it.",
)


def draw_effects(effects: pl.DataFrame, level: float) -> Chart:
    """Draw a panel for each attribute: dots with intervals by level, or a curve with a band over a number."""
    cells = list_cells(effects)
    numbers = [str(row["ranking"]) for row in cells[0].rankings]
    highest = max(effects["upper"].drop_nulls().to_list(), default=1.0)
    top = math.ceil(10 * highest) / 10
    share = {
        "scale": {"domain": [0, top], "nice": False},
        "title": "share of the ranking",
        "axis": {"format": "%", "tickCount": N_TICKS},
    }
    panels = []
    for attribute in dict.fromkeys(cell.attribute for cell in cells):
        own = [cell for cell in cells if cell.attribute == attribute]
        draw = _draw_curve if _is_curve(own) else _draw_levels
        panels.append(draw(attribute, own, share, _encode_rankings(numbers)))
    chart = stack(*panels, spacing=24, resolve={"scale": {"color": "shared", "shape": "shared"}})
    return finish(chart, "Who follows which ranking", [line.format(level=level) for line in ABOUT])


def _is_curve(cells: list[Cell]) -> bool:
    """Check whether levels are quantiles, which all people with a number count for, and enough for a curve."""
    known = [cell for cell in cells if cell.value is not None]
    return len(known) >= FEWEST_POINTS and len({cell.people for cell in known}) == 1


def _encode_rankings(numbers: list[str]) -> Spec:
    """Encode rankings by colour and, where they are few, by shape."""
    colours = [COLOURS[k % len(COLOURS)] for k in range(len(numbers))]
    encoded = {"color": name("ranking", scale={"domain": numbers, "range": colours}, title="ranking")}
    if len(numbers) <= FEW_RANKINGS:
        shapes = {"domain": numbers, "range": [*SHAPES[: len(numbers)]]}
        encoded["shape"] = name("ranking", scale=shapes, title="ranking")
    return encoded


def _rows(cells: list[Cell], names: list[str]) -> list[dict[str, Any]]:
    return [
        {"level": level, "at": cell.value, "people": cell.people, "ranking": str(row["ranking"])}
        | {part: row[part] for part in ("share", "lower", "upper")}
        for cell, level in zip(cells, names, strict=True)
        for row in cell.rankings
        if not cell.is_hidden
    ]


def _draw_levels(attribute: str, cells: list[Cell], share: Spec, rankings: Spec) -> Spec:
    """Draw a row for each level with a dot and an interval for each ranking; a level of few people stays empty."""
    names = [
        f"{short} · {cell.people}" for short, cell in zip(names_of([cell.level for cell in cells]), cells, strict=True)
    ]
    rows = _rows(cells, names)
    where = {"y": by_name("level", names), "yOffset": name("ranking"), "color": rankings["color"]}
    lines = mark("rule", rows, {**where, "x": number("lower", **share), "x2": {"field": "upper"}}, opacity=0.6)
    dots = mark("point", rows, {**where, **rankings, "x": number("share", **share), "tooltip": _tooltip()}, size=45)
    hidden = [{"level": level, "text": "not shown"} for cell, level in zip(cells, names, strict=True) if cell.is_hidden]
    empty = mark(
        "text",
        hidden,
        {"y": by_name("level", names), "text": name("text"), "x": {"value": 4}},
        align="left",
        color=GREY,
    )
    height = max(row_height(names, 6), LINE * len(cells[0].rankings) + 8) * len(cells)
    return layer(
        lines, dots, *([empty] if hidden else []), width=WIDTH, height=height, title=heading(f"By {attribute}")
    )


def _draw_curve(attribute: str, cells: list[Cell], share: Spec, rankings: Spec) -> Spec:
    """Draw the share of each ranking over a number as a line with a band, and a dot where it was computed."""
    rest = [cell.level for cell in cells if cell.value is None]
    known = [cell for cell in cells if cell.value is not None]
    rows = _rows(known, [cell.level for cell in known])
    x = number("at", scale={"zero": False, "nice": False, "padding": 10}, title=attribute, axis={"tickCount": N_TICKS})
    where = {"x": x, "color": rankings["color"]}
    low, high = {"y": number("lower", **share)}, {"y2": {"field": "upper"}}
    band = mark("area", rows, {**where, **low, **high}, opacity=0.18)
    line = mark("line", rows, {**where, "y": number("share", **share)})
    dots = mark("point", rows, {**where, **rankings, "y": number("share", **share), "tooltip": _tooltip()}, size=45)
    left = f"; {listing(rest)} is in the numbers" if rest else ""
    title = f"By {attribute} · {known[0].people} people{left}"
    return layer(band, line, dots, width=WIDTH, height=CURVE, title=heading(title))


def _tooltip() -> list[Spec]:
    return [name("level"), name("people"), name("ranking"), *(number(part) for part in ("share", "lower", "upper"))]
