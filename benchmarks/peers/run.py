"""The fair match: every method on the same cases, each in the environment it needs.

    python -m benchmarks.peers.run --small                      simulated people, two seeds, a few minutes
    python -m benchmarks.peers.run --data FOLDER --small        four small sets, two seeds
    python -m benchmarks.peers.run --data FOLDER --seeds 10     the full match; goes on where it stopped

Writes results/peers_simulated.csv, peers_small.csv or peers.csv (a row for every case and method) and the table as .md;
with --sets, --methods or --tasks, files of the same names and _part, so that a part does not replace the whole.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.common import RESULTS, parser_of, write_results
from benchmarks.peers.case import read_about, read_answers
from benchmarks.peers.environments import PINS, build, python_of
from benchmarks.peers.methods import METHODS, code_of
from benchmarks.peers.prepare import TASKS, prepare, tasks_of
from benchmarks.peers.score import score
from benchmarks.peers.sets import SETS, SIMULATED, SMALL, read_people
from benchmarks.peers.table import write_table

CASE = ("set", "task", "given", "seed", "method")
SMALL_PAIRS, FULL_PAIRS, SMALL_USERS, SMALL_SEEDS = 60, 200, 500, 2
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PLURANK_NUM_THREADS", "POLARS_MAX_THREADS")


def prepare_cases(given: argparse.Namespace) -> list[Path]:
    """Write all cases that are not there yet; give their folders, seed by seed: a run cut short has whole seeds."""
    folders = []
    everybody = {name: read_people(name, given.data, given.most_users) for name in given.sets}
    for seed in range(given.seeds):
        for name, people in everybody.items():
            for task in (task for task in tasks_of(people) if task in given.tasks):
                folder = given.work / name.replace(" ", "-") / task.replace(" ", "-") / str(seed)
                folders.append(folder)
                if not (folder / "case.json").exists():
                    about = {"set": name, "most_users": given.most_users}
                    prepare(folder, people, task, seed, given.most_pairs, about)
                check_sizes(folder, given)
    return folders


def check_sizes(folder: Path, given: argparse.Namespace) -> None:
    """Stop where a case of other sizes lies in the folder: its users are other people."""
    about = read_about(folder)
    for name in ("most_users", "most_pairs"):
        if about.get(name) != getattr(given, name):
            said = f"--{name.replace('_', '-')}"
            sys.exit(
                f"{folder} is of a match with {said} {about.get(name)}, expected {getattr(given, name)}. "
                "Say the same sizes, or --work with another folder."
            )


def jobs_of(folders: list[Path], methods: list[str]) -> Iterator[tuple[str, Path]]:
    """Every method on every case it can take part in."""
    for folder in folders:
        rated, new = (folder / "ratings.parquet").exists(), read_about(folder)["task"] == "new users"
        for name in methods:
            method = METHODS[name]
            takes_set = not method.sets or read_about(folder)["set"] in method.sets
            if takes_set and (method.track == "comparisons" or rated) and (method.takes_new_users or not new):
                yield name, folder


def run_jobs(jobs: list[tuple[str, Path]], given: argparse.Namespace) -> None:
    """Build the environments and run what has not been run."""
    needed = {METHODS[name].environment for name, _ in jobs}
    for environment in PINS:
        if environment in needed:
            build(environment, given.environments)
    with ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(lambda job: run_job(*job, given.environments, given.threads, given.minutes), jobs))


def run_job(name: str, folder: Path, environments: Path, threads: int, minutes: float) -> None:
    """Run one method on one case unless its present code has; a failure is kept beside and does not stop the match."""
    done, failed = folder / f"{name}.json", folder / f"{name}.failed"
    if done.exists() and json.loads(done.read_text()).get("code") == code_of(name):
        return
    for earlier in (done, failed, folder / f"{name}.parquet"):
        earlier.unlink(missing_ok=True)
    python = python_of(METHODS[name].environment, environments)
    if python is None:
        failed.write_text(f"environment {METHODS[name].environment} could not be built")
        return
    command = [str(python), "-m", "benchmarks.peers.worker", name, str(folder), "--threads", str(threads)]
    environment = {**os.environ, **{variable: str(threads) for variable in THREADS}}
    try:
        out = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=60 * minutes, check=False
        )
        reason = "" if out.returncode == 0 else (out.stderr.strip().splitlines() or ["no message"])[-1]
    except subprocess.TimeoutExpired:
        reason = f"not done after {minutes:g} minutes"
    if reason:
        failed.write_text(reason)
    print(f"{folder}: {name} {f'failed: {reason}' if reason else 'done'}", flush=True)


def rows_of(name: str, folder: Path) -> Iterator[dict[str, Any]]:
    """Score a method on a case: a row for each number of comparisons given."""
    about, report = read_about(folder), json.loads((folder / f"{name}.json").read_text())
    answers = read_answers(folder)
    n_train = pl.scan_parquet(folder / "train.parquet").select(pl.len()).collect().item()
    for given in about["given"]:
        own = pl.read_parquet(folder / f"{name}.parquet").filter(pl.col("given") == given)
        figures = score(own["probability"].to_numpy(), answers)
        raw = score(own["raw"].to_numpy(), answers)["log_likelihood"] if METHODS[name].track == "comparisons" else None
        yield {
            "set": about["set"], "task": about["task"], "given": given, "seed": about["seed"],
            "track": METHODS[name].track, "method": name, "n_users": about["n_users"], "n_items": about["n_items"],
            "n_train": n_train, "n_questions": len(answers), "most_pairs": about["most_pairs"],
            **{figure: round(value, 5) for figure, value in figures.items()},
            "raw_log_likelihood": "" if raw is None else round(raw, 5), "slope": round(report["slopes"][str(given)], 4),
            "setting": json.dumps(report["setting"]).replace('"', ""), "fit_seconds": round(report["fit_seconds"], 3),
            "tune_seconds": round(report["tune_seconds"], 2), "peak_mib": round(report["peak_mib"], 1),
            "threads": report["threads"], "peer_versions": report["peer_versions"],
            "code": report["code"],
        }  # fmt: skip


def earlier_rows(files: list[Path], rows: list[dict[str, Any]], given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Rows of earlier results of the same cases, by methods whose code has not changed and which have not run."""
    found = {tuple(row[name] for name in CASE) for row in rows}
    sizes = {(row["set"], row["task"], row["given"], row["seed"]): row["n_questions"] for row in rows}
    for file in files:
        for row in pl.read_csv(file).drop("cores", "python", "versions").iter_rows(named=True):
            case = tuple(row[name] for name in CASE)
            is_same = row["method"] in METHODS and row["code"] == code_of(row["method"])
            is_same &= row["seed"] < given.seeds
            if case not in found and is_same and row["set"] in given.sets and row["most_pairs"] == given.most_pairs:
                if sizes.get(case[:-1], row["n_questions"]) != row["n_questions"]:
                    sys.exit(f"{file.name} has other questions of {case}. Leave it out of --earlier.")
                found.add(case)
                yield {name: "" if value is None else value for name, value in row.items()}


