"""Items that nobody has compared: how well are comparisons with them predicted by their features?

    python -m benchmarks.item_features --data FOLDER [--sets sushi cars-1] [--folds 5]

Five folds over items. Models learn from the comparisons of the other items, and predict comparisons of the same users
that involve an item held out: with features, without (a new item is an average one), and LightFM with the same features
(``benchmarks.peers.covariates.light_fm``). LightFM learns from all pairs; plurank from the same, or from the rankings
or ratings that they were made of. Each chooses a setting (plurank 3, 6 or 10 rankings; of rankings and ratings 3 or 6,
with ten factors, as many as LightFM has) and a slope on other items, held out of the training items. Mean
log-likelihood of a pair and accuracy, averaged by user; differences with 95 % intervals over users. Also of the pairs
of two items held out alone: in others, what the user said about the other item helps. Writes results/item_features.csv.

FOLDER needs sushi/features_100.csv (item, style, major_group, minor_group, oiliness, frequency_eaten, price,
frequency_sold), made from sushi3.idata of the sushi preference data.
"""

import copy
import json
import os
import subprocess
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import logit

import plurank
from benchmarks.common import parser_of, write_results
from benchmarks.covariates import by_user, limit
from benchmarks.peers.calibration import calibrate, fit_slope
from benchmarks.peers.covariates.case import Case, write_case
from benchmarks.peers.environments import build, python_of
from benchmarks.peers.run import THREADS
from plurank.data.design import Design
from plurank.regression.ridge import fit_ridge

Floats = NDArray[np.float64]
MOST_TESTED = 30  # pairs of a user
CANDIDATES, RATED_CANDIDATES = (3, 6, 10), (3, 6)  # rankings
N_FACTORS, SWEEPS = 10, 50  # of fits to rankings and ratings; factors as many as LightFM's
N_USERS, N_MOVIES = 1000, 300
ENVIRONMENT, MODULE = "lightfm", "benchmarks.peers.covariates.light_fm"
YEAR = r"\((\d{4})\)"


class Source(NamedTuple):
    """Comparisons, features of all items, and the rankings or ratings behind the comparisons."""

    votes: plurank.Comparisons
    items: pl.DataFrame
    said: Any = None


def read_cars(folder: Path, number: int) -> Source:
    """Cars compared by about 60 people; numbers of features are categories but for the capacity of the engine."""
    votes = plurank.Comparisons.from_frame(pl.read_csv(folder / f"cars/exp{number}_comparisons.csv.gz"))
    items = pl.read_csv(folder / f"cars/items{number}.csv")
    items = items.rename({name: name.strip().lower().replace(" ", "_").replace("/", "_") for name in items.columns})
    items = items.rename({"item_id": "item"})
    kinds = [name for name in items.columns if name not in ("item", "engin_capacity")]
    return Source(votes, items.with_columns(pl.col(kinds).cast(pl.String)))


def read_sushi(folder: Path) -> Source:
    """Rankings of ten sushi out of 100; the features are those published with them."""
    said = some_users(plurank.Rankings.from_frame(pl.read_csv(folder / "sushi/setB_rankings.csv.gz")))
    items = pl.read_csv(folder / "sushi/features_100.csv")
    kinds = ("style", "major_group", "minor_group")
    return Source(said.to_comparisons(), items.with_columns(pl.col(kinds).cast(pl.String)), said)


def read_movies(folder: Path) -> Source:
    """The 300 most rated movies, their genres and years."""
    ratings = pl.read_csv(folder / "ml1m/train.csv.gz")
    most = ratings.group_by("item").len().sort("len", "item", descending=True)["item"].head(N_MOVIES)
    ratings = ratings.filter(pl.col("item").is_in(most.implode()))
    lines = (folder / "ml1m/movies.dat").read_text("latin-1").splitlines()
    movies = pl.DataFrame([line.split("::") for line in lines], ["item", "title", "genres"], orient="row")
    movies = movies.with_columns(pl.col("item").cast(pl.Int64), year=pl.col("title").str.extract(YEAR).cast(pl.Int64))
    movies = movies.filter(pl.col("item").is_in(most.implode()))
    genres = movies["genres"].str.split("|").explode().unique().sort().to_list()
    columns = [(pl.col("genres").str.split("|").list.contains(genre)).alias(genre) for genre in genres]
    said = some_users(plurank.Ratings.from_frame(ratings))
    return Source(said.to_comparisons(), movies.select("item", "year", *columns), said)


