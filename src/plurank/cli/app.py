"""The ``plurank`` command: its global options, its commands, and the one place where errors end."""

import sys
import warnings
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import plurank
from plurank.cli import errors, files, interrupts
from plurank.cli.convert import convert
from plurank.cli.demo import demo
from plurank.cli.evaluate import evaluate
from plurank.cli.fetch import fetch
from plurank.cli.fit import fit
from plurank.cli.ingest import ingest
from plurank.cli.predict import predict
from plurank.cli.report import report
from plurank.cli.select import select
from plurank.cli.serve import serve
from plurank.cli.show import show
from plurank.cli.simulate import simulate
from plurank.cli.transform import transform
from plurank.cli.update import update

COMMANDS = (
    demo, fit, select, show, report, predict, evaluate, update, serve, simulate, fetch, convert, transform, ingest,
)  # fmt: skip


class CarefulGroup(TyperGroup):
    """Runs a command; whatever goes wrong becomes one sentence on stderr and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run, and flush while a full disk or a closed pipe can still be reported."""
        files.forget_written()
        try:
            with warnings.catch_warnings():
                warnings.showwarning = errors.show_warning
                result = super().invoke(ctx)
            sys.stdout.flush()
        except BaseException as error:
            if errors.is_intended(error):
                raise
            raise typer.Exit(errors.report(error, debug=bool(ctx.params.get("debug")))) from error
        return result


app = typer.Typer(
    cls=CarefulGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command in COMMANDS:
    app.command(no_args_is_help=command not in (demo, fetch))(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        from plurank.kernels import library

        kind = "plain Python" if library.ACTIVE == "plain" else f"native, {library.ACTIVE}"
        typer.echo(f"plurank {plurank.__version__} (kernels: {kind})")
        raise typer.Exit


@app.callback()
def describe(
    debug: Annotated[bool, typer.Option("--debug", help="Show Python's traceback when something goes wrong.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Find the few rankings that a population shares, and how much each person follows each.

    All it needs is "this person preferred A to B", one row each.

    \b
      plurank demo                                  see it work, on made-up people
      plurank show votes.csv                        is my file all right?
      plurank select votes.csv                      how many rankings are there?
      plurank fit votes.csv -k 3 -o model.plurank   find three rankings
      plurank show model.plurank                    read them
      plurank report model.plurank votes.csv        one page to show to others
      plurank predict model.plurank pairs.csv       who will prefer what?

    `plurank COMMAND --help` has the options, examples, and which columns a file may have.
    """


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # an id the terminal cannot show is no reason to stop
    try:
        with interrupts.not_lost():
            app(prog_name="plurank")
    except KeyboardInterrupt as error:  # before or after the command itself
        sys.exit(errors.report(error, debug=False))
