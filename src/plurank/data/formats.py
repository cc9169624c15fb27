"""Ratings and rankings in the formats their communities use: MovieLens, pol.is and PrefLib."""

import re
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import polars as pl

from plurank.data.coded import Exclusion
from plurank.data.columns import has_role
from plurank.data.frames import (
    PREFLIB,
    File,
    existing,
    open_text,
    parse_ids,
    plain_suffix,
    read_numbered_table,
    reading,
)
from plurank.exceptions import DataError

MOVIELENS = (".dat", ".data")
VOTED_AGAIN = "votes that the same person changed later"


def read_ratings(path: File) -> pl.DataFrame:
    r"""Read ratings from a file into a data frame, for ``Comparisons.from_ratings``.

    Understood are tables (CSV, TSV, Parquet, JSON lines, JSON), MovieLens (``ratings.dat``, ``u.data``,
    ``ratings.csv``) and pol.is exports (``votes.csv``, where a voter's last vote on a comment counts, and
    ``participants-votes.csv``): 1 agrees, 0 passes, -1 disagrees. All of them may be gzipped.

    Parameters
    ----------
    path : str or path
        The file; its ending says what kind it is.

    Returns
    -------
    polars.DataFrame
        Columns user, item, rating for MovieLens and pol.is; a table keeps its own columns.

    Raises
    ------
    DataError
        If there is no such file, or it cannot be read.

    Examples
    --------
    >>> import plurank, pathlib
    >>> _ = pathlib.Path("stars.csv").write_text("user,item,rating\nann,tea,5\nann,milk,3.5\n")
    >>> plurank.read_ratings("stars.csv").rows()
    [('ann', 'tea', 5.0), ('ann', 'milk', 3.5)]
    """
    file = existing(path)
    known = find_format(file)
    if known is not None and known.form == "ratings":
        return known.read(file)
    return ratings_in(read_numbered_table(file), file)[0]


def ratings_in(frame: pl.DataFrame, file: Path) -> tuple[pl.DataFrame, tuple[Exclusion, ...]]:
    """Return the ratings in a table, those of pol.is in our columns, and what was left out of them."""
    excluded: tuple[Exclusion, ...] = ()
    if is_polis_votes(frame):
        last = _last_votes(frame)
        frame, excluded = last, Exclusion.some("row", len(frame) - len(last), len(frame), VOTED_AGAIN)
    elif is_polis_matrix(frame):
        frame = _votes_from_matrix(frame, file.name)
    return _number_ratings(frame), excluded


def is_polis_votes(frame: pl.DataFrame) -> bool:
    """Check whether a table is ``votes.csv`` of pol.is."""
    return {"voter-id", "comment-id", "vote"} <= set(frame.columns)


def is_polis_matrix(frame: pl.DataFrame) -> bool:
    """Check whether a table is ``participants-votes.csv`` of pol.is."""
    return {"participant", "group-id", "n-votes"} <= set(frame.columns)


def _number_ratings(frame: pl.DataFrame) -> pl.DataFrame:
    """Read ratings such as "3.5" as numbers; if one is not a number, all stay text, and from_ratings raises."""
    for column in frame:
        if column.dtype == pl.String and has_role([column.name], "rating"):
            numbers = column.cast(pl.Float64, strict=False)
            if numbers.null_count() == column.null_count():
                frame = frame.with_columns(numbers)
    return frame


def read_movielens(file: Path) -> pl.DataFrame:
    """Read ratings of MovieLens (``ratings.dat``, ``u.data``)."""
    return _number_ratings(_read_movielens(file))


