"""Output of commands: results on stdout; progress, notes and warnings on stderr; files, checked before the work."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.text import Text

from plurank import io as writing
from plurank.exceptions import DataError, ParameterError
from plurank.io import check_target
from plurank.text import spell_controls

if TYPE_CHECKING:
    import polars as pl

    from plurank.types import Progress as OnProgress

TABLES = (".csv", ".parquet", ".pq")
PAGES = (".html", ".htm")
written: list[Path] = []  # by this command, for the message after Ctrl-C


class PlainConsole(Console):
    """A console that prints ids as they are: no markup, no emoji codes, no guessed colours, no control characters."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Spell out characters that could take over a terminal."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else spell_controls(text, but="\n"), style, control)

    def on_broken_pipe(self) -> NoReturn:
        """Leave closed pipes to the command's own error handling."""
        raise BrokenPipeError


def out() -> PlainConsole:
    """Return the console for results."""
    return PlainConsole()


def err() -> PlainConsole:
    """Return the console for everything else."""
    return PlainConsole(stderr=True)


def warn(sentence: str) -> None:
    """Print a warning on stderr."""
    err().print(Text.assemble(("Warning: ", "yellow"), sentence), soft_wrap=True)


def note(sentence: str) -> None:
    """Print a remark on stderr."""
    err().print(Text(sentence, style="dim"), soft_wrap=True)


def emit_json(value: Any) -> None:
    """Print JSON on stdout, in ASCII so that any terminal and pipe carries it."""
    sys.stdout.write(json.dumps(value, indent=2, default=str) + "\n")


def emit_csv(frame: "pl.DataFrame") -> None:
    """Print a frame as CSV on stdout, in UTF-8 whatever the terminal."""
    sys.stdout.flush()
    sys.stdout.buffer.write(frame.write_csv().encode())
    sys.stdout.buffer.flush()


@contextmanager
def progress(title: str, *, announce: bool = False) -> Iterator["OnProgress"]:
    """Show a progress bar on stderr; yield the function that moves it.

    Without a terminal there is no bar, and with ``announce`` one line instead.
    """
    console = err()
    if announce and not console.is_terminal:
        note(f"{title.capitalize()}.")
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(24), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=1.0)

        def move(stage: str, done: float) -> None:
            bar.update(task, description=stage, completed=done)

        yield move


def forget_written() -> None:
    """Forget the files of an earlier command."""
    written.clear()


def check_output(path: Path, *inputs: Path) -> Path:
    """Return the resolved path of an output file; raise, before any work, where it cannot be written."""
    target = check_target(path)
    if any(source.exists() and target == source.resolve() for source in inputs):
        raise DataError(f"{path} is also the input and would be overwritten. Use another name.")
    if not os.access(target.parent, os.W_OK):
        raise DataError(f"{path}: no write permission for folder {str(path.parent)!r}.")
    return target


def check_table(path: Path, *inputs: Path) -> Path:
    """Check the path of a table, whose suffix determines the format."""
    if path.suffix.lower() not in TABLES:
        raise ParameterError(f"{path.name}: expected a name ending in {', '.join(TABLES)}.")
    return check_output(path, *inputs)


def check_model_file(path: Path, *inputs: Path) -> Path:
    """Check the path of a model; the suffixes of tables, which may be somebody's data, are rejected."""
    target = check_output(path, *inputs)
    if path.suffix.lower() in TABLES:
        raise ParameterError(f"{path.name}: a model is not a table. Use a name such as {path.stem}.plurank.")
    return target


def check_page(path: Path, *inputs: Path) -> Path:
    """Check the path of a page, which browsers recognise by its suffix."""
    target = check_output(path, *inputs)
    if path.suffix.lower() not in PAGES:
        raise ParameterError(f"{path.name}: expected a name ending in {' or '.join(PAGES)}.")
    return target


def write_table(frame: "pl.DataFrame", target: Path) -> None:
    """Write a frame as CSV or Parquet, by the suffix."""
    from polars.exceptions import PolarsError

    with writing.write_beside(target) as beside:
        try:
            frame.write_csv(beside) if target.suffix.lower() == ".csv" else frame.write_parquet(beside)
        except (OSError, PolarsError) as error:  # polars wraps a full disk in either
            raise OSError(f"{target.name} could not be written: {error}") from error
    written.append(target)


def save_json(value: Any, target: Path) -> None:
    """Write a value as JSON."""
    writing.write_json(target, value)
    written.append(target)
