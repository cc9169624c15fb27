"""Find and load the native library, or fall back to the plain twins.

``ACTIVE`` names what runs: ``avx2`` or ``baseline``, the same C++ sources compiled for two instruction sets, with the
same results to the last bit; or ``plain``, the Python twins, where no library was built. The environment variable
``PLURANK_KERNELS`` asks for one of them.
"""

import ctypes
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.ctypeslib import ndpointer

FOLDER = Path(__file__).parent
KINDS = ("avx2", "baseline", "plain")
INT, FLOAT = ctypes.c_int64, ctypes.c_double
INTS, CODES, FLOATS, SINGLES, MARKS, KEYS = (
    ndpointer(dtype, flags="C_CONTIGUOUS")
    for dtype in (np.int64, np.int32, np.float64, np.float32, np.bool_, np.uint64)
)
OUT_INTS, OUT_CODES, OUT_FLOATS, OUT_SINGLES, OUT_MARKS, OUT_KEYS = (
    ndpointer(dtype, flags=("C_CONTIGUOUS", "WRITEABLE"))
    for dtype in (np.int64, np.int32, np.float64, np.float32, np.bool_, np.uint64)
)
NO_LIBRARY = (
    "plurank was installed without its native library and computes in plain Python, which is about a hundred times "
    "slower. Install a C++ compiler (Debian, Ubuntu: apt install g++), then plurank again: "
    "pip install --force-reinstall --no-cache-dir --no-deps plurank"
)


def load(kind: str) -> ctypes.CDLL | None:
    """Load the library for an instruction set; None where it was not built."""
    path = FOLDER / f"native_{kind}.so"
    return ctypes.CDLL(str(path)) if path.exists() else None


def choose() -> tuple[str, ctypes.CDLL | None]:
    """Return the fastest kind that is installed and runs here, or the one that was asked for, and its library."""
    wanted = os.environ.get("PLURANK_KERNELS", "")
    if wanted not in ("", *KINDS):
        message = f"PLURANK_KERNELS must be one of {', '.join(KINDS)}, got {wanted!r:.40}. The fastest is used."
        warnings.warn(message, RuntimeWarning, stacklevel=2)
    if wanted == "plain":
        return "plain", None
    baseline = load("baseline")
    if baseline is None:
        warnings.warn(NO_LIBRARY, RuntimeWarning, stacklevel=2)
        return "plain", None
    avx2 = load("avx2") if wanted != "baseline" and baseline.has_avx2() else None
    return ("baseline", baseline) if avx2 is None else ("avx2", avx2)


ACTIVE, _LIBRARY = choose()


def function(name: str, *arguments: Any, returns: Any = None) -> Any:
    """Return a native function that checks the type and the layout of its arguments."""
    assert _LIBRARY is not None, "native functions are declared only where there is a library"
    found = _LIBRARY[name]
    found.argtypes, found.restype = arguments, returns
    return found
