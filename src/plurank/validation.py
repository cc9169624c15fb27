"""Checks of single arguments, each with the sentence for what does not pass."""

import math
from numbers import Integral, Real
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from plurank.exceptions import ParameterError

MOST_WHOLE = 2**31 - 1  # more of anything could not be numbered


def check_choice(name: str, value: Any, literal: Any) -> None:
    """Raise an error unless a value is one of the words of a ``Literal``."""
    choices = get_args(literal)
    if not isinstance(value, str) or value not in choices:
        expected = " or ".join(repr(choice) for choice in choices)
        raise ParameterError(f"{name} must be {expected}, got {value!r}.")


def check_whole(name: str, value: Any, least: int) -> int:
    """Return a whole number of at least ``least``, and not beyond measure, as an int."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}, got {value!r}.")
    if int(value) > MOST_WHOLE:
        raise ParameterError(f"{name} must be at most {MOST_WHOLE:,}, got a larger number.")
    return int(value)


def is_number(value: Any) -> bool:
    """Check whether a value is one finite number; True and False are none."""
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # a whole number that no float can hold
        return False


def check_positive(name: str, value: Any) -> None:
    """Raise an error unless this is one positive number."""
    if not is_number(value) or value <= 0:
        raise ParameterError(f"{name} must be a positive number, got {value!r}.")


def check_not_negative(name: str, value: Any) -> None:
    """Raise an error unless this is zero or one positive number."""
    if not is_number(value) or value < 0:
        raise ParameterError(f"{name} must be zero or a positive number, got {value!r}.")


def check_share(name: str, value: Any) -> None:
    """Raise an error unless this is one number strictly between 0 and 1."""
    if not is_number(value) or not 0 < value < 1:
        raise ParameterError(f"{name} must be a number between 0 and 1, got {value!r:.60}.")


def check_numbers(name: str, values: Any) -> NDArray[np.float64]:
    """Return an argument as an array of finite numbers."""
    try:
        array = np.array(values)
        numbers = array.astype(np.float64, casting="same_kind" if array.dtype.kind == "c" else "unsafe")
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name} must be an array of numbers, got {values!r:.80}.") from None
    if not np.isfinite(numbers).all():
        raise ParameterError(f"{name} must be finite numbers, got NaN or infinity.")
    return numbers
