"""Ctrl-C, but only at moments when Python can stop.

A compiled kernel calls back into Python to hand over its result. Ctrl-C raises KeyboardInterrupt wherever
Python happens to be, and the kernel does not pass on an exception raised in that call: Python then fails with
a SystemError, or crashes. So an interrupt that falls into such a call tries again a little later. So does one
that falls into a finaliser or another place whose exceptions Python ignores: else it would be lost.
"""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

HAND_OVER = "_numba_unpickle"  # the function that kernels call
RETRY_SECONDS = 0.02


@contextmanager
def at_safe_moments() -> Iterator[None]:
    """Handle Ctrl-C in this way, unless somebody else handles or ignores it already."""
    is_ours = threading.current_thread() is threading.main_thread()
    if not is_ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    show_ignored = sys.unraisablehook

    def watch_ignored(ignored: "sys.UnraisableHookArgs") -> None:
        if issubclass(ignored.exc_type, KeyboardInterrupt):
            _retry(signal.SIGINT)
        else:
            show_ignored(ignored)

    signal.signal(signal.SIGINT, _interrupt)
    sys.unraisablehook = watch_ignored
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.unraisablehook = show_ignored


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _is_handing_over(frame):
        _retry(number)
        return
    raise KeyboardInterrupt


def _retry(number: int) -> None:
    timer = threading.Timer(RETRY_SECONDS, signal.raise_signal, [number])
    timer.daemon = True
    timer.start()


def _is_handing_over(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_name == HAND_OVER:
            return True
        frame = frame.f_back
    return False


def was_interrupted(error: BaseException | None) -> bool:
    """Tell whether an error is an interrupt, or what became of one on its way through other people's code."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        if not isinstance(error, (SystemError, ImportError)):
            return False
        error = error.__cause__ or error.__context__
    return False
