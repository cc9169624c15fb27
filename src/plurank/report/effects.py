"""Who follows which ranking: effects of covariates in words and as a table. Nothing here says why.

An effects frame has a row for every level of an attribute and every ranking: the share of the ranking with its
interval, the difference to the first level with its own, and how many people have the level. Figures of fewer than
five people are null.
"""

from dataclasses import dataclass
from typing import Any

import polars as pl

from plurank.data.attributes import show_number
from plurank.exceptions import ParameterError
from plurank.mixed.item_features import ItemFeatures
from plurank.mixed.people import PeopleEffects
from plurank.models.base import RankingModel
from plurank.report.camps import FEWER, FEWEST, show_parts
from plurank.report.texts import fit_text
from plurank.text import count, label, listing, percent

LONGEST, MOST_NAMED = 40, 5  # columns of a level's name; differences that are told in words
NO_CAUSE = (
    "The shares are those of people with a level who are otherwise like everybody in the data. They describe who "
    "follows which ranking, and do not say why."
)
TWO_RANKINGS = "With two rankings, the intervals may be a little too narrow."
HIDDEN = "not shown"
SHORT = {"fewer than": "under", "about ": "~"}  # where there is little room


def find_effects(model: RankingModel) -> pl.DataFrame | None:
    """Return the effects of a model's covariates, None where it has none."""
    return model.effects() if isinstance(model, PeopleEffects) and model.covariates is not None else None


def find_item_effects(model: RankingModel) -> pl.DataFrame | None:
    """Return what each ranking of a model rewards, None where it knows no features of its items."""
    return model.item_effects() if isinstance(model, ItemFeatures) and model.item_features is not None else None


def table_of_effects(model: RankingModel, covariate: str | None, level: float) -> pl.DataFrame:
    """Return the effects of one covariate or of all; raise where the model has none."""
    if not isinstance(model, PeopleEffects):
        raise ParameterError(
            f"a {type(model).__name__} knows no covariates of its users. Fit a MixedRanking with some."
        )
    return model.effects(covariate, level)


@dataclass(frozen=True)
class Cell:
    """A level of an attribute: what to call it, how many have it as shown, and its row for every ranking."""

    attribute: str
    level: str
    value: float | None  # of a number
    people: str
    rankings: list[dict[str, Any]]

    @property
    def is_hidden(self) -> bool:
        """Whether so few people have the level that nothing is said of them."""
        return self.rankings[0]["share"] is None


def list_cells(effects: pl.DataFrame) -> list[Cell]:
    """Return the levels of an effects frame in their order."""
    cells = []
    for (attribute,), rows in effects.group_by("attribute", maintain_order=True):
        parts = rows.partition_by("level", maintain_order=True)
        counts = [part["people"][0] or 0 for part in parts]
        shown = show_parts(counts)  # they may add up to all, and tell a small one
        for part, people in zip(parts, shown, strict=True):
            hidden = part["share"][0] is None
            name = fit_text(label(part["level"][0]), LONGEST)
            cells.append(Cell(label(attribute), name, part["value"][0], FEWER if hidden else people, part.to_dicts()))
    return cells


def pivot(effects: pl.DataFrame, *, short: bool = False) -> tuple[list[str], list[list[str]]]:
    """Return a table of shares: a row for each level, a column for each ranking.

    ``short`` writes "~410" and "45% (38-52)".
    """
    cells = list_cells(effects)
    show = _show_short if short else _show_share
    words = SHORT if short else {}
    head = ["attribute", "level", "people", *(f"ranking {row['ranking']}" for row in cells[0].rankings)]
    return head, [
        [cell.attribute, cell.level, _replace(cell.people, words), *map(show, cell.rankings)] for cell in cells
    ]


def _replace(text: str, words: dict[str, str]) -> str:
    for long, short in words.items():
        text = text.replace(long, short)
    return text


def _show_share(row: dict[str, Any]) -> str:
    return HIDDEN if row["share"] is None else f"{percent(row['share'])} ({_format_range(row['lower'], row['upper'])})"


def _show_short(row: dict[str, Any]) -> str:
    if row["share"] is None:
        return HIDDEN
    return f"{row['share']:.0%} ({100 * row['lower']:.0f}-{100 * row['upper']:.0f})"


def _format_range(lower: float, upper: float) -> str:
    return f"{percent(lower)} to {percent(upper)}"


