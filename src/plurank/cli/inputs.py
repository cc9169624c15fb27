"""Comparisons that commands read, with a word on what is in them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import plurank
from plurank.choices import Ties
from plurank.cli import options
from plurank.cli.ingest import describe_store
from plurank.cli.output import note, progress, warn
from plurank.exceptions import ParameterError
from plurank.wording import list_sizes

if TYPE_CHECKING:
    from plurank import Comparisons, Store


def read(file: Path, column: list[str] | None, ties: Ties) -> tuple["Comparisons | Store", dict[str, Any]]:
    """Read comparisons, or open a store, and say what is in it and what will make trouble."""
    source = open_source(file, column, ties)
    if isinstance(source, plurank.Store):
        found, problems = describe_store(source), []
    else:
        report = source.diagnose()
        found, problems = report.to_dict(), report.problems
    note(f"{file.name}: {list_sizes(source.n_users, source.n_items, len(source))}.")
    for problem in problems:
        warn(problem)
    return source, found


def open_source(file: Path, column: list[str] | None, ties: Ties) -> "Comparisons | Store":
    """Read comparisons from a file, or open a store where the path is a folder."""
    columns = options.parse_columns(column)
    if not file.is_dir():
        with progress(f"reading {file.name}"):
            return plurank.read_comparisons(file, columns=columns, ties=ties)
    if columns or ties != "half":
        raise ParameterError(f"{file} is a store: --column and --ties were for `plurank ingest`, which made it.")
    return plurank.open_store(file)