READERS = {
    "sushi": read_sushi,
    "cars-1": lambda folder: read_cars(folder, 1),
    "cars-2": lambda folder: read_cars(folder, 2),
    "ml1m": read_movies,
}


def some_users(said: Any) -> Any:
    """Take 1,000 users, the same in every run."""
    return said.take_users(np.random.default_rng(0).permutation(said.n_users) < N_USERS)


def split(votes: plurank.Comparisons, held_out: NDArray[np.bool_], rng: np.random.Generator) -> tuple[Any, Any]:
    """Return comparisons of items that stay, and some of those that involve an item held out (Q,)."""
    involved = held_out[votes.winners] | held_out[votes.losers]
    return votes.select(~involved), limit(votes.select(involved), MOST_TESTED, rng)


def keep_items(votes: plurank.Comparisons, kept: NDArray[np.bool_]) -> plurank.Comparisons:
    """Forget items (Q,) of which no comparison is left."""
    place = np.cumsum(kept) - 1
    sides = {"winners": place[votes.winners].astype(np.int32), "losers": place[votes.losers].astype(np.int32)}
    return replace(votes, **sides, items=votes.items[kept], texts=None, ratings=None)


def make_case(votes: plurank.Comparisons, train: Any, test: Any, items: pl.DataFrame, rng: np.random.Generator) -> Any:
    """Return a case for a peer, and whether left won; users and items are those of all votes."""
    users = pl.Series(np.arange(votes.n_users))
    left = rng.random(len(test)) < 0.5
    first, second = np.where(left, test.winners, test.losers), np.where(left, test.losers, test.winners)
    codes = [number_users(votes, part) for part in (train, test)]
    learned = pl.DataFrame({"user": users[codes[0]], "winner": train.winners, "loser": train.losers})
    shown = pl.DataFrame({"user": users[codes[1]], "left": first, "right": second})
    place = pl.DataFrame({"item": votes.items.tolist()}).with_row_index("code")
    table = items.join(place, "item").drop("item").rename({"code": "item"})
    table = table.with_columns(pl.col(pl.Int64).cast(pl.Float64))
    return Case(learned, table, learned.head(0), shown, {"n_items": votes.n_items}), left


def number_users(votes: plurank.Comparisons, part: plurank.Comparisons) -> NDArray[np.int64]:
    """Return the user of each comparison of a part, by number among those of all votes."""
    number = {user: n for n, user in enumerate(votes.users.tolist())}
    return np.array([number[user] for user in part.users.tolist()], np.int64)[part.user_of_each()]


def run_peer(folder: Path, environments: Path, seed: int) -> tuple[Floats, dict[str, Any]]:
    """Let LightFM predict; return its probabilities of left, and its report."""
    python = python_of(ENVIRONMENT, environments)
    assert python is not None, "the environment of LightFM could not be built"
    command = [str(python), "-m", MODULE, str(folder), "--seed", str(seed)]
    subprocess.run(command, env={**os.environ, **dict.fromkeys(THREADS, "1")}, check=True)
    found = pl.read_parquet(folder / "predictions.parquet")["probability"].to_numpy()
    return found, json.loads((folder / "report.json").read_text())


class Fold(NamedTuple):
    """What is held out, (Q,), comparisons to learn from and to predict; and the same inside the training items."""

    held: NDArray[np.bool_]
    train: Any
    test: Any
    inner: tuple[NDArray[np.bool_], Any, Any]


