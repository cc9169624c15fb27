"""SingleRanking: one ranking for everybody."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from plurank.baselines.strengths import WinTable, maximise, walk
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import index_pairs
from plurank.engine.local import Engine
from plurank.mixed.bradley_terry import BradleyTerry, mean_wins
from plurank.models.base import FitResult, RankingModel
from plurank.models.fields import COMMON, Field, Fields
from plurank.types import Codes, Floats, Progress
from plurank.validation import check_choice, check_positive, check_whole

Method = Literal["mm", "spectral"]
METHODS = {"mm": (maximise, 1e-6), "spectral": (walk, 1e-9)}  # and the change that counts as none
STAGE = "fitting one ranking"


@dataclass(kw_only=True)
class ScoredFit(FitResult):
    """What a fit of rankings with scores (Q, K) found."""

    scores: Floats


class SingleRanking(RankingModel):
    """One Bradley-Terry ranking for all users.

    Parameters
    ----------
    method : {"mm", "spectral"}, default="mm"
        Maximum likelihood by minorise-maximise and Newton steps, or rank centrality.
    prior : float, default=0.1
        Comparisons added so that scores stay finite: with "mm", wins and losses of every item against one of mean
        strength; with "spectral", wins of both sides of every pair compared.
    max_iter : int, default=10_000
        Maximum number of rounds, or of steps of the random walk.

    Attributes
    ----------
    scores_ : ndarray of shape (Q, 1)
        Log strengths.
    rankings_ : ndarray of shape (1, Q)
        Item numbers, best first.
    user_weights_, mean_weights_ : ndarray of shape (M, 1) and (1,)
        All 1.
    concentration_ : float
        1, without meaning.
    items_, users_ : ndarray
        Labels of items (Q,) and users (M,).
    n_iter_, converged_ : int, bool
        Number of rounds, and whether the scores had stopped changing.

    References
    ----------
    D. R. Hunter (2004), "MM Algorithms for Generalized Bradley-Terry Models", Annals of Statistics 32.

    S. Negahban, S. Oh and D. Shah (2012), "Iterative Ranking from Pair-wise Comparisons", NIPS.

    Examples
    --------
    >>> import plurank
    >>> votes = plurank.Comparisons.from_arrays([1, 2, 3], ["tea", "tea", "milk"], ["milk", "juice", "juice"])
    >>> model = plurank.SingleRanking().fit(votes)
    >>> model.items_[model.rankings_[0]].tolist()
    ['tea', 'milk', 'juice']
    """

    about = "one Bradley-Terry ranking for everybody"
    unfinished = "the scores were still changing"
    scores_: Floats

    def __init__(self, method: Method = "mm", *, prior: float = 0.1, max_iter: int = 10_000) -> None:
        self.method = method
        self.prior = prior
        self.max_iter = max_iter

    @property
    def fields(self) -> Fields:
        """What a fitted model consists of."""
        return {**COMMON, "scores_": Field("f", ("Q", "K"), "a score")}

    def _fit(self, source: Comparisons, engine: Engine, on_progress: Progress) -> ScoredFit:  # noqa: ARG002
        solve, tol = METHODS[self.method]
        table = count_wins(source, self.prior)
        scores, n_iter, converged = solve(
            table, self.max_iter, tol, lambda n: on_progress(STAGE, (n - 1) / self.max_iter)
        )
        on_progress(STAGE, 1.0)
        return ScoredFit(
            scores=scores[:, None], rankings=BradleyTerry(scores[:, None]).rankings,
            user_weights=self._infer_weights(source), mean_weights=np.ones(1), concentration=1.0,
            n_iter=n_iter, converged=converged,
        )  # fmt: skip

    def check_parameters(self) -> None:
        """Raise a ParameterError where a parameter is not valid."""
        check_choice("method", self.method, Method)
        check_positive("prior", self.prior)
        check_whole("max_iter", self.max_iter, 1)

    def _infer_weights(self, comparisons: Comparisons) -> Floats:
        return np.ones((comparisons.n_users, 1))

    def _win_probabilities(self, winners: Codes, losers: Codes) -> Floats:
        return BradleyTerry(self.scores_).chances(winners, losers)

    def _item_scores(self, weights: Floats) -> Floats:
        return mean_wins(self.scores_) @ weights


def count_wins(comparisons: Comparisons, prior: float) -> WinTable:
    """Count the wins of both sides of every pair that occurs."""
    c = comparisons
    rows, lower, higher = index_pairs(c.winners, c.losers, c.n_items)
    wins = np.bincount(rows, c.weights, 2 * len(lower)).astype(np.float64)
    return WinTable(c.n_items, lower, higher, wins.reshape(-1, 2), prior)
