"""Public data sets, fetched from their own hosts, checked, and kept in a cache. Nothing of them is shipped."""

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import polars as pl

from plurank.choices import Pairs
from plurank.data import downloads
from plurank.data.comparisons import Comparisons
from plurank.data.dataset_list import ENTRIES, Entry, RemoteFile, digest_of
from plurank.exceptions import DataError, ParameterError
from plurank.progress import Progress, silent
from plurank.rng import RandomState


@dataclass(frozen=True)
class Dataset:
    """A public data set.

    ``values`` has columns user, item and rating or rank, as ``kind`` says; ``titles`` has item and title;
    ``comparisons`` are made from the values.
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
    """List the data sets that :func:`fetch` knows: name, what it is, size, licence and homepage."""
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
    """Give a public data set; the first time it is downloaded from its own host, and its licence is shown.

    folder: where files are kept; by default PLURANK_DATA, or else the user's cache. titles: call items by their
    titles instead of their numbers. pairs: of ratings, compare all (``full``) or some (``partial``); by default
    all, of movielens-1m some. mirror: the address of a folder that holds the same files, if their own hosts
    cannot be reached.
    """
    entry = _find(name)
    cache = downloads.find_cache(folder)
    on_progress(f"fetching {name}", 0.0)
    fresh = [path for file in entry.files if (path := _make_available(entry, file, cache, mirror))]
    values, labels = _read_checked(entry, cache, fresh)
    on_progress(f"comparing the {entry.kind} of {name}", 0.5)
    if titles:
        values = _call_by_title(values, labels)
    made = _compare(entry, values, pairs or entry.pairs, random_state)
    on_progress(name, 1.0)
    return Dataset(name, entry.kind, made, values, labels, entry.licence, entry.citation, entry.homepage)


def _find(name: str) -> Entry:
    if name not in ENTRIES:
        raise ParameterError(f"there is no data set {name!r}. Expected one of {', '.join(ENTRIES)}.")
    return ENTRIES[name]


def _make_available(entry: Entry, file: RemoteFile, cache: Path, mirror: str | None) -> Path | None:
    """Check a file that is there; fetch one that is not, and give its path."""
    path = cache / file.name
    if path.is_file():
        downloads.check_kept(file, path)
        return None
    if file == entry.files[0]:
        print(f"{entry.name}: {entry.licence}. Please cite: {entry.citation}", file=sys.stderr)
    return downloads.download(file, cache, mirror)


def _read_checked(entry: Entry, cache: Path, fresh: list[Path]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read a set and check that it is the one known; what has just been fetched and is not, is removed."""
    try:
        values, labels = entry.read([cache / file.name for file in entry.files])
        _check_content(entry, values)
    except DataError as error:
        for path in fresh:
            path.unlink(missing_ok=True)
        what = "It was not kept; try again later" if fresh else f"Remove it from {cache} to fetch it again"
        raise DataError(f"{entry.name}: {error} {what}, or see {entry.homepage}.") from None
    for file in entry.files:
        downloads.remember(file, cache / file.name)
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


def _compare(entry: Entry, values: pl.DataFrame, pairs: Pairs, random_state: RandomState) -> Comparisons:
    if entry.kind == "rankings":
        return Comparisons.from_rankings(values, random_state=random_state)
    return Comparisons.from_ratings(values, pairs, random_state=random_state)
