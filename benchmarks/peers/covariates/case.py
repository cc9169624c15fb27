"""One case on disk: pairs to learn from, what is known about users or items, and questions.

train.parquet       user, winner, loser
table.parquet       user, or item, and what is known about it: numbers, or text
asked.parquet       user, winner, loser, place (0 is the first vote), of users who are new
questions.parquet   user, left, right
answers.parquet     left_won; only of the case inside the training data, by which a method chooses
about.json          n_items, votes
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Case(NamedTuple):
    """What a method sees; items are numbers from 0."""

    train: pl.DataFrame
    table: pl.DataFrame
    asked: pl.DataFrame
    questions: pl.DataFrame
    about: dict[str, Any]


def read_case(folder: Path) -> Case:
    """Read a case that ``write_case`` has written."""
    tables = (pl.read_parquet(folder / f"{name}.parquet") for name in Case._fields[:-1])
    return Case(*tables, about=json.loads((folder / "about.json").read_text()))


def write_case(folder: Path, case: Case, answers: NDArray[np.bool_] | None = None) -> None:
    """Write a case and, where a method chooses by it, the answers."""
    folder.mkdir(parents=True)
    for name in Case._fields[:-1]:
        getattr(case, name).write_parquet(folder / f"{name}.parquet")
    (folder / "about.json").write_text(json.dumps(case.about))
    if answers is not None:
        pl.DataFrame({"left_won": answers}).write_parquet(folder / "answers.parquet")


def read_answers(folder: Path) -> NDArray[np.bool_]:
    """Whether left won, (n,)."""
    return pl.read_parquet(folder / "answers.parquet")["left_won"].to_numpy()
