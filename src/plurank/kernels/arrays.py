"""Types of arrays that kernels take and return."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurank.types import Integers

Keys = NDArray[np.uint64]
Reals = NDArray[Any]  # float64 or float32


def check(fit: bool | np.bool_) -> None:
    """Raise ValueError where arguments of a kernel do not fit each other: native code would read and write anywhere."""
    if not fit:
        raise ValueError("arguments of a kernel do not fit each other; this is a bug in plurank, please report it.")


def most_of(offsets: Integers) -> int:
    """Return the size of the largest group that offsets bound."""
    return int(np.diff(offsets).max(initial=0))
