"""``plurank ingest``: files of any size to a store on disk."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import plurank
from plurank.cli import options
from plurank.cli.errors import say_how_to_resume
from plurank.cli.inputs import describe_store, parse_columns
from plurank.cli.output import emit_json, out, progress
from plurank.data.exclusions import list_exclusions
from plurank.text import count, describe_size, label

if TYPE_CHECKING:
    from plurank import Store


def ingest(
    inputs: Annotated[list[str], typer.Argument(metavar="INPUT", help="Comparisons: files, globs or folders.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="STORE", help="Output folder for the store.")],
    memory: Annotated[str, typer.Option(metavar="SIZE", help="Approximate memory limit.")] = "2GB",
    ties: options.Ties = "half",
    column: options.Column = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing store.")] = False,
    as_json: options.JsonFlag = False,
) -> None:
    """Convert files of any size into a store on disk.

    A store holds the comparisons of all inputs, validated and sorted by user, in files that need not fit into
    memory. Inputs are .csv, .tsv, .parquet or .jsonl files, plain or .gz, or folders of such files.

    Can be interrupted at any time: the same command resumes from STORE.part.

    \b
    Examples:
      plurank ingest votes.parquet -o votes.store
      plurank ingest 2023.csv.gz 2024.csv.gz -o votes.store --memory 8GB
      plurank ingest 'logs/*.parquet' -o votes.store --column user=judge

    Inputs have the columns of `plurank fit`: user, winner, loser, or user, left, right, winner, or other names
    for these.
    """
    columns = parse_columns(column)
    hint = f"progress is stored in {output}.part; run the same command again to resume."
    with say_how_to_resume(lambda: hint), progress("reading", announce=True) as on_progress:
        store = plurank.ingest(
            inputs, output, columns=columns, ties=ties, memory=memory, overwrite=overwrite, on_progress=on_progress
        )
    if as_json:
        emit_json({"output": str(output), **describe_store(store)})
    else:
        _print(store, output)


def _print(store: "Store", output: Path) -> None:
    console = out()
    size = describe_size(len(store), store.n_users, store.n_items)
    console.print(f"Wrote {label(output)}: {size}, in {count(store.n_shards, 'shard')}.", soft_wrap=True)
    for sentence in list_exclusions(store.excluded):
        console.print(f"! {sentence}", style="yellow")
    console.print(f"Next: plurank show {label(output)}", soft_wrap=True)
