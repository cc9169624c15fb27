"""Common ground and disputes, as the posterior supports them: lists, sentences and tables.

Three things are kept apart: an item that all camps like, one that all dislike, and one that stands at about the same
position in all rankings, which is neither.
"""

from dataclasses import dataclass
from typing import Any

import polars as pl

from plurank.data.encoding import look_up
from plurank.exceptions import ParameterError
from plurank.models.base import RankingModel
from plurank.models.consensus import CONTESTED, DISLIKED, LIKED, SAME, TOO_FEW, UNDECIDED
from plurank.report.camps import FEWER
from plurank.report.page_blocks import Table, table
from plurank.report.texts import has_statements, text_of
from plurank.text import count, listing, percent

MOST_LISTED = 8
NO_BREAK = "\u00a0"  # a space at which no line ends
# label, column of its probability
KINDS = {LIKED: "liked_by_all", DISLIKED: "disliked_by_all", CONTESTED: "contested", SAME: "same_place"}
SAME_ABOUT = "About as high in every ranking, which is not to say liked."
# heading of a list and what it means, by places in an order, and by votes of agree and disagree
BY_PLACE = {
    LIKED: ("Liked by all camps", "In the best third for every camp."),
    DISLIKED: ("Disliked by all camps", "In the last third for every camp."),
    CONTESTED: ("Contested", "In the best third for one camp and in the last third for another."),
    SAME: ("Same position in all rankings", SAME_ABOUT),
}
BY_VOTE = {
    LIKED: ("Agreed with by all camps", "At least 60% of every camp agree, of those who took a side."),
    DISLIKED: ("Rejected by all camps", "At least 60% of every camp disagree, of those who took a side."),
    CONTESTED: ("Contested", "At least 60% agree in one camp, and at least 60% disagree in another."),
    SAME: ("Same position in all rankings", SAME_ABOUT),
}
ONE_RANKING = "With one ranking for everybody nothing is contested."
NO_UNCERTAINTY = (
    "This kind of model does not say how sure its rankings are, so nothing is said here about common ground or "
    "disputes. A MixedRanking says it."
)
HOW = "Only what the votes support is listed: at most 1 in 20 entries of a list is expected to be wrong."


@dataclass(frozen=True)
class Ground:
    """What is common ground: a row per item in the model's order, and the codes of the items of each label."""

    frame: pl.DataFrame
    lists: dict[str, list[int]]
    agreement: pl.DataFrame | None  # a row per item and camp; None where there are no agree/disagree votes

    @property
    def enough(self) -> Any:
        """Whether there are enough votes on every item, (Q,)."""
        return self.frame["enough_votes"].to_numpy()

    @property
    def words(self) -> dict[str, tuple[str, str]]:
        """The headings of the lists, and what they mean."""
        return BY_PLACE if self.agreement is None else BY_VOTE

    def n_labelled(self, label: str) -> int:
        """Return how many items have a label."""
        return int((self.frame["label"] == label).sum())


def find_ground(model: RankingModel) -> Ground:
    """Return what is common ground and what is contested; raise a ParameterError where the model cannot say."""
    if len(model.rankings_) == 1:
        raise ParameterError("there is one ranking only, so nothing is contested. Fit a model with more rankings.")
    frame = _by_code(model, model.common_ground()).sort("code")
    lists = {label: _sorted(frame.filter(pl.col("label") == label), column) for label, column in KINDS.items()}
    by_camp = model.agreement()
    return Ground(frame, lists, _by_code(model, by_camp) if len(by_camp) else None)


def _by_code(model: RankingModel, frame: pl.DataFrame) -> pl.DataFrame:
    """Add the codes of the items."""
    return frame.with_columns(code=pl.Series(look_up(frame["item"].to_list(), model.items_, "item")))


def _sorted(frame: pl.DataFrame, column: str) -> list[int]:
    """Return the codes of items: the most probable first, of these those with the most votes."""
    order = (pl.col(column).round(2), pl.col("votes").fill_null(0))
    codes: list[int] = frame.sort(*order, descending=True, maintain_order=True)["code"].to_list()
    return codes


def describe_ground(model: RankingModel, ground: Ground) -> str:
    """Say in a few sentences what is common ground, what is contested, and how much is not known."""
    items = "statements" if has_statements(model) else "items"
    lists = ground.lists
    like, dislike = ("agree with", "reject") if ground.agreement is not None else ("like", "dislike")
    sentences = [f"All camps {like} {_number_of(lists[LIKED], items)} and {dislike} {_number_of(lists[DISLIKED])}."]
    sentences.append(f"{_number_of(lists[CONTESTED], items).capitalize()} {_are(len(lists[CONTESTED]))} contested.")
    few, open_ = ground.n_labelled(TOO_FEW), ground.n_labelled(UNDECIDED)
    rest = [f"{few:,} {_have(few)} not enough votes to tell"] if few else []
    rest += [f"{open_:,} {_are(open_)} undecided"] if open_ else []
    n_items = count(len(ground.frame), items[:-1])
    return " ".join([*sentences, *([f"Of {n_items}, {listing(rest)}."] if rest else [])])


