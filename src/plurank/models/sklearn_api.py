"""What scikit-learn expects of a transformer: names of the columns, frames with ids, and the usual shortcuts."""

import sys
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank.data.checks import check_choice
from plurank.data.columns import as_columns, find_column
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import Labels, as_series, look_up
from plurank.data.store import Store
from plurank.engine.sources import as_source
from plurank.exceptions import ParameterError
from plurank.models.estimator import Estimator, check_is_fitted

Floats = NDArray[np.float64]
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
        """Weights of new users, (n_users, K); nothing is fitted again.

        Rows are in the order in which users first appear in a frame, and in that of ``users`` for Comparisons and
        stores. ``set_output(transform="pandas")`` or ``"polars"`` gives a frame with the users' ids instead of an
        array; so does ``weights_frame``. Items the model does not know are refused; with ``unknown="ignore"`` their
        comparisons are skipped, and a warning says how many. A user with nothing left gets the mean weights.
        """
        users, weights = self._weights_of(X, unknown)
        output = self._output()
        if output == "default":
            return weights
        return self._as_pandas(users(), weights) if output == "pandas" else self._as_polars(users(), weights)

    def weights_frame(self, X: Any, *, unknown: Unknown = "error") -> pl.DataFrame:
        """Weights of new users as a polars frame: columns user, ranking_1, ranking_2, ...; see ``transform``."""
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
        """Fit to comparisons, and return the weights of their users as ``transform`` does."""
        model: Any = self  # subclasses fit, each with options of its own
        return model.fit(X, y, **options).transform(X)

    def predict(self, X: Any) -> Labels:
        """Return the item that is likelier to be preferred, (n,), for a frame with columns user, left, right."""
        chances = self.predict_proba(X)
        columns = as_columns(X)
        left, right = (
            self.items_[look_up(find_column(columns, side, None), self.items_, side)] for side in ("left", "right")
        )
        return np.where(chances >= 0.5, left, right)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:  # noqa: ARG002
        """Return the names of the columns of ``transform``: ranking_1, ranking_2, ..."""
        check_is_fitted(self)
        return np.array([f"ranking_{k + 1}" for k in range(len(self.mean_weights_))], dtype=object)

    def set_output(self, *, transform: Output | None = None) -> Self:
        """Choose what ``transform`` returns: "default" (an array), "pandas" (users are the index) or "polars"."""
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
