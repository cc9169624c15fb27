"""``plurank convert``: ratings or rankings in, comparisons out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import plurank
from plurank.choices import Pairs, RatingTies
from plurank.cli import options
from plurank.cli.errors import about
from plurank.cli.files import check_table, write_table
from plurank.cli.inputs import is_feedback, read_answers
from plurank.cli.output import emit_json, label, out, progress
from plurank.exceptions import DataError
from plurank.wording import describe_size

if TYPE_CHECKING:
    import polars as pl

    from plurank import Comparisons


def convert(
    data: Annotated[Path, typer.Argument(metavar="INPUT", help="Ratings or rankings; or answers to `plurank serve`.")],
    output: options.ComparisonsFile,
    pairs: Annotated[Pairs, typer.Option(help="Of ratings: compare all pairs, or a random part of them.")] = "full",
    pairs_per_rating: Annotated[
        float, typer.Option(metavar="N", help="With --pairs partial: how many pairs for each of a user's ratings.")
    ] = 5,
    ties: Annotated[
        RatingTies,
        typer.Option(help="Of two items valued alike: no comparison, one each way, or one at random."),
    ] = "ignore",
    include_suspicious: Annotated[
        bool, typer.Option("--include-suspicious", help="Of answers: also those that look like ballot stuffing.")
    ] = False,
    seed: options.Seed = 0,
    column: options.Column = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Turn ratings or rankings into comparisons.

    Two items that one user valued differently make a comparison. Writes columns user, winner, loser. Of the
    database of answers that `plurank serve` stores, writes those that count, with the time they were received.

    \b
    Examples:
      plurank convert ratings.csv -o votes.csv
      plurank convert ratings.dat -o votes.parquet --pairs partial
      plurank convert ballots.soi -o votes.csv
      plurank convert ideas.txt.feedback.db -o votes.csv

    \b
    Ratings (higher is better), in columns:
      user, item, rating    also userId, movieId; stars, score, vote
      MovieLens (ratings.dat, u.data, ratings.csv)
      pol.is (votes.csv, participants-votes.csv)

    \b
    Rankings (1 is best; items not ranked are left out):
      user, item, rank      also position, place
      PrefLib (.soc, .soi, .toc, .toi)
    Any other name: say so, as in --column rating=liked.
    """
    target = check_table(output, data)
    if is_feedback(data):
        answers = read_answers(data, include_suspicious=include_suspicious)
        made = answers.comparisons()
        write_table(answers.to_frame(), target)
        _report(made, "answers", output, as_json=as_json)
        return
    columns = options.parse_columns(column)
    with progress(f"reading {data.name}"), about(data):
        kind, frame = _read(data, columns)
        if kind == "rankings":
            made = plurank.Comparisons.from_rankings(frame, ties, seed, columns=columns)
        else:
            made = plurank.Comparisons.from_ratings(
                frame, pairs, ties, seed, pairs_per_rating=pairs_per_rating, columns=columns
            )
        write_table(made.to_frame(), target)
    _report(made, kind, output, as_json=as_json)


def _read(data: Path, columns: dict[str, str] | None) -> tuple[Literal["ratings", "rankings"], "pl.DataFrame"]:
    """Read a file, and tell rankings from ratings by its ending, the columns named, or the columns found."""
    from plurank.data.columns import has_role
    from plurank.data.readers import PREFLIB, plain_suffix

    if plain_suffix(data) in PREFLIB:
        return "rankings", plurank.read_rankings(data)
    frame = plurank.read_ratings(data)
    if not columns and has_role(frame.columns, "loser", "left"):
        raise DataError("these are comparisons already; `plurank fit` reads them as they are.")
    given = columns or {}
    ranked = "rank" in given or (not has_role(frame.columns, "rating") and has_role(frame.columns, "rank"))
    return ("rankings", frame) if ranked and "rating" not in given else ("ratings", frame)


def _report(made: "Comparisons", kind: str, output: Path, *, as_json: bool) -> None:
    if as_json:
        sizes = {"n_users": made.n_users, "n_items": made.n_items, "n_comparisons": len(made)}
        emit_json({"output": str(output), "kind": kind, **sizes})
        return
    console = out()
    size = describe_size(len(made), made.n_users, made.n_items)
    console.print(f"Wrote {label(output)}: {size}, from {kind}.")
    console.print(f"Next: plurank show {label(output)}", soft_wrap=True)