def order_attributes(effects: pl.DataFrame) -> list[str]:
    """Return the attributes, those with the largest clear difference first, those without one last."""
    largest = effects.group_by("attribute", maintain_order=True).agg(
        pl.when(_is_clear()).then(pl.col("difference").abs()).max().fill_null(0.0).alias("largest")
    )
    return largest.sort("largest", descending=True, maintain_order=True)["attribute"].to_list()


def _is_clear() -> pl.Expr:
    """Mark differences whose interval is on one side of 0."""
    return (pl.col("difference_lower") > 0) | (pl.col("difference_upper") < 0)


def describe_effects(effects: pl.DataFrame) -> tuple[list[str], str]:
    """Return a sentence for each attribute with a clear difference, the largest first, and one on all others."""
    clear = effects.filter(_is_clear().fill_null(False))
    cells = {(cell.rankings[0]["attribute"], cell.rankings[0]["level"]): cell for cell in list_cells(effects)}
    first = {attribute: cell for (attribute, _), cell in reversed(cells.items()) if not cell.is_hidden}
    sentences = []
    for attribute in order_attributes(effects):
        rows = clear.filter(pl.col("attribute") == attribute).sort(pl.col("difference").abs(), descending=True)
        if len(rows):
            row = rows.row(0, named=True)
            sentences.append(_describe_gap(cells[attribute, row["level"]], first[attribute], row))
    return sentences[:MOST_NAMED], _say_rest(effects, len(sentences))


def describe_limits(effects: pl.DataFrame) -> str:
    """Say what shares mean, and what they do not tell."""
    return f"{NO_CAUSE} {TWO_RANKINGS}" if effects["ranking"].max() == 2 else NO_CAUSE


def _describe_gap(cell: Cell, reference: Cell, row: dict[str, Any]) -> str:
    k = row["ranking"] - 1
    points = f"{100 * abs(row['difference']):.0f} points"
    bounds = sorted(100 * abs(row[f"difference_{side}"]) for side in ("lower", "upper"))
    return (
        f"{cell.attribute}: ranking {row['ranking']} has a share of {_show_side(cell, k)}, and of "
        f"{_show_side(reference, k)}; a difference of {points} ({bounds[0]:.0f} to {bounds[1]:.0f})."
    )


def _show_side(cell: Cell, k: int) -> str:
    row = cell.rankings[k]
    where = f"for {cell.level}" if cell.value is None else f"at {show_number(cell.value)}"
    people = f", {cell.people} people" if cell.value is None else ""
    return f"{percent(row['share'])} {where} ({_format_range(row['lower'], row['upper'])}{people})"


def _say_rest(effects: pl.DataFrame, n_clear: int) -> str:
    """Say which attributes have no clear difference, and how many levels are not shown."""
    words = []
    if unclear := [label(name) for name in order_attributes(effects)[n_clear:]]:
        words.append(f"No clear difference was found by {listing(unclear)}.")
    if n_clear > MOST_NAMED:
        words.append(f"{count(n_clear - MOST_NAMED, 'more attribute')} with a clear difference: see the numbers.")
    if n_hidden := sum(cell.is_hidden for cell in list_cells(effects)):
        verb = "is" if n_hidden == 1 else "are"
        words.append(f"{count(n_hidden, 'level')} with fewer than {FEWEST} people {verb} not shown.")
    return " ".join(words)


def order_features(effects: pl.DataFrame) -> list[str]:
    """Return the features whose intervals of effects leave out 0 somewhere, those with the largest effects first."""
    clear = effects.filter((pl.col("lower") > 0.0) | (pl.col("upper") < 0.0))
    largest = clear.group_by("attribute", maintain_order=True).agg(pl.col("effect").abs().max())
    return largest.sort("effect", descending=True, maintain_order=True)["attribute"].to_list()


def pivot_items(effects: pl.DataFrame, order: list[str]) -> tuple[list[str], list[list[str]]]:
    """Return a table of effects on scores: a row for each level of some features, a column for each ranking."""
    rankings = effects["ranking"].unique().sort().to_list()
    head = ["feature", "level", "items", *(f"ranking {k}" for k in rankings)]
    rows = []
    for name in order:
        own = effects.filter(pl.col("attribute") == name)
        for _, level in own.group_by("level", maintain_order=True):
            cells = level.sort("ranking").iter_rows(named=True)
            rows.append([name, level["level"][0], f"{level['items'][0]:,}", *map(_show_effect, cells)])
    return head, rows


def _show_effect(row: dict[str, Any]) -> str:
    return f"{row['effect']:+.1f} ({row['lower']:+.1f} to {row['upper']:+.1f})"
