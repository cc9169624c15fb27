"""``plurank simulate``: comparisons from a known model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import plurank
from plurank.cli import options
from plurank.cli.files import (
    check_output,
    check_table,
    write_json,
    write_table,
)
from plurank.cli.output import emit_json, out, progress
from plurank.exceptions import ParameterError
from plurank.text import describe_size, label

if TYPE_CHECKING:
    from plurank import Simulation


def simulate(
    output: options.ComparisonsFile,
    users: Annotated[int, typer.Option(metavar="N", min=1, help="Number of users.")] = 1000,
    items: Annotated[int, typer.Option(metavar="N", min=2, help="Number of items.")] = 100,
    rankings: Annotated[int, typer.Option("--rankings", "-k", metavar="K", min=1, help="Number of rankings.")] = 10,
    per_user: Annotated[int, typer.Option(metavar="N", min=1, help="Comparisons per user.")] = 300,
    concentration: Annotated[
        float,
        typer.Option(metavar="X", min=0.0, help="Dirichlet concentration of user weights (0: one ranking each)."),
    ] = 0.1,
    seed: options.Seed = 0,
    truth: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the true rankings and weights (JSON).")
    ] = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Simulate comparisons from known rankings.

    Draws random rankings, user weights and comparisons, and writes the columns user, winner, loser. Useful to
    test a method: `plurank fit` should recover what --truth writes.

    \b
    Examples:
      plurank simulate -o votes.csv --users 500 --items 20 -k 3 --per-user 50
      plurank simulate -o votes.parquet --truth truth.json --seed 7

    \b
    The JSON of --truth has:
      rankings       a list of items per ranking, best first
      mean_weights   one number per ranking
      users          user ids, in the order of user_weights
      user_weights   a list of numbers per user
    """
    target = check_table(output)
    truth_target = None if truth is None else _check_truth(truth, target)
    with progress("simulating"):
        made = plurank.simulate(users, items, rankings, per_user, concentration, random_state=seed)
        write_table(made.comparisons.to_frame(), target)
        if truth_target is not None:
            write_json(_describe_truth(made), truth_target)
    _report(made, output, truth, as_json=as_json)


def _check_truth(truth: Path, target: Path) -> Path:
    checked = check_output(truth)
    if checked == target:
        raise ParameterError("--truth and --output are the same file. Use different names.")
    return checked


def _describe_truth(made: "Simulation") -> dict[str, Any]:
    labels = made.comparisons.items
    return {
        "rankings": [labels[order].tolist() for order in made.rankings],
        "mean_weights": made.mean_weights.tolist(),
        "users": made.comparisons.users.tolist(),
        "user_weights": made.user_weights.tolist(),
    }


def _report(made: "Simulation", output: Path, truth: Path | None, *, as_json: bool) -> None:
    c = made.comparisons
    if as_json:
        sizes = {
            "n_users": c.n_users,
            "n_items": c.n_items,
            "n_rankings": len(made.rankings),
            "n_comparisons": len(c),
        }
        emit_json({"output": str(output), "truth": None if truth is None else str(truth), **sizes})
        return
    console = out()
    size = describe_size(len(c), c.n_users, c.n_items)
    console.print(f"Wrote {label(output)}: {size}.", soft_wrap=True)
    if truth is not None:
        console.print(f"Wrote {label(truth)}: the true rankings and weights.", soft_wrap=True)
    console.print(f"Next: plurank fit {label(output)} -k {len(made.rankings)} -o model.plurank", soft_wrap=True)
