"""Ratings by the hundred million: what a sweep costs, and memory and time of an ingest and of a fit from the store.

    python -m benchmarks.scale.rated --sweeps [--ratings 100000 1000000 10000000]
    python -m benchmarks.scale.rated [--ratings 10000000] [--max-iter 4] [--scratch FOLDER]
    python -m benchmarks.scale.rated --against smurff --data FOLDER

--sweeps: nanoseconds of processor time per rating and sweep from a store, by the number of ratings, K = 10. Bound: ten
times as many ratings take at most 1.5 times as long for each.

Without it: makes Parquet files in which every user has a rating in each, in no order; then, each in a process of its
own, plurank ingests them within 2 GB and fits K = 10 rankings from the store, with so many sweeps. Peak memory leaves
out mapped files, which the system can drop. Bound of the fit: 1.5 GB, 1 kB for each user and 10 kB for each item, and
the draws that the model keeps, twice; nothing for each rating.

--against smurff: MovieLens-1M, all movies, K = 10, in the same process: the default fit without and with factors, and
BPMF with its authors' settings; seconds on the clock, and of the processor, which other processes disturb less. FOLDER
has train.csv.gz and probe.csv.gz with columns user, item, rating.
"""

import argparse
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl

import plurank
from benchmarks.common import memory_kib, parser_of, write_results
from benchmarks.paper.stars import predict_bpmf
from benchmarks.paper.table2 import BURN_IN, SAMPLES
from plurank.kernels.threads import get_num_threads, set_num_threads
from plurank.thurstone.exposure import Exposure
from plurank.thurstone.sampler import Chain, Observations, Shape

N_RANKINGS, PER_USER = 10, 100
N_ITEMS = 10_007  # a prime, so that steps of any length visit all items
CUTS = np.array([-2.0, -0.8, 0.4, 1.6])
RATINGS_AT_ONCE = 5_000_000
MEMORY = "2GB"  # of an ingest

SHARED_BYTES, USER_BYTES, ITEM_BYTES = 1.5e9, 1e3, 1e4


def make_files(folder: Path, n_ratings: int) -> None:
    """Write so many ratings, a few of every user in each file."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(0)
    n_users = n_ratings // PER_USER
    scores = rng.standard_normal((N_ITEMS, N_RANKINGS))
    weights = rng.dirichlet(np.full(N_RANKINGS, 0.3), n_users).astype(np.float32)
    first, step = rng.integers(0, N_ITEMS, n_users), rng.integers(1, N_ITEMS, n_users)
    each = max(RATINGS_AT_ONCE // n_users, 1)
    for begin in range(0, PER_USER, each):
        users = np.repeat(rng.permutation(n_users), min(each, PER_USER - begin))
        numbers = np.tile(np.arange(begin, min(begin + each, PER_USER)), n_users)
        items = (first[users] + numbers * step[users]) % N_ITEMS
        stars = np.empty(len(users), np.int8)
        for some in np.array_split(np.arange(len(users)), max(len(users) // 1_000_000, 1)):
            means = np.einsum("nk,nk->n", weights[users[some]], scores[items[some]])
            stars[some] = 1 + np.searchsorted(CUTS, 2.0 * means + rng.standard_normal(len(some)))
        frame = pl.DataFrame({"user": users, "item": items, "rating": stars})
        frame.write_parquet(folder / f"{begin:04}.parquet")


def ingest(folder: Path, store: Path) -> None:
    """Ingest all files of a folder."""
    plurank.ingest(folder, store, memory=MEMORY)


def fit(store: Path, max_iter: int) -> None:
    """Fit rankings from a store."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", plurank.ConvergenceWarning)  # of so few sweeps
        model = plurank.MixedRanking(N_RANKINGS, n_factors=0, max_iter=max_iter, random_state=0)
        model.fit(plurank.open_store(store))
    draws = [value.nbytes for name, value in vars(model).items() if name.startswith("draw_")]
    print(f"draws {sum(draws)}")


class PeakWatch:
    """The most memory of this process so far, without mapped files; looks twenty times a second."""

    def __init__(self) -> None:
        self.kib = 0.0
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while True:
            self.kib = max(self.kib, memory_kib("RssAnon"))
            time.sleep(0.05)


