"""The ``plurank`` command: global options, commands, and the place where all errors are reported."""

import sys
import warnings
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import plurank
from plurank.cli import errors, files
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
    """Run a command; any error becomes one sentence on stderr and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command, and flush while a full disk or a closed pipe can still be reported."""
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
    debug: Annotated[bool, typer.Option("--debug", help="Show the Python traceback of errors.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Mixed-membership ranking models: a few shared rankings, and each user's weights.

    The input is pairwise comparisons ("this user preferred A to B"), one per row.

    \b
      plurank demo                                  a tour on simulated data
      plurank show votes.csv                        summary and data-quality warnings
      plurank select votes.csv                      choose the number of rankings
      plurank fit votes.csv -k 3 -o model.plurank   fit three rankings
      plurank show model.plurank                    print them
      plurank report model.plurank votes.csv        HTML report
      plurank predict model.plurank pairs.csv       predict preferences

    `plurank COMMAND --help` lists options, examples and the columns of input files.
    """


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # ids that the terminal cannot show must not stop a command
    try:
        with errors.keep_interrupts():
            app(prog_name="plurank")
    except KeyboardInterrupt as error:  # before or after the command itself
        sys.exit(errors.report(error, debug=False))
