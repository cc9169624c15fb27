"""Rankings side by side, and one ranking with its intervals."""

from typing import Any

import numpy as np

from plurank.metrics.rankings import disagreement, places_from_one, places_of
from plurank.mixed.leaderboard import ScoredRankings
from plurank.models.base import RankingModel, check_ranking
from plurank.report.charts import (
    Chart,
    Spec,
    layer,
    mark,
    name,
    number,
)
from plurank.report.figures.contested import dividing_items
from plurank.report.ground import Ground
from plurank.report.texts import texts_of
from plurank.report.theme import (
    COLOURS,
    FAINT,
    GREY,
    INK,
    LINES,
    QUIET,
    SHAPES,
    WIDTH,
    by_name,
    finish,
    names_of,
    row_height,
    whole_axis,
)
from plurank.text import count, percent
from plurank.types import Integers
from plurank.validation import check_whole

FEW_ITEMS, TOP = 20, 12  # all items are shown up to so many, else the best ones and those that divide
N_DIVIDING = len(COLOURS)
LABEL_GAP = 15  # pixels between the middles of two labels
CONTESTED = "items that are surely contested"
FAR_APART = "the items listed furthest apart; this kind of model does not say how sure that is"
END = 30  # pixels between the outer rankings and their labels


def draw_rankings(model: RankingModel, top: int | None = None, ground: Ground | None = None) -> Chart:
    """Draw a line for every item through its places in all rankings, in colour what is contested."""
    if top is not None:
        check_whole("top", top, 1)
    n_rankings, n_items = model.rankings_.shape
    if n_rankings == 1:
        return draw_places(model, 1, top or FEW_ITEMS)
    places = places_from_one(model.rankings_)
    dividing = _dividing(model, ground)
    shown = _items_shown(model, dividing, top)
    names = dict(zip(shown.tolist(), names_of(texts_of(model, shown)), strict=True))
    marked = [names[i] for i in dividing.tolist() if i in names]
    rows = [
        {"item": item, "ranking": k + 1, "place": int(places[i, k]), "marked": item in marked}
        for i, item in names.items()
        for k in range(n_rankings)
    ]
    step = float(np.clip(660 / (n_rankings - 1), 76, 240))
    height = max(19 * len(shown), 220) + (0 if len(shown) == n_items else 120)
    where = {
        "x": number("x", scale={"domain": _ends(n_rankings, step), "nice": False}, axis=_top_axis(model)),
        "y": number("y", scale={"domain": [n_items + 0.3, 0.7], "nice": False, "zero": False}, axis=None),
    }
    layers = [*_lines(rows, marked, where), *_labels(rows, n_items, n_rankings, step, height, where)]
    chart = layer(*layers, width=step * (n_rankings - 1) + 2 * END, height=height)
    return finish(
        chart, f"The {n_rankings} rankings, from the best item (top) to the last", _about(model, shown, len(marked))
    )


