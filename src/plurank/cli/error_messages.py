"""Errors become one sentence on stderr and an exit code: 2 usage or data, 1 internal, 130 Ctrl-C, 141 closed pipe.

The library's messages name parameters as data; here they are written as options.
"""

import os
import re
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

import typer

from plurank.cli.output import err, warn, written
from plurank.exceptions import Argument, DataError, Message, PlurankError, as_python
from plurank.text import label, spell_controls

USAGE, INTERNAL, INTERRUPTED, BROKEN_PIPE = 2, 1, 130, 141
INTERNAL_ERROR = (
    "Internal error ({kind}: {text}). This is a bug; rerun with `plurank --debug ...` and please report it."
)
RETRY_SECONDS = 0.02
# the options that set the library's parameters
OPTIONS = {
    "allow_frame": "--allow-frame",
    "candidates": "--candidates",
    "checkpoint": "--checkpoint",
    "columns": "--column",
    "comparisons_per_user": "--per-user",
    "component": "--component",
    "concentration": "--concentration",
    "detection": "--detection",
    "directions": "--directions",
    "engine": "--engine",
    "ensemble": "--ensemble",
    "feedback": "--feedback",
    "formula": "--formula",
    "host": "--host",
    "inference": "--inference",
    "level": "--level",
    "max_iter": "--max-iter",
    "memory": "--memory",
    "mixing": "--mixing",
    "n_factors": "--factors",
    "n_items": "--items",
    "n_projections": "--projections",
    "n_rankings": "--rankings",
    "n_users": "--users",
    "offered": "--offered",
    "overwrite": "--overwrite",
    "pairs": "--pairs",
    "pairs_per_rating": "--pairs-per-rating",
    "people": "--people",
    "port": "--port",
    "question": "--question",
    "questions": "--questions",
    "random_state": "--seed",
    "rate": "--rate",
    "resume": "--resume",
    "scheduler": "--scheduler",
    "separation_tol": "--separation-tol",
    "size": "--committee",
    "ties": "--ties",
    "title": "--title",
    "top": "--top",
}


def as_option(argument: Argument) -> str:
    """Return an argument as the command line writes it: ``--ties half``, ``--resume``, ``--column user=NAME``."""
    option = OPTIONS.get(argument.parameter)
    if option is None:
        return as_python(argument)
    if isinstance(argument.value, tuple):
        return " ".join(f"{option} {role}=NAME" for role in argument.value)
    is_alone = argument.value is ... or argument.value is True
    return option if is_alone else f"{option} {argument.value}"


def is_intended(error: BaseException) -> bool:
    """Check whether an error is an exit or a usage error, which has an exit code of its own."""
    return isinstance(error, (SystemExit, typer.Exit, typer.Abort)) or hasattr(error, "exit_code")


def improve_usage_error(error: Any) -> None:
    """Take pydantic's "Value error," off a usage error; to a missing option add the first example of the command."""
    if isinstance(message := getattr(error, "message", None), str):
        error.message = message.removeprefix("Value error, ")
    if hasattr(error, "param_type") and error.ctx is not None:  # only errors of missing parameters have a type
        example = re.search(r"Examples:\s+(plurank .+)", error.ctx.command.help or "")
        error.message = f"Example: {example[1].strip()}" if example and not error.message else error.message


def report_error(error: BaseException, *, debug: bool) -> int:
    """Print one sentence, with ``debug`` after the traceback, and return the exit code."""
    if isinstance(error, BrokenPipeError):
        _abandon_stdout()
        return BROKEN_PIPE
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    sentence, code = explain_error(error)
    with suppress(OSError):
        print(spell_controls(sentence, but="\n"), file=sys.stderr, flush=True)
    if isinstance(error, OSError):
        _abandon_stdout()
    return code


def explain_error(error: BaseException) -> tuple[str, int]:
    """Return the sentence for an error and the exit code."""
    if was_interrupted(error):
        return _describe_stop(), INTERRUPTED
    if isinstance(error, PlurankError):
        return f"Error: {error.format(as_option)}", USAGE
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return f"Error: {place}{error.strerror or error}.", USAGE
    if isinstance(error, MemoryError):
        return "Error: not enough memory for this much data at once. `plurank ingest` stores it on disk.", USAGE
    text = (str(error).splitlines() or [""])[0][:200]
    return INTERNAL_ERROR.format(kind=type(error).__name__, text=text or "no message"), INTERNAL


def _describe_stop() -> str:
    done = ", ".join(str(path) for path in written)
    return f"\nStopped; {done} had already been written." if done else "\nStopped; nothing was written."


def _abandon_stdout() -> None:
    """Discard further output, so that Python's exit does not complain about a closed pipe or a full disk."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def say_how_to_resume(find_hint: Callable[[], str]) -> Iterator[None]:
    """Print how to resume work that Ctrl-C stopped; the hint is empty where nothing was stored."""
    try:
        yield
    except BaseException as error:
        hint = find_hint() if was_interrupted(error) else ""
        if not hint:
            raise
        err().print(f"\nStopped; {label(hint)}", soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def about(path: Path) -> Iterator[None]:
    """Put the file's name before errors about its content."""
    try:
        yield
    except DataError as error:
        raise error.within(path.name) from None


def show_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: TextIO | None = None,
    line: str | None = None,
) -> None:  # fmt: skip
    """Print a Python warning as a sentence, with the signature of ``warnings.showwarning``."""
    del category, filename, lineno, file, line
    warn(message.format(as_option) if isinstance(message, Message) else str(message))


@contextmanager
def keep_interrupts() -> Iterator[None]:
    """Raise Ctrl-C again shortly after Python ignored it, as it does in finalisers; not where others handle SIGINT."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
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
