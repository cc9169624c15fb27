"""MixedRanking against topic models on the same comparisons, and how its time and memory grow.

    python -m benchmarks.topic_models [--data FOLDER]

Comparisons of 10,000 simulated people and, where there is a FOLDER as for benchmarks.movielens, of MovieLens-1M's 100
most rated movies. Rivals: scikit-learn's LDA (30 iterations) and tomotopy (500 iterations, two workers), each ordered
pair a word; a pair (i, j) is predicted by the share of (i, j) in the user's mixture of (i, j) and (j, i). All with K =
10. Fits are timed without import.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import tomotopy
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.decomposition import LatentDirichletAllocation

import plurank
from benchmarks.common import parser_of, seconds, write_results
from benchmarks.movielens import read
from plurank.mixed.bradley_terry import BradleyTerry

K = 10
Floats = NDArray[np.float64]


def people(n_users: int) -> plurank.Comparisons:
    leads = 1.0 / (1.0 + np.exp(-5.0 * np.arange(1, 100) / 99.0))
    return plurank.simulate(n_users, 100, K, 300, 1.0, 0, lead_probabilities=leads).comparisons


def words_of(c: plurank.Comparisons) -> NDArray[np.int64]:
    return c.winners.astype(np.int64) * c.n_items + c.losers


def held_out(topics: Floats, mixtures: Floats, train: plurank.Comparisons, test: plurank.Comparisons) -> float:
    """Mean log-likelihood of test comparisons under topics (K, Q^2) and mixtures of the training users (M, K)."""
    rows = {user: row for row, user in enumerate(train.users.tolist())}
    users = np.array([rows.get(user, -1) for user in test.users.tolist()])[test.user_of_each()]
    own = np.where((users >= 0)[:, None], mixtures[users], mixtures.mean(axis=0))
    forward, backward = words_of(test), test.losers.astype(np.int64) * test.n_items + test.winners
    there, back = ((own * topics[:, words].T).sum(axis=1) for words in (forward, backward))
    return plurank.log_likelihood(there / (there + back))


def fit_sklearn(train: plurank.Comparisons, n_jobs: int = 2) -> tuple[Floats, Floats]:
    shape = (train.n_users, train.n_items**2)
    counts = csr_array((np.ones(len(train)), words_of(train), train.offsets.copy()), shape=shape)
    model = LatentDirichletAllocation(K, max_iter=30, random_state=0, n_jobs=n_jobs)
    mixtures = model.fit_transform(counts)
    return model.components_ / model.components_.sum(axis=1, keepdims=True), mixtures


def fit_tomotopy(train: plurank.Comparisons) -> tuple[Floats, Floats]:
    model = tomotopy.LDAModel(k=K, seed=0)
    words = words_of(train).astype(str).tolist()
    for begin, end in zip(train.offsets[:-1], train.offsets[1:], strict=True):
        model.add_doc(words[begin:end])
    model.train(500, workers=2)
    topics = np.full((K, train.n_items**2), 1e-12)
    topics[:, [int(word) for word in model.used_vocabs]] = [model.get_topic_word_dist(k) for k in range(K)]
    return topics, np.array([doc.get_topic_dist() for doc in model.docs])


def rivals(data: str, train: plurank.Comparisons, test: plurank.Comparisons) -> list[dict[str, object]]:
    rows = []
    fits = {
        "MixedRanking, probability": {},
        "MixedRanking, utility": {"mixing": "utility"},
        "MixedRanking, probability, priors given, start items": {
            "concentration": 1.0,
            "score_scale": 1.0,
            "init": "items",
        },
    }
    for name, parameters in fits.items():
        begin = time.perf_counter()
        model = plurank.MixedRanking(K, random_state=0, **{"mixing": "probability", **parameters}).fit(train)
        took = time.perf_counter() - begin
        rows.append({"what": name, "data": data, "n": len(train), "seconds": took, "held_out": model.score(test)})
    for name, fit in (("scikit-learn LDA, 30 iterations", fit_sklearn), ("tomotopy, 500 iterations", fit_tomotopy)):
        begin = time.perf_counter()
        found = fit(train)
        took = time.perf_counter() - begin
        likelihood = held_out(*found, train, test)
        rows.append({"what": name, "data": data, "n": len(train), "seconds": took, "held_out": likelihood})
    ours = rows[0]["seconds"]
    for row in rows:
        row["ratio"] = row["seconds"] / ours
        print(row, flush=True)
    return rows


def pass_seconds(c: plurank.Comparisons, mixing: str = "probability") -> float:
    rng = np.random.default_rng(0)
    component = BradleyTerry(rng.standard_normal((c.n_items, K)), mixing)
    start, prior = np.full((c.n_users, K), 1.0 / K), np.full((1, K), 1.0)
    component.update_memberships(c, start, prior, 1)
    return seconds(lambda: component.update_memberships(c, start, prior, 1), repeats=5)


def growth(c: plurank.Comparisons) -> list[dict[str, object]]:
    """Time a pass over the comparisons and over ten times as many."""
    rows = []
    tenth = c.block(0, c.n_users // 10)
    for mixing in ("probability", "utility"):
        small, large = pass_seconds(tenth, mixing), pass_seconds(c, mixing)
        rows += [
            {"what": f"comparisons a second and pass, {mixing}", "value": len(c) / large},
            {"what": f"ten times the comparisons, {mixing}", "ratio": large / small * len(tenth) * 10 / len(c)},
        ]
    block = np.ones(50_000_000)
    copy = np.empty_like(block)
    rows.append(
        {
            "what": "memory bandwidth, bytes a second (copy)",
            "value": 2 * block.nbytes / seconds(lambda: np.copyto(copy, block), 5),
        }
    )
    return rows


def threads() -> list[dict[str, object]]:
    """Time a pass with one and with two threads, each in a process of its own."""
    code = (
        "from benchmarks.topic_models import *; c = people(10_000); print(pass_seconds(c), pass_seconds(c, 'utility'))"
    )
    times = {}
    for n in (1, 2):
        environment = {**os.environ, "PLURANK_NUM_THREADS": str(n)}
        out = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        times[n] = [float(value) for value in out.stdout.split()]
    mixings = ("probability", "utility")
    return [
        {"what": f"two threads against one, {m}", "ratio": a / b}
        for m, a, b in zip(mixings, times[1], times[2], strict=True)
    ]


def memory() -> list[dict[str, object]]:
    """Peak memory of a fit of 10 million comparisons beyond the comparisons themselves."""
    code = (
        "from benchmarks.common import *; from benchmarks.topic_models import *; c = people(33_334); "
        "plurank.MixedRanking(2, max_iter=5, random_state=0).fit(people(300)); "
        "forget_peak(); before = memory_kib('VmRSS'); "
        "plurank.MixedRanking(K, concentration=1.0, spread=1.0, max_iter=10, random_state=0).fit(c); "
        "print((memory_kib('VmHWM') - before) * 1024)"
    )
    out = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    return [{"what": "memory beyond the data, 10 million comparisons, GiB", "value": float(out.stdout) / 2**30}]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path)
    data = parser.parse_args().data
    found = rivals("simulated", *people(10_000).split(0.2, random_state=0))
    if data is not None:
        trains, test = read(data)
        found += rivals("MovieLens-1M", trains["top 100"], test)
    rows = [{"what": "", "data": "", "n": "", "seconds": "", "held_out": "", "ratio": "", "value": "", **row}
            for row in [*found, *growth(people(33_334)), *threads(), *memory()]]  # fmt: skip
    rows = [
        {name: round(value, 4) if isinstance(value, float) else value for name, value in row.items()} for row in rows
    ]
    for row in rows:
        print({name: value for name, value in row.items() if value != ""}, flush=True)
    write_results("topic_models", rows)


if __name__ == "__main__":
    main()
