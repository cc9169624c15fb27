"""Charts as Vega-Lite describes them: plain dictionaries, which vl-convert draws, and browsers and altair read."""

import html
import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from os import PathLike
from typing import Any

from plurank.exceptions import ParameterError, extra
from plurank.io import as_path, check_target, write_beside

Spec = dict[str, Any]
Row = Mapping[str, Any]
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
ENDINGS = (".html", ".json", ".png", ".svg")
PIXELS_PER_INCH = 144
PAGE = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title></head>
<body>
<div id="figure"></div>
<script>{library}</script>
<script>vegaEmbed("#figure", {spec});</script>
</body>
</html>
"""


def number(field: str, **how: Any) -> Spec:
    """Encode a number: a length, a place on an axis."""
    return {"field": field, "type": "quantitative", **how}


def name(field: str, **how: Any) -> Spec:
    """Encode a name: a row, a colour, a text."""
    return {"field": field, "type": "nominal", **how}


def mark(kind: str, rows: Sequence[Row], encoding: Spec, **looks: Any) -> Spec:
    """Draw a mark for every row, or a line through all; names of columns are ours, so that no label is a command."""
    return {"data": {"values": [dict(row) for row in rows]}, "mark": {"type": kind, **looks}, "encoding": encoding}


def layer(*layers: Spec, **properties: Any) -> Spec:
    """Draw charts on top of each other."""
    return {"layer": list(layers), **properties}


def stack(*charts: Spec, **properties: Any) -> Spec:
    """Draw charts below each other."""
    return {"vconcat": list(charts), **properties}


class Chart:
    """A figure. ``save`` keeps it as a file, a notebook shows it, and ``to_dict`` gives its Vega-Lite specification."""

    def __init__(self, spec: Spec) -> None:
        tables: list[list[Spec]] = []
        self._spec = {"$schema": SCHEMA, **_name_data(spec, tables)}
        self._spec["datasets"] = {_data_name(n): rows for n, rows in enumerate(tables)}

    def __repr__(self) -> str:
        return f"<chart: {self._spec['description']}>"

    def _repr_svg_(self) -> str:
        return render(self._spec, ".svg").decode()

    def to_dict(self) -> Spec:
        """Return the Vega-Lite specification; ``altair.Chart.from_dict`` makes a chart of it that can be changed.

        Returns
        -------
        dict
            A copy of the specification, data included.
        """
        return deepcopy(self._spec)

    def save(self, path: str | PathLike[str]) -> None:
        """Save the chart as ``save_figure`` does.

        Parameters
        ----------
        path : str or path
            The file: .html (one file that needs no network), .png, .svg or .json.
        """
        save_figure(self, path)


def save_figure(chart: Any, path: str | PathLike[str]) -> None:
    """Save a chart to a file, which is complete or absent.

    Parameters
    ----------
    chart : Chart or altair.Chart
        Anything whose ``to_dict`` returns a Vega-Lite specification.
    path : str or path
        The file: .html (one file that needs no network), .png, .svg or .json.

    Raises
    ------
    DataError
        If the file cannot be written there.
    ParameterError
        If the name has another ending.
    MissingExtraError
        If ``vl-convert-python`` is not installed: ``pip install 'plurank[report]'``. JSON does not need it.

    Examples
    --------
    >>> import plurank, pathlib
    >>> votes = plurank.Comparisons.from_arrays([1, 2, 3], ["tea", "tea", "milk"], ["milk", "juice", "juice"])
    >>> plurank.save_figure(plurank.SingleRanking().fit(votes).plot.places(), "places.json")
    >>> pathlib.Path("places.json").exists()
    True
    """
    kind = as_path(path).suffix.lower()
    if kind not in ENDINGS:
        raise ParameterError(f"{as_path(path).name}: expected a name ending in {', '.join(ENDINGS)}.")
    target = check_target(path)
    content = render(chart.to_dict(), kind)
    with write_beside(target) as beside:
        beside.write_bytes(content)


def render(spec: Spec, kind: str) -> bytes:
    """Draw a chart as a file of a kind, one of ``ENDINGS``."""
    if kind == ".json":
        return json.dumps(spec, indent=2).encode()
    with extra("report", "a figure"):
        import vl_convert
    if kind == ".svg":
        return vl_convert.vegalite_to_svg(spec).encode()
    if kind == ".png":
        return vl_convert.vegalite_to_png(spec, ppi=PIXELS_PER_INCH)
    text = json.dumps(spec).replace("<", r"\u003c")  # so that no label ends the script
    library = vl_convert.javascript_bundle()  # type: ignore[call-arg]
    return PAGE.format(title=html.escape(spec.get("description", "A figure")), library=library, spec=text).encode()


def _name_data(spec: Spec, tables: list[list[Spec]]) -> Spec:
    """Put the rows of all parts into tables, each once, and name them there instead."""
    named = dict(spec)
    if "data" in spec:
        rows = spec["data"]["values"]
        if rows not in tables:
            tables.append(rows)
        named["data"] = {"name": _data_name(tables.index(rows))}
    for group in named.keys() & {"layer", "vconcat"}:
        named[group] = [_name_data(part, tables) for part in spec[group]]
    return named


def _data_name(n: int) -> str:
    return f"rows {n + 1}"
