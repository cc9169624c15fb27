"""How comparisons are spread over items and users. Nothing here grows with the square of the number of items."""

from typing import Any

import numpy as np

from plurank.data.comparisons import Comparisons
from plurank.engine.blocks import as_comparisons
from plurank.report.camps import hide_few
from plurank.report.charts import (
    Chart,
    Spec,
    layer,
    mark,
    name,
    number,
    stack,
)
from plurank.report.theme import (
    GREY,
    LINES,
    MAIN,
    WIDTH,
    by_name,
    finish,
    heading,
    names_of,
    row_height,
    whole_axis,
)
from plurank.text import count, people
from plurank.types import Integers

FEW_ITEMS = 30  # that have a bar each
N_BINS = 30
MOST_GROUPS = 10


def draw_comparisons(X: Any, fewest: int = 1) -> Chart:
    """Draw comparisons per item and per user and, where they do not link all items, the groups of items they link.

    Groups of fewer people than ``fewest`` are drawn alike.
    """
    comparisons = as_comparisons(X)
    groups = comparisons.diagnose().item_groups
    panels = [
        _items(comparisons),
        _users(comparisons, fewest),
        *([_panel_of_groups(groups)] if len(groups) > 1 else []),
    ]
    sizes = f"{count(len(comparisons), 'comparison')} of {count(comparisons.n_items, 'item')}"
    about = f"{sizes} by {people(comparisons.n_users)}."
    return finish(stack(*panels, spacing=28), "What the comparisons cover", about)


def _items(c: Comparisons) -> Spec:
    per_item = np.bincount(c.winners, minlength=c.n_items) + np.bincount(c.losers, minlength=c.n_items)
    title = "Comparisons of each item"
    if c.n_items > FEW_ITEMS:
        return _histogram(per_item, title, "comparisons of an item", "items")
    order = np.argsort(-per_item, kind="stable")
    texts = c.items.tolist() if c.texts is None else c.texts
    names = names_of([texts[i] for i in order.tolist()], LINES)
    rows = [{"item": name, "n": n} for name, n in zip(names, per_item[order].tolist(), strict=True)]
    return _bars(rows, "item", names, title, "comparisons")


def _users(c: Comparisons, fewest: int) -> Spec:
    return _histogram(np.diff(c.offsets), "Comparisons of each person", "comparisons of a person", "people", fewest)


def _panel_of_groups(groups: list[list[Any]]) -> Spec:
    names = [f"Group {n}" for n in range(1, len(groups) + 1)][:MOST_GROUPS]
    rows = [{"group": name, "n": len(group)} for name, group in zip(names, groups, strict=False)]
    title = f"The items fall into {len(groups):,} groups that are never compared with each other"
    return _bars(rows, "group", names, title, "items")


def _bars(rows: list[dict[str, Any]], field: str, names: list[str], title: str, what: str) -> Spec:
    where = {
        "x": number("n", title=what, axis={"format": ",d", "tickCount": 6, "tickMinStep": 1}),
        "y": by_name(field, names),
        "tooltip": [name(field), number("n")],
    }
    texts = mark("text", rows, {**where, "text": number("n", format=",d")}, align="left", dx=4)
    height = row_height(names) * max(len(rows), 1)
    return layer(mark("bar", rows, where), texts, title=heading(title), width=WIDTH, height=height)


def _histogram(values: Integers, title: str, x_title: str, y_title: str, fewest: int = 1) -> Spec:
    """Count how many values lie in each of some bins, whole numbers wide."""
    low, high = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    width = max(1, -(-(high - low + 1) // N_BINS))
    counts, edges = np.histogram(values, np.arange(low, high + width + 1, width))
    rows = [{"from": int(a), "to": int(a) + width, "n": int(n)} for n, a in zip(counts, edges, strict=False)]
    margin = 2 * width if len(rows) == 1 else 0  # a single bar does not fill the figure
    ends = [max(low - margin, 0), rows[-1]["to"] + margin]
    where = {
        "x": number("from", title=x_title, scale={"domain": ends, "nice": False}, axis=whole_axis(*ends)),
        "x2": {"field": "to"},
        "y": number("n", title=y_title, axis={"format": ",d", "tickCount": 4, "tickMinStep": 1}),
        "y2": {"datum": 0},
        "color": {"condition": {"test": "datum.few", "value": GREY}, "value": MAIN},
        "tooltip": [number("from"), number("to"), number("n")],
    }
    shown = hide_few(rows, "n", fewest)
    title += f" (grey: fewer than {fewest} people)" if any(row["few"] for row in shown) else ""
    bars = mark("bar", shown, where, x2Offset=-1, orient="vertical")
    return {**bars, "width": WIDTH, "height": 160, "title": heading(title)}
