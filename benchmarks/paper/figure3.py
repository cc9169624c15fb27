"""Figure 3: error of the rankings found against the number of users, in the paper's semi-synthetic setting.

Q = 100, K = 10, N = 300, concentration 0.1, mean weights drawn uniformly in every run. The rankings are the orders of
the 100 most rated movies along the ten factors of a BPMF fit, as in the paper; they have to be separable.
Without --data they are random permutations; the figure shows those of movies if there are any.

    python -m benchmarks.paper.figure3 [--data FOLDER] [--runs 10] [--users 100 300 ...] [--only NAME ...] [--draw]

FOLDER has MovieLens-1M, train.csv.gz and probe.csv.gz. What is in the results already is not measured again; remove its
rows for that. Points are means over the runs, bars one standard error each way. "told" is a yardstick: what one ranking
gives for each lot of as many other comparisons, drawn anew, where one is told which ranking made each of them.
"""

import time
import warnings
from collections.abc import Callable
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import NDArray

import plurank
from benchmarks.common import RESULTS, parser_of, write_results
from benchmarks.mixed_recovery import told_error
from benchmarks.paper.figures import log_axis, measured_curves, save_figure
from plurank.baselines.fjs import FJS
from plurank.models.base import RankingModel

K, N, CONCENTRATION = 10, 300, 0.1
MOVIES, RANDOM = "movies", "random"
USERS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)
BURN_IN, SAMPLES = 200, 50
LEAST_ERROR = 1e-5  # drawn for 0
FEW_USERS = 300  # do for ours what many do not do for others
METHODS: dict[str, Callable[[int, int], RankingModel]] = {
    "RP": lambda k, seed: plurank.TopicRanking(k, "projections", random_state=seed),
    "RP as printed": lambda k, seed: plurank.TopicRanking(k, "printed", random_state=seed),
    "FJS": lambda k, _: FJS(k),
    "whitened": lambda k, seed: plurank.TopicRanking(k, random_state=seed),
    "MixedRanking": lambda k, seed: plurank.MixedRanking(k, mixing="probability", random_state=seed),
}
NAMES = [*METHODS, "told"]
MOST_ERROR = {1_000: 0.08, 10_000: 0.03, 30_000: 0.015, 100_000: 0.001}  # of RP, by users


def rankings_of_movies(folder: Path) -> NDArray[np.int64]:
    """Sort the most rated movies by each factor of a BPMF fit of the stars, (K, Q)."""
    from benchmarks.movielens import read_ratings
    from benchmarks.paper.stars import movie_factors

    ratings, probe = read_ratings(folder)
    factors = movie_factors(pl.concat([ratings["top 100"], probe]), K, BURN_IN, SAMPLES)
    return np.argsort(-factors.T, axis=1)


def find(name: str, comparisons: plurank.Comparisons, run: int) -> NDArray[np.int64]:
    """Find K rankings; where a method finds fewer different ones, its most popular one stands for those missing."""
    for k in range(K, 0, -1):
        try:
            found = METHODS[name](k, run).fit(comparisons).rankings_
        except plurank.NotIdentifiableError:
            continue
        return np.vstack([found, np.tile(found[:1], (K - k, 1))])
    raise AssertionError("one ranking is always found")


def key_of(source: str, name: str, n_users: int, run: int) -> str:
    return f"{source}, {name}, {n_users}, {run}"


def measure(source: str, name: str, truth: plurank.Simulation, run: int) -> dict[str, object]:
    begin = time.perf_counter()
    if name == "told":
        error = told_error(truth.rankings, truth.user_weights.sum(axis=0), run)
    else:
        error = plurank.ranking_error(find(name, truth.comparisons, run), truth.rankings)
    row = {
        "key": key_of(source, name, truth.comparisons.n_users, run), "rankings": source, "method": name,
        "n_users": truth.comparisons.n_users, "run": run, "error": round(error, 6),
        "seconds": round(time.perf_counter() - begin, 1),
    }  # fmt: skip
    print(row, flush=True)
    return row


def known_keys() -> set[str]:
    path = RESULTS / "paper/figure3.csv"
    return set(pl.read_csv(path)["key"]) if path.exists() else set()


def draw() -> None:
    measured = pl.read_csv(RESULTS / "paper/figure3.csv")
    source = MOVIES if MOVIES in measured["rankings"] else RANDOM
    table = measured.filter(pl.col("rankings") == source).group_by("method", "n_users").agg(
        pl.col("error").mean(), (pl.col("error").std() / pl.len().sqrt()).fill_null(0.0).alias("se")
    )  # fmt: skip
    clipped = pl.max_horizontal(pl.col("error"), LEAST_ERROR)
    rows = table.with_columns(
        error=clipped,
        low=pl.max_horizontal(pl.col("error") - pl.col("se"), LEAST_ERROR),
        high=pl.max_horizontal(pl.col("error") + pl.col("se"), LEAST_ERROR),
    ).sort("n_users")
    x = log_axis(alt.X, "n_users", "users", USERS)
    y = log_axis(
        alt.Y, "error", "error of the rankings (Kendall distance; 0.5 is random)", [10.0**n for n in range(-5, 0)]
    )
    save_figure(measured_curves(rows.to_dicts(), x, y, "method", NAMES).properties(width=560, height=380), "figure3")


def check_bounds() -> None:
    """Fail where 300 users give MixedRanking more error than 20,000 and more give the printed detection or FJS, where
    whitened detection has more than a tenth of the error of the printed one from 5,000 users on, or where RP does not
    converge: more error than ``MOST_ERROR``, or than FJS from 300 users on."""
    table = pl.read_csv(RESULTS / "paper/figure3.csv").filter(pl.col("rankings") == MOVIES)
    errors = {key: float(rows["error"].mean()) for key, rows in table.group_by("method", "n_users")}
    ours = errors.get(("MixedRanking", FEW_USERS), 0.0)
    for (name, n_users), error in sorted(errors.items()):
        if name in ("RP as printed", "FJS") and n_users >= 20_000 and ours >= error:
            raise SystemExit(f"{name} with {n_users:,} users: expected more than {ours:.4f}, got {error:.4f}")
        most = min(MOST_ERROR.get(n_users, np.inf), errors.get(("FJS", n_users), np.inf) if n_users >= 300 else np.inf)
        if name == "RP" and error > most:
            raise SystemExit(f"RP with {n_users:,} users: expected at most {most:.4f}, got {error:.4f}")
        bound = 0.1 * errors.get(("RP as printed", n_users), np.inf)
        if name == "whitened" and n_users >= 5_000 and error > bound:
            raise SystemExit(f"whitened with {n_users:,} users: expected at most {bound:.4f}, got {error:.4f}")


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--users", type=int, nargs="+", default=USERS)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--draw", action="store_true", help="draw the results there are, measure nothing")
    given = parser.parse_args()
    warnings.simplefilter("ignore", plurank.ConvergenceWarning)
    if not given.draw:
        source, rankings = (MOVIES, rankings_of_movies(given.data)) if given.data else (RANDOM, None)
        if rankings is not None and not plurank.is_separable(rankings):
            raise SystemExit("the rankings along the factors are not separable; expected a novel pair for each.")
        for n_users in given.users:
            for run in range(given.runs):
                missing = [name for name in given.only if key_of(source, name, n_users, run) not in known_keys()]
                if missing:
                    truth = plurank.simulate(n_users, 100, K, N, CONCENTRATION, run, rankings=rankings)
                    rows = [measure(source, name, truth, run) for name in missing]
                    write_results("paper/figure3", rows, replacing="key")
    draw()
    check_bounds()


if __name__ == "__main__":
    main()
