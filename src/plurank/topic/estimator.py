"""TopicRanking: the paper's method as an estimator."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from plurank import data
from plurank.choices import Detection, Directions, EngineName
from plurank.data.comparisons import Comparisons
from plurank.engine.blocks import Group, as_source, groups_of, read_users
from plurank.engine.local import Engine
from plurank.inference.posterior import dirichlet_counts
from plurank.models.base import FitResult, RankingModel
from plurank.models.fields import COMMON, Field, Fields, warn_deprecated
from plurank.models.sklearn_api import check_is_fitted
from plurank.random import RandomState, as_generator, draw_seed
from plurank.store.store import Store
from plurank.topic.moments import Moments, pair_moments
from plurank.topic.orders import FIRST_FLIP, Strict, describe_flips, ranking_matrix
from plurank.topic.recover import Recovery, check_distinct, novel_rows, recover_rankings
from plurank.topic.weights import fit_flip, fit_prior, fit_prior_by_likelihood, infer_weights
from plurank.types import Codes, Floats, Integers, Progress, silent
from plurank.validation import check_choice, check_positive, check_whole

N_ROUNDS = 2  # of fitting the prior and the flip probability in turns
FLIP_SAMPLE = 500_000  # comparisons
STAGE = "weighing rankings for every user"
FitPrior = Callable[[Comparisons, float], tuple[Floats, float]]  # mean and concentration, given users and flips


@dataclass(kw_only=True)
class StrictFit(FitResult):
    """What a fit of strict rankings found."""

    flip_probability: float
    intransitive_triples: Integers


class StrictRankings(RankingModel, loadable=False):
    """A model whose rankings are strict, but for a share of choices that go against them."""

    flip_probability_: float

    def _component(self) -> Strict:
        return Strict(self.rankings_, self.flip_probability_)

    def _infer_weights(self, comparisons: Comparisons) -> Floats:
        return infer_weights(comparisons, self.rankings_, self.flip_probability_, self.membership_prior.counts)

    def _win_probabilities(self, winners: Codes, losers: Codes) -> Floats:
        return self._component().chances(winners, losers)

    def _item_scores(self, weights: Floats) -> Floats:
        return self._component().mean_wins() @ weights

    def _own_values(self) -> dict[str, Any]:
        return {"flip_probability": float(self.flip_probability_)}

    def _details(self) -> dict[str, str]:
        return {"flip probability": describe_flips(self.flip_probability_)}


def weigh_users(
    source: Comparisons | Store, rankings: Integers, fit_prior: FitPrior, engine: Engine, on_progress: Progress
) -> dict[str, Any]:
    """Fit prior and flip probability in turns on some of the users, then the weights of all."""
    sample = data.every_nth_user(source, FLIP_SAMPLE)
    flip, weights = FIRST_FLIP, None
    for turn in range(N_ROUNDS):
        on_progress(STAGE, turn / (N_ROUNDS + 1))
        mean, concentration = fit_prior(sample, flip)
        weights = infer_weights(sample, rankings, flip, dirichlet_counts(mean, concentration), weights)
        flip = fit_flip(sample, rankings, weights)
    how = (source, rankings, flip, dirichlet_counts(mean, concentration))
    parts = list(engine.map(_weigh_group, how, groups_of(source, engine.least_units)))
    on_progress(STAGE, 1.0)
    return {
        "flip_probability": flip, "mean_weights": mean, "concentration": concentration,
        "user_weights": np.concatenate(parts),
    }  # fmt: skip


def _weigh_group(how: tuple[Any, ...], group: Group) -> Floats:
    source, *given = how
    return infer_weights(read_users(source, group), *given)


PriorFit = Literal["moments", "likelihood"]

SEPARATION = {
    "whitened": "Pairs were separated in a whitened embedding of the comparisons.",
    "rank K": "Pairs were separated in the rank-K estimate of E, whose noise was taken into account.",
    "entries": "Pairs were separated by single entries of E, as in the paper.",
    "rows": (
        "The diagonal of E is incomplete (some pairs were never compared twice by one user), so distances between "
        "whole rows of E were used instead of single entries."
    ),
}
OWN_FIELDS = {
    "flip_probability_": Field("f", (), "at most a half"),
    "intransitive_triples_": Field("i", ("K",), "not negative"),
    "solid_angles_": Field("f", ("K",), "not negative"),
    "separation_statistic_": Field("U", (), "any"),
    "novel_items_": Field("i", ("K", 2), "an item or none"),
}

DEPRECATED = {  # parameters: their default, and why nobody needs another value
    "directions": ("gaussian", "the length of a direction changes nothing"),
    "regression_tol": (1e-4, "the paper has 1e-4"),
    "prior": ("moments", "MixedRanking chooses the prior on held-out comparisons"),
}


@dataclass(kw_only=True)
class TopicFit(StrictFit):
    """What a fit found, see the attributes of ``TopicRanking``; novel_items (K, 2) has -1 for a ranking without any."""

    solid_angles: Floats
    separation_statistic: str
    novel_items: Integers


class TopicRanking(StrictRankings):
    """Rankings shared by a population, by the method of "A Topic Modeling Approach to Ranking".

    Novel pairs, which one ranking alone puts in their order, are detected in the second moments of comparisons; all
    other pairs are regressed on them, and the result is rounded to rankings. User weights are inferred given the
    rankings.

    Parameters
    ----------
    n_rankings : int, default=10
        Number of rankings (K).
    detection : {"whitened", "projections", "printed"}, default="whitened"
        How novel pairs are detected: in whitened moments, followed by polishing (ours); by random projections
        (Algorithm 2 of the paper) of the rank-K estimate of E, which converges; or as printed, on the raw estimate.
    n_projections : int or None, default=None
        With "projections" and "printed": the number of directions (P); None uses 150 K.
    separation_tol : float, default=0.01
        With "projections" and "printed": how far apart novel pairs must be (zeta / 2).
    regression_tol : float, default=1e-4
        Tolerance of the regression on novel pairs (epsilon). Deprecated.
    directions : {"gaussian", "sphere"}, default="gaussian"
        With "printed": the distribution of the directions. Deprecated.
    prior : {"moments", "likelihood"}, default="moments"
        How the Dirichlet prior of user weights is fitted: to the moments, or by a variational bound of the likelihood,
        which takes a user's comparisons for independent; those made from ratings are not. Deprecated.
    random_state : int, numpy.random.Generator or None, default=None
        Seed.

    Attributes
    ----------
    rankings_ : ndarray of shape (K, Q)
        Item numbers, best first; the most followed ranking first. ``items_[rankings_]`` are the labels.
    user_weights_ : ndarray of shape (M, K)
        Weights of every user on the rankings.
    mean_weights_, concentration_ : ndarray of shape (K,), float
        Mean and concentration of the Dirichlet prior of user weights.
    flip_probability_ : float
        Probability of a choice against the ranking that generated it.
    items_, users_ : ndarray
        Labels of items (Q,) and users (M,).
    novel_pairs_ : list of tuple or None
        The novel pair of every ranking as labels (preferred, other); None for a ranking without one.
    solid_angles_ : ndarray of shape (K,)
        Estimated solid angle of each novel pair.
    separation_statistic_ : str
        How rows of the moments were told apart.
    intransitive_triples_ : ndarray of shape (K,)
        Number of intransitive triples among the pairwise preferences found, before items are ordered.
    n_iter_, converged_ : int, bool
        Rounds of polishing, and whether further ones would have changed nothing.

    References
    ----------
    W. Ding, P. Ishwar and V. Saligrama (2015), "A Topic Modeling Approach to Ranking", AISTATS.

    Examples
    --------
    >>> import plurank
    >>> made = plurank.simulate(500, 5, 2, 40, rankings=[[0, 1, 2, 3, 4], [4, 3, 2, 1, 0]], random_state=0)
    >>> model = plurank.TopicRanking(2, random_state=0).fit(made.comparisons)
    >>> plurank.ranking_error(model.rankings_, made.rankings)
    0.0
    """

    about = "the topic-model method of Ding, Ishwar and Saligrama"
    unfinished = "the rankings were still improving"
    intransitive_triples_: Integers
    solid_angles_: Floats
    separation_statistic_: str
    novel_items_: Integers

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
        """Recover the rankings (Algorithm 1 of the paper), then infer the weights of every user.

        Parameters
        ----------
        X : Comparisons, Store or data frame
            The comparisons; a frame has columns user, winner, loser and, optionally, weight.
        y : None
            Ignored; scikit-learn passes it.
        engine : {"local", "dask"}, default="local"
            Where passes over a store run: in this process, or on the workers of dask.distributed.
        scheduler : str, dask.distributed.Client or None, default=None
            With ``engine="dask"``: the address or client of the cluster; None starts processes on this machine.
        on_progress : callable, default=silent
            Called with the name of a stage and the share of it that is done.

        Returns
        -------
        TopicRanking
            The fitted model itself.

        Raises
        ------
        DataError
            If the comparisons are not valid, or no user has two of them.
        ParameterError
            If a parameter is not valid, or ``engine`` is "dask" without a store.
        NotIdentifiableError
            If fewer rankings than ``n_rankings`` can be told apart.
        EngineError
            If Dask is not installed, or its cluster cannot be reached or is lost.

        Warns
        -----
        ConvergenceWarning
            If the rankings were still improving in the last round of polishing; they are kept.
        """
        self.check_parameters()
        self._warn_deprecated()
        return self._run_fit(as_source(X), engine=engine, scheduler=scheduler, on_progress=on_progress)

    def _fit(self, source: Comparisons | Store, engine: Engine, on_progress: Progress) -> TopicFit:
        rng = as_generator(self.random_state)
        on_progress("counting pairs", 0.0)
        moments = pair_moments(source, draw_seed(rng), engine)
        recovery = self._recover(moments, rng, on_progress)
        check_distinct(recovery)
        found: dict[str, Any] = {
            "rankings": recovery.rounded.rankings,
            "intransitive_triples": recovery.rounded.n_intransitive,
            "solid_angles": recovery.novel.solid_angles,
            "separation_statistic": recovery.novel.statistic,
            "novel_items": _items_of_rows(novel_rows(recovery, moments), moments),
            "n_iter": recovery.n_rounds,
            "converged": recovery.is_stable,
        }
        del recovery  # several numbers for every row and ranking, which nobody needs again
        prior = partial(self._fit_prior, moments, found["rankings"])
        return TopicFit(**found, **weigh_users(source, found["rankings"], prior, engine, on_progress))

    def check_parameters(self) -> None:
        """Raise a ParameterError where a parameter is not valid."""
        check_whole("n_rankings", self.n_rankings, 1)
        if self.n_projections is not None:
            check_whole("n_projections", self.n_projections, 1)
        check_choice("detection", self.detection, Detection)
        check_choice("directions", self.directions, Directions)
        check_choice("prior", self.prior, PriorFit)
        check_positive("separation_tol", self.separation_tol)
        check_positive("regression_tol", self.regression_tol)

    def _warn_deprecated(self) -> None:
        for name, (default, why) in DEPRECATED.items():
            if getattr(self, name) != default:
                warn_deprecated(name, why)

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

    def _fit_prior(
        self, moments: Moments, rankings: Integers, sample: Comparisons, flip: float
    ) -> tuple[Floats, float]:
        mean, concentration = fit_prior(moments, rankings, flip)
        if self.prior == "likelihood":
            likely = fit_prior_by_likelihood(sample, rankings, flip, dirichlet_counts(mean, concentration))
            return likely.mean, likely.concentration
        return mean, concentration

    @property
    def novel_pairs_(self) -> list[tuple[Any, Any] | None]:
        """The novel pair of every ranking as labels: (preferred by this ranking alone, the other).

        None for a ranking that agrees with some other ranking on every pair compared.
        """
        check_is_fitted(self)
        labels = self.items_.tolist()
        return [None if i < 0 else (labels[i], labels[j]) for i, j in self.novel_items_]

    def _own_values(self) -> dict[str, Any]:
        return {**super()._own_values(), "separation_statistic": self.separation_statistic_}

    def _ranking_values(self, k: int, *, items: bool) -> dict[str, Any]:
        pair = self.novel_pairs_[k]
        return {
            **super()._ranking_values(k, items=items),
            "novel_pair": None if pair is None else list(pair),
            "novel_pair_texts": None if pair is None else [self.item_text(code) for code in self.novel_items_[k]],
            "solid_angle": float(self.solid_angles_[k]),
            "intransitive_triples": int(self.intransitive_triples_[k]),
        }

    def _details(self) -> dict[str, str]:
        detection = f"{self.detection}. {SEPARATION[self.separation_statistic_]}"
        return {**super()._details(), "detection": detection}

    def ranking_matrix(self) -> NDArray[np.bool_]:
        """Return the ranking matrix sigma of the paper; it grows with the square of the number of items.

        Returns
        -------
        ndarray of bool, shape (Q (Q - 1), K)
            Whether each ranking prefers i to j; rows are ordered pairs (i, j), sorted by i, then by j.

        Raises
        ------
        NotFittedError
            If the model is not fitted.

        Examples
        --------
        >>> import plurank
        >>> made = plurank.simulate(200, 4, 2, 40, rankings=[[0, 1, 2, 3], [3, 2, 1, 0]], random_state=0)
        >>> plurank.TopicRanking(2, random_state=0).fit(made.comparisons).ranking_matrix().shape
        (12, 2)
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
