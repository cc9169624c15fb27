"""What every fitted model of rankings and user weights can do."""

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank import metrics, models
from plurank.choices import EngineName
from plurank.data.comparisons import Comparisons
from plurank.data.diagnostics import Summary
from plurank.data.encoding import Labels, as_series, look_up
from plurank.data.rated import RatedItems
from plurank.engine.blocks import as_comparisons
from plurank.engine.local import Engine, one_blas_thread, open_engine
from plurank.exceptions import Argument, ConvergenceWarning, DataError, ParameterError
from plurank.inference.posterior import LEVEL, user_place_bounds
from plurank.models.fields import COMMON, Fields
from plurank.models.prediction import PreferenceModel
from plurank.models.sklearn_api import check_is_fitted
from plurank.store.folder import BaseStore
from plurank.store.rated import RatedStore
from plurank.store.store import Store
from plurank.text import count
from plurank.types import Floats, Integers, Progress, silent
from plurank.validation import check_numbers, check_whole, show_value

if TYPE_CHECKING:
    from plurank.inference.user_effects import UserEffects
    from plurank.metrics.predictions import Influence
    from plurank.models.committee import Committee
    from plurank.models.person import Person
    from plurank.report.plots import Plots


def check_ranking(ranking: int, n_rankings: int) -> None:
    """Raise an error unless this is the number of a ranking, counted from 1."""
    if check_whole("ranking", ranking, 1) > n_rankings:
        expected = f"at most {n_rankings}, the number of rankings"
        raise ParameterError(parameter="ranking", expected=expected, got=str(ranking))


def board(items: Labels, order: NDArray[np.int64], scores: Floats) -> pl.DataFrame:
    """List items in an order: columns item, score, rank."""
    frame = pl.DataFrame({"score": scores[order], "rank": np.arange(1, len(order) + 1)})
    return frame.select(as_series(items[order], "item"), "score", "rank")


def weight_table(weights: Floats, lower: Floats, upper: Floats) -> pl.DataFrame:
    """List a person's weights with their bounds, (K,) each: columns ranking, weight, lower, upper."""
    rankings = np.arange(1, len(weights) + 1)
    return pl.DataFrame({"ranking": rankings, "weight": weights, "lower": lower, "upper": upper})


@dataclass(kw_only=True)
class FitResult:
    """What a fit found. The model stores each of these under its name with an underscore appended."""

    rankings: Integers
    user_weights: Floats
    mean_weights: Floats
    concentration: float
    n_iter: int
    converged: bool


MODELS: dict[str, type["RankingModel"]] = {}  # what ``load`` knows, by name


MIN_WIN_PROBABILITY = 1e-3  # of an item against another, or its log odds would outweigh all else


