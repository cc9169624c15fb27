"""The data sets of the match, read from a folder, and a simulated one that needs none."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

import plurank

TOP_MOVIES = 100


@dataclass(frozen=True)
class People:
    """Everything known about a population, users and items as numbers.

    ``pairs`` (user, winner, loser), or ``ratings`` (user, item, rating; higher is better) where pairs are made from
    them; the other is None. ``ranked``: ratings are places, which mean something among each other only.
    """

    n_users: int
    n_items: int
    pairs: pl.DataFrame | None = None
    ratings: pl.DataFrame | None = None
    ranked: bool = False


def number(frame: pl.DataFrame, most_users: int | None = None) -> People:
    """Number users and items, and keep at most some users, the same ones for every seed."""
    sides = ["winner", "loser"] if "winner" in frame.columns else ["item"]
    users = frame["user"].unique().sort()
    if most_users is not None and most_users < len(users):
        users = users.sample(most_users, seed=0).sort()
        frame = frame.filter(pl.col("user").is_in(users.implode()))
    items = pl.concat([frame[side] for side in sides]).unique().sort()
    numbered = frame.with_columns(_codes("user", users), *(_codes(side, items) for side in sides))
    if sides == ["item"]:
        ranked = "rank" in frame.columns
        stars = -pl.col("rank") if ranked else pl.col("rating")
        ratings = numbered.select("user", "item", rating=stars.cast(pl.Float64))
        return People(len(users), len(items), ratings=ratings, ranked=ranked)
    return People(len(users), len(items), pairs=numbered)


def _codes(column: str, labels: pl.Series) -> pl.Expr:
    return pl.col(column).replace_strict(labels, pl.int_range(len(labels), eager=True), return_dtype=pl.Int32)


def plain(file: str) -> Callable[[Path], pl.DataFrame]:
    return lambda folder: pl.read_csv(folder / file)


def top_movies(folder: Path) -> pl.DataFrame:
    ratings = pl.concat([pl.read_csv(folder / f"ml1m/{part}.csv.gz") for part in ("train", "probe")])
    most = ratings["item"].value_counts().sort("count", "item", descending=[True, False])["item"].head(TOP_MOVIES)
    return ratings.filter(pl.col("item").is_in(most.implode()))


def wiki(name: str) -> Callable[[Path], pl.DataFrame]:
    """Sessions of a wiki survey; votes of the experts alone are in the file twice, the other time with friends."""

    def read(folder: Path) -> pl.DataFrame:
        votes = pl.read_csv(folder / f"wiki-surveys/{name}_votes.csv.gz").filter(pl.col("crowd") != "experts")
        return votes.select("winner", "loser", user="session")

    return read


def judged(folder: Path) -> pl.DataFrame:
    """Language models as people judged them, without ties: a question needs an answer."""
    votes = pl.read_csv(folder / "llmfao/comparisons.csv.gz").filter(pl.col("winner") != "tie")
    won = pl.col("winner") == "left"
    sides = [pl.when(won).then(pl.col(a)).otherwise(pl.col(b)) for a, b in (("left", "right"), ("right", "left"))]
    return votes.select(winner=sides[0], loser=sides[1], user="worker")


def simulated(_: Path | None) -> pl.DataFrame:
    """People who mix three rankings, each comparison made by one of them; needs no data."""
    leads = 1.0 / (1.0 + np.exp(-8.0 * np.arange(1, 15) / 14.0))
    return plurank.simulate(200, 15, 3, 60, 1.0, 0, lead_probabilities=leads).comparisons.to_frame()


SETS: dict[str, Callable[[Path], pl.DataFrame]] = {
    "cars 1": plain("cars/exp1_comparisons.csv.gz"),
    "cars 2": plain("cars/exp2_comparisons.csv.gz"),
    "sushi A": plain("sushi/setA_rankings.csv.gz"),
    "food-world-cup": plain("food-world-cup/ratings.csv.gz"),
    "vtaiwan": plain("vtaiwan/ratings.csv.gz"),
    "bowling-green": plain("bowling-green/ratings.csv.gz"),
    "sushi B": plain("sushi/setB_rankings.csv.gz"),
    "MovieLens-1M top 100": top_movies,
    "wiki gpa": wiki("gpa"),
    "wiki grit": wiki("grit"),
    "wiki eviction": wiki("eviction"),
    "llmfao": judged,
}
SMALL = ("cars 1", "cars 2", "sushi A", "food-world-cup")
SIMULATED = "simulated"


def read_people(name: str, folder: Path | None, most_users: int | None) -> People:
    """Read one set; the simulated one needs no folder."""
    if name == SIMULATED:
        return number(simulated(None), most_users)
    if folder is None:
        raise SystemExit(f"set {name!r} needs data: say --data FOLDER, or leave --sets out for the simulated set.")
    return number(SETS[name](folder), most_users)
