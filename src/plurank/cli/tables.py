"""Tables of plain values."""

from collections.abc import Iterator
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from plurank.choices import MIXINGS
from plurank.text import label, percent, quote, shorten

LABEL_WIDTH = 26  # longer texts end in an ellipsis where there is no room for more
STATEMENT = 40  # characters from which on a text is a statement rather than a name
LONGEST_TEXT = 500  # characters of a statement that has lines of its own
LONGEST_QUOTE = 60  # characters of a statement in a sentence
PLACE_WIDTH = len("Ranking 10")
BAR_WIDTH = 20


def plain_table(first: str = "", *others: str) -> Table:
    """Make a table without a frame: words to the left in the first column, numbers to the right after it."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column(first, justify="right" if not first else "left", style="dim" if not first else None)
    for name in others:
        table.add_column(name, justify="right")
    return table


def candidates_table(candidates: list[dict[str, Any]]) -> Table:
    """Show the held-out log-likelihood of every candidate for the number of rankings and the mixing."""
    table = plain_table("", "Rankings")
    table.add_column("Mixing", min_width=max(map(len, MIXINGS)))  # in a narrow terminal figures take two lines instead
    for name in ("Known users", "New users", "All users", "Behind the best"):
        table.add_column(name, justify="right")
    for row in candidates:
        behind = "best" if row["behind"] == 0 else _format_error(row, "behind")
        known, new, everybody = (_format_error(row, name) for name in ("by_comparison", "by_user", "held_out"))
        way = "any" if row["n_rankings"] == 1 else row["mixing"]
        mark, style = ("*", "bold") if row["chosen"] else ("", None)
        table.add_row(mark, str(row["n_rankings"]), way, known, new, everybody, behind, style=style)
    return table


def _format_error(row: dict[str, Any], name: str) -> str:
    error = row[f"{name}_se"]
    return "none" if row[name] is None else f"{row[name]:.4f}" if error is None else f"{row[name]:.4f} ±{error:.4f}"


def facts(rows: list[tuple[str, str]]) -> Table:
    """Show names and values in two columns."""
    grid = Table.grid(padding=(0, 2))
    for name, value in rows:
        grid.add_row(Text(name, style="dim"), value)
    return grid


def ranking_tables(console: Console, rankings: list[dict[str, Any]], top: int, names: list[str] | None = None) -> Group:
    """Show rankings side by side, best item first, in as many tables as the terminal's width asks for.

    Where it is not certain, the interval of an item's place stands beside it.
    """
    longest = max(len(label(text)) for ranking in rankings for text in _top_texts(ranking, top))
    beside = 1 if longest > STATEMENT else len(rankings)  # statements need the whole width
    room = (console.width - 6) // beside - 3
    columns = [_items_with_places(ranking, top, room) for ranking in rankings]
    width = max(PLACE_WIDTH, *(cell.cell_len for column in columns for cell in column))
    names = names or [f"Ranking {ranking['ranking']}" for ranking in rankings]
    tables: list[RenderableType] = []
    for some in _pieces(len(rankings), (console.width - 6) // (width + 3)):
        table = plain_table("")
        for k in some:
            table.add_column(f"{names[k]}\n{percent(rankings[k]['mean_weight'])}", no_wrap=True, max_width=width)
        for place, cells in enumerate(zip(*(columns[k] for k in some), strict=True), start=1):
            table.add_row(str(place), *cells)
        tables.append(table)
    return Group(*tables)


def _items_with_places(ranking: dict[str, Any], top: int, room: int) -> list[Text]:
    """Return the best items of a ranking, and to the right of them the intervals of their places.

    Texts are cut between words to what a column's room has for them, and to ``LABEL_WIDTH`` where that is little.
    """
    texts = [label(text) for text in _top_texts(ranking, top)]
    lower, upper = ranking.get("lower", [])[:top], ranking.get("upper", [])[:top]
    places = [interval(low, high) for low, high in zip(lower, upper, strict=True)]
    beside = 2 + max(map(len, places)) if any(places) else 0
    width = min(max(LABEL_WIDTH, room - beside), max(map(cell_len, texts)))
    items = [Text(shorten(text, width)) for text in texts]
    for item in items:
        item.truncate(width, overflow="ellipsis", pad=any(places))
    if not any(places):
        return items
    return [
        Text.assemble(item, "  ", (f"{place:<{beside - 2}}", "dim")) for item, place in zip(items, places, strict=True)
    ]


def _top_texts(ranking: dict[str, Any], top: int) -> list[Any]:
    """Return what to show for the best items of a ranking: their texts, or ids where that is all there is."""
    found: list[Any] = ranking.get("texts", ranking["items"])[:top]
    return found


def interval(lower: int, upper: int) -> str:
    """Show an interval of places, and nothing where there is only one."""
    return f"{lower}-{upper}" if upper > lower else ""


def _pieces(n: int, size: int) -> Iterator[range]:
    """Cut 0 to n - 1 into pieces of at most a size, and of at least 1."""
    size = max(1, size)
    return (range(begin, min(begin + size, n)) for begin in range(0, n, size))


def divided_tables(console: Console, divided: list[dict[str, Any]]) -> Group:
    """Show the places of some items in every ranking, in as many tables as the terminal's width asks for."""
    texts = [label(entry.get("text", entry["item"])) for entry in divided]
    n_rankings = len(divided[0]["places"])
    room = console.width - 2 - n_rankings * (PLACE_WIDTH + 3)
    width = min(max(LABEL_WIDTH, room), max(len("Item"), *map(cell_len, texts)))
    tables: list[RenderableType] = []
    for some in _pieces(n_rankings, (console.width - width - 2) // (PLACE_WIDTH + 3)):
        table = plain_table("Item", *(f"Ranking {k + 1}" for k in some))
        table.columns[0].no_wrap, table.columns[0].max_width = True, width
        for entry, text in zip(divided, texts, strict=True):
            table.add_row(shorten(text, width), *(f"{entry['places'][k]:,}" for k in some))
        tables.append(table)
    return Group(*tables)


def shares_tables(console: Console, head: list[str], rows: list[list[str]]) -> Group:
    """Show the shares of rankings by covariate, in as many tables as the terminal's width asks for.

    ``rows`` hold an attribute, a level, a number of people, and a text for every ranking.
    """
    names = [shorten(row[1], LABEL_WIDTH) for row in rows]
    attributes = [shorten(row[0], LABEL_WIDTH) for row in rows]
    fixed = [attributes, names, [row[2] for row in rows]]
    widths = (max(map(cell_len, [name, *texts])) for name, texts in zip(head, fixed, strict=False))
    room = console.width - sum(width + 3 for width in widths) + 1
    widest = max(PLACE_WIDTH, *(cell_len(text) for row in rows for text in row[3:]))
    tables: list[RenderableType] = []
    for some in _pieces(len(head) - 3, room // (widest + 3)):
        table = plain_table(head[0].capitalize(), *(head[at].capitalize() for at in (1, 2, *(3 + k for k in some))))
        table.columns[1].justify = "left"
        for column in table.columns:
            column.no_wrap = True
        previous = ""
        for row, name, level in zip(rows, attributes, names, strict=True):
            table.add_row("" if row[0] == previous else name, level, row[2], *(row[3 + k] for k in some))
            previous = row[0]
        tables.append(table)
    return Group(*tables)


def novel_pairs_table(rankings: list[dict[str, Any]]) -> Table:
    """Show what sets every ranking apart: its novel pair, and how far from an order the pairs were."""
    table = plain_table("Ranking")
    table.add_column("Novel pair: only this ranking agrees", overflow="fold")
    table.add_column("Intransitive triples", justify="right")
    for ranking in rankings:
        texts = [label(text) for text in ranking.get("novel_pair_texts", ranking["novel_pair"]) or []]
        pair = " over ".join(map(_quote_if_long, texts)) if texts else "none"
        table.add_row(str(ranking["ranking"]), pair, f"{ranking['intransitive_triples']:,}")
    return table


def _quote_if_long(text: str) -> str:
    """Quote what is a statement, rather than a name."""
    return quote(text, LONGEST_QUOTE) if len(text.split()) > 3 else shorten(text, LONGEST_QUOTE)


def favourites_table(items: list[dict[str, Any]]) -> Table:
    """Show one person's best items, with the intervals of their places where the model has them."""
    table = plain_table("")
    table.add_column("Item", overflow="fold")
    table.add_column("Preferred to another item", justify="right")
    has_places = all("lower" in item for item in items)
    if has_places:
        table.add_column("Places", justify="right")
    for item in items:
        places = [interval(item["lower"], item["upper"]) or str(item["lower"])] if has_places else []
        table.add_row(
            str(item["rank"]),
            shorten(label(item.get("text", item["item"])), LONGEST_TEXT),
            percent(item["score"]),
            *places,
        )
    return table


def bar(share: float) -> Text:
    """Draw a share of 1 as a bar."""
    full = round(share * BAR_WIDTH)
    return Text.assemble(("█" * full, "cyan"), ("·" * (BAR_WIDTH - full), "dim"))


def weight_bars(weights: list[float], remarks: list[str] | None = None, names: list[str] | None = None) -> Table:
    """Show weights as bars, each with a remark beside it where there are any."""
    grid = Table.grid(padding=(0, 2))
    for k, weight in enumerate(weights):
        name = names[k] if names else f"Ranking {k + 1}"
        row: list[RenderableType] = [f"  {name}", bar(weight), Text(percent(weight), justify="right")]
        grid.add_row(*row, *([] if remarks is None else [Text(remarks[k], style="dim")]))
    return grid
