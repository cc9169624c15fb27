"""How all figures look, in one place: colours that colour-blind people can tell apart, never colour alone."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from plurank.report.charts import Chart, Spec, name
from plurank.report.texts import fit_text, wrap
from plurank.text import label

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


def names_of(texts: Sequence[Any], lines: int = 1) -> list[str]:
    """Return names of items that fit into a figure, each another one: what is cut short may have become alike."""
    names = [wrap(label(text), LINE, lines) if lines > 1 else fit_text(label(text), LONGEST) for text in texts]
    seen: Counter[str] = Counter()
    for n, short in enumerate(names):
        seen[short] += 1
        if seen[short] > 1:
            names[n] = f"{short} ({seen[short]})"
    return names


def by_name(field: str, names: Sequence[str], **axis: Any) -> Spec:
    """Return a vertical axis with a row for each name, in the order given; names may have several lines."""
    lines = r"split(datum.value, '\n')"
    # the first line stands in the middle of its row, so that others would hang below it
    rise = {
        "condition": [{"test": f"length({lines}) == {n}", "value": -7 * (n - 1)} for n in range(2, LINES + 1)],
        "value": 0,
    }
    looks = {"labelLimit": 300, "ticks": False, "labelExpr": lines, "labelOffset": rise, **axis}
    return name(field, sort=list(names), title=None, axis=looks)


def row_height(names: Sequence[str], extra: int = 0) -> int:
    """Return the height of a row for each name, by the longest of them."""
    return max(ROW, 8 + 15 * max((text.count("\n") + 1 for text in names), default=1)) + extra


def whole_axis(low: int, high: int, **looks: Any) -> Spec:
    """Return an axis with ticks at whole numbers, at the lowest and at multiples of a round step."""
    steps = (digit * 10**power for power in range(10) for digit in (1, 2, 5))
    step = next(step for step in steps if (high - low) / step <= MOST_TICKS)
    rest = [tick for tick in range(low + 1, high + 1) if tick % step == 0 and tick - low > step / 2]
    return {"format": ",d", "values": [low, *rest], **looks}


def heading(text: str) -> Spec:
    """Return the title of a part of a figure."""
    return {"text": text, "fontSize": 13, "color": INK}


def finish(chart: Spec, title: str, subtitle: str | Sequence[str] = "") -> Chart:
    """Return a chart its title, which says in a sentence what is seen, and the looks that all share."""
    lines = [subtitle] if isinstance(subtitle, str) else list(subtitle)
    lines = [line for line in lines if line]
    head = {"text": title, "subtitle": lines} if lines else {"text": title}
    return Chart({**chart, "title": head, "description": " ".join([f"{title}.", *lines]), "config": LOOKS})


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
