"""How kernels are compiled: on first use, and kept for later processes wherever that is possible."""

import warnings
from functools import partial
from typing import Any

import numba
from numpy.typing import NDArray

COMPILES_AGAIN = (
    "compiled code cannot be kept, so every run compiles again, which takes about a minute: plurank's own folder "
    "and your cache cannot be written to. Set NUMBA_CACHE_DIR to a folder that can."
)


def can_keep() -> bool:
    """Tell whether numba finds a folder for compiled code; without one it would refuse to compile at all."""
    try:
        numba.njit(cache=True)(_nothing)
    except RuntimeError:
        warnings.warn(COMPILES_AGAIN, RuntimeWarning, stacklevel=2)
        return False
    return True


def _nothing() -> None:
    """Be a function that could be kept."""


kernel = partial(numba.njit, cache=can_keep())


@kernel()
def put(values: NDArray[Any], target: NDArray[Any]) -> None:
    """``target[:] = values`` for vectors of one length.

    What numba makes of that line takes seconds to compile, wherever it stands: it puts a sentence together for lengths
    that differ.
    """
    for k in range(target.size):
        target[k] = values[k]
