"""What the files of the public data sets look like inside, and how they become frames.

Each reader takes the files of a set, in the order of its entry in ``dataset_list``, and gives the values
(user, item, rating or rank) and the titles (item, title).
"""

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from plurank.data.formats import read_ratings
from plurank.exceptions import DataError
from plurank.wording import reason_of

Content = tuple[pl.DataFrame, pl.DataFrame]
CUISINE = re.compile(r"traditional cuisine of\s*(?:the )?(.+?)[.:]?$")


def read_movielens_100k(files: list[Path]) -> Content:
    """Read ``u.data`` (user, item, rating and time, by tabs) and ``u.item`` (id|title|...)."""
    with reading_inside(files[0]):
        ratings = _split_lines(_lines_inside(files[0], "ml-100k/u.data"), "\t", ["user", "item", "rating"])
        titles = _split_lines(_lines_inside(files[0], "ml-100k/u.item"), "|", ["item", "title"])
    return _numbers(ratings), _titles(titles)


def read_movielens_1m(files: list[Path]) -> Content:
    """Read ``ratings.dat`` and ``movies.dat``, whose fields are separated by ``::``."""
    with reading_inside(files[0]):
        ratings = _split_lines(_lines_inside(files[0], "ml-1m/ratings.dat"), "::", ["user", "item", "rating"])
        titles = _split_lines(_lines_inside(files[0], "ml-1m/movies.dat"), "::", ["item", "title"])
    return _numbers(ratings), _titles(titles)


def read_sushi_a(files: list[Path]) -> Content:
    """Read 5,000 orders of the same ten sushi."""
    return _read_sushi(files[0], "sushi3-2016/sushi3a.5000.10.order")


def read_sushi_b(files: list[Path]) -> Content:
    """Read 5,000 orders of ten out of a hundred sushi."""
    return _read_sushi(files[0], "sushi3-2016/sushi3b.5000.10.order")


def read_food_world_cup(files: list[Path]) -> Content:
    """Read the survey: one row a person, one column a cuisine, 1 to 5, N/A where it is not known."""
    with reading_inside(files[0]):
        wide = pl.read_csv(files[0], encoding="latin-1", infer_schema=False)
        # the file was made on an old Mac: 0xCA, here Ê, is a space
        found = {name: CUISINE.search(name.replace("Ê", " ").strip()) for name in wide.columns}
        named = {old: match[1] for old, match in found.items() if match}
        wide = wide.rename({wide.columns[0]: "user", **named})
        long = wide.unpivot(on=list(named.values()), index="user", variable_name="item", value_name="rating")
        ratings = long.filter(pl.col("rating").str.contains(r"^[1-5]$"))
        ratings = ratings.with_columns(pl.col("user", "rating").cast(pl.Int64))
    return ratings, pl.DataFrame({"item": list(named.values()), "title": list(named.values())}, _TITLES)


def read_polis(files: list[Path]) -> Content:
    """Read a conversation of pol.is: everybody's votes, and the statements."""
    votes, comments = files
    with reading_inside(votes):
        ratings = read_ratings(votes).select("user", "item", "rating")
    with reading_inside(comments):
        table = pl.read_csv(comments, infer_schema=False).select(item="comment-id", title="comment-body")
        titles = table.with_columns(pl.col("item").cast(pl.Int64))
    return ratings, titles.sort("item")


UNREADABLE = (zipfile.BadZipFile, LookupError, OSError, EOFError, ValueError, pl.exceptions.PolarsError)
_TITLES = {"item": pl.String, "title": pl.String}


@contextmanager
def reading_inside(file: Path) -> Iterator[None]:
    """Turn what goes wrong inside a file into a sentence."""
    try:
        yield
    except DataError:
        raise
    except UNREADABLE as error:
        raise DataError(f"{file.name} is not the file it should be: {reason_of(error)}.") from None


def _read_sushi(archive: Path, inside: str) -> Content:
    """Read orders, a line each: 0, how many, and so many items, best first; the first line counts items."""
    with reading_inside(archive):
        orders = [line.split()[2:] for line in _lines_inside(archive, inside)[1:]]
        ranks = [(user, int(item), rank) for user, order in enumerate(orders) for rank, item in enumerate(order, 1)]
        titles = _split_lines(_lines_inside(archive, "sushi3-2016/sushi3.idata"), "\t", ["item", "title"])
    rankings = pl.DataFrame(ranks, ["user", "item", "rank"], orient="row")
    return rankings, _titles(titles).filter(pl.col("item").is_in(rankings["item"].unique().implode()))


def _lines_inside(archive: Path, name: str) -> list[str]:
    with zipfile.ZipFile(archive) as opened:
        return [line for line in opened.read(name).decode("latin-1").splitlines() if line.strip()]


def _split_lines(lines: list[str], separator: str, names: list[str]) -> pl.DataFrame:
    """Give the first fields of every line, one column each."""
    fields = pl.Series(lines).str.split(separator).list.head(len(names))
    if (fields.list.len() < len(names)).any():
        raise ValueError(f"expected lines of {', '.join(names)} separated by {separator!r}")
    return fields.list.to_struct(fields=names).struct.unnest()


def _numbers(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.all().cast(pl.Int64))


def _titles(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("item").cast(pl.Int64)).sort("item")