def _number_of(codes: list[int], noun: str = "") -> str:
    """Say how many, with a noun or without: "no items", "1 item", "3"."""
    if not noun:
        return f"{len(codes):,}" if codes else "none"
    return count(len(codes), noun[:-1]) if codes else f"no {noun}"


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _have(n: int) -> str:
    return "has" if n == 1 else "have"


def list_ground(model: RankingModel, ground: Ground, fewest: int) -> list[dict[str, Any]]:
    """Return the lists of the page that have entries: heading, meaning, entries with remarks, and how many more."""
    return [
        {
            "heading": heading,
            "about": about,
            "entries": [
                (text_of(model, i), _remark(ground, label, i, fewest)) for i in ground.lists[label][:MOST_LISTED]
            ],
            "more": max(0, len(ground.lists[label]) - MOST_LISTED),
        }
        for label, (heading, about) in ground.words.items()
        if ground.lists[label]
    ]


def list_empty(ground: Ground) -> str:
    """Say which lists have no entries; empty where all have."""
    empty = [heading.lower() for label, (heading, _) in ground.words.items() if not ground.lists[label]]
    return f"Nothing is sure enough for these lists: {'; '.join(empty)}." if empty else ""


def _remark(ground: Ground, label: str, code: int, fewest: int) -> str:
    """Say how many votes stand behind an entry, and what the camps make of it that do so least and most."""
    row = ground.frame.row(code, named=True)
    parts = [] if row["votes"] is None else [count(row["votes"], "vote")]
    if label in (LIKED, DISLIKED) and ground.agreement is None:
        where = f"place {row['worst_rank_lower']:,} to {row['worst_rank_upper']:,}"
        parts.append(f"lowest for camp {row['worst_ranking']}, {where}")
    elif label != SAME and ground.agreement is not None:
        every = agreement_cells(ground, fewest, code)
        cells = sorted((cell for cell in every if not cell["hidden"]), key=lambda cell: cell["share"])
        kept = {LIKED: cells[:1], DISLIKED: cells[-1:], CONTESTED: cells[-1:] + cells[:-1][:1]}[label]
        which = {LIKED: "least in ", DISLIKED: "most in "}.get(label, "")
        parts += [f"{which}camp {cell['ranking']}: {_share(cell)} agree" for cell in kept]
        parts += [f"too few votes in camp {cell['ranking']} to show" for cell in every if cell["hidden"]]
    return " · ".join(parts)


def _share(cell: dict[str, Any]) -> str:
    return f"{percent(cell['share'])} ({percent(cell['lower'])} to {percent(cell['upper'])})"


def ground_table(model: RankingModel, ground: Ground) -> Table:
    """List all items: what is said of them, the votes behind it, and their place in the least favourable ranking."""
    order = {label: n for n, label in enumerate((*KINDS, UNDECIDED, TOO_FEW))}
    rows = sorted(ground.frame.to_dicts(), key=lambda row: (order[row["label"]], row["worst_rank"]))
    head = ("item", "what is known", "votes", "least favourable camp", "place there (90% interval)")
    return table(
        head,
        [
            (
                text_of(model, row["code"]),
                ground.words[row["label"]][0].lower() if row["label"] in KINDS else row["label"],
                "unknown" if row["votes"] is None else f"{row['votes']:,}",
                str(row["worst_ranking"]),
                _place_with_bounds(row["worst_rank"], row["worst_rank_lower"], row["worst_rank_upper"]),
            )
            for row in rows
        ],
    )


def _place_with_bounds(rank: float, lower: int, upper: int) -> str:
    return f"{lower:,}" if lower == upper else f"{rank:,.0f} ({lower:,} to {upper:,})"


def agreement_cells(ground: Ground, fewest: int, code: int | None = None) -> list[dict[str, Any]]:
    """Return a row per item and camp, or a camp of one item, with n (who took a side) and whether that is hidden."""
    assert ground.agreement is not None
    rows = ground.agreement.filter(True if code is None else pl.col("code") == code).to_dicts()
    for row in rows:
        row["n"] = row["agree"] + row["disagree"]
        row["hidden"] = row["n"] == 0 or row["n"] < fewest
    return rows


def agreement_table(model: RankingModel, ground: Ground, fewest: int) -> Table:
    """List for all items the share of every camp that agrees, with its interval, and of how many."""
    cells: dict[int, dict[int, str]] = {}
    for row in agreement_cells(ground, fewest):
        cells.setdefault(row["code"], {})[row["ranking"]] = _cell(row)
    n_rankings = len(model.rankings_)
    votes = ground.frame["votes"].to_list()
    order = sorted(cells, key=lambda code: -(votes[code] or 0))
    head = ("item", *(f"camp {k + 1}: agree" for k in range(n_rankings)), "votes")
    rows = [
        (text_of(model, code), *(cells[code].get(k + 1, "no votes") for k in range(n_rankings)), f"{votes[code]:,}")
        for code in order
    ]
    return table(head, rows)


def _cell(row: dict[str, Any]) -> str:
    if row["hidden"]:
        return f"{FEWER} votes" if row["n"] else "no votes"
    share, bounds = _share(row).split(" ", 1)
    return f"{share} {bounds.replace(' ', NO_BREAK)} of{NO_BREAK}{row['n']:,}"
