"""``plurank fit``: comparisons in, a model file out."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import plurank
from plurank.choices import MIXINGS, ComponentName, Detection, Directions, Mixing
from plurank.cli import options
from plurank.cli.errors import say_how_to_go_on
from plurank.cli.files import check_model, written
from plurank.cli.inputs import add_texts, read
from plurank.cli.output import (
    emit_json,
    label,
    note,
    out,
    progress,
    warn,
)
from plurank.cli.portraits import describe_model, print_model
from plurank.cli.select import describe_selection
from plurank.exceptions import ParameterError
from plurank.text import count

if TYPE_CHECKING:
    from plurank import Comparisons, Selection, Store
    from plurank.models.base import RankingModel

TOP = 10
AUTO = "auto"
# the options of each method, by the names of the model's parameters
OPTIONS = {
    "mixed": {"component": "--component", "mixing": "--mixing", "ensemble": "--ensemble", "max_iter": "--max-iter"},
    "topic": {
        "detection": "--detection",
        "n_projections": "--projections",
        "separation_tol": "--separation-tol",
        "directions": "--directions",
    },
}


def fit(
    data: options.DataSource,
    rankings: Annotated[
        str,
        typer.Option("--rankings", "-k", metavar="K", help="How many rankings to look for, or auto: try 1 to 10."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="Where to save the model.")],
    method: Annotated[
        Literal["mixed", "topic"],
        typer.Option(help="mixed fits rankings and weights by likelihood; topic is the paper's method."),
    ] = "mixed",
    component: Annotated[
        ComponentName | None,
        typer.Option(help="What a ranking is: scores, or an order of some kind.", show_default="bradley-terry"),
    ] = None,
    mixing: Annotated[
        Mixing | None,
        typer.Option(
            help="Is each comparison made by one of a person's rankings, or by a blend of their scores?",
            show_default="probability",
        ),
    ] = None,
    ensemble: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="How many fits predictions average over.", show_default="1"),
    ] = None,
    max_iter: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="The most passes of a fit.", show_default="200")
    ] = None,
    detection: Annotated[
        Detection | None,
        typer.Option(
            help="With --method topic: how to find the pairs that tell rankings apart; projections is the paper's way.",
            show_default="whitened",
        ),
    ] = None,
    projections: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="With --detection projections: how many.", show_default="150 a ranking"),
    ] = None,
    separation_tol: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="With --detection projections: how different two pairs must be.", show_default="0.01"
        ),
    ] = None,
    directions: Annotated[
        Directions | None,
        typer.Option(help="With --detection projections: how directions are drawn.", show_default="gaussian"),
    ] = None,
    engine: options.EngineOption = "local",
    scheduler: options.Scheduler = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="With a store: keep there how far the fit is, every few passes."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the fit that --checkpoint kept.")] = False,
    seed: options.Seed = 0,
    ties: options.Ties = "half",
    column: options.Column = None,
    items: options.ItemsFile = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Find the rankings a population shares.

    Reads comparisons, finds K rankings and how much each person follows each, prints the rankings, and saves
    a model. How many rankings? See `plurank select`.

    \b
    Examples:
      plurank fit votes.csv -k 3 -o model.plurank
      plurank fit votes.csv -k auto -o model.plurank
      plurank fit votes.csv -k 3 -o paper.plurank --method topic
      plurank fit arena.parquet -k 5 -o arena.plurank --column user=person
      plurank fit votes.csv -k 3 -o model.plurank --items comments.csv
      plurank fit votes.store -k 10 -o model.plurank --checkpoint run1

    \b
    The input is a store, made by `plurank ingest` from data of any size, or has
    one comparison a row, in any of these forms:
      user, winner, loser [, weight]
      user, left, right, winner        the item that won, or: left, right, tie
      user, left, right, comparison    a number: < 0 left, > 0 right, 0 tie

    \b
    Other names are understood too:
      user      user_id, worker, assessor, voter, judge, annotator, rater, ...
      winner    top_item, chosen           loser    bottom_item, rejected
      left      model_a, entity_a, item_a  right    model_b, entity_b, item_b
    Any other name: say so, as in --column user=person.

    Votes of pol.is (votes.csv or participants-votes.csv), tables of user, item, rating (or rank) and PrefLib
    ballots are read too: all pairs of a person's items are compared. `plurank convert` has more ways.
    """
    given: dict[str, Any] = {
        "component": component, "mixing": mixing, "ensemble": ensemble, "max_iter": max_iter,
        "detection": detection, "n_projections": projections, "separation_tol": separation_tol,
        "directions": directions,
    }  # fmt: skip
    settings = {name: value for name, value in given.items() if value is not None}
    n_rankings = _parse_rankings(rankings, method)
    _refuse_foreign(method, settings)
    target = check_model(output, data)
    _check_checkpoint(method, checkpoint, resume)
    source, found = read(data, column, ties, items)
    _note_unused(method, settings)
    selection = None
    if n_rankings is None:
        selection = _select(source, settings, seed)
        n_rankings, settings["mixing"] = selection.n_rankings, selection.mixing
    make = plurank.TopicRanking if method == "topic" else plurank.MixedRanking
    model = make(n_rankings, random_state=seed, **settings)
    where: dict[str, Any] = {"engine": engine, "scheduler": scheduler}
    if method == "mixed":
        where |= {"checkpoint": checkpoint, "resume": resume}
    title = f"fitting {count(n_rankings, 'ranking')}"
    with say_how_to_go_on(_hint_of(checkpoint)), progress(title, announce=True) as on_progress:
        model.fit(source, on_progress=on_progress, **where)
    if isinstance(source, plurank.Store):
        add_texts(model, items)
    model.save(target)
    written.append(target)
    if checkpoint is not None:
        _clear(checkpoint)
    if as_json:
        selected = {} if selection is None else {"selection": describe_selection(selection)}
        emit_json({"output": str(output), "data": found, **selected, **describe_model(model)})
    else:
        _print(model, output)


