"""Why the paper's detection of novel pairs does not converge in Figure 3: what it chose, and what the rest would do.

    python -m benchmarks.paper.figure3_checks [--seeds 5] [--only pairs noise]

Simulated people as in Figure 3 (random rankings), and smaller populations. Of the K pairs chosen: how many are novel,
and to how many different rankings; the error of the rankings; and that of Algorithms 3 and 4 when they are given a
novel pair of every ranking, the one seen most often. zeta / 2 is the tolerance that tells pairs of different rankings
apart, 0.01 as in the paper's code, or larger; statistic is the one of the appendix that was used, see
``detect_printed``. That is part "pairs". Part "noise", at the sizes of Figure 3 (``figure3_noise.csv``), holds rows of
the estimate of E against the known E:
- noise_times_count: squared length of a row's noise times how often its pair was seen in the half that rows are made
  of, median and 90 % range over the rows; noise_outside: its share outside the row space of E, median;
- highest_*: the rows that lie highest along random directions: how often their pairs were seen, and the ratio of noise
  to signal in them (squared lengths), medians over the directions; all_ratio: the median over all rows;
- gap_*: E_ii - 2 E_ij + E_jj of two novel pairs, 90 % range for pairs of one ranking and of different rankings: in
  the population, in the raw estimate, and in the rank-K estimate less the noise of its rows. overlap is the share of
  pairs of different rankings below the 95 % point of those of one ranking.
"""

import numpy as np
from numpy.typing import NDArray

import plurank
from benchmarks.common import parser_of, write_results
from plurank.topic.moments import Moments, pair_moments
from plurank.topic.orders import ranking_matrix
from plurank.topic.printed import project
from plurank.topic.recover import PROJECTIONS_PER_RANKING, REGRESSION_TOL, recover_rankings
from plurank.topic.rounding import estimate_ranking_matrix, round_to_rankings
from plurank.topic.whitened import embed

SETTINGS = (  # items, rankings, comparisons a user, users
    (20, 4, 100, 3_000),
    (20, 4, 20, 20_000),
    (100, 10, 300, 10_000),
    (100, 10, 300, 30_000),
)
NOISE_USERS = (1_000, 10_000, 100_000)
N_DIRECTIONS = 300
TOLERANCES = (0.01, 2.0, 20.0)
CONCENTRATION = 0.1
Rows = NDArray[np.int64]


def measure(setting: tuple[int, int, int, int], seed: int) -> list[dict[str, object]]:
    n_items, n_rankings, per_user, n_users = setting
    truth = plurank.simulate(n_users, n_items, n_rankings, per_user, CONCENTRATION, seed)
    moments = pair_moments(truth.comparisons, seed)
    sigma = ranking_matrix(truth.rankings, moments.lower, moments.higher)
    alone = sigma.sum(axis=1) == 1
    given = rankings_of_pairs(moments, np.where(alone[:, None] & sigma, moments.counts[:, None], -1.0).argmax(axis=0))
    rows = []
    for tolerance in TOLERANCES:
        about = {
            "n_items": n_items, "n_rankings": n_rankings, "per_user": per_user, "n_users": n_users, "seed": seed,
            "tolerance": tolerance, "error_given_pairs": round(plurank.ranking_error(given, truth.rankings), 4),
        }  # fmt: skip
        try:
            found = recover_rankings(
                moments, n_rankings, "printed", separation_tol=tolerance, rng=np.random.default_rng(seed)
            )
        except plurank.NotIdentifiableError:  # fewer pairs lie that far apart
            rows.append(about)
            continue
        novel = found.novel.rows[alone[found.novel.rows]]
        rows.append(
            about | {
                "statistic": found.novel.statistic, "novel_pairs": len(novel),
                "rankings_they_tell": len(np.unique(sigma[novel].argmax(axis=1))),
                "error": round(plurank.ranking_error(found.rounded.rankings, truth.rankings), 4),
            }
        )  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def rankings_of_pairs(moments: Moments, rows: Rows) -> NDArray[np.int64]:
    """Run Algorithms 3 and 4 with given novel pairs, by distances of whole rows of E."""
    n_projections = PROJECTIONS_PER_RANKING * len(rows)
    projections = project(moments, n_projections, "gaussian", rng=np.random.default_rng(0))
    targets = (projections @ projections[rows].T).astype(np.float64) / n_projections
    matrix = estimate_ranking_matrix(targets[rows].copy(), targets, moments.counts, REGRESSION_TOL)
    return round_to_rankings(matrix, moments.lower, moments.higher, moments.n_items).rankings


