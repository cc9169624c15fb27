"""``plurank show``: a summary of a data file, a store or a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.filesize import decimal

import plurank
from plurank.cli import inputs, options
from plurank.cli.explain import MOST_SHOWN, print_effects, print_item_effects
from plurank.cli.inputs import add_texts, describe_store, read_rated_file
from plurank.cli.output import emit_json, out, progress
from plurank.cli.summaries import print_committee, print_model, print_user
from plurank.cli.tables import facts
from plurank.exceptions import DataError
from plurank.text import describe_spread, describe_ties, label

if TYPE_CHECKING:
    from plurank import DataReport, RatedStore, Store
    from plurank.data.rated import RatedItems
    from plurank.models.base import RankingModel


def show_command(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Data file, store (`plurank ingest`) or model (`plurank fit`).",
            callback=inputs.as_file,
        ),
    ],
    top: options.Top = 10,
    user: Annotated[
        str | None,
        typer.Option("--user", metavar="ID", help="Models: weights and top items of one user."),
    ] = None,
    committee: Annotated[
        int | None,
        typer.Option("--committee", metavar="N", min=1, help="Models: the N items that serve most users."),
    ] = None,
    ties: options.Ties = "half",
    column: options.Column = None,
    items: options.ItemsFile = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Summarise a data file, a store or a model.

    Data files: size and data-quality warnings. Stores: size. Models: the rankings, consensus and contested
    items, the users' weights and, where there are covariates, who follows which ranking, and what each rewards; with
    --user, the weights and top items of one user; with --committee, a few items such that most users find one they
    rank highly.

    \b
    Examples:
      plurank show votes.csv
      plurank show votes.csv --items comments.csv
      plurank show model.plurank --top 20
      plurank show model.plurank --user anna
      plurank show model.plurank --committee 3

    Data files have the columns of `plurank fit`: user, winner, loser, or user, left, right, winner, or other
    names for these. Ratings, votes and rankings are summarised as they are.
    """
    if not is_model(file):
        _check_model_options(user, committee, file)
        if file.is_dir():
            _show_store(file, as_json=as_json)
        else:
            _show_data(file, column, ties, items, as_json=as_json)
        return
    with progress(f"reading {file.name}"):
        model = plurank.load(file)
        add_texts(model, items)
    _show_model(model, user, committee, top, as_json=as_json)


def is_model(file: Path) -> bool:
    """Check whether a file is a model: by its first bytes, those of a zip, or by its suffix where it is damaged."""
    if not file.is_file():
        return file.suffix.lower() == ".plurank"
    with file.open("rb") as opened:
        return opened.read(4) == b"PK\x03\x04" or file.suffix.lower() == ".plurank"


def _check_model_options(user: str | None, committee: int | None, file: Path) -> None:
    for option, value in (("--user", user), ("--committee", committee)):
        if value is not None:
            raise DataError(
                f"{option} requires a model file, but {file.name} is not one. Create one with `plurank fit`."
            )


def _show_data(file: Path, column: list[str] | None, ties: Any, items: Path | None, *, as_json: bool) -> None:
    from plurank.data.rated import RatedItems

    source = read_rated_file(file, inputs.parse_columns(column), ties, items)
    if isinstance(source, RatedItems):
        emit_json(source.summary()) if as_json else _print_rated(source, file)
        return
    report = source.diagnose()
    if as_json:
        emit_json(report.to_dict())
    else:
        _print_report(report, file)


def _print_rated(said: "RatedItems", file: Path) -> None:
    rows = [
        ("users", _of_all(said.n_users, "user", said)),
        ("items", _of_all(said.n_items, "item", said)),
        (f"{said.noun}s", f"{len(said):,}"),
        ("per user", describe_spread(*said.per_user)),
        *([("values", f"{said.values[0]:g} to {said.values[-1]:g}")] if len(said.values) else []),
    ]
    console = out()
    console.print(facts(rows))
    console.print()
    _print_problems(said.problems, file)


def _print_problems(problems: list[str], file: Path) -> None:
    console = out()
    for problem in problems:
        console.print(f"! {problem}", style="yellow")
    if not problems:
        console.print("No problems found.", style="green")
    console.print(f"Next: plurank fit {label(file)} -o model.plurank", soft_wrap=True)


def _print_report(report: "DataReport", file: Path) -> None:
    console = out()
    per_user = describe_spread(report.min_per_user, report.median_per_user, report.max_per_user)
    rows = [
        ("users", _of_all(report.n_users, "user", report)),
        ("items", _of_all(report.n_compared_items, "item", report)),
        *([("votes", describe_ties(report.n_comparisons, report.n_ties))] if report.n_ties else []),
        ("comparisons", f"{report.n_comparisons:,}"),
        ("per user", per_user),
        ("repeated", f"{report.n_duplicates:,}"),
        ("items linked", "all" if report.is_connected else f"in {len(report.item_groups):,} separate groups"),
    ]
    console.print(facts(rows))
    console.print()
    _print_problems(report.problems, file)


def _of_all(n: int, what: str, source: "DataReport | RatedItems") -> str:
    """Return how many there are, and of how many where some were left out or never compared."""
    left_out = sum(entry.n for entry in source.excluded if entry.what == what)
    total = (source.n_users if what == "user" else source.n_items) + left_out
    return f"{n:,}" if n == total else f"{n:,} of {total:,}"


def _show_store(folder: Path, *, as_json: bool) -> None:
    from plurank.models.summary import left_out

    store = plurank.open_store(folder)
    described = describe_store(store)
    if as_json:
        emit_json(described)
        return
    least, median, most = store.per_user
    rows = [
        ("users", f"{store.n_users:,}"),
        ("items", f"{store.n_items:,}"),
        *_list_observations(store),
        ("per user", describe_spread(least, median, most)),
        ("shards", f"{store.n_shards:,}"),
        ("on disk", decimal(store.n_bytes)),
        *left_out(store.excluded),
    ]
    out().print(facts(rows))


def _list_observations(store: "Store | RatedStore") -> list[tuple[str, str]]:
    """Return how many observations of which kind a store has."""
    if isinstance(store, plurank.Store):
        weight = [("total weight", f"{store.total_weight:,.10g}")] if store.is_weighted else []
        return [("comparisons", f"{len(store):,}"), *weight]
    offered = [("offered, not ranked", f"{store.n_unranked:,}")] if store.n_unranked else []
    return [(f"{store.noun}s", f"{store.n_ranked:,}"), *offered]


def _show_model(model: "RankingModel", user: str | None, committee: int | None, top: int, *, as_json: bool) -> None:
    if committee is not None:
        chosen = model.committee(committee)
        emit_json(chosen.summary()) if as_json else print_committee(out(), chosen)
    elif user is not None:
        found = model.user_summary(user, top=top)
        emit_json(found) if as_json else print_user(out(), found)
    else:
        found = model.summary(items=True)
        if as_json:
            emit_json(found)
            return
        print_model(out(), found, top)
        _show_effects(model)


def _show_effects(model: "RankingModel") -> None:
    """Print who follows which ranking and what each rewards, by what tells most; nothing without such tables."""
    from plurank.report.effects import find_effects, find_item_effects

    console = out()
    effects, rewards = find_effects(model), find_item_effects(model)
    if effects is not None:
        console.print("\nWho follows which ranking (all covariates: plurank explain MODEL):", style="bold")
        print_effects(console, effects, MOST_SHOWN)
    if rewards is not None:
        title = "\nWhat each ranking rewards (all features: plurank explain MODEL --features):"
        console.print(title, style="bold")
        print_item_effects(console, rewards, MOST_SHOWN)
