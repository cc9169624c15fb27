"""Arrays, by what they hold, and how long work reports its progress."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers = NDArray[np.int64]
Codes = NDArray[np.int32]  # of users and items: their numbers from 0
Masks = NDArray[np.bool_]
Progress = Callable[[str, float], None]  # called with the name of a stage and the share of it that is done


def silent(stage: str, done: float) -> None:
    """Report nothing."""
