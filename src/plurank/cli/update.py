"""``plurank update``: more comparisons for a model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import plurank
from plurank.choices import Ties
from plurank.cli import options, streams
from plurank.cli.errors import about
from plurank.cli.files import check_output, written
from plurank.cli.inputs import add_texts, read_data
from plurank.cli.output import (
    emit_json,
    label,
    out,
    progress,
    warn,
)
from plurank.cli.portraits import describe_model
from plurank.exceptions import DataError, ParameterError
from plurank.extras import extra
from plurank.text import count

if TYPE_CHECKING:
    from plurank import Comparisons, MixedRanking
    from plurank.web.learning import Lesson


def update(
    model: options.ModelFile,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="INPUT",
            help="Comparisons that the model has not seen.",
            show_default=False,
            callback=streams.as_file,
        ),
    ] = None,
    feedback: Annotated[
        str | None,
        typer.Option("--feedback", metavar="DB", help="Instead of INPUT: answers given to `plurank serve`."),
    ] = None,
    include_suspicious: Annotated[
        bool,
        typer.Option("--include-suspicious", help="With --feedback: also use answers that look like ballot stuffing."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="NEW", help="Where to save the new model.", show_default="MODEL"),
    ] = None,
    ties: options.Ties = "half",
    column: options.Column = None,
    items: options.ItemsFile = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Go on fitting a model with more comparisons.

    The comparisons may be of users and items old and new. Those the model was fitted to are not needed, and
    must not be given again: they would count twice. Rankings keep their numbers.

    \b
    Examples:
      plurank update model.plurank today.csv
      plurank update model.plurank today.csv -o newer.plurank
      plurank update model.plurank --feedback model.plurank.feedback.db

    With --feedback the model learns from answers given to `plurank serve`, each answer once, even if the
    update is stopped; those that arrive in the meantime are for the next update. DB is a SQLite file or a
    PostgreSQL URL. Answers that look like ballot stuffing are left out, and reported: many names, the same pair
    again and again, or more answers than anybody can read, from one browser or address.

    The input has columns as for `plurank fit`: user, winner, loser, or user, left, right, winner, or other
    names for these.
    """
    if (data is None) == (feedback is None):
        raise ParameterError("expected INPUT or --feedback, got " + ("neither." if data is None else "both. Give one."))
    target = check_output(output or model, *([] if data is None else [data]))
    fitted = _load(model)
    n_users, n_items = len(fitted.users_), len(fitted.items_)
    reported: dict[str, Any] = {}
    if data is not None:
        comparisons = _learn_from_file(fitted, data, options.parse_columns(column), ties, items)
    else:
        lesson = _learn_from_feedback(fitted, str(feedback), include_suspicious=include_suspicious)
        reported = {"excluded_answers": [finding.to_dict() for finding in lesson.excluded]}
        if lesson.comparisons is None:
            _say_nothing_new(model, reported, as_json=as_json)
            return
        comparisons = lesson.comparisons
    add_texts(fitted, items)
    fitted.save(target)
    written.append(target)
    sizes = {
        "n_comparisons": len(comparisons),
        "n_new_users": len(fitted.users_) - n_users,
        "n_new_items": len(fitted.items_) - n_items,
    }
    if as_json:
        emit_json({"output": str(output or model), **sizes, **reported, **describe_model(fitted)})
    else:
        _print(output or model, sizes)


def _learn_from_file(
    fitted: "MixedRanking", data: Path, columns: dict[str, str] | None, ties: Ties, items: Path | None
) -> "Comparisons":
    comparisons = read_data(data, columns, ties, items)
    with progress("updating", announce=True) as on_progress, about(data):
        fitted.update(comparisons, on_progress=on_progress)
    return comparisons


def _learn_from_feedback(fitted: "MixedRanking", database: str, *, include_suspicious: bool) -> "Lesson":
    with extra("web", "--feedback"):
        from plurank.web import learning
    with progress("updating", announce=True) as on_progress:
        lesson = learning.prepare_lesson(fitted, database, include_suspicious=include_suspicious)
        if lesson.comparisons is not None:
            learning.learn(fitted, lesson, on_progress=on_progress)
    if lesson.excluded:
        warn(learning.explain(lesson.excluded, "--include-suspicious"))
    return lesson


def _say_nothing_new(model: Path, reported: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        emit_json({"output": None, "n_comparisons": 0, "n_new_users": 0, "n_new_items": 0, **reported})
    else:
        out().print(f"There are no answers that are new to {label(model)}; it stays as it is.", soft_wrap=True)


def _load(file: Path) -> "MixedRanking":
    fitted = plurank.load(file)
    if not isinstance(fitted, plurank.MixedRanking):
        raise DataError(
            f"{file.name} was made by --method topic, which cannot be updated. Fit again with all comparisons."
        )
    return fitted


def _print(output: Path, sizes: dict[str, Any]) -> None:
    console = out()
    users, items = count(sizes["n_new_users"], "new user"), count(sizes["n_new_items"], "new item")
    console.print(f"Added {count(sizes['n_comparisons'], 'comparison')}, with {users} and {items}.")
    console.print(f"Saved as {label(output)}. See it with: plurank show {label(output)}", soft_wrap=True)
