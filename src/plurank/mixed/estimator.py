"""MixedRanking: start well, then maximise the posterior with rankings as structure."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, Self

import numpy as np

from plurank.blas import one_blas_thread
from plurank.choices import ComponentName, EngineName, Mixing
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import look_up, object_array
from plurank.data.split import weigh_observations
from plurank.engine.local import LocalEngine
from plurank.engine.sources import as_comparisons, as_source, open_engine
from plurank.exceptions import Argument, ConvergenceWarning, DataError, NotIdentifiableError, ParameterError
from plurank.inference.likelihood import Law, law_of
from plurank.inference.user_effects import check_spread
from plurank.metrics.predictions import Influence, check_influence, check_quality
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.checkpoint import open_crowd
from plurank.mixed.fit import (
    WEIGHING_ROUNDS,
    choose_priors_of,
    fit_crowd,
    fit_to_predict,
    update_scores,
)
from plurank.mixed.init import Start
from plurank.mixed.leaderboard import ScoredRankings
from plurank.mixed.orders import ORDERS
from plurank.mixed.priors import Priors, count_weights, mean_of
from plurank.mixed.users import Crowd, InMemory
from plurank.models.base import Followers
from plurank.models.consensus import add_votes, count_votes
from plurank.models.estimator import check_is_fitted
from plurank.models.fields import (
    COMMON,
    Field,
    Fields,
    JsonField,
    plain,
)
from plurank.progress import Progress, silent
from plurank.random import RandomState
from plurank.store.summary import add_update, summarise
from plurank.text import count
from plurank.topic.orders import OrderedComponent
from plurank.types import Codes, Floats
from plurank.validation import check_choice, check_positive, check_whole

SAME_SCORE = 1e-6  # rankings whose scores differ by less are the same
OWN_FIELDS: Fields = {
    "scores_": Field("f", ("Q", "K"), "a score"),
    "score_errors_": Field("f", ("Q", "K"), "not negative"),
    "score_correlations_": Field("f", ("K", "K"), "correlations"),
    "user_evidence_": Field("f", ("M",), "not negative"),
    "spread_": Field("if", (), "positive"),
    "rated_": Field("b", (), "any"),
    "worth_": Field("if", (), "positive"),
    "log_posterior_": Field("f", ("passes",)),
    "quality_": JsonField(check_quality),
    "deviation_": JsonField(check_spread),
    "influence_": JsonField(check_influence),
    "member_scores_": Field("f", ("members", "Q", "K"), "a score"),
    "member_weights_": Field("f", ("members", "M", "K"), "on the simplex"),
}


class MixedRanking(ScoredRankings):
    """Rankings shared by a population, each with scores, and how much each person follows each of them.

    Parameters: ``n_rankings`` (K); ``component``, what a ranking is: ``bradley-terry`` (scores), ``mallows`` (an order
    with a dispersion) or ``strict`` (an order with a flip probability); ``mixing``: ``probability`` (each comparison is
    made by one of the rankings, as in the paper) or ``utility`` (each person blends the scores into one taste;
    bradley-terry only); ``start``: ``best`` of ``items``, ``pairs`` and ``random``, or one of these; ``concentration``
    of the weights and ``spread`` of the scores, None to choose them on held-out comparisons; ``rated``, whether the
    comparisons are made from ratings or rankings, so that those of n items count as n - 1 or a few times that, None to
    look; ``ensemble``, the number of fits that predictions average over; ``max_iter`` passes and ``tol``, the gain of
    the log posterior per comparison that counts as none; ``random_state``.

    After ``fit``, the most followed ranking first: ``rankings_`` (K, Q) item numbers, best first
    (``items_[rankings_]`` are the labels); ``scores_`` (Q, K), log odds, or minus the places of an order, with standard
    errors ``score_errors_`` and their mean correlations between rankings ``score_correlations_`` (K, K);
    ``user_weights_`` (M, K) and ``user_evidence_`` (M,), how many observations they rest on;
    ``mean_weights_`` (K,), ``concentration_`` and ``spread_``, the priors; ``rated_``, and ``worth_``, how many
    comparisons an item rated counts as; ``dispersion_`` (K,) or ``flip_probability_``; ``items_``, ``users_``;
    ``log_posterior_`` after each of ``n_iter_`` passes; ``converged_``; ``data_``, what the data were;
    ``quality_``, how well comparisons held out were predicted while priors were chosen, None where none were;
    ``deviation_``, how far people's own log odds of the items they compared are from what their rankings say, None
    where that predicts nothing: ``predict_new`` and ``fold_in`` remember a new person's answers by it.
    """

    about = "rankings and weights by maximum posterior"
    spread_: float
    log_posterior_: Floats
    rated_: bool
    worth_: float
    dispersion_: Floats
    flip_probability_: float
    quality_: dict[str, Any] | None
    influence_: dict[str, Any] | None
    member_scores_: Floats
    member_weights_: Floats

    def __init__(
        self,
        n_rankings: int = 10,
        component: ComponentName = "bradley-terry",
        mixing: Mixing = "probability",
        *,
        start: Start = "best",
        concentration: float | None = None,
        spread: float | None = None,
        rated: bool | None = None,
        ensemble: int = 1,
        max_iter: int = 200,
        tol: float = 3e-5,
        random_state: RandomState = None,
    ) -> None:
        self.n_rankings = n_rankings
        self.component = component
        self.mixing = mixing
        self.start = start
        self.concentration = concentration
        self.spread = spread
        self.rated = rated
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
        engine: EngineName = "local",
        scheduler: Any = None,
        checkpoint: str | PathLike[str] | None = None,
        resume: bool = False,
        on_progress: Progress = silent,
    ) -> Self:
        """Choose priors, find a start, and refine; X is comparisons in memory, or a store.

        For a store: ``engine="dask"`` runs on the workers of ``scheduler``, an address or a client of dask.distributed,
        or on processes of this machine without one. ``checkpoint`` is a folder where the fit keeps where it has got to
        every few passes; with ``resume=True`` a fit that was stopped goes on from there. Remove the folder when the
        model is saved.
        """
        self._check_parameters()
        if checkpoint is not None and isinstance(self.random_state, np.random.Generator):
            expected = ("an integer or None with ", Argument("checkpoint"))
            raise ParameterError(parameter="random_state", expected=expected, got="a generator")
        # what a fit that goes on must agree on; more passes are welcome
        about = {name: plain(value) for name, value in self.get_params().items() if name != "max_iter"}
        # one thread, so that sums in matrix products have one order; the kernels use all cores
        with (
            open_engine(X, engine, scheduler) as runner,
            open_crowd(X, self.n_rankings, runner, about, checkpoint, resume) as (crowd, kept),
            one_blas_thread(),
        ):
            self._check_enough(crowd)
            self.data_ = summarise(as_source(crowd.source))
            fit_crowd(self, crowd, kept, on_progress)
            self._keep_votes(as_source(crowd.source), runner)
        self.feedback_batches_ = ()
        self._order_rankings()
        self._warn_if_unfinished()
        return self

    def choose_priors(self, comparisons: Comparisons) -> Priors:
        """Choose the priors that a fit to these comparisons would choose."""
        self._check_parameters()
        with one_blas_thread():
            self._check_enough(InMemory(comparisons))
            return choose_priors_of(self, InMemory(comparisons))

    def fit_to_predict(self, comparisons: Comparisons, priors: Priors) -> Self:
        """Fit with given priors, and find nothing but what predictions need: no errors, votes or diagnostics."""
        self._check_parameters()
        with one_blas_thread():
            self._check_enough(InMemory(comparisons))
            fit_to_predict(self, InMemory(comparisons), priors)
        self._warn_if_unfinished()
        return self

    def _check_parameters(self) -> None:
        for name in ("n_rankings", "ensemble", "max_iter"):
            check_whole(name, getattr(self, name), 1)
        check_choice("component", self.component, ComponentName)
        check_choice("mixing", self.mixing, Mixing)
        check_choice("start", self.start, Start)
        for name in ("concentration", "spread"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))
        check_positive("tol", self.tol)
        if not (self.rated is None or isinstance(self.rated, bool)):
            raise ParameterError(parameter="rated", expected="True, False or None", got=f"{self.rated!r:.80}")
        if self.component != "bradley-terry" and (self.mixing == "utility" or self.ensemble > 1):
            mixing, ensemble = Argument("mixing", self.mixing), Argument("ensemble", self.ensemble)
            raise ParameterError(
                (
                    Argument("component", self.component), " has no scores to mix or to average; expected ",
                    Argument("mixing", "probability"), " and ", Argument("ensemble", 1), ", got ", mixing, " and ",
                    ensemble, ".",
                ),
                parameter="component",
                hint=("Use ", Argument("component", "bradley-terry"), " for these."),
            )  # fmt: skip

    def check_consistent(self) -> None:
        """Raise a ValueError where parameters or members are impossible, or rankings not in the order of scores."""
        super().check_consistent()
        if len(self.member_scores_) != len(self.member_weights_):
            raise ValueError("member_scores_ and member_weights_ are not of the same members")

    def _check_enough(self, crowd: Crowd) -> None:
        if self.n_rankings > crowd.source.n_users:
            raise NotIdentifiableError(
                f"{count(self.n_rankings, 'ranking')} cannot be told apart by {count(crowd.source.n_users, 'user')}. "
                "Expected at most as many rankings as users; try fewer rankings."
            )
        if self.component != "bradley-terry" and not isinstance(crowd, InMemory):
            raise ParameterError(
                (Argument("component", self.component), " requires comparisons in memory, got a store."),
                parameter="component",
                hint=("Use ", Argument("component", "bradley-terry"), ", or in Python fit(store.to_comparisons())."),
            )

    def _weigh(self, comparisons: Comparisons) -> Comparisons:
        """Let comparisons made from ratings count as what was observed; where nobody knows, they are as at the fit."""
        if comparisons.rated is False:  # people were asked these pairs, whatever the model was fitted to
            return comparisons
        known = self.rated is None and comparisons.rated is not None
        rated = comparisons.rated if known else self.rated_
        return weigh_observations(comparisons, self.worth_) if rated else comparisons

    def update(self, X: Any, *, on_progress: Progress = silent) -> Self:
        """Go on with more comparisons, of users and items old and new, without the ones seen before.

        What earlier comparisons said is remembered as a Gaussian of the scores and a Dirichlet of each user's weights;
        the result is close to a fit of all comparisons together. Rankings keep their numbers.
        """
        check_is_fitted(self)
        if self.component != "bradley-terry":
            raise ParameterError(
                f"a model of component {self.component!r} cannot be updated, only one of 'bradley-terry'.",
                parameter="component",
                hint="Fit again with all comparisons.",
            )
        more = as_comparisons(X)
        if len(self.rankings_) > 1 and float(np.ptp(self.scores_, axis=1).max(initial=0.0)) < SAME_SCORE:
            warnings.warn(
                f"all {len(self.rankings_)} rankings of the model are the same, and an update moves them alike: it "
                "cannot tell them apart. Fit again with all comparisons; read_feedback gives the answers of a survey.",
                ConvergenceWarning,
                stacklevel=2,
            )
        with one_blas_thread():
            update_scores(self, self._weigh(more), on_progress)
        self._add_votes(more)
        self.data_ = add_update(self.data_, more, len(self.users_), len(self.items_))
        self._warn_if_unfinished()
        return self

    def _add_votes(self, more: Comparisons) -> None:
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

    def _add_texts(self, more: Comparisons, items: Codes) -> None:
        """Take over the texts of items that have none yet."""
        if self.item_texts_ is None and more.texts is None:
            return
        fresh = {} if more.texts is None else dict(zip(items.tolist(), more.texts, strict=True))
        known = self.item_texts_ or []
        self.item_texts_ = [*known, *(fresh.get(n, str(self.items_[n])) for n in range(len(known), len(self.items_)))]

    @property
    def influence(self) -> Influence | None:
        """Whether the rankings beyond the first rest on a handful of people; None where nobody could look."""
        check_is_fitted(self)
        return None if self.influence_ is None else Influence.from_dict(self.influence_)

    def _warn_if_unfinished(self) -> None:
        if not self.converged_:
            message = f"the posterior was still growing after {count(self.n_iter_, 'iteration')}; the fit is kept."
            hint = ("Try a larger ", Argument("max_iter"), ".")
            warnings.warn(ConvergenceWarning(message, hint=hint), stacklevel=3)

    def _component(self) -> BradleyTerry | OrderedComponent:
        kind = ORDERS.get(self.component)
        return BradleyTerry(self.scores_, self.mixing) if kind is None else kind.read(self)

    def _infer_weights(self, comparisons: Comparisons) -> Floats:
        comparisons = self._weigh(comparisons)
        start = np.tile(self.mean_weights_, (comparisons.n_users, 1))
        weights = self._component().weigh(comparisons, start, self._prior()[None], WEIGHING_ROUNDS).means
        return weights / weights.sum(axis=1, keepdims=True)

    def followers(self, comparisons: Comparisons | None = None) -> list[Followers]:
        """Return the model's own users, or those of comparisons of its own items, once for every member."""
        found = []
        for component, weights, mean in self._members():
            evidence = self.user_evidence_
            if comparisons is not None:
                weighed = self._weigh(comparisons)
                start = np.tile(mean, (comparisons.n_users, 1))
                seen = component.weigh(weighed, start, count_weights(mean, self.concentration_)[None], WEIGHING_ROUNDS)
                weights, evidence = seen.means, seen.evidence
            found.append(Followers(np.vstack([weights, mean]), np.append(evidence, self.concentration_)))
        return found

    def _item_utilities(self) -> list[Floats]:
        if self.component != "bradley-terry":
            return super()._item_utilities()
        return [self.scores_, *self.member_scores_]

    def _members(self) -> Iterator[tuple[BradleyTerry | OrderedComponent, Floats, Floats]]:
        """Return every fit that predictions average over: its rankings, user weights (M, K) and their mean (K,)."""
        yield self._component(), self.user_weights_, self.mean_weights_
        for scores, weights in zip(self.member_scores_, self.member_weights_, strict=True):
            yield BradleyTerry(scores, self.mixing), weights, mean_of(weights)

    def _laws(self) -> list[Law]:
        return [law_of(component, count_weights(mean, self.concentration_)) for component, _, mean in self._members()]

    def probabilities(self, followers: list[Followers], rows: Codes, left: Codes, right: Codes) -> Floats:
        """P(left over right), (n,), for users given by their rows among the followers."""
        fits = zip(self._members(), followers, strict=True)
        each = [part.probabilities(p.weights, p.evidence, rows, left, right) for (part, _, _), p in fits]
        return np.mean(each, axis=0)

    def _token_likelihoods(self, winners: Codes, losers: Codes) -> Floats:
        return self._component().chances(winners, losers)


