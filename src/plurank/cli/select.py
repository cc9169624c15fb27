"""``plurank select``: the number of rankings, and the mixing."""

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import plurank
from plurank.choices import MIXINGS, Mixing
from plurank.cli import inputs, options
from plurank.cli.inputs import read
from plurank.cli.output import emit_json, out, progress
from plurank.cli.tables import plain_table
from plurank.exceptions import ParameterError

if TYPE_CHECKING:
    from rich.table import Table

    from plurank import Selection

MOST_CANDIDATES = 100
EXPLANATION = (
    "Held-out log-likelihood per comparison for each number of rankings, with standard errors; higher is better, "
    "and guessing gets {guess:.3f}. Known users have other comparisons in the training data; new users were first "
    "asked some."
)


def select(
    data: options.DataSource,
    candidates: Annotated[
        str, typer.Option(metavar="LIST", help="Numbers of rankings to try, e.g. 1-10 or 1,2,5.")
    ] = "1-10",
    mixing: Annotated[
        Literal["both", Mixing],
        typer.Option(help="Mixing to try; see `plurank fit --help`."),
    ] = "both",
    seed: options.Seed = 0,
    ties: options.Ties = "half",
    column: options.Column = None,
    items: options.ItemsFile = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Choose the number of rankings by held-out likelihood.

    Holds out some comparisons, fits every candidate to the rest, and measures how well it predicts those held
    out. Chosen is the smallest number of rankings within one standard error of the best.

    \b
    Examples:
      plurank select votes.csv
      plurank select votes.csv --candidates 1-5 --mixing probability
      plurank select votes.csv --candidates 1,2,5,10 --json

    The input has the columns of `plurank fit`: user, winner, loser, or user, left, right, winner, or other
    names for these.
    """
    numbers = parse_candidates(candidates)
    comparisons, _ = read(data, column, ties, items)
    with progress("trying numbers of rankings", announce=True) as on_progress:
        selection = plurank.select_rankings(
            comparisons, numbers, MIXINGS if mixing == "both" else mixing, random_state=seed, on_progress=on_progress
        )
    following = _next_command(selection, inputs.name_of(data), seed, ties, column, items)
    if as_json:
        emit_json({**selection.summary(), "next": following})
    else:
        _print(selection, following)


def parse_candidates(text: str) -> list[int]:
    """Return the numbers of a list of numbers and ranges such as ``1-3,5``."""
    numbers: set[int] = set()
    for part in text.split(","):
        found = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", part.strip(), re.ASCII)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 1 <= first <= last:
            expected = "a list of numbers or ranges such as 1-10 or 1,2,5"
            raise ParameterError(parameter="candidates", expected=expected, got=f"{text!r:.80}")
        numbers.update(range(first, last + 1))
    if len(numbers) > MOST_CANDIDATES:
        raise ParameterError(
            parameter="candidates",
            expected=f"at most {MOST_CANDIDATES} numbers",
            got=f"{len(numbers):,}",
            hint="Try some of them first, e.g. 1,2,5,10,20,50.",
        )
    return sorted(numbers)


def _next_command(
    selection: "Selection", data: Path, seed: int, ties: str, column: list[str] | None, items: Path | None
) -> str:
    """Return the command that fits the chosen model, with the options of this one."""
    words = ["plurank", "fit", str(data), "-k", str(selection.n_rankings), "-o", "model.plurank"]
    if selection.n_rankings > 1:
        words += ["--mixing", selection.mixing]
    if seed:
        words += ["--seed", str(seed)]
    if ties != "half":
        words += ["--ties", ties]
    for text in column or []:
        words += ["--column", text]
    if items is not None:
        words += ["--items", str(items)]
    return shlex.join(words)


def _print(selection: "Selection", following: str) -> None:
    console = out()
    console.print(EXPLANATION.format(guess=plurank.log_likelihood([0.5])))
    console.print(_table(selection.summary()["candidates"]))
    console.print(f"* {selection.answer}", style="bold")
    if selection.influence is not None and selection.influence.flagged:
        console.print(f"! {selection.influence.sentence}", style="yellow")
    console.print(f"Next: {following}", soft_wrap=True)


def _table(candidates: list[dict[str, Any]]) -> "Table":
    table = plain_table("", "Rankings")
    table.add_column("Mixing", min_width=max(map(len, MIXINGS)))  # in a narrow terminal figures take two lines instead
    for name in ("Known users", "New users", "All users", "Behind the best"):
        table.add_column(name, justify="right")
    for row in candidates:
        behind = "best" if row["behind"] == 0 else _with_error(row, "behind")
        known, new, everybody = (_with_error(row, name) for name in ("by_comparison", "by_user", "held_out"))
        way = "any" if row["n_rankings"] == 1 else row["mixing"]
        mark, style = ("*", "bold") if row["chosen"] else ("", None)
        table.add_row(mark, str(row["n_rankings"]), way, known, new, everybody, behind, style=style)
    return table


def _with_error(row: dict[str, Any], name: str) -> str:
    return "none" if row[name] is None else f"{row[name]:.4f} ±{row[f'{name}_se']:.4f}"
