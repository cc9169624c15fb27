"""The scikit-learn interface: parameters, cloning, column names and output of transformers."""

import sys
from abc import ABC, abstractmethod
from copy import deepcopy
from inspect import Parameter, signature
from typing import Any, Self, TypeVar

from plurank.exceptions import NotFittedError, ParameterError
from plurank.models.fields import translate

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
