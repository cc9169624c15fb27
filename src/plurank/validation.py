"""Checks of single parameters; each raises a ParameterError with what was expected and what was given."""

import math
from numbers import Integral, Real
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from plurank.exceptions import ParameterError

MOST_WHOLE = 2**31 - 1  # counts must fit into 32 bits
MAX_SHOWN = 80  # characters of a value in a message


def show_value(value: Any) -> str:
    """Return the ``repr`` of a value, cut where it is long."""
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."


def check_choice(name: str, value: Any, literal: Any) -> None:
    """Raise unless a value is one of the words of a ``Literal``."""
    choices = get_args(literal)
    if not isinstance(value, str) or value not in choices:
        listed = [repr(choice) for choice in choices]
        expected = " or ".join(listed) if len(listed) < 3 else f"one of {', '.join(listed)}"
        raise ParameterError(parameter=name, expected=expected, got=show_value(value))


def check_whole(name: str, value: Any, least: int) -> int:
    """Return an integer of at least ``least`` as an int; raise for anything else."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ParameterError(parameter=name, expected=f"an integer >= {least}", got=show_value(value))
    if int(value) > MOST_WHOLE:
        raise ParameterError(parameter=name, expected=f"at most {MOST_WHOLE:,}", got="a larger number")
    return int(value)


def is_number(value: Any) -> bool:
    """Check whether a value is one finite number; booleans are not."""
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # an integer beyond the range of floats
        return False


def check_positive(name: str, value: Any) -> None:
    """Raise unless a value is one positive number."""
    if not is_number(value) or value <= 0:
        raise ParameterError(parameter=name, expected="a positive number", got=show_value(value))


def check_not_negative(name: str, value: Any) -> None:
    """Raise unless a value is one number of at least 0."""
    if not is_number(value) or value < 0:
        raise ParameterError(parameter=name, expected="a number >= 0", got=show_value(value))


def check_share(name: str, value: Any) -> None:
    """Raise unless a value is one number strictly between 0 and 1."""
    if not is_number(value) or not 0 < value < 1:
        raise ParameterError(parameter=name, expected="a number between 0 and 1", got=show_value(value))


def check_numbers(name: str, values: Any) -> NDArray[np.float64]:
    """Return values as an array of finite numbers; raise where that is impossible."""
    try:
        array = np.array(values)
        numbers = array.astype(np.float64, casting="same_kind" if array.dtype.kind == "c" else "unsafe")
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(parameter=name, expected="an array of numbers", got=show_value(values)) from None
    if not np.isfinite(numbers).all():
        raise ParameterError(parameter=name, expected="finite numbers", got="NaN or infinity")
    return numbers