def run_alone(work: str, *options: object) -> dict[str, float]:
    """Do some work in a process of its own; return seconds, peak gigabytes, and what else it says."""
    command = [sys.executable, "-m", "benchmarks.scale.rated", "--work", work, *map(str, options)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    found = {name: float(value) for name, value in (line.split() for line in lines if len(line.split()) == 2)}
    print(work, found, flush=True)
    return found


def measure_fit(n_ratings: int, max_iter: int, scratch: str | None) -> dict[str, object]:
    """Make, ingest and fit so many ratings."""
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        folder, store = Path(name) / "ratings", Path(name) / "ratings.store"
        run_alone("make", folder, n_ratings)
        reading = run_alone("ingest", folder, store)
        fitting = run_alone("fit", store, max_iter)
        made = plurank.open_store(store)
        bound = SHARED_BYTES + USER_BYTES * made.n_users + ITEM_BYTES * made.n_items + 2 * fitting["draws"]
        return {
            "ratings": len(made), "users": made.n_users, "items": made.n_items, "n_rankings": N_RANKINGS,
            "store_gb": round(made.n_bytes / 1e9, 3), "shards": made.n_shards,
            "ingest_seconds": reading["seconds"], "ingest_memory": MEMORY, "ingest_peak_gb": reading["peak_gb"],
            "max_iter": max_iter, "fit_seconds": fitting["seconds"], "fit_peak_gb": fitting["peak_gb"],
            "draws_gb": round(fitting["draws"] / 1e9, 3), "bound_gb": round(bound / 1e9, 3),
            "within_bound": fitting["peak_gb"] * 1e9 <= bound, "threads": get_num_threads(),
        }  # fmt: skip


def measure_sweeps(n_ratings: int, scratch: str | None, n_sweeps: int = 3) -> dict[str, object]:
    """Time sweeps of a chain over a store, after one other."""
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        folder, store = Path(name) / "ratings", Path(name) / "ratings.store"
        make_files(folder, n_ratings)
        observations = Observations.of(plurank.ingest(folder, store))
        chain = Chain(observations, Shape(N_RANKINGS, 0), [0], Exposure.none(N_ITEMS))
        times = []
        for _ in range(1 + n_sweeps):
            begin = time.process_time()
            chain.sweep()
            times.append(time.process_time() - begin)
    each = min(times[1:])
    return {
        "ratings": n_ratings, "items": N_ITEMS, "per_user": PER_USER, "n_rankings": N_RANKINGS,
        "threads": get_num_threads(), "seconds": round(each, 4), "ns_per_rating": round(each / n_ratings * 1e9, 1),
    }  # fmt: skip


def compare_with_smurff(data: Path, shortened: int) -> None:
    """Fit MovieLens-1M by BPMF and by ours, with one thread each; ``shortened``: only one of so many sweeps of both."""
    train, probe = (pl.read_csv(data / f"{name}.csv.gz") for name in ("train", "probe"))
    ratings, stars = plurank.Ratings.from_frame(train), probe["rating"].to_numpy()
    set_num_threads(1)

    def predict(n_factors: int) -> np.ndarray:
        model = plurank.MixedRanking(N_RANKINGS, n_factors=n_factors, max_iter=200 // shortened, random_state=0)
        return plurank.RatingPredictor(model.fit(ratings)).fit(ratings).predict(probe)

    works = {
        "BPMF (smurff)": lambda: predict_bpmf(train, probe, N_RANKINGS, BURN_IN // shortened, SAMPLES // shortened),
        "rankings alone": lambda: predict(0),
        "with factors": lambda: predict(10),
    }
    rows: list[dict[str, object]] = []
    theirs, theirs_alone = 0.0, 0.0
    for method, work in works.items():
        begin, began = time.perf_counter(), time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", plurank.ConvergenceWarning)  # of short chains
            error = float(np.sqrt(np.mean((work() - stars) ** 2)))
        seconds, processor = time.perf_counter() - begin, time.process_time() - began
        theirs, theirs_alone = theirs or seconds, theirs_alone or processor
        row = {
            "method": method, "seconds": round(seconds, 1), "over_bpmf": round(seconds / theirs, 2),
            "processor_seconds": round(processor, 1), "processor_over_bpmf": round(processor / theirs_alone, 2),
        }  # fmt: skip
        rows.append({**row, "rmse_all_probe": round(error, 4), "n_rankings": N_RANKINGS, "shortened": shortened})
        print(rows[-1], flush=True)
        write_results("scale_rated_smurff", rows)


def work_alone(work: str, options: list[str]) -> None:
    """Do what ``run_alone`` asks for, and print what it took."""
    watch, begin = PeakWatch(), time.perf_counter()
    if work == "make":
        make_files(Path(options[0]), int(options[1]))
    elif work == "ingest":
        ingest(Path(options[0]), Path(options[1]))
    else:
        fit(Path(options[0]), int(options[1]))
    print(f"seconds {time.perf_counter() - begin:.2f}")
    print(f"peak_gb {watch.kib * 1024 / 1e9:.3f}")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--ratings", type=int, nargs="+")
    parser.add_argument("--sweeps", action="store_true")
    parser.add_argument("--max-iter", type=int, default=4)
    parser.add_argument("--scratch", help="a folder with room for files and the store, 40 bytes for each rating")
    parser.add_argument("--against", choices=["smurff"])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--shortened", type=int, default=1, help="with --against: one of so many sweeps of both")
    parser.add_argument("--work", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work_alone(given.work[0], given.work[1:])
    elif given.against:
        compare_with_smurff(given.data, given.shortened)
    elif given.sweeps:
        sizes = given.ratings or [100_000, 1_000_000, 10_000_000]
        write_results("scale_rated_sweeps", [measure_sweeps(n, given.scratch) for n in sizes])
    else:
        rows = [measure_fit(n, given.max_iter, given.scratch) for n in given.ratings or [10_000_000]]
        write_results("scale_rated", rows, replacing="ratings")


if __name__ == "__main__":
    main()
