"""``plurank evaluate``: how well a model predicts comparisons it has not seen."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

import plurank
from plurank.cli import options
from plurank.cli.errors import about
from plurank.cli.output import emit_json, out, percent, progress
from plurank.cli.tables import facts, plain_table

GUESS = [0.5]  # the probability that a coin gives to whatever happened


def evaluate(
    model: options.ModelFile,
    test: Annotated[Path, typer.Argument(metavar="TEST", help="Comparisons that were not used to fit the model.")],
    ties: options.Ties = "half",
    column: options.Column = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Measure how well a model predicts new comparisons.

    Prints the log-likelihood per comparison and the accuracy, each beside what guessing would get. Users the
    model knows are predicted with their own weights, others with the population's.

    \b
    Examples:
      plurank evaluate model.plurank test.csv
      plurank evaluate model.plurank test.csv --json

    TEST has columns as for `plurank fit`: user, winner, loser, or user, left, right, winner, or other names
    for these.
    """
    columns = options.parse_columns(column)
    with progress("evaluating"):
        found = _evaluate(model, test, columns, ties)
    if as_json:
        emit_json(found)
    else:
        _print(found)


def _evaluate(model: Path, test: Path, columns: dict[str, str] | None, ties: Literal["half", "drop"]) -> dict[str, Any]:
    from plurank.data.encoding import look_up

    fitted = plurank.load(model)
    comparisons = plurank.read_comparisons(test, columns=columns, ties=ties)
    with about(test):
        probabilities, weights = fitted.predict_held_out(comparisons)
    known = look_up(comparisons.users, fitted.users_, "user") >= 0
    return {
        "log_likelihood": plurank.log_likelihood(probabilities, weights),
        "accuracy": plurank.accuracy(probabilities, weights),
        "guessing": {"log_likelihood": plurank.log_likelihood(GUESS), "accuracy": plurank.accuracy(GUESS)},
        "n_comparisons": len(comparisons),
        "n_users": comparisons.n_users,
        "n_known_users": int(known.sum()),
        "known_users_share": float(known.mean()),
    }


def _print(found: dict[str, Any]) -> None:
    table = plain_table("Per comparison", "this model", "guessing")
    for name, title in (("log_likelihood", "log-likelihood"), ("accuracy", "accuracy")):
        table.add_row(title, f"{found[name]:.3f}", f"{found['guessing'][name]:.3f}")
    share = f"{found['n_known_users']:,} of {found['n_users']:,} ({percent(found['known_users_share'])})"
    console = out()
    console.print(table)
    console.print(facts([("comparisons", f"{found['n_comparisons']:,}"), ("known users", share)]))
    if found["n_known_users"] < found["n_users"]:
        console.print("The other users were predicted with the population's mean weights.", style="dim")
