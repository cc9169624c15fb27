"""Summaries of models, users, common ground and committees, printed as tables."""

from itertools import repeat
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.table import Table

from plurank.cli.tables import (
    LABEL_WIDTH,
    LONGEST_TEXT,
    candidates_table,
    divided_tables,
    facts,
    favourites_table,
    interval,
    novel_pairs_table,
    plain_table,
    ranking_tables,
    weight_bars,
)
from plurank.text import count, label, percent, shorten

if TYPE_CHECKING:
    from plurank.models.committee import Committee

CANDIDATES = (
    "Held-out log-likelihood per comparison for each number of rankings, with standard errors; higher is better, "
    "and guessing gets -0.693. Known users have other comparisons in the training data; new users were first "
    "asked some."
)
N_LISTED = 5  # items of each list that a person is shown
NUMBERS_WIDTH = 44  # of the columns beside an item


def print_model(console: Console, described: dict[str, Any], top: int) -> None:
    """Print ``model.summary(items=True)``: rankings, differences, weights, and how the model was fitted."""
    from plurank.models.summary import summary_facts

    rankings = described["rankings"]
    console.print(ranking_tables(console, rankings, top))
    print_legend(console, described, top)
    if described["most_divided"]:
        console.print("\nWhere these orders differ most, the places of:", style="bold")
        console.print("This kind of model has no uncertainty of places.", style="dim")
        console.print(divided_tables(console, described["most_divided"]))
    if len(rankings) > 1 and all(ranking["items"] == rankings[0]["items"] for ranking in rankings):
        console.print("\nAll rankings have the same order: one may be enough.", style="yellow")
    if described["common_ground"] is not None:
        console.print()
        print_common_ground(console, described["common_ground"], len(rankings))
    if len(rankings) > 1:
        console.print("\nHow much people follow each, on average, and how many follow it most:", style="bold")
        console.print(weight_bars([ranking["mean_weight"] for ranking in rankings], camp_remarks(described["camps"])))
    for warning in flag_handfuls(described["camps"]) if len(rankings) > 1 else []:
        console.print(f"! {warning}", style="yellow")
    if described["influence"] is not None and described["influence"]["flagged"]:
        console.print(f"! {described['influence']['sentence']}", style="yellow")
    console.print(f"{described['mixing_in_words']}\n")
    if described.get("selection"):
        print_selection(console, described["selection"])
        console.print()
    if "novel_pair" in rankings[0]:
        console.print(novel_pairs_table(rankings))
    console.print(facts(summary_facts(described)))


def print_selection(console: Console, selection: dict[str, Any]) -> None:
    """Print how well every candidate for the number of rankings and the mixing predicted, and which was chosen."""
    if selection["candidates"]:
        console.print(CANDIDATES)
        console.print(candidates_table(selection["candidates"]))
    console.print(f"* {selection['answer']}", style="bold")


def print_legend(console: Console, described: dict[str, Any], top: int) -> None:
    """Print what the numbers in the table of rankings mean."""
    legend = []
    if described["n_items"] > top:
        legend.append(f"The best {top:,} of {described['n_items']:,} items each.")
    if any(map(_has_intervals, described["rankings"], repeat(top))):
        sure = percent(described["interval_level"])
        legend.append(f"Next to an item: its {sure} interval of places.")
    if legend:
        console.print(" ".join(legend), style="dim")


def _has_intervals(ranking: dict[str, Any], top: int) -> bool:
    return ranking.get("lower", [])[:top] != ranking.get("upper", [])[:top]


def print_user(console: Console, described: dict[str, Any]) -> None:
    """Print ``model.user_summary(...)``."""
    console.print(f"{label(described['user'])} follows")
    remarks = [f"{percent(low)} to {percent(high)}" for low, high in described.get("weight_intervals", [])]
    console.print(weight_bars(described["weights"], remarks or None))
    console.print(f"\nand likes best, of {count(described['n_items'], 'item')}:")
    console.print(favourites_table(described["items"]))
    if "interval_level" in described:
        sure = percent(described["interval_level"])
        console.print(f"Intervals of weights and places have {sure} probability.", style="dim")


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
        console.print(common_ground_table(console, found[:N_LISTED], column))
        n_listed += 1
    if not n_listed and n_rankings > 1:
        console.print("No item is liked, disliked or disputed by all camps with enough certainty.")
    elif n_listed:
        console.print("At most 5% of the items in each list are expected to be wrong.", style="dim")
    few = sum(row["label"] == TOO_FEW for row in rows)
    if few:
        least = f"at least {LEAST_VOTES}, of {LEAST_PEOPLE} people"
        console.print(f"{count(few, 'item')} not classified: {TOO_FEW} ({least}).", style="dim")


def common_ground_table(console: Console, rows: list[dict[str, Any]], column: str) -> Table:
    """Show items with their votes, how certain their label is, and their shares of agreement or worst ranks."""
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
