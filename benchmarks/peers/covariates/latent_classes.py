"""New users whose covariates are known: plurank next to lcl-choice, a latent class logit with a membership formula.

    python -m benchmarks.peers.covariates.latent_classes --data FOLDER [--sets coffee sushi] [--folds 5]

The folds, covariates and questions are those of ``benchmarks.covariates``. Both learn from the same pairs: at most 20
of each user, drawn at random, as more take lcl-choice too long. Both choose their setting on a fifth of the training
users, with a slope for each number of votes: lcl-choice 2, 3, 5 or 8 classes and what votes count as, in a stated
number of seconds; plurank 3, 5 or 8 rankings that mix probabilities, or 3 or 5 that mix utilities. Differences of the
mean log-likelihood of a pair, averaged by user, with 95 % intervals over users. Writes results/covariates_lcl.csv. What
lcl-choice has predicted stays in --work, and is not predicted again.
"""

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import logit

import plurank
from benchmarks.common import parser_of, write_results
from benchmarks.covariates import N_TESTED, SETS, VOTES, Floats, ask, by_user, limit, read
from benchmarks.peers.calibration import calibrate, fit_slope
from benchmarks.peers.covariates.case import Case, write_case
from benchmarks.peers.environments import build, python_of
from benchmarks.peers.run import THREADS

ENVIRONMENT, MODULE = "lcl", "benchmarks.peers.covariates.lcl_choice"
SETTINGS = ((3, "probability"), (5, "probability"), (8, "probability"), (3, "utility"), (5, "utility"))


def to_frame(pairs: plurank.Comparisons) -> pl.DataFrame:
    """Users by label, items by number."""
    users = pl.Series("user", [str(user) for user in pairs.users.tolist()], pl.String)
    return pl.DataFrame({"user": users.gather(pairs.user_of_each()), "winner": pairs.winners, "loser": pairs.losers})


def make_case(
    train: plurank.Comparisons, asked: dict[int, Any], test: Any, people: pl.DataFrame, rng: np.random.Generator
) -> tuple[Case, Any]:
    """Return a case, and whether left won; votes have places in the order in which they were asked."""
    parts, before = [], []
    for place, votes in enumerate(asked.values()):
        own = to_frame(votes)
        new = own if not before else own.join(before[-1], ["user", "winner", "loser"], "anti")
        before.append(own)
        parts.append(new.with_columns(place=pl.lit([0, *asked][place])))
    left = rng.random(len(test)) < 0.5
    shown = to_frame(test).select(
        "user",
        left=pl.when(pl.Series(left)).then("winner").otherwise("loser"),
        right=pl.when(pl.Series(left)).then("loser").otherwise("winner"),
    )
    about = {"n_items": train.n_items, "votes": list(VOTES)}
    named = people.with_columns(pl.col("user").cast(pl.String))
    return Case(to_frame(train), named, pl.concat(parts), shown, about), left


