"""Ratings, votes, rankings and comparisons simulated from the model: are parameters recovered, and do intervals hold?

    python -m benchmarks.rated_coverage [--seeds 5] [--calibration 40] [--kinds rankings] [--first-seed 1000]

Coverage: how often the truth lies in 90 % intervals of scores (centred, rankings aligned) and of users' weights.
Calibration (simulation-based): parameters are drawn from their prior, data from the parameters, and ranks of the true
values among draws of one long chain are uniform if the sampler is right; quantities are those that do not depend on the
order of rankings. Writes results/rated_coverage.csv, rated_calibration.csv and
rated_calibration.png.
"""

from typing import Any

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import ndtr

import plurank
from benchmarks.common import RESULTS, parser_of, write_results
from plurank.inference.posterior import weight_bounds
from plurank.mixed.rated import LOG_ODDS
from plurank.thurstone import hyperparameters as hyper
from plurank.thurstone.chains import match_rankings
from plurank.thurstone.draws import as_thresholds
from plurank.thurstone.exposure import Exposure
from plurank.thurstone.sampler import Chain, Observations, Shape

CASES = [  # kind, users, items, observations of a user, rankings
    ("ratings", 300, 20, 12, 2), ("ratings", 1000, 30, 15, 3), ("votes", 500, 30, 20, 2), ("votes", 1000, 40, 25, 3),
    ("rankings", 500, 10, 10, 2), ("rankings", 1000, 20, 10, 3),
    ("comparisons", 500, 10, 20, 2), ("comparisons", 1000, 20, 40, 3),
]  # fmt: skip
CUTS = {
    "ratings": np.array([-2.0, 0.2, 0.3, 0.3]), "votes": np.array([-0.6, 0.0]), "rankings": np.zeros(0),
    "comparisons": np.zeros(0),
}  # fmt: skip
ERROR = 1.5  # of each comparison
CUT_SPREAD, SCORE_SCALE, CONCENTRATION = 0.4, 1.2, 2.0
Z90 = 1.6449
BURN_IN, N_DRAWS, THIN = 500, 100, 75  # of a chain for the calibration
Floats = NDArray[np.float64]


def observe(kind: str, scores: Floats, weights: Floats, cuts: Floats, n_own: int, rng: np.random.Generator) -> Any:
    """Let users (M, K) rate or rank some of the items, with thresholds (M, C) as coordinates."""
    n_users, n_items = len(weights), len(scores)
    if kind == "comparisons":
        return compare(weights @ scores.T, n_own, rng)
    items = np.array([rng.choice(n_items, n_own, replace=False) for _ in range(n_users)])
    utilities = np.take_along_axis(weights @ scores.T, items, axis=1) + rng.standard_normal(items.shape)
    users = np.repeat(np.arange(n_users), n_own)
    if kind == "rankings":
        ranks = np.argsort(np.argsort(-utilities, axis=1), axis=1) + 1
        frame = pl.DataFrame({"user": users, "item": items.ravel(), "rank": ranks.ravel()})
        return plurank.Rankings.from_frame(frame)
    values = (utilities[:, :, None] > as_thresholds(cuts)[:, None, :]).sum(axis=2) - (kind == "votes")
    return plurank.Ratings.from_arrays(users, items.ravel(), values.ravel().astype(float))


def compare(expected: Floats, n_own: int, rng: np.random.Generator) -> plurank.Comparisons:
    """Let users, with expected utilities (M, Q), compare some pairs of items, with errors."""
    own = expected + rng.standard_normal(expected.shape)
    users = np.repeat(np.arange(len(own)), n_own)
    left = rng.integers(0, own.shape[1], len(users))
    right = (left + rng.integers(1, own.shape[1], len(users))) % own.shape[1]
    ahead = own[users, left] - own[users, right] + ERROR * rng.standard_normal(len(users)) > 0.0
    sides = np.where(ahead, left, right), np.where(ahead, right, left)
    return plurank.Comparisons.from_arrays(users, *sides)


