"""Camps are people: how many follow each ranking, how closely, and how much they said."""

from collections.abc import Sequence
from dataclasses import dataclass

from plurank.models.base import RankingModel
from plurank.models.consensus import HANDFUL
from plurank.report.privacy import (
    FEWER,
    FEWEST,
    say_people,
    show_count,
    show_parts,
)
from plurank.text import count, listing


@dataclass(frozen=True)
class Camp:
    """The people who follow one ranking most."""

    ranking: int  # counted from 1
    share: float  # mean weight of the ranking over all people
    people: int
    people_80: int  # of them, with a weight of 80% or more
    votes: int | None  # that they cast; None where unknown
    shown: str  # the number of people as the report states it
    shown_80: str

    @property
    def is_hidden(self) -> bool:
        """Whether the camp is too small to state its size."""
        return self.shown == FEWER

    @property
    def sentence(self) -> str:
        """Say how many people follow the ranking most, how many nearly alone, and how many votes they cast."""
        if not self.people:
            return "Nobody follows it most."
        told = f"{say_people(self.shown)} {_follow(self.shown)} it most"
        if not self.is_hidden:
            told += f", {'none' if not self.people_80 else self.shown_80} of them with a weight of 80% or more"
            told += "" if self.votes is None else f"; together they cast {count(self.votes, 'vote')}"
        return f"{told[0].upper()}{told[1:]}."

    @property
    def caution(self) -> str:
        """Warn of a ranking that is no group of people, or of a few; empty where it is a group."""
        if self.people < HANDFUL:
            return "This ranking rests on a handful of people; take it with caution."
        if self.people_80 < FEWEST:
            n = "Nobody follows" if not self.people_80 else "Hardly anybody follows"
            return f"{n} this ranking alone: read it as a direction of taste, not as a group of people."
        return ""


def _follow(shown: str) -> str:
    return "follows" if shown in ("0", "1") else "follow"


def camps_of(model: RankingModel, *, with_people: bool = False) -> list[Camp]:
    """Return the camp of every ranking; small numbers of people are shown only ``with_people``."""
    fewest = 1 if with_people else FEWEST
    rows = model.camps().to_dicts()
    shown = show_parts([row["people"] for row in rows], fewest)
    return [
        Camp(**row, shown=text, shown_80=show_count(row["people_80"], fewest))
        for row, text in zip(rows, shown, strict=True)
    ]


def describe_camps(camps: Sequence[Camp]) -> str:
    """Say in a sentence how many people follow each ranking most."""
    first, *rest = camps
    begin = f"{say_people(first.shown)} {_follow(first.shown)} ranking 1 most"
    told = listing([begin, *(f"{say_people(camp.shown)} ranking {camp.ranking}" for camp in rest)])
    return f"{told[0].upper()}{told[1:]}."