def _read_movielens(file: Path) -> pl.DataFrame:
    """Read lines of user, item, rating and time, separated by :: (.dat) or by tabs (u.data)."""
    separator = "::" if plain_suffix(file) == ".dat" else "\t"
    names = ["user", "item", "rating", "time"]
    with reading(file, "MovieLens ratings"):
        # a separator that does not occur: one column of whole lines
        table = pl.read_csv(file, separator="\x1f", has_header=False, infer_schema=False, quote_char=None, glob=False)
    lines = table.to_series().rename("line").str.strip_chars_end("\r")
    fields = lines.str.split(separator)
    wrong = (fields.list.len() != len(names)) & (lines != "")
    if wrong.any():
        at = wrong.arg_true()[0]
        raise DataError(f"{file.name}, line {at + 1}: expected {separator.join(names)}, got {lines[at]!r:.60}.")
    kept = fields.filter((lines != "").fill_null(False))
    return parse_ids(kept.list.to_struct(fields=names).struct.unnest())


def _last_votes(frame: pl.DataFrame) -> pl.DataFrame:
    ordered = frame.sort("timestamp", maintain_order=True) if "timestamp" in frame.columns else frame
    votes = ordered.select(user="voter-id", item="comment-id", rating="vote")
    return votes.unique(["user", "item"], keep="last", maintain_order=True)


