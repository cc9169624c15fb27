"""Arrays, by what they hold."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers = NDArray[np.int64]
Codes = NDArray[np.int32]  # of users and items: their numbers from 0
Masks = NDArray[np.bool_]
