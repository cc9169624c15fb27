"""Do 90 % intervals hold the truth nine times out of ten? People simulated from Bradley-Terry mixtures.

    python -m benchmarks.coverage [--fits 10] [--only probability utility]

Priors are the true ones ("given") or chosen by the fit ("chosen"). Places are whole numbers, so that intervals that
reach 90 % are often wider than that, above all with few items. Weights of which next to nothing is known have intervals
from 0 to 1, which hold the truth always: that is where five comparisons a user are above 95 %. weight_width is the mean
width of the intervals of weights. bootstrap is the mean standard error of the scores
divided by what a bootstrap over people gives (given priors, first seed, aligned labels).
"""

import itertools

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

import plurank
from benchmarks.common import parser_of, write_results
from plurank.inference.posterior import weight_bounds

SETTINGS = (  # users, items, rankings, comparisons a user, concentration
    (2000, 30, 3, 5, 1.0),
    (2000, 30, 3, 5, 3.0),
    (1000, 30, 3, 20, 1.0),
    (1000, 30, 3, 20, 3.0),
    (400, 30, 3, 60, 1.0),
    (400, 30, 3, 60, 3.0),
    (200, 30, 3, 300, 1.0),
    (200, 30, 3, 300, 3.0),
    (200, 12, 3, 150, 1.0),
    (400, 60, 3, 200, 1.0),
    (600, 30, 5, 60, 2.0),
)
LEAST = 0.85  # that the intervals of chosen priors have to cover
SPREAD, SHARED = 1.0, 1.0
BOOTSTRAPS = 20
Floats = NDArray[np.float64]


def draw(
    setting: tuple[int, int, int, int, float], mixing: str, seed: int
) -> tuple[plurank.Comparisons, Floats, Floats]:
    """Draw comparisons, scores (Q, K) and weights (M, K)."""
    n_users, n_items, n_rankings, per_user, concentration = setting
    rng = np.random.default_rng(seed)
    scores = SHARED * rng.standard_normal((n_items, 1)) + SPREAD * rng.standard_normal((n_items, n_rankings))
    weights = np.maximum(rng.dirichlet(np.full(n_rankings, concentration / n_rankings), n_users), 1e-12)
    weights /= weights.sum(axis=1, keepdims=True)
    users = np.repeat(np.arange(n_users), per_user)
    first = rng.integers(n_items, size=len(users))
    second = (first + 1 + rng.integers(n_items - 1, size=len(users))) % n_items
    lead = scores[first] - scores[second]
    if mixing == "utility":
        chance = 1.0 / (1.0 + np.exp(-(weights[users] * lead).sum(axis=1)))
    else:
        chance = (weights[users] / (1.0 + np.exp(-lead))).sum(axis=1)
    wins = rng.random(len(users)) < chance
    items = np.arange(n_items)
    comparisons = plurank.Comparisons.from_arrays(
        users, np.where(wins, first, second), np.where(wins, second, first), items=items
    )
    return comparisons, scores, weights


def cover(model: plurank.MixedRanking, scores: Floats, weights: Floats) -> tuple[float, float, float]:
    """Give the share of true places, and of true weights, within their intervals, and the mean width of the latter."""
    truth = np.argsort(-scores.T, axis=1)
    order = plurank.align(model.rankings_, truth)
    places = np.argsort(truth, axis=1) + 1
    held = []
    for k, found in enumerate(order):
        board = model.leaderboard(int(found) + 1).sort("item")
        held.append((board["lower"].to_numpy() <= places[k]) & (places[k] <= board["upper"].to_numpy()))
    bounds = weight_bounds(model.user_weights_, model.user_concentration_, 0.9, model.membership_prior)
    lower, upper = (bound[:, order] for bound in bounds)
    within = (lower <= weights) & (weights <= upper)
    return float(np.mean(held)), float(within.mean()), float((upper - lower).mean())


def against_bootstrap(model: plurank.MixedRanking, comparisons: plurank.Comparisons) -> float:
    """Give the mean standard error of scores over that of fits of people drawn again."""
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(BOOTSTRAPS):
        people = rng.integers(comparisons.n_users, size=comparisons.n_users)
        parts = [np.arange(comparisons.offsets[u], comparisons.offsets[u + 1]) for u in people]
        rows = np.concatenate(parts)
        users = np.repeat(np.arange(len(people)), [len(part) for part in parts])
        again = plurank.Comparisons.from_arrays(
            users, comparisons.winners[rows], comparisons.losers[rows], items=np.arange(comparisons.n_items)
        )
        fit = clone(model).fit(again)
        scores = fit.scores_[:, plurank.align(fit.rankings_, model.rankings_)]
        drawn.append(scores - scores.mean(axis=0))
    return float(model.score_errors_.mean() / np.std(drawn, axis=0, ddof=1).mean())


def measure(mixing: str, setting: tuple[int, int, int, int, float], priors: str, n_fits: int) -> dict[str, object]:
    known = {"concentration": setting[4], "score_scale": SPREAD} if priors == "given" else {}
    results, ratio = [], float("nan")
    for seed in range(n_fits):
        comparisons, scores, weights = draw(setting, mixing, seed)
        model = plurank.MixedRanking(setting[2], mixing=mixing, random_state=seed, **known).fit(comparisons)
        results.append(cover(model, scores, weights))
        if seed == 0 and priors == "given":
            ratio = against_bootstrap(model, comparisons)
    places, own, width = np.mean(results, axis=0)
    errors = np.std(results, axis=0, ddof=1) / np.sqrt(n_fits) if n_fits > 1 else np.full(3, np.nan)
    names = ("n_users", "n_items", "n_rankings", "comparisons_per_user", "concentration")
    row = {
        "mixing": mixing, **dict(zip(names, setting, strict=True)), "priors": priors, "fits": n_fits,
        "places_covered": round(float(places), 4), "places_se": round(float(errors[0]), 4),
        "weights_covered": round(float(own), 4), "weights_se": round(float(errors[1]), 4),
        "weight_width": round(float(width), 4),
        "bootstrap": round(ratio, 3),
    }  # fmt: skip
    print(row, flush=True)
    return row


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--fits", type=int, default=10)
    parser.add_argument("--only", nargs="+", choices=("probability", "utility"), default=["probability", "utility"])
    given = parser.parse_args()
    rows = []
    for mixing in given.only:
        rows += [measure(mixing, *case, given.fits) for case in itertools.product(SETTINGS, ("given", "chosen"))]
        write_results("coverage", rows, replacing="mixing")
    low = [
        row for row in rows if row["priors"] == "chosen" and min(row["places_covered"], row["weights_covered"]) < LEAST
    ]
    if low:
        raise SystemExit(f"expected at least {LEAST:.0%}, got {low}")


if __name__ == "__main__":
    main()
