"""ClusteredRanking: everybody follows one of a few rankings, and nobody mixes them."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import NDArray

from plurank import kernels
from plurank.baselines.single_ranking import ScoredFit
from plurank.baselines.strengths import WinTable, improve, prior_cost
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import index_pairs
from plurank.engine.local import Engine
from plurank.exceptions import NotIdentifiableError
from plurank.inference.likelihood import Seeds, UserLikelihood
from plurank.inference.posterior import Draws
from plurank.mixed.bradley_terry import BradleyTerry, mean_wins
from plurank.mixed.init import find_user_vertices
from plurank.models.base import RankingModel
from plurank.models.fields import COMMON, Field, Fields
from plurank.random import RandomState, as_generator, spawn
from plurank.text import count
from plurank.types import Codes, Floats, Progress, silent
from plurank.validation import check_positive, check_whole

TRIAL_PASSES = 20
ONE_RANKING_EACH = 0.01  # a Dirichlet of so small a concentration puts everybody on one ranking
SHARE_PRIOR = 1.0  # people imagined in each cluster, so that none dies out
STAGE = "fitting clusters"
OWN_FIELDS = {"scores_": Field("f", ("Q", "K"), "a score"), "log_posterior_": Field("f", ("passes",))}


class Clusters(NamedTuple):
    """Scores (Q, K) of K clusters, their shares of the users (K,), and the log posterior after every pass."""

    scores: Floats
    shares: Floats
    history: tuple[float, ...] = ()
    converged: bool = False


@dataclass(kw_only=True)
class ClusteredFit(ScoredFit):
    """What a fit found, see the attributes of ``ClusteredRanking``."""

    log_posterior: Floats


class ClusteredRanking(RankingModel):
    """Finite mixture of Bradley-Terry rankings: every user belongs to one cluster, each with a ranking of its own.

    Fitted by EM from several initialisations, of which the most probable one after a few passes is continued. Memory
    and the time of a pass are linear in the number of comparisons.

    Parameters
    ----------
    n_rankings : int, default=10
        Number of clusters (K).
    n_starts : int, default=4
        Number of initialisations: the first from users who stand out, the others random.
    prior : float, default=0.1
        Wins and losses of every item against one of mean strength, added in every cluster.
    max_iter : int, default=200
        Maximum number of passes.
    tol : float, default=1e-6
        Gain of the log posterior per comparison below which a pass counts as converged.
    random_state : int, numpy.random.Generator or None, default=None
        Seed.

    Attributes
    ----------
    rankings_ : ndarray of shape (K, Q)
        Item numbers, best first; the largest cluster first.
    scores_ : ndarray of shape (Q, K)
        Log strengths.
    user_weights_ : ndarray of shape (M, K)
        Probability of every user to belong to each cluster.
    mean_weights_ : ndarray of shape (K,)
        Shares of the clusters.
    concentration_ : float
        0.01: nearly one ranking for each user.
    items_, users_ : ndarray
        Labels of items (Q,) and users (M,).
    log_posterior_ : ndarray of shape (n_iter_,)
        Log posterior after each pass.
    n_iter_, converged_ : int, bool
        Number of passes, and whether the last one gained less than ``tol``.

    Examples
    --------
    >>> import plurank
    >>> made = plurank.simulate(100, 5, 2, 20, 0, rankings=[[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]], random_state=0)
    >>> model = plurank.ClusteredRanking(2, random_state=0).fit(made.comparisons)
    >>> plurank.ranking_error(model.rankings_, made.rankings)
    0.0
    """

    about = "a mixture in which everybody follows one ranking"
    scores_: Floats

    def __init__(
        self,
        n_rankings: int = 10,
        *,
        n_starts: int = 4,
        prior: float = 0.1,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: RandomState = None,
    ) -> None:
        self.n_rankings = n_rankings
        self.n_starts = n_starts
        self.prior = prior
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @property
    def fields(self) -> Fields:
        """What a fitted model consists of."""
        return {**COMMON, **OWN_FIELDS}

    def _fit(self, source: Comparisons, engine: Engine, on_progress: Progress) -> ClusteredFit:  # noqa: ARG002
        if self.n_rankings > source.n_users:
            raise NotIdentifiableError(
                f"{count(self.n_rankings, 'ranking')} were asked for, but there are only "
                f"{count(source.n_users, 'user')}, each of whom follows one. Try fewer rankings."
            )
        mixture = Mixture.of(source, self.prior)
        best = self._start(source, mixture, as_generator(self.random_state), on_progress)
        clusters = mixture.maximise(best, self.max_iter, self.tol, on_progress)
        return ClusteredFit(
            scores=clusters.scores, rankings=BradleyTerry(clusters.scores).rankings,
            user_weights=mixture.members_of(clusters)[0], mean_weights=clusters.shares, concentration=ONE_RANKING_EACH,
            log_posterior=np.array(clusters.history), n_iter=len(clusters.history), converged=clusters.converged,
        )  # fmt: skip

    def check_parameters(self) -> None:
        """Raise a ParameterError where a parameter is not valid."""
        for name in ("n_rankings", "n_starts", "max_iter"):
            check_whole(name, getattr(self, name), 1)
        check_positive("prior", self.prior)
        check_positive("tol", self.tol)

    def _start(
        self, comparisons: Comparisons, mixture: "Mixture", rng: np.random.Generator, on_progress: Progress
    ) -> Clusters:
        """Return the start whose clusters are the most probable after a few passes."""
        n_starts = self.n_starts if self.n_rankings > 1 else 1
        tried = []
        for n, child in enumerate(spawn(rng, n_starts)):
            on_progress("finding a start", n / n_starts)
            if n == 0:
                members = find_user_vertices(comparisons, self.n_rankings, rng=child)
            else:
                members = child.dirichlet(np.ones(self.n_rankings), comparisons.n_users)
            begun = mixture.clusters_of(members, np.zeros((comparisons.n_items, self.n_rankings)))
            tried.append(mixture.maximise(begun, min(TRIAL_PASSES, self.max_iter), self.tol))
        return max(tried, key=lambda clusters: clusters.history[-1])

    def _infer_weights(self, comparisons: Comparisons) -> Floats:
        mixture = Mixture.of(comparisons, self.prior)
        return mixture.members_of(Clusters(self.scores_, self.mean_weights_))[0]

    def _win_probabilities(self, winners: Codes, losers: Codes) -> Floats:
        return BradleyTerry(self.scores_).chances(winners, losers)

    def likelihoods(self) -> list[UserLikelihood]:
        """Return the likelihood of new users."""
        return [OneClusterEach(Clusters(self.scores_, self.mean_weights_))]

    def _item_scores(self, weights: Floats) -> Floats:
        return mean_wins(self.scores_) @ weights


@dataclass(frozen=True)
class Mixture:
    """The comparisons by user and by ordered pair: row ``2 p + (winner > loser)`` of pair p = (lower, higher)."""

    comparisons: Comparisons
    rows: Codes
    lower: Codes
    higher: Codes
    prior: float

    @classmethod
    def of(cls, comparisons: Comparisons, prior: float) -> Self:
        """Number the pairs that occur."""
        return cls(comparisons, *index_pairs(comparisons.winners, comparisons.losers, comparisons.n_items), prior)

    @cached_property
    def _by_row(self) -> tuple[NDArray[np.int64], Codes, Floats]:
        """Where each ordered pair begins, (W + 1,), and the user and weight of its comparisons."""
        c = self.comparisons
        order, begins = kernels.group(self.rows, 2 * len(self.lower))
        return begins, c.user_of_each()[order], c.kernel_weights if c.weights is None else c.weights[order]

    def chances_of(self, clusters: Clusters) -> Floats:
        """Log-probability of each user's cluster together with all comparisons of the user, (M, K)."""
        c = self.comparisons
        leads = clusters.scores[self.lower] - clusters.scores[self.higher]
        chances = np.empty((2 * len(leads), leads.shape[1]))
        chances[0::2], chances[1::2] = -np.logaddexp(0.0, -leads), -np.logaddexp(0.0, leads)
        said = kernels.sum_gathered(c.offsets[:-1], c.offsets[1:], self.rows, c.kernel_weights, chances)
        return said + np.log(clusters.shares)

    def members_of(self, clusters: Clusters) -> tuple[Floats, float]:
        """Take the E-step: each user's probabilities to belong to the clusters, (M, K), and the log posterior."""
        joint = self.chances_of(clusters)
        user_concentration = scipy.special.logsumexp(joint, axis=1, keepdims=True)
        members = np.exp(joint - user_concentration)
        members /= members.sum(axis=1, keepdims=True)
        cost = sum(prior_cost(self.prior, scores) for scores in clusters.scores.T)
        return members, float(user_concentration.sum() + SHARE_PRIOR * np.log(clusters.shares).sum() - cost)

    def clusters_of(self, members: Floats, scores: Floats) -> Clusters:
        """Take the M-step, or a step towards it: shares, and for each cluster better scores than the ones given."""
        begins, users, weights = self._by_row
        wins = kernels.sum_gathered(begins[:-1], begins[1:], users, weights, members)
        pairs = (self.comparisons.n_items, self.lower, self.higher)
        tables = [WinTable(*pairs, own.reshape(-1, 2), self.prior) for own in wins.T]
        better = [improve(table, before) for table, before in zip(tables, scores.T, strict=True)]
        shares = members.sum(axis=0) + SHARE_PRIOR
        return Clusters(np.stack(better, axis=1), shares / shares.sum())

    def maximise(self, clusters: Clusters, max_iter: int, tol: float, on_progress: Progress = silent) -> Clusters:
        """Run EM on from given clusters, up to max_iter passes in all; the log posterior never falls."""
        enough, history = tol * self.comparisons.total_weight, list(clusters.history)
        members, value = self.members_of(clusters)
        history = history or [value]
        converged = False
        while len(history) < max_iter and not converged:
            on_progress(STAGE, len(history) / max_iter)
            clusters = self.clusters_of(members, clusters.scores)
            members, value = self.members_of(clusters)
            converged = value - history[-1] < enough
            history.append(value)
        on_progress(STAGE, 1.0)
        return Clusters(clusters.scores, clusters.shares, tuple(history), converged)


@dataclass(frozen=True)
class OneClusterEach:
    """New users belong to one cluster each, nobody knows to which; their likelihood needs no sampling."""

    clusters: Clusters

    @property
    def prior(self) -> Floats:
        """The counts of the Dirichlet that says nearly the same, (K,)."""
        return ONE_RANKING_EACH * self.clusters.shares

    def log_likelihoods(self, comparisons: Comparisons, seeds: Seeds, n_particles: int) -> Floats:  # noqa: ARG002
        """Sum over the clusters, (M,)."""
        return scipy.special.logsumexp(Mixture.of(comparisons, 0.0).chances_of(self.clusters), axis=1)

    def draw_posterior(self, comparisons: Comparisons, n: int, seed: int) -> Draws:  # noqa: ARG002
        """Return the clusters, each with its probability, of one user."""
        joint = Mixture.of(comparisons, 0.0).chances_of(self.clusters)[0]
        return Draws(np.eye(len(joint)), scipy.special.softmax(joint))

    def chances(self, weights: Floats, left: Codes, right: Codes) -> Floats:
        """P(left over right) for pairs and for each of several weights (m, K), (n, m)."""
        return np.minimum(BradleyTerry(self.clusters.scores).chances(left, right) @ weights.T, 1.0)
