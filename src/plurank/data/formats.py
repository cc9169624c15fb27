"""Ratings and rankings in the formats their communities use: MovieLens, pol.is and PrefLib."""

from pathlib import Path

import polars as pl

from plurank.data.columns import has_role
from plurank.data.exclusions import Exclusion
from plurank.data.preflib import read_preflib
from plurank.data.readers import PREFLIB, File, existing, parse_ids, plain_suffix, read_numbered_table, reading
from plurank.exceptions import DataError

MOVIELENS = (".dat", ".data")
VOTED_AGAIN = "votes that the same person changed later"


def read_ratings(path: File) -> pl.DataFrame:
    """Read ratings into a frame with columns user, item, rating (or the file's own names for them).

    Understood are tables (CSV, TSV, Parquet, JSON lines, JSON), MovieLens (``ratings.dat``, ``u.data``,
    ``ratings.csv``) and pol.is exports (``votes.csv``, where a voter's last vote on a comment counts, and
    ``participants-votes.csv``): 1 agrees, 0 passes, -1 disagrees. All of them may be gzipped.
    """
    file = existing(path)
    if plain_suffix(file) in MOVIELENS:
        return read_movielens(file)
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


def read_movielens(file: Path) -> pl.DataFrame:
    """Read ratings of MovieLens (``ratings.dat``, ``u.data``)."""
    return _number_ratings(_read_movielens(file))


def read_rankings(path: File) -> pl.DataFrame:
    """Read rankings into a frame with columns user, item, rank (1 is best).

    Understood are tables (CSV, TSV, Parquet, JSON lines, JSON) and PrefLib (``.soc``, ``.soi``, ``.toc``,
    ``.toi``), where a ballot cast n times becomes n users and alternatives in braces share a rank. All of
    them may be gzipped.
    """
    file = existing(path)
    return read_preflib(file) if plain_suffix(file) in PREFLIB else read_numbered_table(file)


def _number_ratings(frame: pl.DataFrame) -> pl.DataFrame:
    """Read ratings such as "3.5" as numbers; if one is none, all stay text, which from_ratings refuses."""
    for column in frame:
        if column.dtype == pl.String and has_role([column.name], "rating"):
            numbers = column.cast(pl.Float64, strict=False)
            if numbers.null_count() == column.null_count():
                frame = frame.with_columns(numbers)
    return frame


def _read_movielens(file: Path) -> pl.DataFrame:
    """Read lines of user, item, rating and time, separated by :: (.dat) or by tabs (u.data)."""
    separator = "::" if plain_suffix(file) == ".dat" else "\t"
    names = ["user", "item", "rating", "time"]
    with reading(file, "MovieLens ratings"):
        # a separator that does not occur: one column of whole lines
        table = pl.read_csv(file, separator="\x1f", has_header=False, infer_schema=False, quote_char=None)
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
