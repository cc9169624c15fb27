"""Theorem 2 beside practice: how many users and projections it asks for, and how many are enough.

    python -m benchmarks.paper.theorem2

For three small models, the users needed are the least number on a grid of doublings (from 8) at which the rankings
found are exact in ten of ten seeds, and at the next number too; ">" is the largest number tried where they were not.
The large model is that of ``benchmarks/recovery.py`` (Q = 100, N = 300, K = 10, random permutations, here seed 0), and
what was enough there is read from ``benchmarks/results/recovery.csv``. The theorem fails with probability 0.05 at most.
Its directions: any isotropic distribution, or Gaussian. The paper itself uses 150 K projections.
"""

import csv
from typing import Any

import altair as alt
import numpy as np
import polars as pl

import plurank
from benchmarks.common import RESULTS, write_results
from benchmarks.paper.figures import colours, log_axis, save_figure, shapes
from plurank.topic.theory import sample_bound

CYCLE = [[0, 1, 2], [1, 2, 0], [2, 0, 1]]  # Figure 2 of the paper
GRID = [2**n for n in range(3, 18)]
SEEDS = range(10)
METHODS = {
    "projections": "enough for Algorithm 2 on the rank-K E",
    "printed": "enough for Algorithm 2 as printed",
    "whitened": "enough for whitened detection",
}
Model = tuple[Any, Any, float, int]  # rankings, mean weights, concentration, comparisons per user
CONSTANTS = (
    "least_probability", "largest_share", "least_eigenvalue", "largest_eigenvalue", "entry_distance", "row_distance",
    "least_solid_angle", "solid_angle_error",
)  # fmt: skip
ASKED = {"isotropic": "asked by Theorem 2, isotropic", "gaussian": "asked by Theorem 2, Gaussian"}


def models() -> dict[str, Model]:
    small, middle = (draw_separable(n_items, 3) for n_items in (6, 12))
    large = plurank.simulate(1, 100, 10, 1, random_state=0)
    equal = [1 / 3] * 3
    return {
        "Q=3, K=3, N=20": (CYCLE, equal, 0.1, 20),
        "Q=6, K=3, N=50": (small, equal, 0.1, 50),
        "Q=12, K=3, N=100": (middle, equal, 0.1, 100),
        "Q=100, K=10, N=300": (large.rankings, large.mean_weights, 0.1, 300),
    }


def draw_separable(n_items: int, n_rankings: int) -> Any:
    rng = np.random.default_rng(0)
    while True:
        rankings = np.stack([rng.permutation(n_items) for _ in range(n_rankings)])
        if plurank.is_separable(rankings):
            return rankings


def is_exact(model: Model, n_users: int, detection: str) -> bool:
    rankings, mean, concentration, per_user = model
    for seed in SEEDS:
        truth = plurank.simulate(
            n_users, rankings=rankings, mean_weights=mean, concentration=concentration, comparisons_per_user=per_user,
            random_state=seed,
        )  # fmt: skip
        try:
            found = plurank.TopicRanking(len(rankings), detection, random_state=seed).fit(truth.comparisons).rankings_
        except plurank.NotIdentifiableError:
            return False
        if plurank.ranking_error(found, truth.rankings) > 0:
            return False
    return True


def users_enough(model: Model, detection: str) -> tuple[int, str]:
    """The least number of users on the grid from which on, twice in a row, all seeds are exact."""
    exact = [False, False]
    for n_users in GRID:
        exact = [exact[-1], is_exact(model, n_users, detection)]
        if all(exact):
            return n_users // 2, "<=" if n_users == GRID[1] else "="
    return GRID[-1], ">"


def users_in_recovery(detection: str) -> tuple[int, str]:
    """The same for seed 0 of the recovery benchmark: its three numbers of users only."""
    with (RESULTS / "recovery.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["detection"] == detection and row["n_items"] == "100"]
    errors = {int(row["n_users"]): float(row["ranking_error"]) for row in rows if row["seed"] == "0"}
    exact = [n_users for n_users, error in errors.items() if error == 0]
    return (min(exact), "=") if exact else (max(errors), ">")


def measure(name: str, model: Model) -> dict[str, object]:
    bound = sample_bound(*model)
    asked = {f"{key}_{kind}": getattr(getattr(bound, kind), key) for kind in ASKED for key in ("tolerance", "users")}
    facts = {key: getattr(bound, key) for key in CONSTANTS} | asked | {"projections": bound.projections}
    row = {"model": name, "n_ordered_pairs": bound.n_ordered_pairs} | {k: f"{v:.4g}" for k, v in facts.items()}
    row["projections_used"] = 150 * len(model[0])
    for detection in METHODS:
        is_large = len(model[0]) == 10
        enough, sign = users_in_recovery(detection) if is_large else users_enough(model, detection)
        row |= {f"users_enough_{detection}": enough, f"sign_{detection}": sign}
    print(row, flush=True)
    return row


def draw(rows: list[dict[str, Any]]) -> alt.LayerChart:
    points = []
    for row in rows:
        enough = [(f"users_enough_{key}", label, row[f"sign_{key}"]) for key, label in METHODS.items()]
        for column, what, sign in [*enough, *((f"users_{key}", label, "=") for key, label in ASKED.items())]:
            note = f"not yet with {row[column]:,}" if sign == ">" else ""
            points.append({"model": row["model"], "users": float(row[column]), "what": what, "note": note})
    domain = [*METHODS.values(), *ASKED.values()]
    x = log_axis(alt.X, "users", "users (M)", [10.0**n for n in range(0, 41, 5)], format=".0e")
    y = alt.Y("model:N", title=None, sort=[row["model"] for row in rows])
    base = alt.Chart(pl.DataFrame(points)).encode(x=x, y=y, yOffset=alt.YOffset("what:N", sort=domain))
    marks = base.mark_point(filled=True, size=110).encode(color=colours("what", domain), shape=shapes("what", domain))
    notes = base.mark_text(align="left", dx=9, fontSize=12).encode(text="note:N")
    return (marks + notes).properties(width=560, height=280)


def main() -> None:
    rows = [measure(name, model) for name, model in models().items()]
    write_results("paper/theorem2", rows)
    save_figure(draw(rows), "theorem2")


if __name__ == "__main__":
    main()
