"""Find and load the native library, or fall back to the plain twins.

``ACTIVE`` names what runs: ``avx2`` or ``baseline``, the same C++ sources compiled for two instruction sets, with the
same results to the last bit; or ``plain``, the Python twins, where no library was built. The environment variable
``PLURANK_KERNELS`` asks for one of them.
"""

import ctypes
import os
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent
KINDS = ("avx2", "baseline", "plain")
ABI_VERSION = 3  # of the native functions' arguments; see native/processor.cpp
INT, FLOAT = ctypes.c_int64, ctypes.c_double


class Array:
    """An argument that is an array of one type in C order; ``numpy.ctypeslib.ndpointer`` does the same, slower."""

    def __init__(self, dtype: type, *, writeable: bool = False) -> None:
        self.dtype, self.writeable = np.dtype(dtype), writeable

    def address(self, array: np.ndarray[Any, Any]) -> int:
        """Return where the numbers are; raise TypeError for any other array."""
        flags = array.flags
        if array.dtype != self.dtype or not flags.c_contiguous or (self.writeable and not flags.writeable):
            kind = " that can be written to" if self.writeable else ""
            got = f"{array.dtype}{'' if flags.c_contiguous else ', not in C order'}"
            raise TypeError(f"expected an array of {self.dtype} in C order{kind}, got one of {got}")
        return int(array.__array_interface__["data"][0])


INTS, CODES, FLOATS, SINGLES, MARKS, KEYS = map(
    Array, (np.int64, np.int32, np.float64, np.float32, np.bool_, np.uint64)
)
OUT_INTS, OUT_CODES, OUT_FLOATS, OUT_SINGLES, OUT_MARKS, OUT_KEYS = (
    Array(dtype, writeable=True) for dtype in (np.int64, np.int32, np.float64, np.float32, np.bool_, np.uint64)
)
NO_LIBRARY = (
    "plurank has no native library here ({reason}) and computes in plain Python, which is many times "
    "slower. Install a C++20 compiler (Debian, Ubuntu: apt install g++), then install plurank again from where you "
    "got it, with pip install --force-reinstall --no-cache-dir --no-deps."
)


def load_library(kind: str) -> ctypes.CDLL:
    """Load the library for an instruction set; raise OSError where it was not built, or is of another machine."""
    path = FOLDER / f"native_{kind}.so"
    if not path.exists():
        raise OSError("it was not built")
    library = ctypes.CDLL(str(path))
    if library.abi_version() != ABI_VERSION:
        raise OSError(f"{path.name} is of another version of plurank")
    return library


def choose_library() -> tuple[str, ctypes.CDLL | None]:
    """Return the fastest kind that is installed and runs here, or the one that was asked for, and its library."""
    wanted = os.environ.get("PLURANK_KERNELS", "")
    if wanted not in ("", *KINDS):
        message = f"PLURANK_KERNELS must be one of {', '.join(KINDS)}, got {wanted!r:.40}. The fastest is used."
        warnings.warn(message, RuntimeWarning, stacklevel=1)
    if wanted == "plain":
        return "plain", None
    try:
        baseline = load_library("baseline")
    except OSError as error:
        warnings.warn(NO_LIBRARY.format(reason=error), RuntimeWarning, stacklevel=1)
        return "plain", None
    if wanted != "baseline" and baseline.has_avx2():
        with suppress(OSError):
            return "avx2", load_library("avx2")
    return "baseline", baseline


ACTIVE, _LIBRARY = choose_library()


def function(name: str, *arguments: Any, returns: Any = None) -> Any:
    """Return a native function that checks the type and the layout of its arguments."""
    assert _LIBRARY is not None, "native functions are declared only where there is a library"
    found = _LIBRARY[name]
    found.argtypes = [ctypes.c_void_p if isinstance(argument, Array) else argument for argument in arguments]
    found.restype = returns
    arrays = [(at, argument.address) for at, argument in enumerate(arguments) if isinstance(argument, Array)]

    def call(*given: Any) -> Any:  # not as from_param of ctypes, which would turn Ctrl-C into an ArgumentError
        values = [*given]
        for at, address in arrays:
            values[at] = address(given[at])
        return found(*values)

    return call
