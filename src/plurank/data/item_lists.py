"""Lists of items that nobody has compared yet: a text file with one item a line, or a table with a column of texts."""

import re
from pathlib import Path

import polars as pl

from plurank.data.columns import has_role
from plurank.data.readers import existing, open_text, plain_suffix, read_table, reading
from plurank.exceptions import DataError

LISTS = (".txt", ".csv", ".tsv")
TEXTS = ("text", "idea", "statement", "item", "comment", "comment-body", "comment_body", "title", "name")
IDS = ("id", "item_id", "comment-id", "comment_id")


def is_item_list(path: Path) -> bool:
    """Check whether a file can be a list of items, by its ending."""
    return plain_suffix(path) in LISTS


def read_item_list(path: Path) -> tuple[list[str], list[str] | None]:
    """Return the ids of items and their texts, None where the texts are the ids."""
    file = existing(path)
    if plain_suffix(file) == ".txt":
        with reading(file, "text"), open_text(file) as lines:
            items = [line.strip() for line in lines.read().splitlines() if line.strip()]
        _refuse_votes(file, re.split(r"[,;|\t]", items[0]) if items else [])
        return items, None
    frame = read_table(file)
    _refuse_votes(file, frame.columns)
    texts = _find(frame, TEXTS)
    if texts is None and len(frame.columns) == 1:
        texts = frame.columns[0]
    if texts is None:
        raise DataError(
            f"{file.name}: expected a column of texts, named {', '.join(TEXTS[:4])}; got "
            f"{', '.join(frame.columns)[:120]}. Rename one, or list the items in a .txt file, one a line."
        )
    ids = _find(frame, IDS)
    kept = frame.filter(pl.col(texts).fill_null("").str.strip_chars() != "")
    shown = [text.strip() for text in kept[texts].to_list()]
    return (shown, None) if ids is None else ([f"{label}" for label in kept[ids].to_list()], shown)


def _refuse_votes(file: Path, columns: list[str]) -> None:
    if len(columns) > 1 and (has_role(columns, "loser", "left") or has_role(columns, "rating", "rank")):
        raise DataError(
            f"{file.name} is not a plurank model: it holds votes. Fit a model to them first, as in "
            f"`plurank fit {file.name} -k 2 -o model.plurank`, and serve that."
        )


def _find(frame: pl.DataFrame, names: tuple[str, ...]) -> str | None:
    lower = {column.strip().lower(): column for column in frame.columns}
    return next((lower[name] for name in names if name in lower), None)
