"""What goes wrong becomes one sentence on stderr and an exit code.

2 is the user's mistake, 1 is ours, 130 is Ctrl-C, 141 a reader that went away.
"""

import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

import typer

from plurank.cli import files
from plurank.cli.interrupts import was_interrupted
from plurank.cli.output import (
    err,
    label,
    spell_controls,
    warn,
)
from plurank.exceptions import ConvergenceWarning, DataError, PlurankError

USER, OURS, INTERRUPTED, BROKEN_PIPE = 2, 1, 130, 141
OUR_FAULT = (
    "this is our fault, not yours ({kind}: {text}). To see where it happened, run with --debug, as in "
    "`plurank --debug fit ...`, and please report it."
)
# the library speaks of arguments, the command line of options
WORDS = {
    "n_rankings": "--rankings", "n_projections": "--projections", "separation_tol": "--separation-tol",
    "random_state": "--seed", "n_users": "--users", "n_items": "--items",
    "comparisons_per_user": "--per-user", "pairs_per_rating": "--pairs-per-rating", "columns=": "--column",
    "max_iter=": "--max-iter", "candidates": "--candidates", "resume=True": "--resume", "checkpoint=": "--checkpoint",
    "scheduler=": "--scheduler", "overwrite=True": "--overwrite",
}  # fmt: skip


def is_intended(error: BaseException) -> bool:
    """Tell exits and usage errors, which carry an exit code of their own, from accidents."""
    return isinstance(error, (SystemExit, typer.Exit, typer.Abort)) or hasattr(error, "exit_code")


def report(error: BaseException, *, debug: bool) -> int:
    """Print one sentence, with ``debug`` the traceback before it, and give the exit code."""
    if isinstance(error, BrokenPipeError):
        _abandon_stdout()
        return BROKEN_PIPE
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    sentence, code = explain(error)
    with suppress(OSError):
        print(spell_controls(sentence, but="\n"), file=sys.stderr, flush=True)
    if isinstance(error, OSError):
        _abandon_stdout()
    return code


def explain(error: BaseException) -> tuple[str, int]:
    """Give the sentence for an error and the exit code."""
    if was_interrupted(error):
        return _describe_stop(), INTERRUPTED
    if isinstance(error, PlurankError):
        return f"Error: {_in_options(str(error), has_ids=isinstance(error, DataError))}", USER
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return f"Error: {place}{error.strerror or error}.", USER
    if isinstance(error, MemoryError):
        return "Error: there is not enough memory for this much data at once.", USER
    text = (str(error).splitlines() or [""])[0][:200]
    return f"Error: {OUR_FAULT.format(kind=type(error).__name__, text=text or 'no message')}", OURS


def _describe_stop() -> str:
    done = ", ".join(str(path) for path in files.written)
    return f"\nStopped; {done} had already been written." if done else "\nStopped; nothing was written."


def _in_options(text: str, *, has_ids: bool) -> str:
    """Say ``--column user=NAME`` where the library says ``columns={'user': ...}``, and the like."""
    text = re.sub(r"columns=\{([^{}]*)\}", lambda found: _as_options(found[1]), text)
    text = re.sub(r"\b(detection|ties|component|mixing|engine)='([\w-]+)'", r"--\1 \2", text)
    text = re.sub(r"\bensemble=(\d+)", r"--ensemble \1", text)
    if has_ids:
        return text  # ids must stay as they are
    for word, option in WORDS.items():
        text = re.sub(rf"(?<![\w-]){word}(?!\w)", option, text)
    return text


def _as_options(entries: str) -> str:
    return " ".join(f"--column {role}=NAME" for role in re.findall(r"'([\w-]+)'", entries))


def _abandon_stdout() -> None:
    """Send the rest nowhere, so that closing Python does not complain about a pipe or disk that is gone."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def say_how_to_go_on(find_hint: Callable[[], str]) -> Iterator[None]:
    """Where Ctrl-C stops work that can go on later, say how; the hint is empty where nothing was kept."""
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
        text = str(error)
        raise (error if path.name in text else DataError(f"{path.name}: {text}")) from None


def show_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, file: TextIO | None = None,
    line: str | None = None,
) -> None:  # fmt: skip
    """Show Python's warnings as sentences, as ``warnings.showwarning`` expects."""
    del filename, lineno, file, line
    warn(_in_options(str(message), has_ids=not issubclass(category, ConvergenceWarning)))