def _votes_from_matrix(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    comments = [column for column in frame.columns if column.isdecimal()]
    if not comments:
        raise DataError(
            f"{name} looks like participants-votes.csv of pol.is, but no column is named by a comment number."
        )
    votes = frame.select(pl.col("participant"), pl.col(comments).cast(pl.String))
    long = votes.unpivot(on=comments, index="participant", variable_name="item", value_name="rating")
    voted = pl.col("rating").is_not_null() & (pl.col("rating") != "")
    # of somebody who never voted one empty vote stays, so that they can be counted
    silent = long.filter(~voted.any().over("participant")).unique("participant", keep="first", maintain_order=True)
    silent = silent.with_columns(rating=pl.lit(None, pl.String))
    given = pl.concat([long.filter(voted), silent])
    return parse_ids(given.rename({"participant": "user"}).select("user", "item", "rating"))


# Ballots of PrefLib (.soc, .soi, .toc, .toi), with the header of today or of before 2022.

Lines = list[tuple[int, str]]
MOST_DIGITS = 9  # of a count
MOST_PLACES = 10**8  # to be spelled out, one a row
LEVEL = r"(?:\{[^{}]*\}|[^,{}\s]+)"  # one alternative, or tied ones in braces


def read_rankings(path: File) -> pl.DataFrame:
    r"""Read rankings from a file into a data frame, for ``Comparisons.from_rankings``.

    Understood are tables (CSV, TSV, Parquet, JSON lines, JSON) and PrefLib (``.soc``, ``.soi``, ``.toc``, ``.toi``),
    where a ballot cast n times becomes n users and alternatives in braces share a rank. All of them may be gzipped.

    Parameters
    ----------
    path : str or path
        The file; its ending says what kind it is.

    Returns
    -------
    polars.DataFrame
        Columns user, item, rank (1 is best) for PrefLib; a table keeps its own columns.

    Raises
    ------
    DataError
        If there is no such file, or it cannot be read.

    Examples
    --------
    >>> import plurank, pathlib
    >>> _ = pathlib.Path("ballots.soc").write_text("# ALTERNATIVE NAME 1: tea\n# ALTERNATIVE NAME 2: milk\n2: 2,1\n")
    >>> plurank.read_rankings("ballots.soc").select("item", "rank").rows()
    [('milk', 1), ('tea', 2), ('milk', 1), ('tea', 2)]
    """
    file = existing(path)
    known = find_format(file)
    return known.read(file) if known is not None and known.form == "rankings" else read_numbered_table(file)


def read_preflib(file: Path) -> pl.DataFrame:
    """Read ballots into a frame with columns user, item, rank; see :func:`plurank.read_rankings`."""
    with reading(file, "PrefLib ballots"), open_text(file) as stream:
        lines = [(number, line.strip()) for number, line in enumerate(stream, start=1) if line.strip()]
    if lines and re.fullmatch(rf"\d{{1,{MOST_DIGITS}}}", lines[0][1]):
        names, ballots = _split_old_header(file.name, lines)
    else:
        names, ballots = _split_header(lines)
    counts, orders = [], []
    for number, line in ballots:
        count, order = _read_ballot(f"{file.name}, line {number}", line)
        counts.append(count)
        orders.append(order)
    if not sum(counts):
        raise DataError(f"{file.name}: there are no ballots; expected lines like '3: 1,2,{{3,4}}'.")
    n_places = sum(count * len(order) for count, order in zip(counts, orders, strict=True))
    if n_places > MOST_PLACES:
        raise DataError(
            f"{file.name}: expected at most {MOST_PLACES:,} places on all ballots together, got {n_places:,}."
        )
    return _cast(counts, orders, names)


def _split_header(lines: Lines) -> tuple[dict[str, str], Lines]:
    """Read the names of alternatives from lines like ``# ALTERNATIVE NAME 1: Ebi``."""
    named = (re.match(r"#\s*ALTERNATIVE NAME\s+(\d+)\s*:\s*(.+)", line, re.IGNORECASE) for _, line in lines)
    names = {match[1]: match[2].strip() for match in named if match}
    return names, [(number, line) for number, line in lines if not line.startswith("#")]


def _split_old_header(name: str, lines: Lines) -> tuple[dict[str, str], Lines]:
    """Read the old header: how many alternatives, a line ``1,Ebi`` for each, and a line of three totals."""
    rest = iter(lines)
    n_items = int(next(rest)[1])
    names = {}
    for number, line in islice(rest, n_items):
        item, comma, label = line.partition(",")
        if not comma or not item.strip().isdecimal():
            raise DataError(f"{name}, line {number}: expected 'number,name' of an alternative, got {line[:60]!r}.")
        names[item.strip()] = label.strip()
    next(rest, None)
    return names, list(rest)


def _read_ballot(where: str, line: str) -> tuple[int, list[tuple[int, str]]]:
    """Read ``3: 1,{2,3},4`` (once ``3,1,{2,3},4``) as the count and (rank, item); tied ones share a rank."""
    ballot = re.fullmatch(rf"(\d{{1,{MOST_DIGITS}}})\s*[:,]\s*({LEVEL}(?:\s*,\s*{LEVEL})*)\s*,?", line)
    if not ballot:
        raise DataError(f"{where}: expected 'count: a,b,{{c,d}}', got {line[:60]!r}.")
    levels = re.findall(LEVEL, ballot[2])
    order = [
        (rank, item.strip())
        for rank, level in enumerate(levels, start=1)
        for item in level.strip("{}").split(",")
        if item.strip()
    ]
    if not order:
        raise DataError(f"{where}: expected at least one alternative, got {line[:60]!r}.")
    if len({item for _, item in order}) < len(order):
        raise DataError(f"{where}: an alternative occurs twice in {ballot[2][:60]!r}.")
    return int(ballot[1]), order


def _cast(counts: list[int], orders: list[list[tuple[int, str]]], names: dict[str, str]) -> pl.DataFrame:
    """Return every ballot to as many users as cast it; alternatives of the same name keep their number."""
    repeated = Counter(names.values())
    labels = {item: f"{name} ({item})" if repeated[name] > 1 else name for item, name in names.items()}
    items = [[labels.get(item, item) for _, item in order] for order in orders]
    ballots = pl.DataFrame({"item": items, "rank": [[rank for rank, _ in order] for order in orders]})
    cast = ballots[np.repeat(np.arange(len(counts)), counts)]
    users = pl.Series("user", np.arange(1, len(cast) + 1))
    return cast.insert_column(0, users).explode("item", "rank")


class FileFormat(NamedTuple):
    """A format that the ending of a file's name tells: what such files hold, and what reads them."""

    form: Literal["ratings", "rankings"]
    read: Callable[[Path], pl.DataFrame]  # to columns user, item, and rating or rank


FORMATS: dict[str, FileFormat] = {
    **dict.fromkeys(PREFLIB, FileFormat("rankings", read_preflib)),
    **dict.fromkeys(MOVIELENS, FileFormat("ratings", read_movielens)),
}


def find_format(file: Path) -> FileFormat | None:
    """Return the format of a file, None for tables, whose columns say what they hold."""
    return FORMATS.get(plain_suffix(file))
