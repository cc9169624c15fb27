"""What a fitted model predicts: the weights of users, and which of two items they prefer."""

import sys
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, Self, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank import data, inference, metrics
from plurank.data.build import refuse_missing, refuse_rows
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import Labels, as_series, look_up
from plurank.data.rated import RatedItems
from plurank.engine.blocks import as_comparisons, as_source, iterate_users
from plurank.engine.local import one_blas_thread
from plurank.exceptions import DataError, ParameterError, SkippedWarning
from plurank.inference.likelihood import TokenLikelihood, UserLikelihood, mean_log_likelihood
from plurank.inference.posterior import WeightPrior
from plurank.models.sklearn_api import Estimator, check_is_fitted
from plurank.random import RandomState, as_generator
from plurank.store.folder import BaseStore
from plurank.store.store import Store
from plurank.text import count, shorten
from plurank.types import Codes, Floats, Integers, Masks
from plurank.validation import check_choice, check_whole

Output = Literal["default", "pandas", "polars"]
Unknown = Literal["error", "ignore"]
ScoreMethod = Literal["predictive", "left-to-right"]
BLOCK = 2**18  # comparisons that are held at once
LONGEST = 60  # characters of an item in a message

Said = TypeVar("Said", Comparisons, RatedItems)


class Memberships(NamedTuple):
    """How much users follow each ranking of a fit: weights (m, K) and the concentration of their posterior (m,), and
    the mean (K,) and concentration that somebody unknown has."""

    weights: Floats
    user_concentration: Floats
    mean_weights: Floats
    concentration: float

    def table(self, rows: Codes) -> tuple[Floats, Floats, Codes]:
        """Return weights, their concentration, and the row of everybody asked for among them; -1: somebody unknown."""
        if (rows >= 0).all():
            return self.weights, self.user_concentration, rows
        asked, at = np.unique(rows, return_inverse=True)  # the unknown come first
        weights = np.vstack([self.mean_weights, self.weights[asked[1:]]])
        return weights, np.append(self.concentration, self.user_concentration[asked[1:]]), at.astype(np.int32)

    def replace_unknown(self, unknown: Masks, counts: Floats) -> "Memberships":
        """Return the users, those of whom nothing is known (m,) with what their prior says, counts (m, K)."""
        total = counts.sum(axis=1)
        return self._replace(
            weights=np.where(unknown[:, None], counts / total[:, None], self.weights),
            user_concentration=np.where(unknown, total, self.user_concentration),
        )

    def join(self, others: "Memberships") -> "Memberships":
        """Put others after these."""
        weights = np.vstack([self.weights, others.weights])
        return self._replace(
            weights=weights, user_concentration=np.append(self.user_concentration, others.user_concentration)
        )


