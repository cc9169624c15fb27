"""Speed as ratios within one run: machines are shared and noisy.

    python -m benchmarks.speed

read:   10 million rows of CSV into Comparisons, against polars reading the same file into a frame.
detect: fitting whitened TopicRanking on 6 million comparisons (Q = 100, N = 300, K = 10), against the paper's
detection on
        the same data: (a) Algorithm 2 as printed, one direction after the other, each a product with two scipy.sparse
        matrices; timed on some of the 150 K directions and multiplied up; (b) our blocked version of the same, a whole
        fit.
grow:   fitting 10 times the users.
"""

import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from scipy.sparse import csr_array

import plurank
from benchmarks.common import seconds, write_results
from plurank.rng import uniforms_at

N_ROWS = 10_000_000


def compare_reading() -> list[dict[str, object]]:
    rng = np.random.default_rng(0)
    users, winners = rng.integers(0, 100_000, N_ROWS), rng.integers(0, 2000, N_ROWS)
    losers = (winners + rng.integers(1, 2000, N_ROWS)) % 2000
    numbers = pl.DataFrame({"user": users, "winner": winners, "loser": losers})
    texts = numbers.select(
        pl.format("user {}", "user").alias("user"),
        pl.format("item {}", "winner").alias("winner"),
        pl.format("item {}", "loser").alias("loser"),
    )
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, frame in (
            ("numbers", numbers),
            ("numbers sorted by user", numbers.sort("user")),
            ("text", texts),
        ):
            path = Path(folder) / "comparisons.csv"
            frame.write_csv(path)
            plurank.read_comparisons(path)
            alone = seconds(lambda: pl.read_csv(path), repeats=5)  # noqa: B023
            ours = seconds(lambda: plurank.read_comparisons(path), repeats=5)  # noqa: B023
            rows.append(row(f"read CSV, ids {kind}", "plurank.read_comparisons", ours, "polars.read_csv", alone))
    return rows


def row(what: str, name: str, ours: float, rival: str, theirs: float) -> dict[str, object]:
    result = {
        "what": what, "ours": name, "seconds": round(ours, 3), "rival": rival, "rival_seconds": round(theirs, 3),
        "ours_over_rival": round(ours / theirs, 3), "rival_over_ours": round(theirs / ours, 2),
    }  # fmt: skip
    print(result, flush=True)
    return result


def loop_of_projections(comparisons: plurank.Comparisons, n_directions: int) -> float:
    """Seconds for n products E d, as Algorithm 2 prints them: one sparse product after the other."""
    users = comparisons.user_of_each()
    rows = comparisons.winners.astype(np.int64) * comparisons.n_items + comparisons.losers
    first = uniforms_at(0, 0, len(rows)) < 0.5
    shape = (comparisons.n_items**2, comparisons.n_users)
    halves = [csr_array((np.ones(half.sum()), (rows[half], users[half])), shape=shape) for half in (first, ~first)]
    rng = np.random.default_rng(0)
    highest = np.zeros(shape[0])
    begin = time.perf_counter()
    for _ in range(n_directions):
        projection = halves[1] @ (halves[0].T @ rng.standard_normal(shape[0]))
        highest[projection.argmax()] += 1
    return time.perf_counter() - begin


def compare_detections() -> list[dict[str, object]]:
    comparisons = plurank.simulate(20_000, 100, 10, 300, 0.1, random_state=0).comparisons
    whitened = plurank.TopicRanking(10, "whitened", random_state=0)
    paper = plurank.TopicRanking(10, "projections", random_state=0)
    small = comparisons.block(0, 300)
    for model in (whitened, paper):
        model.fit(small)
    ours = seconds(lambda: whitened.fit(comparisons), repeats=3)
    loop = loop_of_projections(comparisons, 50) / 50 * paper.n_rankings * 150
    blocked = seconds(lambda: paper.fit(comparisons), repeats=2)
    what = "fit 6 million comparisons"
    return [
        row(
            what,
            "whitened, whole fit",
            ours,
            "Algorithm 2's loop over 1,500 directions alone (scipy.sparse)",
            loop,
        ),
        row(what, "whitened, whole fit", ours, "detection='projections', whole fit (blocked kernels)", blocked),
    ]


def compare_sizes() -> list[dict[str, object]]:
    data = plurank.simulate(50_000, 100, 10, 300, 0.1, random_state=0).comparisons
    model = plurank.TopicRanking(10, random_state=0)
    model.fit(data.block(0, 300))
    small = seconds(lambda: model.fit(data.block(0, 5000)), repeats=5)
    large = seconds(lambda: model.fit(data), repeats=3)
    return [row("fit 10 times the users", "50,000 users", large, "5,000 users", small)]


def main() -> None:
    write_results("speed", compare_reading() + compare_detections() + compare_sizes())


if __name__ == "__main__":
    main()
