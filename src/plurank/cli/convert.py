"""``plurank convert``: ratings or rankings to comparisons."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import plurank
from plurank.choices import Pairs, RatingTies
from plurank.cli import inputs, options
from plurank.cli.errors import about
from plurank.cli.files import check_table, write_table
from plurank.cli.inputs import is_feedback, read_answers
from plurank.cli.output import emit_json, out, progress
from plurank.exceptions import DataError
from plurank.text import describe_size, label

if TYPE_CHECKING:
    import polars as pl

    from plurank import Comparisons
    from plurank.data.exclusions import Exclusion

UNCOMPARED = "in no comparison"


def convert(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            help="Ratings, votes, rankings, or answers stored by `plurank serve`.",
            callback=inputs.as_file,
        ),
    ],
    output: options.ComparisonsFile,
    pairs: Annotated[Pairs, typer.Option(help="Ratings: compare all pairs, or a random sample.")] = "full",
    pairs_per_rating: Annotated[
        float, typer.Option(metavar="N", help="With --pairs partial: pairs per rating of a user.")
    ] = 5,
    ties: Annotated[
        RatingTies,
        typer.Option(help="Equal values: no comparison, one each way, or one at random."),
    ] = "ignore",
    include_suspicious: Annotated[
        bool, typer.Option("--include-suspicious", help="Include answers that look like ballot stuffing.")
    ] = False,
    seed: options.Seed = 0,
    column: options.Column = None,
    items: options.ItemsFile = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Convert ratings or rankings to comparisons.

    Any two items to which a user gave different values make a comparison. Writes the columns user, winner,
    loser. For a database of `plurank serve`, writes the valid answers and when they were received.

    \b
    Examples:
      plurank convert ratings.csv -o votes.csv
      plurank convert ratings.dat -o votes.parquet --pairs partial
      plurank convert ballots.soi -o votes.csv
      plurank convert ideas.txt.feedback.db -o votes.csv

    \b
    Ratings (higher is better), in columns:
      user, item, rating    also userId, movieId; stars, score, vote
      user, and one column per item; empty cells are missing
      MovieLens (ratings.dat, u.data, ratings.csv)
      pol.is (votes.csv, participants-votes.csv)

    \b
    Rankings (1 is best; unranked items are left out):
      user, item, rank      also position, place
      PrefLib (.soc, .soi, .toc, .toi)
    Map any other name with --column, e.g. --column rating=liked.

    Reports excluded users and items: users with a single rating or equal ratings make no comparison.
    """
    target = check_table(output, data)
    if is_feedback(data):
        answers = read_answers(data, include_suspicious=include_suspicious)
        made = answers.comparisons()
        write_table(answers.to_frame(), target)
        _report(made, "answers", output, as_json=as_json)
        return
    columns = inputs.parse_columns(column)
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
    """Read a file; its suffix, the columns named or the columns found decide between ratings and rankings."""
    from plurank.data.columns import has_role
    from plurank.data.formats import MOVIELENS, is_polis_matrix, ratings_in
    from plurank.data.frames import PREFLIB, plain_suffix, read_numbered_table
    from plurank.data.readers import find_form, refuse_texts

    if plain_suffix(data) in PREFLIB:
        return "rankings", plurank.read_rankings(data), ()
    if plain_suffix(data) in MOVIELENS:
        return "ratings", plurank.read_ratings(data), ()
    frame = read_numbered_table(data)
    if not columns:
        refuse_texts(frame.columns)
    form = "ratings" if is_polis_matrix(frame) else find_form(frame.columns, columns)
    if form == "comparisons" and has_role(frame.columns, "loser", "left"):
        raise DataError("these are already comparisons; pass them to `plurank fit` directly.")
    if form == "rankings":
        return "rankings", frame, ()
    return "ratings", *ratings_in(frame, data)


def _uncompared(made: "Comparisons") -> tuple["Exclusion", ...]:
    """Return the items that are in no comparison, which are not written, as an exclusion."""
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
