"""``plurank transform``: weights of other users on the rankings of a model."""

from pathlib import Path
from typing import Annotated

import typer

import plurank
from plurank.cli import inputs, options
from plurank.cli.errors import about
from plurank.cli.files import check_table, written
from plurank.cli.inputs import open_source
from plurank.cli.output import emit_json, out, progress
from plurank.text import count, label


def transform(
    model: options.ModelFile,
    data: Annotated[
        Path,
        typer.Argument(metavar="INPUT", help="Comparisons of any users: a file or a store.", callback=inputs.as_file),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Output file: .csv or .parquet.")],
    engine: options.EngineOption = "local",
    scheduler: options.Scheduler = None,
    ties: options.Ties = "half",
    column: options.Column = None,
    items: options.ItemsFile = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Infer the weights of other users under a model.

    Writes a table with the columns user, ranking 1, ranking 2, ...: the weights of every user of INPUT. The
    rankings are not refitted, and a store is processed in parts.

    \b
    Examples:
      plurank transform model.plurank new.csv -o weights.csv
      plurank transform model.plurank votes.store -o weights.parquet

    INPUT has the columns of `plurank fit`, or is a store written by `plurank ingest`.
    """
    target = check_table(output, data, model)
    fitted = plurank.load(model)
    source = open_source(data, column, ties, items)
    with progress("inferring weights"), about(data):
        fitted.write_weights(source, target, engine=engine, scheduler=scheduler)
    written.append(target)
    if as_json:
        emit_json({"output": str(output), "n_users": source.n_users, "n_rankings": len(fitted.rankings_)})
    else:
        out().print(f"Wrote the weights of {count(source.n_users, 'user')} to {label(output)}.", soft_wrap=True)