def measure_noise(n_users: int, seed: int) -> dict[str, object]:
    """Hold the estimates of E, raw and of rank K, against the known one: noise of rows, highest rows, distances."""
    truth = plurank.simulate(n_users, 100, 10, 300, CONCENTRATION, seed)
    moments, rng = pair_moments(truth.comparisons, seed), np.random.default_rng(seed)
    sigma = ranking_matrix(truth.rankings, moments.lower, moments.higher)
    followed = sigma * truth.mean_weights
    shares = followed / np.maximum(followed.sum(axis=1, keepdims=True), 1e-300)
    correlations = (CONCENTRATION + np.diag(1.0 / truth.mean_weights)) / (CONCENTRATION + 1.0)  # E: Lemma 2
    seen_in_half = sum(half.totals()[1] for half in moments.factors().halves)
    seen = np.flatnonzero(seen_in_half)

    directions = rng.standard_normal((len(shares), N_DIRECTIONS))
    raw = moments.product(directions)[seen]
    basis = np.linalg.qr(shares)[0]  # of the row space of E
    noise = np.mean((raw - (shares @ (correlations @ (shares.T @ directions)))[seen]) ** 2, axis=1)
    inside = moments.product(basis)[seen] - (shares @ (correlations @ (shares.T @ basis)))[seen]
    root = np.linalg.cholesky(shares.T @ shares)
    signal = np.sum((shares[seen] @ correlations @ root) ** 2, axis=1)
    highest = raw.argmax(axis=0)
    often = seen_in_half[seen]
    row = {"key": f"{n_users}, {seed}", "n_users": n_users, "seed": seed, "dimensions": len(seen)}
    row |= quantiles("noise_times_count", noise * often)
    row["noise_outside"] = round(1.0 - float(np.median(np.sum(inside**2, axis=1) / noise)), 4)
    row["highest_seen"] = float(np.median(often[highest]))
    row["highest_ratio"] = round(float(np.median((noise / signal)[highest])), 2)
    row["all_ratio"] = round(float(np.median(noise / signal)), 2)

    novel = np.flatnonzero((sigma.sum(axis=1) == 1) & (moments.counts > 0))
    points = embed(moments, len(truth.rankings), rng=rng)
    variance = np.trace(moments.row_noise(points)) / moments.counts[novel]
    estimates = {
        "population": (shares @ correlations @ shares[novel].T)[novel],
        "raw": moments.columns(novel)[novel],
        "rank_k": points[novel] @ points[novel].T - np.diag(variance),
    }
    first, second = np.triu_indices(len(novel), 1)
    ranking = sigma[novel].argmax(axis=1)
    same = ranking[first] == ranking[second]
    for name, entries in estimates.items():
        gaps = np.diag(entries)[first] - 2.0 * entries[first, second] + np.diag(entries)[second]
        row |= quantiles(f"gap_{name}_same", gaps[same]) | quantiles(f"gap_{name}_different", gaps[~same])
        row[f"overlap_{name}"] = round(float(np.mean(gaps[~same] <= np.quantile(gaps[same], 0.95))), 4)
    print(row, flush=True)
    return row


def quantiles(name: str, values: NDArray[np.float64]) -> dict[str, float]:
    """The median and the 5 % and 95 % points."""
    found = np.quantile(values, [0.05, 0.5, 0.95])
    return {f"{name}_{which}": float(f"{value:.4g}") for which, value in zip(("5", "50", "95"), found, strict=True)}


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", nargs="+", choices=("pairs", "noise"), default=["pairs", "noise"])
    parser.add_argument("--users", type=int, nargs="+", default=NOISE_USERS, help="of the part on noise")
    given = parser.parse_args()
    seeds = range(given.seeds)
    if "pairs" in given.only:
        rows = [row for setting in SETTINGS for seed in seeds for row in measure(setting, seed)]
        write_results("paper/figure3_checks", rows)
    if "noise" in given.only:
        rows = [measure_noise(n_users, seed) for n_users in given.users for seed in seeds]
        write_results("paper/figure3_noise", rows, replacing="key")


if __name__ == "__main__":
    main()
