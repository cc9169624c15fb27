"""Fitted models as plain values for JSON, and as tables for people."""

from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from plurank.cli.output import label, percent
from plurank.wording import count

if TYPE_CHECKING:
    from plurank.models.base import RankingModel

LABEL_WIDTH = 26  # longer ids end in an ellipsis
SEPARATION = {
    "whitened": "Pairs were told apart in a whitened embedding of the comparisons.",
    "entries": "Pairs were told apart by single entries of E, as in the paper.",
    "rows": (
        "The diagonal of E has gaps in this data (of some pairs nobody gave the same answer twice), so the "
        "distance between whole rows of E was used instead of single entries."
    ),
}


def describe_model(model: "RankingModel") -> dict[str, Any]:
    """Give what a model says about the population in plain Python values; rankings are counted from 1."""
    fitted = {
        name: _plain(getattr(model, f"{name}_"))
        for name in ("concentration", "flip_probability", "separation_statistic", "n_iter", "converged")
        if hasattr(model, f"{name}_")
    }
    return {
        "model": type(model).__name__,
        "settings": {name: _plain(value) for name, value in model.get_params().items()},
        "n_users": len(model.users_),
        "n_items": len(model.items_),
        **fitted,
        "rankings": _describe_rankings(model),
    }


def _describe_rankings(model: "RankingModel") -> list[dict[str, Any]]:
    rankings: list[dict[str, Any]] = [
        {"ranking": k, "mean_weight": float(weight), "items": model.items_[order].tolist()}
        for k, (order, weight) in enumerate(zip(model.rankings_, model.mean_weights_, strict=True), start=1)
    ]
    for name, attribute in (
        ("novel_pair", "novel_pairs_"),
        ("solid_angle", "solid_angles_"),
        ("intransitive_triples", "intransitive_triples_"),
    ):
        for ranking, value in zip(rankings, getattr(model, attribute, []), strict=False):
            ranking[name] = list(value) if isinstance(value, tuple) else _plain(value)
    return rankings


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def ranking_tables(console: Console, rankings: list[dict[str, Any]], top: int, names: list[str] | None = None) -> Group:
    """Show rankings side by side, best item first, in as many tables as the terminal's width asks for."""
    shown = [[label(item) for item in ranking["items"][:top]] for ranking in rankings]
    width = min(LABEL_WIDTH, max(len("Ranking 10"), *(cell_len(item) for items in shown for item in items)))
    per_table = max(1, (console.width - 6) // (width + 3))
    names = names or [f"Ranking {ranking['ranking']}" for ranking in rankings]
    tables: list[RenderableType] = []
    for begin in range(0, len(rankings), per_table):
        some = range(begin, min(begin + per_table, len(rankings)))
        table = plain_table("")
        for k in some:
            table.add_column(f"{names[k]}\n{percent(rankings[k]['mean_weight'])}", no_wrap=True, max_width=width)
        for place in range(len(shown[begin])):
            table.add_row(str(place + 1), *(shown[k][place] for k in some))
        tables.append(table)
    return Group(*tables)


def plain_table(first: str = "", *others: str) -> Table:
    """Make a table without a frame: words to the left in the first column, numbers to the right after it."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column(first, justify="right" if not first else "left", style="dim" if not first else None)
    for name in others:
        table.add_column(name, justify="right")
    return table


def facts(rows: list[tuple[str, str]]) -> Table:
    """Show names and values in two columns."""
    grid = Table.grid(padding=(0, 2))
    for name, value in rows:
        grid.add_row(Text(name, style="dim"), value)
    return grid


def details_table(rankings: list[dict[str, Any]]) -> Table:
    """Show what sets every ranking apart: its novel pair, and how far from an order the pairs were."""
    table = plain_table("Ranking")
    table.add_column("Novel pair: only this ranking agrees", overflow="fold")
    table.add_column("Intransitive triples", justify="right")
    for ranking in rankings:
        pair = " over ".join(label(item) for item in ranking["novel_pair"]) if ranking["novel_pair"] else "none"
        table.add_row(str(ranking["ranking"]), pair, f"{ranking['intransitive_triples']:,}")
    return table


def bar(share: float, width: int = 20) -> Text:
    """Draw a share of 1 as a bar."""
    full = round(share * width)
    return Text.assemble(("█" * full, "cyan"), ("·" * (width - full), "dim"))


def weight_bars(weights: list[float], truth: list[float] | None = None, names: list[str] | None = None) -> Table:
    """Show one person's weights as bars, where it is known with the truth beside them."""
    grid = Table.grid(padding=(0, 2))
    for k, weight in enumerate(weights):
        name = names[k] if names else f"Ranking {k + 1}"
        row: list[RenderableType] = [f"  {name}", bar(weight), Text(percent(weight), justify="right")]
        grid.add_row(*row, *([] if truth is None else [Text(f"(truth {percent(truth[k])})", style="dim")]))
    return grid


def fit_facts(described: dict[str, Any]) -> list[tuple[str, str]]:
    """Give what to know about a fit, as names and values for people."""
    settings = described["settings"]
    rows = [
        ("data", f"{count(described['n_users'], 'user')}, {count(described['n_items'], 'item')}"),
        ("concentration", f"{described['concentration']:.3g}"),
        (
            "flip probability",
            f"{100 * described['flip_probability']:.2g}% of comparisons go against a person's rankings",
        ),
        ("detection", f"{settings['detection']}. {SEPARATION[described['separation_statistic']]}"),
        ("settings", ", ".join(f"{name} {value}" for name, value in settings.items() if value is not None)),
    ]
    if not described["converged"]:
        rows.append(("polishing", f"stopped after {described['n_iter']} rounds while rankings still changed"))
    return rows