def _dividing(model: RankingModel, ground: Ground | None) -> Integers:
    """Return a handful of items: those surely contested, or, without a posterior, those listed furthest apart."""
    if isinstance(model, ScoredRankings):
        return dividing_items(model, ground, N_DIVIDING)
    apart = disagreement(model.rankings_, model.mean_weights_)
    order = np.argsort(-apart, kind="stable")[:N_DIVIDING]
    return order[apart[order] > 0][: max(1, len(apart) // 3)]


def _items_shown(model: RankingModel, dividing: Integers, top: int | None) -> Integers:
    n_items = len(model.items_)
    n_top = top if top is not None else n_items if n_items <= FEW_ITEMS else TOP
    mean_places = (places_of(model.rankings_) @ model.mean_weights_).argsort(kind="stable")
    return np.array(list(dict.fromkeys([*mean_places[:n_top].tolist(), *dividing.tolist()])), dtype=np.int64)


def _about(model: RankingModel, shown: Integers, n_marked: int) -> list[str]:
    lines = [f"In colour: {CONTESTED if isinstance(model, ScoredRankings) else FAR_APART}."] if n_marked else []
    lines = [*(lines or ["No item is surely contested."]), "#1 is the best place."]
    if len(shown) < len(model.items_):
        which = "the best on average, and those" if n_marked else "the best on average"
        lines.append(f"Shown are {len(shown)} of {count(len(model.items_), 'item')}: {which}.")
    return lines


def _ends(n_rankings: int, step: float) -> list[float]:
    return [1 - END / step, n_rankings + END / step]


def _top_axis(model: RankingModel) -> Spec:
    shares = [percent(share) for share in model.mean_weights_]
    words = f"['Ranking ' + datum.value, {shares}[datum.value - 1]]"
    values = list(range(1, len(shares) + 1))
    return {
        "orient": "top", "values": values, "labelExpr": words, "title": None, "grid": True, "domain": False,
        "ticks": False, "labelFontWeight": 600, "labelPadding": 24,
    }  # fmt: skip


def _lines(rows: list[dict[str, Any]], marked: list[str], where: Spec) -> list[Spec]:
    """Draw grey lines, and above them coloured ones whose points have shapes of their own."""
    points = [{**row, "x": row["ranking"], "y": row["place"]} for row in rows]
    grey, bright = ([row for row in points if row["marked"] == is_marked] for is_marked in (False, True))
    colour = name("item", scale={"domain": marked, "range": list(COLOURS)}, legend=None)
    shape = name("item", scale={"domain": marked, "range": list(SHAPES)}, legend=None)
    where = {**where, "tooltip": [name("item"), number("ranking"), number("place")]}
    return [
        mark("line", grey, {**where, "detail": name("item")}, color=GREY, strokeWidth=1.5),
        mark("point", grey, {**where, "detail": name("item")}, color=GREY, size=30),
        mark("line", bright, {**where, "color": colour}, strokeWidth=3),
        mark("point", bright, {**where, "color": colour, "shape": shape}, size=90),
    ]


def _labels(
    rows: list[dict[str, Any]], n_items: int, n_rankings: int, step: float, height: float, where: Spec
) -> list[Spec]:
    """Write names at both ends, moved apart where they would overlap, with a thin line to what they name."""
    gap = LABEL_GAP * max(n_items - 1, 1) / height
    layers = []
    for at, side, align in ((1, -1, "right"), (n_rankings, 1, "left")):
        ends = [row for row in rows if row["ranking"] == at]
        heights = spread_out([row["place"] for row in ends], gap, n_items)
        near, far = at + side * 8 / step, at + side * (END - 6) / step
        links = [
            {"item": row["item"], "x": a, "y": b}
            for row, y_label in zip(ends, heights, strict=True)
            for a, b in ((near, row["place"]), (far, y_label))
        ]
        texts = [
            {"x": far, "y": b, "text": _name(row, side), "marked": row["marked"]}
            for row, b in zip(ends, heights, strict=True)
        ]
        layers.append(mark("line", links, {**where, "detail": name("item")}, color=FAINT, strokeWidth=1))
        for is_marked, weight, colour in ((False, "normal", QUIET), (True, "bold", INK)):
            some = [text for text in texts if text["marked"] == is_marked]
            looks = {"align": align, "dx": 4 * side, "baseline": "middle", "fontWeight": weight, "color": colour}
            layers.append(mark("text", some, {**where, "text": name("text")}, **looks))
    return layers


def _name(row: dict[str, Any], side: int) -> str:
    return f"{row['item']}  #{row['place']}" if side < 0 else f"#{row['place']}  {row['item']}"


def spread_out(wanted: list[int], gap: float, highest: float) -> list[float]:
    """Move numbers apart until neighbours differ by a gap, as little as that takes, and keep them within 1 to highest.

    Integers pushed together form a group around the mean of where they want to be.
    """
    order = np.argsort(wanted, kind="stable")
    groups: list[tuple[float, list[int]]] = []  # (the middle of a group, its members)
    for i in order.tolist():
        middle, members = float(wanted[i]), [i]
        while groups and middle - gap * (len(members) - 1) / 2 < _last(groups[-1], gap) + gap:
            before = groups.pop()[1]
            members = [*before, *members]
            middle = float(np.mean([wanted[m] for m in members]))
            half = gap * (len(members) - 1) / 2
            middle = min(max(middle, 1 + half), max(highest - half, 1 + half))
        groups.append((middle, members))
    found = [0.0] * len(wanted)
    for middle, members in groups:
        for n, i in enumerate(members):
            found[i] = middle + gap * (n - (len(members) - 1) / 2)
    return found


def _last(group: tuple[float, list[int]], gap: float) -> float:
    return group[0] + gap * (len(group[1]) - 1) / 2


def draw_places(model: RankingModel, ranking: int, top: int | None) -> Chart:
    """Draw the best items of a ranking, each with the interval of its place."""
    n_rankings, n_items = model.rankings_.shape
    check_ranking(ranking, n_rankings)
    n_shown = n_items if top is None else min(check_whole("top", top, 1), n_items)
    order = model.rankings_[ranking - 1][:n_shown]
    names = names_of(texts_of(model, order), LINES)
    rows: list[dict[str, Any]] = [{"item": item, "place": place} for place, item in enumerate(names, start=1)]
    whose = f"Ranking {ranking}, followed at {percent(model.mean_weights_[ranking - 1])}" if n_rankings > 1 else (
        "The ranking of everybody"
    )  # fmt: skip
    of_all = "all items" if n_shown == n_items else f"the best {n_shown} of {count(n_items, 'item')}"
    size = {"width": WIDTH, "height": row_height(names) * n_shown}
    if not isinstance(model, ScoredRankings):
        chart = layer(_points(rows, names, _place_axis(n_shown)), **size)
        return finish(chart, f"{whose}: {of_all}", "This kind of model gives no intervals of places.")
    board = model.leaderboard(ranking)
    for row, low, high in zip(rows, board["lower"].to_list(), board["upper"].to_list(), strict=False):
        row |= {"lower": low, "upper": high}
    x = _place_axis(max(row["upper"] for row in rows))
    where = {"x": number("lower", title="place"), "x2": {"field": "upper"}, "y": by_name("item", names)}
    reach = mark("rule", rows, where, strokeWidth=4, opacity=0.45, strokeCap="round")
    chart = layer(reach, _points(rows, names, x), **size)
    return finish(chart, f"{whose}: {of_all}", "The dot is the place; the bar holds it with 90% probability.")


def _place_axis(last: int) -> Spec:
    scale = {"domain": [1, last], "nice": False, "padding": 12}
    return number("place", title="place", scale=scale, axis=whole_axis(1, last))


def _points(rows: list[dict[str, Any]], names: list[str], x: Spec) -> Spec:
    seen = [name(field) for field in ("item", "place", "lower", "upper") if field in rows[0]]
    return mark("point", rows, {"x": x, "y": by_name("item", names), "tooltip": seen})
