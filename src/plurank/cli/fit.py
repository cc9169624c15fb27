"""``plurank fit``: comparisons in, a model file out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import plurank
from plurank.cli import options
from plurank.cli.files import check_output, written
from plurank.cli.output import emit_json, label, note, out, progress, warn
from plurank.cli.tables import describe_model, details_table, facts, fit_facts, ranking_tables
from plurank.wording import count

if TYPE_CHECKING:
    from plurank import Comparisons, DataReport, TopicRanking

TOP = 10


def fit(
    data: Annotated[Path, typer.Argument(metavar="INPUT", help="Comparisons: .csv, .tsv, .parquet or .jsonl.")],
    rankings: Annotated[
        int, typer.Option("--rankings", "-k", metavar="K", min=1, help="How many rankings to look for.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="Where to save the model.")],
    detection: Annotated[
        Literal["whitened", "projections"],
        typer.Option(help="How to find the pairs that tell rankings apart; projections is the paper's way."),
    ] = "whitened",
    projections: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="With --detection projections: how many.", show_default="150 a ranking"),
    ] = None,
    separation_tol: Annotated[
        float, typer.Option(metavar="X", help="With --detection projections: how different two pairs must be.")
    ] = 0.01,
    directions: Annotated[
        Literal["gaussian", "sphere"],
        typer.Option(help="With --detection projections: how directions are drawn."),
    ] = "gaussian",
    seed: options.Seed = 0,
    ties: options.Ties = "half",
    column: options.Column = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Find the rankings a population shares.

    Reads comparisons, finds K rankings and how much each person follows each, prints the rankings, and saves
    a model.

    \b
    Examples:
      plurank fit votes.csv -k 3 -o model.plurank
      plurank fit arena.parquet -k 5 -o arena.plurank --column user=person

    \b
    The input has one comparison a row, in any of these forms:
      user, winner, loser [, weight]
      user, left, right, winner        the item that won, or: left, right, tie
      user, left, right, comparison    a number: < 0 left, > 0 right, 0 tie

    \b
    Other names are understood too:
      user      user_id, worker, assessor, voter, judge, annotator, rater, ...
      winner    top_item, chosen           loser    bottom_item, rejected
      left      model_a, entity_a, item_a  right    model_b, entity_b, item_b
    Any other name: say so, as in --column user=person.

    Ratings or whole rankings? Turn them into comparisons with `plurank convert`.
    """
    target = check_output(output, data)
    comparisons, report = read(data, column, ties)
    model = plurank.TopicRanking(
        rankings, detection, n_projections=projections, separation_tol=separation_tol, directions=directions,
        random_state=seed,
    )  # fmt: skip
    _note_unused(detection, projections)
    with progress(f"fitting {count(rankings, 'ranking')}", announce=True) as on_progress:
        model.fit(comparisons, on_progress=on_progress)
    model.save(target)
    written.append(target)
    if as_json:
        emit_json({"output": str(output), "data": report.to_dict(), **describe_model(model)})
    else:
        _print(model, output)


def _note_unused(detection: str, projections: int | None) -> None:
    if detection == "whitened" and projections is not None:
        warn("--projections has no effect with --detection whitened.")


def read(file: Path, column: list[str] | None, ties: Literal["half", "drop"]) -> tuple["Comparisons", "DataReport"]:
    """Read comparisons, and say what in them will make trouble."""
    columns = options.parse_columns(column)
    with progress(f"reading {file.name}"):
        comparisons = plurank.read_comparisons(file, columns=columns, ties=ties)
        report = comparisons.diagnose()
    n_users, n_items = count(report.n_users, "user"), count(report.n_items, "item")
    note(f"{file.name}: {n_users}, {n_items}, {count(report.n_comparisons, 'comparison')}.")
    for problem in report.problems:
        warn(problem)
    return comparisons, report


def _print(model: "TopicRanking", output: Path) -> None:
    console, described = out(), describe_model(model)
    console.print(ranking_tables(console, described["rankings"], TOP))
    if model.rankings_.shape[1] > TOP:
        console.print(f"The best {TOP} of {len(model.items_):,} items each; the share is how much people follow it.\n")
    console.print(details_table(described["rankings"]))
    console.print(facts(fit_facts(described)))
    console.print(f"\nSaved as {label(output)}. See more with: plurank show {label(output)}", soft_wrap=True)
