"""One case of the match: what a method may see, what it is asked, and the answers, which only the scorer reads.

Every environment reads cases, so this file needs nothing but polars.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]
# from comparisons of new users (user, winner, loser) and questions (user, left, right) to log odds of left
Predict = Callable[[pl.DataFrame, pl.DataFrame], Floats]


@dataclass(frozen=True)
class Train:
    """What a method learns from. Users and items are numbers below ``n_users`` and ``n_items``.

    ``pairs`` (user, winner, loser) is for everybody; ``ratings`` (user, item, rating, higher is better) for star
    methods alone, and None where people compared items without rating them.
    """

    n_users: int
    n_items: int
    pairs: pl.DataFrame
    ratings: pl.DataFrame | None = None


@dataclass(frozen=True)
class Case:
    """Training data, questions (user, left, right), and what new users were asked before (user, winner, loser, nth).

    ``given`` says how many of those comparisons a method sees: 0 alone where everybody is known.
    """

    train: Train
    asked: pl.DataFrame
    questions: pl.DataFrame
    given: tuple[int, ...]

    def asked_first(self, n: int) -> pl.DataFrame:
        """Give the first n comparisons of every new user."""
        return self.asked.filter(pl.col("nth") < n).drop("nth")


def write_case(folder: Path, case: Case, answers: NDArray[np.bool_], about: dict[str, Any]) -> None:
    """Write a case, its answers in a file of their own, and what it is about."""
    folder.mkdir(parents=True, exist_ok=True)
    case.train.pairs.write_parquet(folder / "train.parquet")
    if case.train.ratings is not None:
        case.train.ratings.write_parquet(folder / "ratings.parquet")
    case.asked.write_parquet(folder / "asked.parquet")
    case.questions.write_parquet(folder / "questions.parquet")
    pl.DataFrame({"left_preferred": answers}).write_parquet(folder / "answers.parquet")
    sizes = {"n_users": case.train.n_users, "n_items": case.train.n_items, "given": list(case.given)}
    (folder / "case.json").write_text(json.dumps({**about, **sizes}))


def read_case(folder: Path, stars: bool = True) -> Case:
    """Read a case, without its answers; without ``stars`` the ratings stay hidden."""
    about = read_about(folder)
    pairs, asked, questions = (pl.read_parquet(folder / f"{part}.parquet") for part in ("train", "asked", "questions"))
    train = Train(about["n_users"], about["n_items"], pairs)
    if stars and (folder / "ratings.parquet").exists():
        train = replace(train, ratings=pl.read_parquet(folder / "ratings.parquet"))
    return Case(train, asked, questions, tuple(about["given"]))


def read_answers(folder: Path) -> NDArray[np.bool_]:
    """Tell for every question whether the left item was preferred, (n,)."""
    return pl.read_parquet(folder / "answers.parquet")["left_preferred"].to_numpy()


def read_about(folder: Path) -> dict[str, Any]:
    """Read what a case is about: set, task, seed, sizes."""
    about: dict[str, Any] = json.loads((folder / "case.json").read_text())
    return about
