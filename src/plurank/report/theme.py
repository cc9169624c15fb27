"""How all figures look, in one place: colours that colour-blind people can tell apart, never colour alone."""

from collections import Counter
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

import altair as alt

from plurank.exceptions import ParameterError
from plurank.paths import as_path
from plurank.report.wording import label, wrap
from plurank.writing import check_target, write_beside

Row = Mapping[str, Any]
# Okabe and Ito's palette, without the yellow that is too pale for lines
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
MAIN, OTHER = COLOURS[0], COLOURS[1]
INK, QUIET, FAINT, PAPER = "#1f2328", "#59636e", "#d1d9e0", "#ffffff"  # the report swaps them when it is dark
GREY = "#98a2ad"  # seen on light and on dark
FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"  # all of one width, as text was measured
WIDTH, ROW = 560, 22
MOST_TICKS = 14
LONGEST, LINE, LINES = 30, 40, 3  # columns of a label in a figure, or of a line of it; lines of a label of an axis
ENDINGS = (".html", ".json", ".png", ".svg")


def names_of(texts: Sequence[Any], lines: int = 1) -> list[str]:
    """Return names of items that fit into a figure, each another one: what is cut short may have become alike."""
    names = [wrap(label(text), LINE, lines) if lines > 1 else label(text, LONGEST) for text in texts]
    seen: Counter[str] = Counter()
    for n, name in enumerate(names):
        seen[name] += 1
        if seen[name] > 1:
            names[n] = f"{name} ({seen[name]})"
    return names


def data(rows: Sequence[Row]) -> alt.InlineData:
    """Put rows into a chart as they are; their names are ours, so that no label can be taken for an expression."""
    return alt.InlineData(values=[dict(row) for row in rows])


def by_name(field: str, names: Sequence[str], **axis: Any) -> alt.Y:
    """Return a vertical axis with a row for each name, in the order given; names may have several lines."""
    lines = r"split(datum.value, '\n')"
    # the first line stands in the middle of its row, so that others would hang below it
    rise: dict[str, Any] = {
        "condition": [{"test": f"length({lines}) == {n}", "value": -7 * (n - 1)} for n in range(2, LINES + 1)],
        "value": 0,
    }
    looks = alt.Axis(labelLimit=300, ticks=False, labelExpr=lines, labelOffset=rise, **axis)
    return alt.Y(f"{field}:N", sort=list(names), title=None, axis=looks)


def row_height(names: Sequence[str], extra: int = 0) -> int:
    """Return the height of a row for each name, by the longest of them."""
    return max(ROW, 8 + 15 * max((name.count("\n") + 1 for name in names), default=1)) + extra


def whole_axis(low: int, high: int, **looks: Any) -> alt.Axis:
    """Give an axis with ticks at whole numbers, at the lowest and at multiples of a round step."""
    steps = (digit * 10**power for power in range(10) for digit in (1, 2, 5))
    step = next(step for step in steps if (high - low) / step <= MOST_TICKS)
    rest = [tick for tick in range(low + 1, high + 1) if tick % step == 0 and tick - low > step / 2]
    return alt.Axis(format=",d", values=[low, *rest], **looks)


def heading(text: str) -> alt.Title:
    """Give the title of a part of a figure."""
    return alt.Title(text, fontSize=13, color=INK)


def finish(chart: Any, title: str, subtitle: str | Sequence[str] = "") -> Any:
    """Give a chart its title, which says in a sentence what is seen, and the looks that all share."""
    lines = [subtitle] if isinstance(subtitle, str) else list(subtitle)
    lines = [line for line in lines if line]
    head = alt.Title(title, subtitle=lines) if lines else alt.Title(title)
    words = " ".join([f"{title}.", *lines])
    return chart.properties(title=head, description=words).configure(**LOOKS)


def save_figure(chart: Any, path: str | PathLike[str]) -> None:
    """Save a chart as .html (one file that needs no network), .png, .svg or .json; whole or not at all."""
    kind = as_path(path).suffix.lower()
    if kind not in ENDINGS:
        raise ParameterError(f"{as_path(path).name}: expected a name ending in {', '.join(ENDINGS)}.")
    target = check_target(path)
    how = {"inline": True} if kind == ".html" else {"ppi": 144} if kind == ".png" else {}
    with write_beside(target) as beside:
        chart.save(str(beside), format=kind[1:], **how)


_TEXT = {"labelColor": INK, "titleColor": QUIET, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
LOOKS: dict[str, Any] = {
    "background": PAPER,
    "font": FONT,
    "padding": 12,
    "aria": False,  # the description says it better than hundreds of marks do
    "view": {"stroke": None},
    "axis": {**_TEXT, "gridColor": FAINT, "domainColor": FAINT, "tickColor": FAINT, "titlePadding": 10},
    "legend": {**_TEXT, "symbolStrokeWidth": 2},
    "header": {**_TEXT, "titleColor": INK},
    "title": {
        "anchor": "start", "frame": "group", "color": INK, "fontSize": 15, "fontWeight": 600, "offset": 14,
        "subtitleColor": QUIET, "subtitleFontSize": 12, "subtitlePadding": 5,
    },
    "text": {"color": INK, "fontSize": 12},
    "bar": {"color": MAIN},
    "point": {"color": MAIN, "filled": True, "size": 60, "opacity": 1},
    "rule": {"color": MAIN, "strokeWidth": 2},
    "line": {"color": MAIN},
}  # fmt: skip