def cover(kind: str, n_users: int, n_items: int, n_own: int, n_rankings: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    scores = SCORE_SCALE * (rng.standard_normal((n_items, 1)) / 2 + rng.standard_normal((n_items, n_rankings)))
    weights = rng.dirichlet(np.full(n_rankings, CONCENTRATION / n_rankings), n_users)
    cuts = CUTS[kind] + CUT_SPREAD * rng.standard_normal((n_users, len(CUTS[kind])))
    said = observe(kind, scores, weights, cuts, n_own, rng)
    model = plurank.MixedRanking(n_rankings, inference="sampling", n_factors=0, random_state=seed).fit(said)
    unit = np.sqrt(2.0 / (2.0 + ERROR**2)) if kind == "comparisons" else 1.0
    truth = unit * LOG_ODDS * (scores - scores.mean(axis=0))
    order = match_rankings(truth, model.scores_)
    truth, weights = truth[:, order], weights[:, order]
    inside = np.abs(model.scores_ - truth) <= Z90 * model.score_errors_
    bounds = weight_bounds(model.user_weights_, model.user_concentration_, 0.9, model.membership_prior)
    held = (bounds[0] <= weights) & (weights <= bounds[1])
    row = {
        "kind": kind, "n_users": n_users, "n_items": n_items, "per_user": n_own, "n_rankings": n_rankings, "seed": seed,
        "scores": inside.mean(), "weights": held.mean(),
        "score_correlation": np.corrcoef(truth.ravel(), model.scores_.ravel())[0, 1],
        "weight_error": np.abs(weights - model.user_weights_).mean(), "concentration": model.concentration_,
        "pair_r_hat": model.convergence_["pair_r_hat"],
    }  # fmt: skip
    if len(CUTS[kind]):
        row["threshold_error"] = float(
            np.abs(model.rating_scale()["threshold"].drop_nulls().to_numpy() - as_thresholds(cuts).mean(axis=0)).mean()
        )
    return {
        name: round(float(value), 4) if isinstance(value, (float, np.floating)) else value
        for name, value in row.items()
    }


def calibrate(seed: int, n_users: int = 60, n_items: int = 12, n_own: int = 8) -> dict[str, float]:
    """Draw everything from the prior, run a chain, and return the share of its draws below each true value."""
    rng = np.random.default_rng([7, seed])
    shape, n_cuts = Shape(2, 0), 2
    first = np.array([-0.8, 0.3])
    total = np.exp(np.log(hyper.CONCENTRATION_SHARE * 2) + rng.standard_normal())
    counts = total * rng.dirichlet(np.ones(2))
    precision = hyper.draw_wishart(shape.size + hyper.ITEM_FREEDOM, hyper.ITEM_SCALE * np.eye(shape.size), rng)
    covariance = np.linalg.inv(precision)
    mean = rng.multivariate_normal(np.zeros(shape.size), covariance / hyper.ITEM_COUNT)
    table = rng.multivariate_normal(mean, covariance, n_items)
    cut_precision = hyper.draw_wishart(n_cuts + hyper.CUT_FREEDOM, hyper.CUT_SCALE * np.eye(n_cuts), rng)
    cut_covariance = np.linalg.inv(cut_precision)
    cut_mean = rng.multivariate_normal(first, cut_covariance / hyper.CUT_COUNT)
    weights = rng.dirichlet(np.maximum(counts, 1e-3), n_users)
    cuts = rng.multivariate_normal(cut_mean, cut_covariance, n_users)
    scores = table[:, :1] + table[:, 1:]
    said = observe("ratings", scores, weights, cuts, n_own, rng)
    if said.n_levels < n_cuts + 1 or said.n_items < n_items:
        return {}
    chain = Chain(Observations.of(said), shape, [11, seed], Exposure.none(n_items))
    chain.first_cuts = first  # the prior that the truth was drawn from
    truth = _measure(scores, weights, cut_mean, counts)
    draws = []
    for sweep in range(BURN_IN + THIN * N_DRAWS):
        chain.sweep()
        if sweep >= BURN_IN and sweep % THIN == 0:
            items, users = chain.population.items, chain.vectors
            draws.append(
                _measure(
                    items[:, :1] + items[:, 1:3], users[:, 1:3], chain.population.cut_mean, chain.population.counts
                )
            )
    return {name: float(np.mean([draw[name] < truth[name] for draw in draws])) for name in truth}


def _measure(scores: Floats, weights: Floats, cut_mean: Floats, counts: Floats) -> dict[str, float]:
    """Quantities that do not depend on the order of the rankings."""
    utilities = weights[:3] @ scores.T
    return {
        "probability of a pair": float(ndtr((utilities[0, 0] - utilities[0, 1]) / np.sqrt(2.0))),
        "utility of an item": float(utilities[1, 2]),
        "spread of scores": float((scores**2).sum()),
        "largest weight": float(weights[2].max()),
        "first threshold": float(cut_mean[0]),
        "logarithm of the gap": float(cut_mean[1]),
        "concentration": float(counts.sum()),
    }


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--calibration", type=int, default=40, help="populations drawn from the prior")
    parser.add_argument("--kinds", nargs="+", choices=list(CUTS), default=list(CUTS))
    parser.add_argument("--first-seed", type=int, default=0, help="of the populations whose parameters are fixed")
    given = parser.parse_args()
    rows = []
    for case in CASES:
        for seed in range(given.first_seed, given.first_seed + given.seeds if case[0] in given.kinds else 0):
            rows.append(cover(*case, seed))
            print(rows[-1], flush=True)
        write_results("rated_coverage", rows)
    ranks = []
    for seed in range(given.calibration):
        ranks += [{"seed": seed, "quantity": name, "below": value} for name, value in calibrate(seed).items()]
        print(seed, flush=True)
    if ranks:
        write_results("rated_calibration", ranks)
        draw(pl.DataFrame(ranks))


def draw(ranks: pl.DataFrame) -> None:
    """Draw histograms of the ranks; flat ones are right."""
    chart = (
        alt.Chart(ranks)
        .mark_bar()
        .encode(
            x=alt.X("below:Q", bin=alt.Bin(step=1 / 10, extent=[0, 1]), title="share of draws below the truth"),
            y=alt.Y("count()", title="populations"),
            facet=alt.Facet("quantity:N", columns=4, title=None),
        )
        .properties(width=150, height=110)
    )
    chart.save(RESULTS / "rated_calibration.png", scale_factor=2)


if __name__ == "__main__":
    main()
