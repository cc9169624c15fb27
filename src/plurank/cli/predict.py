"""``plurank predict``: preference probabilities, or ratings."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import plurank
from plurank.cli import options
from plurank.cli.errors import about
from plurank.cli.files import check_table, write_table
from plurank.cli.inputs import as_file, parse_columns
from plurank.cli.output import emit_csv, emit_json, note, progress
from plurank.text import count, label

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from plurank.models.base import RankingModel


def predict(
    model: options.ModelFile,
    questions: Annotated[
        Path,
        typer.Argument(metavar="QUESTIONS", help="Pairs to predict: .csv, .tsv, .parquet or .jsonl.", callback=as_file),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Output file, .csv or .parquet (default: stdout)."),
    ] = None,
    ratings: Annotated[
        Path | None,
        typer.Option("--ratings", metavar="FILE", help="Predict ratings, given these known ratings."),
    ] = None,
    column: options.Column = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Predict which of two items users prefer, or ratings.

    Prints CSV with the columns user, left, right and probability (that the user prefers left to right). Unknown
    users get the population average; unknown items are an error. With --ratings: user, item and rating, for any
    users and items.

    \b
    Examples:
      plurank predict model.plurank pairs.csv
      plurank predict model.plurank pairs.csv -o predictions.csv
      plurank predict model.plurank pairs.csv --json
      plurank predict model.plurank questions.csv --ratings ratings.csv

    \b
    QUESTIONS has the columns user, left, right; with --ratings, user, item.
    Other recognised names:
      user      user_id, worker, assessor, voter, judge, annotator, rater, ...
      left      model_a, entity_a, item_a     right    model_b, entity_b, item_b
      item      item_id, movieId              rating   stars, score, vote
    Map any other name with --column, e.g. --column left=first.
    """
    inputs = (questions, model) if ratings is None else (questions, model, ratings)
    target = None if output is None else check_table(output, *inputs)
    columns = parse_columns(column)
    with progress("predicting"):
        if ratings is None:
            predicted = _predict_pairs(model, questions, columns)
        else:
            predicted = _predict_ratings(model, questions, ratings, columns)
    if target is not None:
        write_table(predicted, target)
        note(f"{count(len(predicted), 'prediction')} written to {label(output)}.")
    if as_json:
        emit_json(predicted.to_dicts())
    elif target is None:
        emit_csv(predicted)


def _predict_pairs(model: Path, questions: Path, columns: "Mapping[str, str] | None") -> "pl.DataFrame":
    import polars as pl

    fitted = plurank.load(model)
    with about(questions):
        frame = _read(questions, ("user", "left", "right"), columns)
        predicted = frame.with_columns(pl.Series("probability", fitted.predict_proba(frame)))
    return _with_texts(fitted, predicted, ("left", "right"))


def _predict_ratings(
    model: Path, questions: Path, ratings: Path, columns: "Mapping[str, str] | None"
) -> "pl.DataFrame":
    import polars as pl

    fitted = plurank.load(model)
    with about(ratings):
        predictor = plurank.RatingPredictor(fitted).fit(plurank.read_ratings(ratings), columns=columns)
    with about(questions):
        frame = _read(questions, ("user", "item"), {k: v for k, v in (columns or {}).items() if k != "rating"})
        predicted = frame.with_columns(pl.Series("rating", predictor.predict(frame)))
    return _with_texts(fitted, predicted, ("item",))


def _with_texts(fitted: "RankingModel", frame: "pl.DataFrame", names: tuple[str, ...]) -> "pl.DataFrame":
    """Add the texts of items, where the model has any, as columns such as left_text."""
    import polars as pl

    from plurank.data.encoding import look_up

    if fitted.item_texts_ is None:
        return frame
    for name in names:
        codes = look_up(frame[name], fitted.items_, "item").tolist()
        texts = [fitted.item_text(code) if code >= 0 else None for code in codes]
        frame = frame.with_columns(pl.Series(f"{name}_text", texts, pl.String))
    return frame


def _read(questions: Path, roles: tuple[str, ...], columns: "Mapping[str, str] | None") -> "pl.DataFrame":
    """Return the columns of some roles, with ids as they are in the file."""
    import polars as pl

    from plurank.data.columns import as_columns, check_roles, find_column
    from plurank.data.frames import read_table

    check_roles(columns, roles)
    found = as_columns(read_table(questions))
    return pl.DataFrame({role: find_column(found, role, columns) for role in roles})
