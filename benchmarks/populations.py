"""Real populations: does a mixture, with K from select_rankings and all else by default, beat one ranking for all?

A quarter of each person's items is held out (of natively pairwise sets: a quarter of the comparisons), five seeds. The
number of rankings and the way to mix are chosen on the training comparisons of the same seed.

    python -m benchmarks.populations --data FOLDER [--seeds 5] [--only NAME ...]

FOLDER has a folder for every set; see SETS for the files.
"""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import plurank
from benchmarks.common import parser_of, write_results

SHARE = 0.25
CANDIDATES = (1, 2, 3, 5, 8)


def rated(path: Path) -> plurank.Comparisons:
    return plurank.Comparisons.from_ratings(pl.read_csv(path))


def ranked(path: Path) -> plurank.Comparisons:
    return plurank.Comparisons.from_rankings(pl.read_csv(path))


SETS: dict[str, tuple[str, Callable[[Path], plurank.Comparisons], str]] = {
    "food-world-cup": ("food-world-cup/ratings.csv.gz", rated, "item"),
    "vtaiwan": ("vtaiwan/ratings.csv.gz", rated, "item"),
    "bowling-green": ("bowling-green/ratings.csv.gz", rated, "item"),
    "cars 1": ("cars/exp1_comparisons.csv.gz", plurank.read_comparisons, "comparison"),
    "cars 2": ("cars/exp2_comparisons.csv.gz", plurank.read_comparisons, "comparison"),
    "sushi A": ("sushi/setA_rankings.csv.gz", ranked, "item"),
    "sushi B": ("sushi/setB_rankings.csv.gz", ranked, "item"),
}


def measure(name: str, comparisons: plurank.Comparisons, by: str, seed: int) -> dict[str, object]:
    train, test = comparisons.split(SHARE, by=by, random_state=seed)
    begin = time.perf_counter()
    chosen = plurank.select_rankings(train, CANDIDATES, random_state=seed)
    model = plurank.MixedRanking(chosen.n_rankings, mixing=chosen.mixing, random_state=seed).fit(train)
    took = time.perf_counter() - begin
    one = plurank.MixedRanking(1, random_state=seed).fit(train)
    row = {
        "set": name, "seed": seed, "n_train": len(train), "n_test": len(test), "n_rankings": chosen.n_rankings,
        "mixing": chosen.mixing, "one_ranking": round(one.score(test), 5), "mixture": round(model.score(test), 5),
        "one_ranking_accuracy": round(one.accuracy(test), 4), "mixture_accuracy": round(model.accuracy(test), 4),
        "seconds": round(took, 1),
    }  # fmt: skip
    print(row, flush=True)
    return row


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=SETS, help="run these, and keep earlier results of the others")
    given = parser.parse_args()
    rows = []
    for name in given.only or SETS:
        file, read, by = SETS[name]
        comparisons = read(given.data / file)
        rows += [measure(name, comparisons, by, seed) for seed in range(given.seeds)]
        gains = np.array([row["mixture"] - row["one_ranking"] for row in rows if row["set"] == name])
        error = gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else float("nan")
        print(f"{name}: gain {gains.mean():.4f} +- {error:.4f}, least {gains.min():.4f}", flush=True)
        write_results("populations", rows, replacing="set")
    worse = [row["set"] for row in rows if row["mixture"] <= row["one_ranking"]]
    if worse:
        raise SystemExit(f"no better than one ranking: {worse}")


if __name__ == "__main__":
    main()
