"""The ``plurank`` command: global options, commands, and the place where all errors are reported."""

import sys
import warnings
from collections.abc import Callable
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import plurank
from plurank.cli.apply import evaluate_command, predict_command, transform_command
from plurank.cli.demo import demo_command
from plurank.cli.error_messages import improve_usage_error, is_intended, keep_interrupts, report_error, show_warning
from plurank.cli.explain import explain_command
from plurank.cli.output import forget_written
from plurank.cli.prepare import convert_command, fetch_command, ingest_command, simulate_command
from plurank.cli.publish import report_command, serve_command
from plurank.cli.show import show_command
from plurank.cli.training import fit_command, select_command
from plurank.cli.update import update_command

COMMANDS: dict[str, Callable[..., None]] = {  # in the order of the help
    "demo": demo_command,
    "fit": fit_command,
    "select": select_command,
    "show": show_command,
    "explain": explain_command,
    "report": report_command,
    "predict": predict_command,
    "evaluate": evaluate_command,
    "update": update_command,
    "serve": serve_command,
    "simulate": simulate_command,
    "fetch": fetch_command,
    "convert": convert_command,
    "transform": transform_command,
    "ingest": ingest_command,
}
WITHOUT_ARGUMENTS = ("demo", "fetch")  # commands that do something without any


class CarefulGroup(TyperGroup):
    """Run a command; any error becomes one sentence on stderr and an exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command, and flush while a full disk or a closed pipe can still be reported."""
        forget_written()
        try:
            with warnings.catch_warnings():
                warnings.showwarning = show_warning
                result = super().invoke(ctx)
            sys.stdout.flush()
        except BaseException as error:
            if is_intended(error):
                improve_usage_error(error)
                raise
            raise typer.Exit(report_error(error, debug=bool(ctx.params.get("debug")))) from error
        return result


app = typer.Typer(
    cls=CarefulGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for command, function in COMMANDS.items():
    app.command(command, no_args_is_help=command not in WITHOUT_ARGUMENTS)(function)


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
      plurank fit votes.csv -o model.plurank        choose the number of rankings, and fit them
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
        with keep_interrupts():
            app(prog_name="plurank")
    except KeyboardInterrupt as error:  # before or after the command itself
        sys.exit(report_error(error, debug=False))