def blank_model(items: Iterable[Any], texts: Sequence[str] | None = None) -> MixedRanking:
    """Return a model of items that nobody has compared yet.

    It has one ranking with all scores equal, so every item may have any place, and no users. ``plurank serve`` begins a
    survey with it; fit a model to the answers once there are some.

    Parameters
    ----------
    items : iterable of str or int
        The ids of the items, at least two, each once.
    texts : sequence of str, optional
        What to show for every item, where the ids are not texts themselves.

    Returns
    -------
    MixedRanking
        A fitted model without any data behind it.

    Examples
    --------
    >>> import plurank
    >>> model = plurank.blank_model(["more trees", "more benches", "more light"])
    >>> model.leaderboard().select("lower", "upper").rows()
    [(1, 3), (1, 3), (1, 3)]
    """
    labels = list(items)
    _check(labels, texts)
    n = len(labels)
    model = MixedRanking(1, concentration=1.0, spread=1.0, rated=False, random_state=0)
    model.items_, model.users_ = object_array(labels), object_array([])
    fitted = {
        "rankings_": np.arange(n)[None], "user_weights_": np.ones((0, 1)), "mean_weights_": np.ones(1),
        "concentration_": 1.0, "n_iter_": 0, "converged_": True, "data_": None,
        "item_texts_": None if texts is None else list(texts),
        "user_votes_": np.zeros(0, np.int64), "item_votes_": np.zeros(n, np.int64),
        "item_people_": np.zeros(n, np.int64),
        "camp_votes_": None, "dissenter_votes_": None, "influence_": None,
        "scores_": np.zeros((n, 1)), "score_errors_": np.ones((n, 1)), "score_correlations_": np.ones((1, 1)),
        "user_evidence_": np.zeros(0), "spread_": 1.0, "rated_": False, "worth_": 1.0, "log_posterior_": np.zeros(0),
        "quality_": None, "deviation_": None, "member_scores_": np.zeros((0, n, 1)),
        "member_weights_": np.zeros((0, 0, 1)),
    }  # fmt: skip
    for name, value in fitted.items():
        setattr(model, name, value)
    if all(isinstance(label, int) for label in labels):
        model.items_ = np.array(labels, dtype=np.int64)
    return model


def _check(labels: list[Any], texts: Sequence[str] | None) -> None:
    if len(labels) < 2:
        raise DataError(f"expected at least two items to compare, got {count(len(labels), 'item')}. Add more.")
    if not all(isinstance(label, (str, int)) and label != "" for label in labels):
        raise DataError("expected ids of items that are text or integers, got others. Give every item such an id.")
    seen: set[Any] = set()
    for n, label in enumerate(labels, start=1):
        if label in seen:
            raise DataError(f"item {n} is {label!r:.60}, which came before. Give every item once.")
        seen.add(label)
    if texts is not None and len(texts) != len(labels):
        raise DataError(f"expected a text for each of {len(labels):,} items, got {len(texts):,}.")
