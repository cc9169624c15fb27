"""New users of whom covariates are known: how much better are they predicted, with 0, 1, 3, 5 and 10 votes?

    python -m benchmarks.covariates --data FOLDER [--sets coffee star-wars] [--folds 5] [--fit ratings comparisons]

Five folds over users. Models are fitted to the ratings or rankings of four folds, or to comparisons made from them,
without covariates, with them, and with covariates shuffled between users. Users of the fifth fold are asked some pairs,
and other pairs are predicted. Differences of the mean log-likelihood of a pair, averaged by user, to the model without
covariates, with 95 % intervals over users. Writes results/covariates.csv.
"""

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

import plurank
from benchmarks.common import parser_of, write_results

VOTES = (0, 1, 3, 5, 10)
MOST_TESTED = 30  # pairs of a user
N_TESTED = 1500  # users of a fold, at most
Floats = NDArray[np.float64]


class Source(NamedTuple):
    """Where a data set is, its covariates, and the number of rankings."""

    said: str
    people: str
    covariates: tuple[str, ...]
    n_rankings: int
    most_rated: int | None = None


SETS = {
    "coffee": Source("coffee/ratings", "coffee/people", ("style", "roast_level", "expertise", "age", "gender"), 3),
    "star-wars": Source("star-wars/film_rankings", "star-wars/people", ("fan", "age", "gender"), 3),
    "food-world-cup": Source("food-world-cup/ratings", "food-world-cup/people", ("interest", "knowledge", "age"), 3),
    "ml1m": Source("ml1m/train", "ml1m/people", ("gender", "age", "occupation"), 4, 100),
    "sushi": Source("sushi/setA_rankings", "sushi/people", ("age_group", "region"), 3),
}
CATEGORIES = ("occupation", "region", "age_group")  # that tables number


def read(folder: Path, source: Source) -> tuple[Any, pl.DataFrame]:
    """Read ratings or rankings, and the covariates of all users."""
    frame = pl.read_csv(folder / f"{source.said}.csv.gz")
    if source.most_rated is not None:
        most = frame.group_by("item").len().sort("len", "item", descending=True)["item"].head(source.most_rated)
        frame = frame.filter(pl.col("item").is_in(most.implode()))
    people = pl.read_csv(folder / f"{source.people}.csv.gz").select("user", *source.covariates)
    people = people.with_columns(pl.col(name).cast(pl.String) for name in source.covariates if name in CATEGORIES)
    kind: Any = plurank.Rankings if "rank" in frame.columns else plurank.Ratings
    return kind.from_frame(frame), people


def ask(said: Any, rng: np.random.Generator) -> tuple[dict[int, Any], Any]:
    """Choose pairs to ask each user, the first 0, 1, 3, ... of them, and pairs to predict."""
    pairs = said.to_comparisons()
    users = pairs.user_of_each()
    order = np.lexsort((rng.random(len(pairs)), users))
    place = np.empty(len(pairs), np.int64)
    place[order] = np.arange(len(pairs)) - pairs.offsets[users[order]]
    sizes = np.diff(pairs.offsets)[users]
    n_asked = np.minimum(max(VOTES), sizes // 2)
    asked = {n: pairs.select((place < n) & (place < n_asked)) for n in VOTES[1:]}
    return asked, pairs.select((place >= n_asked) & (place < n_asked + MOST_TESTED))


def limit(pairs: plurank.Comparisons, most: int, rng: np.random.Generator) -> plurank.Comparisons:
    """Draw at most so many pairs of each user."""
    users = pairs.user_of_each()
    order = np.lexsort((rng.random(len(pairs)), users))
    place = np.empty(len(pairs), np.int64)
    place[order] = np.arange(len(pairs)) - pairs.offsets[users[order]]
    return pairs.select(place < most)


def by_user(chances: Floats, test: Any) -> Floats:
    """Mean log-likelihood of each user's pairs."""
    users = test.user_of_each()
    logs = np.bincount(users, np.log(np.maximum(chances, 1e-12)), test.n_users)
    return np.asarray(logs / np.maximum(np.bincount(users, minlength=test.n_users), 1))


def predict(model: Any, asked: dict[int, Any], test: Any, people: pl.DataFrame | None) -> dict[int, Floats]:
    """Predict the test pairs after every number of votes."""
    found = {}
    for n in VOTES:
        before = asked[n] if n else next(iter(asked.values())).select(np.zeros(0, np.int64))
        keywords = {} if people is None else {"people": people}
        found[n] = by_user(model.predict_new(before, test, **keywords), test)
    return found


def fit(said: Any, source: Source, seed: int, people: pl.DataFrame | None, by: str) -> tuple[Any, float]:
    begin = time.perf_counter()
    model = plurank.MixedRanking(source.n_rankings, mixing="utility", n_factors=0, max_iter=100, random_state=seed)
    model.fit(said if by == "ratings" else said.to_comparisons(), people=people)
    return model, time.perf_counter() - begin


def measure(name: str, folder: Path, n_folds: int, by: str) -> list[dict[str, Any]]:
    source = SETS[name]
    said, people = read(folder, source)
    rng = np.random.default_rng(0)
    fold_of = rng.permutation(said.n_users) % 5
    gains: dict[tuple[str, int], list[Floats]] = {}
    plain_logs: dict[int, list[Floats]] = {n: [] for n in VOTES}
    seconds: dict[str, list[float]] = {}
    for fold in range(n_folds):
        train = said.take_users(fold_of != fold)
        tested = np.flatnonzero(fold_of == fold)[:N_TESTED]
        asked, test = ask(said.take_users(np.isin(np.arange(said.n_users), tested)), np.random.default_rng(fold))
        shuffled = people.with_columns(pl.Series("user", rng.permutation(people["user"].to_numpy())))
        logs = {}
        for variant, table in (("without", None), ("with", people), ("shuffled", shuffled)):
            model, took = fit(train, source, fold, table, by)
            seconds.setdefault(variant, []).append(took)
            logs[variant] = predict(model, asked, test, table)
            print(
                name,
                by,
                fold,
                variant,
                round(took, 1),
                model.slope_scale_,
                {n: round(float(v.mean()), 4) for n, v in logs[variant].items()},
                flush=True,
            )
        for n in VOTES:
            plain_logs[n].append(logs["without"][n])
            for variant in ("with", "shuffled"):
                gains.setdefault((variant, n), []).append(logs[variant][n] - logs["without"][n])
    rows = []
    for (variant, n), parts in gains.items():
        gain = np.concatenate(parts)
        error = 1.96 * gain.std() / np.sqrt(len(gain))
        rows.append(
            {
                "set": name, "fit": by, "votes": n, "covariates": variant, "folds": n_folds, "users": len(gain),
                "log_likelihood_without": round(float(np.concatenate(plain_logs[n]).mean()), 5),
                "gain": round(float(gain.mean()), 5), "lower": round(float(gain.mean() - error), 5),
                "upper": round(float(gain.mean() + error), 5),
                "time_ratio": round(sum(seconds["with"]) / sum(seconds["without"]), 2), "key": f"{name} {by}",
            }
        )  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--fit", nargs="+", choices=("ratings", "comparisons"), default=["ratings"])
    given = parser.parse_args()
    for name in given.sets:
        for by in given.fit:
            write_results("covariates", measure(name, given.data, given.folds, by), replacing="key")


if __name__ == "__main__":
    main()
