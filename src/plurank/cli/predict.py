"""``plurank predict``: who will prefer what."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import plurank
from plurank.cli import options
from plurank.cli.errors import about
from plurank.cli.files import check_table, write_table
from plurank.cli.output import emit_csv, emit_json, label, note, progress
from plurank.wording import count

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

ROLES = ("user", "left", "right")


def predict(
    model: options.ModelFile,
    pairs: Annotated[Path, typer.Argument(metavar="PAIRS", help="Pairs to predict: .csv, .tsv, .parquet or .jsonl.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write there, .csv or .parquet, instead of to stdout."),
    ] = None,
    column: options.Column = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Predict which of two items people prefer.

    Prints CSV with the columns user, left, right and probability: how probable it is that the user prefers
    left to right. Users the model has not seen get the population's answer; items it has not seen are
    refused.

    \b
    Examples:
      plurank predict model.plurank pairs.csv
      plurank predict model.plurank pairs.csv -o predictions.csv
      plurank predict model.plurank pairs.csv --json

    \b
    PAIRS has the columns user, left, right. Other names are understood too:
      user      user_id, worker, assessor, voter, judge, annotator, rater, ...
      left      model_a, entity_a, item_a     right    model_b, entity_b, item_b
    Any other name: say so, as in --column left=first.
    """
    target = None if output is None else check_table(output, pairs, model)
    columns = options.parse_columns(column)
    with progress("predicting"):
        predicted = _predict(model, pairs, columns)
    if target is not None:
        write_table(predicted, target)
        note(f"{count(len(predicted), 'prediction')} written to {label(output)}.")
    if as_json:
        emit_json(predicted.to_dicts())
    elif target is None:
        emit_csv(predicted)


def _predict(model: Path, pairs: Path, columns: "Mapping[str, str] | None") -> "pl.DataFrame":
    import polars as pl

    fitted = plurank.load(model)
    with about(pairs):
        frame = _read_pairs(pairs, columns)
        return frame.with_columns(pl.Series("probability", fitted.predict_proba(frame)))


def _read_pairs(pairs: Path, columns: "Mapping[str, str] | None") -> "pl.DataFrame":
    """Read user, left and right, their ids just as they are in the file."""
    import polars as pl

    from plurank.data.columns import as_columns, check_roles, find_column
    from plurank.data.readers import read_table

    check_roles(columns, ROLES)
    found = as_columns(read_table(pairs))
    series = {role: find_column(found, role, columns) for role in ROLES}
    return pl.DataFrame({role: values for role, values in series.items() if values is not None})
