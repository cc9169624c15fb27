"""``plurank convert``: ratings or rankings in, comparisons out."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import plurank
from plurank.choices import Pairs, RatingTies
from plurank.cli import options, streams
from plurank.cli.errors import about
from plurank.cli.files import check_table, write_table
from plurank.cli.inputs import is_feedback, read_answers
from plurank.cli.output import (
    emit_json,
    label,
    out,
    progress,
)
from plurank.exceptions import DataError
from plurank.text import describe_size

if TYPE_CHECKING:
    import polars as pl

    from plurank import Comparisons
    from plurank.data.exclusions import Exclusion

UNCOMPARED = "in no comparison"


def convert(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT", help="Ratings, votes, rankings or answers to `plurank serve`.", callback=streams.as_file
        ),
    ],
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
    items: options.ItemsFile = None,
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
      user, and one column an item; an empty cell is no rating
      MovieLens (ratings.dat, u.data, ratings.csv)
      pol.is (votes.csv, participants-votes.csv)

    \b
    Rankings (1 is best; items not ranked are left out):
      user, item, rank      also position, place
      PrefLib (.soc, .soi, .toc, .toi)
    Any other name: say so, as in --column rating=liked.

    Says how many people and items are left out: who rated one item only, or all alike, compares nothing.
    """
    target = check_table(output, data)
    if is_feedback(data):
        answers = read_answers(data, include_suspicious=include_suspicious)
        made = answers.comparisons()
        write_table(answers.to_frame(), target)
        _report(made, "answers", output, as_json=as_json)
        return
    columns = options.parse_columns(column)
    table = None if items is None else plurank.read_items(items)
    with progress(f"reading {data.name}"), about(data):
        kind, frame, excluded = _read(data, columns)
        if kind == "rankings":
            made = plurank.Comparisons.from_rankings(frame, ties, seed, columns=columns, items=table)
        else:
            made = plurank.Comparisons.from_ratings(
                frame, pairs, ties, seed, pairs_per_rating=pairs_per_rating, columns=columns, items=table
            )
        made = replace(made, excluded=(*excluded, *made.excluded, *_uncompared(made)))
        write_table(made.to_frame(), target)
    _report(made, kind, output, as_json=as_json)


def _read(
    data: Path, columns: dict[str, str] | None
) -> tuple[Literal["ratings", "rankings"], "pl.DataFrame", tuple["Exclusion", ...]]:
    """Read a file, and tell rankings from ratings by its ending, the columns named, or the columns found."""
    from plurank.data.columns import has_role
    from plurank.data.readers import (
        MOVIELENS,
        PREFLIB,
        find_form,
        is_polis_matrix,
        plain_suffix,
        ratings_in,
        read_numbered_table,
        refuse_texts,
    )

    if plain_suffix(data) in PREFLIB:
        return "rankings", plurank.read_rankings(data), ()
    if plain_suffix(data) in MOVIELENS:
        return "ratings", plurank.read_ratings(data), ()
    frame = read_numbered_table(data)
    if not columns:
        refuse_texts(frame.columns)
    form = "ratings" if is_polis_matrix(frame) else find_form(frame.columns, columns)
    if form == "comparisons" and has_role(frame.columns, "loser", "left"):
        raise DataError("these are comparisons already; `plurank fit` reads them as they are.")
    if form == "rankings":
        return "rankings", frame, ()
    return "ratings", *ratings_in(frame, data)


def _uncompared(made: "Comparisons") -> tuple["Exclusion", ...]:
    """Count the items that are in no comparison, and so not in what is written."""
    from plurank.data.exclusions import Exclusion

    n_items = made.n_items + sum(entry.n for entry in made.excluded if entry.what == "item")
    return Exclusion.some("item", len(made.diagnose().uncompared_items), n_items, UNCOMPARED)


def _report(made: "Comparisons", kind: str, output: Path, *, as_json: bool) -> None:
    from plurank.data.exclusions import list_exclusions

    n_items = made.n_items - sum(entry.n for entry in made.excluded if entry.reason == UNCOMPARED)
    if as_json:
        sizes = {"n_users": made.n_users, "n_items": n_items, "n_comparisons": len(made)}
        excluded = [entry.to_dict() for entry in made.excluded]
        emit_json({"output": str(output), "kind": kind, **sizes, "excluded": excluded})
        return
    console = out()
    is_vote = made.ratings is not None and made.ratings.kind == "vote"
    size = describe_size(len(made), made.n_users, n_items)
    console.print(f"Wrote {label(output)}: {size}, from {'votes' if is_vote else kind}.")
    for sentence in list_exclusions(sorted(made.excluded, key=lambda entry: entry.what)):
        console.print(f"! {sentence}", style="yellow")
    console.print(f"Next: plurank show {label(output)}", soft_wrap=True)
