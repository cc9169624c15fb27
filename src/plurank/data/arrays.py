"""Arrays in files: plain npy."""

from types import SimpleNamespace
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray


def write_array(file: BinaryIO, array: NDArray[Any]) -> None:
    """Write an array as npy; given the file itself, numpy would not say that the disk is full."""
    np.save(SimpleNamespace(write=file.write), array, allow_pickle=False)
