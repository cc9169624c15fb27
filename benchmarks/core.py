"""The native core against version 0.1.0, both in one run: first fit, passes, complete fits, selection, extremes, size.

    python -m benchmarks.core [--data FOLDER] [--only first passes ...] [--rounds 3]

Version 0.1.0 is taken from its commit and installed into an environment of its own, the present one likewise, both
below ``.peers``. Cases run in turns, each in a process of its own; the least processor time of the rounds counts, since
noise only ever adds. FOLDER as for benchmarks.movielens. ``topics`` needs the packages of the ``bench`` extra.

first:     from the start of Python to the end of the first fit after installation, 16,000 comparisons, three rankings
passes:    one pass, ns per comparison and thread, 3, 10 and 20 rankings, both mixings
fits:      complete fits of 16,000, 200,000 and 2.4 million simulated comparisons, and of MovieLens' top 100
shared:    two fits of 200,000 comparisons at once on the same cores, against one alone
topics:    2.4 million comparisons against tomotopy (500 iterations) and scikit-learn's LDA (30 iterations)
select:    select_rankings with 1 to 10 rankings and both mixings, in fits
extremes:  a million items; a million users with two comparisons each
detection: fits of TopicRanking(detection="projections") to 6 million comparisons: 100 items and 10 rankings, against
           what that was in 0.1.0 (the algorithm as printed); 2,000 items and 5 rankings, with peak memory
size:      installed size, and the fit of an installation without a compiler
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.common import parser_of, peak_gib, write_results

ROOT = Path(__file__).parents[1]
PEERS = ROOT / ".peers"
BEFORE = "44832e8"  # the commit of version 0.1.0
N_SEEDS = 3
PARTS = ("first", "passes", "fits", "shared", "topics", "select", "extremes", "detection", "size")
Row = dict[str, Any]
STARTED = time.perf_counter()


SIZES = {  # of simulated people: users, items, rankings, comparisons each
    "16k": (400, 30, 3, 40),
    "200k": (1000, 100, 3, 200),
    "2.4M": (10_000, 100, 10, 300),
}


def people(case: str) -> tuple[Any, Any]:
    """Comparisons to fit and comparisons held out."""
    import numpy as np

    import plurank

    n_users, n_items, n_rankings, each = SIZES[case]
    leads = 1.0 / (1.0 + np.exp(-5.0 * np.arange(1, n_items) / (n_items - 1)))
    made = plurank.simulate(n_users, n_items, n_rankings, each, 1.0, 0, lead_probabilities=leads)
    return made.comparisons.split(0.2, random_state=0) if case == "2.4M" else (made.comparisons, None)


def movielens(folder: Path) -> tuple[Any, Any]:
    """The 100 most rated movies of MovieLens-1M, as ``benchmarks.movielens`` has them."""
    from benchmarks.movielens import read

    trains, test = read(folder)
    return trains["top 100"], test


def time_fit(n_rankings: int, train: Any, test: Any, *, seed: int = 0, **parameters: Any) -> Row:
    import plurank

    wall, cpu = time.perf_counter(), time.process_time()
    model = plurank.MixedRanking(n_rankings, random_state=seed, **{"mixing": "probability", **parameters}).fit(train)
    row = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    return row | ({} if test is None else {"held_out": model.score(test)})


def first_fit() -> Row:
    """From the start of Python to the end of the first fit of this environment."""
    c, _ = people("16k")
    import plurank

    plurank.MixedRanking(3, mixing="probability", random_state=0).fit(c)
    return {"wall": time.perf_counter() - STARTED, "cpu": time.process_time()}


def fit(case: str, folder: Path | None) -> Row:
    """Complete fits, after one that is not counted; the mean over seeds, which differ in how many passes they take."""
    train, test = movielens(folder) if folder and case == "MovieLens" else people(case)
    n_rankings = 3 if case in ("16k", "200k") else 10
    time_fit(n_rankings, train.block(0, 100), None)
    rows = [time_fit(n_rankings, train, test, seed=seed) for seed in range(N_SEEDS)]
    return {"n": len(train), **{name: sum(row[name] for row in rows) / N_SEEDS for name in rows[0]}}


def time_pass(n_rankings: int, mixing: Any) -> Row:
    """Processor time of one pass with one Newton step a user, ns per comparison, one thread."""
    import numpy as np

    from plurank.mixed.bradley_terry import BradleyTerry

    c, _ = people("200k")
    component = BradleyTerry(np.random.default_rng(0).standard_normal((c.n_items, n_rankings)), mixing)
    init, prior = np.full((c.n_users, n_rankings), 1.0 / n_rankings), np.ones((1, n_rankings))
    times = []
    for _ in range(12):
        begin = time.process_time()
        component.update_memberships(c, init, prior, 1)
        times.append(time.process_time() - begin)
    return {"n": len(c), "cpu": min(times), "ns": 1e9 * min(times) / len(c)}


def select() -> Row:
    """``select_rankings`` over 1 to 10 rankings and both mixings, in fits with three rankings of the same people."""
    import plurank

    c, _ = people("16k")
    time_fit(3, c, None)
    one = min(time_fit(3, c, None, mixing=mixing)["cpu"] for mixing in ("probability", "utility") for _ in range(2))
    begin = time.process_time()
    found = plurank.select_rankings(c, random_state=0)
    cpu = time.process_time() - begin
    return {"cpu": cpu, "fit_cpu": one, "fits": cpu / one, "chosen": f"{found.n_rankings}, {found.mixing}"}


def extreme(what: str) -> Row:
    """A million items with two million comparisons, or a million users with two comparisons each."""
    import numpy as np

    import plurank

    if what == "users":
        c = plurank.simulate(10**6, 50, 3, 2, random_state=0).comparisons
    else:
        rng = np.random.default_rng(0)
        winners = rng.integers(10**6, size=2 * 10**6)
        losers = (winners + rng.integers(1, 10**6, size=winners.size)) % 10**6
        users = np.repeat(np.arange(20_000), 100)
        c = plurank.Comparisons.from_arrays(users, winners, losers, items=np.arange(10**6))
    return {"n": len(c), **time_fit(2, c, None)}


def detect(n_items: str, n_rankings: str) -> Row:
    """Fit of 20,000 users with 300 comparisons each, after one of few users that is not counted; one thread."""
    import plurank

    truth = plurank.simulate(20_000, int(n_items), int(n_rankings), 300, 0.1, 0)
    model = plurank.TopicRanking(int(n_rankings), "projections", random_state=0)
    few = plurank.simulate(2_000, 20, 4, 100, 0.1, 0).comparisons
    plurank.TopicRanking(4, "projections", random_state=0).fit(few)
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(truth.comparisons)
    row = {"n": len(truth.comparisons), "wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    return row | {"gib": peak_gib(), "ranking_error": plurank.ranking_error(model.rankings_, truth.rankings)}


def run(case: str, folder: Path | None) -> None:
    """Run one case with the version of this environment; only what both versions have is used. Prints JSON."""
    warnings.simplefilter("ignore")
    kind, *rest = case.split(":")
    if kind == "pass":
        row = time_pass(int(rest[0]), rest[1])
    elif kind == "fit":
        row = fit(rest[0], folder)
    else:
        row = {"first": first_fit, "select": select, "extreme": extreme, "detect": detect}[kind](*rest)
    print(json.dumps(row))


def sources_of(version: str) -> Path:
    """Export the sources of a version; the present one as it is committed."""
    folder = PEERS / f"core-{version}-source"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    commit = BEFORE if version == "0.1.0" else "HEAD"
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", commit], capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    return folder


def install(version: str, **environment: str) -> Path:
    """Install a version into a new environment without development packages; return its Python."""
    folder = PEERS / f"core-{version}{'-plain' if environment else ''}"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin/python"
    command = [str(python), "-m", "pip", "install", "--quiet", "--no-cache-dir", str(sources_of(version))]
    subprocess.run(command, check=True, env=os.environ | environment)
    return python


def size_of(python: Path) -> float:
    """MiB of all packages but pip and what it brings."""
    packages = next(python.parents[1].glob("lib/python*/site-packages"))
    kept = [folder for folder in packages.iterdir() if not folder.name.startswith(("pip", "setuptools", "_distutils"))]
    files = (file for folder in kept for file in [folder, *folder.rglob("*")])
    return sum(file.stat().st_size for file in files if file.is_file() and "__pycache__" not in file.parts) / 2**20


def work(python: Path, case: str, data: Path | None = None) -> Row:
    """Run one case in one environment."""
    command = [str(python), "-m", "benchmarks.core", "--run", case, *([] if data is None else ["--data", str(data)])]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["OMP_WAIT_POLICY"] = "passive"  # what 0.1.0 needs so as not to wait busily; we do not
    if case.startswith(("pass", "detect")):
        environment |= dict.fromkeys(("NUMBA_NUM_THREADS", "PLURANK_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
    if done.returncode:
        raise SystemExit(f"{case}: {done.stderr[-2000:]}")
    row: Row = json.loads(done.stdout.splitlines()[-1])
    return row


def compare(pythons: dict[str, Path], case: str, rounds: int, data: Path | None = None) -> list[Row]:
    """Run a case with every version in turns, and put the least of each beside the other."""
    found: dict[str, list[Row]] = {version: [] for version in pythons}
    for _ in range(rounds):
        for version, python in pythons.items():
            found[version].append(work(python, case, data))
    best = {version: min(rows, key=lambda row: row["cpu"]) for version, rows in found.items()}
    rows = []
    for version, row in best.items():
        ratio = {"faster": best["0.1.0"]["cpu"] / row["cpu"]} if "0.1.0" in best else {}
        rows.append({"case": case, "version": version, "rounds": rounds, **row, **ratio})
        print(
            {name: round(value, 4) if isinstance(value, float) else value for name, value in rows[-1].items()},
            flush=True,
        )
    return rows


def compare_sharing(pythons: dict[str, Path]) -> list[Row]:
    """Two fits at once: threads that wait busily show as processor time that one fit alone does not take."""
    rows = []
    for version, python in pythons.items():
        alone = work(python, "fit:200k")
        with ThreadPoolExecutor(2) as pool:
            both = list(pool.map(lambda _, python=python: work(python, "fit:200k"), range(2)))
        cpu, wall = sum(row["cpu"] for row in both) / 2, max(row["wall"] for row in both)
        row = {"case": "two fits of 200k at once", "version": version, "cpu": cpu, "wall": wall}
        rows.append(row | {"alone_cpu": alone["cpu"], "alone_wall": alone["wall"], "value": cpu / alone["cpu"]})
        print(rows[-1], flush=True)
    return rows


def compare_topics() -> list[Row]:
    """Tomotopy and scikit-learn on the same comparisons as the 2.4 million of ``fits``."""
    from benchmarks.topic_models import fit_sklearn, fit_tomotopy, held_out, people

    train, test = people(10_000).split(0.2, random_state=0)
    one_process = partial(fit_sklearn, n_jobs=1)  # whose processor time can be measured
    rows = []
    for name, run in (("tomotopy, 500 iterations", fit_tomotopy), ("scikit-learn LDA, 30 iterations", one_process)):
        wall, cpu = time.perf_counter(), time.process_time()
        found = run(train)
        cpu = time.process_time() - cpu
        row = {
            "case": f"fit:2.4M, {name}",
            "version": name,
            "n": len(train),
            "wall": time.perf_counter() - wall,
            "cpu": cpu,
        }
        rows.append(row | {"rounds": 1, "held_out": held_out(*found, train, test)})
        print(rows[-1], flush=True)
    return rows


def without_compiler() -> list[Row]:
    """An installation where no compiler is found fits the people of the demo, and warns."""
    python = install("HEAD", CXX="no-such-compiler")
    done = subprocess.run([str(python.parent / "plurank"), "--version"], capture_output=True, text=True, check=True)
    assert "plain Python" in done.stdout, done.stdout
    folder = PEERS / "core-HEAD-plain"
    people = ["simulate", "--users", "100", "--items", "8", "-k", "2", "--per-user", "20", "-o", "votes.csv"]
    subprocess.run([str(python.parent / "plurank"), *people], check=True, cwd=folder, capture_output=True)
    begin = time.perf_counter()
    fit = [str(python.parent / "plurank"), "fit", "votes.csv", "-k", "2", "-o", "model.plurank"]
    done = subprocess.run(fit, check=True, cwd=folder, capture_output=True, text=True)
    assert "no native library" in done.stderr, done.stderr
    return [{"case": "fit without a compiler", "version": "HEAD", "wall": time.perf_counter() - begin}]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--run", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        run(options.run, options.data)
        return
    pythons = {version: install(version) for version in ("0.1.0", "HEAD")}
    rows = [{"case": "installed, MiB", "version": v, "value": size_of(python)} for v, python in pythons.items()]
    if "first" in options.only:  # the first use of both environments
        rows += compare(pythons, "first", 1)
        rows += [{"case": "second process", "version": v, **work(p, "first")} for v, p in pythons.items()]
    if "passes" in options.only:
        for mixing in ("probability", "utility"):
            for n_rankings in (3, 10, 20):
                rows += compare(pythons, f"pass:{n_rankings}:{mixing}", options.rounds)
    if "fits" in options.only:
        for case in ("16k", "200k", "2.4M", *(["MovieLens"] if options.data else [])):
            rows += compare(pythons, f"fit:{case}", options.rounds, options.data)
    if "shared" in options.only:
        rows += compare_sharing(pythons)
    if "topics" in options.only:
        rows += compare_topics()
    if "select" in options.only:
        rows += compare({"HEAD": pythons["HEAD"]}, "select", 1)
    if "extremes" in options.only:
        for what in ("items", "users"):
            rows += compare(pythons, f"extreme:{what}", 1)
    if "detection" in options.only:
        rows += compare(pythons, "detect:100:10", options.rounds)
        rows += compare({"HEAD": pythons["HEAD"]}, "detect:2000:5", 1)
    if "size" in options.only:
        rows += without_compiler()
    write_results("core", rows, replacing="case")


if __name__ == "__main__":
    main()
