"""Data that commands read: from files, stores and pipes, with a summary of what they contain."""

import re
import shutil
import sys
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import typer

import plurank
from plurank import data
from plurank.choices import Ties
from plurank.cli.output import note, progress, warn
from plurank.exceptions import DataError, ParameterError, extra
from plurank.text import count, describe_ties, list_sizes

if TYPE_CHECKING:
    from plurank import Comparisons, RatedStore, Store
    from plurank.data.coded import RatingTable
    from plurank.data.rated import RatedItems
    from plurank.engine.blocks import Source
    from plurank.models.base import RankingModel
    from plurank.web.learning import Collected

STDIN = ("-", "/dev/stdin")
HEAD = 2**16  # bytes to detect the format
GZIP = 31  # window bits of zlib
original_paths: dict[Path, Path] = {}  # by temporary file: the path that the user gave
MADE = {
    "vote": "{votes} of {users} on {items} (1 agrees, 0 passes, -1 disagrees). Any two with different answers of a "
    "person are compared; equal answers make no comparison.",
    "rating": "{ratings} by {users} of {items}. Any two with different ratings of a user are compared; equal ratings "
    "make no comparison. `plurank convert` has more options.",
    "rank": "rankings by {users} of {items}. Any two that a user ranked are compared.",
}


def read(
    file: Path,
    column: list[str] | None,
    ties: Ties,
    items: Path | None = None,
    *,
    offered: str | None = None,
    rated: bool = False,
) -> tuple["Source", dict[str, Any]]:
    """Read comparisons or open a store; print its size and data-quality warnings.

    rated: ratings and rankings stay what they are.
    """
    from plurank.data.rated import RatedItems

    source = open_source(file, column, ties, items, offered=offered, rated=rated)
    if isinstance(source, RatedItems):
        note(f"{file.name}: {source.sizes}.")
        for problem in source.problems:
            warn(problem)
        return source, source.summary()
    if isinstance(source, plurank.RatedStore):
        note(f"{file.name}: {source.sizes}.")
        for problem in data.list_exclusions(source.excluded):
            warn(problem)
        return source, describe_store(source)
    if isinstance(source, plurank.Store):
        found, problems, n_items = describe_store(source), data.list_exclusions(source.excluded), source.n_items
    else:
        report = source.diagnose()
        found, problems, n_items = report.to_dict(), report.problems, report.n_compared_items
    ties_counted = f" ({describe_ties(len(source), found['n_ties'])})" if found.get("n_ties") else ""
    note(f"{file.name}: {list_sizes(source.n_users, n_items, len(source))}{ties_counted}.")
    for problem in problems:
        warn(problem)
    return source, found


def is_feedback(file: Path) -> bool:
    """Check whether a file is a database of answers to `plurank serve`, by its first bytes."""
    try:
        with file.open("rb") as content:
            return content.read(16) == b"SQLite format 3\0"
    except OSError:  # reported where it is read
        return False


def read_answers(file: Path, *, include_suspicious: bool) -> "Collected":
    """Read answers from a database of `plurank serve`; warn about those excluded."""
    with extra("web", "a database of answers"):
        from plurank.web.learning import collect_feedback, describe_excluded
    with progress(f"reading {file.name}"):
        found = collect_feedback(file, include_suspicious=include_suspicious)
    if found.excluded:
        warn(describe_excluded(found.excluded, "`plurank convert DB -o votes.csv --include-suspicious`"))
    return found


def open_source(
    file: Path,
    column: list[str] | None,
    ties: Ties,
    items: Path | None = None,
    *,
    offered: str | None = None,
    rated: bool = False,
) -> "Source":
    """Read comparisons from a file, derive them from ratings, or open a store where the path is a folder.

    rated: ratings and rankings stay what they are. offered: what could have been ranked, as in ``options.Offered``.
    """
    columns = parse_columns(column)
    if offered is not None and (file.is_dir() or is_feedback(file)):
        raise ParameterError(f"--offered is for files of rankings, got {file}. Leave it out.")
    if not file.is_dir():
        if not rated and offered is None:
            return read_data(file, columns, ties, items)
        found = read_rated_file(file, columns, ties, items, offered)
        return found if rated or isinstance(found, plurank.Comparisons) else found.to_comparisons()
    if columns or ties != "half":
        raise ParameterError(f"{file} is a store: use --column and --ties with `plurank ingest`, which created it.")
    store = plurank.open_store(file)
    if items is not None:
        from plurank.data.items import refuse_hidden

        refuse_hidden(store.items, plurank.read_items(items))
    return store


