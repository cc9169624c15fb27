"""Comparisons that commands read, with a word on what is in them."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import plurank
from plurank.cli import options
from plurank.cli.output import note, progress, warn
from plurank.wording import count

if TYPE_CHECKING:
    from plurank import Comparisons, DataReport


def read(file: Path, column: list[str] | None, ties: Literal["half", "drop"]) -> tuple["Comparisons", "DataReport"]:
    """Read comparisons, and say what in them will make trouble."""
    columns = options.parse_columns(column)
    with progress(f"reading {file.name}"):
        comparisons = plurank.read_comparisons(file, columns=columns, ties=ties)
        report = comparisons.diagnose()
    n_users, n_items = count(report.n_users, "user"), count(report.n_items, "item")
    note(f"{file.name}: {n_users}, {n_items}, {count(report.n_comparisons, 'comparison')}.")
    for problem in report.problems:
        warn(problem)
    return comparisons, report
