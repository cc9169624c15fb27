"""Read files of comparisons, ratings, rankings and items: CSV, TSV, Parquet, JSON lines, MovieLens, pol.is, PrefLib."""

import csv
import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from io import TextIOWrapper
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Literal, NoReturn, TextIO

import numpy as np
import polars as pl

from plurank.choices import Ties
from plurank.data.build import number_rows
from plurank.data.columns import (
    Given,
    has_role,
    list_names,
    plain_name,
    read_rows,
)
from plurank.data.comparisons import Comparisons
from plurank.data.exclusions import Exclusion
from plurank.data.items import texts_in_votes
from plurank.data.ratings import compare_rankings, compare_ratings
from plurank.exceptions import Argument, DataError
from plurank.io import as_path
from plurank.text import count, reason_of

# Read files: CSV, TSV, Parquet, JSON lines and JSON, compressed or not.

File = str | PathLike[str]
Kind = Literal["CSV", "TSV", "Parquet", "JSON lines", "JSON"]
KINDS: dict[str, Kind] = {
    ".csv": "CSV", ".txt": "CSV", ".tsv": "TSV", ".tab": "TSV", ".parquet": "Parquet", ".pq": "Parquet",
    ".jsonl": "JSON lines", ".ndjson": "JSON lines",
    ".json": "JSON",
}  # fmt: skip
PREFLIB = (".soc", ".soi", ".toc", ".toi")
# a gzipped table is a few times, rarely 20 times, as large as its file; from some size on, more is refused
MOST_UNZIPPED, MOST_RATIO = 2**26, 100
NESTED = (dict, list)


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
    file = existing(path)
    made = compare_rows(read_table(file), file, columns, ties)
    return made if items is None else made.with_items(items)


def compare_rows(frame: pl.DataFrame, file: Path, columns: Mapping[str, str] | None, ties: Ties) -> Comparisons:
    """Turn the frame that was read from a file into comparisons, with the texts that it has of the items."""
    try:
        made = number_rows(read_rows(frame, columns, ties), from_text=is_text(file))
        texts = None if columns else texts_in_votes(frame)
    except DataError as error:
        raise error.within(file.name) from None
    return made if texts is None else made.with_items(texts)


def read_table(path: File) -> pl.DataFrame:
    """Read a file into a frame; in CSV and TSV every column is text."""
    file = existing(path)
    kind = kind_of(file)
    with reading(file, kind):
        content = _unzip_table(file) if is_gzipped(file) else file
        if kind == "Parquet":
            return pl.read_parquet(content)
        if kind == "JSON lines":
            return pl.read_ndjson(content, infer_schema_length=None)
        if kind == "JSON":
            return _parse_json(content, file)
        return parse_csv(content, file, find_separator(file))


UNREADABLE = (
    pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, EOFError, zlib.error, json.JSONDecodeError,
    RecursionError,
)  # fmt: skip


@contextmanager
def reading(file: Path, kind: str) -> Iterator[None]:
    """Turn whatever the libraries say about a file they cannot read into a sentence."""
    try:
        yield
    except UnicodeDecodeError:
        _refuse_encoding(file)
    except UNREADABLE as error:
        raise DataError(
            f"{file.name} could not be read as {kind}: {reason_of(error)}. Is it damaged, or a file of another kind?"
        ) from None


def existing(path: File) -> Path:
    """Check that a path is a file with something in it."""
    file = as_path(path)
    if file.is_dir():
        raise DataError(f"{file} is a folder; expected a file.")
    if not file.is_file():
        raise DataError(f"{file}: there is no such file.")
    if file.stat().st_size == 0:
        raise DataError(f"{file.name} is empty; expected a header and at least one row.")
    return file


def plain_suffix(file: Path) -> str:
    """Return the ending of a file's name in lower case, without .gz."""
    name = file.with_suffix("") if file.suffix.lower() == ".gz" else file
    return name.suffix.lower()


def kind_of(file: Path) -> Kind:
    """Return the kind of a table by the ending of the file's name."""
    ending = plain_suffix(file)
    if ending in PREFLIB:
        raise DataError(
            f"{file.name} holds rankings, not comparisons: turn them into comparisons with Comparisons.from_rankings "
            "or `plurank convert`."
        )
    if ending == ".plurank":
        raise DataError(f"{file.name} is a model; expected a file of data. `plurank show` looks into models.")
    if ending not in KINDS:
        endings = ", ".join(KINDS)
        raise DataError(
            f"{file.name}: unknown kind of file. Expected an ending of {endings}, or these with .gz. "
            "Ratings and rankings of other kinds become comparisons with `plurank convert`."
        )
    return KINDS[ending]


def is_text(file: Path) -> bool:
    """Check whether the file is of a kind where numbers and text look alike."""
    return kind_of(file) in ("CSV", "TSV")


def _unzip_table(file: Path) -> bytes:
    """Return what a gzipped file holds; raise where it is beyond what a table of its size could be."""
    most = max(MOST_UNZIPPED, MOST_RATIO * file.stat().st_size)
    with open_bytes(file) as zipped:
        content = zipped.read(most + 1)
    if len(content) > most:
        raise DataError(
            f"{file.name} unzips to more than {most // 2**20:,} MB, over {MOST_RATIO} times its size: expected a "
            "table, got what may be made to fill memory. If it is meant, make a store of it with `plurank ingest`."
        )
    return content


