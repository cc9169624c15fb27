"""How many passes over the comparisons a fit takes, by phase, and what it predicts of comparisons held out.

A pass is one call of ``BradleyTerry.weigh``; a full pass is as many calls as see all comparisons once, so that a pass
over a tenth of the users counts as a tenth. Every set is fitted to 80 % of its comparisons, MovieLens to the training
ratings of the BPMF authors, and judged on the rest.

    python -m benchmarks.passes [--data FOLDER] [--seeds 3] [--only NAME ...]

FOLDER has MovieLens-1M as in benchmarks/movielens.py; without it MovieLens is left out.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import plurank
from benchmarks.common import parser_of, write_results
from benchmarks.movielens import read
from plurank.mixed import fit as fitting
from plurank.mixed.bradley_terry import BradleyTerry

SHARE = 0.2
PHASES = {
    "priors": "_choose_priors",
    "init": "start_rankings",
    "refining": "refine_scores",
    "errors": "_keep_scores",
    "user effects": "_choose_deviation",
    "influence": "_find_influence",
}
Case = Callable[[int], tuple[plurank.Comparisons, plurank.Comparisons]]


def simulated(n_users: int, n_items: int, n_rankings: int, per_user: int) -> Case:
    """Return what draws a population and holds comparisons out; an item ahead of all others wins nearly always."""

    def draw(seed: int) -> tuple[plurank.Comparisons, plurank.Comparisons]:
        leads = 1 / (1 + np.exp(-5 * np.arange(1, n_items) / (n_items - 1)))
        drawn = plurank.simulate(n_users, n_items, n_rankings, per_user, 1.0, seed, lead_probabilities=leads)
        return drawn.comparisons.split(SHARE, random_state=seed)

    return draw


CASES: dict[str, tuple[int, Case]] = {
    "16k": (3, simulated(500, 20, 3, 40)),
    "200k": (3, simulated(2500, 30, 3, 100)),
    "2.4M": (10, simulated(10_000, 100, 10, 300)),
}


@contextmanager
def counted(n_comparisons: int) -> Iterator[tuple[Counter[str], Counter[str]]]:
    """Count passes by phase: calls, and full passes."""
    calls: Counter[str] = Counter()
    full: Counter[str] = Counter()
    phases = ["other"]
    update_memberships = BradleyTerry.update_memberships

    def count(self: BradleyTerry, comparisons: plurank.Comparisons, *args: Any, **options: Any) -> Any:
        calls[phases[-1]] += 1
        full[phases[-1]] += len(comparisons) / n_comparisons
        return update_memberships(self, comparisons, *args, **options)

    def within(phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **options: Any) -> Any:
            phases.append(phases[-1] if len(phases) > 1 else phase)  # what a phase calls is a part of it
            try:
                return function(*args, **options)
            finally:
                phases.pop()

        return run

    steps = {name: within(phase, getattr(fitting, name)) for phase, name in PHASES.items()}
    with patch.object(BradleyTerry, "weigh", count), patch.multiple(fitting, **steps):
        yield calls, full


def measure(name: str, n_rankings: int, case: Case, seed: int) -> dict[str, object]:
    train, test = case(seed)
    with counted(len(train)) as (calls, full):
        model = plurank.MixedRanking(n_rankings, mixing="probability", random_state=seed).fit(train)
    row = {
        "set": name, "seed": seed, "n_train": len(train), "n_rankings": n_rankings,
        "calls": calls.total(), "full_passes": round(full.total(), 1),
        **{f"{phase} calls": calls[phase] for phase in PHASES},
        **{f"{phase} full": round(full[phase], 1) for phase in PHASES},
        "log_likelihood": round(model.score(test), 5),
        "concentration": round(model.concentration_, 3), "score_scale": round(model.score_scale_, 3),
    }  # fmt: skip
    print(row, flush=True)
    return row


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=[*CASES, "MovieLens"])
    given = parser.parse_args()
    cases = dict(CASES)
    if given.data is not None:
        trains, probe = read(given.data)
        cases["MovieLens"] = 10, lambda _: (trains["top 100"], probe)
    rows = []
    for name in given.only or cases:
        rows += [measure(name, *cases[name], seed) for seed in range(given.seeds)]
        write_results("passes", rows, replacing="set")


if __name__ == "__main__":
    main()
