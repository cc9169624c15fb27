"""Lemma 2, measured: how the estimate of E approaches E with more users, and what more comparisons of each can do.

    python -m benchmarks.paper.lemma2

The appendix bounds the largest error of an entry by ``P(error >= e) <= 8 W^2 exp(-e^2 eta^4 M N / 20)``, N the number
of comparisons in each half. Left: the error against M with N = 20, for K = 3 rankings of 4 and of 8 items, and the
bound that holds with probability 0.95 (dashed). Right: the error against N with M = 200, for two opposite rankings of
two items and Dirichlet weights of concentration 0.5. The bound falls like 1 / sqrt(N), but the error does not: all
comparisons of a person share that person's weights. Past some N the bound is broken (column above_bound: in how many of
the seeds; 5 % are allowed), so its proof, which takes all comparisons for independent, has a gap. Points are medians of
20 seeds, bars go from the least to the largest.
"""

import altair as alt
import numpy as np
import polars as pl

import plurank
from benchmarks.common import write_results
from benchmarks.paper.figures import colours, log_axis, measured_curves, save_figure
from plurank.topic.moments import pair_moments
from plurank.topic.theory import known_population

# in each set of rankings every pair is turned round by one of them, so that all ordered pairs occur
MODELS = {
    "4 items": ([[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]], [0.4, 0.35, 0.25], 1.0),
    "8 items": ([[0, 1, 2, 3, 4, 5, 6, 7], [7, 6, 5, 4, 3, 2, 1, 0], [1, 3, 5, 7, 0, 2, 4, 6]], [0.4, 0.35, 0.25], 1.0),
    "2 items": ([[0, 1], [1, 0]], [0.5, 0.5], 0.5),
}
USERS, HALF_SIZES = (250, 1000, 4000, 16_000, 64_000), (1, 10, 100, 1000, 10_000)
SEEDS = range(20)
FAILURE = 0.05


def measure(name: str, n_users: int, half: int) -> dict[str, object]:
    """Largest error of an entry of E, median and range over the seeds, beside the bound."""
    rankings, mean, concentration = MODELS[name]
    population = known_population(rankings, mean, concentration)
    W, eta = len(population.pairs), population.probabilities.min()
    bound = np.sqrt(20 * np.log(8 * W**2 / FAILURE) / (eta**4 * n_users * half))
    errors = np.empty(len(SEEDS))
    for seed in SEEDS:
        truth = plurank.simulate(
            n_users, rankings=rankings, mean_weights=mean, concentration=concentration, comparisons_per_user=2 * half,
            random_state=seed,
        )  # fmt: skip
        estimate = pair_moments(truth.comparisons, seed).product(np.eye(W))
        errors[seed] = np.abs(estimate - population.moments).max()
    low, middle, high = np.quantile(errors, (0.0, 0.5, 1.0)).round(5).tolist()
    row = {
        "model": name, "n_users": n_users, "comparisons_in_half": half, "n_seeds": len(SEEDS), "error": middle,
        "low": low, "high": high, "bound": round(float(bound), 5), "above_bound": int((errors > bound).sum()),
    }  # fmt: skip
    print(row, flush=True)
    return row


def add_slopes(rows: list[dict[str, object]], x: str) -> list[dict[str, object]]:
    """Add the slope of log(error) on log(x), and that of the bound."""
    sizes, errors = (np.log([row[name] for row in rows]) for name in (x, "error"))
    slope = round(float(np.polyfit(sizes, errors, 1)[0]), 2)
    return [row | {"varied": x, "slope": slope, "slope_of_bound": -0.5} for row in rows]


def draw(rows: list[dict[str, object]], x: str, x_title: str, title: str) -> alt.LayerChart:
    names = list(dict.fromkeys(str(row["model"]) for row in rows))
    x_axis = log_axis(alt.X, x, x_title, sorted({row[x] for row in rows}))
    y_axis = log_axis(alt.Y, "error", "largest error of an entry of E", [10.0**n for n in range(-3, 4)])
    slopes = ", ".join(f"{name} {next(row['slope'] for row in rows if row['model'] == name):.2f}" for name in names)
    head = alt.TitleParams(title, subtitle=f"slope measured: {slopes}; of the bound (dashed): -0.50")
    bounds = alt.Chart(pl.DataFrame(rows)).mark_line(strokeDash=[6, 4]).encode(
        x=x_axis, y=alt.Y("bound:Q"), color=colours("model", names)
    )  # fmt: skip
    curves = measured_curves(rows, x_axis, y_axis, "model", names)
    return alt.layer(bounds, curves).properties(width=360, height=280, title=head)


def main() -> None:
    by_users = [add_slopes([measure(name, M, 20) for M in USERS], "n_users") for name in ("4 items", "8 items")]
    by_half = add_slopes([measure("2 items", 200, half) for half in HALF_SIZES], "comparisons_in_half")
    left = [row for rows in by_users for row in rows]
    write_results("paper/lemma2", left + by_half)
    charts = (
        draw(left, "n_users", "users (M)", "More users: 20 comparisons in each half"),
        draw(by_half, "comparisons_in_half", "comparisons in each half (N)", "More comparisons: 200 users"),
    )
    save_figure(alt.hconcat(*charts).resolve_scale(color="independent", shape="independent"), "lemma2")


if __name__ == "__main__":
    main()
