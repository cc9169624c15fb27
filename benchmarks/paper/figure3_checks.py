"""Why the paper's detection of novel pairs does not converge in Figure 3: what it chose, and what the rest would do.

    python -m benchmarks.paper.figure3_checks [--seeds 5]

Simulated people as in Figure 3 (random rankings), and smaller populations. Of the K pairs chosen: how many are novel,
and to how many different rankings; the error of the rankings; and that of Algorithms 3 and 4 when they are given a
novel pair of every ranking, the one seen most often. zeta / 2 is the tolerance that tells pairs of different rankings
apart, 0.01 as in the paper's code, or larger; statistic is the one of the appendix that was used, see
``detect_printed``.
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

SETTINGS = (  # items, rankings, comparisons a user, users
    (20, 4, 100, 3_000),
    (20, 4, 20, 20_000),
    (100, 10, 300, 10_000),
    (100, 10, 300, 30_000),
)
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


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(parser.parse_args().seeds)
    rows = [row for setting in SETTINGS for seed in seeds for row in measure(setting, seed)]
    write_results("paper/figure3_checks", rows)


if __name__ == "__main__":
    main()
