"""Cut a set into training data and questions, one way for each task; the same cut of training data makes validation.

new pairs   known users, 20 % of the comparisons held out. Only where people compared items themselves: pairs made
            from ratings follow from a person's other pairs by transitivity.
new items   known users, 25 % of each person's items held out before pairs are formed; asked are pairs of two such
            items. Only where people rated or ranked.
new users   20 % of the users held out, asked 5, 10 and then 20 comparisons; what else they compared is predicted,
            the same questions after 5, 10 and 20.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

import plurank
from benchmarks.peers.case import Case, Train, write_case
from benchmarks.peers.sets import People

Task = Literal["new pairs", "new items", "new users"]
TASKS: tuple[Task, ...] = get_args(Task)
SHARES = {"new pairs": 0.2, "new items": 0.25, "new users": 0.2}
GIVEN = (5, 10, 20)
MOST_QUESTIONS = 100  # a user
REPEAT_BELOW, MOST_REPEATS = 20_000, 5  # small data have several validation cases, or slopes would be noise


@dataclass(frozen=True)
class Cut:
    """People to learn from, comparisons (user, winner, loser) of others to be told, and comparisons to predict."""

    known: People
    asked: pl.DataFrame
    test: pl.DataFrame


def tasks_of(people: People) -> tuple[Task, ...]:
    """Tell the tasks that are honest for a set."""
    return ("new pairs" if people.ratings is None else "new items", "new users")


def prepare(folder: Path, people: People, task: Task, seed: int, most_pairs: int, about: dict[str, Any]) -> None:
    """Write one case, and inside its folder the validation cases that are cut from its training data."""
    rng = np.random.default_rng(seed)
    outer = cut(people, task, rng)
    n_repeats = int(np.clip(REPEAT_BELOW // len(_pairs_of(outer.known)), 1, MOST_REPEATS))
    inner = [(folder / "validation" / str(n), cut(outer.known, task, rng)) for n in range(n_repeats)]
    for where, part in [*inner, (folder, outer)]:
        case, answers = ask(part, task, most_pairs, rng)
        write_case(where, case, answers, {"task": task, "seed": seed, "most_pairs": most_pairs, **about})


def cut(people: People, task: Task, rng: np.random.Generator) -> Cut:
    """Hold out comparisons, items or users."""
    if task == "new users":
        return _cut_users(people, rng)
    kept, held_out = _cut_rows(people, SHARES[task], rng)
    return Cut(kept, _nothing(), _pairs_of(held_out))


def _cut_rows(people: People, share: float, rng: np.random.Generator) -> tuple[People, People]:
    """Hold out rows: of ratings each is an item of a user, of pairs a comparison."""
    rows = _rows(people)
    held_out = pl.Series(rng.random(len(rows)) < share)
    return _with_rows(people, rows.filter(~held_out)), _with_rows(people, rows.filter(held_out))


def _cut_users(people: People, rng: np.random.Generator) -> Cut:
    """Hold out users who compared enough to be asked and still have something to predict."""
    pairs = _shuffle(_pairs_of(people), rng).with_columns(nth=_nth())
    enough = pairs.group_by("user").len().filter(pl.col("len") > max(GIVEN))["user"].sort()
    new = enough.sample(round(SHARES["new users"] * len(enough)), seed=_seed(rng))
    theirs = pairs.filter(pl.col("user").is_in(new.implode()))
    known = _with_rows(people, _rows(people).filter(~pl.col("user").is_in(new.implode())))
    asked, test = theirs.filter(pl.col("nth") < max(GIVEN)), theirs.filter(pl.col("nth") >= max(GIVEN))
    return Cut(known, asked, test.drop("nth"))


def ask(part: Cut, task: Task, most_pairs: int, rng: np.random.Generator) -> tuple[Case, NDArray[np.bool_]]:
    """Turn comparisons to predict into questions, with sides by a coin, and give the answers beside."""
    test = _at_most(part.test, MOST_QUESTIONS, rng).sort("user", maintain_order=True)
    answers = rng.random(len(test)) < 0.5
    sides = [pl.when(pl.Series(answers)).then(pl.col(a)).otherwise(pl.col(b)) for a, b in (SIDES, SIDES[::-1])]
    questions = test.select("user", left=sides[0], right=sides[1])
    pairs = _at_most(_pairs_of(part.known), most_pairs, rng).sort("user", maintain_order=True)
    train = Train(part.known.n_users, part.known.n_items, pairs, _stars_of(part.known))
    asked = part.asked.sort("user", "nth")
    return Case(train, asked, questions, GIVEN if task == "new users" else (0,)), answers


SIDES = ("winner", "loser")


def _rows(people: People) -> pl.DataFrame:
    rows = people.pairs if people.ratings is None else people.ratings
    assert rows is not None
    return rows


def _with_rows(people: People, rows: pl.DataFrame) -> People:
    which = "pairs" if people.ratings is None else "ratings"
    return replace(people, **{which: rows})


def _pairs_of(people: People) -> pl.DataFrame:
    """Give comparisons (user, winner, loser): as they are, or of any two items a user rated differently."""
    if people.ratings is None:
        return _rows(people).select("user", *SIDES)
    return plurank.Comparisons.from_ratings(people.ratings).to_frame().cast(pl.Int32)


def _stars_of(people: People) -> pl.DataFrame | None:
    """Give ratings as star methods may see them: places among the items left tell of no others."""
    if people.ratings is None or not people.ranked:
        return people.ratings
    return people.ratings.with_columns(rating=pl.col("rating").rank().over("user"))


def _at_most(frame: pl.DataFrame, most: int, rng: np.random.Generator) -> pl.DataFrame:
    """Keep at most some rows of every user, drawn at random."""
    return _shuffle(frame, rng).filter(_nth() < most)


def _shuffle(frame: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    return frame.sample(fraction=1.0, shuffle=True, seed=_seed(rng))


def _nth() -> pl.Expr:
    return pl.int_range(pl.len(), dtype=pl.Int32).over("user")


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def _nothing() -> pl.DataFrame:
    return pl.DataFrame(schema={"user": pl.Int32, "winner": pl.Int32, "loser": pl.Int32, "nth": pl.Int32})
