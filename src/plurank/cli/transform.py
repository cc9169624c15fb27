"""``plurank transform``: how much each person follows each ranking of a model."""

from pathlib import Path
from typing import Annotated

import typer

import plurank
from plurank.cli import options, streams
from plurank.cli.errors import about
from plurank.cli.files import check_table, written
from plurank.cli.inputs import open_source
from plurank.cli.output import (
    emit_json,
    label,
    out,
    progress,
)
from plurank.text import count


def transform(
    model: options.ModelFile,
    data: Annotated[
        Path,
        typer.Argument(metavar="INPUT", help="Comparisons of any people: a file or a store.", callback=streams.as_file),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write: .csv or .parquet.")],
    engine: options.EngineOption = "local",
    scheduler: options.Scheduler = None,
    ties: options.Ties = "half",
    column: options.Column = None,
    items: options.ItemsFile = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Weigh the rankings of a model for other people.

    Writes a table with the columns user, ranking 1, ranking 2, ...: how much each person in INPUT follows each
    ranking. Nothing is fitted again, and of a store only a part is in memory at any time.

    \b
    Examples:
      plurank transform model.plurank new.csv -o weights.csv
      plurank transform model.plurank votes.store -o weights.parquet

    INPUT has columns as for `plurank fit`, or is a store made by `plurank ingest`.
    """
    target = check_table(output, data, model)
    fitted = plurank.load(model)
    source = open_source(data, column, ties, items)
    with progress("weighing rankings"), about(data):
        fitted.write_weights(source, target, engine=engine, scheduler=scheduler)
    written.append(target)
    if as_json:
        emit_json({"output": str(output), "n_users": source.n_users, "n_rankings": len(fitted.rankings_)})
    else:
        out().print(f"Wrote the weights of {count(source.n_users, 'user')} to {label(output)}.", soft_wrap=True)
