"""What a fitted model consists of, so that files can be written, read and checked by one table; and old names."""

import functools
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from plurank.data.diagnostics import check_summary

Sizes = Mapping[str, int]
LARGEST = 1e12  # the log posterior of a trillion comparisons; no fit gives more, and sums of more lose their digits
LARGEST_SCORE = 1e8  # log odds, or minus the place among so many items


def _is_ranking(array: NDArray[Any], sizes: Sizes) -> bool:
    return bool((np.sort(array, axis=1) == np.arange(sizes["Q"])).all())


def _is_correlation(array: NDArray[Any], _: Sizes) -> bool:
    # a mean of correlation matrices may have lost a little of its definiteness to rounding
    sound = np.isfinite(array).all() and np.allclose(array, array.T) and np.allclose(np.diag(array), 1.0)
    return bool(sound and np.linalg.eigvalsh(array).min() > -1e-6)


def _is_simplex(array: NDArray[Any], _: Sizes) -> bool:
    return bool((array >= 0).all() and np.allclose(array.sum(axis=-1), 1.0, atol=1e-6))


def _is_sorted_pairs(array: NDArray[Any], sizes: Sizes) -> bool:
    inside = not len(array) or (array[0] >= 0 and array[-1] < sizes["M"] * sizes["Q"])
    return bool(inside and (np.diff(array) > 0).all())


def _is_nearly_simplex(array: NDArray[Any], _: Sizes) -> bool:
    return bool((array >= 0).all() and np.allclose(array.sum(axis=-1), 1.0, atol=1e-4))  # single precision


def _is_at_most(array: NDArray[Any], largest: float) -> bool:
    return bool((np.abs(array) <= largest).all())  # false for NaN, too


RULES: dict[str, Callable[[NDArray[Any], Sizes], bool]] = {
    "any": lambda _, __: True,
    "finite": lambda array, _: _is_at_most(array, LARGEST),
    "a score": lambda array, _: _is_at_most(array, LARGEST_SCORE),
    "not negative": lambda array, _: bool((array >= 0).all() and _is_at_most(array, LARGEST)),
    "positive": lambda array, _: bool((array > 0).all() and _is_at_most(array, LARGEST)),
    "between 0 and 1": lambda array, _: bool(((array > 0) & (array < 1)).all()),
    "at most a half": lambda array, _: bool(((array > 0) & (array <= 0.5)).all()),
    "an item or none": lambda array, sizes: bool(((array >= -1) & (array < sizes["Q"])).all()),
    "a ranking": _is_ranking,
    "pairs of user and item": _is_sorted_pairs,
    "on the simplex": _is_simplex,
    "nearly on the simplex": _is_nearly_simplex,
    "correlations": _is_correlation,
}


@dataclass(frozen=True)
class Field:
    """A fitted attribute: the kinds of numpy types it may have, its shape in K, Q, M and numbers, and a rule.

    A field without a shape is a single value and stands in the file's JSON; all others are arrays.
    """

    kinds: str
    shape: tuple[str | int, ...] = ()
    rule: str = "finite"
    optional: bool = False  # None where it is unknown, as in files of earlier versions
    single: bool = False  # held in single precision, because there are many

    def check(self, name: str, value: Any, sizes: Sizes) -> None:
        """Raise a ValueError where a value is not what the field says."""
        if value is None and self.optional:
            return
        array = np.asarray(value)
        # a size that is not known from elsewhere is free
        free = {name: size for name, size in zip(self.shape, array.shape, strict=False) if isinstance(name, str)}
        sizes = {**free, **sizes}
        wanted = tuple(sizes.get(n, -1) if isinstance(n, str) else n for n in self.shape)
        is_usual = array.dtype.kind != "f" or array.dtype.itemsize in (4, 8)  # kernels know no others
        if array.dtype.kind not in self.kinds or not is_usual or array.shape != wanted:
            raise ValueError(f"{name} is of type {array.dtype} and shape {array.shape}, expected shape {wanted}")
        if not RULES[self.rule](array, sizes):
            raise ValueError(f"{name} is not {self.rule}")


