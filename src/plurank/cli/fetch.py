"""``plurank fetch``: public data sets as comparisons."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

import plurank
from plurank.cli import options
from plurank.cli.files import check_table, write_table
from plurank.cli.output import emit_json, out, progress
from plurank.exceptions import ParameterError
from plurank.text import describe_size, label


def fetch(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Name of the data set (default: list all).")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Output file: .csv or .parquet."),
    ] = None,
    titles: Annotated[bool, typer.Option("--titles", help="Use the titles of items instead of their ids.")] = False,
    folder: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Download folder (default: PLURANK_DATA or the cache).")
    ] = None,
    seed: options.Seed = 0,
    as_json: options.JsonFlag = False,
) -> None:
    """Download a public data set and convert it to comparisons.

    \b
    Examples:
      plurank fetch
      plurank fetch sushi-a --titles -o sushi.csv
    """
    if name is None:
        _list(as_json=as_json)
        return
    if output is None:
        raise ParameterError(f"--output is required, e.g. `plurank fetch {name} -o votes.parquet`.")
    target = check_table(output)
    with progress(f"fetching {name}") as move:
        found = plurank.datasets.fetch(name, folder, titles=titles, random_state=seed, on_progress=move)
        write_table(found.comparisons.to_frame(), target)
    made = found.comparisons
    if as_json:
        sizes = {"n_users": made.n_users, "n_items": made.n_items, "n_comparisons": len(made)}
        emit_json({"output": str(output), "name": name, **sizes, "licence": found.licence, "citation": found.citation})
        return
    size = describe_size(len(made), made.n_users, made.n_items)
    out().print(f"Wrote {label(output)}: {size}.", soft_wrap=True)
    out().print(f"Next: plurank select {label(output)}", soft_wrap=True)


def _list(*, as_json: bool) -> None:
    known = plurank.datasets.names().to_dicts()
    if as_json:
        emit_json(known)
        return
    table = Table("name", "what", "people", "items", "licence", box=None, pad_edge=False)
    for row in known:
        table.add_row(row["name"], row["about"], f"{row['users']:,}", f"{row['items']:,}", row["licence"])
    out().print(table)
