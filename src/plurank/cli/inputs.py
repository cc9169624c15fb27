"""Comparisons that commands read, with a word on what is in them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import plurank
from plurank.choices import Ties
from plurank.cli import options
from plurank.cli.ingest import describe_store
from plurank.cli.output import note, progress, warn
from plurank.data.exclusions import list_exclusions
from plurank.exceptions import ParameterError
from plurank.extras import extra
from plurank.text import count, describe_ties, list_sizes

if TYPE_CHECKING:
    from plurank import Comparisons, Store
    from plurank.data.ratings import RatingTable
    from plurank.models.base import RankingModel
    from plurank.web.learning import Collected

MADE = {
    "vote": "{votes} of {users} on {items} (1 agrees, 0 passes, -1 disagrees). Any two that somebody answered "
    "differently are compared; equal answers make no comparison.",
    "rating": "{ratings} by {users} of {items}. Any two that somebody rated differently are compared; equal ratings "
    "make no comparison. `plurank convert` has other ways.",
    "rank": "rankings by {users} of {items}. Any two that somebody ranked are compared.",
}


def read(
    file: Path, column: list[str] | None, ties: Ties, items: Path | None = None
) -> tuple["Comparisons | Store", dict[str, Any]]:
    """Read comparisons, or open a store, and say what is in it and what will make trouble."""
    source = open_source(file, column, ties, items)
    if isinstance(source, plurank.Store):
        found, problems, n_items = describe_store(source), list_exclusions(source.excluded), source.n_items
    else:
        report = source.diagnose()
        found, problems, n_items = report.to_dict(), report.problems, report.n_compared_items
    ties_counted = f" ({describe_ties(len(source), found['n_ties'])})" if found.get("n_ties") else ""
    note(f"{file.name}: {list_sizes(source.n_users, n_items, len(source))}{ties_counted}.")
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
    with extra("web", "a database of answers"):
        from plurank.web.learning import collect_feedback, explain
    with progress(f"reading {file.name}"):
        found = collect_feedback(file, include_suspicious=include_suspicious)
    if found.excluded:
        warn(explain(found.excluded, "`plurank convert DB -o votes.csv --include-suspicious`"))
    return found


def open_source(file: Path, column: list[str] | None, ties: Ties, items: Path | None = None) -> "Comparisons | Store":
    """Read comparisons from a file, make them from ratings, or open a store where the path is a folder."""
    columns = options.parse_columns(column)
    if not file.is_dir():
        return read_data(file, columns, ties, items)
    if columns or ties != "half":
        raise ParameterError(f"{file} is a store: --column and --ties were for `plurank ingest`, which made it.")
    store = plurank.open_store(file)
    if items is not None:
        from plurank.data.items import refuse_hidden

        refuse_hidden(store.items, plurank.read_items(items))
    return store


def read_data(file: Path, columns: dict[str, str] | None, ties: Ties, items: Path | None) -> "Comparisons":
    """Read comparisons or answers to the service, or make comparisons from ratings or rankings, and say so."""
    from plurank.data.readers import read_any

    if is_feedback(file):
        return read_answers(file, include_suspicious=False).comparisons()
    with progress(f"reading {file.name}"):
        table = None if items is None else plurank.read_items(items)
        made = read_any(file, columns=columns, ties=ties, items=table)
    if made.ratings is not None:
        note(f"{file.name}: {describe_ratings(made.ratings)}")
    return made


def describe_ratings(rated: "RatingTable") -> str:
    """Say what comparisons were made from, and how."""
    nouns = ("person", "statement") if rated.kind == "vote" else ("user", "item")
    n_users, n_items = len(rated.user_labels), len(rated.item_labels)
    users = count(n_users, nouns[0]) if rated.kind != "vote" or n_users == 1 else f"{n_users:,} people"
    return MADE[rated.kind].format(
        votes=count(len(rated.values), "vote"),
        ratings=count(len(rated.values), "rating"),
        users=users,
        items=count(n_items, nouns[1]),
    )


def add_texts(model: "RankingModel", items: Path | None) -> None:
    """Set the texts of a model's items."""
    if items is not None:
        model.item_texts_ = list(plurank.read_items(items).texts_of(model.items_))
