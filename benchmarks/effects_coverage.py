"""Effects of covariates simulated from the model: do intervals hold the true shares and differences?

    python -m benchmarks.effects_coverage [--seeds 20] [--mixing utility probability] [--cells 3 12]

A number and a category of three levels (50, 30 and 20 %) move the weights of users on K rankings; each user votes on
pairs of 20 items. 90 % intervals of the shares of all rankings at the levels and at three quantiles, and of their
differences to the first level (highest against lowest quantile), for rankings aligned by their scores. attenuation: the
slope of estimated on true differences between the first and the third level, of the effects, and (naive) of the means
of users' weights in each group, by the same fit. alike: the share of fits whose rankings are nearly the same, so that
votes do not tell who follows which. Within a fit figures move together: the standard errors are those over fits.

With two rankings there are three free slopes in a fit, and chance moves coverages by several points. So there is a
control on the same people: what intervals hold that are told all scores (shares_known, differences_known: importance
sampling of the weights and Newton's method; no chain, no chosen scale). What differences hold beyond these has a
smaller standard error in most cells. With five votes the control is no measure: it is Gaussian, and holds less than 90
% over 60 seeds; nor may it be one with five rankings. People, scores and effects of a seed are the same for both
mixings. Writes results/effects_coverage.csv.
"""

import itertools
import warnings
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

import plurank
from benchmarks.common import parser_of, write_results
from plurank.choices import Mixing
from plurank.inference.posterior import LEVEL
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.drawn_weights import ProposedWeights
from plurank.regression.coefficients import Coefficients, draw_log_dirichlets
from plurank.regression.density import RegressionDensity
from plurank.regression.sampling import draw_gaussian, find_mode
from plurank.regression.shares import Interval, draw_shares

CELLS = tuple(itertools.product((300, 1000, 3000), (5, 20, 60), (2, 3, 5)))  # users, votes each, rankings
N_ITEMS, SHARES = 20, (0.5, 0.3, 0.2)
EFFECT = 0.6  # standard deviation of slopes
N_KNOWN, N_TABLES = 96, 400  # draws of each user's weights, and of coefficients, where scores are known
Floats = NDArray[np.float64]


class Made(NamedTuple):
    """Simulated votes, covariates, and what they were drawn with."""

    votes: plurank.Comparisons
    people: pl.DataFrame
    scores: Floats
    truth: Coefficients


def describe(age: Floats, level: NDArray[np.int64]) -> Floats:
    """Return covariates (m, 3) of the model that is simulated."""
    return np.column_stack([age, (level == 1) - SHARES[1], (level == 2) - SHARES[2]])


def simulate(n_users: int, per_user: int, n_rankings: int, mixing: Mixing, seed: int) -> Made:
    rng = np.random.default_rng([seed, n_users, per_user, n_rankings])  # no two cells have the same people
    scores = rng.standard_normal((N_ITEMS, 1)) + rng.standard_normal((N_ITEMS, n_rankings))
    age, level = rng.standard_normal(n_users), rng.choice(3, n_users, p=SHARES)
    table = np.vstack([0.3 * rng.standard_normal((1, n_rankings)), EFFECT * rng.standard_normal((3, n_rankings))])
    truth = Coefficients(2.0 / 3.0 * n_rankings, table - table.mean(axis=1, keepdims=True))
    weights = np.exp(draw_log_dirichlets(np.maximum(truth.counts_of(describe(age, level)), 1e-3), rng))
    users = np.repeat(np.arange(n_users), per_user)
    first = rng.integers(N_ITEMS, size=len(users))
    second = (first + 1 + rng.integers(N_ITEMS - 1, size=len(users))) % N_ITEMS
    lead = scores[first] - scores[second]
    if mixing == "utility":
        chance = 1.0 / (1.0 + np.exp(-(weights[users] * lead).sum(axis=1)))
    else:
        chance = (weights[users] / (1.0 + np.exp(-lead))).sum(axis=1)
    wins = rng.random(len(users)) < chance
    votes = plurank.Comparisons.from_arrays(
        users, np.where(wins, first, second), np.where(wins, second, first), items=np.arange(N_ITEMS)
    )
    people = pl.DataFrame({"user": np.arange(n_users), "age": age, "level": np.array(["a", "b", "c"])[level]})
    return Made(votes, people, scores, truth)


def share_tables(made: Made, effects: pl.DataFrame, tables: Floats) -> Floats:
    """Return the shares (D, L, K) at the levels of an effects frame, given tables of coefficients (D, 4, K)."""
    age = made.people["age"].to_numpy()
    level = np.searchsorted(["a", "b", "c"], made.people["level"].to_numpy())
    found = []
    for name, label, value in (
        effects.unique(["attribute", "level"], maintain_order=True).select("attribute", "level", "value").iter_rows()
    ):
        same = (np.full_like(age, value), level) if name == "age" else (age, np.full_like(level, "abc".index(label)))
        found.append(draw_shares(tables, describe(*same)))
    return np.stack(found, axis=1)