def run_peer(folder: Path, environments: Path, seconds: float, fold: int) -> None:
    """Let lcl-choice predict, in its own environment and with one thread."""
    python = python_of(ENVIRONMENT, environments)
    assert python is not None, "the environment of lcl-choice could not be built"
    command = [str(python), "-m", MODULE, str(folder), "--seconds", str(seconds), "--seed", str(fold)]
    one = dict.fromkeys(THREADS, "1") | {
        "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    }
    subprocess.run(command, env={**os.environ, **one}, check=True)


class Fold(NamedTuple):
    """Pairs to learn from, votes and questions of new users; and the same inside the training data."""

    train: plurank.Comparisons
    asked: dict[int, Any]
    test: Any
    inner: tuple[plurank.Comparisons, dict[int, Any], Any]


def split(said: Any, fold_of: NDArray[np.int64], fold: int, most: int, rng: np.random.Generator) -> Fold:
    """Cut users as ``benchmarks.covariates`` does, and training users once more."""
    everybody, learn = np.arange(len(fold_of)), np.flatnonzero(fold_of != fold)
    tested = np.isin(everybody, np.flatnonzero(fold_of == fold)[:N_TESTED])
    chosen = np.isin(everybody, rng.permutation(learn)[: len(learn) // 5])
    train = limit(said.take_users(fold_of != fold).to_comparisons(), most, rng)
    inner = limit(said.take_users((fold_of != fold) & ~chosen).to_comparisons(), most, rng)
    asked, test = ask(said.take_users(tested), np.random.default_rng(fold))
    return Fold(train, asked, test, (inner, *ask(said.take_users(chosen), rng)))


def let_peer(made: Fold, people: pl.DataFrame, folder: Path, given: Any, fold: int) -> tuple[dict[int, Floats], Any]:
    """Return log-likelihoods by user of lcl-choice for each number of votes, and its report."""
    rng = np.random.default_rng([2, fold])
    case, left = make_case(made.train, made.asked, made.test, people, rng)
    if not (folder / "report.json").exists():
        shutil.rmtree(folder, ignore_errors=True)
        write_case(folder, case)
        write_case(folder / "validation", *make_case(*made.inner, people, rng))
        run_peer(folder, given.environments, given.seconds, fold)
    found = pl.read_parquet(folder / "predictions.parquet")
    chances = {n: found.filter(pl.col("votes") == n)["probability"].to_numpy() for n in VOTES}
    logs = {n: by_user(np.where(left, each, 1.0 - each), made.test) for n, each in chances.items()}
    return logs, json.loads((folder / "report.json").read_text())


def log_odds(model: Any, asked: dict[int, Any], test: Any, people: pl.DataFrame | None) -> dict[int, Floats]:
    """Log odds of what happened, (n,), for each number of votes."""
    nothing = next(iter(asked.values())).select(np.zeros(0, np.int64))
    keywords = {} if people is None else {"people": people}
    chances = {n: model.predict_new(asked[n] if n else nothing, test, **keywords) for n in VOTES}
    return {n: logit(np.clip(each, 1e-9, 1.0 - 1e-9)) for n, each in chances.items()}


def let_plurank(made: Fold, people: pl.DataFrame | None, fold: int) -> tuple[dict[int, Floats], dict[str, Any]]:
    """Choose a setting as the peer does; return log-likelihoods by user, and what was chosen."""
    (inner, asked, test), tried = made.inner, []
    for number, setting in enumerate(SETTINGS):
        odds = log_odds(fit(inner, setting, people, fold), asked, test, people)
        right = np.ones(len(test), bool)
        slopes = {n: fit_slope(each, right) for n, each in odds.items()}
        tried.append((float(np.mean([np.log(calibrate(odds[n], slopes[n])).mean() for n in VOTES])), number, slopes))
    _, number, slopes = max(tried, key=lambda each: each[0])
    begin = time.perf_counter()
    model = fit(made.train, SETTINGS[number], people, fold)
    report = {"setting": "{} {}".format(*SETTINGS[number]), "fit_seconds": time.perf_counter() - begin}
    odds = log_odds(model, made.asked, made.test, people)
    return {n: by_user(calibrate(each, slopes[n]), made.test) for n, each in odds.items()}, report


def fit(train: plurank.Comparisons, setting: tuple[int, str], people: pl.DataFrame | None, seed: int) -> Any:
    """Fit so many rankings, mixed in this way."""
    n_rankings, mixing = setting
    model = plurank.MixedRanking(n_rankings, mixing=mixing, random_state=seed)  # type: ignore[arg-type]
    return model.fit(train, people=people)


def measure(name: str, given: Any) -> list[dict[str, Any]]:
    """Compare on all folds of a set."""
    said, people = read(given.data, SETS[name])
    fold_of = np.random.default_rng(0).permutation(said.n_users) % 5  # as in benchmarks.covariates
    logs: dict[tuple[str, int], list[Floats]] = {}
    reports: list[dict[str, Any]] = []
    own: list[dict[str, Any]] = []
    for fold in range(given.folds):
        made = split(said, fold_of, fold, given.most_pairs, np.random.default_rng([1, fold]))
        folder = given.work / f"{name}-{given.most_pairs}-{fold}"
        peer, report = let_peer(made, people, folder, given, fold)
        ours, chosen = let_plurank(made, people, fold)
        reports.append(report)
        own.append(chosen)
        for variant, each in (("lcl-choice", peer), ("plurank", ours)):
            print(name, fold, variant, {n: round(float(v.mean()), 4) for n, v in each.items()}, flush=True)
            for n in VOTES:
                logs.setdefault((variant, n), []).append(each[n])
    return [_row(name, n, logs, reports, own, given) for n in VOTES]


def _row(
    name: str, n: int, logs: dict[tuple[str, int], list[Floats]], reports: list[Any], own: list[Any], given: Any
) -> dict[str, Any]:
    """Summarise one number of votes."""
    mean = {variant: np.concatenate(parts) for (variant, votes), parts in logs.items() if votes == n}
    gain = mean["plurank"] - mean["lcl-choice"]
    error = 1.96 * gain.std() / np.sqrt(len(gain))
    row = {
        "set": name, "votes": n, "folds": given.folds, "users": len(gain), "most_pairs": given.most_pairs,
        "plurank": round(float(mean["plurank"].mean()), 5), "lcl_choice": round(float(mean["lcl-choice"].mean()), 5),
        "gain": round(float(gain.mean()), 5), "lower": round(float(gain.mean() - error), 5),
        "upper": round(float(gain.mean() + error), 5),
        "rankings": ", ".join(each["setting"] for each in own),
        "classes": ", ".join(str(each["classes"]) for each in reports),
        "classes_tried": " ".join(map(str, max((each["classes_tried"] for each in reports), key=len))),
        "seconds_allowed": given.seconds, "fit_seconds": round(sum(each["fit_seconds"] for each in own) / len(own), 1),
        "peer_fit_seconds": round(sum(each["fit_seconds"] for each in reports) / len(reports), 1),
        "peer_tune_seconds": round(sum(each["tune_seconds"] for each in reports) / len(reports), 1),
        "converged": sum(each["converged"] for each in reports), "peer_versions": reports[0]["peer_versions"],
    }  # fmt: skip
    print(row, flush=True)
    return row


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--most-pairs", type=int, default=20, help="training pairs of a user")
    parser.add_argument("--seconds", type=float, default=600.0, help="to choose the number of classes, in each fold")
    parser.add_argument("--environments", type=Path, default=Path(os.environ.get("PLURANK_PEERS", ".peers")))
    parser.add_argument("--work", type=Path, help="folder for cases and what lcl-choice predicted")
    given = parser.parse_args()
    given.work = given.work or given.environments / "work" / "covariates_lcl"
    build(ENVIRONMENT, given.environments)
    for name in given.sets:
        write_results("covariates_lcl", measure(name, given), replacing="set")


if __name__ == "__main__":
    main()
