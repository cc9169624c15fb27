"""Data at the edges of what there is: each model works, or says in a sentence why not.

    python -m tests.long.extremes [--only NAME ...] [--minutes 10]

Every fit runs in a process of its own, for some minutes at most. Kept are how it went (fitted, the sentence, or that
it had not ended), seconds and the peak of memory with the data in it. What the model says of such data is checked: all
numbers are finite, weights add up to 1, where everybody agrees the order is theirs, and where every comparison is
contradicted no prediction is far from a half.
"""

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np

import plurank
from benchmarks.common import parser_of, peak_gib, write_results
from plurank import Comparisons
from plurank.models.base import RankingModel
from tests.long import RESULTS

MODELS: dict[str, Callable[[], RankingModel]] = {
    "MixedRanking(2)": lambda: plurank.MixedRanking(2, mixing="probability", random_state=0),
    "MixedRanking(2, utility)": lambda: plurank.MixedRanking(2, mixing="utility", random_state=0),
    "MixedRanking(1)": lambda: plurank.MixedRanking(1, random_state=0),
    "MixedRanking(1, mallows)": lambda: plurank.MixedRanking(1, "mallows", random_state=0),
    "TopicRanking(2)": lambda: plurank.TopicRanking(2, random_state=0),
    "SingleRanking()": lambda: plurank.SingleRanking(),
}


def many_items(n: int = 10**6) -> Comparisons:
    """Draw a million items and two million comparisons of 20,000 people."""
    rng = np.random.default_rng(0)
    winners = rng.integers(n, size=2 * n)
    losers = (winners + rng.integers(1, n, size=winners.size)) % n
    return Comparisons.from_arrays(np.repeat(np.arange(n // 50), 100), winners, losers, items=np.arange(n))


def one_user(n: int = 10**7) -> Comparisons:
    """Draw ten million comparisons of 100 items by one person."""
    rng = np.random.default_rng(0)
    first = rng.integers(100, size=n)
    second = (first + rng.integers(1, 100, size=first.size)) % 100
    wins = rng.random(first.size) < 1.0 / (1.0 + np.exp((first - second) / 20.0))
    return Comparisons.from_arrays(
        np.zeros(first.size, int), np.where(wins, first, second), np.where(wins, second, first)
    )


def many_users(n: int = 10**6) -> Comparisons:
    """Draw a million people with two comparisons each, of 50 items."""
    return plurank.simulate(n, 50, 3, 2, random_state=0).comparisons


def identical() -> Comparisons:
    """Let 1,000 people all say the same of ten items, every pair."""
    low, high = np.triu_indices(10, 1)
    users = np.repeat(np.arange(1000), len(low))
    return Comparisons.from_arrays(users, np.tile(low, 1000), np.tile(high, 1000))


def contradictory() -> Comparisons:
    """Let 1,000 people each say both orders of every pair of ten items."""
    low, high = np.triu_indices(10, 1)
    users = np.repeat(np.arange(1000), 2 * len(low))
    winners, losers = np.concatenate([low, high]), np.concatenate([high, low])
    return Comparisons.from_arrays(users, np.tile(winners, 1000), np.tile(losers, 1000))


DATA: dict[str, Callable[[], Comparisons]] = {
    "10^6 items": many_items,
    "one user, 10^7 comparisons": one_user,
    "10^6 users, two comparisons each": many_users,
    "all users identical": identical,
    "all comparisons contradictory": contradictory,
}


def check(model: RankingModel, c: Comparisons, data: str) -> None:
    """Raise where the model says what cannot be."""
    assert np.isfinite(model.user_weights_).all()
    np.testing.assert_allclose(model.user_weights_.sum(axis=1), 1.0)
    some = c.to_frame().head(1000)
    p = model.predict_proba(some.rename({"winner": "left", "loser": "right"}))
    assert np.isfinite(p).all()
    if data == "all users identical":
        assert (model.rankings_ == np.arange(10)).all()
        assert (p > 0.9).all()
    if data == "all comparisons contradictory":
        assert (np.abs(p - 0.5) < 0.1).all()


def fit(data: str, name: str, c: Comparisons) -> str:
    """Fit and check; say how it went: "fitted", or the sentence of the error."""
    try:
        model = MODELS[name]().fit(c)
    except plurank.PlurankError as error:
        return str(error)
    check(model, c, data)
    return "fitted"


def run(data: str, name: str) -> None:
    """Make the data, fit, check; say how it went as JSON."""
    warnings.simplefilter("ignore")
    c = DATA[data]()
    begin = time.perf_counter()
    outcome = fit(data, name, c)
    taken = time.perf_counter() - begin
    print(json.dumps({"outcome": outcome, "seconds": round(taken, 1), "peak_gib": round(peak_gib(), 2)}))


def main() -> None:
    """Fit every model to all data, each in a process of its own."""
    parser = parser_of(__doc__)
    parser.add_argument("--only", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--minutes", type=float, default=10.0, help="that a fit may take, its data included")
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        run(*given.run)
        return
    failures = 0
    for data in given.only:
        for name in MODELS:
            row = {"case": f"{data}, {name}", "data": data, "model": name}
            command = [sys.executable, "-m", "tests.long.extremes", "--run", data, name]
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, check=False, timeout=60.0 * given.minutes
                )
            except subprocess.TimeoutExpired:
                row["outcome"] = f"not ended after {given.minutes:g} minutes"
            else:
                if done.returncode:
                    failures += 1
                    print(f"{data}, {name}: {done.stderr[-2000:] or done.returncode}", flush=True)
                    continue
                row |= json.loads(done.stdout)
            print(row, flush=True)
            write_results("extremes", [row], replacing="case", folder=RESULTS)
    sys.exit(failures)


if __name__ == "__main__":
    main()
