"""Commands that fit: ``fit`` and ``select``."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import plurank
from plurank.choices import MIXINGS, Auto, ComponentName, Detection, Directions, Inference, Mixing, MixingChoice
from plurank.cli import options
from plurank.cli.error_messages import OPTIONS, say_how_to_resume
from plurank.cli.inputs import add_texts, name_of, read
from plurank.cli.output import check_model_file, emit_json, note, out, progress, warn, written
from plurank.cli.summaries import print_model, print_selection
from plurank.exceptions import ParameterError
from plurank.text import count, label

if TYPE_CHECKING:
    from plurank import Selection
    from plurank.models.base import RankingModel

TOP = 10
AUTO: Auto = "auto"
# parameters of each method that are options, and those of the paper's method that will only be in Python
PARAMETERS = {
    "mixed": ("component", "mixing", "inference", "n_factors", "ensemble", "max_iter"),
    "topic": ("detection", "n_projections", "separation_tol", "directions"),
}
DEPRECATED = ("n_projections", "separation_tol", "directions")
MOST_CANDIDATES = 100


def fit_command(
    data: options.DataSource,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="Output model file.")],
    rankings: Annotated[
        str,
        typer.Option(
            "--rankings", "-k", metavar="K", help="Number of rankings; auto chooses 1 to 10 on held-out comparisons."
        ),
    ] = AUTO,
    method: Annotated[
        Literal["mixed", "topic"],
        typer.Option(help="mixed: maximum posterior fit; topic: the paper's method."),
    ] = "mixed",
    component: Annotated[
        ComponentName | None,
        typer.Option(help="Model of one ranking: Bradley-Terry scores, or an order.", show_default="bradley-terry"),
    ] = None,
    mixing: Annotated[
        MixingChoice | None,
        typer.Option(
            help="Mix the rankings' probabilities, or their utilities (scores); auto chooses on held-out comparisons.",
            show_default=AUTO,
        ),
    ] = None,
    inference: Annotated[
        Inference | None,
        typer.Option(
            help="For comparisons: the most probable scores, or draws from the posterior: slower, often better.",
            show_default="optimisation",
        ),
    ] = None,
    factors: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Where the posterior is sampled: number of factors beside the rankings; 0 for none.",
            show_default=AUTO,
        ),
    ] = None,
    ensemble: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Number of fits to average, or of chains.", show_default="1"),
    ] = None,
    max_iter: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Maximum number of iterations.", show_default="200")
    ] = None,
    detection: Annotated[
        Detection | None,
        typer.Option(
            help="With --method topic: detection of novel pairs; projections is Algorithm 2 of the paper on the rank-K "
            "estimate of E, printed the same on the raw estimate.",
            show_default="whitened",
        ),
    ] = None,
    projections: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, hidden=True),
    ] = None,
    separation_tol: Annotated[
        float | None,
        typer.Option(metavar="X", hidden=True),
    ] = None,
    directions: Annotated[
        Directions | None,
        typer.Option(hidden=True),
    ] = None,
    people: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Table of covariates: user, and a column for each."),
    ] = None,
    formula: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Covariates to use, e.g. 'age + C(zip)'.", show_default="all columns"),
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Table of features of the items: item, and a column for each."),
    ] = None,
    engine: options.EngineOption = "local",
    scheduler: options.Scheduler = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Checkpoint folder, for fits of a store of comparisons."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Resume the fit stored in --checkpoint.")] = False,
    seed: options.Seed = 0,
    ties: options.Ties = "half",
    column: options.Column = None,
    items: options.ItemsFile = None,
    offered: options.Offered = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Fit the rankings that users share.

    Reads comparisons, fits the rankings and each user's weights, prints the rankings and saves a model. The number
    of rankings and the mixing are chosen on held-out comparisons unless they are given.

    \b
    Examples:
      plurank fit votes.csv -o model.plurank
      plurank fit votes.csv -k 3 -o model.plurank
      plurank fit votes.csv -k 3 -o paper.plurank --method topic
      plurank fit arena.parquet -k 5 -o arena.plurank --column user=person
      plurank fit votes.csv -k 3 -o model.plurank --items comments.csv
      plurank fit votes.csv -o model.plurank --people people.csv
      plurank fit votes.csv -o model.plurank --features items.csv
      plurank fit votes.store -k 10 -o model.plurank --checkpoint run1

    \b
    The input is a store written by `plurank ingest`, or a table with one
    comparison per row, in one of these forms:
      user, winner, loser [, weight]
      user, left, right, winner        the item that won, or: left, right, tie
      user, left, right, comparison    a number: < 0 left, > 0 right, 0 tie

    \b
    Other recognised names:
      user      user_id, worker, assessor, voter, judge, annotator, rater, ...
      winner    top_item, chosen           loser    bottom_item, rejected
      left      model_a, entity_a, item_a  right    model_b, entity_b, item_b
    Map any other name with --column, e.g. --column user=person.

    Votes from pol.is (votes.csv or participants-votes.csv), tables of user, item, rating (or rank) and PrefLib
    ballots are modelled directly, by one latent utility for each item that a user rated. With --method topic or
    --mixing probability all pairs of a user's items are compared instead; `plurank convert` has more options.
    """
    given: dict[str, Any] = {
        "component": component, "mixing": mixing, "inference": inference, "n_factors": factors, "ensemble": ensemble,
        "max_iter": max_iter, "detection": detection, "n_projections": projections,
        "separation_tol": separation_tol, "directions": directions,
    }  # fmt: skip
    settings = {name: value for name, value in given.items() if value is not None}
    n_rankings = _parse_rankings(rankings, method)
    _check_method(method, settings)
    make: Any = plurank.TopicRanking if method == "topic" else plurank.MixedRanking
    model = make(n_rankings, random_state=seed, **settings)
    model.check_parameters()  # before the data are read
    known = _check_covariates(method, {"people": people, "formula": formula, "items": features})
    target = check_model_file(output, data)
    _check_checkpoint(method, checkpoint, resume)
    directly = method == "mixed" and mixing != "probability" and component in (None, "bradley-terry")
    source, found = read(data, column, ties, items, offered=offered, rated=directly)
    _warn_deprecated(settings)
    where: dict[str, Any] = {"engine": engine, "scheduler": scheduler}
    if method == "mixed":
        where |= {"checkpoint": checkpoint, "resume": resume, **known}
    title = "fitting" if n_rankings == AUTO else f"fitting {count(n_rankings, 'ranking')}"
    with say_how_to_resume(_hint_of(checkpoint)), progress(title, announce=True) as on_progress:
        model.fit(source, on_progress=on_progress, **where)
    if isinstance(source, (plurank.Store, plurank.RatedStore)):
        add_texts(model, items)
    for table, design in ((people, "covariates"), (features, "item_features")):
        for sentence in getattr(model, design).reports if table is not None else ():
            warn(sentence)
    model.save(target)
    written.append(target)
    if checkpoint is not None:
        _clear(checkpoint)
    if as_json:
        summary = model.summary(items=True)
        emit_json({"output": str(output), **summary, "data": {**summary["data"], **found}})
    else:
        _print_fit(model, output)


