"""MovieLens-1M in the split of the BPMF authors: comparisons among probe ratings of the 100 most rated movies.

Every model sees comparisons of the training ratings alone; priors are chosen among them, nothing is tuned on the probe.
Rows "all movies" are trained on comparisons of all movies and tested on the same comparisons as the others.

    python -m benchmarks.movielens --data FOLDER [--only NAME ...]

FOLDER has train.csv.gz and probe.csv.gz with columns user, item, rating.
"""

import time
from collections.abc import Callable
from pathlib import Path

import polars as pl

import plurank
from benchmarks.common import parser_of, write_results
from plurank.baselines.clustered_ranking import ClusteredRanking
from plurank.baselines.pair_topics import PairTopics
from plurank.models.base import RankingModel

TOP = 100
PAIRS_PER_RATING = 20
Model = Callable[[], RankingModel]


def mixed(n_rankings: int = 10, **parameters: object) -> Model:
    return lambda: plurank.MixedRanking(n_rankings, random_state=0, **{"mixing": "probability", **parameters})


RUNS: dict[str, tuple[str, Model]] = {
    "one ranking": ("top 100", mixed(1)),
    "paper, whitened": ("top 100", lambda: plurank.TopicRanking(10, random_state=0)),
    "paper, projections": ("top 100", lambda: plurank.TopicRanking(10, "printed", random_state=0)),
    "one ranking each": ("top 100", lambda: ClusteredRanking(10, random_state=0)),
    "topics without rankings": ("top 100", lambda: PairTopics(10, random_state=0)),
    "mallows": ("top 100", mixed(component="mallows")),
    "strict": ("top 100", mixed(component="strict")),
    "all defaults": ("top 100", lambda: plurank.MixedRanking(random_state=0)),
    "probability": ("top 100", mixed()),
    "utility": ("top 100", mixed(mixing="utility")),
    "probability, 8 members": ("top 100", mixed(ensemble=8)),
    "utility, 8 members": ("top 100", mixed(mixing="utility", ensemble=8)),
    "all movies, one ranking": ("all movies", mixed(1)),
    "all movies, utility, 4 members": ("all movies", mixed(mixing="utility", ensemble=4)),
}
BOUNDS = {
    "probability": (-0.560, 0.709),
    "utility": (-0.550, 0.715),
    "utility, 8 members": (-0.540, 0.722),
    "all movies, utility, 4 members": (-0.525, 0.735),
}


def read_ratings(folder: Path) -> tuple[dict[str, pl.DataFrame], pl.DataFrame]:
    """Give training ratings of the most rated movies and of all, and the probe's of the most rated."""
    paths = [folder / f"{name}.csv.gz" for name in ("train", "probe")]
    if missing := [path.name for path in paths if not path.exists()]:
        raise SystemExit(f"{folder} has no {' and no '.join(missing)}; expected MovieLens-1M as in this file's head.")
    train, probe = (pl.read_csv(path) for path in paths)
    counts = pl.concat([train, probe]).group_by("item").len().sort(["len", "item"], descending=[True, False])
    top = counts.head(TOP)["item"].implode()
    top_train, top_probe = (ratings.filter(pl.col("item").is_in(top)) for ratings in (train, probe))
    return {"top 100": top_train, "all movies": train}, top_probe


def compare(name: str, ratings: pl.DataFrame) -> plurank.Comparisons:
    """Compare all pairs of the most rated movies; of all movies, some for every rating."""
    pairs = "full" if name == "top 100" else "partial"
    return plurank.Comparisons.from_ratings(ratings, pairs, pairs_per_rating=PAIRS_PER_RATING, random_state=0)


def read(folder: Path) -> tuple[dict[str, plurank.Comparisons], plurank.Comparisons]:
    """Give training comparisons by name, and the test comparisons."""
    ratings, probe = read_ratings(folder)
    return {name: compare(name, train) for name, train in ratings.items()}, plurank.Comparisons.from_ratings(probe)


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--only", nargs="+", choices=RUNS, help="run these, and keep earlier results of the others")
    given = parser.parse_args()
    trains, test = read(given.data)
    rows = []
    for name in given.only or RUNS:
        trained_on, make = RUNS[name]
        begin = time.perf_counter()
        model = make().fit(trains[trained_on])
        took = time.perf_counter() - begin
        rows.append(
            {
                "method": name, "trained_on": trained_on, "n_train": len(trains[trained_on]), "n_test": len(test),
                "log_likelihood": round(model.score(test), 5), "accuracy": round(model.accuracy(test), 5),
                "concentration": round(model.concentration_, 3), "score_scale": getattr(model, "score_scale_", ""),
                "n_iter": model.n_iter_, "seconds": round(took, 1), "seed": 0,
            }
        )  # fmt: skip
        print(rows[-1], flush=True)
        write_results("movielens", rows, replacing="method")
    check_bounds(rows)


def check_bounds(rows: list[dict[str, object]]) -> None:
    """Fail where a fit predicts worse than it has to."""
    for row in rows:
        likelihood, accuracy = BOUNDS.get(row["method"], (float("-inf"), 0.0))
        if row["log_likelihood"] < likelihood or row["accuracy"] < accuracy:
            raise SystemExit(f"{row['method']}: expected at least {likelihood} and {accuracy}, got {row}")


if __name__ == "__main__":
    main()
