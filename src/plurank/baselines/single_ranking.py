"""SingleRanking: one ranking for everybody."""

import warnings
from typing import Any, Literal, Self

import numpy as np

from plurank.baselines.strengths import WinTable, maximise, walk
from plurank.blas import one_blas_thread
from plurank.data.build import index_pairs
from plurank.data.comparisons import Comparisons
from plurank.engine.local import LocalEngine
from plurank.engine.sources import as_comparisons
from plurank.exceptions import Argument, ConvergenceWarning
from plurank.mixed.bradley_terry import BradleyTerry, mean_wins
from plurank.models.base import RankingModel
from plurank.models.fields import COMMON, Field, Fields
from plurank.progress import Progress, silent
from plurank.text import count
from plurank.types import Codes, Floats
from plurank.validation import check_choice, check_positive, check_whole

Method = Literal["mm", "spectral"]
METHODS = {"mm": (maximise, 1e-6), "spectral": (walk, 1e-9)}  # and the change that counts as none
STAGE = "fitting one ranking"


class SingleRanking(RankingModel):
    """One Bradley-Terry ranking for all users: the average that the other models look behind.

    Parameters: ``method``, ``mm`` (maximum likelihood by minorise-maximise; Hunter 2004) or ``spectral`` (rank
    centrality; Negahban, Oh and Shah 2012); ``prior``, comparisons added so that undefeated items and unconnected
    groups of items do no harm: with ``mm`` so many wins and losses of every item against one of mean strength, with
    ``spectral`` so many wins of both sides of every pair compared; ``max_iter`` rounds, or steps of the walk.

    After ``fit``: ``scores_`` (Q, 1), log strengths; ``rankings_`` (1, Q) item numbers, best first; ``user_weights_``
    (M, 1) and ``mean_weights_`` (1,), all 1; ``concentration_``, 1 and without meaning; ``items_``, ``users_``;
    ``n_iter_``; ``converged_``.
    """

    about = "one Bradley-Terry ranking for everybody"
    scores_: Floats

    def __init__(self, method: Method = "mm", *, prior: float = 0.1, max_iter: int = 10_000) -> None:
        self.method = method
        self.prior = prior
        self.max_iter = max_iter

    @property
    def fields(self) -> Fields:
        """What a fitted model consists of."""
        return {**COMMON, "scores_": Field("f", ("Q", "K"), "a score")}

    def fit(self, X: Any, y: None = None, *, on_progress: Progress = silent) -> Self:  # noqa: ARG002
        """Count who beats whom, then find the scores."""
        self._check_parameters()
        comparisons = as_comparisons(X)
        solve, tol = METHODS[self.method]
        with one_blas_thread():
            table = count_wins(comparisons, self.prior)
            scores, self.n_iter_, self.converged_ = solve(
                table, self.max_iter, tol, lambda n: on_progress(STAGE, (n - 1) / self.max_iter)
            )
        self._keep(comparisons, scores[:, None])
        on_progress(STAGE, 1.0)
        if not self.converged_:
            message = f"the scores were still changing after {count(self.n_iter_, 'iteration')}; they are kept."
            hint = ("Try a larger ", Argument("max_iter"), ".")
            warnings.warn(ConvergenceWarning(message, hint=hint), stacklevel=2)
        return self

    def _check_parameters(self) -> None:
        check_choice("method", self.method, Method)
        check_positive("prior", self.prior)
        check_whole("max_iter", self.max_iter, 1)

    def _keep(self, comparisons: Comparisons, scores: Floats) -> None:
        self.items_, self.users_ = comparisons.items, comparisons.users
        self.data_ = comparisons.summary()
        self.scores_, self.rankings_ = scores, BradleyTerry(scores).rankings
        self.mean_weights_, self.concentration_ = np.ones(1), 1.0
        self.user_weights_ = self._infer_weights(comparisons)
        self._keep_votes(comparisons, LocalEngine())

    def _infer_weights(self, comparisons: Comparisons) -> Floats:
        return np.ones((comparisons.n_users, 1))

    def _token_likelihoods(self, winners: Codes, losers: Codes) -> Floats:
        return BradleyTerry(self.scores_).chances(winners, losers)

    def _item_scores(self, weights: Floats) -> Floats:
        return mean_wins(self.scores_) @ weights


def count_wins(comparisons: Comparisons, prior: float) -> WinTable:
    """Count the wins of both sides of every pair that occurs."""
    c = comparisons
    rows, lower, higher = index_pairs(c.winners, c.losers, c.n_items)
    wins = np.bincount(rows, c.weights, 2 * len(lower)).astype(np.float64)
    return WinTable(c.n_items, lower, higher, wins.reshape(-1, 2), prior)
