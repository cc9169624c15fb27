"""``plurank update``: a model with more comparisons."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import plurank
from plurank.cli import inputs, options
from plurank.cli.error_messages import about
from plurank.cli.inputs import add_texts, open_source
from plurank.cli.output import check_output, emit_json, out, progress, warn, written
from plurank.exceptions import DataError, ParameterError, extra
from plurank.text import count, label

if TYPE_CHECKING:
    from plurank import MixedRanking
    from plurank.web.learning import Lesson


def update_command(
    model: options.ModelFile,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="INPUT",
            help="New comparisons, ratings or rankings.",
            show_default=False,
            callback=inputs.as_file,
        ),
    ] = None,
    feedback: Annotated[
        str | None,
        typer.Option("--feedback", metavar="DB", help="Use answers stored by `plurank serve` instead of INPUT."),
    ] = None,
    include_suspicious: Annotated[
        bool,
        typer.Option("--include-suspicious", help="With --feedback: include answers that look like ballot stuffing."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="NEW", help="Output model file.", show_default="MODEL"),
    ] = None,
    ties: options.Ties = "half",
    column: options.Column = None,
    items: options.ItemsFile = None,
    offered: options.Offered = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Update a model with more comparisons, ratings or rankings.

    They may involve known and new users and items. Do not pass data that the model was fitted to: they would
    count twice. Rankings keep their numbers.

    \b
    Examples:
      plurank update model.plurank today.csv
      plurank update model.plurank today.csv -o newer.plurank
      plurank update model.plurank --feedback model.plurank.feedback.db

    With --feedback the model is updated with answers stored by `plurank serve`. Every answer is used once, even
    if an update is interrupted. DB is a SQLite file or a PostgreSQL URL. Answers that look like ballot stuffing
    (many names, one pair repeated, or more answers than anybody can read, from one browser or address) are
    excluded and reported.

    The input has the columns of `plurank fit`: user, winner, loser, or user, left, right, winner, or other
    names for these; or ratings or rankings, which a model of comparisons compares.
    """
    if (data is None) == (feedback is None):
        got = "neither" if data is None else "both"
        raise ParameterError(f"expected either INPUT or --feedback, got {got}.")
    target = check_output(output or model, *([] if data is None else [data]))
    fitted = _load(model)
    n_users, n_items = len(fitted.users_), len(fitted.items_)
    reported: dict[str, Any] = {}
    if data is not None:
        said: Any = open_source(data, column, ties, items, offered=offered, rated=fitted.posterior is not None)
        with progress("updating", announce=True) as on_progress, about(data):
            fitted.update(said, on_progress=on_progress)
    else:
        lesson = _learn_from_feedback(fitted, str(feedback), include_suspicious=include_suspicious)
        reported = {"excluded_answers": [finding.to_dict() for finding in lesson.excluded]}
        if lesson.comparisons is None:
            _report_nothing_new(model, reported, as_json=as_json)
            return
        said = lesson.comparisons
    add_texts(fitted, items)
    fitted.save(target)
    written.append(target)
    sizes = {
        "n_comparisons": len(said),
        "n_new_users": len(fitted.users_) - n_users,
        "n_new_items": len(fitted.items_) - n_items,
    }
    if as_json:
        emit_json({**fitted.summary(items=True), "output": str(output or model), **sizes, **reported})
    else:
        _print_update(output or model, sizes, getattr(said, "noun", "comparison"))


def _learn_from_feedback(fitted: "MixedRanking", database: str, *, include_suspicious: bool) -> "Lesson":
    with extra("web", "--feedback"):
        from plurank.web import learning
    with progress("updating", announce=True) as on_progress:
        lesson = learning.prepare_lesson(fitted, database, include_suspicious=include_suspicious)
        if lesson.comparisons is not None:
            learning.learn(fitted, lesson, on_progress=on_progress)
    if lesson.excluded:
        warn(learning.describe_excluded(lesson.excluded, "--include-suspicious"))
    return lesson


def _report_nothing_new(model: Path, reported: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        emit_json({"output": None, "n_comparisons": 0, "n_new_users": 0, "n_new_items": 0, **reported})
    else:
        out().print(f"No new answers for {label(model)}; it is unchanged.", soft_wrap=True)


def _load(file: Path) -> "MixedRanking":
    fitted = plurank.load(file)
    if not isinstance(fitted, plurank.MixedRanking):
        raise DataError(
            f"{file.name} was fitted with --method topic and cannot be updated. Fit again with all comparisons."
        )
    return fitted


def _print_update(output: Path, sizes: dict[str, Any], noun: str) -> None:
    console = out()
    users, items = count(sizes["n_new_users"], "new user"), count(sizes["n_new_items"], "new item")
    console.print(f"Added {count(sizes['n_comparisons'], noun)}, with {users} and {items}.")
    console.print(f"Saved as {label(output)}. Next: plurank show {label(output)}", soft_wrap=True)
