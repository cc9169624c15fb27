"""How people mix the rankings: one person's weights, and everybody on a map."""

from typing import Any

import numpy as np

from plurank.exceptions import ParameterError
from plurank.mixed.leaderboard import ScoredRankings
from plurank.models.base import RankingModel
from plurank.report.camps import hide_few
from plurank.report.charts import (
    Chart,
    Spec,
    layer,
    mark,
    name,
    number,
)
from plurank.report.texts import fit_text
from plurank.report.theme import (
    GREY,
    INK,
    MAIN,
    OTHER,
    QUIET,
    WIDTH,
    by_name,
    finish,
)
from plurank.text import label, people, percent
from plurank.types import Floats

MOST_SHOWN = 2_000  # people on a map
N_BINS = 20
SIDE, ROOM = 420, 0.06  # of a map in pixels, and what is left free around it


def draw_weights(model: RankingModel, user: Any = None) -> Chart:
    """Draw a bar for every ranking, and its interval where there is one."""
    weights = model.weights_of(user, None)  # refuses users it does not know
    names = [f"Ranking {k + 1}" for k in range(len(weights))]
    rows: list[dict[str, Any]] = [
        {"ranking": of, "weight": float(w), "text": percent(w)} for of, w in zip(names, weights, strict=True)
    ]
    if user is not None and isinstance(model, ScoredRankings):
        bounds = model.weight_intervals(user).select("lower", "upper").rows()
        for row, (low, high) in zip(rows, bounds, strict=True):
            row |= {"lower": low, "upper": high}
    x, y = number("weight", title="share", scale={"domain": [0, 1]}, axis={"format": "%"}), by_name("ranking", names)
    layers = [mark("bar", rows, {"x": x, "y": y}, opacity=0.85, height={"band": 0.7})]
    if "lower" in rows[0]:
        lower, upper = number("lower"), number("upper")
        layers += [
            mark("rule", rows, {"x": lower, "x2": {"field": "upper"}, "y": y}, color=INK, strokeWidth=1.5),
            *(mark("tick", rows, {"x": e, "y": y}, color=INK, thickness=1.5, height=9) for e in (lower, upper)),
        ]
    layers.append(mark("text", rows, {"x": {"value": WIDTH + 8}, "y": y, "text": name("text")}, align="left"))
    chart = layer(*layers, width=WIDTH, height=30 * len(names))
    if user is None:
        return finish(chart, "How much people follow each ranking, on average", people(len(model.users_)))
    about = "The thin line holds the share with 90% probability." if "lower" in rows[0] else ""
    return finish(chart, f"How much {fit_text(label(user), 40)} follows each ranking", about)


def draw_people(model: RankingModel, fewest: int = 1) -> Chart:
    """Draw everybody by their weights, in the way that suits the number of rankings.

    Bars of fewer people than ``fewest`` are drawn alike.
    """
    n_rankings = len(model.rankings_)
    if n_rankings == 1:
        raise ParameterError("there is one ranking only, which everybody follows. Fit a model with more rankings.")
    if n_rankings == 2:
        return _weight_histogram(model, fewest)
    return _map(model)


def _weight_histogram(model: RankingModel, fewest: int) -> Chart:
    counts, edges = np.histogram(model.user_weights_[:, 0], N_BINS, (0.0, 1.0))
    rows = [
        {"from": float(a), "to": float(b), "people": int(n)} for n, a, b in zip(counts, edges, edges[1:], strict=False)
    ]
    scale, title = {"domain": [0, 1], "nice": False}, "share of ranking 1 (the rest is ranking 2)"
    where = {
        "x": number("from", title=title, scale=scale, axis={"format": "%"}),
        "x2": {"field": "to"},
        "y": number("people", title="people", axis={"format": ",d", "tickCount": 5, "tickMinStep": 1}),
        "y2": {"datum": 0},
        "color": {"condition": {"test": "datum.few", "value": GREY}, "value": MAIN},
        "tooltip": [number("from"), number("to"), number("people")],
    }
    mean = [{"at": float(model.mean_weights_[0])}]
    chart = layer(
        mark("bar", hide_few(rows, "people", fewest), where, x2Offset=-1, orient="vertical"),
        mark("rule", mean, {"x": number("at")}, color=OTHER, strokeDash=[6, 4]),
        width=WIDTH,
        height=240,
    )
    about = f"{people(len(model.users_))}; the dashed line is the average, {percent(mean[0]['at'])}."
    about += (
        f" Grey: fewer than {fewest} people." if fewest > 1 and any(0 < row["people"] < fewest for row in rows) else ""
    )
    return finish(chart, "How people mix the two rankings", about)


