"""``plurank report``: an HTML page about a model."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

import plurank
from plurank.cli import inputs, options
from plurank.cli.errors import about
from plurank.cli.files import check_page, written
from plurank.cli.inputs import add_texts, open_source
from plurank.cli.output import emit_json, out, progress
from plurank.exceptions import extra
from plurank.text import label


def report(
    model: options.ModelFile,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="COMPARISONS",
            help="Data the model was fitted to (file or store), to measure its quality.",
            callback=inputs.as_file,
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="PAGE", help="Output HTML file.")] = Path(
        "report.html"
    ),
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Heading of the page.")] = None,
    with_people: Annotated[
        bool,
        typer.Option("--with-people", help="Include typical users by name, and groups of fewer than five."),
    ] = False,
    seed: options.Seed = 0,
    ties: options.Ties = "half",
    column: options.Column = None,
    items: options.ItemsFile = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Write an HTML report about a model.

    A self-contained HTML file: the rankings and how they differ, the users' weights, consensus and contested
    items, and the quality of the data. With COMPARISONS the model is refitted to most of them, and the report
    includes its held-out accuracy. No user is named, except with --with-people.

    \b
    Examples:
      plurank report model.plurank -o report.html
      plurank report model.plurank votes.csv -o report.html
      plurank report model.plurank votes.csv -o report.html --title "Lunch"

    COMPARISONS has the columns of `plurank fit`: user, winner, loser, or user, left, right, winner, or other
    names for these.
    """
    with extra("report", "`plurank report`"):
        import_module("plurank.report.page")  # before any work
    target = check_page(output, model, *([] if data is None else [data]))
    fitted = plurank.load(model)
    source = None if data is None else open_source(data, column, ties, items)
    add_texts(fitted, items)
    with progress("writing the report", announce=data is not None) as on_progress, about(data or model):
        plurank.write_report(
            fitted, target, source, title=title, with_people=with_people, random_state=seed, on_progress=on_progress
        )
    written.append(target)
    if as_json:
        emit_json({"output": str(output), "n_bytes": target.stat().st_size})
    else:
        out().print(f"Wrote {label(output)}. Open it in a browser; it works offline.", soft_wrap=True)
