"""The look of every figure, and how figures are kept: results/paper/NAME.svg and NAME.png."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from benchmarks.common import RESULTS

# told apart by people who see few colours, and by their lightness in print (Okabe and Ito)
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#7A6A00"]
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left"]
GREY = "#767676"
PIXELS_PER_UNIT = 2.0


def save_figure(chart: alt.TopLevelMixin, name: str) -> None:
    """Write a chart as SVG and PNG."""
    folder = RESULTS / "paper"
    folder.mkdir(parents=True, exist_ok=True)
    styled = _style(chart)
    styled.save(folder / f"{name}.svg")
    styled.save(folder / f"{name}.png", scale_factor=PIXELS_PER_UNIT)
    print(f"wrote benchmarks/results/paper/{name}.svg and .png")


def _style(chart: Any) -> Any:
    axis = {"labelFontSize": 12, "titleFontSize": 13, "titleFontWeight": "normal", "gridColor": "#e6e6e6"}
    legend = {
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 400,
        "symbolSize": 80,
    }
    titles = {
        "fontSize": 14,
        "subtitleFontSize": 12,
        "fontWeight": "normal",
        "anchor": "start",
        "subtitleColor": "#444",
    }
    return (
        chart.configure(font="Arial, Helvetica, sans-serif", background="white", padding=12)
        .configure_axis(**axis)
        .configure_legend(**legend)
        .configure_title(**titles)
        .configure_header(labelFontSize=13, titleFontSize=13, titleFontWeight="normal")
        .configure_view(stroke="#cccccc")
    )


def colours(field: str, domain: list[str]) -> alt.Color:
    """One colour for each name, in a fixed order; names past the seventh would share one."""
    return alt.Color(f"{field}:N", scale=alt.Scale(domain=domain, range=COLOURS), title=None)


def shapes(field: str, domain: list[str], title: str | None = None) -> alt.Shape:
    """One shape for each name, so that no figure rests on colour alone."""
    return alt.Shape(f"{field}:N", scale=alt.Scale(domain=domain, range=SHAPES), title=title)


def measured_curves(rows: list[dict[str, Any]], x: alt.X, y: alt.Y, by: str, domain: list[str]) -> alt.LayerChart:
    """Lines with points for each name in ``by``; bars from ``low`` to ``high`` where the rows have these columns."""
    base = alt.Chart(pl.DataFrame(rows)).encode(x=x, color=colours(by, domain))
    layers = [
        base.mark_line().encode(y=y),
        base.mark_point(filled=True, size=60).encode(y=y, shape=shapes(by, domain)),
    ]
    if "low" in rows[0]:
        layers.insert(0, base.mark_rule(strokeWidth=2, opacity=0.6).encode(y=alt.Y("low:Q"), y2="high:Q"))
    return alt.layer(*layers)


def log_axis(kind: type, field: str, title: str, values: Sequence[Any], format: str = ",") -> Any:
    """An x or y axis (``alt.X`` or ``alt.Y``) in logarithms, fitted to the data, with labels at some values only."""
    scale = alt.Scale(type="log", nice=False, padding=12)
    return kind(f"{field}:Q", title=title, scale=scale, axis=alt.Axis(values=values, format=format))