def _hint_of(checkpoint: Path | None) -> Callable[[], str]:
    """Give what says how to go on with a fit, once it has kept a checkpoint."""
    from plurank.mixed.checkpoint import NAME

    hint = f"{checkpoint} keeps how far the fit was; the same command with --resume goes on."
    return lambda: hint if checkpoint is not None and (checkpoint / NAME).exists() else ""


def _clear(checkpoint: Path) -> None:
    from plurank.mixed.checkpoint import clear_checkpoint

    clear_checkpoint(checkpoint.expanduser())


def _parse_rankings(text: str, method: str) -> int | None:
    """Read how many rankings; None leaves it to the data."""
    if text.strip().lower() == AUTO:
        if method == "topic":
            raise ParameterError("-k auto needs --method mixed. Say how many rankings, as in -k 3.")
        return None
    if not text.strip().isdecimal() or int(text) < 1:
        raise ParameterError(f"--rankings takes a whole number of at least 1, or {AUTO}; got {text!r}.")
    return int(text)


def _refuse_foreign(method: str, settings: dict[str, Any]) -> None:
    """Refuse options that belong to the other method: whoever gave one expects that method."""
    other = "topic" if method == "mixed" else "mixed"
    foreign = [option for name, option in OPTIONS[other].items() if name in settings]
    if foreign:
        verb = "belongs" if len(foreign) == 1 else "belong"
        raise ParameterError(
            f"{', '.join(foreign)} {verb} to --method {other}, and this is --method {method}. "
            f"Say --method {other}, or leave out {', '.join(foreign)}."
        )


def _check_checkpoint(method: str, checkpoint: Path | None, resume: bool) -> None:
    if resume and checkpoint is not None and not checkpoint.exists():
        note(f"{checkpoint} is not there: the fit begins anew.")
    if method == "topic" and (checkpoint is not None or resume):
        raise ParameterError("--checkpoint and --resume belong to --method mixed; --method topic takes a few passes.")


def _note_unused(method: str, settings: dict[str, Any]) -> None:
    if method == "topic" and settings.get("detection", "whitened") == "whitened":
        for name, option in OPTIONS["topic"].items():
            if name in settings and name != "detection":
                warn(f"{option} has no effect with --detection whitened.")


def _select(source: "Comparisons | Store", settings: dict[str, Any], seed: int) -> "Selection":
    """Choose how many rankings, and how they mix where that was not said."""
    component = settings.get("component", "bradley-terry")
    ways = MIXINGS if component == "bradley-terry" else MIXINGS[:1]
    with progress("trying numbers of rankings", announce=True) as on_progress:
        selection = plurank.select_rankings(
            source, mixing=settings.get("mixing", ways), random_state=seed, on_progress=on_progress,
            component=component,
        )  # fmt: skip
    note(f"Chosen: {selection.answer}")
    return selection


def _print(model: "RankingModel", output: Path) -> None:
    console = out()
    print_model(console, describe_model(model), TOP)
    console.print(f"\nSaved as {label(output)}. See more with: plurank show {label(output)}", soft_wrap=True)