def parse() -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, help="folder with a folder for every set; without it a simulated set")
    parser.add_argument("--small", action="store_true", help="two seeds, small sets, fewer users and pairs")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--sets", nargs="+", choices=[*SETS, SIMULATED])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--most-pairs", type=int, help=f"training pairs a user: {FULL_PAIRS}, small {SMALL_PAIRS}")
    parser.add_argument("--most-users", type=int, help=f"users of a set: all, small {SMALL_USERS}")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="methods at the same time; above 1 times cannot be trusted")
    parser.add_argument(
        "--earlier", type=Path, nargs="+", default=[],
        help="results (CSV) whose rows are taken over where a method has not run and its code is still the same",
    )  # fmt: skip
    parser.add_argument("--table", action="store_true", help="run nothing, make the table of what has been run")
    parser.add_argument("--minutes", type=float, default=120.0, help="that a method may take for a case")
    parser.add_argument("--environments", type=Path, default=Path(os.environ.get("PLURANK_PEERS", ".peers")))
    parser.add_argument("--work", type=Path, help="folder for cases and predictions")
    given = parser.parse_args()
    given.name = "peers_simulated" if given.data is None else "peers_small" if given.small else "peers"
    if given.sets or set(given.methods) != set(METHODS) or set(given.tasks) != set(TASKS):
        given.name += "_part"
    given.seeds = given.seeds or (SMALL_SEEDS if given.small else 10)
    given.most_pairs = given.most_pairs or (SMALL_PAIRS if given.small else FULL_PAIRS)
    given.most_users = given.most_users or (SMALL_USERS if given.small else None)
    given.sets = given.sets or ([SIMULATED] if given.data is None else list(SMALL if given.small else SETS))
    given.work = given.work or given.environments / "work" / given.name.removesuffix("_part")
    return given


def main() -> None:
    given = parse()
    folders = prepare_cases(given)
    jobs = list(jobs_of(folders, given.methods))
    if not given.table:
        run_jobs(jobs, given)
    rows = [row for name, folder in jobs if (folder / f"{name}.json").exists() for row in rows_of(name, folder)]
    if not rows:
        sys.exit("no method could take part; the reasons are in the .failed files of " + str(given.work))
    rows += list(earlier_rows(given.earlier, rows, given))
    write_results(given.name, rows)
    write_table(RESULTS / f"{given.name}.md", folders, rows, command_of(given))


def command_of(given: argparse.Namespace) -> str:
    """Give the command that makes this table: its sizes, and of a part which sets and methods it has."""
    words = ["python -m benchmarks.peers.run", *(["--small"] if given.small else [])]
    words += ["--data FOLDER"] if given.data else []
    words += [] if given.small and given.seeds == SMALL_SEEDS else [f"--seeds {given.seeds}"]
    if not given.small:
        words += [f"--most-pairs {given.most_pairs}"]
        words += [f"--most-users {given.most_users}"] if given.most_users else []
    if given.name.endswith("_part"):
        words += ["--sets", *(f"'{name}'" for name in given.sets), "--methods", *given.methods]
        words += ["--tasks", *(f"'{name}'" for name in given.tasks)] if set(given.tasks) != set(TASKS) else []
    if given.earlier:
        words += ["--earlier", *(file.name for file in given.earlier)]
    return " ".join(words)


if __name__ == "__main__":
    main()