def _check_covariates(method: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return what is given about users and items; raise where it has no use."""
    known = {name: value for name, value in given.items() if value is not None}
    if method == "topic" and known:
        raise ParameterError("--people, --formula and --features belong to --method mixed, got --method topic.")
    if "formula" in known and "people" not in known:
        raise ParameterError("--formula requires a table of people: name it with --people.")
    return known


def _hint_of(checkpoint: Path | None) -> Callable[[], str]:
    """Return a function that says how to resume a fit, once a checkpoint exists."""
    from plurank.mixed.checkpoint import NAME

    hint = f"the fit so far is stored in {checkpoint}; run the same command with --resume to continue."
    return lambda: hint if checkpoint is not None and (checkpoint / NAME).exists() else ""


def _clear(checkpoint: Path) -> None:
    from plurank.mixed.checkpoint import clear_checkpoint

    clear_checkpoint(checkpoint.expanduser())


def _parse_rankings(text: str, method: str) -> int | Auto:
    """Return the number of rankings, or auto."""
    if text.strip().lower() == AUTO:
        if method == "topic":
            raise ParameterError("--method topic requires a number of rankings, e.g. -k 3; auto is for --method mixed.")
        return AUTO
    if not text.strip().isdecimal() or int(text) < 1:
        raise ParameterError(parameter="n_rankings", expected=f"an integer >= 1 or {AUTO}", got=f"{text!r:.80}")
    return int(text)


def _check_method(method: str, settings: dict[str, Any]) -> None:
    """Raise for options of the other method: whoever gives one expects that method."""
    other = "topic" if method == "mixed" else "mixed"
    foreign = [OPTIONS[name] for name in PARAMETERS[other] if name in settings]
    if foreign:
        verb = "belongs" if len(foreign) == 1 else "belong"
        raise ParameterError(
            f"{', '.join(foreign)} {verb} to --method {other}, got --method {method}. "
            f"Use --method {other}, or leave out {', '.join(foreign)}."
        )


def _check_checkpoint(method: str, checkpoint: Path | None, resume: bool) -> None:
    if resume and checkpoint is not None and not checkpoint.exists():
        note(f"{checkpoint} does not exist; starting a new fit.")
    if method == "topic" and (checkpoint is not None or resume):
        raise ParameterError(
            "--checkpoint and --resume belong to --method mixed; --method topic only needs a few passes."
        )


def _warn_deprecated(settings: dict[str, Any]) -> None:
    if settings.get("component") == "mallows":
        warn(
            "--component mallows is deprecated and will be removed in the next release; bradley-terry, the default, "
            "predicts as well."
        )
    for name in DEPRECATED:
        if name in settings:
            warn(
                f"{OPTIONS[name]} is deprecated and will be removed in the next release. Use "
                f"plurank.TopicRanking({name}=...) in Python."
            )
            if settings.get("detection", "whitened") == "whitened":
                warn(f"{OPTIONS[name]} has no effect with --detection whitened.")


def _print_fit(model: "RankingModel", output: Path) -> None:
    console = out()
    print_model(console, model.summary(items=True), TOP)
    console.print(f"\nSaved as {label(output)}. Next: plurank show {label(output)}", soft_wrap=True)


def select_command(
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
    offered: options.Offered = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Choose the number of rankings by held-out likelihood.

    Holds out some comparisons, fits every candidate to the rest, and measures how well it predicts those held
    out. Chosen is the smallest number of rankings that is surely about as good as the best. `plurank fit`
    chooses by the same rule, among fewer candidates, unless a number is given.

    \b
    Examples:
      plurank select votes.csv
      plurank select votes.csv --candidates 1-5 --mixing probability
      plurank select votes.csv --candidates 1,2,5,10 --json

    The input has the columns of `plurank fit`: user, winner, loser, or user, left, right, winner, or other
    names for these; or ratings or rankings, which are modelled directly unless --mixing probability is given.
    """
    numbers = parse_candidates(candidates)
    source, _ = read(data, column, ties, items, offered=offered, rated=mixing != "probability")
    with progress("trying numbers of rankings", announce=True) as on_progress:
        selection = plurank.select_rankings(
            source, numbers, MIXINGS if mixing == "both" else mixing, random_state=seed, on_progress=on_progress
        )
    following = _next_command(selection, name_of(data), seed, ties, column, items, offered)
    if as_json:
        emit_json({**selection.summary(), "next": following})
    else:
        _print_selection(selection, following)


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
    selection: "Selection", data: Path, seed: int, ties: str, column: list[str] | None, items: Path | None,
    offered: str | None,
) -> str:  # fmt: skip
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
    if offered is not None:
        words += ["--offered", offered]
    return shlex.join(words)


def _print_selection(selection: "Selection", following: str) -> None:
    console = out()
    print_selection(console, selection.summary())
    if selection.influence is not None and selection.influence.flagged:
        console.print(f"! {selection.influence.sentence}", style="yellow")
    console.print(f"Next: {following}", soft_wrap=True)
