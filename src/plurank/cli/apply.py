"""Commands that apply a model to other data: ``predict``, ``evaluate`` and ``transform``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import plurank
from plurank.cli import options
from plurank.cli.error_messages import about
from plurank.cli.inputs import as_file, open_source, parse_columns
from plurank.cli.output import check_table, emit_csv, emit_json, note, out, progress, write_table, written
from plurank.cli.tables import facts, plain_table
from plurank.text import count, label, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from plurank.models.base import RankingModel

GUESS = [0.5]  # the probability of any outcome under guessing
DIRECTLY = {  # what is measured of ratings and ballots themselves
    "rating_log_likelihood": "log-likelihood per rating",
    "rmse": "root mean squared error of ratings",
    "mae": "mean absolute error of ratings",
    "ballot_log_likelihood": "log-likelihood per ballot",
}
WORSE_THAN_GUESSING = (
    "Worse than guessing: these comparisons differ from those the model was fitted to. Check whether winner and loser "
    "are swapped, and whether the users are from the same population."
)


def predict_command(
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
    sources = (questions, model) if ratings is None else (questions, model, ratings)
    target = None if output is None else check_table(output, *sources)
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
        frame = _read_questions(questions, ("user", "left", "right"), columns)
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
        asked = {role: name for role, name in (columns or {}).items() if role != "rating"}
        frame = _read_questions(questions, ("user", "item"), asked)
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


def _read_questions(questions: Path, roles: tuple[str, ...], columns: "Mapping[str, str] | None") -> "pl.DataFrame":
    """Return the columns of some roles, with ids as they are in the file."""
    import polars as pl

    from plurank.data.columns import as_columns, check_roles, find_column
    from plurank.data.frames import read_table

    check_roles(columns, roles)
    found = as_columns(read_table(questions))
    return pl.DataFrame({role: find_column(found, role, columns) for role in roles})


def evaluate_command(
    model: options.ModelFile,
    test: Annotated[
        Path,
        typer.Argument(metavar="TEST", help="Held-out comparisons or ratings: a file or a store.", callback=as_file),
    ],
    ties: options.Ties = "half",
    column: options.Column = None,
    items: options.ItemsFile = None,
    offered: options.Offered = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Evaluate a model on held-out comparisons.

    Prints the log-likelihood per comparison and the accuracy, each next to that of guessing. Known users are
    predicted with their own weights, others with the population's mean weights. A model of ratings or rankings
    also predicts ratings and whole ballots themselves.

    \b
    Examples:
      plurank evaluate model.plurank test.csv
      plurank evaluate model.plurank test.csv --json

    TEST has the columns of `plurank fit`: user, winner, loser, or user, left, right, winner, or other names
    for these; or ratings or rankings, of which any two items of a user are compared.
    """
    fitted = plurank.load(model)
    source = open_source(test, column, ties, items, offered=offered, rated=fitted.posterior is not None)
    with progress("evaluating"), about(test):
        found = _measure_quality(fitted, source)
    if as_json:
        emit_json(found)
    else:
        _print_quality(found)


def _measure_quality(fitted: "RankingModel", source: Any) -> dict[str, Any]:
    found = fitted.evaluate(source)
    return {
        **found,
        "guessing": {"log_likelihood": plurank.log_likelihood(GUESS), "accuracy": plurank.accuracy(GUESS)},
        "known_users_share": found["n_known_users"] / found["n_users"],
    }


def _print_quality(found: dict[str, Any]) -> None:
    table = plain_table("Per comparison", "this model", "guessing")
    for name, title in (("log_likelihood", "log-likelihood"), ("accuracy", "accuracy")):
        table.add_row(title, f"{found[name]:.3f}", f"{found['guessing'][name]:.3f}")
    share = f"{found['n_known_users']:,} of {found['n_users']:,} ({percent(found['known_users_share'])})"
    console = out()
    console.print(table)
    direct = [(title, f"{found[name]:.3f}") for name, title in DIRECTLY.items() if name in found]
    console.print(facts([("comparisons", f"{found['n_comparisons']:,}"), ("known users", share), *direct]))
    if found["log_likelihood"] < found["guessing"]["log_likelihood"]:
        console.print(WORSE_THAN_GUESSING)
    if found["n_known_users"] < found["n_users"]:
        console.print("Other users were predicted with the population's mean weights.", style="dim")


def transform_command(
    model: options.ModelFile,
    data: Annotated[
        Path,
        typer.Argument(metavar="INPUT", help="Comparisons of any users: a file or a store.", callback=as_file),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Output file: .csv or .parquet.")],
    engine: options.EngineOption = "local",
    scheduler: options.Scheduler = None,
    ties: options.Ties = "half",
    column: options.Column = None,
    items: options.ItemsFile = None,
    offered: options.Offered = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Infer the weights of other users under a model.

    Writes a table with the columns user, ranking 1, ranking 2, ...: the weights of every user of INPUT. The
    rankings are not refitted, and a store is processed in parts.

    \b
    Examples:
      plurank transform model.plurank new.csv -o weights.csv
      plurank transform model.plurank votes.store -o weights.parquet

    INPUT has the columns of `plurank fit`, or is a store written by `plurank ingest`.
    """
    target = check_table(output, data, model)
    fitted = plurank.load(model)
    source = open_source(data, column, ties, items, offered=offered, rated=fitted.posterior is not None)
    with progress("inferring weights"), about(data):
        fitted.write_weights(source, target, engine=engine, scheduler=scheduler)
    written.append(target)
    if as_json:
        emit_json({"output": str(output), "n_users": source.n_users, "n_rankings": len(fitted.rankings_)})
    else:
        out().print(f"Wrote the weights of {count(source.n_users, 'user')} to {label(output)}.", soft_wrap=True)
