"""How the fit went, whether its probabilities can be trusted, and how many rankings held-out comparisons support."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from plurank.engine.blocks import iterate_users
from plurank.exceptions import ParameterError
from plurank.metrics.predictions import calibration_table
from plurank.models.base import RankingModel
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
    GREY,
    INK,
    SHAPES,
    WIDTH,
    finish,
    whole_axis,
)

DASHES = ([1, 0], [6, 4])


def draw_convergence(model: RankingModel) -> Chart:
    """Draw the log posterior by pass."""
    history = getattr(model, "log_posterior_", None)
    if history is None:
        raise ParameterError(
            f"a {type(model).__name__} keeps no log posterior by pass; MixedRanking and ClusteredRanking do."
        )
    rows = [{"pass": n, "log_posterior": float(value)} for n, value in enumerate(history, start=1)]
    axis = {"format": ",.0f" if np.ptp(history) > 10 else ",.2f", "tickCount": 5}
    where = {
        "x": number("pass", axis=whole_axis(1, len(rows), grid=False)),
        "y": number("log_posterior", title="log posterior", scale={"zero": False}, axis=axis),
        "tooltip": [number("pass"), number("log_posterior", format=",.1f")],
    }
    drawn = layer(mark("line", rows, where), mark("point", rows, where, size=25), width=WIDTH, height=260)
    end = "it had stopped growing" if model.converged_ else "it was still growing: try a larger max_iter"
    passes = "one pass" if len(rows) == 1 else f"{len(rows)} passes"
    return finish(drawn, "How probable the model became, pass by pass", f"After {passes} {end}.")


def draw_calibration_of(model: RankingModel, test: Any) -> Chart:
    """Draw predictions against what happened, for comparisons in memory or in a store."""
    found = [model.predict_held_out(piece) for piece in iterate_users(test)]
    weights = [w for _, w in found if w is not None]
    return draw_calibration(
        calibration_table(np.concatenate([p for p, _ in found]), np.concatenate(weights) if weights else None)
    )


def draw_calibration(table: pl.DataFrame) -> Chart:
    """Draw a table with columns predicted, share, n."""
    rows = [{**row, "text": f"{row['n']:,}"} for row in table.to_dicts()]
    ends = [{"predicted": at, "share": at} for at in (0.5, 1.0)]
    lowest = min([0.5, *(row["share"] for row in rows)])
    where = {
        "x": number("predicted", title="predicted probability of the likelier item", **_shares_from(0.5)),
        "y": number("share", title="how often it was preferred", **_shares_from(lowest)),
    }
    size = number("n", title="comparisons", scale={"range": [30, 400]}, legend=None)
    seen = [number("predicted"), number("share"), number("n")]
    words = {"dx": 12, "dy": 12, "fontSize": 10, "color": INK, "align": "left"}
    chart = layer(
        mark("line", ends, where, color=GREY, strokeDash=[6, 4]),
        mark("line", rows, where, strokeWidth=1.5),
        mark("point", rows, {**where, "size": size, "tooltip": seen}),
        mark("text", rows, {**where, "text": name("text")}, **words),
        width=420,
        height=360,
    )
    about = [
        "On the dashed line probabilities are just right; below it the model is too sure.",
        "Beside a dot: how many held-out comparisons it stands for.",
    ]
    return finish(chart, "Predicted and observed, in comparisons held out", about)


def _shares_from(lowest: float) -> Spec:
    return {"scale": {"domain": [lowest, 1.0], "nice": False}, "axis": {"format": "%"}}


def draw_selection(selection: dict[str, Any]) -> Chart:
    """Draw ``selection.summary()``: held-out log-likelihood against the number of rankings, a line for each mixing, and
    what was chosen."""
    rows = [_row(row) for row in selection["candidates"]]
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
    last = sorted((row for row in rows if row["n_rankings"] == ends[row["mixing"]]), key=lambda row: row["held_out"])
    labels = [  # apart, even where the lines end at one point
        mark("text", [row], {**where, "text": name("mixing")}, align="left", dx=10, dy=7 - 14 * place)
        for place, row in enumerate(last)
    ]
    chosen = [row for row in rows if row["chosen"]]
    chart = layer(
        mark("line", rows, {**every, "strokeDash": _way(ways, DASHES)}, strokeWidth=1.5),
        mark("rule", rows, errors, strokeWidth=1.5, opacity=0.6),
        mark("point", rows, {**every, "shape": _way(ways, SHAPES)}, size=60),
        mark("point", chosen, where, size=320, filled=False, color=INK, strokeWidth=2),
        mark("text", chosen, {**where, "text": {"value": "chosen"}}, dy=-22, fontWeight=600),
        *labels,
        width=WIDTH,
        height=300,
    )
    about = "Higher is better; the upright lines are one standard error of the difference from the best, each way."
    return finish(chart, f"How many rankings? {_say_choice(selection)}", about)


def _way(ways: list[str], looks: Sequence[Any]) -> Spec:
    """Distinguish ways of mixing by colours, shapes or dashes."""
    return name("mixing", scale={"domain": ways, "range": list(looks[: len(ways)])}, legend=None)


def _row(row: dict[str, Any]) -> dict[str, Any]:
    value, error = row["held_out"], row["behind_se"] or 0.0
    return {**row, "lower": value - error, "upper": value + error}


def _say_choice(selection: dict[str, Any]) -> str:
    number = selection["n_rankings"]
    return "1" if number == 1 else f"{number}, mixed by {selection['mixing']}"  # one ranking is not mixed