def read_data(file: Path, columns: dict[str, str] | None, ties: Ties, items: Path | None) -> "Comparisons":
    """Read comparisons or answers to the service, or derive comparisons from ratings or rankings."""
    from plurank.data.readers import read_any

    if is_feedback(file):
        return read_answers(file, include_suspicious=False).comparisons()
    with progress(f"reading {file.name}"):
        table = None if items is None else plurank.read_items(items)
        made = read_any(file, columns=columns, ties=ties, items=table)
    if made.ratings is not None:
        note(f"{file.name}: {describe_ratings(made.ratings)}")
    return made


def read_rated_file(
    file: Path, columns: dict[str, str] | None, ties: Ties, items: Path | None, offered: str | None = None
) -> "Comparisons | RatedItems":
    """Read comparisons, answers to the service, ratings or rankings, as they are."""
    if is_feedback(file):
        return read_data(file, columns, ties, items)
    with progress(f"reading {file.name}"):
        table = None if items is None else plurank.read_items(items)
        return data.read_observations(file, columns=columns, ties=ties, items=table, offered=parse_offered(offered))


def parse_offered(text: str | None) -> Any:
    """Return what could have been ranked: "all", the labels in a file, or None where nothing is known."""
    from plurank.data.items import read_offered

    return text if text in (None, "all") else read_offered(Path(str(text)))


def describe_ratings(rated: "RatingTable") -> str:
    """Return what comparisons were derived from, and how."""
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


def parse_columns(given: list[str] | None) -> dict[str, str] | None:
    """Return ``ROLE=NAME`` options as a mapping of roles to column names."""
    columns: dict[str, str] = {}
    for text in given or []:
        role, _, name = text.partition("=")
        role = role.strip().lower()
        if not role or not name or role in columns:
            raise ParameterError(f"--column must be ROLE=NAME, each role once, e.g. --column user=voter; got {text!r}.")
        columns[role] = name
    return columns or None


def describe_store(store: "Store | RatedStore") -> dict[str, Any]:
    """Return the summary of a store, with its size on disk."""
    own = ("is_weighted", "total_weight") if isinstance(store, plurank.Store) else ("kind", "n_unranked")
    names = (*own, "n_shards", "n_bytes")
    return {**store.summary(), **{name: getattr(store, name) for name in names}}


def as_file(ctx: typer.Context, path: Path | None) -> Path | None:
    """Return the path itself or, for stdin and other pipes, that of a temporary file with the same content."""
    if path is None or not (str(path) in STDIN or path.is_fifo()):
        return path
    if str(path) in STDIN and sys.stdin.isatty():
        example = "`cat votes.csv | plurank show -`"
        raise DataError(f"{path} reads data from a pipe, e.g. {example}; got a terminal.")
    folder = TemporaryDirectory(prefix="plurank-")
    try:
        named = _copy_pipe(path, Path(folder.name) / "stdin")
    except BaseException:
        folder.cleanup()
        raise
    ctx.call_on_close(folder.cleanup)
    original_paths[named] = path
    return named


def _copy_pipe(path: Path, target: Path) -> Path:
    """Copy a pipe into a file with the suffix of its format."""
    with target.open("wb") as file:
        if str(path) in STDIN:
            shutil.copyfileobj(sys.stdin.buffer, file)
        else:
            with path.open("rb") as stream:
                shutil.copyfileobj(stream, file)
    return target.rename(target.with_name(f"{target.name}{find_ending(target)}"))


def name_of(path: Path) -> Path:
    """Return the path that the user gave for a file: - for stdin."""
    return original_paths.get(path, path)


def find_ending(file: Path) -> str:
    """Return the suffix for the content of a file, by its first bytes."""
    with file.open("rb") as opened:
        head = opened.read(HEAD)
    if not head.startswith(b"\x1f\x8b"):
        return _ending_of(head)
    try:
        return f"{_ending_of(zlib.decompressobj(GZIP).decompress(head, HEAD))}.gz"
    except zlib.error:  # reported where it is read
        return ".csv.gz"


def _ending_of(head: bytes) -> str:
    text: Any = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head.startswith(b"PAR1"):
        return ".parquet"
    if head.startswith(b"PK\x03\x04"):
        return ".plurank"
    if text.startswith(b"#") and b"ALTERNATIVE" in text.upper():
        return ".toi"
    if re.match(rb"[^,\n]+::[^,\n]+::", text):
        return ".dat"
    return {b"[": ".json", b"{": ".jsonl"}.get(text[:1], ".csv")
