"""Tables about items: what to show for each, and which were hidden by moderation."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank.data.build import as_numbers, refuse_missing
from plurank.data.coded import Exclusion, Table, renumber
from plurank.data.columns import (
    Columns,
    Given,
    as_columns,
    as_text,
    check_roles,
    has_role,
    list_names,
    plain_name,
    read_flags,
)
from plurank.data.encoding import Labels, as_labels, as_series, encode, look_up
from plurank.data.frames import existing, open_text, parse_ids, plain_suffix, read_numbered_table, read_table, reading
from plurank.exceptions import Argument, DataError, ParameterError
from plurank.text import count, shorten
from plurank.types import Masks

# role -> names understood, the likeliest first
NAMES: dict[str, tuple[str, ...]] = {
    "item": (
        "item", "item_id", "itemid", "comment-id", "comment_id", "idea_id", "statement_id", "movieid", "movie_id",
        "choice_id", "id", "key", "idea", "name", "title", "statement", "text",
    ),
    "text": (
        "text", "comment-body", "comment_body", "idea_text", "body", "statement", "title", "name", "label", "idea",
        "description",
    ),
    "hidden": ("hidden", "is_hidden", "removed", "deleted", "rejected"),
    "active": ("active", "is_active", "shown", "visible", "accepted"),
    "moderated": ("moderated",),
    "group": ("group", "category", "topic", "genre"),
    "agrees": ("agrees",),
    "disagrees": ("disagrees",),
}  # fmt: skip
HIDDEN = "hidden by moderation"
ON_HIDDEN = "about items hidden by moderation"
SHOWN = 60  # characters of an id in a message


@dataclass(frozen=True, eq=False)
class Items:
    """A table about items: what to display for each, which are hidden, and their groups.

    ``read_items`` makes one; ``Comparisons.with_items`` and the ``items`` parameter of readers take it.

    Attributes
    ----------
    ids : ndarray of shape (n_items,)
        Labels of the items, sorted.
    texts : tuple of str
        What to display for each item; its label where the table has no text.
    hidden : ndarray of bool, shape (n_items,)
        Whether each item was hidden by moderation.
    groups : tuple of str or None
        The group of each item; None where the table has no such column.
    n_votes : ndarray of shape (n_items, 2) or None
        How many agree and disagree; None where the table does not count them.

    Examples
    --------
    >>> import plurank, polars as pl
    >>> table = pl.DataFrame({"item": [1, 2], "text": ["More trees", "More light"], "hidden": [False, True]})
    >>> items = plurank.read_items(table)
    >>> len(items), items.hidden.tolist()
    (2, [False, True])
    """

    ids: Labels
    texts: tuple[str, ...]
    hidden: Masks
    groups: tuple[str, ...] | None = None
    n_votes: NDArray[np.float64] | None = None  # how many agree and disagree, (Q, 2), where the table counts them

    def __len__(self) -> int:
        return len(self.ids)

    def texts_of(self, labels: Labels) -> tuple[str, ...]:
        """Return what to display for items.

        Parameters
        ----------
        labels : ndarray of shape (n,)
            Labels of items.

        Returns
        -------
        tuple of str
            One text for each label; a label that is not in the table stands for itself.

        Raises
        ------
        DataError
            If none of the labels is in the table.
        """
        found = self._look_up(labels)
        return tuple(self.texts[code] if code >= 0 else str(label) for code, label in zip(found, labels, strict=True))

    def is_hidden(self, labels: Labels) -> Masks:
        """Check which items are hidden.

        Parameters
        ----------
        labels : ndarray of shape (n,)
            Labels of items.

        Returns
        -------
        ndarray of bool, shape (n,)
            False for labels that are not in the table.

        Raises
        ------
        DataError
            If none of the labels is in the table.
        """
        found = self._look_up(labels)
        return (found >= 0) & self.hidden[found]

    def _look_up(self, labels: Labels) -> NDArray[np.int32]:
        found = look_up(labels, self.ids, "item")
        if len(labels) and (found < 0).all():
            raise DataError(
                f"none of the items, such as {shorten(repr(labels[0]), SHOWN)}, is in the table of items, which has "
                f"{shorten(repr(self.ids[0]), SHOWN)} and others. Is it the table of these data?"
            )
        return found


def read_items(source: Any, *, columns: Mapping[str, str] | None = None) -> Items:
    """Read a table about items: a file or a data frame, one row per item.

    Understood are ``comments.csv`` of pol.is, the ideas of All Our Ideas, and tables with the columns item, text and,
    optionally, hidden (or active) and group, or the usual other names for these. Yours: ``columns={"text": ...}``.

    Parameters
    ----------
    source : path, data frame or Items
        The table.
    columns : mapping of str to str or None, default=None
        Names of your columns by role: item, text, hidden, active, moderated, group, agrees, disagrees.

    Returns
    -------
    Items
        For ``Comparisons.with_items``, or for ``items=`` where data are read.

    Raises
    ------
    DataError
        If there is no such file, the table is empty, has no column for the item, or has two rows for one item.
    ParameterError
        If a role in ``columns`` is unknown.

    Examples
    --------
    >>> import plurank, polars as pl
    >>> plurank.read_items(pl.DataFrame({"id": [2, 1], "title": ["Beer", "Ale"]})).texts
    ('Ale', 'Beer')
    """
    if isinstance(source, Items):
        return source
    if not isinstance(source, (str, PathLike)):
        return _read_frame(source, columns)
    frame = read_numbered_table(source)
    try:
        return _read_frame(frame, columns)
    except (DataError, ParameterError) as error:
        raise error.within(Path(source).name) from None


def _read_frame(frame: Any, given: Given) -> Items:
    check_roles(given, tuple(NAMES))
    found = as_columns(frame)
    if not any(len(column) for column in found.values()):
        raise DataError("there are no items: expected at least one row of item, text.")
    item = _find(found, "item", given)
    if item is None:
        raise DataError(
            f"no column for the item: expected one of {', '.join(NAMES['item'])}; the columns are {list_names(found)}.",
            hint=("Name it with ", Argument("columns", ("item",)), "."),
        )
    ids = as_series(found[item], "item")
    refuse_missing(ids)
    (codes,), labels = encode(ids)
    if len(labels) < len(codes):
        twice = labels.tolist()[int(np.argmax(np.bincount(codes)))]
        raise DataError(f"item {shorten(repr(twice), SHOWN)} has more than one row. Keep one row per item.")
    order = np.argsort(codes)
    hidden = _read_hidden(found, given)[order]
    texts, groups = _texts(found, item, given, labels, order), _groups(found, given, order)
    return Items(labels, texts, hidden, groups, _count_votes(found, given, order))


def _find(found: Columns, role: str, given: Given, without: str | None = None) -> str | None:
    """Find the column for a role: the one given, else that of the likeliest name."""
    if given and role in given:
        if given[role] not in found:
            raise DataError(f"there is no column {given[role]!r} for the {role}; the columns are {list_names(found)}.")
        return str(given[role])
    names = [name for alias in NAMES[role] for name in found if plain_name(name) == alias and name != without]
    return names[0] if names else None


def _texts(found: Columns, item: str, given: Given, labels: Labels, order: NDArray[np.int64]) -> tuple[str, ...]:
    """Return the text of every item on one line; the id where there is none."""
    name = _find(found, "text", given, without=item)
    if name is None:
        return tuple(str(label) for label in labels)
    texts = as_text(as_series(found[name], name)).fill_null("").to_list()
    return tuple(" ".join(texts[at].split()) or str(label) for at, label in zip(order, labels, strict=True))


def _read_hidden(found: Columns, given: Given) -> Masks:
    """Mark hidden items: by a flag, or, as in pol.is, where ``moderated`` is -1 (0: not moderated, 1: accepted)."""
    hidden, active, moderated = (_find(found, role, given) for role in ("hidden", "active", "moderated"))
    marks = np.zeros(len(next(iter(found.values()))), dtype=bool)
    if hidden is not None:
        marks |= read_flags(as_series(found[hidden], hidden))
    if active is not None:
        marks |= ~read_flags(as_series(found[active], active))
    if moderated is not None:
        marks |= as_numbers(as_series(found[moderated], moderated)) == -1
    return marks


def _groups(found: Columns, given: Given, order: NDArray[np.int64]) -> tuple[str, ...] | None:
    name = _find(found, "group", given)
    if name is None:
        return None
    return tuple(as_text(as_series(found[name], name)).fill_null("").gather(order).to_list())


def _count_votes(found: Columns, given: Given, order: NDArray[np.int64]) -> NDArray[np.float64] | None:
    names = [_find(found, role, given) for role in ("agrees", "disagrees")]
    counts = [as_numbers(as_series(found[name], name))[order] for name in names if name is not None]
    return np.stack(counts, axis=1) if len(counts) == 2 else None


def refuse_reversed(items: Items, labels: Labels, agree: NDArray[np.int64], disagree: NDArray[np.int64]) -> None:
    """Raise where the votes of 1 and -1 on every item are those that the table counts as disagreeing and agreeing."""
    if items.n_votes is None:
        return
    codes = look_up(labels, items.ids, "item")
    known = codes >= 0
    counted = items.n_votes[codes[known]]
    cast = np.stack([agree[known], disagree[known]], axis=1)
    off, off_reversed = (np.nansum(np.abs(cast - counts)) for counts in (counted, counted[:, ::-1]))
    if off_reversed < off:
        raise DataError(
            "1 and -1 are the wrong way round: the table of items counts as agreeing whom the votes have disagree. "
            "Expected 1 to agree and -1 to disagree; change the sign of all votes."
        )


def texts_in_votes(frame: pl.DataFrame) -> Items | None:
    """Return the texts that votes of All Our Ideas carry beside the ids of winner and loser, None where there are none.

    Of several texts of one idea the last one counts.
    """
    names = {plain_name(name): name for name in frame.columns}
    if not {"winner_id", "winner_text", "loser_id", "loser_text"} <= names.keys():
        return None
    columns = [
        pl.concat([as_text(frame[names[f"{side}_{what}"]]).rename(what) for side in ("winner", "loser")])
        for what in ("id", "text")
    ]
    named = pl.DataFrame(columns).filter(pl.all_horizontal(pl.all().is_not_null() & (pl.all() != "")))
    return read_items(named.unique("id", keep="last", maintain_order=True)) if len(named) else None


def add_items(comparisons: Table, items: Items) -> Table:
    """Set the texts of items, and leave out those that are hidden; see :meth:`Comparisons.with_items`."""
    c = comparisons
    hidden = items.is_hidden(c.items)
    if not hidden.any():
        return replace(c, texts=items.texts_of(c.items))
    keep = ~(hidden[c.winners] | hidden[c.losers])
    if not keep.any():
        raise DataError(f"{NOTHING_SHOWN} Is the column that hides items read rightly?")
    kept, shown = c.select(keep), renumber(~hidden)
    lost = c.n_users - kept.n_users
    excluded = (
        *c.excluded,
        *Exclusion.some("item", int(hidden.sum()), c.n_items, HIDDEN),
        *Exclusion.some("row", int((~keep).sum()), len(c), ON_HIDDEN),
        *Exclusion.some("user", lost, c.n_users, "compared hidden items only"),
    )
    labels = c.items[~hidden]
    return replace(
        kept, winners=shown[kept.winners], losers=shown[kept.losers], items=labels, excluded=excluded,
        ratings=None if c.ratings is None else c.ratings.without_items(items.is_hidden(c.ratings.item_labels)),
        texts=items.texts_of(labels),
    )  # fmt: skip


NOTHING_SHOWN = "every comparison has an item that is hidden, which leaves nothing."


def refuse_hidden(labels: Labels, items: Items) -> None:
    """Raise where data that cannot be filtered, such as a store, have items that the table hides."""
    hidden = items.is_hidden(labels)
    if hidden.any():
        example = shorten(repr(labels[hidden][0]), SHOWN)
        raise DataError(
            f"the table of items hides {count(int(hidden.sum()), 'item')} of the store, such as {example}; items "
            "cannot be left out of a store. Drop their rows and ingest again, or read the file itself."
        )


# Lists of items without comparisons: a text file with one item a line, or a table with a column of texts.

LISTS = (".txt", ".csv", ".tsv")
LISTED_TEXTS = ("text", "idea", "statement", "item", "comment", "comment-body", "comment_body", "title", "name")
IDS = ("id", "item_id", "comment-id", "comment_id")


def is_item_list(path: Path) -> bool:
    """Check whether a file can be a list of items, by its ending."""
    return plain_suffix(path) in LISTS


def read_item_list(path: Path) -> tuple[list[str], list[str] | None]:
    """Return the ids of items and their texts, None where the texts are the ids."""
    file = Path(path)
    if plain_suffix(file) == ".txt":
        file = existing(file)
        with reading(file, "text"), open_text(file) as lines:
            items = [line.strip() for line in lines.read().splitlines() if line.strip()]
        _refuse_votes(file, re.split(r"[,;|\t]", items[0]) if items else [])
        return items, None
    frame = read_table(file)
    _refuse_votes(file, frame.columns)
    texts = _find_listed(frame, LISTED_TEXTS)
    if texts is None and len(frame.columns) == 1:
        texts = frame.columns[0]
    if texts is None:
        raise DataError(
            f"{file.name}: expected a column of texts, named {', '.join(LISTED_TEXTS[:4])}; got "
            f"{', '.join(frame.columns)[:120]}. Rename one, or list the items in a .txt file, one a line."
        )
    ids = _find_listed(frame, IDS)
    kept = frame.filter(pl.col(texts).fill_null("").str.strip_chars() != "")
    shown = [text.strip() for text in kept[texts].to_list()]
    return (shown, None) if ids is None else ([f"{label}" for label in kept[ids].to_list()], shown)


def read_offered(path: Path) -> Labels:
    """Return the labels of the items in a file, a text file with one a line or a table of items, without hidden ones;
    plain integers become integers, as they do in tables of rankings."""
    if plain_suffix(path) != ".txt":
        table = read_items(path)
        return table.ids[~table.hidden]
    labels, _ = read_item_list(path)
    return as_labels(parse_ids(pl.DataFrame({"item": labels}))["item"])


def _refuse_votes(file: Path, columns: list[str]) -> None:
    if len(columns) > 1 and (has_role(columns, "loser", "left") or has_role(columns, "rating", "rank")):
        raise DataError(
            f"{file.name} is not a plurank model: it holds votes. Fit a model to them first, as in "
            f"`plurank fit {file.name} -k 2 -o model.plurank`, and serve that."
        )


def _find_listed(frame: pl.DataFrame, names: tuple[str, ...]) -> str | None:
    lower = {column.strip().lower(): column for column in frame.columns}
    return next((lower[name] for name in names if name in lower), None)
