"""Figures and tables as parts of a page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import vl_convert
from markupsafe import Markup

from plurank.report.charts import Chart
from plurank.report.texts import is_statement

MOST_ROWS = 100  # of a table behind a figure
MARGIN = 48  # pixels on both sides, for labels in a font wider than the one they were measured in


@dataclass(frozen=True)
class Table:
    """Column names, rows of text, and how many rows there are in all."""

    head: tuple[str, ...]
    rows: list[tuple[str, ...]]
    n_rows: int

    @property
    def is_wide(self) -> bool:
        """Whether it takes more room than a phone has."""
        return len(self.head) > 3 or self.is_long

    @property
    def is_long(self) -> bool:
        """Whether its rows are named by statements."""
        return any(is_statement(row[0]) for row in self.rows)


@dataclass(frozen=True)
class Figure:
    """A drawing, its title and what it shows in words, and the numbers in it."""

    number: int
    svg: Markup
    title: str
    words: str
    table: Table | None


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """Make a table of plain values; a long one is cut."""
    return Table(tuple(head), [tuple(str(value) for value in row) for row in rows[:MOST_ROWS]], len(rows))


def figure(chart: Chart, number: int, rows: Table | None) -> Figure:
    """Draw a chart as SVG that stands in a page; its title becomes the page's text.

    It has no names of its own that another figure could have too.
    """
    spec = chart.to_dict()
    title = spec.pop("title")
    svg = vl_convert.vegalite_to_svg(spec)
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"', "", svg)  # a page needs none
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>figure{number}-", svg)
    svg = re.sub(
        r' (role|aria-[a-z]+)="[^"]*"', "", svg
    )  # of marks: the figure is one image, and its caption says what
    svg = re.sub(r'<svg([^>]*?) width="([\d.]+)" height="([\d.]+)" viewBox="[^"]*"', _resize, svg, count=1)
    svg = svg.replace("<svg", f'<svg role="img" aria-labelledby="words-{number}"', 1)
    return Figure(number, Markup(svg), title["text"], " ".join(title.get("subtitle", [])), rows)


def _resize(found: re.Match[str]) -> str:
    """Let the page choose the size of a drawing, and leave room at its sides."""
    width, height = float(found[2]) + 2 * MARGIN, float(found[3])
    return f'<svg{found[1]} style="width: {width:g}px" viewBox="{-MARGIN} 0 {width:g} {height:g}"'
