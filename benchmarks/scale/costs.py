"""What a pass costs: nanoseconds a comparison and thread, by rankings, items and comparisons a person.

    python -m benchmarks.scale.costs

The constants of docs/scale.md. In memory, one thread, so that nothing else is measured.
"""

import time

import numba
import numpy as np

import plurank
from benchmarks.common import seconds, write_results
from plurank.components.bradley_terry import BradleyTerry

N = 2_000_000
CASES = [  # n_rankings, n_items, comparisons_per_user
    (2, 200, 250), (5, 200, 250), (10, 200, 250), (20, 200, 250), (50, 200, 250),
    (10, 20_000, 250), (10, 200, 20), (10, 200, 2_500),
]  # fmt: skip


def main() -> None:
    numba.set_num_threads(1)
    rows = []
    for mixing in ("probability", "utility"):
        for n_rankings, n_items, per_user in CASES:
            c = plurank.simulate(N // per_user, n_items, 3, per_user, 1.0, 0).comparisons
            rng = np.random.default_rng(0)
            component = BradleyTerry(rng.standard_normal((n_items, n_rankings)), mixing)
            start = np.full((c.n_users, n_rankings), 1.0 / n_rankings)
            prior = np.full((1, n_rankings), 3.0 / n_rankings)
            start = component.weigh(c, start, prior, 10).weights
            begin = time.perf_counter()
            took = seconds(lambda c=c, p=component, s=start, q=prior: p.weigh(c, s, q, 1), repeats=3)
            case = {"mixing": mixing, "n_rankings": n_rankings, "n_items": n_items, "comparisons_per_user": per_user}
            rows.append({**case, "nanoseconds": round(took / len(c) * 1e9, 1)})
            print(rows[-1], f"({time.perf_counter() - begin:.0f} s)", flush=True)
    write_results("scale_costs", rows)


if __name__ == "__main__":
    main()
