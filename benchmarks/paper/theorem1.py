"""Theorem 1, measured: the running time of Algorithm 1 is O(M N K + Q^2 K^3).

    python -m benchmarks.paper.theorem1

Users, comparisons per user, items and rankings are varied one at a time around M = 8,000, N = 50, Q = 60, K = 5, for
three simulated populations whose rankings are followed alike. Timed is what the theorem is about: the moments and
Algorithms 1 to 4 (not the users' weights), with 150 K projections, for Algorithm 2 on the rank-K estimate of E
("projections"), as printed, and for whitened. Slopes are least-squares fits of log(time) on log(size) over all
populations, and over the two largest sizes alone, to hold against the theorem's powers: 1 in M and N, 2 in Q, 3 in K.
A time is the less of two, in processor seconds of one thread, because machines are shared; bars go from the fastest to
the slowest population. Sizes are such that, as printed, rows are told apart by their distance throughout (column
statistic). A last row, outside the slopes, has N = 400: there everybody repeats pairs, so Algorithm 2's own statistic
of entries is used. The noise leaves most rows unseparated from some extreme one, their columns of E are all computed,
and the time is no longer bounded by M N K.
"""

import time

import altair as alt
import numpy as np
from threadpoolctl import threadpool_limits

import plurank
from benchmarks.common import write_results
from benchmarks.paper.figures import log_axis, measured_curves, save_figure
from plurank.kernels.threads import set_num_threads
from plurank.topic.moments import pair_moments
from plurank.topic.recover import recover_rankings

BASE = {"n_users": 8000, "comparisons_per_user": 50, "n_items": 60, "n_rankings": 5}
SIZES = {
    "n_users": (2000, 4000, 8000, 16_000, 32_000),
    "comparisons_per_user": (12, 25, 50, 100, 200),
    "n_items": (40, 60, 90, 135, 200),
    "n_rankings": (2, 4, 8, 16),
}
POWERS = {"n_users": 1, "comparisons_per_user": 1, "n_items": 2, "n_rankings": 3}
TITLES = dict(zip(SIZES, ("users (M)", "comparisons per user (N)", "items (Q)", "rankings (K)"), strict=True))
DETECTIONS = ["projections", "printed", "whitened"]
SEEDS = range(3)


def time_algorithm_1(comparisons: plurank.Comparisons, n_rankings: int, detection: str) -> tuple[float, str]:
    """Seconds of the processor, and the statistic by which rows were told apart."""
    times = []
    for _ in range(2):
        begin = time.process_time()
        moments, rng = pair_moments(comparisons, 0), np.random.default_rng(0)
        found = recover_rankings(moments, n_rankings, detection, rng=rng)
        times.append(time.process_time() - begin)
    return min(times), found.novel.statistic


def measure(varied: str, size: int, seed: int, detection: str) -> dict[str, object]:
    setting = BASE | {varied: size}
    K = setting["n_rankings"]
    truth = plurank.simulate(**setting, concentration=0.1, mean_weights=[1 / K] * K, random_state=seed)
    took, statistic = time_algorithm_1(truth.comparisons, K, detection)
    what = {"varied": varied, "size": size, "detection": detection, "statistic": statistic}
    row = what | setting | {"seed": seed, "cpu_seconds": round(took, 4)}
    print(row, flush=True)
    return row


def sweep(varied: str) -> list[dict[str, object]]:
    return add_slopes([measure(varied, n, seed, d) for n in SIZES[varied] for seed in SEEDS for d in DETECTIONS])


def fit_slope(sizes: np.ndarray, times: np.ndarray) -> float:
    return round(float(np.polyfit(np.log(sizes), np.log(times), 1)[0]), 2)


def add_slopes(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    """Add to the rows of one sweep: time over the mean time of the smallest size, and the fitted slopes."""
    result = []
    for detection in DETECTIONS:
        own = [row for row in rows if row["detection"] == detection]
        sizes, times = (np.array([row[name] for row in own], dtype=float) for name in ("size", "cpu_seconds"))
        slope, at_end = fit_slope(sizes, times), fit_slope(sizes[-2 * len(SEEDS) :], times[-2 * len(SEEDS) :])
        ratios = np.round(times / times[sizes == sizes.min()].mean(), 3).tolist()
        facts = {"slope": slope, "slope_at_end": at_end, "power_in_theorem": POWERS[str(own[0]["varied"])]}
        result += [row | {"time_ratio": ratio} | facts for row, ratio in zip(own, ratios, strict=True)]
    return result


def draw_sweep(rows: list[dict[str, object]]) -> alt.LayerChart:
    varied = str(rows[0]["varied"])
    slopes = {row["detection"]: (row["slope"], row["slope_at_end"]) for row in rows}
    points = []
    for size, detection in dict.fromkeys((row["size"], row["detection"]) for row in rows):
        ratios = [row["time_ratio"] for row in rows if (row["size"], row["detection"]) == (size, detection)]
        points.append(
            {"size": size, "detection": detection, "ratio": np.mean(ratios), "low": min(ratios), "high": max(ratios)}
        )
    x = log_axis(alt.X, "size", TITLES[varied], SIZES[varied])
    y = log_axis(alt.Y, "ratio", "time over time at the smallest size", (1, 2, 5, 10, 20, 50))
    title = alt.TitleParams(
        f"Theorem 1: power {POWERS[varied]}",
        subtitle=[f"{name}: slope {all_:.2f}, at the end {end:.2f}" for name, (all_, end) in slopes.items()],
    )
    return measured_curves(points, x, y, "detection", DETECTIONS).properties(width=340, height=230, title=title)


def main() -> None:
    set_num_threads(1)
    with threadpool_limits(1):
        sweeps = [sweep(varied) for varied in SIZES]
        beyond = measure("comparisons_per_user", 400, 0, "printed")
    write_results("paper/theorem1", [*(row for rows in sweeps for row in rows), beyond])
    charts = [draw_sweep(rows) for rows in sweeps]
    save_figure(alt.vconcat(alt.hconcat(*charts[:2]), alt.hconcat(*charts[2:])), "theorem1")


if __name__ == "__main__":
    main()
