"""A million users with five covariates, from a store: time and peak memory of a fit.

    python -m benchmarks.scale.covariates [--users 100000 1000000] [--max-iter 10] [--scratch FOLDER]

Simulated users with 20 votes each on 100 items, K = 3 rankings; three numbers and two categories, of 4 and 20 levels,
of which one number and one category say who follows which ranking. Each step in a process of its own: files, ingest,
and fits from the store without and with covariates. Peak memory leaves out mapped files, which the system can drop.
Bound of the fit: 1 GB and 1 kB for each user. Also checked: the fit with covariates uses them, and the shares by the
category are those that were simulated. Writes results/scale_covariates.csv.
"""

import argparse
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

import plurank
from benchmarks.common import parser_of, write_results
from benchmarks.scale.rated import PeakWatch
from plurank.regression.coefficients import softmax

Floats = NDArray[np.float64]

N_ITEMS, N_RANKINGS, PER_USER = 100, 3, 20
USERS_AT_ONCE = 100_000
SHARED_BYTES, USER_BYTES = 1e9, 1e3
BY_AGE, BY_REGION = (
    np.array([0.5, 0.0, -0.5]),
    np.array([[0.6, 0.0, 0.0], [0.0, 0.6, 0.0], [0.0, 0.0, 0.6], [0.0, 0.0, 0.0]]),
)
CONCENTRATION = 2.0


def make_scores() -> Floats:
    """Scores (Q, K) of the rankings, the same in every process."""
    return np.random.default_rng(0).standard_normal((N_ITEMS, N_RANKINGS)) * 1.5


def make_files(folder: Path, n_users: int) -> None:
    """Write votes in parts, and the table of people."""
    folder.mkdir(parents=True)
    scores, tables = make_scores(), []
    for begin in range(0, n_users, USERS_AT_ONCE):
        rng, n = np.random.default_rng([1, begin]), min(USERS_AT_ONCE, n_users - begin)
        region, age = rng.integers(0, len(BY_REGION), n), rng.standard_normal(n)
        shares = softmax(age[:, None] * BY_AGE + BY_REGION[region])
        draws = rng.standard_gamma(np.maximum(CONCENTRATION * shares, 1e-3))
        weights = draws / draws.sum(axis=1, keepdims=True)
        users = np.repeat(np.arange(n), PER_USER)
        first = rng.integers(0, N_ITEMS, len(users))
        second = (first + rng.integers(1, N_ITEMS, len(users))) % N_ITEMS
        chances = (weights[users] / (1.0 + np.exp(scores[second] - scores[first]))).sum(axis=1)
        wins = rng.random(len(users)) < chances
        sides = {"winner": np.where(wins, first, second), "loser": np.where(wins, second, first)}
        pl.DataFrame({"user": users + begin, **sides}).write_parquet(folder / f"votes-{begin:09}.parquet")
        known = {"user": np.arange(n) + begin, "age": (45.0 + 15.0 * age).round(1), "income": rng.lognormal(10, 1, n)}
        tables.append(
            pl.DataFrame({**known, "years": rng.integers(0, 30, n), "region": region, "trade": rng.integers(0, 20, n)})
        )
    names = ("region", "trade")
    people = pl.concat(tables).with_columns(pl.format(f"{name} {{}}", name).alias(name) for name in names)
    people.write_parquet(folder.with_name("people.parquet"))


def ingest(folder: Path, store: Path) -> None:
    """Ingest all votes."""
    plurank.ingest(folder, store, memory="1GB")


def fit(store: Path, max_iter: int, people: Path | None) -> None:
    """Fit from a store; print by how much shares by region are off, on average, and whether covariates count."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", plurank.ConvergenceWarning)  # of so few passes
        model = plurank.MixedRanking(N_RANKINGS, mixing="probability", max_iter=max_iter, random_state=0)
        model.fit(plurank.open_store(store), people=people)
    if people is not None:
        effects = model.effects("region")
        order = plurank.align(model.rankings_, np.argsort(-make_scores().T, axis=1))
        age = np.random.default_rng(2).standard_normal(100_000)
        true = np.array([softmax(age[:, None] * BY_AGE + each).mean(axis=0) for each in BY_REGION])[:, order]
        found = effects["share"].to_numpy().reshape(true.shape)
        print(f"slope_scale {model.slope_scale_ or 0.0}")
        print(f"error {np.abs(found - true).mean():.4f}")


def run_alone(work: str, *options: object) -> dict[str, float]:
    """Do some work in a process of its own; return seconds, peak gigabytes, and what else it says."""
    command = [sys.executable, "-m", "benchmarks.scale.covariates", "--work", work, *map(str, options)]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    found = {name: float(value) for name, value in (line.split() for line in lines if len(line.split()) == 2)}
    print(work, found, flush=True)
    return found


def measure(n_users: int, max_iter: int, scratch: str | None) -> dict[str, object]:
    """Make, ingest and fit so many users."""
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        folder, store, people = Path(name) / "votes", Path(name) / "votes.store", Path(name) / "people.parquet"
        run_alone("make", folder, n_users)
        run_alone("ingest", folder, store)
        plain = run_alone("fit", store, max_iter)
        known = run_alone("fit", store, max_iter, people)
        return {
            "users": n_users, "comparisons": n_users * PER_USER, "items": N_ITEMS, "n_rankings": N_RANKINGS,
            "covariates": 5, "max_iter": max_iter, "fit_seconds": known["seconds"],
            "seconds_without": plain["seconds"], "time_ratio": round(known["seconds"] / plain["seconds"], 2),
            "peak_gb": known["peak_gb"], "peak_without_gb": plain["peak_gb"],
            "bound_gb": round((SHARED_BYTES + USER_BYTES * n_users) / 1e9, 2), "slope_scale": known["slope_scale"],
            "share_error": known["error"],
        }  # fmt: skip


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--users", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--max-iter", type=int, default=10)
    parser.add_argument("--scratch", help="a folder with room for the files and the store, 60 bytes a vote")
    parser.add_argument("--work", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work is None:
        rows = [measure(n_users, given.max_iter, given.scratch) for n_users in given.users]
        for row in rows:
            print(row)
            assert float(str(row["peak_gb"])) <= float(str(row["bound_gb"])), "more memory than the bound"
        write_results("scale_covariates", rows, replacing="users")
        return
    work, *options = given.work
    watch, begin = PeakWatch(), time.perf_counter()
    if work == "make":
        make_files(Path(options[0]), int(options[1]))
    elif work == "ingest":
        ingest(Path(options[0]), Path(options[1]))
    else:
        fit(Path(options[0]), int(options[1]), Path(options[2]) if len(options) > 2 else None)
    print(f"seconds {time.perf_counter() - begin:.1f}")
    print(f"peak_gb {watch.kib * 1024 / 1e9:.3f}")


if __name__ == "__main__":
    main()
