"""How many rankings: what held-out comparisons say."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from plurank.report.charts import (
    Chart,
    Spec,
    layer,
    mark,
    name,
    number,
)
from plurank.report.theme import (
    COLOURS,
    INK,
    SHAPES,
    WIDTH,
    finish,
    whole_axis,
)

if TYPE_CHECKING:
    from plurank.mixed.selection import Selection

DASHES = ([1, 0], [6, 4])


def draw_selection(selection: "Selection") -> Chart:
    """Draw the held-out log-likelihood against the number of rankings, a line a way of mixing, and what was chosen."""
    rows = [_row(row) for row in selection.table.to_dicts()]
    ways = list(dict.fromkeys(row["mixing"] for row in rows))
    ends = {way: max(row["n_rankings"] for row in rows if row["mixing"] == way) for way in ways}
    numbers = sorted(row["n_rankings"] for row in rows)
    where = {
        "x": number("n_rankings", title="rankings", axis=whole_axis(numbers[0], numbers[-1], grid=False)),
        "y": number("held_out", title="held-out log-likelihood", scale={"zero": False}, axis={"format": ".3f"}),
    }
    seen = [name("mixing"), number("n_rankings"), number("held_out")]
    every = {**where, "color": _way(ways, COLOURS), "tooltip": seen}
    errors = {"x": where["x"], "y": number("lower"), "y2": {"field": "upper"}, "color": _way(ways, COLOURS)}
    last = [row for row in rows if row["n_rankings"] == ends[row["mixing"]]]
    chosen = [row for row in rows if _is_chosen(row, selection)]
    chart = layer(
        mark("line", rows, {**every, "strokeDash": _way(ways, DASHES)}, strokeWidth=1.5),
        mark("rule", rows, errors, strokeWidth=1.5, opacity=0.6),
        mark("point", rows, {**every, "shape": _way(ways, SHAPES)}, size=60),
        mark("point", chosen, where, size=320, filled=False, color=INK, strokeWidth=2),
        mark("text", chosen, {**where, "text": {"value": "chosen"}}, dy=-22, fontWeight=600),
        mark("text", last, {**where, "text": name("mixing")}, align="left", dx=10),
        width=WIDTH,
        height=300,
    )
    about = "Higher is better; the upright lines are one standard error each way."
    return finish(chart, f"How many rankings? {selection.n_rankings}, mixed by {selection.mixing}", about)


def _way(ways: list[str], looks: Sequence[Any]) -> Spec:
    """Distinguish ways of mixing by colours, shapes or dashes."""
    return name("mixing", scale={"domain": ways, "range": list(looks[: len(ways)])}, legend=None)


def _row(row: dict[str, Any]) -> dict[str, Any]:
    value, error = row["held_out"], row["held_out_se"]
    return {**row, "lower": value - error, "upper": value + error}


def _is_chosen(row: dict[str, Any], selection: "Selection") -> bool:
    is_number = row["n_rankings"] == selection.n_rankings
    return is_number and (row["mixing"] == selection.mixing or selection.n_rankings == 1)  # one ranking is not mixed
