"""Recover the rankings that a population shares.

Paper: Algorithm 1 (Ranking Recovery), section 5. Needs the moments of the comparisons; gives rankings and all that was
found on the way. Differences from the paper: ``detection="whitened"`` replaces Algorithm 2 and polishes what comes out.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plurank.choices import Detection, Directions
from plurank.exceptions import NotIdentifiableError
from plurank.topic.moments import Moments
from plurank.topic.orders import ranking_matrix
from plurank.topic.projections import detect_novel_pairs
from plurank.topic.rounding import Rounded, estimate_ranking_matrix, polish_rankings, round_to_rankings
from plurank.topic.whitened import NovelPairs, WhitenedPairs, detect_whitened
from plurank.types import Progress, silent

PROJECTIONS_PER_RANKING = 150
SEPARATION_TOL, REGRESSION_TOL = 0.01, 1e-4  # of Algorithms 2 and 3


@dataclass(frozen=True)
class Recovery:
    """What Algorithm 1 found: novel pairs, the weighted ranking matrix (W, K) and the rankings.

    n_rounds of polishing, and whether more of them would not have helped.
    """

    novel: NovelPairs
    matrix: NDArray[np.float64]
    rounded: Rounded
    n_rounds: int = 0
    is_stable: bool = True


def recover_rankings(
    moments: Moments,
    n_rankings: int,
    detection: Detection = "whitened",
    *,
    n_projections: int | None = None,
    separation_tol: float = SEPARATION_TOL,
    regression_tol: float = REGRESSION_TOL,
    directions: Directions = "gaussian",
    rng: np.random.Generator,
    on_progress: Progress = silent,
) -> Recovery:
    """Run Algorithm 1; ``n_projections`` is 150 K unless given."""
    how = (n_projections, separation_tol, directions)
    novel = detect(moments, n_rankings, detection, *how, rng=rng, on_progress=on_progress)
    matrix = estimate_ranking_matrix(novel.gram, novel.targets, moments.counts, regression_tol)
    if isinstance(novel, WhitenedPairs):
        return Recovery(novel, *polish_rankings(moments, novel.points, matrix, regression_tol, on_progress))
    return Recovery(novel, matrix, round_to_rankings(matrix, moments.lower, moments.higher, moments.n_items))


def detect(
    moments: Moments,
    n_rankings: int,
    detection: Detection,
    n_projections: int | None = None,
    separation_tol: float = SEPARATION_TOL,
    directions: Directions = "gaussian",
    *,
    rng: np.random.Generator,
    on_progress: Progress,
) -> NovelPairs:
    """Run Algorithm 2, or what takes its place."""
    if detection == "whitened":
        on_progress("detecting novel pairs", 0.0)
        return detect_whitened(moments, n_rankings, rng=rng)
    n_projections = n_projections or PROJECTIONS_PER_RANKING * n_rankings
    how = (moments, n_rankings, n_projections, separation_tol)
    if detection == "printed":
        from plurank.topic.printed import detect_printed

        return detect_printed(*how, directions, rng=rng, on_progress=on_progress)
    return detect_novel_pairs(*how, rng=rng, on_progress=on_progress)


def novel_rows(recovery: Recovery, moments: Moments) -> NDArray[np.int64]:
    """Return for each ranking a row that it alone has in this order, (K,): the one detected if it is, else the row with
    the largest weight in the matrix; -1 where the rankings found leave none.
    """
    sigma = ranking_matrix(recovery.rounded.rankings, moments.lower, moments.higher)
    alone = (sigma.sum(axis=1) == 1)[:, None] & sigma
    weight = np.where(alone, recovery.matrix, -1.0)
    rows = np.where(alone.any(axis=0), weight.argmax(axis=0), -1)
    columns = np.arange(len(rows))
    return np.where(alone[recovery.novel.rows, columns], recovery.novel.rows, rows)


def check_distinct(recovery: Recovery) -> None:
    """Raise an error if some rankings are equal: the data support fewer than were asked for."""
    rankings = recovery.rounded.rankings
    n_distinct = len(np.unique(rankings, axis=0))
    if n_distinct < len(rankings):
        found = "one was found" if n_distinct == 1 else f"{n_distinct} different ones were found"
        raise NotIdentifiableError(
            f"{len(rankings)} rankings were asked for, but only {found}. "
            "Try fewer rankings, more users, or more comparisons per user."
        )
