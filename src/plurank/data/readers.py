"""Read comparisons from files: those that hold comparisons, and those of ratings, votes or rankings."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import polars as pl

from plurank.choices import Ties
from plurank.data.build import number_rows
from plurank.data.coded import Exclusion
from plurank.data.columns import Given, check_options, has_role, list_names, plain_name, read_rows
from plurank.data.comparisons import Comparisons
from plurank.data.formats import find_format, is_polis_matrix, ratings_in
from plurank.data.frames import TEXT_KINDS, File, FileKind, existing, kind_of, parse_ids, parse_table
from plurank.data.items import add_items, read_items, texts_in_votes
from plurank.data.rated import Rankings, Ratings
from plurank.data.ratings import compare_rankings, compare_ratings
from plurank.exceptions import Argument, DataError, ParameterError

Form = Literal["comparisons", "ratings", "rankings"]
# of ratings read where comparisons are wanted, at 8 bytes each; `plurank convert` makes more, or some of them
MOST_PAIRS = 10**8
TEXTS = ("comment-body", "comment_body", "idea_text")


def read_comparisons(
    path: File, *, columns: Mapping[str, str] | None = None, ties: Ties = "half", items: Any = None
) -> Comparisons:
    r"""Read comparisons from a file.

    Understood are CSV, TSV, Parquet, JSON lines and JSON (an array of records), plain or gzipped. Columns are those of
    ``Comparisons.from_frame``. Labels in CSV and TSV stay text unless all of them are plain integers.

    Parameters
    ----------
    path : str or path
        The file; its ending says what kind it is.
    columns : mapping of str to str or None, default=None
        Names of your columns by role, as in ``{"user": "voter"}``.
    ties : {"half", "drop"}, default="half"
        Whether a tie counts as half a win each way, or is left out.
    items : Items, path, data frame or None, default=None
        A table about items, as for ``Comparisons.with_items``.

    Returns
    -------
    Comparisons
        Sorted by user.

    Raises
    ------
    DataError
        If there is no such file, it cannot be read, or its rows are not valid comparisons.
    ParameterError
        If ``ties`` or a role in ``columns`` is unknown.

    Examples
    --------
    >>> import plurank, pathlib
    >>> _ = pathlib.Path("votes.csv").write_text("user,winner,loser\nann,tea,milk\nbob,milk,tea\n")
    >>> plurank.read_comparisons("votes.csv")
    <Comparisons: 2 users, 2 items, 2 comparisons (1 each)>
    """
    check_options(columns, ties)
    file = existing(path)
    kind = kind_of(file)
    return _compare_rows(parse_table(file, kind), file, kind, columns, ties, items)


def _compare_rows(
    frame: pl.DataFrame, file: Path, kind: FileKind, columns: Given, ties: Ties, items: Any
) -> Comparisons:
    """Turn the frame that was read from a file into comparisons, with the texts that it has of the items."""
    try:
        table = number_rows(read_rows(frame, columns, ties), from_text=kind in TEXT_KINDS)
        texts = None if columns else texts_in_votes(frame)
    except DataError as error:
        raise error.within(file.name) from None
    for known in (texts, items):
        table = table if known is None else add_items(table, read_items(known))
    return Comparisons.from_table(table)


def find_form(names: Iterable[str], given: Given) -> Form:
    """Decide what a table holds by the roles given, or by the names of its columns; raise where it could be two things.

    The default is comparisons.
    """
    names = list(names)
    given_roles = set(given or ())
    if given_roles & {"rating", "rank"}:
        return "ratings" if "rating" in given_roles else "rankings"
    compared = bool(given_roles & {"winner", "loser", "left", "right", "outcome", "comparison"})
    if compared or (not has_role(names, "item") and "item" not in given_roles):
        return "comparisons"
    rated, ranked = has_role(names, "rating"), has_role(names, "rank")
    if (rated or ranked) and has_role(names, "loser", "left"):
        raise DataError(
            f"these could be comparisons or {'ratings' if rated else 'rankings'} (columns {list_names(names)}).",
            hint=(
                "Name the columns to use with ", Argument("columns", ("winner", "loser")),
                " or ", Argument("columns", ("item", "rating")), ".",
            ),
        )  # fmt: skip
    if rated and ranked:
        raise DataError(
            f"these could be ratings or rankings (columns {list_names(names)}).",
            hint=(
                "Name the column to use with ", Argument("columns", ("rating",)), " (higher is better) or ",
                Argument("columns", ("rank",)), " (1 is best).",
            ),
        )  # fmt: skip
    return "ratings" if rated else "rankings" if ranked else "comparisons"


def refuse_texts(names: Iterable[str]) -> None:
    """Raise where a table describes items and has no votes."""
    plain = {plain_name(name) for name in names}
    if plain & set(TEXTS) and not has_role(plain, "rating", "loser", "left"):
        raise DataError(
            "these are statements or ideas, not votes: expected who preferred what.",
            hint="Pass this table with the votes, e.g. `plurank fit votes.csv --items comments.csv`.",
        )


def read_any(
    path: File, *, columns: Mapping[str, str] | None = None, ties: Ties = "half", items: Any = None
) -> Comparisons:
    """Read comparisons, or make them from all pairs of the ratings, votes or rankings that a file holds.

    Equal ratings make no comparison. ``ratings`` of the result is None where the file holds comparisons.
    """
    found = _read_form(path, columns, ties, items)
    if isinstance(found, Comparisons):
        return found
    try:
        if found.form == "rankings":
            table = compare_rankings(found.frame, "ignore", 0, columns, items)
        else:
            table = compare_ratings(found.frame, "full", "ignore", 0, 1.0, columns, items, most=MOST_PAIRS)
    except DataError as error:
        raise error.within(found.name) from None
    return Comparisons.from_table(replace(table, excluded=(*found.excluded, *table.excluded)))


def read_observations(
    path: File,
    *,
    columns: Mapping[str, str] | None = None,
    ties: Ties = "half",
    items: Any = None,
    offered: Any = None,
    form: Form | None = None,
) -> Comparisons | Ratings | Rankings:
    """Read what a file holds: comparisons, ratings or votes, or rankings; raise where it is not of the form wanted."""
    found = _read_form(path, columns, ties, items, form)
    is_ranked = not isinstance(found, Comparisons) and found.form == "rankings"
    if offered is not None and not is_ranked:
        form = "comparisons" if isinstance(found, Comparisons) else found.form
        raise ParameterError(
            (Argument("offered"), f" is for rankings, got {form}."), parameter="offered", hint="Leave it out."
        )
    if isinstance(found, Comparisons):
        return found
    try:
        if found.form == "rankings":
            made: Ratings | Rankings = Rankings.from_frame(found.frame, offered=offered, columns=columns, items=items)
        else:
            made = Ratings.from_frame(found.frame, columns=columns, items=items)
    except DataError as error:
        raise error.within(found.name) from None
    return replace(made, excluded=(*found.excluded, *made.excluded))


class _Found(NamedTuple):
    """A table of ratings or rankings, as read from a file, and what was left out of it."""

    frame: pl.DataFrame
    form: Form
    name: str
    excluded: tuple[Exclusion, ...] = ()


def _read_form(
    path: File, columns: Given, ties: Ties, items: Any, wanted: Form | None = None
) -> "Comparisons | _Found":
    """Read a file and decide what it holds, unless that is given."""
    file = existing(path)
    if (known := find_format(file)) is not None:
        if wanted not in (None, known.form):
            raise DataError(f"{file.name} holds {known.form}, expected {wanted}.")
        return _Found(known.read(file), known.form, file.name)
    kind = kind_of(file)
    frame, excluded = parse_table(file, kind), tuple[Exclusion, ...]()
    form = wanted or (
        "ratings" if is_polis_matrix(frame) and not columns else _find_form(frame.columns, columns, file.name)
    )
    if form == "comparisons":
        check_options(columns, ties)
        with _hint_at_wide(frame.columns, columns):
            return _compare_rows(frame, file, kind, columns, ties, items)
    frame = parse_ids(frame) if kind in TEXT_KINDS else frame
    if form == "ratings" and not columns:
        frame, excluded = ratings_in(frame, file)
    return _Found(frame, form, file.name, excluded)


@contextmanager
def _hint_at_wide(names: list[str], columns: Given) -> Iterator[None]:
    """Where a table with a user and no other column that is understood is refused, say where wide tables go."""
    try:
        yield
    except DataError as error:
        others = ("winner", "loser", "left", "right", "outcome", "comparison", "item")
        if columns or not has_role(names, "user") or has_role(names, *others):
            raise
        raise error.advising("For ratings with one column per item use `plurank convert --to ratings`.") from None


def _find_form(names: list[str], columns: Given, name: str) -> Form:
    try:
        if not columns:
            refuse_texts(names)
        return find_form(names, columns)
    except DataError as error:
        raise error.within(name) from None