class RankingModel(PreferenceModel):
    """A mixed-membership model: K rankings, and for each user a weight on every ranking.

    Subclasses fit, and say how probable a comparison is in each ranking (``_win_probabilities``), what weights new
    comparisons speak for (``_infer_weights``), and how items stand for somebody (``_item_scores``).
    """

    def __init_subclass__(cls, *, loadable: bool = True, **keywords: Any) -> None:
        """Register a class of models under its name, unless it is a base of others."""
        super().__init_subclass__(**keywords)
        if loadable:
            MODELS[cls.__name__] = cls

    @property
    def fields(self) -> Fields:
        """What the model consists of once it is fitted; a subclass adds its own."""
        return COMMON

    about: str  # the method, in words
    unfinished = "the posterior was still growing"  # what a fit that has not converged says
    rankings_: NDArray[np.int64]
    data_: Summary | None
    n_iter_: int  # passes of the fit
    converged_: bool
    quality_: dict[str, Any] | None = None  # predictions of held-out comparisons; None where the fit held none out
    item_texts_: list[str] | None = None  # what to show for every item, (Q,); None where the ids are all there is
    user_votes_: NDArray[np.int64] | None = None  # how many votes every user cast, (M,)
    item_votes_: NDArray[np.int64] | None = None  # how many votes were cast on every item, (Q,)
    item_people_: NDArray[np.int64] | None = None  # how many people cast them, (Q,)
    camp_votes_: NDArray[np.int64] | None = None  # agree, pass, disagree by item and by main ranking, (Q, K, 3)
    dissenter_votes_: NDArray[np.int64] | None = None  # agree, disagree by item, of those who dissent most, (Q, 2)
    feedback_batches_: tuple[str, ...] = ()  # batches of answers to the service that an update has learned from

    def fit(self, X: Any, y: None = None, *, on_progress: Progress = silent) -> Self:  # noqa: ARG002
        """Fit the model to comparisons.

        Parameters
        ----------
        X : Comparisons, Store or data frame
            The comparisons; a frame has columns user, winner, loser and, optionally, weight. A store is read into
            memory.
        y : None
            Ignored; scikit-learn passes it.
        on_progress : callable, default=silent
            Called with the name of a stage and the share of it that is done.

        Returns
        -------
        RankingModel
            The fitted model itself.

        Raises
        ------
        DataError
            If the comparisons are not valid, or nothing can be learned from them.
        ParameterError
            If a parameter is not valid.
        NotIdentifiableError
            If the comparisons cannot tell as many rankings apart as the model has.

        Warns
        -----
        ConvergenceWarning
            If the fit had not converged when it stopped; it is kept.
        """
        self.check_parameters()
        return self._run_fit(as_comparisons(X), on_progress=on_progress)

    def _run_fit(
        self,
        source: Comparisons | RatedItems | Store | RatedStore,
        *,
        engine: EngineName = "local",
        scheduler: Any = None,
        on_progress: Progress = silent,
        **options: Any,
    ) -> Self:
        """Take the steps of every fit: ``_fit``, store what it found, count the votes, order the rankings, warn."""
        # one BLAS thread, so that sums in matrix products have one order; the kernels use all cores
        with open_engine(source, engine, scheduler) as runner, one_blas_thread():
            self._store(self._fit(source, runner, on_progress, **options))
            self.items_, self.users_, self.data_ = source.items, source.users, source.summary()
            self._store_votes(source, runner)
        self.feedback_batches_ = ()
        self._order_rankings()
        self._warn_if_unfinished()
        return self

    @abstractmethod
    def _fit(self, source: Any, engine: Engine, on_progress: Progress) -> FitResult:
        """Fit the rankings and the weights of all users; a model that knows no engines gets Comparisons."""

    def _store(self, result: FitResult) -> None:
        """Store what a fit found."""
        names = {f"{name}_": value for name, value in vars(result).items()}
        for name in names.keys() & self.fields.keys():
            setattr(self, name, names[name])

    def _warn_if_unfinished(self) -> None:
        if not self.converged_:
            message = f"{self.unfinished} after {count(self.n_iter_, 'iteration')}; the fit is kept."
            hint = ("Try a larger ", Argument("max_iter"), ".") if hasattr(self, "max_iter") else "Try fewer rankings."
            warnings.warn(ConvergenceWarning(message, hint=hint), stacklevel=4)

    def rank(self, user: Any = None, *, weights: Any = None) -> pl.DataFrame:
        """Rank all items for one user, best first.

        Parameters
        ----------
        user : label or None, default=None
            A user of the model; None ranks by the mean weights.
        weights : array-like of shape (K,) or None, default=None
            Weights of somebody else, such as a row of what ``transform`` returned; they take precedence over ``user``.

        Returns
        -------
        polars.DataFrame
            Columns item, score, rank. The score is the probability to be preferred to another item drawn at random.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If the model does not know the user.
        ParameterError
            If the weights are not K numbers >= 0 that sum to 1.

        Examples
        --------
        >>> import plurank
        >>> votes = plurank.Comparisons.from_arrays([1, 2, 3], ["tea", "tea", "milk"], ["milk", "juice", "juice"])
        >>> plurank.SingleRanking().fit(votes).rank().select("item", "rank").rows()
        [('tea', 1), ('milk', 2), ('juice', 3)]
        """
        check_is_fitted(self)
        return self._board(self.weights_of(user, weights))

    def _board(self, weights: Floats) -> pl.DataFrame:
        """Rank all items for somebody with weights (K,)."""
        scores = self._item_scores(weights)
        return board(self.items_, np.argsort(-scores, kind="stable"), scores)

    def _item_utilities(self) -> list[Floats]:
        """Log odds of every item to be preferred to another, in every ranking, (Q, K), for every fit averaged over."""
        wins, _, _ = self._place_scores()
        wins = np.clip(wins, MIN_WIN_PROBABILITY, 1.0 - MIN_WIN_PROBABILITY)
        return [np.log(wins / (1.0 - wins))]

    @abstractmethod
    def _item_scores(self, weights: Floats) -> Floats:
        """Mean probability of every item to be preferred to the others, (Q,), for weights (K,)."""

    def _place_scores(self) -> tuple[Floats, Floats, Floats]:
        """What adds up to a person's order: scores (Q, K), their errors (Q, K), and correlations of these (K, K)."""
        rows = np.eye(len(self.mean_weights_))
        scores = np.stack([self._item_scores(row) for row in rows], axis=1)
        return scores, np.zeros_like(scores), rows

    def _with_places(
        self, frame: pl.DataFrame, weights: Floats, followed: Floats, own: tuple[Floats, Floats] | None = None
    ) -> pl.DataFrame:
        """Add bounds of the places to a person's order, given their weights (K,), what these may be, and how the person
        deviates, with errors, (Q,) each, in the units of ``_place_scores``.
        """
        lower, upper = user_place_bounds(*self._place_scores(), weights, followed, LEVEL, own)
        order = look_up(frame["item"], self.items_, "item")
        return frame.with_columns(lower=lower[order], upper=upper[order])

    def rank_person(self, weights: Floats, followed: Floats, own: "UserEffects | None") -> pl.DataFrame:
        """Rank all items for one person, given their weights (K,), what these may be, and how the person deviates."""
        assert own is None, "a model that learns deviations says how they change an order"
        return self._with_places(self._board(weights), weights, followed)

    def common_ground(self, level: float = LEVEL) -> pl.DataFrame:  # noqa: ARG002
        """Raise an error: only ``MixedRanking`` has the uncertainty of its rankings that this takes.

        Parameters
        ----------
        level : float, default=0.9
            Ignored.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ParameterError
            If it is.
        """
        check_is_fitted(self)
        raise ParameterError(
            f"{type(self).__name__} has no uncertainty for its rankings, which common ground requires.",
            hint="Fit a MixedRanking.",
        )

    def committee(self, *_: Any, **__: Any) -> "Committee":
        """Raise an error: only ``MixedRanking`` has the uncertainty of its rankings that this takes.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ParameterError
            If it is.
        """
        check_is_fitted(self)
        raise ParameterError(
            f"{type(self).__name__} has no uncertainty for its rankings, which a committee requires.",
            hint="Fit a MixedRanking.",
        )

    @property
    def influence(self) -> "Influence | None":
        """Whether rankings rest on a handful of users; None, as only ``MixedRanking`` looks."""
        return None

    def draw_agreement(self) -> Floats | None:
        """Draw the share of each camp that is expected to agree with each item, (D, Q, K); None without draws."""
        return None

    def agreement(self, level: float = LEVEL) -> pl.DataFrame:
        """Return the share of each camp that agrees with each item, where the data are agree/disagree votes.

        A camp is the users who follow the same ranking most. Users who cast a single vote, or the same vote throughout,
        have no camp.

        Parameters
        ----------
        level : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        polars.DataFrame
            One row for every item and camp; none where the model was not fitted to agree/disagree votes. Columns item,
            text, ranking (from 1); agree, passed, disagree (counts); share, lower, upper: the share that agrees among
            those who agree or disagree, with its interval.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ParameterError
            If ``level`` is not between 0 and 1.

        Examples
        --------
        >>> import plurank, polars as pl
        >>> votes = pl.DataFrame({"user": [1, 1, 2, 2], "item": ["a", "b", "a", "b"], "rating": [1, -1, 1, -1]})
        >>> model = plurank.SingleRanking().fit(plurank.Comparisons.from_ratings(votes))
        >>> model.agreement().select("item", "agree", "disagree").rows()
        [('a', 2, 0), ('b', 0, 2)]
        """
        check_is_fitted(self)
        return models.agreement(self, level)

    def camps(self) -> pl.DataFrame:
        """Return how many users follow each ranking.

        Returns
        -------
        polars.DataFrame
            One row per ranking: ranking (from 1), share (its mean weight), people (who follow it most), people_80 (of
            them, those whose weight on it is at least 0.8) and votes (cast by those who follow it most; null where the
            file of an older version does not say).

        Raises
        ------
        NotFittedError
            If the model is not fitted.

        Examples
        --------
        >>> import plurank
        >>> made = plurank.simulate(100, 5, 2, 20, random_state=0)
        >>> plurank.TopicRanking(2, random_state=0).fit(made.comparisons).camps()["people"].sum()
        100
        """
        check_is_fitted(self)
        return models.camps(self)

    def summary(self, *, items: bool = False) -> dict[str, Any]:
        """Return what the model is, in plain values: sizes, camps, how it was fitted, and how well it predicts.

        Parameters
        ----------
        items : bool, default=False
            Whether to add what is as long as the list of items: all rankings, common ground and most divided items.

        Returns
        -------
        dict
            What JSON can hold, if it can hold the labels. All models have: model, the name of its class; method, in
            words; settings; n_rankings, n_users, n_items, n_comparisons and n_votes (None where unknown); data, the
            summary of the comparisons, and excluded, what was left out of them; concentration; mixing_in_words; camps,
            as ``camps()``; influence; quality, measured on held-out comparisons, or None; n_iter, converged; details,
            what is particular to the method, in words by name; and rankings, each with ranking (from 1) and
            mean_weight. Classes add values of their own, such as flip_probability.

            With ``items``, every ranking also has items and texts, best first (of a ``MixedRanking`` with score, lower
            and upper), and there are common_ground (None without uncertainty) and most_divided.

        Raises
        ------
        NotFittedError
            If the model is not fitted.

        Examples
        --------
        >>> import plurank
        >>> made = plurank.simulate(100, 5, 2, 20, random_state=0)
        >>> summary = plurank.TopicRanking(2, random_state=0).fit(made.comparisons).summary()
        >>> summary["n_users"], summary["n_comparisons"], [camp["people"] for camp in summary["camps"]]
        (100, 2000, [68, 32])
        """
        check_is_fitted(self)
        rankings = [
            {**models.summarise_ranking(self, k, items=items), **self._ranking_values(k, items=items)}
            for k in range(len(self.rankings_))
        ]
        return {
            **models.summarise_model(self),
            **self._own_values(),
            "details": self._details(),
            "rankings": rankings,
            **(self._item_lists() if items else {}),
        }

    def _own_values(self) -> dict[str, Any]:
        """What a class of models adds to the summary."""
        return {}

    def _ranking_values(self, k: int, *, items: bool) -> dict[str, Any]:  # noqa: ARG002
        """What a class of models adds to the summary of ranking k; with ``items``, lists in their order, too."""
        return {}

    def _details(self) -> dict[str, str]:
        """What is particular to a class of models, in words by name."""
        return {}

    def _item_lists(self) -> dict[str, Any]:
        """Common ground, which needs uncertainty, and the items whose places differ most."""
        return {"common_ground": None, "most_divided": models.list_divided(self)}

    def user_summary(self, user: Any, *, top: int | None = 10) -> dict[str, Any]:
        """Return the weights and the top items of one user of the model, in plain values.

        Parameters
        ----------
        user : label
            A user of the model.
        top : int or None, default=10
            How many items; None for all.

        Returns
        -------
        dict
            user; n_items, of the model; weights; items, the best first, each with text and the columns of ``rank``. A
            ``MixedRanking`` adds weight_intervals (lower and upper of every weight) and interval_level.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If the model does not know the user.
        ParameterError
            If ``top`` is not an integer >= 1.

        Examples
        --------
        >>> import plurank
        >>> votes = plurank.Comparisons.from_arrays(["ann", "bob"], ["tea", "tea"], ["milk", "juice"])
        >>> plurank.SingleRanking().fit(votes).user_summary("ann", top=1)["items"][0]["item"]
        'tea'
        """
        check_is_fitted(self)
        if top is not None:
            check_whole("top", top, 1)
        return {**models.summarise_user(self, user, top), **self._user_values(user)}

    def _user_values(self, user: Any) -> dict[str, Any]:  # noqa: ARG002
        """What a class of models adds to the summary of a user."""
        return {}

    def _repr_html_(self) -> str | None:
        """Return scikit-learn's drawing for notebooks and, once the model is fitted, a table of its summary."""
        drawn = super()._repr_html_()
        if not self.__sklearn_is_fitted__():
            return drawn
        head = drawn or f"<pre>{escape(repr(self))}</pre>"
        return f"{head}{models.facts_as_html(models.summary_facts(self.summary()))}"

    def fold_in(self, answers: Any = None) -> "Person":
        """Infer the weights of one new person; the model stays as it is.

        Parameters
        ----------
        answers : sequence of (winner, loser), Comparisons, Ratings, Rankings, data frame or None, default=None
            Pairs of item labels, or what one user compared, rated or ranked; None for somebody who has not answered
            anything yet.

        Returns
        -------
        Person
            Weights with intervals, the order of all items, predictions, and which pairs to ask next.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If an item is unknown or compared with itself, or the comparisons are not of exactly one user.

        Examples
        --------
        >>> import plurank
        >>> made = plurank.simulate(200, 4, 2, 40, rankings=[[0, 1, 2, 3], [3, 2, 1, 0]], random_state=0)
        >>> model = plurank.MixedRanking(2, random_state=0).fit(made.comparisons)
        >>> person = model.fold_in([(3, 0), (3, 1), (2, 0)])
        >>> person.rank()["item"].to_list()
        [3, 2, 1, 0]
        """
        check_is_fitted(self)
        return self._person(answers)

    def _person(self, answers: Any) -> "Person":
        """Fold in one person."""
        return models.Person(self, self._answers_of(answers))

    def _answers_of(self, answers: Any) -> Comparisons:
        """Take the pairs or comparisons of one person, numbered as in the model."""
        given = models.as_answers(answers, self.items_)
        return given if given.items is self.items_ else self._in_own_items(given)

    def next_pair(self, answers: Any = None) -> tuple[Any, Any]:
        """Return the pair of items to ask a new person about next: the one with the largest expected information gain.

        Parameters
        ----------
        answers : sequence of (winner, loser), Comparisons, data frame or None, default=None
            What the person has answered so far, as for ``fold_in``.

        Returns
        -------
        tuple
            Labels of two items.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If the answers are not valid, or every pair was asked.

        Examples
        --------
        >>> import plurank
        >>> made = plurank.simulate(100, 4, 2, 20, rankings=[[0, 1, 2, 3], [3, 2, 1, 0]], random_state=0)
        >>> model = plurank.TopicRanking(2, random_state=0).fit(made.comparisons)
        >>> len(model.next_pair([(0, 1)]))
        2
        """
        return models.first_pair(self.fold_in(answers))

    def weights_of(self, user: Any, weights: Any) -> Floats:
        """Return the weights (K,) of a user, or those given, or the population's."""
        if weights is not None:
            row = check_numbers("weights", weights)
            if row.shape != self.mean_weights_.shape or not (row >= 0).all() or not np.isclose(row.sum(), 1.0):
                expected = f"{len(self.mean_weights_)} numbers >= 0 that sum to 1"
                raise ParameterError(parameter="weights", expected=expected, got=show_value(weights))
            return row
        if user is None:
            return self.mean_weights_
        if (code := look_up([user], self.users_, "user")[0]) < 0:
            raise DataError(
                f"the model does not know user {user!r:.60}. Fold new users in with transform and rank with weights=, "
                "or leave the user out for the population's order."
            )
        return self.user_weights_[code]

    def _store_votes(self, source: Comparisons | RatedItems | Store | RatedStore, engine: Engine) -> None:
        """Store the sample sizes of users and items, and the texts of the items."""
        votes = models.count_votes(self, source, engine)
        self.user_votes_, self.item_votes_, self.item_people_, self.camp_votes_, self.dissenter_votes_ = votes
        texts = None if isinstance(source, BaseStore) else source.texts
        self.item_texts_ = None if texts is None else list(texts)

    def item_text(self, code: int) -> str:
        """Return what to display for an item: its text, or its label where it has none.

        Parameters
        ----------
        code : int
            Position of the item in ``items_``.

        Returns
        -------
        str
            The text.
        """
        return str(self.items_[code]) if self.item_texts_ is None else self.item_texts_[code]

    def _order_rankings(self) -> None:
        """Put the rankings that people follow most first, in every fitted attribute."""
        order = np.argsort(-self.mean_weights_, kind="stable")
        for name, field in self.fields.items():
            for axis, size in enumerate(field.shape):
                if size == "K" and getattr(self, name) is not None:
                    setattr(self, name, getattr(self, name).take(order, axis=axis))

    @property
    def chosen_parameters(self) -> dict[str, Any]:
        """What a fitted model chose where its parameters are "auto"."""
        return {}

    @abstractmethod
    def check_parameters(self) -> None:
        """Raise a ParameterError where a parameter is not valid."""

    def check_consistent(self) -> None:
        """Raise a ValueError where parameters are impossible, or attributes, each fine alone, contradict each other."""
        self.check_parameters()
        if self.item_texts_ is not None and len(self.item_texts_) != len(self.items_):
            raise ValueError("item texts are not as many as items")
        scores = getattr(self, "scores_", None)
        if scores is not None and (metrics.order_by_score(scores) != self.rankings_).any():
            raise ValueError("rankings_ are not in the order of scores_")

    def write_weights(self, X: Any, path: str | PathLike[str], *, engine: Any = "local", scheduler: Any = None) -> None:
        """Write the weights of all users to a file, more of them than memory holds if need be.

        Users are folded in as by ``transform``, group by group of a store.

        Parameters
        ----------
        X : Comparisons, Store or data frame
            The comparisons of the users.
        path : str or path
            The file: CSV where its name ends in .csv, else Parquet. Columns user, ranking 1, ranking 2, ...
        engine : {"local", "dask"}, default="local"
            Where groups of a store are worked on: in this process, or on the workers of dask.distributed.
        scheduler : str, dask.distributed.Client or None, default=None
            With ``engine="dask"``: the address or client of the cluster; None starts processes on this machine.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If the comparisons are not valid, or the file cannot be written.
        ParameterError
            If ``engine`` is unknown, or is "dask" without a store.
        EngineError
            If Dask is not installed, or its cluster cannot be reached or is lost.
        """
        models.write_weights(self, X, path, engine=engine, scheduler=scheduler)

    @property
    def plot(self) -> "Plots":
        """Figures of the fitted model: ``model.plot.rankings()`` and others, each a chart; see ``Plots``."""
        from plurank.report.plots import Plots

        check_is_fitted(self)
        return Plots(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Save the model to a file that ``plurank.load`` reads.

        The file is a zip archive of JSON and npy, without pickle. It is written to a temporary file and renamed, so
        that it is complete or absent.

        Parameters
        ----------
        path : str or path
            The file; one that exists is replaced.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If there is no such folder, the path is not a file, or labels are neither text nor numbers.

        Examples
        --------
        >>> import plurank
        >>> plurank.blank_model(["tea", "milk"]).save("drinks.plurank")
        >>> plurank.load("drinks.plurank").items_.tolist()
        ['tea', 'milk']
        """
        check_is_fitted(self)
        models.save(self, path)
