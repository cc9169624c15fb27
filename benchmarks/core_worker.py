"""What ``benchmarks.core`` runs in an environment that has one version of plurank: python core_worker.py CASE [DATA].

Prints one row as JSON. Uses only what both versions have.
"""

import json
import os
import sys
import time
import warnings
from pathlib import Path

SIZES = {  # of simulated people: users, items, rankings, comparisons each
    "16k": (400, 30, 3, 40),
    "200k": (1000, 100, 3, 200),
    "2.4M": (10_000, 100, 10, 300),
}


def people(case):
    """Comparisons to fit and comparisons held out."""
    import numpy as np

    import plurank

    n_users, n_items, n_rankings, each = SIZES[case]
    leads = 1.0 / (1.0 + np.exp(-5.0 * np.arange(1, n_items) / (n_items - 1)))
    made = plurank.simulate(n_users, n_items, n_rankings, each, 1.0, 0, lead_probabilities=leads)
    return made.comparisons.split(0.2, random_state=0) if case == "2.4M" else (made.comparisons, None)


def movielens(folder):
    """The 100 most rated movies of MovieLens-1M, as ``benchmarks.movielens`` has them."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from benchmarks.movielens import read

    trains, test = read(Path(folder))
    return trains["top 100"], test


def time_fit(n_rankings, train, test, **parameters):
    import plurank

    wall, cpu = time.perf_counter(), time.process_time()
    model = plurank.MixedRanking(n_rankings, random_state=0, **parameters).fit(train)
    row = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    return row | ({} if test is None else {"held_out": model.score(test)})


def first_fit():
    """From the start of Python to the end of the first fit of this environment."""
    c, _ = people("16k")
    import plurank

    plurank.MixedRanking(3, random_state=0).fit(c)
    return {"wall": time.perf_counter() - STARTED, "cpu": time.process_time()}


def fit(case, folder):
    """A complete fit, the second of its process."""
    train, test = movielens(folder) if case == "MovieLens" else people(case)
    n_rankings = 3 if case in ("16k", "200k") else 10
    time_fit(n_rankings, train.block(0, 100), None)
    best = min(
        (time_fit(n_rankings, train, test) for _ in range(3 if case == "16k" else 1)), key=lambda row: row["cpu"]
    )
    return {"n": len(train), **best}


def time_pass(n_rankings, mixing):
    """Processor time of one pass with one Newton step a user, ns per comparison, one thread."""
    import numpy as np

    from plurank.components.bradley_terry import BradleyTerry

    c, _ = people("200k")
    component = BradleyTerry(np.random.default_rng(0).standard_normal((c.n_items, n_rankings)), mixing)
    init, prior = np.full((c.n_users, n_rankings), 1.0 / n_rankings), np.ones((1, n_rankings))
    times = []
    for _ in range(12):
        begin = time.process_time()
        component.weigh(c, init, prior, 1)
        times.append(time.process_time() - begin)
    return {"n": len(c), "cpu": min(times), "ns": 1e9 * min(times) / len(c)}


def select():
    """``select_rankings`` over 1 to 10 rankings and both mixings, in fits with three rankings of the same people."""
    import plurank

    c, _ = people("16k")
    time_fit(3, c, None)
    one = min(time_fit(3, c, None, mixing=mixing)["cpu"] for mixing in ("probability", "utility") for _ in range(2))
    begin = time.process_time()
    found = plurank.select_rankings(c, random_state=0)
    cpu = time.process_time() - begin
    return {"cpu": cpu, "fit_cpu": one, "fits": cpu / one, "chosen": f"{found.n_rankings}, {found.mixing}"}


def extreme(what):
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


def main():
    warnings.simplefilter("ignore")
    kind, *rest = sys.argv[1].split(":")
    if kind == "pass":
        row = time_pass(int(rest[0]), rest[1])
    elif kind == "fit":
        row = fit(rest[0], sys.argv[2] if len(sys.argv) > 2 else "")
    else:
        row = {"first": first_fit, "select": select, "extreme": extreme}[kind](*rest)
    print(json.dumps(row))


if __name__ == "__main__":
    STARTED = time.perf_counter()
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # what 0.1.0 needs so as not to wait busily; we do not
    main()
