"""Comparisons that people made: the most probable scores against draws from the posterior, with their own errors.

    python -m benchmarks.sampled_comparisons --data FOLDER [--seeds 2] [--first-seed 1000] [--sets 'wiki gpa' llmfao]

Sets and cuts are those of `benchmarks.peers`, from seed 1000 on: they were looked at while sampling was developed.
Three rankings each. Writes results/sampled_comparisons.csv: log-likelihoods of test comparisons, and seconds of a fit.
"""

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import plurank
from benchmarks.common import parser_of, write_results
from benchmarks.peers.case import Case
from benchmarks.peers.prepare import ask, cut
from benchmarks.peers.sets import read_people

SETS = ("cars 1", "cars 2", "wiki gpa", "wiki grit", "wiki eviction", "llmfao")
MOST_USERS, MOST_PAIRS = 500, 60
METHODS: dict[str, dict[str, Any]] = {
    "optimisation": {"mixing": "utility", "ensemble": 4},
    "sampling": {"inference": "sampling"},
}


def predict(model: plurank.MixedRanking, case: Case, given: int) -> np.ndarray:
    """Probability that the left item wins, for known users, or for new ones given so many comparisons."""
    if not given:
        return model.predict_proba(case.questions)
    asked, test = (
        plurank.Comparisons.from_arrays(*frame, items=model.items_)
        for frame in (case.asked_first(given), case.questions)
    )
    return model.predict_new(asked, test)


def compare(name: str, folder: Path, task: Any, seed: int) -> list[dict[str, Any]]:
    """Fit both ways to one cut, and predict."""
    rng = np.random.default_rng(seed)
    case, answers = ask(cut(read_people(name, folder, MOST_USERS), task, rng), task, MOST_PAIRS, rng)
    pairs = case.train.pairs.select("user", "winner", "loser")
    data = plurank.Comparisons.from_arrays(*pairs, items=np.arange(case.train.n_items))
    rows = []
    for method, parameters in METHODS.items():
        begin = time.process_time()
        model = plurank.MixedRanking(3, random_state=0, **parameters).fit(data)
        took = time.process_time() - begin
        for given in case.given:
            chances = predict(model, case, given)
            found = float(np.log(np.where(answers, chances, 1.0 - chances)).mean())
            rows.append(
                {
                    "set": name, "task": task, "given": given, "seed": seed, "method": method,
                    "n_comparisons": len(data), "n_questions": len(answers), "log_likelihood": round(found, 5),
                    "cpu_seconds": round(took, 2),
                }
            )  # fmt: skip
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first-seed", type=int, default=1000)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    given = parser.parse_args()
    warnings.simplefilter("ignore", plurank.ConvergenceWarning)
    rows = []
    for seed in range(given.first_seed, given.first_seed + given.seeds):
        for name in given.sets:
            for task in ("new pairs", "new users"):
                rows += compare(name, given.data, task, seed)
                write_results("sampled_comparisons", rows)


if __name__ == "__main__":
    main()
