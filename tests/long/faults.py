"""Processes killed at random moments: nothing acknowledged is lost, nothing half-written is accepted.

    python -m tests.long.faults [--kills 100] [--seed 0]

A process of each kind does its work over and over and tells every step it has finished; at a random moment it is
killed with SIGKILL. Then what is on disk is looked at, and the work goes on:

- save: a model is saved to the same file again and again. The file is the one acknowledged last, or the next one.
- ingest: files become a store. It is not there, or whole; the same ingest goes on and ends with the same bytes.
- fit: with checkpoints. It resumes, and the model has the same scores as one that was never stopped.
- feedback: a service of two workers keeps answers of eight senders. Every answer with status 201 is in the database.

Any broken promise ends the program with status 1. Linux and macOS.
"""

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import numpy as np

import plurank
from benchmarks.common import parser_of, write_results
from plurank.store.batches import Budget
from plurank.store.ingest import build_store
from plurank.types import silent
from plurank.web.database import FeedbackStore, GivenAnswer
from tests.long import RESULTS
from tests.web.servers import kill_all, senders, started

SMALL = Budget(data_bytes=10**9, text_bytes=30_000, batch_rows=2_000, shard_rows=3_000)  # many small steps
KINDS = ("save", "ingest", "fit", "feedback")


class Broken(Exception):
    """A promise that was not kept."""


def claim(is_kept: bool, promise: str) -> None:
    if not is_kept:
        raise Broken(promise)


def say(step: object) -> None:
    print(step, flush=True)


# what the processes that are killed do; each begins with a line and ends with "done"


def save_again_and_again(folder: Path) -> None:
    model = plurank.load(folder / "first.plurank")
    say("ready")
    for n in count(int((folder / "next").read_text())):
        model.random_state = n
        model.save(folder / "model.plurank")
        say(n)


def ingest_once(folder: Path) -> None:
    say("ready")
    build_store([folder / "a.csv", folder / "b.csv"], folder / "x.store", None, "half", SMALL, False, silent)
    say("done")


def make_fit() -> plurank.MixedRanking:
    return plurank.MixedRanking(
        3, mixing="utility", random_state=0, tol=1e-9, max_iter=40, concentration=1, score_scale=1
    )


def fit_once(folder: Path) -> None:
    warnings.simplefilter("ignore")
    store, kept = plurank.open_store(folder / "votes.store"), folder / "fit"
    say("ready")
    resume = (kept / "checkpoint.npz").exists()
    make_fit().fit(store, checkpoint=kept, resume=resume, on_progress=lambda *_: say("pass")).save(folder / "m.plurank")
    say("done")


WORK: dict[str, Callable[[Path], None]] = {"save": save_again_and_again, "ingest": ingest_once, "fit": fit_once}


