"""How much longer fits to comparisons take with covariates of the users than without.

    python -m benchmarks.covariates_cost [--users 10000] [--covariates 20] [--repeats 3] [--fits given chosen]

Users are simulated from the model: 50 items, three rankings, utility mixing, 20 votes each. Five of the covariates move
the weights. Fits with a given number of rankings and mixing ("given") and with all defaults ("chosen"), without and
with covariates in turn, in one process; ratios of the shortest times. Writes results/covariates_cost.csv.
"""

import time
import warnings
from typing import Any

import numpy as np
import polars as pl

import plurank
from benchmarks.common import parser_of, write_results
from plurank.regression.coefficients import Coefficients, draw_log_dirichlets

N_ITEMS, N_RANKINGS, VOTES = 50, 3, 20
N_EFFECTS, EFFECT = 5, 0.3  # covariates that matter, and the standard deviation of their slopes
FITS = {"given": {"n_rankings": N_RANKINGS, "mixing": "utility"}, "chosen": {}}


def simulate(n_users: int, n_covariates: int, seed: int) -> tuple[plurank.Comparisons, pl.DataFrame]:
    """Return votes and covariates of users."""
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((N_ITEMS, 1)) + rng.standard_normal((N_ITEMS, N_RANKINGS))
    design = rng.standard_normal((n_users, n_covariates))
    table = EFFECT * rng.standard_normal((1 + n_covariates, N_RANKINGS))
    table[1 + N_EFFECTS :] = 0.0
    counts = Coefficients(2.0 / 3.0 * N_RANKINGS, table - table.mean(axis=1, keepdims=True)).counts_of(design)
    weights = np.exp(draw_log_dirichlets(np.maximum(counts, 1e-3), rng))
    users = np.repeat(np.arange(n_users), VOTES)
    first = rng.integers(N_ITEMS, size=len(users))
    second = (first + 1 + rng.integers(N_ITEMS - 1, size=len(users))) % N_ITEMS
    lead = (weights[users] * (scores[first] - scores[second])).sum(axis=1)
    wins = rng.random(len(users)) < 1.0 / (1.0 + np.exp(-lead))
    sides = np.where(wins, first, second), np.where(wins, second, first)
    columns = {f"x{number}": design[:, number] for number in range(n_covariates)}
    votes = plurank.Comparisons.from_arrays(users, *sides, items=np.arange(N_ITEMS))
    return votes, pl.DataFrame({"user": np.arange(n_users), **columns})


def time_fit(parameters: dict[str, Any], votes: plurank.Comparisons, people: pl.DataFrame | None) -> float:
    """Return how many seconds a fit takes."""
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", plurank.ConvergenceWarning)
        plurank.MixedRanking(random_state=0, **parameters).fit(votes, people=people)
    return time.perf_counter() - begun


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--covariates", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--fits", nargs="+", choices=tuple(FITS), default=list(FITS))
    given = parser.parse_args()
    votes, people = simulate(given.users, given.covariates, 0)
    rows = []
    for name in given.fits:
        times = [[time_fit(FITS[name], votes, with_) for with_ in (None, people)] for _ in range(given.repeats)]
        without, with_people = np.min(times, axis=0)
        rows.append(
            {
                "fit": name, "users": given.users, "votes_per_user": VOTES, "covariates": given.covariates,
                "repeats": given.repeats, "seconds_without": round(float(without), 2),
                "seconds_with": round(float(with_people), 2), "ratio": round(float(with_people / without), 2),
                "key": f"{name} {given.users} {given.covariates}",
            }
        )  # fmt: skip
        print(rows[-1], flush=True)
        write_results("covariates_cost", rows, replacing="key")


if __name__ == "__main__":
    main()
