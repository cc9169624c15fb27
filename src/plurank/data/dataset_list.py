"""The public data sets: where they are, what they hold, whose they are, and how a copy is known to be right.

A checksum is pinned where its publisher gives one (MovieLens). Of the others the content is: ``digest`` is that
of the values read from a copy of the file (see ``digest_of``).
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from plurank.choices import Pairs
from plurank.data import dataset_files

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
class RemoteFile:
    """A file of a data set: its address, its name in the cache, and its published checksum if there is one."""

    url: str
    name: str
    checksum: str | None = None  # as in "md5:0e33..."


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
    read: Callable[[list[Path]], dataset_files.Content]
    licence: str
    citation: str
    homepage: str
    digest: str | None = None
    pairs: Pairs = "full"


def digest_of(values: pl.DataFrame) -> str:
    """Give a checksum of rows, whatever their order: SHA-256 of them as sorted lines of CSV."""
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
        dataset_files.read_movielens_100k, MOVIELENS_LICENCE, MOVIELENS_CITATION,
        "https://grouplens.org/datasets/movielens/100k/",
    ),
    Entry(
        "movielens-1m", "stars for movies", "ratings", 6040, 3706, 1_000_209,
        (RemoteFile(GROUPLENS + "ml-1m.zip", "ml-1m.zip", "md5:c4d9eecfca2ab87c1945afe126590906"),),
        dataset_files.read_movielens_1m, MOVIELENS_LICENCE, MOVIELENS_CITATION,
        "https://grouplens.org/datasets/movielens/1m/", pairs="partial",
    ),
    Entry(
        "sushi-a", "orders of the same ten sushi", "rankings", 5000, 10, 50_000, SUSHI, dataset_files.read_sushi_a,
        SUSHI_LICENCE, SUSHI_CITATION, "https://www.kamishima.net/sushi/",
        "d44da733cbd73a1b6a289da7b8ec23b9ef7ec4108f552aab5bfac902b4a9d765",
    ),
    Entry(
        "sushi-b", "orders of ten out of a hundred sushi", "rankings", 5000, 100, 50_000, SUSHI,
        dataset_files.read_sushi_b, SUSHI_LICENCE, SUSHI_CITATION, "https://www.kamishima.net/sushi/",
        "c856b852667a325baf0ecdb9faaddfc6dc22561f7d3353cfc5048d309d27cdb8",
    ),
    Entry(
        "food-world-cup", "1 to 5 for the cuisines of 40 countries", "ratings", 1276, 40, 23_943,
        (RemoteFile(
            "https://raw.githubusercontent.com/fivethirtyeight/data/master/food-world-cup/food-world-cup-data.csv",
            "food-world-cup-data.csv",
        ),),
        dataset_files.read_food_world_cup, "CC BY 4.0", FOOD_CITATION,
        "https://github.com/fivethirtyeight/data/tree/master/food-world-cup",
        "788a3b3542565256dd0bcc5348e9c1f81d8c6549bc6a6eec65a888b32e4f8480",
    ),
    Entry(
        "vtaiwan", "agree, pass or disagree with 197 statements on UberX", "ratings", 1921, 197, 49_443,
        (
            RemoteFile(POLIS + "participants-votes.csv", "vtaiwan-participants-votes.csv"),
            RemoteFile(POLIS + "comments.csv", "vtaiwan-comments.csv"),
        ),
        dataset_files.read_polis, "CC BY 4.0", POLIS_CITATION, "https://github.com/compdemocracy/openData",
        "4aacc9e068c91fb88bf4abbba774bf4909c3a967eda470c3f7012265c5d22a17",
    ),
)  # fmt: skip
ENTRIES = {entry.name: entry for entry in _ALL}
