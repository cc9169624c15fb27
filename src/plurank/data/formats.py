"""Ratings and rankings in the formats their communities use: MovieLens, pol.is and PrefLib."""

import re
from pathlib import Path

import polars as pl

from plurank.data.readers import File, existing, parse_ids, read_table
from plurank.exceptions import DataError

PREFLIB = (".soc", ".soi", ".toc", ".toi")


def read_ratings(path: File) -> pl.DataFrame:
    """Read ratings into a frame with columns user, item, rating (or the file's own names for them).

    Understood are tables (CSV, TSV, Parquet, JSON lines), MovieLens (``ratings.dat``, ``u.data``, ``ratings.csv``) and
    pol.is exports (``votes.csv``: the last vote of a voter on a comment counts; ``participants-votes.csv``): 1 agrees,
    0 passes, -1 disagrees.
    """
    file = existing(path)
    if file.name.endswith((".dat", "u.data")):
        return _read_movielens(file)
    frame = parse_ids(read_table(file))
    if {"voter-id", "comment-id", "vote"} <= set(frame.columns):
        return _last_votes(frame)
    if {"participant", "group-id", "n-votes"} <= set(frame.columns):
        return _votes_from_matrix(frame)
    return frame


def _read_movielens(file: Path) -> pl.DataFrame:
    separator = "::" if file.suffix == ".dat" else "\t"
    names = ["user", "item", "rating", "time"]
    lines = file.read_text(encoding="latin-1").splitlines()
    rows = [line.split(separator) for line in lines if line.strip()]
    for number, row in enumerate(rows, start=1):
        if len(row) != len(names):
            raise DataError(
                f"{file.name}, line {number}: expected user{separator}item{separator}rating{separator}time "
                f"(4 fields), got {len(row)}."
            )
    return parse_ids(pl.DataFrame(rows, schema=names, orient="row"))


def _last_votes(frame: pl.DataFrame) -> pl.DataFrame:
    ordered = frame.sort("timestamp", maintain_order=True) if "timestamp" in frame.columns else frame
    votes = ordered.select(user="voter-id", item="comment-id", rating="vote")
    return votes.unique(["user", "item"], keep="last", maintain_order=True)


def _votes_from_matrix(frame: pl.DataFrame) -> pl.DataFrame:
    comments = [name for name in frame.columns if name.isdigit()]
    if not comments:
        raise DataError("this looks like pol.is participants-votes.csv, but no column is named by a comment number.")
    votes = frame.select(pl.col("participant"), pl.col(comments).cast(pl.String))
    long = votes.unpivot(on=comments, index="participant", variable_name="item", value_name="rating")
    given = long.filter(pl.col("rating").is_not_null() & (pl.col("rating") != ""))
    return parse_ids(given.rename({"participant": "user"}).select("user", "item", "rating"))


def read_rankings(path: File) -> pl.DataFrame:
    """Read rankings into a frame with columns user, item, rank (1 is best).

    Understood are tables (CSV, TSV, Parquet, JSON lines) and PrefLib (``.soc``, ``.soi``, ``.toc``, ``.toi``), where a
    ballot cast n times becomes n users and alternatives in braces share a rank.
    """
    file = existing(path)
    return _read_preflib(file) if file.suffix.lower() in PREFLIB else parse_ids(read_table(file))


def _read_preflib(file: Path) -> pl.DataFrame:
    names: dict[str, str] = {}
    rows: list[tuple[int, str, int]] = []
    n_users = 0
    for number, line in enumerate(file.read_text(encoding="utf-8-sig").splitlines(), start=1):
        text = line.strip()
        if named := re.match(r"#\s*ALTERNATIVE NAME\s+(\d+)\s*:\s*(.+)", text, re.IGNORECASE):
            names[named[1]] = named[2].strip()
        if not text or text.startswith("#"):
            continue
        ballot = re.fullmatch(r"(\d+)\s*:\s*(.+)", text)
        if not ballot:
            raise DataError(f"{file.name}, line {number}: expected 'count: a,b,{{c,d}}', got {text[:60]!r}.")
        order = _read_order(ballot[2], f"{file.name}, line {number}")
        for user in range(n_users + 1, n_users + int(ballot[1]) + 1):
            rows += [(user, names.get(item, item), rank) for rank, item in order]
        n_users += int(ballot[1])
    if not rows:
        raise DataError(f"{file.name}: there are no ballots; expected lines like '3: 1,2,{{3,4}}'.")
    return pl.DataFrame(rows, schema=["user", "item", "rank"], orient="row")


def _read_order(text: str, where: str) -> list[tuple[int, str]]:
    """Read ``1,{2,3},4`` as (rank, alternative), the tied ones sharing a rank."""
    levels = re.findall(r"\{([^{}]*)\}|([^,{}\s]+)", text)
    leftover = re.sub(r"\{[^{}]*\}|[^,{}\s]+|,|\s", "", text)
    order = [
        (rank, item.strip())
        for rank, (tied, single) in enumerate(levels, start=1)
        for item in (single or tied).split(",")
        if item.strip()
    ]
    if leftover or len({item for _, item in order}) < len(order):
        raise DataError(f"{where}: braces do not match or an alternative occurs twice in {text[:60]!r}.")
    return order