def make_fold(source: Source, held: NDArray[np.bool_], seed: int) -> Fold:
    """Cut items, and training items once more."""
    rng, votes = np.random.default_rng([1, seed]), source.votes
    train, test = split(votes, held, rng)
    kept = votes.select(~(held[votes.winners] | held[votes.losers]))
    chosen = np.zeros(len(held), bool)
    chosen[rng.permutation(np.flatnonzero(~held))[: max(int((~held).sum()) // 5, 2)]] = True
    return Fold(held, train, test, (chosen, *split(kept, chosen, rng)))


def let_peer(source: Source, made: Fold, environments: Path, seed: int) -> tuple[Floats, dict[str, Any]]:
    """Return the peer's probabilities of what happened, and its report."""
    rng = np.random.default_rng([2, seed])
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "case"
        case, left = make_case(source.votes, made.train, made.test, source.items, rng)
        write_case(folder, case)
        write_case(folder / "validation", *make_case(source.votes, *made.inner[1:], source.items, rng))
        chances, report = run_peer(folder, environments, seed)
    return np.where(left, chances, 1.0 - chances), report


def fit(source: Source, train: Any, unknown: NDArray[np.bool_], n_rankings: int, seed: int, helped: bool) -> Any:
    """Fit to what was said about the known items, with their features, or so that a new item is an average one."""
    items = source.items if helped else None
    if source.said is None:
        model = plurank.MixedRanking(n_rankings, mixing="utility", random_state=seed)
        model.fit(keep_items(train, ~unknown), items=items)
    else:
        known = source.said.to_frame().filter(pl.col("item").is_in(source.votes.items[~unknown].tolist()))
        if "rank" in known.columns:
            known = known.with_columns(pl.col("rank").rank("ordinal").over("user"))
        model = plurank.MixedRanking(n_rankings, n_factors=N_FACTORS, max_iter=SWEEPS, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", plurank.ConvergenceWarning)
            model.fit(known, items=items)
    return model if helped else expect_average(model, source.items)


def let_plurank(source: Source, made: Fold, seed: int, helped: bool = True) -> tuple[Floats, dict[str, Any]]:
    """Choose as the peer does; return probabilities of what happened, and what was chosen."""
    chosen, train, test = made.inner
    tried = []
    for n_rankings in CANDIDATES if source.said is None else RATED_CANDIDATES:
        odds = logit(predict(fit(source, train, made.held | chosen, n_rankings, seed, helped), test, source.items))
        slope = fit_slope(odds, np.ones(len(test), bool))
        tried.append((float(np.log(calibrate(odds, slope)).mean()), n_rankings, slope))
    _, n_rankings, slope = max(tried)
    begin = time.perf_counter()
    model = fit(source, made.train, made.held, n_rankings, seed, helped)
    report = {"n_rankings": n_rankings, "seconds": time.perf_counter() - begin}
    return calibrate(logit(predict(model, made.test, source.items)), slope), report


def predict(model: Any, test: Any, items: pl.DataFrame) -> Floats:
    """Add the items to a copy of a model; return probabilities of what happened."""
    grown = copy.deepcopy(model).add_items(items)
    users = test.users[test.user_of_each()].tolist()
    sides = {"left": test.items[test.winners].tolist(), "right": test.items[test.losers].tolist()}
    return np.asarray(grown.predict_proba(pl.DataFrame({"user": users, **sides})))


def expect_average(model: Any, items: pl.DataFrame) -> Any:
    """Let a model that was fitted without features expect of any item what the others are like."""
    design, features = Design.learn(items, model.items_, "item")
    found = fit_ridge(features, model.scores_, model.score_errors_, None)
    model.item_design_, model.item_coefficients_ = design.to_dict(), found.table
    model.item_covariances_, model.item_rest_ = found.covariances, found.rest
    if model.draw_scores_ is not None:
        tables, n_rankings = np.concatenate([model.draw_scores_, model.draw_item_factors_], axis=2), model.n_rankings_
        roots = np.array([np.linalg.cholesky(np.cov(table.T) + 1e-9 * np.eye(table.shape[1])) for table in tables])
        slopes = np.zeros((len(tables), len(found.table), tables.shape[2]))
        slopes[:, 0] = tables.mean(axis=1)
        model.draw_score_slopes_, model.draw_factor_slopes_ = np.split(slopes, [n_rankings], axis=2)
        model.draw_score_roots_, model.draw_factor_roots_ = np.split(roots, [n_rankings], axis=1)
    return model


def measure(name: str, given: Any) -> list[dict[str, Any]]:
    """Compare on all folds of a set."""
    source = READERS[name](given.data)
    fold_of = np.random.default_rng(given.seed).permutation(source.votes.n_items) % 5
    found: dict[str, list[Floats]] = {"plurank": [], "without features": [], "LightFM": []}
    tests, reports = [], []
    for fold in range(given.folds):
        made = make_fold(source, fold_of == fold, fold)
        peer, report = let_peer(source, made, given.environments, fold)
        own, chosen = let_plurank(source, made, fold)
        plain, _ = let_plurank(source, made, fold, helped=False)
        tests.append((made.test, made.held[made.test.winners] & made.held[made.test.losers]))
        reports.append({**report, **chosen})
        for variant, chances in zip(found, (own, plain, peer), strict=True):
            found[variant].append(chances)
            print(name, fold, variant, round(float(by_user(chances, made.test).mean()), 4), flush=True)
    about = {
        "set": name, "folds": given.folds, "items": source.votes.n_items,
        "rankings": " ".join(str(each["n_rankings"]) for each in reports),
        "seconds": round(sum(each["seconds"] for each in reports) / len(reports), 1),
        "peer_seconds": round(sum(each["fit_seconds"] for each in reports) / len(reports), 1),
        "peer_tune_seconds": round(sum(each["tune_seconds"] for each in reports) / len(reports), 1),
        "peer_versions": reports[0]["peer_versions"], "seed": given.seed,
    }  # fmt: skip
    rows = []
    for other in ("without features", "LightFM"):
        for pairs, which in (("any", np.ones_like), ("of two new items", np.asarray)):
            chosen_pairs = [which(both, dtype=bool) for _, both in tests]
            rows.append({**about, "against": other, "pairs": pairs, **compare(found, other, tests, chosen_pairs)})
            print(rows[-1], flush=True)
    return rows


def compare(found: dict[str, list[Floats]], other: str, tests: list[Any], chosen: list[NDArray[np.bool_]]) -> Any:
    """Compare plurank with another variant on some pairs of each fold, averaged by user."""
    mean, hits = {}, {}
    for variant in ("plurank", other):
        parts, right = [], []
        for chances, (test, _), own in zip(found[variant], tests, chosen, strict=True):
            part = test.select(own)
            parts.append(by_user(chances[own], part)[np.bincount(part.user_of_each(), minlength=part.n_users) > 0])
            right.append(chances[own] > 0.5)
        mean[variant], hits[variant] = np.concatenate(parts), float(np.concatenate(right).mean())
    gain = mean["plurank"] - mean[other]
    error = 1.96 * gain.std() / np.sqrt(len(gain))
    return {
        "users_and_folds": len(gain), "n_pairs": sum(int(own.sum()) for own in chosen),
        "plurank": round(float(mean["plurank"].mean()), 5), "other": round(float(mean[other].mean()), 5),
        "gain": round(float(gain.mean()), 5), "lower": round(float(gain.mean() - error), 5),
        "upper": round(float(gain.mean() + error), 5), "accuracy": round(hits["plurank"], 4),
        "accuracy_other": round(hits[other], 4),
    }  # fmt: skip


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", choices=READERS, default=list(READERS))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0, help="of the folds")
    parser.add_argument("--environments", type=Path, default=Path(os.environ.get("PLURANK_PEERS", ".peers")))
    given = parser.parse_args()
    build(ENVIRONMENT, given.environments)
    for name in given.sets:
        write_results("item_features", measure(name, given), replacing="set")


if __name__ == "__main__":
    main()
