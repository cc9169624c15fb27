"""Speed as ratios within one run: machines are shared and noisy.

    python -m benchmarks.speed

read:   10 million rows of CSV into Comparisons, against polars reading the same file into a frame.
detect: fitting whitened TopicRanking on 6 million comparisons (Q = 100, N = 300, K = 10), against the paper's detection
        on the same data in three forms, from the letter to the best we can do:
        (a) Algorithm 2 line by line: E formed, the sets J of all rows, and for every direction a look at all of J;
            timed on a few of the 150 K directions and multiplied up;
        (b) the products E d alone, without forming E: one direction after the other with two scipy.sparse matrices;
            timed on some directions and multiplied up;
        (c) our own detection="printed", a whole fit: directions in blocks, J only where it can matter.
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
from plurank.random import uniforms_at

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


def sparse_halves(comparisons: plurank.Comparisons) -> list[csr_array]:
    """The two comparisons-by-user matrices X~ of the paper, (Q * Q, M), rows scaled to sum to 1."""
    users = comparisons.user_of_each()
    rows = comparisons.winners.astype(np.int64) * comparisons.n_items + comparisons.losers
    first = uniforms_at(0, 0, len(rows)) < 0.5
    shape = (comparisons.n_items**2, comparisons.n_users)
    scale = 1.0 / np.maximum(np.bincount(rows, minlength=shape[0]) / 2, 1.0)
    return [csr_array((scale[rows[half]], (rows[half], users[half])), shape=shape) for half in (first, ~first)]


def line_by_line(comparisons: plurank.Comparisons, n_directions: int, n_timed: int) -> float:
    """Seconds for Algorithm 2 as printed."""
    first, second = sparse_halves(comparisons)
    begin = time.perf_counter()
    moments = comparisons.n_users * (second @ first.T).toarray()
    diagonal = np.diagonal(moments)
    separated = diagonal[:, None] - 2 * moments + diagonal >= 0.01
    formed = time.perf_counter() - begin
    rng, angles = np.random.default_rng(0), np.zeros(len(moments))
    begin = time.perf_counter()
    for _ in range(n_timed):
        projection = moments @ rng.standard_normal(len(moments))
        angles += ~(separated & (projection > projection[:, None])).any(axis=1)
    return formed + (time.perf_counter() - begin) * n_directions / n_timed


def products_alone(comparisons: plurank.Comparisons, n_directions: int, n_timed: int) -> float:
    """Seconds for all products E d, one after the other."""
    first, second = sparse_halves(comparisons)
    rng = np.random.default_rng(0)
    begin = time.perf_counter()
    for _ in range(n_timed):
        second @ (first.T @ rng.standard_normal(first.shape[0]))
    return (time.perf_counter() - begin) * n_directions / n_timed


def compare_detections() -> list[dict[str, object]]:
    comparisons = plurank.simulate(20_000, 100, 10, 300, 0.1, random_state=0).comparisons
    whitened = plurank.TopicRanking(10, "whitened", random_state=0)
    paper = plurank.TopicRanking(10, "printed", random_state=0)
    for model in (whitened, paper):
        model.fit(comparisons.block(0, 300))
    ours = seconds(lambda: whitened.fit(comparisons), repeats=5)
    rivals = {
        "Algorithm 2 line by line (E and all sets J formed)": line_by_line(comparisons, 1500, 5),
        "its 1,500 products E d alone, one by one (scipy.sparse)": products_alone(comparisons, 1500, 50),
        "detection='printed', whole fit": seconds(lambda: paper.fit(comparisons), repeats=2),
    }
    return [row("fit 6 million comparisons", "whitened, whole fit", ours, *rival) for rival in rivals.items()]


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