def _parse_json(content: Path | bytes, file: Path) -> pl.DataFrame:
    """Read an array of records; values that are lists or records themselves, such as conversations, are left out."""
    records = json.loads(content if isinstance(content, bytes) else content.read_bytes())
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise DataError(
            f"{file.name}: expected an array of records, as in [{{...}}, {{...}}]. One a line: call it .jsonl."
        )
    flat = [{name: value for name, value in record.items() if not isinstance(value, NESTED)} for record in records]
    return pl.DataFrame(flat, infer_schema_length=None, strict=False)


def parse_csv(content: Path | bytes, file: Path, separator: str) -> pl.DataFrame:
    """Read a CSV file, or its header and some of its rows, into a frame of text; errors are told of the file."""
    try:
        frame = pl.read_csv(content, separator=separator, infer_schema=False)
    except pl.exceptions.ComputeError as error:
        _explain(file, separator, str(error))
        raise
    header = "".join(frame.columns)
    if "\ufffd" in header or "\0" in header:
        _refuse_bytes(file)
    return _drop_blank_lines(frame)


def find_separator(file: Path) -> str:
    """Return the tab of TSV; of CSV the first of commas, semicolons, tabs and bars that is in the header."""
    if kind_of(file) == "TSV":
        return "\t"
    with open_text(file, errors="replace") as lines:
        header = lines.readline(2**20)
    return next((separator for separator in ",;\t|" if separator in header), ",")


def _drop_blank_lines(frame: pl.DataFrame) -> pl.DataFrame:
    if all(column.has_nulls() for column in frame):
        return frame.filter(~pl.all_horizontal(pl.all().is_null()))
    return frame


def _explain(file: Path, separator: str, reason: str) -> None:
    """Raise a sentence for what often goes wrong in CSV."""
    if "utf-8" in reason.lower():
        _refuse_bytes(file)
    if "more fields" in reason:
        with suppress(csv.Error), open_text(file, errors="replace") as lines:
            _refuse_longer_rows(file, csv.reader(lines, delimiter=separator))


def _refuse_longer_rows(file: Path, rows: Iterator[list[str]]) -> None:
    width = len(next(rows))
    for number, row in enumerate(rows, start=1):
        if len(row) > width:
            raise DataError(
                f"{file.name}: row {number}: expected {count(width, 'value')} as in the header, got {len(row)}. "
                'Put values that hold the separator in "quotes".'
            )


def _refuse_bytes(file: Path) -> NoReturn:
    """Raise an error for a file that is not text; damaged gzip, which older polars takes for text, raises here."""
    with open_bytes(file) as content:
        while content.read(2**20):
            pass
    _refuse_encoding(file)


def _refuse_encoding(file: Path) -> NoReturn:
    raise DataError(f"{file.name} is not UTF-8 text (perhaps Latin-1 or UTF-16). Save it as UTF-8.")


def open_text(file: Path, errors: str = "strict") -> TextIO:
    """Open a text file, gzipped or not, whatever its name says."""
    return TextIOWrapper(open_bytes(file), encoding="utf-8-sig", errors=errors, newline="")


def is_gzipped(file: Path) -> bool:
    """Check whether a file is gzipped, whatever its name says."""
    with file.open("rb") as start:
        return start.read(2) == b"\x1f\x8b"


def open_bytes(file: Path) -> BinaryIO:
    """Open a file for reading, gzipped or not, whatever its name says."""
    opener: Any = gzip.open if is_gzipped(file) else open
    stream: BinaryIO = opener(file, "rb")
    return stream


def read_numbered_table(path: File) -> pl.DataFrame:
    """Read a file into a frame; text columns of a CSV or TSV that hold only whole numbers become integers."""
    file = existing(path)
    return parse_ids(read_table(file)) if is_text(file) else read_table(file)


def parse_ids(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn text columns that hold only plain whole numbers into integers."""
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    numbers = frame.select(pl.col(texts).cast(pl.Int64, strict=False))
    plain = [name for name in texts if (numbers[name].cast(pl.String) == frame[name]).all(ignore_nulls=False)]
    return frame.with_columns(numbers.select(plain))


# Ratings and rankings in the formats their communities use: MovieLens, pol.is and PrefLib.

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


# Ballots of PrefLib (.soc, .soi, .toc, .toi), with the header of today or of before 2022.

Lines = list[tuple[int, str]]
MOST_DIGITS = 9  # of a count
MOST_PLACES = 10**8  # to be spelled out, one a row
LEVEL = r"(?:\{[^{}]*\}|[^,{}\s]+)"  # one alternative, or tied ones in braces


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


# Lists of items that nobody has compared yet: a text file with one item a line, or a table with a column of texts.

LISTS = (".txt", ".csv", ".tsv")
LISTED_TEXTS = ("text", "idea", "statement", "item", "comment", "comment-body", "comment_body", "title", "name")
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


def _refuse_votes(file: Path, columns: list[str]) -> None:
    if len(columns) > 1 and (has_role(columns, "loser", "left") or has_role(columns, "rating", "rank")):
        raise DataError(
            f"{file.name} is not a plurank model: it holds votes. Fit a model to them first, as in "
            f"`plurank fit {file.name} -k 2 -o model.plurank`, and serve that."
        )


def _find_listed(frame: pl.DataFrame, names: tuple[str, ...]) -> str | None:
    lower = {column.strip().lower(): column for column in frame.columns}
    return next((lower[name] for name in names if name in lower), None)


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
    """Raise where a table says what items are called and not what people said of them."""
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
        raise error.within(file.name) from None
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
        raise error.advising("For ratings with one column per item use `plurank convert`.") from None


def _find_form(names: list[str], columns: Given, name: str) -> Form:
    try:
        if not columns:
            refuse_texts(names)
        return find_form(names, columns)
    except DataError as error:
        raise error.within(name) from None
