"""Files of public data sets: downloaded once, whole or not at all, checked at every use, and read into frames.

A published checksum is checked after the download and at every use. Where none is published, the file's own is written
beside it (``FILE.sha256``) once its content has been found right, and checked from then on.
"""

import hashlib
import logging
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from plurank.data.formats import read_ratings
from plurank.exceptions import DataError, extra
from plurank.io import write_beside
from plurank.text import reason_of

TIMEOUT = 60  # seconds without an answer


@dataclass(frozen=True)
class RemoteFile:
    """A file of a data set: its address, its name in the cache, and its published checksum if there is one."""

    url: str
    name: str
    checksum: str | None = None  # as in "md5:0e33..."


def find_cache(folder: str | os.PathLike[str] | None) -> Path:
    """Return the folder for data sets: the one given, PLURANK_DATA, or the user's cache; made if missing."""
    cache = Path(folder or os.environ.get("PLURANK_DATA") or _import_pooch().os_cache("plurank")).expanduser()
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{cache}: no folder for data sets could be made there ({error.strerror}).") from None
    return cache


def download(file: RemoteFile, cache: Path, mirror: str | None) -> Path:
    """Fetch a file into the cache; it appears there whole, with the published checksum, or not at all."""
    pooch = _import_pooch()
    import requests

    url = f"{mirror.rstrip('/')}/{file.name}" if mirror else file.url
    by_hand = f"Or download it by hand from {url} and put it there as {cache / file.name}."
    downloader = pooch.HTTPDownloader(progressbar=False, timeout=TIMEOUT)
    pooch.get_logger().setLevel(logging.WARNING)
    try:
        pooch.retrieve(url, file.checksum, fname=file.name, path=cache, downloader=downloader)
    except requests.HTTPError as error:
        status = "with an error"
        if error.response is not None:
            status = str(error.response.status_code)
            error.response.close()
        raise DataError(f"{url} could not be fetched: its host answered {status}. Try later. {by_hand}") from None
    except requests.RequestException as error:
        reason = "no answer in time" if isinstance(error, requests.Timeout) else "no connection, or it broke"
        raise DataError(f"{url} could not be fetched: {reason}. Try again. {by_hand}") from None
    except ValueError:  # of pooch: another checksum
        wrong = f"what {url} gave does not have the published checksum ({file.checksum}), and was removed"
        raise DataError(f"{wrong}. Try again. {by_hand}") from None
    except OSError as error:
        raise DataError(f"{cache / file.name} could not be written: {error.strerror or error}.") from None
    return cache / file.name


def _import_pooch() -> Any:
    with extra("datasets", "fetching a data set"):
        import pooch
    return pooch


def check_kept(file: RemoteFile, path: Path) -> None:
    """Raise an error for a cached file that is not what was published, or not what it was at first."""
    record = _record_of(path)
    expected = file.checksum or (f"sha256:{record.read_text().split()[0]}" if record.is_file() else None)
    if expected and hash_file(path, expected.partition(":")[0]) != expected.partition(":")[2]:
        what = "it does not have the published checksum" if file.checksum else "it has changed since it was fetched"
        raise DataError(f"{path}: {what}. Remove it (and {record.name}, if there is one) to fetch it again.")


def remember(file: RemoteFile, path: Path) -> None:
    """Write the checksum of a file without a published one beside it, as ``sha256sum`` would."""
    if file.checksum is None and not _record_of(path).is_file():
        with write_beside(_record_of(path)) as beside:
            beside.write_text(f"{hash_file(path, 'sha256')}  {path.name}\n")


def hash_file(path: Path, algorithm: str) -> str:
    """Return the checksum of a file, in hexadecimal digits."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, algorithm).hexdigest()


def _record_of(path: Path) -> Path:
    return path.with_name(path.name + ".sha256")


# What the files of the public data sets look like inside, and how they become frames.
#
# Each reader takes the files of a set, in the order of its entry in ``plurank.datasets``, and returns the values
# (user, item, rating or rank) and the titles (item, title).

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
    """Read the survey: one row per person, one column a cuisine, 1 to 5, N/A where it is not known."""
    with reading_inside(files[0]):
        wide = pl.read_csv(files[0], glob=False, encoding="latin-1", infer_schema=False)
        # the file was made on an old Mac: 0xCA, here Ê, is a space
        found = {name: CUISINE.search(name.replace("Ê", " ").strip()) for name in wide.columns}
        named = {old: match[1] for old, match in found.items() if match}
        wide = wide.rename({wide.columns[0]: "user", **named})
        long = wide.unpivot(on=list(named.values()), index="user", variable_name="item", value_name="rating")
        ratings = long.filter(pl.col("rating").str.contains(r"^[1-5]$"))
        ratings = ratings.with_columns(pl.col("user", "rating").cast(pl.Int64))
    return ratings, pl.DataFrame({"item": list(named.values()), "title": list(named.values())}, _TITLES)


def read_polis(files: list[Path]) -> Content:
    """Read a conversation of pol.is: all votes, and the statements."""
    votes, comments = files
    with reading_inside(votes):
        ratings = read_ratings(votes).select("user", "item", "rating")
    with reading_inside(comments):
        table = pl.read_csv(comments, glob=False, infer_schema=False).select(item="comment-id", title="comment-body")
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
    """Return the first fields of every line, one column each."""
    fields = pl.Series(lines).str.split(separator).list.head(len(names))
    if (fields.list.len() < len(names)).any():
        raise ValueError(f"expected lines of {', '.join(names)} separated by {separator!r}")
    return fields.list.to_struct(fields=names).struct.unnest()


def _numbers(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.all().cast(pl.Int64))


def _titles(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("item").cast(pl.Int64)).sort("item")
