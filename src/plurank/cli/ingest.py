"""``plurank ingest``: files of any size in, a store on disk out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import plurank
from plurank.cli import options
from plurank.cli.errors import say_how_to_go_on
from plurank.cli.output import (
    emit_json,
    label,
    out,
    progress,
)
from plurank.data.exclusions import list_exclusions
from plurank.text import count, describe_size

if TYPE_CHECKING:
    from plurank import Store


def ingest(
    inputs: Annotated[list[str], typer.Argument(metavar="INPUT", help="Comparisons: files, globs or folders.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="STORE", help="Where to make the store, a folder.")],
    memory: Annotated[str, typer.Option(metavar="SIZE", help="About the most memory to use.")] = "2GB",
    ties: options.Ties = "half",
    column: options.Column = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a store that is there already.")] = False,
    as_json: options.JsonFlag = False,
) -> None:
    """Turn files of any size into a store on disk.

    A store holds the comparisons of all inputs, sorted by user and checked, in files that need not fit into
    memory. Inputs are .csv, .tsv, .parquet or .jsonl, plain or .gz; of a folder, all such files in it.

    Stop it at any time: the same command goes on where it was, from what is kept in STORE.part.

    \b
    Examples:
      plurank ingest votes.parquet -o votes.store
      plurank ingest 2023.csv.gz 2024.csv.gz -o votes.store --memory 8GB
      plurank ingest 'logs/*.parquet' -o votes.store --column user=judge

    Inputs have columns as for `plurank fit`: user, winner, loser, or user, left, right, winner, or other names
    for these.
    """
    columns = options.parse_columns(column)
    hint = f"{output}.part keeps what was done; run the same command again to go on."
    with say_how_to_go_on(lambda: hint), progress("reading", announce=True) as on_progress:
        store = plurank.ingest(
            inputs, output, columns=columns, ties=ties, memory=memory, overwrite=overwrite, on_progress=on_progress
        )
    if as_json:
        emit_json({"output": str(output), **describe_store(store)})
    else:
        _print(store, output)


def describe_store(store: "Store") -> dict[str, Any]:
    """Give what a store says of itself."""
    least, median, most = store.per_user
    return {
        "n_users": store.n_users,
        "n_items": store.n_items,
        "n_comparisons": len(store),
        "min_per_user": least,
        "median_per_user": median,
        "max_per_user": most,
        "is_weighted": store.is_weighted,
        "total_weight": store.total_weight,
        "n_shards": store.n_shards,
        "n_bytes": store.n_bytes,
        "excluded": [entry.to_dict() for entry in store.excluded],
    }


def _print(store: "Store", output: Path) -> None:
    console = out()
    size = describe_size(len(store), store.n_users, store.n_items)
    console.print(f"Wrote {label(output)}: {size}, in {count(store.n_shards, 'shard')}.", soft_wrap=True)
    for sentence in list_exclusions(store.excluded):
        console.print(f"! {sentence}", style="yellow")
    console.print(f"See it with: plurank show {label(output)}", soft_wrap=True)
