"""``plurank evaluate``: accuracy and log-likelihood of a model on held-out comparisons."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import plurank
from plurank.cli import inputs, options
from plurank.cli.errors import about
from plurank.cli.inputs import open_source
from plurank.cli.output import emit_json, out, progress
from plurank.cli.tables import facts, plain_table
from plurank.text import percent

if TYPE_CHECKING:
    from plurank import Comparisons, Store
    from plurank.models.base import RankingModel

GUESS = [0.5]  # the probability of any outcome under guessing
WORSE_THAN_GUESSING = (
    "Worse than guessing: these comparisons differ from those the model was fitted to. Check whether winner and loser "
    "are swapped, and whether the users are from the same population."
)


def evaluate(
    model: options.ModelFile,
    test: Annotated[
        Path,
        typer.Argument(metavar="TEST", help="Held-out comparisons: a file or a store.", callback=inputs.as_file),
    ],
    ties: options.Ties = "half",
    column: options.Column = None,
    items: options.ItemsFile = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Evaluate a model on held-out comparisons.

    Prints the log-likelihood per comparison and the accuracy, each next to that of guessing. Known users are
    predicted with their own weights, others with the population's mean weights.

    \b
    Examples:
      plurank evaluate model.plurank test.csv
      plurank evaluate model.plurank test.csv --json

    TEST has the columns of `plurank fit`: user, winner, loser, or user, left, right, winner, or other names
    for these.
    """
    fitted = plurank.load(model)
    source = open_source(test, column, ties, items)
    with progress("evaluating"), about(test):
        found = _evaluate(fitted, source)
    if as_json:
        emit_json(found)
    else:
        _print(found)


def _evaluate(fitted: "RankingModel", source: "Comparisons | Store") -> dict[str, Any]:
    from plurank.data.encoding import look_up
    from plurank.engine.blocks import iterate_users

    n_known = sum(int((look_up(piece.users, fitted.users_, "user") >= 0).sum()) for piece in iterate_users(source))
    return {
        "log_likelihood": fitted.score(source),
        "accuracy": fitted.accuracy(source),
        "guessing": {"log_likelihood": plurank.log_likelihood(GUESS), "accuracy": plurank.accuracy(GUESS)},
        "n_comparisons": len(source),
        "n_users": source.n_users,
        "n_known_users": n_known,
        "known_users_share": n_known / source.n_users,
    }


def _print(found: dict[str, Any]) -> None:
    table = plain_table("Per comparison", "this model", "guessing")
    for name, title in (("log_likelihood", "log-likelihood"), ("accuracy", "accuracy")):
        table.add_row(title, f"{found[name]:.3f}", f"{found['guessing'][name]:.3f}")
    share = f"{found['n_known_users']:,} of {found['n_users']:,} ({percent(found['known_users_share'])})"
    console = out()
    console.print(table)
    console.print(facts([("comparisons", f"{found['n_comparisons']:,}"), ("known users", share)]))
    if found["log_likelihood"] < found["guessing"]["log_likelihood"]:
        console.print(WORSE_THAN_GUESSING)
    if found["n_known_users"] < found["n_users"]:
        console.print("Other users were predicted with the population's mean weights.", style="dim")