@dataclass(frozen=True)
class JsonField:
    """A fitted attribute of plain values that stands in the file's JSON; None where an older file has none."""

    check_value: Callable[[Any], None]
    shape: tuple[str | int, ...] = ()

    def check(self, name: str, value: Any, sizes: Sizes) -> None:  # noqa: ARG002
        """Raise a ValueError where a value is not what the field says."""
        self.check_value(value)


def _check_texts(value: Any) -> None:
    if value is not None and not (isinstance(value, list) and all(isinstance(text, str) for text in value)):
        raise ValueError("item texts are not a list of texts")


def plain(value: Any) -> Any:
    """Return a single value as JSON has it."""
    return value.item() if isinstance(value, np.generic) else value


Fields = dict[str, Field | JsonField]
COMMON: Fields = {
    "rankings_": Field("i", ("K", "Q"), "a ranking"),
    "user_weights_": Field("f", ("M", "K"), "on the simplex"),
    "mean_weights_": Field("f", ("K",), "on the simplex"),
    "concentration_": Field("if", (), "positive"),
    "n_iter_": Field("i", (), "not negative"),
    "converged_": Field("b", (), "any"),
    "data_": JsonField(check_summary),
    "item_texts_": JsonField(_check_texts),
    "user_votes_": Field("i", ("M",), "not negative", optional=True),
    "item_votes_": Field("i", ("Q",), "not negative", optional=True),
    "item_people_": Field("i", ("Q",), "not negative", optional=True),
    "camp_votes_": Field("i", ("Q", "K", 3), "not negative", optional=True),
    "dissenter_votes_": Field("i", ("Q", 2), "not negative", optional=True),
}


# Names of version 0.1 that changed: they work for one release, with a warning, and in files for good.

RENAMED = {
    "start": "init",
    "spread": "score_scale",
    "rated": "from_ratings",
    "spread_": "score_scale_",
    "rated_": "from_ratings_",
    "worth_": "rating_weight_",
    "user_evidence_": "user_concentration_",
    "deviation_": "user_effect_scale_",
    "_novel_items": "novel_items_",
}
Constructor = TypeVar("Constructor", bound=Callable[..., None])


def translate(names: Mapping[str, Any], *, warn: bool = True) -> dict[str, Any]:
    """Return a mapping with present names instead of old ones."""
    for name in names.keys() & RENAMED.keys():
        if warn:
            warn_about(name)
    return {RENAMED.get(name, name): value for name, value in names.items()}


def warn_about(name: str) -> None:
    """Warn that a name has changed."""
    warnings.warn(
        f"{name} is now {RENAMED[name]}; the old name will be removed in 0.3.", DeprecationWarning, stacklevel=3
    )


def warn_deprecated(what: str, why: str) -> None:
    """Warn that a parameter, or a value of one, will be removed."""
    warnings.warn(f"{what} is deprecated and will be removed in 0.3: {why}.", DeprecationWarning, stacklevel=4)


def _old_attribute(name: str) -> property:
    def read(self: Any) -> Any:
        warn_about(name)
        return getattr(self, RENAMED[name])

    return property(read)


class OldAttributes:
    """Fitted attributes under their old names."""

    spread_ = _old_attribute("spread_")
    rated_ = _old_attribute("rated_")
    worth_ = _old_attribute("worth_")
    user_evidence_ = _old_attribute("user_evidence_")
    deviation_ = _old_attribute("deviation_")


def accept_old_names(init: Constructor) -> Constructor:
    """Let an ``__init__`` take parameters by their old names, too."""

    @functools.wraps(init)
    def translated(self: Any, *arguments: Any, **parameters: Any) -> None:
        init(self, *arguments, **translate(parameters))

    return translated  # type: ignore[return-value]
