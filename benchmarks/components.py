"""Each kind of ranking on people simulated from it: what is recovered, and who predicts best.

python -m benchmarks.components
"""

import time

import numpy as np

import plurank
from benchmarks.common import write_results
from plurank.mixed.components import law_of

N_USERS, N_ITEMS, N_RANKINGS, PER_USER, CONCENTRATION = 1_500, 40, 3, 100, 0.5
DISPERSION, FLIP, SPREAD = 0.85, 0.05, 1.5
SEEDS = range(3)
LEVEL = 0.0005  # Bradley-Terry scores can follow a Mallows law closely: differences below this are none


def people(kind: str, seed: int) -> plurank.Simulation:
    """Simulate strict rankings with flips, Mallows rankings, or Bradley-Terry scores with evenly spaced log odds."""
    laws = {
        "strict": np.full(N_ITEMS - 1, 1.0 - FLIP),
        "mallows": law_of(DISPERSION, N_ITEMS)[N_ITEMS:],
        "bradley-terry": 1.0 / (1.0 + np.exp(-4.0 * SPREAD * np.arange(1, N_ITEMS) / (N_ITEMS - 1))),
    }
    mean = np.full(N_RANKINGS, 1.0 / N_RANKINGS)
    return plurank.simulate(
        N_USERS, N_ITEMS, N_RANKINGS, PER_USER, CONCENTRATION, seed, mean_weights=mean, lead_probabilities=laws[kind]
    )


def measure(kind: str, component: str, seed: int) -> dict[str, object]:
    truth = people(kind, seed)
    train, test = truth.comparisons.split(0.2, random_state=seed)
    begin = time.perf_counter()
    model = plurank.MixedRanking(N_RANKINGS, component, mixing="probability", random_state=seed).fit(train)
    row = {
        "simulated": kind, "component": component, "seed": seed,
        "ranking_error": round(plurank.ranking_error(model.rankings_, truth.rankings), 5),
        "held_out": round(model.score(test), 5),
        "dispersion": round(float(model.dispersion_.mean()), 4) if component == "mallows" else "",
        "flip": round(model.flip_probability_, 4) if component == "strict" else "",
        "true_dispersion": DISPERSION if kind == "mallows" else "", "true_flip": FLIP if kind == "strict" else "",
        "seconds": round(time.perf_counter() - begin, 1),
    }  # fmt: skip
    print(row, flush=True)
    return row


def main() -> None:
    kinds = ("strict", "mallows", "bradley-terry")
    rows = [measure(kind, component, seed) for kind in kinds for seed in SEEDS for component in kinds]
    write_results("components", rows)
    for kind in kinds:
        means = {
            component: np.mean([r["held_out"] for r in rows if (r["simulated"], r["component"]) == (kind, component)])
            for component in kinds
        }
        print(kind, {component: round(float(mean), 5) for component, mean in means.items()})
        if max(means.values()) - means[kind] > LEVEL:
            raise SystemExit(f"{kind} does not predict best on people simulated from it")


if __name__ == "__main__":
    main()