class PreferenceModel(Estimator):
    """A model that infers the weights of users from their comparisons, and predicts comparisons from weights.

    Subclasses say how probable a comparison is in each ranking (``_win_probabilities``), and the weights of users
    given their comparisons (``_infer_weights``).
    """

    user_weights_: Floats
    mean_weights_: Floats
    concentration_: float
    items_: Labels
    users_: Labels
    user_effect_scale_: float | None = None  # how far users' own log odds of items are from what their rankings say
    known_effect_scale_: float | None = None  # the same of known users, whose rankings were fitted to what they said
    user_effect_keys_: Integers | None = None  # users and items that there are effects of, see ``UserEffects``
    user_effects_: Floats | None = None
    user_effect_errors_: Floats | None = None
    _sklearn_output_config: dict[str, str] = {}  # noqa: RUF012  # what set_output chose, replaced as a whole

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "rankings_")

    @property
    def posterior(self) -> Any:
        """Draws from the posterior of a model fitted to ratings; None, as only ``MixedRanking`` has them."""
        return None

    @property
    def membership_prior(self) -> WeightPrior:
        """The prior of user weights."""
        return WeightPrior(self.mean_weights_, self.concentration_)

    @abstractmethod
    def _win_probabilities(self, winners: Codes, losers: Codes) -> Floats:
        """P(winner over loser) in every ranking, (n, K), for numbers of items."""

    @abstractmethod
    def _infer_weights(self, comparisons: Comparisons) -> Floats:
        """Weights of users (M, K), given comparisons of the model's own items."""

    def memberships(self, comparisons: Comparisons | None = None) -> list[Memberships]:
        """Return the model's own users, or those of comparisons of its items, once for every fit it averages over."""
        weights = self.user_weights_ if comparisons is None else self._infer_weights(comparisons)
        certain = np.broadcast_to(np.inf, len(weights))
        return [Memberships(weights, certain, self.mean_weights_, self.concentration_)]

    def probabilities(self, users: Sequence[Memberships], rows: Codes, left: Codes, right: Codes) -> Floats:
        """P(left over right), (n,), for rows of users, -1 for unknown ones."""
        found = np.zeros(len(left))
        tables = [each.table(rows) for each in users]
        for begin in range(0, len(left), BLOCK):
            own = slice(begin, begin + BLOCK)
            chances = self._win_probabilities(left[own], right[own])
            for weights, _, at in tables:
                found[own] += (chances * weights[at[own]]).sum(axis=1) / len(users)
        return np.minimum(found, 1.0)  # weights may sum to a little more than 1

    def utilities(self, users: Sequence[Memberships], rows: Codes, items: Codes) -> Floats:
        """How much users, given by their rows, -1 for unknown ones, like items, in log odds, (n,)."""
        found = np.zeros(len(items))
        for utilities, each in zip(self._item_utilities(), users, strict=True):
            weights, _, at = each.table(rows)
            for begin in range(0, len(items), BLOCK):
                own = slice(begin, begin + BLOCK)
                found[own] += (utilities[items[own]] * weights[at[own]]).sum(axis=1) / len(users)
        return found

    @abstractmethod
    def _item_utilities(self) -> list[Floats]:
        """Log odds of every item to be preferred to another, in every ranking, (Q, K), for every fit averaged over."""

    def _transform_source(self, source: Comparisons | Store, unknown: str, people: Any = None) -> Floats:
        pieces = iterate_users(source, labelled=people is not None)
        return np.concatenate([self._transform(piece, unknown, people) for piece in pieces])

    def _transform(self, comparisons: Comparisons, unknown: str, people: Any) -> Floats:
        if unknown == "error":
            return self._infer_described(self._in_own_items(comparisons), people)
        known = skip_unknown(comparisons, self.items_)
        weights = np.tile(self.mean_weights_, (comparisons.n_users, 1))
        if len(known):
            rows = look_up(known.users, comparisons.users, "user")
            weights[rows] = self._infer_described(self._in_own_items(known), people)
        return weights

    def _infer_described(self, comparisons: Comparisons, people: Any) -> Floats:  # noqa: ARG002
        """Infer the weights of users (M, K), of whom a table may tell more; only ``MixedRanking`` has a use for it."""
        return self._infer_weights(comparisons)

    def predict_proba(self, X: Any) -> Floats:
        """Predict the probability that a user prefers one item to another.

        Parameters
        ----------
        X : data frame
            Columns user, left, right. Users that the model does not know get the mean weights.

        Returns
        -------
        ndarray of shape (n,)
            Probability that the left item is preferred.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If columns or users are missing, or an item is unknown or compared with itself.

        Examples
        --------
        >>> import plurank, polars as pl
        >>> made = plurank.simulate(100, 5, 2, 20, random_state=0)
        >>> model = plurank.TopicRanking(2, random_state=0).fit(made.comparisons)
        >>> model.predict_proba(pl.DataFrame({"user": [0, 1], "left": [0, 2], "right": [1, 3]})).shape
        (2,)
        """
        check_is_fitted(self)
        columns = data.as_columns(X)
        users, left, right = (data.find_column(columns, role, None) for role in ("user", "left", "right"))
        items = [self.find_items(side, name) for side, name in ((left, "left"), (right, "right"))]
        refuse_rows(items[0] == items[1], "left and right are the same item", "Drop such rows")
        refuse_missing(as_series(users, "user"))
        return self.predict_users(self.memberships(), look_up(users, self.users_, "user"), *items)

    @property
    def known_effects(self) -> "inference.UserEffects | None":
        """How the model's own users deviate from the rankings they follow; None where nobody does or nobody knows."""
        keys, values, errors = self.user_effect_keys_, self.user_effects_, self.user_effect_errors_
        if self.user_effect_scale_ is None or keys is None or values is None or errors is None:
            return None
        return inference.UserEffects(len(self.items_), keys, values, errors)

    def predict_users(self, users: Sequence[Memberships], rows: Codes, left: Codes, right: Codes) -> Floats:
        """P(left over right), (n,), for rows of the model's own users, -1 for unknown ones, with their own effects."""
        chances, own = self.probabilities(users, rows, left, right), self.known_effects
        return chances if own is None else own.shift(chances, rows, left, right)

    def find_items(self, side: Any, name: str) -> Codes:
        """Return the codes of items; raise a DataError for unknown ones."""
        codes = look_up(side, self.items_, name)
        if (codes < 0).any():
            example = side.to_list()[int(np.argmax(codes < 0))]
            what = f"{name} is an item the model does not know ({example!r:.60})"
            refuse_rows(codes < 0, what, "Use items of the model")
        return codes

    def predict_held_out(self, X: Any) -> tuple[Floats, Floats | None]:
        """Probability of what happened in each test comparison, (n,), and the comparisons' weights."""
        check_is_fitted(self)
        test = self._in_own_items(as_comparisons(X))
        users = look_up(test.users, self.users_, "user")
        chances = self.predict_users(self.memberships(), users[test.user_of_each()], test.winners, test.losers)
        return chances, test.weights

    def predict_new(self, asked: Any, test: Any) -> Floats:
        """Probability of what happened in test comparisons, (n,), of new users who were asked others before."""
        check_is_fitted(self)
        asked, test = (self._in_own_items(as_comparisons(X)) for X in (asked, test))
        users = self.memberships(asked)
        rows = look_up(test.users, asked.users, "user")[test.user_of_each()]
        chances = self.probabilities(users, rows, test.winners, test.losers)
        own = self._user_effects(asked, users)
        return chances if own is None else own.shift(chances, rows, test.winners, test.losers)

    def _user_effects(self, asked: Comparisons, users: Sequence[Memberships]) -> "inference.UserEffects | None":
        """How users deviate from the rankings they follow, by what they were asked; None where nobody does."""
        if self.user_effect_scale_ is None or not len(asked):
            return None
        chances = self.probabilities(users, asked.user_of_each(), asked.winners, asked.losers)
        return inference.find_user_effects(asked, chances, self.user_effect_scale_)

    def score(
        self,
        X: Any,
        y: None = None,  # noqa: ARG002
        *,
        method: ScoreMethod = "predictive",
        n_particles: int = 100,
        random_state: RandomState = 0,
    ) -> float:
        """Return the mean log-likelihood per test comparison.

        Parameters
        ----------
        X : Comparisons, Store or data frame
            Test comparisons of known items.
        y : None
            Ignored; scikit-learn passes it.
        method : {"predictive", "left-to-right"}, default="predictive"
            "predictive" takes each comparison by itself: known users are predicted with their fitted weights, others
            with the mean weights. "left-to-right" takes all comparisons of a user together, with weights integrated
            over the Dirichlet prior, for known users too; comparisons made from ratings count in full.
        n_particles : int, default=100
            Particles of "left-to-right".
        random_state : int, numpy.random.Generator or None, default=0
            Seed of "left-to-right".

        Returns
        -------
        float
            Mean over comparisons, by their weights; guessing gives -log 2 = -0.693.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If the comparisons are not valid or have unknown items.
        ParameterError
            If ``method`` is unknown, or ``n_particles`` is not an integer >= 1.

        Notes
        -----
        "left-to-right" uses importance sampling of the weights instead, where scores are mixed (``mixing="utility"``)
        or comparisons have fractional weights, which are powers of their likelihood. The estimate of a user's
        log-likelihood is too low by about half its variance: the more particles, the less.

        References
        ----------
        H. M. Wallach, I. Murray, R. Salakhutdinov and D. Mimno (2009), "Evaluation Methods for Topic Models", ICML.

        Examples
        --------
        >>> import plurank
        >>> made = plurank.simulate(200, 5, 2, 20, random_state=0)
        >>> train, test = made.comparisons.split(0.2, random_state=0)
        >>> plurank.TopicRanking(2, random_state=0).fit(train).score(test) > -0.693
        True
        """
        check_choice("method", method, ScoreMethod)
        if method == "predictive":
            return self.evaluate(X)["log_likelihood"]
        check_is_fitted(self)
        check_whole("n_particles", n_particles, 1)
        test = self._in_own_items(as_comparisons(X))
        with one_blas_thread():  # so that sums have one order
            return mean_log_likelihood(self.likelihoods(), test, n_particles, as_generator(random_state))

    def likelihoods(self) -> Sequence[UserLikelihood]:
        """Return how new users decide, for every fit that the model averages over."""
        return [TokenLikelihood(self.membership_prior.counts, self._win_probabilities)]

    def accuracy(self, X: Any) -> float:
        """Return the share of test comparisons whose preferred item is predicted.

        Parameters
        ----------
        X : Comparisons, Store or data frame
            Test comparisons of known items.

        Returns
        -------
        float
            Share by weight; a probability of exactly one half counts half.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If the comparisons are not valid or have unknown items.
        """
        return self.evaluate(X)["accuracy"]

    def evaluate(self, X: Any) -> dict[str, float]:
        """Predict test comparisons once, and measure how well.

        Parameters
        ----------
        X : Comparisons, Store or data frame
            Test comparisons of known items.

        Returns
        -------
        dict
            log_likelihood and accuracy, the means over comparisons as returned by ``score`` and ``accuracy``;
            n_comparisons, n_users and n_known_users, those whom the model was fitted to.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If the comparisons are not valid or have unknown items.

        Examples
        --------
        >>> import plurank
        >>> made = plurank.simulate(200, 5, 2, 20, random_state=0)
        >>> train, test = made.comparisons.split(0.2, random_state=0)
        >>> plurank.TopicRanking(2, random_state=0).fit(train).evaluate(test)["n_comparisons"]
        800
        """
        check_is_fitted(self)
        parts, n_comparisons, n_users, n_known = [], 0, 0, 0
        for users in iterate_users(X):
            chances, weights = self.predict_held_out(users)
            parts.append(
                (metrics.log_likelihood(chances, weights), metrics.accuracy(chances, weights), users.total_weight)
            )
            n_comparisons, n_users = n_comparisons + len(users), n_users + users.n_users
            n_known += int((look_up(users.users, self.users_, "user") >= 0).sum())
        logs, hits, totals = zip(*parts, strict=True)
        return {
            "log_likelihood": float(np.average(logs, weights=totals)),
            "accuracy": float(np.average(hits, weights=totals)),
            "n_comparisons": n_comparisons,
            "n_users": n_users,
            "n_known_users": n_known,
        }

    def as_observed(self, comparisons: Comparisons) -> Comparisons:
        """Return the comparisons; a model that knows better reweights those made from ratings."""
        return comparisons

    def _in_own_items(self, comparisons: Comparisons) -> Comparisons:
        """Renumber items as in the model; refuse items it does not know."""
        codes = look_up(comparisons.items, self.items_, "item")
        used = np.zeros(len(codes), dtype=bool)
        used[comparisons.winners] = used[comparisons.losers] = True
        refuse_unknown(comparisons.items[used & (codes < 0)].tolist())
        winners, losers = codes[comparisons.winners], codes[comparisons.losers]
        return replace(comparisons, winners=winners, losers=losers, items=self.items_, ratings=None, texts=None)

    def transform(self, X: Any, *, unknown: Unknown = "error") -> Any:
        """Infer the weights of users from their comparisons; the model stays as it is.

        Parameters
        ----------
        X : Comparisons, Store or data frame
            Comparisons of users, known or new; whatever a fit said about them does not count.
        unknown : {"error", "ignore"}, default="error"
            Whether to raise an error for items that the model does not know, or to skip their comparisons with a
            warning. A user with none left gets the mean weights.

        Returns
        -------
        ndarray of shape (n_users, K) or data frame
            One row per user, in the order in which users first appear in a frame, and in that of ``users`` for
            Comparisons and stores. After ``set_output(transform="pandas")`` or ``"polars"`` a frame with the users'
            labels.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If the comparisons are not valid, or have unknown items and ``unknown="error"``.

        Warns
        -----
        SkippedWarning
            If comparisons of unknown items were skipped.

        Examples
        --------
        >>> import plurank
        >>> made = plurank.simulate(100, 5, 2, 20, random_state=0)
        >>> model = plurank.TopicRanking(2, random_state=0).fit(made.comparisons)
        >>> model.transform(plurank.Comparisons.from_arrays(["new", "new"], [0, 1], [1, 2])).shape
        (1, 2)
        """
        return self._as_output(*self._weights_of(X, unknown))

    def _as_output(self, users: Callable[[], Labels], weights: Floats) -> Any:
        """Return weights (n_users, K) as ``set_output`` wants them."""
        output = self._output()
        if output == "default":
            return weights
        return self._as_pandas(users(), weights) if output == "pandas" else self._as_polars(users(), weights)

    def weights_frame(self, X: Any, *, unknown: Unknown = "error") -> pl.DataFrame:
        """Infer the weights of users as ``transform`` does, with their labels.

        Parameters
        ----------
        X : Comparisons, Store or data frame
            Comparisons of users, known or new.
        unknown : {"error", "ignore"}, default="error"
            Whether to raise an error for items that the model does not know, or to skip their comparisons with a
            warning.

        Returns
        -------
        polars.DataFrame
            Columns user, ranking_1, ranking_2, ...; one row per user.
        """
        users, weights = self._weights_of(X, unknown)
        return self._as_polars(users(), weights)

    def _weights_of(self, X: Any, unknown: str, people: Any = None) -> tuple[Callable[[], Labels], Floats]:
        """Return what reads the users' ids, which of a store takes time, and their weights, (n_users, K)."""
        check_is_fitted(self)
        check_choice("unknown", unknown, Unknown)
        source = self._as_said(X)
        weights, order = self._transform_source(source, unknown, people), _appearance(X, source)
        if order is None:
            return lambda: source.users, weights
        return lambda: source.users[order], weights[order]

    def _as_said(self, X: Any) -> Any:
        """Take what users said as this model does."""
        return as_source(X)

    def fit_transform(self, X: Any, y: None = None, **options: Any) -> Any:
        """Fit to comparisons, then infer the weights of their users as ``transform`` does.

        Parameters
        ----------
        X : Comparisons, Store or data frame
            The comparisons.
        y : None
            Ignored; scikit-learn passes it.
        **options : dict
            Passed on to ``fit``.

        Returns
        -------
        ndarray of shape (n_users, K) or data frame
            See ``transform``.
        """
        model: Any = self  # subclasses fit, each with options of its own
        return model.fit(X, y, **options).transform(X)

    def predict(self, X: Any) -> Labels:
        """Predict which of two items a user prefers.

        Parameters
        ----------
        X : data frame
            Columns user, left, right.

        Returns
        -------
        ndarray of shape (n,)
            Label of the item that is more likely to be preferred; the left one where both are equally likely.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If columns are missing, or an item is unknown or compared with itself.

        Examples
        --------
        >>> import plurank, polars as pl
        >>> votes = plurank.Comparisons.from_arrays([1, 2, 3], ["tea", "tea", "milk"], ["milk", "juice", "juice"])
        >>> model = plurank.SingleRanking().fit(votes)
        >>> model.predict(pl.DataFrame({"user": [1], "left": ["juice"], "right": ["tea"]})).tolist()
        ['tea']
        """
        chances = self.predict_proba(X)
        columns = data.as_columns(X)
        left, right = (
            self.items_[look_up(data.find_column(columns, side, None), self.items_, side)] for side in ("left", "right")
        )
        return np.where(chances >= 0.5, left, right)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the names of the columns that ``transform`` returns.

        Parameters
        ----------
        input_features : object, default=None
            Ignored; scikit-learn passes it.

        Returns
        -------
        ndarray of str, shape (K,)
            ranking_1, ranking_2, ...
        """
        check_is_fitted(self)
        return np.array([f"ranking_{k + 1}" for k in range(len(self.mean_weights_))], dtype=object)

    def set_output(self, *, transform: Output | None = None) -> Self:
        """Choose what ``transform`` returns.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None, default=None
            An array, a pandas frame with the users as its index, or a polars frame with a column user; None changes
            nothing.

        Returns
        -------
        PreferenceModel
            The model itself.
        """
        if transform is not None:
            check_choice("transform", transform, Output)
            self._sklearn_output_config = {"transform": transform}
        return self

    def __sklearn_clone__(self) -> Self:
        copied = super().__sklearn_clone__()
        copied._sklearn_output_config = dict(self._sklearn_output_config)
        return copied

    def _output(self) -> str:
        if "transform" in self._sklearn_output_config:
            return self._sklearn_output_config["transform"]
        sklearn = sys.modules.get("sklearn")  # nobody has set an option of what was never imported
        return "default" if sklearn is None else str(sklearn.get_config().get("transform_output", "default"))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags()
        return tags

    def _as_polars(self, users: Labels, weights: Floats) -> pl.DataFrame:
        columns = [pl.Series(name, weights[:, k]) for k, name in enumerate(self.get_feature_names_out())]
        return pl.DataFrame([as_series(users, "user"), *columns])

    def _as_pandas(self, users: Labels, weights: Floats) -> Any:
        try:
            import pandas as pd  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            raise ParameterError("set_output(transform='pandas') needs pandas: pip install pandas.") from None
        return pd.DataFrame(weights, index=pd.Index(users, name="user"), columns=self.get_feature_names_out())


def refuse_unknown(items: list[Any]) -> None:
    """Raise an error for items that a model does not know, by name."""
    if items:
        shown = ", ".join(shorten(repr(item), LONGEST) for item in items[:5]) + (", ..." if len(items) > 5 else "")
        raise DataError(
            f"the model does not know {len(items):,} of the items compared ({shown}). Drop their rows or fit again."
        )


def skip_unknown(said: Said, items: Labels) -> Said:
    """Leave out what was said about items that are not among a model's, and say how much that is."""
    is_known = look_up(said.items, items, "item") >= 0
    if isinstance(said, RatedItems):
        sides, noun = [said.codes], said.noun
    else:
        sides, noun = [said.winners, said.losers], "comparison"
    keep: Masks = np.all([is_known[side] for side in sides], axis=0)
    if keep.all():
        return said
    n_items = int((~is_known[np.unique(sides)]).sum())
    skipped = f"skipped {int((~keep).sum()):,} of {count(len(keep), noun)}"
    warnings.warn(f"{skipped}: the model does not know {count(n_items, 'item')}.", SkippedWarning, stacklevel=3)
    return said.select(keep)


def _appearance(X: Any, source: Any) -> NDArray[np.int64] | None:
    """Return the numbers of users in the order in which a frame names them first; None for what is no frame."""
    if isinstance(X, (Comparisons, RatedItems, BaseStore)):
        return None
    codes = look_up(data.find_column(data.as_columns(X), "user", None), source.users, "user")
    known, first = np.unique(codes, return_index=True)
    order = known[np.argsort(first)]
    return order[order >= 0].astype(np.int64)  # -1: somebody all of whose rows were left out
