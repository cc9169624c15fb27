"""TopicRanking: the paper's method as an estimator."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from plurank.blas import one_blas_thread
from plurank.choices import Detection, Directions, EngineName
from plurank.data.comparisons import Comparisons
from plurank.data.split import every_nth_user
from plurank.engine.local import Engine
from plurank.engine.sources import as_source, map_users, open_engine
from plurank.exceptions import ConvergenceWarning
from plurank.models.base import RankingModel
from plurank.models.estimator import check_is_fitted
from plurank.models.fields import COMMON, Field, Fields
from plurank.progress import Progress, silent
from plurank.random import RandomState, as_generator, draw_seed
from plurank.store.store import Store
from plurank.topic.moments import Moments, pair_moments, stored_pair_moments
from plurank.topic.orders import FIRST_FLIP, Strict, ranking_matrix
from plurank.topic.prior import fit_prior, fit_prior_by_likelihood
from plurank.topic.recover import (
    Recovery,
    check_distinct,
    novel_rows,
    recover_rankings,
)
from plurank.topic.user_weights import fit_flip, infer_weights
from plurank.types import Codes, Floats
from plurank.validation import check_choice, check_positive, check_whole

# Models of strict rankings: how they decide, and how users are weighed once the rankings are found.

N_WEIGHING_ROUNDS = 2
FLIP_SAMPLE = 500_000  # comparisons
STAGE = "weighing rankings for every user"


class StrictRankings(RankingModel, loadable=False):
    """A model whose rankings are strict, but for a share of choices that go against them."""

    flip_probability_: float

    def _component(self) -> Strict:
        return Strict(self.rankings_, self.flip_probability_)

    def _weigh_users(
        self,
        source: Comparisons | Store,
        fit_prior: Callable[[Comparisons], None],
        on_progress: Progress,
        engine: Engine,
    ) -> None:
        """Fit prior and flip probability in turns on some of the users, then the weights of all."""
        sample = every_nth_user(source, FLIP_SAMPLE)
        self.flip_probability_, weights = FIRST_FLIP, None
        for turn in range(N_WEIGHING_ROUNDS):
            on_progress(STAGE, turn / (N_WEIGHING_ROUNDS + 1))
            fit_prior(sample)
            weights = infer_weights(sample, self.rankings_, self.flip_probability_, self._prior(), weights)
            self.flip_probability_ = fit_flip(sample, self.rankings_, weights)
        how = (self.rankings_, self.flip_probability_, self._prior())
        self.user_weights_ = np.concatenate(list(map_users(source, weigh_users, how, engine)))
        on_progress(STAGE, 1.0)

    def _infer_weights(self, comparisons: Comparisons) -> Floats:
        return infer_weights(comparisons, self.rankings_, self.flip_probability_, self._prior())

    def _token_likelihoods(self, winners: Codes, losers: Codes) -> Floats:
        return self._component().chances(winners, losers)

    def _item_scores(self, weights: Floats) -> Floats:
        return self._component().mean_wins() @ weights


def weigh_users(how: tuple[Any, ...], _: int, users: Comparisons) -> Floats:
    """Weigh rankings for users, given rankings, flip probability and prior."""
    return infer_weights(users, *how)


PriorFit = Literal["moments", "likelihood"]

OWN_FIELDS = {
    "flip_probability_": Field("f", (), "at most a half"),
    "intransitive_triples_": Field("i", ("K",), "not negative"),
    "solid_angles_": Field("f", ("K",), "not negative"),
    "separation_statistic_": Field("U", (), "any"),
    "_novel_items": Field("i", ("K", 2), "an item or none"),
}


class TopicRanking(StrictRankings):
    """Rankings shared by a population, by the method of *A Topic Modeling Approach to Ranking*.

    Parameters: ``n_rankings`` (K); ``detection`` of novel pairs, ``whitened`` (ours) or ``projections`` (the paper's
    Algorithm 2, with ``n_projections`` (None: 150 K), ``separation_tol`` (zeta / 2) and ``directions``, ``gaussian`` or
    ``sphere``); ``regression_tol`` (epsilon); ``prior``, how the Dirichlet of user weights is fitted: ``moments`` or
    ``likelihood`` (the variational bound; it takes a user's comparisons for independent, which those made from ratings
    are not); ``random_state``.

    After ``fit``, the most followed ranking first: ``rankings_`` (K, Q) item numbers, best first
    (``items_[rankings_]`` are the labels);
    ``user_weights_`` (M, K); ``mean_weights_`` (K,) and ``concentration_``, the Dirichlet prior; ``flip_probability_``;
    ``items_``, ``users_``; ``novel_pairs_``, K pairs (preferred, other) of labels, or None; ``solid_angles_`` (K,);
    ``separation_statistic_``, how rows of E were told apart; ``intransitive_triples_`` (K,); ``n_iter_`` polishing
    rounds and ``converged_``, whether more of them would not have helped.
    """

    about = "the topic-model method of Ding, Ishwar and Saligrama"

    @property
    def fields(self) -> Fields:
        """What a fitted model consists of."""
        return {**COMMON, **OWN_FIELDS}

    def __init__(
        self,
        n_rankings: int = 10,
        detection: Detection = "whitened",
        *,
        n_projections: int | None = None,
        separation_tol: float = 0.01,
        regression_tol: float = 1e-4,
        directions: Directions = "gaussian",
        prior: PriorFit = "moments",
        random_state: RandomState = None,
    ) -> None:
        self.n_rankings = n_rankings
        self.detection = detection
        self.n_projections = n_projections
        self.separation_tol = separation_tol
        self.regression_tol = regression_tol
        self.directions = directions
        self.prior = prior
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: None = None,  # noqa: ARG002
        *,
        engine: EngineName = "local",
        scheduler: Any = None,
        on_progress: Progress = silent,
    ) -> Self:
        """Recover the rankings (Algorithm 1), then weigh them for every user; X is comparisons in memory, or a store.

        For a store, ``engine="dask"`` runs on the workers of ``scheduler``, an address or a client of dask.distributed,
        or on processes of this machine without one.
        """
        self._check_parameters()
        rng = as_generator(self.random_state)
        # one thread, so that sums in matrix products have one order; the kernels use all cores
        with open_engine(X, engine, scheduler) as runner, one_blas_thread():
            on_progress("counting pairs", 0.0)
            source, seed = as_source(X), draw_seed(rng)
            if isinstance(source, Store):
                moments = stored_pair_moments(source, runner, seed)
            else:
                moments = pair_moments(source, seed)
            recovery = self._recover(moments, rng, on_progress)
            check_distinct(recovery)
            self._keep(source, moments, recovery)
            del recovery  # several numbers for every row and ranking, which nobody needs again
            self._weigh_users(source, partial(self._fit_prior, moments), on_progress, runner)
            self._keep_votes(source, runner)
        self._order_rankings()
        if not self.converged_:
            message = f"the rankings were still improving after {self.n_iter_} rounds of polishing; they are kept."
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    def _check_parameters(self) -> None:
        check_whole("n_rankings", self.n_rankings, 1)
        if self.n_projections is not None:
            check_whole("n_projections", self.n_projections, 1)
        check_choice("detection", self.detection, Detection)
        check_choice("directions", self.directions, Directions)
        check_choice("prior", self.prior, PriorFit)
        check_positive("separation_tol", self.separation_tol)
        check_positive("regression_tol", self.regression_tol)

    def _recover(self, moments: Moments, rng: np.random.Generator, on_progress: Progress) -> Recovery:
        return recover_rankings(
            moments,
            self.n_rankings,
            self.detection,
            n_projections=self.n_projections,
            separation_tol=self.separation_tol,
            regression_tol=self.regression_tol,
            directions=self.directions,
            rng=rng,
            on_progress=on_progress,
        )

    def _keep(self, source: Comparisons | Store, moments: Moments, recovery: Recovery) -> None:
        self.items_, self.users_, self.data_ = source.items, source.users, source.summary()
        self.rankings_ = recovery.rounded.rankings
        self.intransitive_triples_ = recovery.rounded.n_intransitive
        self.solid_angles_ = recovery.novel.solid_angles
        self.separation_statistic_ = recovery.novel.statistic
        self.n_iter_, self.converged_ = recovery.n_rounds, recovery.is_stable
        self._novel_items = _items_of_rows(novel_rows(recovery, moments), moments)

    def _fit_prior(self, moments: Moments, sample: Comparisons) -> None:
        self.mean_weights_, self.concentration_ = fit_prior(moments, self.rankings_, self.flip_probability_)
        if self.prior == "likelihood":
            likely = fit_prior_by_likelihood(sample, self.rankings_, self.flip_probability_, self._prior())
            self.mean_weights_, self.concentration_ = likely.mean, likely.concentration

    @property
    def novel_pairs_(self) -> list[tuple[Any, Any] | None]:
        """The novel pair of every ranking as item labels: (preferred by this ranking alone, the other).

        None for a ranking that agrees with some other ranking on every pair compared.
        """
        check_is_fitted(self)
        labels = self.items_.tolist()
        return [None if i < 0 else (labels[i], labels[j]) for i, j in self._novel_items]

    def ranking_matrix(self) -> NDArray[np.bool_]:
        """Return sigma as the paper has it, (Q (Q - 1), K): rows are ordered pairs (i, j), i first, j second, sorted.

        Only on request: it grows with the square of the number of items.
        """
        check_is_fitted(self)
        n = len(self.items_)
        i, j = np.divmod(np.arange(n * n), n)
        i, j = i[i != j].astype(np.int32), j[i != j].astype(np.int32)
        return ranking_matrix(self.rankings_, i, j)[0::2]


def _items_of_rows(rows: NDArray[np.int64], moments: Moments) -> NDArray[np.int64]:
    """Return (preferred, other) item numbers of ordered pairs, (n, 2); -1 for row -1."""
    pairs = np.stack([moments.lower[rows // 2], moments.higher[rows // 2]], axis=1).astype(np.int64)
    reverse = rows % 2 == 1
    pairs[reverse] = pairs[reverse][:, ::-1]
    pairs[rows < 0] = -1
    return pairs
