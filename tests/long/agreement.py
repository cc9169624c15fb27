"""How far apart are answers that should be the same: the largest differences, in one table.

    python -m tests.long.agreement

Every model is fitted to the same 60 simulated people in two ways, and the fits are held against each other: the share
of places of ``rankings_`` that differ, and the largest differences of ``scores_``, ``user_weights_``, ``mean_weights_``
and of predictions. 0 is the same to the last bit. Rows shuffled, rows written twice instead of weight 2,
and the plain twins (``PLURANK_KERNELS=plain``) add up in another order, so that they may differ by rounding, and by
what rounding does to the last steps of a fit. Priors are chosen where the engines and two fits with one seed are
compared, and given elsewhere (of shuffled rows, others would be held out to choose them by). The paper's detection
splits everybody's comparisons in halves by where they stand, so that it is not held against shuffled rows. Weights of
comparisons and ratings are given as float64 and as float32; inside all is float64, there are no float32 kernels.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import plurank
from benchmarks.common import parser_of, write_results
from tests.long import RESULTS

N_USERS, N_ITEMS, N_RANKINGS, PER_USER = 60, 6, 2, 24
MAX_ITER = 40
GIVEN = {"concentration": 1.0, "score_scale": 1.0}
MIXED = {
    "probability": {"mixing": "probability"},
    "utility": {"mixing": "utility"},
    "ensemble": {"mixing": "utility", "ensemble": 2},
    "mallows": {"component": "mallows"},
    "strict": {"component": "strict"},
}
DETECTIONS = ("projections", "printed")  # of the paper: directions are random, and halves go by position
MODELS = (*MIXED, "topic", *DETECTIONS)
IN_MEMORY_ONLY = ("mallows", "strict")
Answer = dict[str, Any]


def make(name: str, *, given: bool) -> Any:
    """Give an unfitted model; given: with priors that are not chosen."""
    if name == "topic":
        return plurank.TopicRanking(N_RANKINGS, random_state=0)
    if name in DETECTIONS:
        return plurank.TopicRanking(N_RANKINGS, name, random_state=0)
    return plurank.MixedRanking(
        N_RANKINGS, max_iter=MAX_ITER, random_state=0, **MIXED[name], **(GIVEN if given else {})
    )


@cache
def people() -> pl.DataFrame:
    """Comparisons of simulated people, each of weight 1, 2 or 1/2."""
    drawn = plurank.simulate(
        N_USERS,
        N_ITEMS,
        N_RANKINGS,
        PER_USER,
        0.5,
        2,
        mean_weights=[0.5, 0.5],
        lead_probabilities=[0.9] * (N_ITEMS - 1),
    )
    frame = drawn.comparisons.to_frame()
    return frame.with_columns(weight=np.tile([1.0, 2.0, 0.5], len(frame) // 3))


def questions() -> pl.DataFrame:
    """Every pair of items, for everybody."""
    left, right = np.triu_indices(N_ITEMS, 1)
    users = np.repeat(np.arange(N_USERS), len(left))
    return pl.DataFrame({"user": users, "left": np.tile(left, N_USERS), "right": np.tile(right, N_USERS)})


def answer_of(model: Any) -> Answer:
    """What is compared."""
    names = ("rankings_", "scores_", "user_weights_", "mean_weights_")
    found = {name: getattr(model, name) for name in names if hasattr(model, name)}
    return {**found, "predictions": model.predict_proba(questions())}


def fit(name: str, frame: Any, *, given: bool = True, **where: Any) -> Answer:
    data = frame if isinstance(frame, plurank.Store) else plurank.Comparisons.from_frame(frame)
    return answer_of(make(name, given=given).fit(data, **where))


@cache
def usual(name: str, *, given: bool = True) -> Answer:
    """The fit that others are held against."""
    return fit(name, people(), given=given)


def differences(one: Answer, other: Answer) -> dict[str, float]:
    """The share of places that differ, and the largest difference of everything else."""
    apart = {name: float(np.abs(one[name] - other[name]).max()) for name in one if name != "rankings_"}
    return {"rankings_": float((one["rankings_"] != other["rankings_"]).mean()), **apart}


def fit_elsewhere(folder: Path, what: str, **switches: str) -> dict[str, Answer]:
    """Fit all models in a process of its own."""
    path = folder / f"{what}.npz"
    ours = ("PLURANK_KERNELS", "PLURANK_NUM_THREADS")
    environment = {key: value for key, value in os.environ.items() if key not in ours}
    command = [sys.executable, "-W", "ignore", "-m", "tests.long.agreement", "--fit", str(path)]
    subprocess.run(command, check=True, env=environment | switches)
    found: dict[str, Answer] = {name: {} for name in MODELS}
    with np.load(path) as arrays:
        for key in arrays:
            name, attribute = key.split(" ")
            found[name][attribute] = arrays[key]
    return found


def fit_all(path: Path) -> None:
    """Fit every model, and keep what it found."""
    fits = {name: usual(name) for name in MODELS}
    np.savez(path, **{f"{name} {key}": value for name, found in fits.items() for key, value in found.items()})


def by_switches(folder: Path) -> list[dict[str, Any]]:
    """The plain twins, and the number of threads."""
    one, four, any_processor, plain = (
        fit_elsewhere(folder, "one", PLURANK_NUM_THREADS="1"),
        fit_elsewhere(folder, "four", PLURANK_NUM_THREADS="4"),
        fit_elsewhere(folder, "baseline", PLURANK_KERNELS="baseline"),
        fit_elsewhere(folder, "plain", PLURANK_KERNELS="plain"),
    )
    rows = []
    for name in MODELS:
        rows.append({"what": "one thread, four threads", "model": name, **differences(one[name], four[name])})
        rows.append({"what": "AVX2, any processor", "model": name, **differences(one[name], any_processor[name])})
        rows.append({"what": "native, plain twins", "model": name, **differences(one[name], plain[name])})
    return rows


def by_engine(folder: Path) -> list[dict[str, Any]]:
    """Memory, a store, and two Dask workers; orders are fitted in memory alone."""
    from distributed import Client, LocalCluster

    people().write_parquet(folder / "people.parquet")
    plurank.ingest([folder / "people.parquet"], folder / "people.store")
    store, rows = plurank.open_store(folder / "people.store"), []
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        for name in (name for name in MODELS if name not in IN_MEMORY_ONLY):
            here, there = usual(name, given=False), fit(name, store, given=False)
            rows.append({"what": "memory, store", "model": name, **differences(here, there)})
            there = fit(name, store, given=False, engine="dask", scheduler=client)
            rows.append({"what": "memory, two Dask workers", "model": name, **differences(here, there)})
    return rows


def by_input(folder: Path) -> list[dict[str, Any]]:
    """The same comparisons in other forms, and the same model again."""
    frame, rows = people(), []
    light = frame.with_columns(weight=pl.lit(1.0))
    heavy = frame.with_columns(weight=pl.lit(2.0))
    forms = {
        "polars, pandas": frame.to_pandas(),
        "polars, pyarrow": frame.to_arrow(),
        "weights float64, float32": frame.with_columns(pl.col("weight").cast(pl.Float32)),
    }
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=1)
    for name in MODELS:
        rows += [{"what": w, "model": name, **differences(usual(name), fit(name, form))} for w, form in forms.items()]
        if name not in DETECTIONS:
            elsewhere = differences(usual(name), fit(name, shuffled))
            rows.append({"what": "rows, rows shuffled", "model": name, **elsewhere})
            twice = differences(fit(name, heavy), fit(name, pl.concat([light, light])))
            rows.append({"what": "weight 2, rows twice", "model": name, **twice})
        again = make(name, given=False).fit(plurank.Comparisons.from_frame(frame))
        same = differences(usual(name, given=False), answer_of(again))
        rows.append({"what": "the same seed twice", "model": name, **same})
        again.save(folder / "model.plurank")
        loaded = differences(answer_of(again), answer_of(plurank.load(folder / "model.plurank")))
        rows.append({"what": "before saving, after loading", "model": name, **loaded})
    return [*rows, stars(frame)]


def stars(frame: pl.DataFrame) -> dict[str, Any]:
    """Ratings as float64 and as float32: how far apart predicted stars are."""
    model = make("utility", given=True).fit(plurank.Comparisons.from_frame(frame))
    rng = np.random.default_rng(0)
    users, items = np.repeat(np.arange(N_USERS), N_ITEMS), np.tile(np.arange(N_ITEMS), N_USERS)
    ratings = pl.DataFrame({"user": users, "item": items, "rating": rng.integers(1, 11, len(users)) / 2.0})
    found = [
        plurank.RatingPredictor(model).fit(ratings.with_columns(pl.col("rating").cast(kind))).predict(ratings)
        for kind in (pl.Float64, pl.Float32)
    ]
    return {
        "what": "ratings float64, float32",
        "model": "stars",
        "predictions": float(np.abs(found[0] - found[1]).max()),
    }


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--fit", type=Path, metavar="FILE", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.fit:
        fit_all(given.fit)
        return
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for part in (by_switches, by_engine, by_input) for row in part(Path(folder))]
    names = ("rankings_", "scores_", "user_weights_", "mean_weights_", "predictions")
    table = pl.DataFrame([{**row, **{name: row.get(name) for name in names}} for row in rows]).sort(
        "what", maintain_order=True
    )
    with pl.Config(tbl_rows=-1, tbl_width_chars=160, fmt_str_lengths=40, tbl_hide_dataframe_shape=True):
        print(table)
    write_results("agreement", table.rows(named=True), folder=RESULTS)


if __name__ == "__main__":
    main()