def run_and_kill(kind: str, folder: Path, seconds: float | None) -> list[str]:
    """Start a process, kill it so many seconds after it is ready, or let it end; give what it said."""
    command = [sys.executable, "-m", "tests.long.faults", "--work", kind, str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    first = process.stdout.readline()
    if seconds is not None:
        time.sleep(seconds)
        process.kill()
    said, complaint = process.communicate()
    claim(first == "ready\n" and "Traceback" not in complaint, f"{kind} failed by itself: {complaint[-500:]}")
    return [line for line in said.split("\n")[:-1] if line]  # the last one may be cut


def run_whole(kind: str, folder: Path) -> float:
    """Run to the end, and give the seconds that took: kills come within them, however busy the machine is."""
    begin = time.monotonic()
    claim(run_and_kill(kind, folder, None)[-1] == "done", f"{kind} did not end")
    return time.monotonic() - begin


# what is looked at after a kill; each gives how it went, in a word


def kill_saving(folder: Path, draw: random.Random) -> Iterator[str]:
    simulated = plurank.simulate(400, 30, 3, 20, random_state=0)
    fit_small(simulated.comparisons).save(folder / "first.plurank")
    acknowledged = -1
    while True:
        (folder / "next").write_text(str(acknowledged + 1))
        said = run_and_kill("save", folder, draw.uniform(0, 0.5))
        acknowledged = int(said[-1]) if said else acknowledged
        found = plurank.load(folder / "model.plurank").random_state if (folder / "model.plurank").exists() else -1
        claim(found in (acknowledged, acknowledged + 1), f"model {acknowledged} was saved, found {found}")
        acknowledged = found
        halves = [path for path in folder.iterdir() if path.name.endswith(".part")]
        for half in halves:  # hidden, and never read
            half.unlink()
        yield "between files" if halves else "between saves"


def fit_small(comparisons: plurank.Comparisons) -> plurank.MixedRanking:
    warnings.simplefilter("ignore")  # that it stops early is meant
    return plurank.MixedRanking(
        2, mixing="probability", init="items", concentration=1, score_scale=1, max_iter=5, random_state=0
    ).fit(comparisons)


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def kill_ingesting(folder: Path, draw: random.Random) -> Iterator[str]:
    frame = plurank.simulate(2_000, 50, 3, 20, random_state=1).comparisons.to_frame()
    frame[:25_000].write_csv(folder / "a.csv")
    frame[25_000:].write_csv(folder / "b.csv")
    whole = run_whole("ingest", folder)
    expected = content(folder / "x.store")
    shutil.rmtree(folder / "x.store")
    while True:
        done = run_and_kill("ingest", folder, draw.uniform(0, whole))
        if (folder / "x.store").exists():
            claim(content(folder / "x.store") == expected, "a store is there and is not the whole one")
            for rest in (folder / "x.store", folder / "x.store.part"):
                shutil.rmtree(rest, ignore_errors=True)
            yield "finished" if done else "at the end"
        else:
            claim(not done, "an ingest said it was done and left no store")
            yield "on the way"


def kill_fitting(folder: Path, draw: random.Random) -> Iterator[str]:
    simulated = plurank.simulate(3_000, 40, 3, 40, random_state=2)
    simulated.comparisons.to_frame().write_csv(folder / "votes.csv")
    plurank.ingest(folder / "votes.csv", folder / "votes.store")
    whole = run_whole("fit", folder)
    expected = plurank.load(folder / "m.plurank")
    forget_fit(folder)
    while True:
        said = run_and_kill("fit", folder, draw.uniform(0, whole))
        if (folder / "m.plurank").exists():
            found = plurank.load(folder / "m.plurank")
            same = np.array_equal(found.scores_, expected.scores_) and np.array_equal(
                found.user_weights_, expected.user_weights_
            )
            claim(same, "a fit that was killed and went on has another answer")
            forget_fit(folder)
            yield "finished"
        else:
            claim("done" not in said, "a fit said it was done and left no model")
            yield "on the way" if (folder / "fit" / "checkpoint.npz").exists() else "before a checkpoint"


def forget_fit(folder: Path) -> None:
    (folder / "m.plurank").unlink()
    shutil.rmtree(folder / "fit", ignore_errors=True)


def kill_serving(folder: Path, draw: random.Random) -> Iterator[str]:
    model, database = folder / "model.plurank", folder / "answers.db"
    fit_small(plurank.simulate(100, 8, 2, 20, random_state=3).comparisons).save(model)
    total: list[str] = []
    for turn in count():
        with (
            started(model, "--workers", 2, "--feedback", database) as (process, address),
            senders(address, f"turn {turn}, sender", 0, 1) as acknowledged,
        ):
            time.sleep(draw.uniform(0, 1))
            kill_all(process)
        total += acknowledged
        store = FeedbackStore(str(database))
        kept = set(store.add([GivenAnswer(id, id.split("-")[0], 0, 1) for id in total]))
        claim(kept <= {"known"}, "an answer was acknowledged and is lost")
        store.close()
        yield f"{len(acknowledged)} acknowledged"


KILL = {"save": kill_saving, "ingest": kill_ingesting, "fit": kill_fitting, "feedback": kill_serving}


def kill_often(kind: str, n: int, seed: int) -> dict[str, object]:
    found: dict[str, int] = {}
    acknowledged, begin = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        outcomes = KILL[kind](Path(folder), random.Random(f"{kind} {seed}"))
        for _ in range(n):
            outcome = next(outcomes)
            if outcome.endswith(" acknowledged"):
                acknowledged, outcome = acknowledged + int(outcome.split()[0]), "serving"
            found[outcome] = found.get(outcome, 0) + 1
            print(kind, found, flush=True)
    moments = "; ".join(f"{times} {outcome}" for outcome, times in sorted(found.items()))
    took = round(time.monotonic() - begin, 1)
    return {
        "kind": kind, "kills": n, "broken_promises": 0, "killed": moments, "acknowledged_answers": acknowledged,
        "seed": seed, "seconds": took,
    }  # fmt: skip


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--kills", type=int, default=100, help="over all kinds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        WORK[given.work[0]](Path(given.work[1]))
        return
    try:
        rows = [kill_often(kind, -(-given.kills // len(KINDS)), given.seed) for kind in KINDS]
    except Broken as broken:
        sys.exit(f"broken: {broken}")
    write_results("faults", rows, replacing="kind", folder=RESULTS)


if __name__ == "__main__":
    main()
