"""Ctrl-C, also where Python would lose it: in a finaliser or another place whose exceptions it ignores."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

RETRY_SECONDS = 0.02


@contextmanager
def not_lost() -> Iterator[None]:
    """Raise an interrupt that Python ignored again a little later, unless somebody else handles Ctrl-C."""
    is_ours = threading.current_thread() is threading.main_thread()
    if not is_ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    show_ignored = sys.unraisablehook

    def watch_ignored(ignored: "sys.UnraisableHookArgs") -> None:
        if not issubclass(ignored.exc_type, KeyboardInterrupt):
            show_ignored(ignored)
            return
        timer = threading.Timer(RETRY_SECONDS, signal.raise_signal, [signal.SIGINT])
        timer.daemon = True
        timer.start()

    sys.unraisablehook = watch_ignored
    try:
        yield
    finally:
        sys.unraisablehook = show_ignored


def was_interrupted(error: BaseException | None) -> bool:
    """Check whether an error is an interrupt, or what became of one while something was imported, written or closed."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return error is not None
