"""Summaries of common ground, camps and committees."""

from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.table import Table

from plurank.cli.tables import (
    LABEL_WIDTH,
    LONGEST_TEXT,
    interval,
    plain_table,
)
from plurank.exceptions import ParameterError
from plurank.text import count, label, percent, shorten

if TYPE_CHECKING:
    from plurank.models.base import RankingModel
    from plurank.models.committee import Committee

N_LISTED = 5  # items of each list that a person is shown
NUMBERS_WIDTH = 44  # of the columns beside an item


def describe_common_ground(model: "RankingModel") -> list[dict[str, Any]] | None:
    """Return the rows of ``common_ground`` in plain values; None of a model without uncertainty."""
    try:
        return model.common_ground().to_dicts()
    except ParameterError:
        return None


def print_common_ground(console: Console, rows: list[dict[str, Any]], n_rankings: int) -> None:
    """Print what all camps like and dislike, and what they dispute."""
    from plurank.models.consensus import (
        CONTESTED,
        DISLIKED,
        LEAST_PEOPLE,
        LEAST_VOTES,
        LIKED,
        TOO_FEW,
    )

    n_listed = 0
    for name, column in ((LIKED, "liked_by_all"), (DISLIKED, "disliked_by_all"), (CONTESTED, "contested")):
        found = sorted((row for row in rows if row["label"] == name), key=lambda row: -row[column])
        if not found or n_rankings == 1:
            continue
        more = "" if len(found) <= N_LISTED else f", {N_LISTED} of {len(found):,}"
        console.print(f"{name.capitalize()}{more}:", style="bold")
        console.print(_table(console, found[:N_LISTED], column))
        n_listed += 1
    if not n_listed and n_rankings > 1:
        console.print("No item is liked, disliked or disputed by all camps with enough certainty.")
    elif n_listed:
        console.print("At most 5% of the items in each list are expected to be wrong.", style="dim")
    few = sum(row["label"] == TOO_FEW for row in rows)
    if few:
        least = f"at least {LEAST_VOTES}, of {LEAST_PEOPLE} people"
        console.print(f"{count(few, 'item')} not classified: {TOO_FEW} ({least}).", style="dim")


def _table(console: Console, rows: list[dict[str, Any]], column: str) -> Table:
    width = max(LABEL_WIDTH, console.width - NUMBERS_WIDTH)
    table = plain_table("Item", "Votes", "Certain")
    has_votes = "least_agreement" in rows[0]
    shown = {"liked_by_all": ("Agree, at least", "least"), "disliked_by_all": ("Agree, at most", "most")}
    head, word = shown.get(column, ("Agree, by camp", ""))
    table.add_column(head if has_votes else "Worst rank", justify="right")
    for row in rows:
        if has_votes and word:
            low, high = percent(row[f"{word}_agreement_lower"]), percent(row[f"{word}_agreement_upper"])
            shown_value = f"{percent(row[f'{word}_agreement'])} ({low} to {high})"
        elif has_votes:
            shown_value = f"{percent(row['least_agreement'])} to {percent(row['most_agreement'])}"
        else:
            shown_value = interval(row["worst_rank_lower"], row["worst_rank_upper"]) or str(row["worst_rank_lower"])
        votes = "?" if row["votes"] is None else f"{row['votes']:,}"
        table.add_row(shorten(label(row["text"]), width), votes, percent(row[column]), shown_value)
    return table


def flag_handfuls(camps: list[dict[str, Any]]) -> list[str]:
    """Return a warning for every ranking with only a handful of users."""
    from plurank.models.consensus import HANDFUL

    return [
        f"Ranking {camp['ranking']} rests on a handful of people: {camp['people']} follow it most."
        for camp in camps
        if 0 < camp["people"] < HANDFUL
    ]


def camp_remarks(camps: list[dict[str, Any]]) -> list[str]:
    """Return how many people follow every ranking."""
    remarks = []
    for camp in camps:
        votes = "" if camp["votes"] is None else f"; {count(camp['votes'], 'vote')}"
        remarks.append(f"{camp['people']:,} follow it most, {camp['people_80']:,} at 80% or more{votes}")
    return remarks


def describe_committee(committee: "Committee") -> dict[str, Any]:
    """Return a committee in plain values."""
    return {**vars(committee), "left_out": committee.left_out.to_dicts()}


def print_committee(console: Console, committee: "Committee") -> None:
    """Print the items of a committee, whom it serves, and whom it leaves out."""
    parts: list[RenderableType] = [shorten(f"  {label(text)}", LONGEST_TEXT) for text in committee.texts]
    console.print(f"A committee of {count(len(committee.items), 'item')}:", style="bold")
    console.print(Group(*parts))
    share, low, high = (percent(value) for value in (committee.share_served, committee.lower, committee.upper))
    first = "first item" if committee.top == 1 else f"first {committee.top} items"
    console.print(f"{share} of people ({low} to {high}) have one of these among their {first}.")
    table = plain_table("Ranking", "People", "Served", "Left out")
    for row in committee.left_out.iter_rows(named=True):
        if row["served"] is None:
            table.add_row(str(row["ranking"]), f"{row['people']:,}", "", "")
            continue
        served = f"{percent(row['served'])} ({percent(row['lower'])} to {percent(row['upper'])})"
        table.add_row(str(row["ranking"]), f"{row['people']:,}", served, f"{row['left_out']:,.0f}")
    console.print(table)
    if committee.guarantee < 1.0:
        least = percent(committee.guarantee)
        console.print(f"Chosen greedily: at least {least} of what the best committee serves.", style="dim")
