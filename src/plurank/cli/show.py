"""``plurank show``: what is in a data file, a store or a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.filesize import decimal

import plurank
from plurank.cli import options, streams
from plurank.cli.consensus import describe_committee, print_committee
from plurank.cli.ingest import describe_store
from plurank.cli.inputs import add_texts, read_data
from plurank.cli.output import emit_json, out, progress
from plurank.cli.portraits import (
    describe_model,
    describe_user,
    print_model,
    print_user,
)
from plurank.cli.tables import facts, left_out
from plurank.exceptions import DataError
from plurank.text import describe_spread, describe_ties

if TYPE_CHECKING:
    from plurank import DataReport
    from plurank.models.base import RankingModel


def show(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Comparisons or votes, a store of `plurank ingest`, or a model of `plurank fit`.",
            callback=streams.as_file,
        ),
    ],
    top: options.Top = 10,
    user: Annotated[
        str | None,
        typer.Option("--user", metavar="ID", help="Of a model: this user's weights and favourite items."),
    ] = None,
    committee: Annotated[
        int | None,
        typer.Option("--committee", metavar="N", min=1, help="Of a model: N items that serve most people."),
    ] = None,
    ties: options.Ties = "half",
    column: options.Column = None,
    items: options.ItemsFile = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Look into a data file, a store or a model.

    Of a data file it tells how much there is and what will make trouble; of a store, how much there is; of a
    model, the rankings, what all camps like and dispute, and how people mix them; with --user, what one person
    likes; with --committee, which few items serve most people.

    \b
    Examples:
      plurank show votes.csv
      plurank show votes.csv --items comments.csv
      plurank show model.plurank --top 20
      plurank show model.plurank --user anna
      plurank show model.plurank --committee 3

    A data file has columns as for `plurank fit`: user, winner, loser, or user, left, right, winner, or other
    names for these. Votes of pol.is and tables of user, item, rating are compared first.
    """
    if not is_model(file):
        _refuse_model_options(user, committee, file)
        if file.is_dir():
            _show_store(file, as_json=as_json)
        else:
            _show_data(file, column, ties, items, as_json=as_json)
        return
    with progress(f"reading {file.name}"):
        model = plurank.load(file)
        add_texts(model, items)
    if committee is not None:
        _show_committee(model, committee, as_json=as_json)
    elif user is None:
        _show_model(model, top, as_json=as_json)
    else:
        _show_user(model, user, top, as_json=as_json)


def is_model(file: Path) -> bool:
    """Tell a model from data: by its first bytes, those of a zip, or by its ending where it is damaged."""
    if not file.is_file():
        return file.suffix.lower() == ".plurank"
    with file.open("rb") as opened:
        return opened.read(4) == b"PK\x03\x04" or file.suffix.lower() == ".plurank"


def _refuse_model_options(user: str | None, committee: int | None, file: Path) -> None:
    for option, value in (("--user", user), ("--committee", committee)):
        if value is not None:
            raise DataError(f"{option} needs a model, and {file.name} is none. Make one with `plurank fit`.")


def _show_committee(model: "RankingModel", size: int, *, as_json: bool) -> None:
    chosen = model.committee(size)
    if as_json:
        emit_json(describe_committee(chosen))
    else:
        print_committee(out(), chosen)


def _show_data(file: Path, column: list[str] | None, ties: Any, items: Path | None, *, as_json: bool) -> None:
    report = read_data(file, options.parse_columns(column), ties, items).diagnose()
    if as_json:
        emit_json(report.to_dict())
    else:
        _print_report(report)


def _print_report(report: "DataReport") -> None:
    console = out()
    score_scale = describe_spread(report.min_per_user, report.median_per_user, report.max_per_user)
    rows = [
        ("users", _of_all(report.n_users, "user", report)),
        ("items", _of_all(report.n_compared_items, "item", report)),
        *([("votes", describe_ties(report.n_comparisons, report.n_ties))] if report.n_ties else []),
        ("comparisons", f"{report.n_comparisons:,}"),
        ("per user", score_scale),
        ("repeated", f"{report.n_duplicates:,}"),
        ("items linked", "all" if report.is_connected else f"in {len(report.item_groups):,} separate groups"),
    ]
    console.print(facts(rows))
    console.print()
    for problem in report.problems:
        console.print(f"! {problem}", style="yellow")
    if not report.problems:
        console.print("No problems found.", style="green")
    console.print("Next: plurank select FILE, or right away: plurank fit FILE -k 3 -o model.plurank")


def _of_all(n: int, what: str, report: "DataReport") -> str:
    """Say how many there are, and of how many before some were left out or never compared."""
    left_out = sum(entry.n for entry in report.excluded if entry.what == what)
    total = (report.n_users if what == "user" else report.n_items) + left_out
    return f"{n:,}" if n == total else f"{n:,} of {total:,}"


def _show_store(folder: Path, *, as_json: bool) -> None:
    store = plurank.open_store(folder)
    described = describe_store(store)
    if as_json:
        emit_json(described)
        return
    least, median, most = store.per_user
    rows = [
        ("users", f"{store.n_users:,}"),
        ("items", f"{store.n_items:,}"),
        ("comparisons", f"{len(store):,}"),
        ("per user", describe_spread(least, median, most)),
        *([("total weight", f"{store.total_weight:,.10g}")] if store.is_weighted else []),
        ("shards", f"{store.n_shards:,}"),
        ("on disk", decimal(store.n_bytes)),
        *left_out(store.excluded),
    ]
    out().print(facts(rows))


def _show_model(model: "RankingModel", top: int, *, as_json: bool) -> None:
    described = describe_model(model)
    if as_json:
        emit_json(described)
    else:
        print_model(out(), described, top)


def _show_user(model: "RankingModel", user: str, top: int, *, as_json: bool) -> None:
    described = describe_user(model, user, top)
    if as_json:
        emit_json(described)
    else:
        print_user(out(), described)
