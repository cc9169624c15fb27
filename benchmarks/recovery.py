"""How well the rankings of a simulated population are recovered, and how long it takes.

Setting of the paper's section 6.2 with random permutations: Q = 100, N = 300, K = 10, concentration 0.1; mean weights
drawn uniformly from the simplex for every seed, so that some rankings are followed by very few people (column
least_weight).

    python -m benchmarks.recovery [--quick] [--only whitened projections printed]
"""

import statistics
import time

import plurank
from benchmarks.common import parser_of, write_results

SEEDS = range(5)
DETECTIONS = ("whitened", "projections", "printed")
BOUNDS = {1000: 0.10, 5000: 0.015, 20000: 0.001}  # mean error of whitened detection, Q = 100


def measure(detection: str, n_users: int, n_items: int, n_rankings: int, per_user: int, seed: int) -> dict[str, object]:
    truth = plurank.simulate(n_users, n_items, n_rankings, per_user, concentration=0.1, random_state=seed)
    model = plurank.TopicRanking(n_rankings, detection, random_state=seed)
    begin = time.perf_counter()
    try:
        error = plurank.ranking_error(model.fit(truth.comparisons).rankings_, truth.rankings)
        statistic = model.separation_statistic_
    except plurank.NotIdentifiableError:
        error, statistic = float("nan"), "not identifiable"
    took = time.perf_counter() - begin
    row = {
        "key": f"{detection}, {n_users}, {n_items}, {seed}", "detection": detection, "statistic": statistic,
        "n_users": n_users, "n_items": n_items, "n_rankings": n_rankings, "comparisons_per_user": per_user,
        "seed": seed, "ranking_error": round(error, 6),
        "least_weight": round(float(truth.mean_weights.min()), 5), "seconds": round(took, 2),
    }  # fmt: skip
    print(row, flush=True)
    return row


def check_bounds(rows: list[dict[str, object]]) -> None:
    """Fail where whitened detection is worse than it has to be."""
    for n_users, bound in BOUNDS.items():
        hard = [row for row in rows if row["detection"] == "whitened" and row["n_items"] == 100]
        errors = [row["ranking_error"] for row in hard if row["n_users"] == n_users]
        mean = statistics.fmean(errors) if errors else 0.0
        if mean > bound:
            raise SystemExit(f"mean error {mean:.4f} at {n_users:,} users is above {bound}")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--quick", action="store_true", help="skip 20,000 users and leave the results file alone")
    parser.add_argument("--only", nargs="+", choices=DETECTIONS, default=DETECTIONS)
    given = parser.parse_args()
    quick, rows = given.quick, []
    for detection in given.only:
        for n_users in (1000, 5000) if quick else (1000, 5000, 20000):
            rows += [measure(detection, n_users, 100, 10, 300, seed) for seed in SEEDS]
        rows += [measure(detection, 5000, 10, 3, 50, seed) for seed in SEEDS]
    for key in sorted({(row["detection"], row["n_items"], row["n_users"]) for row in rows}):
        errors = [row["ranking_error"] for row in rows if (row["detection"], row["n_items"], row["n_users"]) == key]
        print(*key, "mean", round(statistics.fmean(errors), 5), "median", round(statistics.median(errors), 5))
    if not quick:
        write_results("recovery", rows, replacing="key")
        check_bounds(rows)


if __name__ == "__main__":
    main()
