"""The same fit from memory, from disk and on a Dask cluster: time a pass, and peak memory.

    python -m benchmarks.scale.engines --folder FOLDER [--sizes 1000000 10000000 100000000] [--engines memory disk dask]

FOLDER gets the simulated people and their stores (30 bytes a comparison while they are made). Every case is a process
of its own, with two threads, or two workers of one thread each; the priors are given, so that all time goes into
passes. Bounds: disk at most 1.5 times memory, Dask at most 1.3 times disk, a pass; at most 2 GB from disk at 100
million. A case of a billion: --sizes 1000000000 --engines disk.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import plurank
from benchmarks.common import memory_kib, parser_of, write_results
from benchmarks.scale.people import N_RANKINGS, store_of

SIZES = (1_000_000, 10_000_000, 100_000_000)
ENGINES = ("memory", "disk", "dask")
PASSES = 12
THREADS = 2


def fit_once(path: Path, engine: str) -> dict[str, Any]:
    """Fit, and note when each pass ended."""
    store, stamps = plurank.open_store(path), []

    def on_progress(stage: str, _: float) -> None:
        if stage.startswith("fitting"):
            stamps.append(time.perf_counter())

    data = store.to_comparisons() if engine == "memory" else store
    held, peaks = memory_kib("VmRSS"), []
    with cluster_of(engine) as client:
        begin = time.perf_counter()
        where = {"engine": "local"} if client is None else {"engine": "dask", "scheduler": client}
        model = plurank.MixedRanking(
            N_RANKINGS,
            mixing="probability",
            concentration=3.0,
            score_scale=1.0,
            init="items",
            max_iter=PASSES,
            tol=1e-12,
            random_state=0,
        ).fit(data, on_progress=on_progress, **where)
        took = time.perf_counter() - begin
        if client is not None:
            peaks = list(client.run(memory_kib, "VmHWM").values())
    passes = [after - before for before, after in pairwise(stamps)]
    return {
        "seconds_a_pass": round(median(passes[:-1]), 3), "fit_seconds": round(took, 1), "passes": model.n_iter_,
        "held_gib": round(held / 2**20, 2), "peak_gib": round(memory_kib("VmHWM") / 2**20, 2),
        "workers_peak_gib": round(max(peaks, default=0.0) / 2**20, 2), "log_posterior": float(model.log_posterior_[-1]),
    }  # fmt: skip


@contextmanager
def cluster_of(engine: str) -> Iterator[Any]:
    """Start two workers with one thread each, where the engine is Dask; give a client of theirs."""
    if engine != "dask":
        yield None
        return
    from distributed import Client, LocalCluster

    workers = {"n_workers": THREADS, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**workers) as cluster, Client(cluster) as client:
        yield client


def measure(folder: Path, size: int, engine: str) -> dict[str, Any]:
    """Fit in a process of its own."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "benchmarks.scale.engines",
        "--fit",
        str(store_of(folder, size)),
        engine,
    ]
    environment = {**os.environ, "PLURANK_NUM_THREADS": str(1 if engine == "dask" else THREADS)}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return {
        "key": f"{size}, {engine}",
        "comparisons": size,
        "engine": engine,
        **json.loads(done.stdout.splitlines()[-1]),
    }


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--fit", nargs=2, metavar=("STORE", "ENGINE"), help="used by the benchmark itself")
    given = parser.parse_args()
    if given.fit:
        print(json.dumps(fit_once(Path(given.fit[0]), given.fit[1])))
        return
    if given.folder is None:
        parser.error("expected --folder, a folder with room for the people and their stores")
    for size in given.sizes:
        rows = [measure(given.folder, size, engine) for engine in given.engines]
        times = {row["engine"]: row["seconds_a_pass"] for row in rows}
        for row in rows:
            for rival in ("memory", "disk"):
                row[f"times_{rival}"] = round(row["seconds_a_pass"] / times[rival], 2) if rival in times else ""
            row["million_a_second"] = round(size / row["seconds_a_pass"] / 1e6, 2)
            print(row, flush=True)
        assert len({row["log_posterior"] for row in rows}) == 1, "engines differ"
        write_results("scale_engines", rows, replacing="key")


if __name__ == "__main__":
    main()
