"""Public data sets: ``plurank.datasets.fetch("sushi-a")``, and ``plurank.datasets.names()`` for the list.

They are downloaded from their own hosts; nothing of them is shipped.
"""

import hashlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import polars as pl

from plurank.choices import Pairs
from plurank.data.comparisons import Comparisons
from plurank.data.downloads import (
    Content,
    RemoteFile,
    check_kept,
    download,
    find_cache,
    read_food_world_cup,
    read_movielens_1m,
    read_movielens_100k,
    read_polis,
    read_sushi_a,
    read_sushi_b,
    remember,
)
from plurank.exceptions import DataError, ParameterError
from plurank.random import RandomState
from plurank.types import Progress, silent

__all__ = ["Dataset", "fetch", "names"]

# The public data sets: where they are, what they hold, whose they are, and how a copy is known to be right.
#
# A checksum is pinned where its publisher gives one (MovieLens). For the others the content is: ``digest`` is that
# of the values read from a copy of the file (see ``digest_of``).

GROUPLENS = "https://files.grouplens.org/datasets/movielens/"
POLIS = "https://raw.githubusercontent.com/compdemocracy/openData/master/vtaiwan.uberx/"
MOVIELENS_LICENCE = "research use; no redistribution without permission (files.grouplens.org)"
MOVIELENS_CITATION = (
    "F. Maxwell Harper and Joseph A. Konstan (2015): The MovieLens Datasets: History and Context. ACM Transactions on "
    "Interactive Intelligent Systems 5(4), article 19. doi:10.1145/2827872"
)
SUSHI_LICENCE = "any research purpose; no redistribution without permission (kamishima.net)"
SUSHI_CITATION = (
    "Toshihiro Kamishima (2003): Nantonac Collaborative Filtering: Recommendation Based on Order Responses. KDD."
)


@dataclass(frozen=True)
class Entry:
    """A public data set that can be fetched."""

    name: str
    about: str
    kind: Literal["ratings", "rankings"]
    n_users: int
    n_items: int
    n_values: int
    files: tuple[RemoteFile, ...]
    read: Callable[[list[Path]], Content]
    licence: str
    citation: str
    homepage: str
    digest: str | None = None
    pairs: Pairs = "full"


def digest_of(values: pl.DataFrame) -> str:
    """Return a checksum of rows, whatever their order: SHA-256 of them as sorted lines of CSV."""
    rows = values.select(pl.all().cast(pl.String)).sort(values.columns)
    return hashlib.sha256(rows.write_csv(include_header=False).encode()).hexdigest()


