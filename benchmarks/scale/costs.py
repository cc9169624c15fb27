"""What a pass costs: nanoseconds a comparison and thread, by rankings, items and comparisons a person; and bytes.

    python -m benchmarks.scale.costs [--bytes]

The constants of docs/scale.md. In memory, one thread, so that nothing else is measured. --bytes counts, in no time,
what a store holds and what travels in a pass, for Q = 200 items and K = 10 rankings.
"""

import pickle
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import plurank
from benchmarks.common import seconds, write_results
from plurank.kernels.threads import set_num_threads
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.users import Pass, WeightFiles

N = 2_000_000
CASES = [  # n_rankings, n_items, comparisons_per_user
    (2, 200, 250), (5, 200, 250), (10, 200, 250), (20, 200, 250), (50, 200, 250),
    (10, 20_000, 250), (10, 200, 20), (10, 200, 2_500),
]  # fmt: skip


def count_bytes() -> None:
    """Count what a small store holds, and what is sent to a worker and comes back in a pass."""
    truth = plurank.simulate(2_000, 200, 3, 250, 1.0, 0).comparisons
    component, prior = BradleyTerry(np.zeros((200, 10))), np.full((1, 10), 0.3)
    with tempfile.TemporaryDirectory() as folder:
        truth.to_frame().write_parquet(Path(folder) / "votes.parquet")
        store = plurank.ingest(Path(folder) / "votes.parquet", Path(folder) / "votes.store")
        task = Pass(store, WeightFiles(Path(folder)), None, np.full(10, 0.1), 1, 2, component, prior, 1)
        sums = component.update_memberships(truth, np.full((truth.n_users, 10), 0.1), prior, 1).sums
        found = {
            "a comparison in the store": round(store.n_bytes / len(store), 2),
            "sent to a worker in a pass": len(pickle.dumps(task)),
            "given by a group in a pass": len(pickle.dumps(sums)),
        }
    rows = [{"what": what, "bytes": value, "n_items": 200, "n_rankings": 10} for what, value in found.items()]
    for row in rows:
        print(row)
    write_results("scale_bytes", rows)


def main() -> None:
    if "--bytes" in sys.argv[1:]:
        count_bytes()
        return
    set_num_threads(1)
    rows = []
    for mixing in ("probability", "utility"):
        for n_rankings, n_items, per_user in CASES:
            c = plurank.simulate(N // per_user, n_items, 3, per_user, 1.0, 0).comparisons
            rng = np.random.default_rng(0)
            component = BradleyTerry(rng.standard_normal((n_items, n_rankings)), mixing)
            start = np.full((c.n_users, n_rankings), 1.0 / n_rankings)
            prior = np.full((1, n_rankings), 3.0 / n_rankings)
            start = component.update_memberships(c, start, prior, 10).weights
            begin = time.perf_counter()
            took = seconds(lambda c=c, p=component, s=start, q=prior: p.update_memberships(c, s, q, 1), repeats=3)
            case = {"mixing": mixing, "n_rankings": n_rankings, "n_items": n_items, "comparisons_per_user": per_user}
            rows.append({**case, "nanoseconds": round(took / len(c) * 1e9, 1)})
            print(rows[-1], f"({time.perf_counter() - begin:.0f} s)", flush=True)
    write_results("scale_costs", rows)


if __name__ == "__main__":
    main()
