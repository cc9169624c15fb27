"""How the fit went, and whether its probabilities can be trusted."""

from typing import Any

import altair as alt
import numpy as np
import polars as pl

from plurank.data.sources import pieces_of
from plurank.evaluation.calibration import calibration_table
from plurank.exceptions import ParameterError
from plurank.models.base import RankingModel
from plurank.report.theme import GREY, INK, WIDTH, data, finish, whole_axis


def draw_convergence(model: RankingModel) -> Any:
    """Draw the log posterior by pass."""
    history = getattr(model, "log_posterior_", None)
    if history is None:
        raise ParameterError(
            f"a {type(model).__name__} keeps no log posterior by pass; MixedRanking and ClusteredRanking do."
        )
    rows = [{"pass": n, "log_posterior": float(value)} for n, value in enumerate(history, start=1)]
    axis = alt.Axis(format=",.0f" if np.ptp(history) > 10 else ",.2f", tickCount=5)
    chart = alt.Chart(data(rows)).encode(
        x=alt.X("pass:Q", axis=whole_axis(1, len(rows), grid=False)),
        y=alt.Y("log_posterior:Q", title="log posterior", scale=alt.Scale(zero=False), axis=axis),
        tooltip=["pass:Q", alt.Tooltip("log_posterior:Q", format=",.1f")],
    )
    drawn = alt.layer(chart.mark_line(), chart.mark_point(size=25)).properties(width=WIDTH, height=260)
    end = "it had stopped growing" if model.converged_ else "it was still growing: try a larger max_iter"
    passes = "one pass" if len(rows) == 1 else f"{len(rows)} passes"
    return finish(drawn, "How probable the model became, pass by pass", f"After {passes} {end}.")


def draw_calibration_of(model: RankingModel, test: Any) -> Any:
    """Draw predictions against what happened, for comparisons in memory or in a store."""
    found = [model.predict_held_out(piece) for piece in pieces_of(test)]
    weights = [w for _, w in found if w is not None]
    return draw_calibration(
        calibration_table(np.concatenate([p for p, _ in found]), np.concatenate(weights) if weights else None)
    )


def draw_calibration(table: pl.DataFrame) -> Any:
    """Draw a table with columns predicted, share, n."""
    rows = [{**row, "text": f"{row['n']:,}"} for row in table.to_dicts()]
    scale = alt.Scale(domain=[0.5, 1.0], nice=False)
    lowest = min([0.5, *(row["share"] for row in rows)])
    x = alt.X("predicted:Q", title="predicted probability of the likelier item", scale=scale, axis=alt.Axis(format="%"))
    y_scale = alt.Scale(domain=[lowest, 1.0], nice=False)
    y = alt.Y("share:Q", title="how often it was preferred", scale=y_scale, axis=alt.Axis(format="%"))
    ends = data([{"predicted": at, "share": at} for at in (0.5, 1.0)])
    diagonal = alt.Chart(ends).mark_line(color=GREY, strokeDash=[6, 4]).encode(x=x, y=y)
    bins = alt.Chart(data(rows)).encode(x=x, y=y)
    size = alt.Size("n:Q", title="comparisons", scale=alt.Scale(range=[30, 400]), legend=None)
    layers = [
        diagonal,
        bins.mark_line(strokeWidth=1.5),
        bins.mark_point().encode(size=size, tooltip=["predicted:Q", "share:Q", "n:Q"]),
        bins.mark_text(dx=12, dy=12, fontSize=10, color=INK, align="left").encode(text="text:N"),
    ]
    chart = alt.layer(*layers).properties(width=420, height=360)
    about = [
        "On the dashed line probabilities are just right; below it the model is too sure.",
        "Beside a dot: how many held-out comparisons it stands for.",
    ]
    return finish(chart, "Predicted and observed, in comparisons held out", about)
