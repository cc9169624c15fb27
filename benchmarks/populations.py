"""Real populations: MixedRanking(), all defaults, against ten rankings with either mixing, and one ranking.

A quarter of each person's items is held out (of natively pairwise sets: a quarter of the comparisons), five seeds.
fits: CPU time of that fit, which chooses the number of rankings and the mixing on its training comparisons, over
the mean of the two fits of ten rankings. lag, printed for every set: how much worse it predicts than ten rankings with
the mixing that predicts this set better on average.

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


def rated(path: Path) -> plurank.Comparisons:
    return plurank.Comparisons.from_ratings(pl.read_csv(path))


def ranked(path: Path) -> plurank.Comparisons:
    return plurank.Comparisons.from_rankings(pl.read_csv(path))


def top_rated(path: Path, n: int = 100) -> plurank.Comparisons:
    """The items rated most."""
    ratings = pl.read_csv(path)
    top = ratings["item"].value_counts().sort("count", "item", descending=[True, False])["item"].head(n)
    return plurank.Comparisons.from_ratings(ratings.filter(pl.col("item").is_in(top.to_list())))


SETS: dict[str, tuple[str, Callable[[Path], plurank.Comparisons], str]] = {
    "food-world-cup": ("food-world-cup/ratings.csv.gz", rated, "item"),
    "vtaiwan": ("vtaiwan/ratings.csv.gz", rated, "item"),
    "bowling-green": ("bowling-green/ratings.csv.gz", rated, "item"),
    "cars 1": ("cars/exp1_comparisons.csv.gz", plurank.read_comparisons, "comparison"),
    "cars 2": ("cars/exp2_comparisons.csv.gz", plurank.read_comparisons, "comparison"),
    "sushi A": ("sushi/setA_rankings.csv.gz", ranked, "item"),
    "sushi B": ("sushi/setB_rankings.csv.gz", ranked, "item"),
    "llmfao": ("llmfao/comparisons.csv.gz", plurank.read_comparisons, "comparison"),
    "wiki gpa": ("wiki-surveys/gpa_votes.csv.gz", plurank.read_comparisons, "comparison"),
    "wiki grit": ("wiki-surveys/grit_votes.csv.gz", plurank.read_comparisons, "comparison"),
    "wiki eviction": ("wiki-surveys/eviction_votes.csv.gz", plurank.read_comparisons, "comparison"),
    "coffee": ("coffee/ratings.csv.gz", rated, "item"),
    "movielens": ("ml1m/train.csv.gz", top_rated, "item"),
}


MODELS: dict[str, dict[str, object]] = {
    "one": {"n_rankings": 1},
    "ten_probability": {"n_rankings": 10, "mixing": "probability"},
    "ten_utility": {"n_rankings": 10, "mixing": "utility"},
    "auto": {},
}


def measure(name: str, comparisons: plurank.Comparisons, by: str, seed: int) -> dict[str, object]:
    train, test = comparisons.split(SHARE, by=by, random_state=seed)
    models, seconds = {}, {}
    for kind, parameters in MODELS.items():
        begin = time.process_time()
        models[kind] = plurank.MixedRanking(**parameters, random_state=seed).fit(train)
        seconds[kind] = time.process_time() - begin
    scores = {kind: model.score(test) for kind, model in models.items()}
    auto, ten = models["auto"], [kind for kind in MODELS if kind.startswith("ten")]
    row = {
        "set": name, "seed": seed, "n_train": len(train), "n_test": len(test), "n_rankings": auto.n_rankings_,
        "mixing": auto.mixing_, **{kind: round(score, 5) for kind, score in scores.items()},
        "one_accuracy": round(models["one"].accuracy(test), 4),
        "auto_accuracy": round(auto.accuracy(test), 4),
        "fits": round(seconds["auto"] / float(np.mean([seconds[kind] for kind in ten])), 2),
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
        own = pl.DataFrame([row for row in rows if row["set"] == name])
        better = max(("ten_probability", "ten_utility"), key=lambda kind: own[kind].mean())
        for figure, values in (("lag", (own[better] - own["auto"]).to_numpy()), ("fits", own["fits"].to_numpy())):
            error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
            print(f"{name}: {figure} {values.mean():.4f} +- {error:.4f}", flush=True)
        write_results("populations", rows, replacing="set")
    worse = [row["set"] for row in rows if row["auto"] <= row["one"]]
    if worse:
        raise SystemExit(f"no better than one ranking: {worse}")


if __name__ == "__main__":
    main()