FOOD_CITATION = "FiveThirtyEight (2014): The FiveThirtyEight International Food Association's 2014 World Cup."
POLIS_CITATION = (
    "Data was gathered using the Polis software (compdemocracy.org/polis) and is sub-licensed under CC BY 4.0 with "
    "Attribution to The Computational Democracy Project."
)
SUSHI = (RemoteFile("https://www.kamishima.net/asset/sushi3-2016.zip", "sushi3-2016.zip"),)
_ALL = (
    Entry(
        "movielens-100k", "stars for movies", "ratings", 943, 1682, 100_000,
        (RemoteFile(GROUPLENS + "ml-100k.zip", "ml-100k.zip", "md5:0e33842e24a9c977be4e0107933c0723"),),
        read_movielens_100k, MOVIELENS_LICENCE, MOVIELENS_CITATION,
        "https://grouplens.org/datasets/movielens/100k/",
    ),
    Entry(
        "movielens-1m", "stars for movies", "ratings", 6040, 3706, 1_000_209,
        (RemoteFile(GROUPLENS + "ml-1m.zip", "ml-1m.zip", "md5:c4d9eecfca2ab87c1945afe126590906"),),
        read_movielens_1m, MOVIELENS_LICENCE, MOVIELENS_CITATION,
        "https://grouplens.org/datasets/movielens/1m/", pairs="partial",
    ),
    Entry(
        "sushi-a", "orders of the same ten sushi", "rankings", 5000, 10, 50_000, SUSHI, read_sushi_a,
        SUSHI_LICENCE, SUSHI_CITATION, "https://www.kamishima.net/sushi/",
        "d44da733cbd73a1b6a289da7b8ec23b9ef7ec4108f552aab5bfac902b4a9d765",
    ),
    Entry(
        "sushi-b", "orders of ten out of a hundred sushi", "rankings", 5000, 100, 50_000, SUSHI,
        read_sushi_b, SUSHI_LICENCE, SUSHI_CITATION, "https://www.kamishima.net/sushi/",
        "c856b852667a325baf0ecdb9faaddfc6dc22561f7d3353cfc5048d309d27cdb8",
    ),
    Entry(
        "food-world-cup", "1 to 5 for the cuisines of 40 countries", "ratings", 1276, 40, 23_943,
        (RemoteFile(
            "https://raw.githubusercontent.com/fivethirtyeight/data/master/food-world-cup/food-world-cup-data.csv",
            "food-world-cup-data.csv",
        ),),
        read_food_world_cup, "CC BY 4.0", FOOD_CITATION,
        "https://github.com/fivethirtyeight/data/tree/master/food-world-cup",
        "788a3b3542565256dd0bcc5348e9c1f81d8c6549bc6a6eec65a888b32e4f8480",
    ),
    Entry(
        "vtaiwan", "agree, pass or disagree with 197 statements on UberX", "ratings", 1921, 197, 49_443,
        (
            RemoteFile(POLIS + "participants-votes.csv", "vtaiwan-participants-votes.csv"),
            RemoteFile(POLIS + "comments.csv", "vtaiwan-comments.csv"),
        ),
        read_polis, "CC BY 4.0", POLIS_CITATION, "https://github.com/compdemocracy/openData",
        "4aacc9e068c91fb88bf4abbba774bf4909c3a967eda470c3f7012265c5d22a17",
    ),
)  # fmt: skip
ENTRIES = {entry.name: entry for entry in _ALL}


@dataclass(frozen=True)
class Dataset:
    """A public data set, made by ``fetch``.

    Attributes
    ----------
    name : str
        Its name in ``names()``.
    kind : {"ratings", "rankings"}
        What the values are.
    comparisons : Comparisons
        Made from the values.
    values : polars.DataFrame
        Columns user, item and rating or rank, as ``kind`` says.
    titles : polars.DataFrame
        Columns item and title.
    licence, citation, homepage : str
        Terms of use, what to cite, and where the data come from.
    """

    name: str
    kind: Literal["ratings", "rankings"]
    comparisons: Comparisons
    values: pl.DataFrame = field(repr=False)
    titles: pl.DataFrame = field(repr=False)
    licence: str
    citation: str
    homepage: str


def names() -> pl.DataFrame:
    """List the data sets that ``fetch`` knows.

    Returns
    -------
    polars.DataFrame
        Columns name, about, kind, users, items, values, licence, homepage; one row per data set.

    Examples
    --------
    >>> from plurank import datasets
    >>> datasets.names()["name"].to_list()
    ['movielens-100k', 'movielens-1m', 'sushi-a', 'sushi-b', 'food-world-cup', 'vtaiwan']
    """
    rows = [
        {"name": s.name, "about": s.about, "kind": s.kind, "users": s.n_users, "items": s.n_items,
         "values": s.n_values, "licence": s.licence, "homepage": s.homepage}
        for s in ENTRIES.values()
    ]  # fmt: skip
    return pl.DataFrame(rows)


