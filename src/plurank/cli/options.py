"""Options and arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from plurank import choices
from plurank.cli import streams
from plurank.exceptions import ParameterError

JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON on stdout, for other programs.")]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", min=0, help="Seed of all random draws; the same seed, the same answer.")
]
Ties = Annotated[
    choices.Ties,
    typer.Option("--ties", help="What a tie counts as: half a win each way, or nothing."),
]
Column = Annotated[
    list[str] | None,
    typer.Option("--column", metavar="ROLE=NAME", help="Which column is what, as in user=voter. May be repeated."),
]
Top = Annotated[int, typer.Option("--top", metavar="N", min=1, help="How many items of every ranking to show.")]
DataSource = Annotated[
    Path,
    typer.Argument(
        metavar="INPUT", help="Comparisons or votes: a file, a store, or - for stdin.", callback=streams.as_file
    ),
]
ItemsFile = Annotated[
    Path | None,
    typer.Option(
        "--items",
        metavar="FILE",
        help="Texts of the items, and which are hidden: comments.csv of pol.is, for instance.",
    ),
]
ComparisonsFile = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write comparisons: .csv or .parquet.")
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file, made by `plurank fit`.")]
EngineOption = Annotated[
    choices.EngineName, typer.Option("--engine", help="Where work on a store runs: here, or on a Dask cluster.")
]
Scheduler = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDRESS", help="Of the Dask cluster; without it, workers are started here."),
]


def parse_columns(given: list[str] | None) -> dict[str, str] | None:
    """Read ``ROLE=NAME`` options as a mapping of roles to column names."""
    columns: dict[str, str] = {}
    for text in given or []:
        role, _, name = text.partition("=")
        role = role.strip().lower()
        if not role or not name or role in columns:
            raise ParameterError(f"--column takes ROLE=NAME, each role once, as in --column user=voter; got {text!r}.")
        columns[role] = name
    return columns or None
