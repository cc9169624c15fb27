"""How many rankings: what held-out comparisons say."""

from typing import TYPE_CHECKING, Any

import altair as alt

from plurank.report.theme import COLOURS, INK, SHAPES, WIDTH, data, finish, whole_axis

if TYPE_CHECKING:
    from plurank.models.selection import Selection

DASHES = ([1, 0], [6, 4])


def draw_selection(selection: "Selection") -> Any:
    """Draw the held-out log-likelihood against the number of rankings, a line a way of mixing, and what was chosen."""
    rows = [_row(row) for row in selection.table.to_dicts()]
    ways = list(dict.fromkeys(row["mixing"] for row in rows))
    ends = {way: max(row["n_rankings"] for row in rows if row["mixing"] == way) for way in ways}
    numbers = sorted(row["n_rankings"] for row in rows)
    x = alt.X("n_rankings:Q", title="rankings", axis=whole_axis(numbers[0], numbers[-1], grid=False))
    y = alt.Y("held_out:Q", title="held-out log-likelihood", scale=alt.Scale(zero=False), axis=alt.Axis(format=".3f"))
    colour = alt.Color("mixing:N", scale=alt.Scale(domain=ways, range=list(COLOURS[: len(ways)])), legend=None)
    shape = alt.Shape("mixing:N", scale=alt.Scale(domain=ways, range=list(SHAPES[: len(ways)])), legend=None)
    dash = alt.StrokeDash("mixing:N", scale=alt.Scale(domain=ways, range=list(DASHES[: len(ways)])), legend=None)
    every = alt.Chart(data(rows)).encode(x=x, y=y, color=colour, tooltip=["mixing:N", "n_rankings:Q", "held_out:Q"])
    errors = alt.Chart(data(rows)).encode(x=x, y="lower:Q", y2="upper:Q", color=colour)
    last = alt.Chart(data([row for row in rows if row["n_rankings"] == ends[row["mixing"]]])).encode(x=x, y=y)
    chosen = [row for row in rows if _is_chosen(row, selection)]
    ring = alt.Chart(data(chosen)).encode(x=x, y=y)
    layers = [
        every.mark_line(strokeWidth=1.5).encode(strokeDash=dash),
        errors.mark_rule(strokeWidth=1.5, opacity=0.6),
        every.mark_point(size=60).encode(shape=shape),
        ring.mark_point(size=320, filled=False, color=INK, strokeWidth=2),
        ring.mark_text(dy=-22, fontWeight=600).encode(text=alt.value("chosen")),
        last.mark_text(align="left", dx=10).encode(text="mixing:N"),
    ]
    chart = alt.layer(*layers).properties(width=WIDTH, height=300)
    about = "Higher is better; the upright lines are one standard error each way."
    return finish(chart, f"How many rankings? {selection.n_rankings}, mixed by {selection.mixing}", about)


def _row(row: dict[str, Any]) -> dict[str, Any]:
    value, error = row["held_out"], row["held_out_se"]
    return {**row, "lower": value - error, "upper": value + error}


def _is_chosen(row: dict[str, Any], selection: "Selection") -> bool:
    is_number = row["n_rankings"] == selection.n_rankings
    return is_number and (row["mixing"] == selection.mixing or selection.n_rankings == 1)  # one ranking is not mixed
