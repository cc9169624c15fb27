"""``plurank report``: one page about a model, for people who did not fit it."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

import plurank
from plurank.cli import options, streams
from plurank.cli.errors import about
from plurank.cli.files import check_page, written
from plurank.cli.inputs import add_texts, open_source
from plurank.cli.output import (
    emit_json,
    label,
    out,
    progress,
)
from plurank.extras import extra


def report(
    model: options.ModelFile,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="COMPARISONS",
            help="What the model was fitted to, a file or a store: to measure its quality.",
            callback=streams.as_file,
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="PAGE", help="Where to write the page.")] = Path(
        "report.html"
    ),
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="The page's heading.")] = None,
    with_people: Annotated[
        bool,
        typer.Option("--with-people", help="Also name typical people, and state groups of fewer than five."),
    ] = False,
    seed: options.Seed = 0,
    ties: options.Ties = "half",
    column: options.Column = None,
    items: options.ItemsFile = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Write a page about a model: rankings, people, quality.

    One HTML file that needs no network: the rankings and what sets each apart, how people mix them, what is
    common ground and what is contested, and the health of the data. With COMPARISONS the model is fitted
    again to most of them, and the page says how well it predicts others. The page names nobody, unless
    you ask for it.

    \b
    Examples:
      plurank report model.plurank -o report.html
      plurank report model.plurank votes.csv -o report.html
      plurank report model.plurank votes.csv -o report.html --title "Lunch"

    COMPARISONS has columns as for `plurank fit`: user, winner, loser, or user, left, right, winner, or other
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
        out().print(f"Written: {label(output)}. Open it in a browser; it needs no network.", soft_wrap=True)
