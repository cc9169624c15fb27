"""Items with few comparisons: how much better are they predicted by a fit to comparisons that knows their features?

    python -m benchmarks.few_comparisons --data FOLDER [--sets cars-1 cars-2] [--folds 5]

Five folds over items. Of a fold's items 5 or 20 comparisons each are left (those with two of them count for both), and
the others are predicted; or, of all items, a fifth of the comparisons is predicted (``left`` is all). Six rankings, all
else chosen by the fit, with and without features. Mean log-likelihood of a pair, averaged by user, as the model says
it; differences with 95 % intervals over users. Writes results/few_comparisons.csv.
"""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import plurank
from benchmarks.common import parser_of, write_results
from benchmarks.covariates import by_user
from benchmarks.item_features import READERS, Source

LEFT = (5, 20, None)
SETS = ("cars-1", "cars-2")
N_RANKINGS, SHARE = 6, 0.2


def keep_few(votes: Any, few: NDArray[np.bool_], left: int | None, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return which comparisons to learn from, (n,): so many of each of few items (Q,), and all of the others."""
    if left is None:
        return rng.random(len(votes)) >= SHARE
    kept, seen = ~(few[votes.winners] | few[votes.losers]), np.zeros(len(few))
    for number in rng.permutation(np.flatnonzero(~kept)):
        own = [side for side in (votes.winners[number], votes.losers[number]) if few[side]]
        if (seen[own] < left).all():
            kept[number] = True
            seen[own] += 1
    return kept


def predict(source: Source, kept: NDArray[np.bool_], seed: int) -> list[NDArray[np.float64]]:
    """Fit without and with features; return the log-likelihoods of the users' other comparisons."""
    train, test = source.votes.select(kept), source.votes.select(~kept)
    sides = {"left": test.items[test.winners].tolist(), "right": test.items[test.losers].tolist()}
    asked = pl.DataFrame({"user": test.users[test.user_of_each()].tolist(), **sides})
    found = []
    for items in (None, source.items):
        model = plurank.MixedRanking(N_RANKINGS, mixing="utility", random_state=seed).fit(train, items=items)
        found.append(by_user(np.asarray(model.predict_proba(asked)), test))
    return found


def measure(name: str, left: int | None, given: Any) -> dict[str, Any]:
    """Compare on all folds of a set."""
    source = READERS[name](given.data)
    fold_of = np.random.default_rng(given.seed).permutation(source.votes.n_items) % 5
    parts = []
    for fold in range(given.folds):
        kept = keep_few(source.votes, fold_of == fold, left, np.random.default_rng([given.seed, fold]))
        parts.append(predict(source, kept, fold))
        print(name, left, fold, [round(float(each.mean()), 4) for each in parts[-1]], flush=True)
    plain, helped = (np.concatenate(each) for each in zip(*parts, strict=True))
    gain = helped - plain
    error = 1.96 * gain.std() / np.sqrt(len(gain))
    return {
        "set": name, "left": left or "all", "folds": given.folds, "users_and_folds": len(gain),
        "without_features": round(float(plain.mean()), 5), "with_features": round(float(helped.mean()), 5),
        "gain": round(float(gain.mean()), 5), "lower": round(float(gain.mean() - error), 5),
        "upper": round(float(gain.mean() + error), 5), "seed": given.seed,
    }  # fmt: skip


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0, help="of the folds")
    given = parser.parse_args()
    for name in given.sets:
        write_results("few_comparisons", [measure(name, left, given) for left in LEFT], replacing="set")


if __name__ == "__main__":
    main()
