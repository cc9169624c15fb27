"""Peak memory of a fit, each in a process of its own.

    python -m benchmarks.memory

Bound: fitting Q = 500 (W = 249,500 ordered pairs) with 3 million comparisons stays under 3 GB; Q = 2,000 works.
"""

import subprocess
import sys
import time

import plurank
from benchmarks.common import peak_gib, write_results

CASES = [  # n_users, n_items, n_rankings, comparisons_per_user, detection
    (10_000, 500, 5, 300, "whitened"),
    (10_000, 500, 10, 300, "whitened"),
    (10_000, 2000, 5, 300, "whitened"),
    (10_000, 500, 5, 300, "printed"),
    (1_000_000, 50, 3, 2, "whitened"),
]


def fit_once(n_users: int, n_items: int, n_rankings: int, per_user: int, detection: str) -> None:
    truth = plurank.simulate(n_users, n_items, n_rankings, per_user, concentration=0.1, random_state=0)
    before = peak_gib()
    begin = time.perf_counter()
    model = plurank.TopicRanking(n_rankings, detection, random_state=0).fit(truth.comparisons)
    took = time.perf_counter() - begin
    error = plurank.ranking_error(model.rankings_, truth.rankings)
    peak = peak_gib()
    print(f"{before:.3f} {peak:.3f} {took:.2f} {error:.4f}")


def main() -> None:
    if len(sys.argv) > 1:
        *sizes, detection = sys.argv[1:]
        fit_once(*map(int, sizes), detection)
        return
    rows = []
    for case in CASES:
        command = [sys.executable, "-m", "benchmarks.memory", *map(str, case)]
        before, peak, took, error = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        names = ("n_users", "n_items", "n_rankings", "comparisons_per_user", "detection")
        measured = {
            "data_gib": before,
            "peak_gib": peak,
            "seconds": took,
            "ranking_error": error,
        }
        rows.append({**dict(zip(names, case, strict=True)), **measured})
        print(rows[-1], flush=True)
    write_results("memory", rows)


if __name__ == "__main__":
    main()
