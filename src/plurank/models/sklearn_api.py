"""The scikit-learn interface: parameters, cloning, column names and output of transformers."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import deepcopy
from inspect import Parameter, signature
from typing import Any, Literal, Self, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank.data.columns import as_columns, find_column
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import Labels, as_series, look_up
from plurank.engine.blocks import as_source
from plurank.exceptions import NotFittedError, ParameterError
from plurank.models.fields import translate
from plurank.store.store import Store
from plurank.types import Floats
from plurank.validation import check_choice

# What scikit-learn expects of any estimator, without importing it: it takes longer to import than most commands run.
#
# scikit-learn goes by methods rather than by classes, so ``clone``, ``cross_val_score``, pipelines, searches over
# parameters and ``check_is_fitted`` take these estimators for their own kind.

Fresh = TypeVar("Fresh", bound="Estimator")
NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


class Estimator(ABC):
    """Parameters that can be read, set and copied; a subclass names all of them in its ``__init__``."""

    @abstractmethod
    def __sklearn_is_fitted__(self) -> bool:
        """Check whether ``fit`` has been called."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters of the estimator.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include those of estimators among them, as ``model__n_rankings``.

        Returns
        -------
        dict
            Values by name.
        """
        found: dict[str, Any] = {}
        for name in sorted(_defaults(type(self))):
            value = getattr(self, name)
            if deep and isinstance(value, Estimator):
                found |= {f"{name}__{key}": inner for key, inner in value.get_params().items()}
            found[name] = value
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator.

        Parameters
        ----------
        **params : dict
            Values by name; those of an estimator among them as ``model__n_rankings``.

        Returns
        -------
        Estimator
            The estimator itself.

        Raises
        ------
        ParameterError
            If there is no such parameter.
        """
        known = sorted(_defaults(type(self)))
        for key, value in sorted(
            translate(params).items(), key=lambda given: "__" in given[0]
        ):  # whole estimators first
            name, _, inner = key.partition("__")
            if name not in known or (inner and not isinstance(getattr(self, name), Estimator)):
                raise ParameterError(
                    f"Invalid parameter {key!r:.60} of {type(self).__name__}: expected one of {', '.join(known)}."
                )
            if inner:
                getattr(self, name).set_params(**{inner: value})
            else:
                setattr(self, name, value)
        return self

    def __sklearn_clone__(self) -> Self:
        return type(self)(**deepcopy(self.get_params(deep=False)))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(two_d_array=False),  # comparisons or ratings
        )

    def __repr__(self) -> str:
        defaults = _defaults(type(self))
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if repr(value) != repr(defaults[name])
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str | None:
        """Return scikit-learn's drawing for notebooks; None, which shows the text, where it is not installed."""
        try:
            from sklearn.utils import estimator_html_repr
        except ImportError:
            return None
        drawn: str = estimator_html_repr(self)
        return drawn


def clone(estimator: Fresh) -> Fresh:
    """Return a copy with the same parameters that is not fitted, as ``sklearn.clone`` does."""
    return estimator.__sklearn_clone__()


def check_is_fitted(estimator: Estimator) -> None:
    """Raise a NotFittedError before ``fit``: one of scikit-learn's, too, where that is in use."""
    if estimator.__sklearn_is_fitted__():
        return
    theirs = sys.modules.get("sklearn.exceptions")
    kind: type[Exception] = NotFittedError
    if theirs is not None:
        kind = type("NotFittedError", (NotFittedError, theirs.NotFittedError), {})
    raise kind(f"this {type(estimator).__name__} is not fitted yet. Call fit first.")


def _defaults(cls: type) -> dict[str, Any]:
    """Return the parameters of ``__init__`` and their defaults, ``Parameter.empty`` where there is none."""
    return {name: found.default for name, found in signature(cls).parameters.items() if found.kind in NAMED}


Output = Literal["default", "pandas", "polars"]
Unknown = Literal["error", "ignore"]


class WeightTransformer(Estimator):
    """A model that turns the comparisons of users into their weights."""

    mean_weights_: Floats
    items_: Labels
    _sklearn_output_config: dict[str, str] = {}  # noqa: RUF012  # what set_output chose, replaced as a whole

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "rankings_")

    @abstractmethod
    def _transform_source(self, source: Comparisons | Store, unknown: str) -> Floats:
        """Weights of the users of comparisons or of a store, (M, K), in the order of its ``users``."""

    @abstractmethod
    def predict_proba(self, X: Any) -> Floats:
        """P(left preferred) for a frame with columns user, left, right, (n,)."""

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
            One row a user, in the order in which users first appear in a frame, and in that of ``users`` for
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
        users, weights = self._weights_of(X, unknown)
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
            Columns user, ranking_1, ranking_2, ...; one row a user.
        """
        users, weights = self._weights_of(X, unknown)
        return self._as_polars(users(), weights)

    def _weights_of(self, X: Any, unknown: str) -> tuple[Callable[[], Labels], Floats]:
        """Return what reads the users' ids, which of a store takes time, and their weights, (n_users, K)."""
        check_is_fitted(self)
        check_choice("unknown", unknown, Unknown)
        source = as_source(X)
        weights, order = self._transform_source(source, unknown), _appearance(X, source)
        if order is None:
            return lambda: source.users, weights
        return lambda: source.users[order], weights[order]

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
        columns = as_columns(X)
        left, right = (
            self.items_[look_up(find_column(columns, side, None), self.items_, side)] for side in ("left", "right")
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
        WeightTransformer
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


def _appearance(X: Any, source: Comparisons | Store) -> NDArray[np.int64] | None:
    """Return the numbers of users in the order in which a frame names them first; None for what is no frame."""
    if isinstance(X, (Comparisons, Store)):
        return None
    codes = look_up(find_column(as_columns(X), "user", None), source.users, "user")
    known, first = np.unique(codes, return_index=True)
    order = known[np.argsort(first)]
    return order[order >= 0].astype(np.int64)  # -1: somebody all of whose rows were left out