def corners_of(n_rankings: int) -> Floats:
    """Return the corners (K, 2) of a regular polygon, the first at the top."""
    angles = np.pi / 2 - 2 * np.pi * np.arange(n_rankings) / n_rankings
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _map(model: RankingModel) -> Chart:
    """Draw everybody at the mean of the corners, weighted as they weigh the rankings."""
    n_rankings = len(model.rankings_)
    corners = corners_of(n_rankings)
    weights, shown = _sample(model)
    lowest = float(corners[:, 1].min()) - ROOM
    where = {
        "x": number("x", scale={"domain": [-1 - ROOM, 1 + ROOM], "nice": False}, axis=None),
        "y": number("y", scale={"domain": [lowest, 1 + ROOM], "nice": False}, axis=None),
    }
    rows = [{"x": float(a), "y": float(b)} for a, b in weights @ corners]
    mean = model.mean_weights_ @ corners
    middle = [{"x": float(mean[0]), "y": float(mean[1]), "text": "average"}]
    chart = layer(
        _outline(corners, where),
        mark("point", rows, where, size=22, opacity=0.3, color=MAIN),
        mark("point", middle, where, shape="diamond", size=140, color=OTHER, stroke="white", strokeWidth=1),
        mark("text", middle, {**where, "text": name("text")}, dy=-13, fontWeight=600),
        *_corner_labels(model, corners, where),
        width=SIDE,
        height=SIDE * (1 + ROOM - lowest) / (2 + 2 * ROOM),
    )
    words = ["A person in a corner follows that ranking alone; the nearer a corner, the more."]
    if n_rankings > 3:
        words.append("In the middle are people who mix opposite rankings, and people who mix all.")
    return finish(chart, f"How people mix the {n_rankings} rankings, a dot a person", [*words, shown])


def _sample(model: RankingModel) -> tuple[Floats, str]:
    n_users = len(model.users_)
    if n_users <= MOST_SHOWN:
        return model.user_weights_, f"All {people(n_users)}."
    chosen = np.sort(np.random.default_rng(0).choice(n_users, MOST_SHOWN, replace=False))
    return model.user_weights_[chosen], f"{MOST_SHOWN:,} of {n_users:,} people, drawn at random."


def _outline(corners: Floats, where: Spec) -> Spec:
    rows = [{"x": float(a), "y": float(b), "n": n} for n, (a, b) in enumerate([*corners, corners[0]])]
    return mark("line", rows, {**where, "order": number("n")}, color=QUIET, strokeWidth=1)


def _corner_labels(model: RankingModel, corners: Floats, where: Spec) -> list[Spec]:
    """Name the corners, outside of the polygon."""
    layers = []
    for k, ((a, b), share) in enumerate(zip(corners.tolist(), model.mean_weights_.tolist(), strict=True), start=1):
        row = {"x": a, "y": b, "text": f"Ranking {k} · {percent(share)}"}
        align = "center" if abs(a) < 0.2 else "left" if a > 0 else "right"
        looks = {"dx": 12 * a, "dy": -16 * b, "align": align, "baseline": "middle", "fontWeight": 600}
        layers += [
            mark("point", [row], where, shape="square", size=60, color=INK),
            mark("text", [row], {**where, "text": name("text")}, **looks),
        ]
    return layers
