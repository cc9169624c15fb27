"""What a table holds, comparisons, ratings or rankings, and comparisons from any of them."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

from plurank.choices import Ties
from plurank.data.columns import Given, has_role, list_names, plain_name
from plurank.data.comparisons import Comparisons
from plurank.data.exclusions import Exclusion
from plurank.data.formats import MOVIELENS, is_polis_matrix, ratings_in, read_movielens
from plurank.data.preflib import read_preflib
from plurank.data.ratings import compare_rankings, compare_ratings
from plurank.data.readers import PREFLIB, File, compare_rows, existing, is_text, parse_ids, plain_suffix, read_table
from plurank.exceptions import DataError

Form = Literal["comparisons", "ratings", "rankings"]
# of ratings read where comparisons are wanted, at 8 bytes each; `plurank convert` makes more, or some of them
MOST_PAIRS = 10**8
TEXTS = ("comment-body", "comment_body", "idea_text")


def find_form(names: Iterable[str], given: Given) -> Form:
    """Decide what a table holds by the roles given, or by the names of its columns; raise where it could be two things.

    Where nothing speaks for ratings or rankings it is comparisons.
    """
    names = list(names)
    told = set(given or ())
    if told & {"rating", "rank"}:
        return "ratings" if "rating" in told else "rankings"
    compared = bool(told & {"winner", "loser", "left", "right", "outcome", "comparison"})
    if compared or (not has_role(names, "item") and "item" not in told):
        return "comparisons"
    rated, ranked = has_role(names, "rating"), has_role(names, "rank")
    if (rated or ranked) and has_role(names, "loser", "left"):
        raise DataError(
            f"these could be comparisons or {'ratings' if rated else 'rankings'} (columns {list_names(names)}). Name "
            "what counts with columns={'winner': ..., 'loser': ...} or columns={'item': ..., 'rating': ...}."
        )
    if rated and ranked:
        raise DataError(
            f"these could be ratings or rankings (columns {list_names(names)}). Say which column counts with "
            "columns={'rating': ...} (higher is better) or columns={'rank': ...} (1 is best)."
        )
    return "ratings" if rated else "rankings" if ranked else "comparisons"


def refuse_texts(names: Iterable[str]) -> None:
    """Raise where a table says what items are called and not what people said of them."""
    plain = {plain_name(name) for name in names}
    if plain & set(TEXTS) and not has_role(plain, "rating", "loser", "left"):
        raise DataError(
            "these are statements or ideas, not votes: expected who preferred what. Give this table beside the votes, "
            "as in `plurank fit votes.csv --items comments.csv`."
        )


def read_any(
    path: File, *, columns: Mapping[str, str] | None = None, ties: Ties = "half", items: Any = None
) -> Comparisons:
    """Read comparisons, or make them from all pairs of the ratings, votes or rankings that a file holds.

    Equal ratings make no comparison. Which of them it was, ``ratings`` of the result says: it is None for comparisons.
    """
    file = existing(path)
    if plain_suffix(file) in PREFLIB:
        return compare_rankings(read_preflib(file), "ignore", 0, columns, items)
    excluded: tuple[Exclusion, ...] = ()
    if plain_suffix(file) in MOVIELENS:
        frame, form = read_movielens(file), "ratings"
    else:
        frame = read_table(file)
        form = "ratings" if is_polis_matrix(frame) and not columns else _find_form(frame.columns, columns, file.name)
        if form == "comparisons":
            with _hint_at_wide(frame.columns, columns):
                made = compare_rows(frame, file, columns, ties)
            return made if items is None else made.with_items(items)
        frame = parse_ids(frame) if is_text(file) else frame
        if form == "ratings" and not columns:
            frame, excluded = ratings_in(frame, file)
    try:
        if form == "rankings":
            return compare_rankings(frame, "ignore", 0, columns, items)
        made = compare_ratings(frame, "full", "ignore", 0, 1.0, columns, items, most=MOST_PAIRS)
    except DataError as error:
        raise DataError(str(error) if file.name in str(error) else f"{file.name}: {error}") from None
    return replace(made, excluded=(*excluded, *made.excluded))


@contextmanager
def _hint_at_wide(names: list[str], columns: Given) -> Iterator[None]:
    """Where a table with a user and no other column that is understood is refused, say where wide tables go."""
    try:
        yield
    except DataError as error:
        others = ("winner", "loser", "left", "right", "outcome", "comparison", "item")
        if columns or not has_role(names, "user") or has_role(names, *others):
            raise
        raise DataError(f"{error} Ratings with one column an item become comparisons with `plurank convert`.") from None


def _find_form(names: list[str], columns: Given, name: str) -> Form:
    try:
        if not columns:
            refuse_texts(names)
        return find_form(names, columns)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
