"""MixedRanking: start well, then maximise the posterior with rankings as structure."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from plurank.choices import MIXINGS, Auto, ComponentName, EngineName, Inference, Mixing, MixingChoice
from plurank.data.comparisons import Comparisons
from plurank.data.design import Design
from plurank.data.diagnostics import add_update
from plurank.data.encoding import join_labels, look_up
from plurank.data.rated import RatedItems
from plurank.engine.blocks import as_comparisons, as_observations, read_observations
from plurank.engine.local import Engine, LocalEngine, one_blas_thread
from plurank.exceptions import Argument, ConvergenceWarning, NotIdentifiableError, ParameterError
from plurank.inference.likelihood import UserLikelihood, likelihood_of
from plurank.inference.posterior import WeightPrior, check_error, dirichlet_counts
from plurank.inference.user_effects import check_scale
from plurank.metrics.predictions import Influence, check_influence, check_quality
from plurank.mixed import item_features, people, rated_fields
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.candidates import check_selection, choose_settings
from plurank.mixed.checkpoint import open_users
from plurank.mixed.components import ORDERS
from plurank.mixed.described_users import average_draws
from plurank.mixed.fit import (
    Known,
    MixedFit,
    Settings,
    fit_users,
    observe,
    update_fit,
)
from plurank.mixed.init import Init
from plurank.mixed.item_features import ItemFeatures
from plurank.mixed.members import Member, members_of, predict
from plurank.mixed.priors import Priors
from plurank.mixed.sampled import SampledRankings, as_sampled
from plurank.models.base import FitResult
from plurank.models.fields import (
    COMMON,
    Field,
    Fields,
    JsonField,
    OldAttributes,
    accept_old_names,
    plain,
    warn_deprecated,
)
from plurank.models.prediction import Memberships
from plurank.models.sklearn_api import check_is_fitted
from plurank.models.votes import add_votes, count_votes
from plurank.random import RandomState
from plurank.regression.ridge import FeatureMatrix
from plurank.store.rated import RatedStore
from plurank.store.store import Store
from plurank.text import count
from plurank.topic.orders import OrderedComponent, describe_flips
from plurank.types import Codes, Floats, Progress, silent
from plurank.validation import check_choice, check_positive, check_whole

if TYPE_CHECKING:
    pass

SCORES = "a score per item; the higher one is more likely to win (bradley-terry)"
MIXING_IN_WORDS = {
    "probability": "each comparison follows one of the user's rankings (probability)",
    "utility": "each comparison follows the weighted average of the rankings' scores (utility)",
}
EFFECTS = ("user_effect_keys_", "user_effects_", "user_effect_errors_")
FIRST = {"n_rankings": 1, "mixing": MIXINGS[0]}
SAME_SCORE = 1e-6  # rankings whose scores differ by less are the same
OWN_FIELDS: Fields = {
    "scores_": Field("f", ("Q", "K"), "a score"),
    "score_errors_": Field("f", ("Q", "K"), "not negative"),
    "score_correlations_": Field("f", ("K", "K"), "correlations"),
    "user_concentration_": Field("f", ("M",), "not negative"),
    "score_scale_": Field("if", (), "positive"),
    "from_ratings_": Field("b", (), "any"),
    "rating_weight_": Field("if", (), "positive"),
    "log_posterior_": Field("f", ("passes",)),
    "concentration_error_": JsonField(check_error),
    "quality_": JsonField(check_quality),
    "user_effect_scale_": JsonField(check_scale),
    "known_effect_scale_": JsonField(check_scale),
    "user_effect_keys_": Field("i", ("user effects",), "pairs of user and item", True),
    "user_effects_": Field("f", ("user effects",), "a score", True, single=True),
    "user_effect_errors_": Field("f", ("user effects",), "positive", True, single=True),
    "influence_": JsonField(check_influence),
    "selection_": JsonField(check_selection),
    "member_scores_": Field("f", ("members", "Q", "K"), "a score"),
    "member_weights_": Field("f", ("members", "M", "K"), "on the simplex"),
    **rated_fields.FIELDS,
    **people.FIELDS,
    **item_features.FIELDS,
}


class MixedRanking(ItemFeatures, SampledRankings, OldAttributes):
    """Mixed-membership model over rankings: K rankings with scores, and every user's mixture of them.

    Fitted by maximum a posteriori: quasi-Newton steps for the scores, with the user weights integrated out.

    Parameters
    ----------
    n_rankings : int or "auto", default="auto"
        Number of rankings (K); "auto" chooses 1 to 10 on held-out comparisons.
    component : {"bradley-terry", "mallows", "strict"}, default="bradley-terry"
        What a ranking is: scores, an order with a dispersion, or an order with a flip probability. Orders are fitted
        in memory only. "mallows" is deprecated.
    mixing : {"auto", "probability", "utility"}, default="auto"
        Whether each comparison is generated by one of the rankings (a mixture of probabilities, as in the paper), or by
        a weighted average of their scores (Bradley-Terry only); "auto" chooses on held-out comparisons.
    inference : {"optimisation", "sampling"}, default="optimisation"
        How comparisons are fitted: by the most probable scores; or by draws from the posterior, as ratings, votes and
        rankings always are. Sampling mixes utilities, uses factors where they predict better, and takes longer; it is
        for comparisons in memory that count once each.
    init : {"best", "items", "pairs", "random"}, default="best"
        Where the scores start: users who stand out, novel pairs, random scores, or the best of these.
    concentration : float or None, default=None
        Concentration of the Dirichlet prior of user weights; None chooses it on held-out comparisons.
    score_scale : float or None, default=None
        Standard deviation of the Gaussian prior of scores; None chooses it on held-out comparisons.
    from_ratings : bool or None, default=None
        Whether the comparisons were made from ratings or rankings, so that those of n items count as about n - 1
        observations; None looks at the data.
    n_factors : int or "auto", default="auto"
        Where the posterior is sampled: how many Gaussian factors of users and items predictions use beside the
        rankings; "auto" uses some where they predict held-out observations better. 0 uses the rankings alone.
    ensemble : int, default=1
        Number of fits that predictions average over; where the posterior is sampled the number of chains, at least 2.
    max_iter : int, default=200
        Maximum number of passes over the comparisons. Where the posterior is sampled the number of sweeps of each
        chain, up to sixteen times as many below 200,000 observations; the first half of them is discarded.
    tol : float, default=3e-5
        Gain of the log posterior per comparison below which a pass counts as converged.
    random_state : int, numpy.random.Generator or None, default=None
        Seed.

    Attributes
    ----------
    n_rankings_, mixing_ : int, str
        The number of rankings (K) and the mixing, as given or chosen.
    selection_ : dict or None
        What was chosen by "auto": n_rankings, mixing, answer (a sentence) and candidates (held-out figures of all that
        were tried); None where both were given.
    rankings_ : ndarray of shape (K, Q)
        Item numbers, best first; the most followed ranking first. ``items_[rankings_]`` are the labels.
    scores_ : ndarray of shape (Q, K)
        Scores in log odds (of orders: minus the places).
    score_errors_, score_correlations_ : ndarray of shape (Q, K) and (K, K)
        Standard errors of the scores, and their mean correlations between rankings.
    user_weights_ : ndarray of shape (M, K)
        Posterior mean of every user's mixture of the rankings.
    concentration_error_ : float or None
        Standard error of the logarithm of ``concentration_``, at most 1; 0 where that was given, or with one ranking.
        Intervals of weights allow for it. None in files of earlier versions.
    user_concentration_ : ndarray of shape (M,)
        Posterior concentration of the weights: how many observations they rest on.
    mean_weights_ : ndarray of shape (K,)
        Mean of the prior of user weights.
    concentration_, score_scale_, rating_weight_ : float
        The priors used; ``rating_weight_`` is how many comparisons a rated item counts as.
    from_ratings_ : bool
        Whether comparisons were weighted as made from ratings.
    dispersion_, flip_probability_ : ndarray of shape (K,), float
        Of Mallows and of strict orders.
    items_, users_ : ndarray
        Labels of items (Q,) and users (M,).
    log_posterior_ : ndarray of shape (n_iter_,)
        Log posterior after each pass.
    n_iter_, converged_ : int, bool
        Number of passes, and whether the last ones gained less than ``tol``.
    observed_ : str or None
        What the model was fitted to: "comparisons", "ratings", "votes" or "rankings"; None in older files.
    convergence_ : dict or None
        Where the posterior was sampled: split R-hat and effective number of draws, of the log-likelihood (r_hat,
        effective_draws) and, the worst of 20, of probabilities of pairs (pair_r_hat, pair_effective_draws); n_chains,
        n_sweeps.
    explained_ : dict or None
        Where predictions use factors: share of the variance of users' expected utilities that the rankings alone
        explain, its 10%, 50% and 90% quantiles over users (user_quantiles), and n_users.
    draw_scores_, draw_weights_, ... : ndarray or None
        Where the posterior was sampled: draws that predictions average over, one on the first axis.
    levels_ : ndarray or None
        Of ratings and votes: the values that thresholds lie between.
    data_, quality_, influence_ : dict or None
        Summary of the data, predictions of held-out comparisons against one ranking for everybody, and how many users
        the gain rests on.
    user_effect_scale_ : float or None
        Standard deviation of users' own effects on items beyond their rankings; None where these predict nothing.
    known_effect_scale_ : float or None
        The same for users of the training data. It differs where comparisons are made from ratings, as pairs of the
        same items then follow from each other; it is chosen by items held out.
    user_effects_, user_effect_errors_, user_effect_keys_ : ndarray or None
        Effects of known users on items that they compared, standard errors, and ``user * n_items + item`` by position;
        None of more than five million comparisons.

    References
    ----------
    The mixture of probabilities is the model of W. Ding, P. Ishwar and V. Saligrama (2015), "A Topic Modeling Approach
    to Ranking", AISTATS.

    Examples
    --------
    >>> import plurank
    >>> made = plurank.simulate(200, 6, 2, 40, concentration=0.1, random_state=0)
    >>> model = plurank.MixedRanking(2, random_state=0).fit(made.comparisons)
    >>> model.user_weights_.shape
    (200, 2)
    """

    about = "rankings and weights by maximum posterior"
    score_scale_: float
    log_posterior_: Floats
    from_ratings_: bool
    rating_weight_: float
    dispersion_: Floats
    flip_probability_: float
    concentration_error_: float | None
    influence_: dict[str, Any] | None
    selection_: dict[str, Any] | None
    member_scores_: Floats
    member_weights_: Floats
    observed_: str | None = None
    convergence_: dict[str, Any] | None = None
    explained_: dict[str, Any] | None = None
    draw_scores_: Floats | None = None
    levels_: Floats
    level_groups_: Floats

    @accept_old_names
    def __init__(
        self,
        n_rankings: int | Auto = "auto",
        component: ComponentName = "bradley-terry",
        mixing: MixingChoice = "auto",
        *,
        inference: Inference = "optimisation",
        init: Init = "best",
        concentration: float | None = None,
        score_scale: float | None = None,
        from_ratings: bool | None = None,
        n_factors: int | Auto = "auto",
        ensemble: int = 1,
        max_iter: int = 200,
        tol: float = 3e-5,
        random_state: RandomState = None,
    ) -> None:
        self.n_rankings = n_rankings
        self.component = component
        self.mixing = mixing
        self.inference = inference
        self.init = init
        self.concentration = concentration
        self.score_scale = score_scale
        self.from_ratings = from_ratings
        self.n_factors = n_factors
        self.ensemble = ensemble
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @property
    def fields(self) -> Fields:
        """What a fitted model consists of."""
        kind = ORDERS.get(self.component)
        return {**COMMON, **OWN_FIELDS, **({} if kind is None else {kind.attribute: Field("f", kind.shape, kind.rule)})}

    def fit(
        self,
        X: Any,
        y: None = None,  # noqa: ARG002
        *,
        people: Any = None,
        formula: str | None = None,
        items: Any = None,
        engine: EngineName = "local",
        scheduler: Any = None,
        checkpoint: str | PathLike[str] | None = None,
        resume: bool = False,
        on_progress: Progress = silent,
    ) -> Self:
        """Choose the priors, initialise the scores and maximise the posterior; of ratings and rankings, sample it.

        Ratings, votes and rankings are modelled directly, with one latent utility for every item that a user rated or
        ranked, unless ``mixing="probability"`` or a ``component`` other than "bradley-terry" asks for comparisons: then
        any two items of a user are compared.

        Comparisons stay comparisons, also those made by ``Comparisons.from_ratings`` or ``to_comparisons``: they count
        as what they were made from, and the summary recommends a fit to that.

        Parameters
        ----------
        X : Comparisons, Ratings, Rankings, Store, RatedStore or data frame
            The data; a frame has columns user, winner, loser and, optionally, weight, or user, item and rating or rank.
        y : None
            Ignored; scikit-learn passes it.
        people : data frame, path or None, default=None
            Covariates of the users, one row each, with a column user: numbers, categories, or truth values. The weights
            of users then depend on them, see ``effects``. Users without a row count as average.
        formula : str or None, default=None
            Which covariates, as in ``"age + gender"``; None takes all columns.
        items : data frame, path or None, default=None
            Features of the items, one row each, with a column item: what each ranking rewards, see ``item_effects``
            and ``add_items``. Items about which little was said then follow their features.
        engine : {"local", "dask"}, default="local"
            Where passes or sweeps over a store run: in this process, or on the workers of dask.distributed.
        scheduler : str, dask.distributed.Client or None, default=None
            With ``engine="dask"``: the address or client of the cluster; None starts processes on this machine.
        checkpoint : str, path or None, default=None
            For a store of comparisons: a folder where the fit stores its state every few passes. Remove it once the
            model is saved.
        resume : bool, default=False
            Whether to continue the interrupted fit in ``checkpoint``.
        on_progress : callable, default=silent
            Called with the name of a stage and the share of it that is done.

        Returns
        -------
        MixedRanking
            The fitted model itself.

        Raises
        ------
        DataError
            If the comparisons are not valid.
        ParameterError
            If a parameter is not valid, or does not suit the data: orders, for instance, need comparisons in memory.
        NotIdentifiableError
            If there are fewer users than rankings.
        EngineError
            If Dask is not installed, or its cluster cannot be reached or is lost.

        Warns
        -----
        ConvergenceWarning
            If the posterior was still growing after ``max_iter`` passes; the fit is kept.

        Examples
        --------
        >>> import plurank
        >>> made = plurank.simulate(100, 5, 2, 20, random_state=0)
        >>> plurank.MixedRanking(2, random_state=0).fit(made.comparisons).converged_
        True
        """
        self.check_parameters()
        if self.component == "mallows":
            warn_deprecated(
                "component='mallows'", "'bradley-terry' predicts as well, even on data drawn from Mallows orders"
            )
        source = as_observations(X)
        if self.mixing == "probability" or self.component != "bradley-terry":
            source = _as_comparisons(source)
        design, matrix = self._learn_design(source, people, formula)
        item_design, features = self._learn_features(items, source)
        self._run_fit(
            source, engine=engine, scheduler=scheduler, on_progress=on_progress, checkpoint=checkpoint,
            resume=resume, matrix=matrix, features=features,
        )  # fmt: skip
        if design is not None and matrix is not None:
            self._store_people(design, matrix)
        if item_design is not None and features is not None:
            self._store_features(item_design, features)
        return self

    def _learn_design(self, source: Any, table: Any, formula: str | None) -> tuple[Design | None, Floats | None]:
        """Return how covariates of the users become numbers, and these numbers (M, P); None without covariates."""
        if table is None:
            if formula is not None:
                raise ParameterError(
                    (Argument("formula"), " says which covariates count, and needs ", Argument("people"), "."),
                    parameter="formula",
                )
            return None, None
        if self.component != "bradley-terry":
            raise ParameterError(
                (Argument("people"), " requires ", Argument("component", "bradley-terry"), "."), parameter="people"
            )
        return Design.learn(table, source.users, "user", formula)

    def _fit(
        self,
        source: Comparisons | RatedItems | Store | RatedStore,
        engine: Engine,
        on_progress: Progress,
        checkpoint: str | PathLike[str] | None = None,
        resume: bool = False,
        matrix: Floats | None = None,
        features: FeatureMatrix | None = None,
    ) -> FitResult:
        if self.inference == "sampling" or isinstance(source, (RatedItems, RatedStore)):
            observations = as_sampled(source)
            if self.n_rankings != "auto":
                check_enough_users(self.n_rankings, source.n_users)
            return self._fit_rated(observations, engine, on_progress, checkpoint, matrix, features)
        if checkpoint is not None and isinstance(self.random_state, np.random.Generator):
            expected = ("an integer or None with ", Argument("checkpoint"))
            raise ParameterError(parameter="random_state", expected=expected, got="a generator")
        self._check_enough(source)
        # what a fit that is resumed must agree on; more passes are welcome
        identity = {name: plain(value) for name, value in self.get_params().items() if name != "max_iter"}
        with open_users(source, engine, identity, checkpoint, resume) as (users, kept):
            selection = None if kept is None else kept.selection
            if selection is not None:  # by the fit that is resumed
                settings = replace(self.settings, n_rankings=selection["n_rankings"], mixing=selection["mixing"])
            else:
                settings, selection = choose_settings(self.settings, self.n_rankings, self.mixing, source, on_progress)
            if kept is not None:
                kept.selection = selection
            found = fit_users(settings, users, kept, on_progress, matrix, None if features is None else features.matrix)
        found.selection = selection
        return found

    @property
    def settings(self) -> Settings:
        """The parameters of a fit; the first values of those that are "auto"."""
        chosen = {name: first for name, first in FIRST.items() if getattr(self, name) == "auto"}
        given = {
            name: value for name, value in self.get_params(deep=False).items() if name not in ("n_factors", "inference")
        }
        return Settings(**{**given, **chosen})

    @property
    def chosen_parameters(self) -> dict[str, Any]:
        """The number of rankings and the mixing of a fitted model."""
        if not self.__sklearn_is_fitted__():
            return {}
        return {"n_rankings": self.n_rankings_, "mixing": self.mixing_}

    @property
    def _chosen_settings(self) -> Settings:
        return replace(self.settings, **self.chosen_parameters)

    @property
    def n_rankings_(self) -> int:
        """The number of rankings, given or chosen."""
        check_is_fitted(self)
        return len(self.rankings_)

    @property
    def membership_prior(self) -> WeightPrior:
        """The prior of user weights, with the error of its concentration."""
        return super().membership_prior._replace(error=self.concentration_error_ or 0.0)

    @property
    def mixing_(self) -> Mixing:
        """How rankings are mixed, as given or chosen."""
        if self.mixing != "auto":
            return self.mixing
        check_is_fitted(self)
        if self.draw_scores_ is not None:
            return "utility"
        return MIXINGS[0] if self.selection_ is None else self.selection_["mixing"]  # one ranking, or an order

    def _store(self, result: FitResult) -> None:
        for name in rated_fields.FIELDS:
            setattr(self, name, "comparisons" if name == "observed_" else None)  # unless the fit found others
        for name in (*people.FIELDS, *item_features.FIELDS, *EFFECTS, "known_effect_scale_"):
            setattr(self, name, None)
        super()._store(result)
        if isinstance(result, MixedFit) and isinstance(result.component, OrderedComponent):
            kind = ORDERS[self.component]
            setattr(self, kind.attribute, getattr(result.component, kind.number))

    def check_parameters(self) -> None:
        """Raise a ParameterError where a parameter is not valid, or does not go with another one."""
        if self.n_factors != "auto":
            check_whole("n_factors", self.n_factors, 0)
        for name in ("n_rankings", "ensemble", "max_iter"):
            if (name, getattr(self, name)) != ("n_rankings", "auto"):
                check_whole(name, getattr(self, name), 1)
        check_choice("component", self.component, ComponentName)
        check_choice("mixing", self.mixing, MixingChoice)
        check_choice("init", self.init, Init)
        check_choice("inference", self.inference, Inference)
        if self.inference == "sampling" and (self.mixing == "probability" or self.component != "bradley-terry"):
            raise ParameterError(
                (
                    Argument("inference", "sampling"), " mixes utilities of scores; expected ",
                    Argument("mixing", "utility"), " and ", Argument("component", "bradley-terry"), ".",
                ),
                parameter="inference",
            )  # fmt: skip
        for name in ("concentration", "score_scale"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))
        check_positive("tol", self.tol)
        if not (self.from_ratings is None or isinstance(self.from_ratings, bool)):
            raise ParameterError(
                parameter="from_ratings", expected="True, False or None", got=f"{self.from_ratings!r:.80}"
            )
        for verb, name, only in (("mix", "mixing", "probability"), ("average", "ensemble", 1)):
            value = getattr(self, name)
            if self.component != "bradley-terry" and value not in (only, "auto"):
                raise ParameterError(
                    (
                        Argument("component", self.component), f" has no scores to {verb}; expected ",
                        Argument(name, only), ", got ", Argument(name, value), ".",
                    ),
                    parameter="component",
                    hint=("Use ", Argument("component", "bradley-terry"), " for that."),
                )  # fmt: skip

    def check_consistent(self) -> None:
        """Raise a ValueError where parameters or members are impossible, or rankings not in the order of scores."""
        super().check_consistent()
        if len(self.member_scores_) != len(self.member_weights_):
            raise ValueError("member_scores_ and member_weights_ are not of the same members")
        if len({None if part is None else len(part) for part in (getattr(self, name) for name in EFFECTS)}) > 1:
            raise ValueError("user effects, their errors and keys do not fit together")
        rated_fields.check_draws(self)
        people.check_people(self)

    def _check_enough(self, source: Comparisons | Store) -> None:
        if self.n_rankings != "auto":
            check_enough_users(self.n_rankings, source.n_users)
        if self.component != "bradley-terry" and isinstance(source, Store):
            raise ParameterError(
                (Argument("component", self.component), " requires comparisons in memory, got a store."),
                parameter="component",
                hint=("Use ", Argument("component", "bradley-terry"), ", or in Python fit(store.to_comparisons())."),
            )

    def as_observed(self, comparisons: Comparisons) -> Comparisons:
        """Let comparisons made from ratings count as what was observed; if unknown, they are as in the fit."""
        return observe(comparisons, self.from_ratings, self.from_ratings_, self.rating_weight_)

    def update(self, X: Any, *, people: Any = None, on_progress: Progress = silent) -> Self:
        """Learn from further data of known and new users and items, without those seen before.

        What earlier data said is summarised by a Gaussian posterior of the scores and a Dirichlet posterior of each
        user's weights, of ratings, votes and rankings by the draws of both; the result is close to a fit to all data
        together. Rankings keep their order.

        Parameters
        ----------
        X : Comparisons, Ratings, Rankings, Store or data frame
            The further data. A model of ratings, votes or rankings takes any of these; others take comparisons, and
            make them of ratings and rankings.
        people : data frame, path or None, default=None
            Covariates of new users, as in the fit; what is known of others stays.
        on_progress : callable, default=silent
            Called with the name of a stage and the share of it that is done.

        Returns
        -------
        MixedRanking
            The updated model itself.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ParameterError
            If ``component`` is not "bradley-terry": orders do not summarise the data behind them.

        Warns
        -----
        ConvergenceWarning
            If the posterior was still growing after ``max_iter`` passes, or all rankings of the model are the same, so
            that an update cannot tell them apart.

        Examples
        --------
        >>> import plurank
        >>> made = plurank.simulate(100, 5, 2, 20, random_state=0)
        >>> model = plurank.MixedRanking(2, random_state=0).fit(made.comparisons)
        >>> more = plurank.Comparisons.from_arrays(["new", "new"], [0, 1], [1, 2])
        >>> len(model.update(more).users_)
        101
        """
        check_is_fitted(self)
        if self.component != "bradley-terry":
            raise ParameterError(
                f"a model of component {self.component!r} cannot be updated, only one of 'bradley-terry'.",
                parameter="component",
                hint="Fit again with all comparisons.",
            )
        more: Any = read_observations(X) if self._takes_ratings and not isinstance(X, Store) else as_comparisons(X)
        if len(self.rankings_) > 1 and float(np.ptp(self.scores_, axis=1).max(initial=0.0)) < SAME_SCORE:
            warnings.warn(
                f"all {len(self.rankings_)} rankings of the model are the same, and an update moves them alike: it "
                "cannot tell them apart. Fit again with all comparisons; read_feedback gives the answers of a survey.",
                ConvergenceWarning,
                stacklevel=2,
            )
        with one_blas_thread():
            if self.posterior is None:
                self._update(more, people, on_progress)
            else:
                self._update_draws(more, people, on_progress)
        self._add_votes(more)
        self.data_ = add_update(self.data_, more, len(self.users_), len(self.items_))
        if self.posterior is None:
            self._warn_if_unfinished()
        return self

    def _update(self, more: Comparisons, people: Any, on_progress: Progress) -> None:
        items, item_codes = join_labels(self.items_, more.items, "item")
        users, user_codes = join_labels(self.users_, more.users, "user")
        sides = item_codes[more.winners], item_codes[more.losers]
        renumbered = Comparisons(*sides, more.offsets, items, more.users, more.weights)
        observed = replace(renumbered, weights=self.as_observed(more).weights)
        priors = Priors(self.mean_weights_, self.concentration_, self.score_scale_)
        new = self.describe_users(users[len(self.users_) :], people)
        known = Known(
            priors, self._members(), self.score_errors_, user_codes, len(items), len(users), self.prior_counts(new),
            self.known_effect_scale_, self.known_effects,
        )  # fmt: skip
        for name, value in update_fit(self._chosen_settings, known, renumbered, observed, on_progress).items():
            setattr(self, f"{name}_", value)
        self.items_, self.users_ = items, users
        if self.people_ is not None and new is not None:
            self.people_ = np.vstack([self.people_, new.astype(np.float32)])

    def _add_votes(self, more: Comparisons | RatedItems) -> None:
        """Count the votes of an update; levels of agreement stay where it has none."""
        users, items = look_up(more.users, self.users_, "user"), look_up(more.items, self.items_, "item")
        new = count_votes(self, more, LocalEngine())
        self.user_votes_ = add_votes(self.user_votes_, new.users, users, len(self.users_))
        self.item_votes_ = add_votes(self.item_votes_, new.items, items, len(self.items_))
        # of people who answered about an item before, too, nobody knows: they count again
        self.item_people_ = add_votes(self.item_people_, new.people, items, len(self.items_))
        every = np.arange(len(self.items_))  # votes by camp are numbered as in the model already
        more_camps = np.zeros((len(every), len(self.mean_weights_), 3), np.int64) if new.camps is None else new.camps
        self.camp_votes_ = add_votes(self.camp_votes_, more_camps, every, len(every))
        # who dissents is known of the first fit alone
        self.dissenter_votes_ = add_votes(self.dissenter_votes_, np.zeros((len(every), 2), np.int64), every, len(every))
        self.influence_ = None  # nobody has looked again
        self._add_texts(more, items)

    def _add_texts(self, more: Comparisons | RatedItems, items: Codes) -> None:
        """Take over the texts of items that have none yet."""
        if self.item_texts_ is None and more.texts is None:
            return
        fresh = {} if more.texts is None else dict(zip(items.tolist(), more.texts, strict=True))
        known = self.item_texts_ or []
        self.item_texts_ = [*known, *(fresh.get(n, str(self.items_[n])) for n in range(len(known), len(self.items_)))]

    @property
    def influence(self) -> Influence | None:
        """Whether the rankings beyond the first rest on a handful of users, an ``Influence``; None where unknown."""
        check_is_fitted(self)
        return None if self.influence_ is None else Influence.from_dict(self.influence_)

    def _own_values(self) -> dict[str, Any]:
        return {
            **super()._own_values(),
            **({} if self.posterior is None else {"method": "rankings and weights by sampling the posterior"}),
            "observed": self.observed_ or "comparisons",
            "convergence": self.convergence_,
            "explained": self.explained_,
            "mixing": self.mixing_,
            "selection": self.selection_,
            "score_scale": float(self.score_scale_),
            "rated": bool(self.from_ratings_),
            "rating_weight": float(self.rating_weight_),
            "covariates": None if self.covariates is None else self.covariates.describe(),
            **{name: float(value) for name, value in self._order_values(()).items()},
        }

    def _ranking_values(self, k: int, *, items: bool) -> dict[str, Any]:
        own = {name: float(value[k]) for name, value in self._order_values(("K",)).items()}
        return {**super()._ranking_values(k, items=items), **own}

    def _order_values(self, shape: tuple[str, ...]) -> dict[str, Any]:
        """The parameter of orders, if it has this shape: one number for all, or one per ranking."""
        kind = ORDERS.get(self.component)
        return {kind.attribute[:-1]: getattr(self, kind.attribute)} if kind and kind.shape == shape else {}

    def _details(self) -> dict[str, str]:
        found = self._compared_details() if self.posterior is None else self._rated_details(self.posterior)
        return found if self.covariates is None else {**found, "covariates": self.covariates.describe()}

    def _compared_details(self) -> dict[str, str]:
        kind = ORDERS.get(self.component)
        found = {"a ranking is": SCORES if kind is None else kind.about, "mixing": MIXING_IN_WORDS[self.mixing_]}
        if "flip_probability" in self._order_values(()):
            found["flip probability"] = describe_flips(self.flip_probability_)
        if self.from_ratings_:
            weight = self.rating_weight_
            n = "n - 1" if weight == 1 else f"{weight:g} (n - 1)"
            found["comparisons"] = (
                f"derived from ratings or rankings: a user's n items count as about {n} observations. A fit to Ratings "
                "or Rankings models each of them as one, and mostly predicts better"
            )
        if self.ensemble > 1:
            found["predictions"] = f"averages of {self.ensemble} fits"
        return found

    def _component(self) -> BradleyTerry | OrderedComponent:
        kind = ORDERS.get(self.component)
        if kind is None:
            return BradleyTerry(self.scores_, self.mixing_)
        return kind.component(self.rankings_, getattr(self, kind.attribute))  # type: ignore[call-arg]

    def _members(self) -> list[Member]:
        """Return the fits that predictions average over."""
        users = Memberships(self.user_weights_, self.user_concentration_, self.mean_weights_, self.concentration_)
        return members_of(self._component(), users, self.member_scores_, self.member_weights_)

    def _infer_weights(self, comparisons: Comparisons, described: Floats | None = None) -> Floats:
        if self.posterior is not None:
            return self.posterior.weights(comparisons, described)
        member, observed = self._members()[0], self.as_observed(comparisons)
        weights = self._fold_in_users(member, observed, self.prior_counts(described)).weights
        return weights / weights.sum(axis=1, keepdims=True)

    @staticmethod
    def _fold_in_users(member: Member, observed: Comparisons, counts: Floats | None) -> Memberships:
        """Infer the weights of users, by draws where they have priors of their own, counts (m, K)."""
        found = member.fold_in(observed, counts)
        if counts is None or not isinstance(member.component, BradleyTerry):
            return found
        return average_draws(member.component, observed, counts, found)

    def memberships(self, comparisons: Any = None, described: Floats | None = None) -> list[Any]:
        """Return the model's own users, or those of comparisons of its own items, once for every member; described:
        their covariates (m, P)."""
        if self.posterior is not None:
            return list(self.posterior.users(comparisons, described))
        if comparisons is None:
            return [member.users for member in self._members()]
        observed, counts = self.as_observed(comparisons), self.prior_counts(described)
        return [self._fold_in_users(member, observed, counts) for member in self._members()]

    def probabilities(self, users: Sequence[Memberships], rows: Codes, left: Codes, right: Codes) -> Floats:
        """P(left over right), (n,), for rows of users, -1 for unknown ones."""
        if self.posterior is not None:
            return self.posterior.probabilities(users, rows, left, right)  # type: ignore[arg-type]
        return predict(self._members(), users, rows, left, right)

    def _item_utilities(self) -> list[Floats]:
        if self.component != "bradley-terry":
            return super()._item_utilities()
        return [self.scores_, *self.member_scores_]

    def likelihoods(self) -> list[UserLikelihood]:
        """Return the likelihood of new users, one of every fit that predictions average over."""
        return [
            likelihood_of(member.component, dirichlet_counts(member.users.mean_weights, self.concentration_))
            for member in self._members()
        ]

    def _win_probabilities(self, winners: Codes, losers: Codes) -> Floats:
        return self._component().chances(winners, losers)


def _as_comparisons(source: Comparisons | RatedItems | Store | RatedStore) -> Comparisons | Store:
    """Turn ratings and rankings into comparisons; raise for a store of them, of which these could be very many."""
    if isinstance(source, RatedStore):
        raise ParameterError(
            (
                Argument("mixing", "probability"), " and a ", Argument("component"), " other than 'bradley-terry' "
                f"compare all pairs of a user's {source.noun}s, which a store of them does not hold.",
            ),
            parameter="mixing",
            hint=(
                "Leave these out; or ingest comparisons (`plurank convert`), or in Python fit(store.to_comparisons())."
            ),
        )  # fmt: skip
    return source.to_comparisons() if isinstance(source, RatedItems) else source


def check_enough_users(n_rankings: int, n_users: int) -> None:
    """Raise where there are more rankings than users."""
    if n_rankings > n_users:
        raise NotIdentifiableError(
            f"{count(n_rankings, 'ranking')} cannot be told apart by {count(n_users, 'user')}. "
            "Expected at most as many rankings as users; try fewer rankings."
        )


for _name in rated_fields.FIELDS:
    setattr(MixedRanking, _name, None)  # unless a model was fitted to ratings, votes or rankings