def draw_known(made: Made, mixing: Mixing, seed: int) -> Floats:
    """Draw tables (D, 4, K) by who voted how, given the true scores and the standard deviation of the slopes."""
    level = np.searchsorted(["a", "b", "c"], made.people["level"].to_numpy())
    design = describe(made.people["age"].to_numpy(), level)[made.votes.users.astype(np.int64)]
    component, rng = BradleyTerry(made.scores, mixing), np.random.default_rng([seed, 1])
    weights = ProposedWeights.of(component, made.votes, [made.truth.counts_of(design)], N_KNOWN, rng)
    density = RegressionDensity(weights.weigh(component, design).blocks(), EFFECT)
    drawn = draw_gaussian(find_mode(density, made.truth), N_TABLES, rng)
    return np.array([density.from_vector(vector).table for vector in drawn])


def count_held(lower: Floats, upper: Floats, truth: Floats) -> float:
    """Return the share of true figures that are in their intervals."""
    return float(((lower <= truth) & (truth <= upper)).mean())


def measure(cell: tuple[int, int, int], mixing: Mixing, seed: int) -> dict[str, float]:
    made = simulate(*cell, mixing, seed)
    model = plurank.MixedRanking(cell[2], mixing=mixing, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", plurank.ConvergenceWarning)
        model.fit(made.votes, people=made.people)
    own, true = (scores - scores.mean(axis=0) for scores in (model.scores_, made.scores))
    order = linear_sum_assignment(((own[:, :, None] - true[:, None, :]) ** 2).sum(axis=0))[1]  # true ones of ours
    effects = model.effects()
    shown = effects.filter((pl.col("attribute") == "level") | pl.col("level").str.contains("^(10|50|90)%"))
    truth = share_tables(made, shown, made.truth.table[None])[0][:, order]
    levels = shown["attribute"].to_numpy().reshape(truth.shape)[:, 0]
    first = np.array([np.flatnonzero(levels == name)[0] for name in levels])

    def column(name: str) -> Floats:
        return shown[name].to_numpy().reshape(truth.shape)

    apart, moved = truth - truth[first], first != np.arange(len(first))
    drawn = share_tables(made, shown, draw_known(made, mixing, seed))[:, :, order]
    known, known_apart = (Interval.of(each, LEVEL) for each in (drawn, drawn - drawn[:, first]))
    groups = [made.people["level"].to_numpy() == name for name in "ac"]
    naive = model.user_weights_[groups[1]].mean(axis=0) - model.user_weights_[groups[0]].mean(axis=0)
    last = np.flatnonzero(levels == "level")[-1]
    return {
        "shares": count_held(column("lower"), column("upper"), truth),
        "shares_known": count_held(known.lower, known.upper, truth),
        "differences": count_held(
            column("difference_lower")[moved], column("difference_upper")[moved], apart[moved]
        ),
        "differences_known": count_held(known_apart.lower[moved], known_apart.upper[moved], apart[moved]),
        "width": float((column("upper") - column("lower")).mean()),
        "product": float(column("difference")[last] @ apart[last]), "naive": float(naive @ apart[last]),
        "square": float(apart[last] @ apart[last]),
        "alike": float(BradleyTerry(model.scores_).are_alike), "used": float(model.slope_scale_ > 0),
    }  # fmt: skip


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--mixing", nargs="+", choices=("utility", "probability"), default=["utility", "probability"])
    parser.add_argument("--cells", type=int, nargs="+", default=list(range(len(CELLS))), help="numbers of cells")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for mixing, number in itertools.product(given.mixing, given.cells):
        cell = CELLS[number]
        found = [measure(cell, mixing, seed) for seed in range(given.first_seed, given.first_seed + given.seeds)]
        for kind, each in itertools.product(("shares", "differences"), found):
            each[f"{kind}_beyond"] = each[kind] - each[f"{kind}_known"]
        mean = {name: float(np.mean([each[name] for each in found])) for name in found[0]}

        def error(name: str, found: list[dict[str, float]] = found) -> float:
            return round(float(np.std([each[name] for each in found], ddof=1)) / len(found) ** 0.5, 3)

        rows.append(
            {
                "mixing": mixing, "n_users": cell[0], "votes_per_user": cell[1], "n_rankings": cell[2],
                "fits": given.seeds, "first_seed": given.first_seed,
                "shares_covered": round(mean["shares"], 3), "shares_error": error("shares"),
                "shares_known": round(mean["shares_known"], 3), "shares_beyond_error": error("shares_beyond"),
                "differences_covered": round(mean["differences"], 3), "differences_error": error("differences"),
                "differences_known": round(mean["differences_known"], 3),
                "differences_beyond_error": error("differences_beyond"),
                "width": round(mean["width"], 3),
                "attenuation": round(mean["product"] / mean["square"], 3),
                "attenuation_naive": round(mean["naive"] / mean["square"], 3), "alike": round(mean["alike"], 2),
                "covariates_used": round(mean["used"], 2), "key": f"{mixing} {cell} {given.first_seed}",
            }
        )  # fmt: skip
        print(rows[-1], flush=True)
        write_results("effects_coverage", rows, replacing="key")


if __name__ == "__main__":
    main()
