"""Figures and tables as parts of a page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import vl_convert
from markupsafe import Markup

MOST_ROWS = 100  # of a table behind a figure


@dataclass(frozen=True)
class Table:
    """Column names, rows of text, and how many rows there are in all."""

    head: tuple[str, ...]
    rows: list[tuple[str, ...]]
    n_rows: int


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


def figure(chart: Any, number: int, rows: Table | None) -> Figure:
    """Draw a chart as SVG that stands in a page; its title becomes the page's text.

    It has no names of its own that another figure could have too.
    """
    spec = chart.to_dict()
    title = spec.pop("title")
    svg = vl_convert.vegalite_to_svg(spec, vl_version=".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2]))
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"', "", svg)  # a page needs none
    svg = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>figure{number}-", svg)
    svg = re.sub(r'<svg([^>]*?) width="(\d+)" height="\d+"', r'<svg\1 style="width: \2px"', svg, count=1)
    svg = svg.replace("<svg", f'<svg role="img" aria-labelledby="words-{number}"', 1)
    return Figure(number, Markup(svg), title["text"], " ".join(title.get("subtitle", [])), rows)
