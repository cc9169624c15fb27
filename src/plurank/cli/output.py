"""What commands say: results on stdout; progress, notes and warnings on stderr."""

import json
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.text import Text

if TYPE_CHECKING:
    import polars as pl

    from plurank.progress import Progress as OnProgress

TURNS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


class PlainConsole(Console):
    """A console that prints ids as they are: no markup, no emoji codes, no guessed colours, no control characters."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """Spell out what could take over a terminal, wherever it comes from."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else spell_controls(text, but="\n"), style, control)

    def on_broken_pipe(self) -> NoReturn:
        """Leave closed pipes to the command's own error handling."""
        raise BrokenPipeError


def out() -> PlainConsole:
    """Give the console for results."""
    return PlainConsole()


def err() -> PlainConsole:
    """Give the console for everything else."""
    return PlainConsole(stderr=True)


def warn(sentence: str) -> None:
    """Print a warning on stderr."""
    err().print(Text.assemble(("Warning: ", "yellow"), sentence), soft_wrap=True)


def note(sentence: str) -> None:
    """Print a remark on stderr."""
    err().print(Text(sentence, style="dim"), soft_wrap=True)


def label(value: Any) -> str:
    """Show an id as text; control characters, which could take over a terminal, are spelled out."""
    return spell_controls(str(value))


def spell_controls(text: str, but: str = "") -> str:
    """Spell out control characters and what turns the direction of writing, but for some of them."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(ascii(c)[1:-1] if c not in but and is_control(c) else c for c in text)


def is_control(character: str) -> bool:
    """Tell what moves a cursor or other characters from what is seen itself."""
    return unicodedata.category(character) == "Cc" or unicodedata.bidirectional(character) in TURNS


def percent(share: float) -> str:
    """Show a share as a whole percentage."""
    return f"{share:.0%}"


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
    """Show a bar on stderr while work runs; give the function that moves it.

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