def fetch(
    name: str,
    folder: str | os.PathLike[str] | None = None,
    *,
    titles: bool = False,
    pairs: Pairs | None = None,
    random_state: RandomState = 0,
    mirror: str | None = None,
    on_progress: Progress = silent,
) -> Dataset:
    """Return a public data set; it is downloaded from its own host once and checked at every use.

    Before the first download, its licence and what to cite are printed on stderr.

    Parameters
    ----------
    name : str
        One of ``names()["name"]``.
    folder : str, path or None, default=None
        Where files are stored; None uses the folder in the environment variable PLURANK_DATA, or the user's cache.
    titles : bool, default=False
        Whether to label items by their titles instead of their numbers.
    pairs : {"full", "partial"} or None, default=None
        Of ratings, whether to compare all pairs or a sample; None takes a sample of movielens-1m, and all pairs
        elsewhere.
    random_state : int, numpy.random.Generator or None, default=0
        Seed of sampled pairs.
    mirror : str or None, default=None
        Address of a folder that holds the same files, if their own hosts cannot be reached.
    on_progress : callable, default=silent
        Called with the name of a stage and the share of it that is done.

    Returns
    -------
    Dataset
        The values, titles and comparisons.

    Raises
    ------
    DataError
        If a file cannot be downloaded, or is not the one expected.
    ParameterError
        If there is no data set of this name.
    MissingExtraError
        If ``pooch`` is not installed: ``pip install 'plurank[datasets]'``.
    """
    entry = _find_entry(name)
    cache = find_cache(folder)
    on_progress(f"fetching {name}", 0.0)
    fresh = [path for file in entry.files if (path := _make_available(entry, file, cache, mirror))]
    values, labels = _read_checked(entry, cache, fresh)
    on_progress(f"comparing the {entry.kind} of {name}", 0.5)
    if titles:
        values = _call_by_title(values, labels)
    made = _compare_values(entry, values, pairs or entry.pairs, random_state)
    on_progress(name, 1.0)
    return Dataset(name, entry.kind, made, values, labels, entry.licence, entry.citation, entry.homepage)


def _find_entry(name: str) -> Entry:
    if name not in ENTRIES:
        raise ParameterError(
            f"there is no data set {name!r:.80}.", parameter="name", hint=f"Expected one of {', '.join(ENTRIES)}."
        )
    return ENTRIES[name]


def _make_available(entry: Entry, file: RemoteFile, cache: Path, mirror: str | None) -> Path | None:
    """Check a file that is there; fetch one that is not, and return its path."""
    path = cache / file.name
    if path.is_file():
        check_kept(file, path)
        return None
    if file == entry.files[0]:
        print(f"{entry.name}: {entry.licence}. Please cite: {entry.citation}", file=sys.stderr)
    return download(file, cache, mirror)


def _read_checked(entry: Entry, cache: Path, fresh: list[Path]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read a set and check that it is the one known; what has just been fetched and is not, is removed."""
    try:
        values, labels = entry.read([cache / file.name for file in entry.files])
        _check_content(entry, values)
    except DataError as error:
        for path in fresh:
            path.unlink(missing_ok=True)
        what = "It was removed; try again later" if fresh else f"Remove it from {cache} to fetch it again"
        raise DataError(f"{entry.name}: {error} {what}, or see {entry.homepage}.") from None
    for file in entry.files:
        remember(file, cache / file.name)
    return values, labels


def _check_content(entry: Entry, values: pl.DataFrame) -> None:
    found = (values["user"].n_unique(), values["item"].n_unique(), len(values))
    expected = (entry.n_users, entry.n_items, entry.n_values)
    if found != expected:
        raise DataError(
            f"expected {expected[2]:,} {entry.kind} by {expected[0]:,} people of {expected[1]:,} items, found "
            f"{found[2]:,} by {found[0]:,} of {found[1]:,}."
        )
    if entry.digest and digest_of(values) != entry.digest:
        raise DataError(f"the number of {entry.kind} is right, but some of them differ from those known.")


def _call_by_title(values: pl.DataFrame, titles: pl.DataFrame) -> pl.DataFrame:
    """Put titles for items; where two items share one, the number follows in brackets."""
    repeated = titles["title"].is_duplicated()
    numbered = pl.format("{} [{}]", "title", "item")
    names = titles.with_columns(title=pl.when(repeated).then(numbered).otherwise("title"))
    joined = values.join(names, on="item", how="left", maintain_order="left")
    return joined.with_columns(item=pl.coalesce("title", pl.col("item").cast(pl.String))).select(values.columns)


def _compare_values(entry: Entry, values: pl.DataFrame, pairs: Pairs, random_state: RandomState) -> Comparisons:
    if entry.kind == "rankings":
        return Comparisons.from_rankings(values, random_state=random_state)
    return Comparisons.from_ratings(values, pairs, random_state=random_state)
