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
    from plurank.web.learning import Collected


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


def is_feedback(file: Path) -> bool:
    """Check whether a file is a database of answers to `plurank serve`, by how it begins."""
    try:
        with file.open("rb") as content:
            return content.read(16) == b"SQLite format 3\0"
    except OSError:  # whoever reads it says so
        return False


def read_answers(file: Path, *, include_suspicious: bool) -> "Collected":
    """Read the answers to `plurank serve` from its database, and say what was left out."""
    try:
        from plurank.web.learning import collect_feedback, explain
    except ImportError as error:
        raise ParameterError(f"a database of answers needs {error.name}: pip install 'plurank[web]'.") from None
    with progress(f"reading {file.name}"):
        found = collect_feedback(file, include_suspicious=include_suspicious)
    if found.excluded:
        warn(explain(found.excluded, "`plurank convert DB -o votes.csv --include-suspicious`"))
    return found


def open_source(file: Path, column: list[str] | None, ties: Ties) -> "Comparisons | Store":
    """Read comparisons from a file or a database of answers, or open a store where the path is a folder."""
    columns = options.parse_columns(column)
    if is_feedback(file):
        return read_answers(file, include_suspicious=False).comparisons()
    if not file.is_dir():
        with progress(f"reading {file.name}"):
            return plurank.read_comparisons(file, columns=columns, ties=ties)
    if columns or ties != "half":
        raise ParameterError(f"{file} is a store: --column and --ties were for `plurank ingest`, which made it.")
    return plurank.open_store(file)
