"""Options and arguments shared by several commands."""

from pathlib import Path
from typing import Annotated

import typer

from plurank import choices
from plurank.cli import inputs

JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON to stdout.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Random seed; results are reproducible.")]
Ties = Annotated[
    choices.Ties,
    typer.Option("--ties", help="Count a tie as half a win for each side, or drop it."),
]
Column = Annotated[
    list[str] | None,
    typer.Option("--column", metavar="ROLE=NAME", help="Map a column role to a name, e.g. user=voter. Repeatable."),
]
Top = Annotated[int, typer.Option("--top", metavar="N", min=1, help="Number of items to show per ranking.")]
DataSource = Annotated[
    Path,
    typer.Argument(
        metavar="INPUT", help="Comparisons or votes: a file, a store, or - for stdin.", callback=inputs.as_file
    ),
]
ItemsFile = Annotated[
    Path | None,
    typer.Option(
        "--items",
        metavar="FILE",
        help="Table of item texts and hidden items, e.g. comments.csv of pol.is.",
    ),
]
Offered = Annotated[
    str | None,
    typer.Option(
        "--offered",
        metavar="all|FILE",
        help="Rankings: items not ranked are below those ranked; all items, or those in FILE, one a line or a table.",
    ),
]
ComparisonsFile = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Output file: .csv or .parquet.")]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file written by `plurank fit`.")]
EngineOption = Annotated[
    choices.EngineName, typer.Option("--engine", help="Run work on a store locally or on a Dask cluster.")
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler", metavar="ADDRESS", help="Address of the Dask scheduler (default: start a local cluster)."
    ),
]
