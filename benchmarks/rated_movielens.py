"""MovieLens-1M in the split of the BPMF authors, ratings modelled directly: star ratings and comparisons of the probe.

    python -m benchmarks.rated_movielens --data FOLDER [--rankings 10 15 20] [--only "all movies"]

Every row is one fit of ``MixedRanking`` to training ratings, of all movies or of the 100 most rated; nothing is tuned
on the probe. RMSE of probe ratings of the 100 most rated movies, real-valued and rounded; of all probe ratings, which
means something where all movies were trained on; and log-likelihood and accuracy of comparisons among probe ratings of
the 100 most rated movies.
FOLDER has train.csv.gz and probe.csv.gz with columns user, item, rating. Writes results/rated_movielens.csv.
"""

import time
from pathlib import Path

import numpy as np
import polars as pl

import plurank
from benchmarks.common import parser_of, peak_gib, write_results
from benchmarks.movielens import read_ratings

FACTORS = {"rankings alone": 0, "with factors": 10}


def rmse(predicted: np.ndarray, given: pl.DataFrame) -> float:
    return float(np.sqrt(np.mean((predicted - given["rating"].to_numpy()) ** 2)))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rankings", type=int, nargs="+", default=[10, 15, 20])
    parser.add_argument("--only", nargs="+", choices=("all movies", "top 100"), default=["all movies", "top 100"])
    parser.add_argument("--predictions", nargs="+", choices=FACTORS, default=[*FACTORS])
    given = parser.parse_args()
    trains, probe = read_ratings(given.data)
    test, everything = plurank.Comparisons.from_ratings(probe), pl.read_csv(given.data / "probe.csv.gz")
    for trained_on in given.only:
        for n_rankings in given.rankings:
            for name in given.predictions:
                begin = time.perf_counter()
                model = plurank.MixedRanking(n_rankings, n_factors=FACTORS[name], random_state=0)
                model.fit(plurank.Ratings.from_frame(trains[trained_on]))
                took = time.perf_counter() - begin
                predictor = plurank.RatingPredictor(model).fit(trains[trained_on])
                stars = predictor.predict(probe)
                found = model.evaluate(test)
                convergence = model.convergence_ or {}
                row = {
                    "trained_on": trained_on, "n_rankings": n_rankings, "predictions": name,
                    "rmse": round(rmse(stars, probe), 4), "rmse_rounded": round(rmse(np.round(stars), probe), 4),
                    "rmse_all_probe": round(rmse(predictor.predict(everything), everything), 4),
                    "log_likelihood": round(found["log_likelihood"], 4), "accuracy": round(found["accuracy"], 4),
                    "n_stars": len(probe), "n_comparisons": found["n_comparisons"],
                    "pair_r_hat": round(convergence["pair_r_hat"], 3),
                    "explained": None if model.explained_ is None else round(model.explained_["share"], 3),
                    "seconds": round(took, 1), "peak_gib": round(peak_gib(), 2), "seed": 0,
                }  # fmt: skip
                row["case"] = f"{trained_on}, {n_rankings}, {name}"
                print(row, flush=True)
                write_results("rated_movielens", [row], replacing="case")


if __name__ == "__main__":
    main()
