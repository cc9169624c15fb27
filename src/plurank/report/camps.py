"""Camps: how many people follow each ranking, how closely, and how much they said; no count gives anybody away."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from plurank.models.base import RankingModel
from plurank.models.consensus import HANDFUL
from plurank.text import count, listing

FEWEST = 5  # people in a group whose size is stated
FEWER = f"fewer than {FEWEST}"


def is_few(n: int, fewest: int = FEWEST) -> bool:
    """Check whether so few people are behind a count that it could tell who they are."""
    return 0 < n < fewest


def show_count(n: int, fewest: int = FEWEST) -> str:
    """Show how many people; a few are "fewer than 5", but nobody is 0."""
    return FEWER if is_few(n, fewest) else f"{n:,}"


def show_rounded(n: int) -> int | str:
    """Show about how many people, so that no total less the others states a small group."""
    return n if n == 0 else FEWER if is_few(n) else f"about {FEWEST * round(n / FEWEST):,}"


def show_parts(counts: Sequence[int], fewest: int = FEWEST) -> list[str]:
    """Show the sizes of groups that add up to a known total.

    Where one is too small to state, the others are rounded, or the total less the others would state it.
    """
    if not any(is_few(n, fewest) for n in counts):
        return [f"{n:,}" for n in counts]
    return [str(show_rounded(n)) for n in counts]


def say_people(shown: str) -> str:
    """Put a noun behind a count as shown: "1 person", "fewer than 5 people"."""
    return "nobody" if shown == "0" else "1 person" if shown == "1" else f"{shown} people"


def hide_few(rows: Sequence[dict[str, Any]], field: str, fewest: int) -> list[dict[str, Any]]:
    """Mark rows of a figure with fewer people than ``fewest``, and draw them all alike."""
    few = [0 < row[field] < fewest for row in rows]
    return [
        {**row, "few": is_few, field: fewest - 1 if is_few else row[field]}
        for row, is_few in zip(rows, few, strict=True)
    ]


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
        sentence = f"{say_people(self.shown)} {_follow(self.shown)} it most"
        if not self.is_hidden:
            sentence += f", {'none' if not self.people_80 else self.shown_80} of them with a weight of 80% or more"
            sentence += "" if self.votes is None else f"; together they cast {count(self.votes, 'vote')}"
        return f"{sentence[0].upper()}{sentence[1:]}."

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
    sentence = listing([begin, *(f"{say_people(camp.shown)} ranking {camp.ranking}" for camp in rest)])
    return f"{sentence[0].upper()}{sentence[1:]}."
