"""Commands that make comparisons: ``simulate``, ``fetch``, ``convert`` and ``ingest``."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.table import Table

import plurank
from plurank import data as plurank_data
from plurank.choices import Pairs, RatingTies
from plurank.cli import options
from plurank.cli.error_messages import about, say_how_to_resume
from plurank.cli.inputs import as_file, describe_store, is_feedback, parse_columns, parse_offered, read_answers
from plurank.cli.output import (
    check_output,
    check_table,
    emit_json,
    out,
    progress,
    save_json,
    write_table,
)
from plurank.exceptions import DataError, ParameterError
from plurank.text import count, describe_size, label

if TYPE_CHECKING:
    import polars as pl

    from plurank import Comparisons, RatedStore, Simulation, Store
    from plurank.data.coded import Exclusion

UNCOMPARED = "in no comparison"
PAIRS_PER_RATING = 5.0


def simulate_command(
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
            save_json(_describe_truth(made), truth_target)
    _report_simulation(made, output, truth, as_json=as_json)


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


def _report_simulation(made: "Simulation", output: Path, truth: Path | None, *, as_json: bool) -> None:
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


def fetch_command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Name of the data set (default: list all).")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Output file: .csv or .parquet."),
    ] = None,
    titles: Annotated[bool, typer.Option("--titles", help="Use the titles of items instead of their ids.")] = False,
    folder: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Download folder (default: PLURANK_DATA or the cache).")
    ] = None,
    seed: options.Seed = 0,
    as_json: options.JsonFlag = False,
) -> None:
    """Download a public data set and convert it to comparisons.

    \b
    Examples:
      plurank fetch
      plurank fetch sushi-a --titles -o sushi.csv
    """
    if name is None:
        _list_datasets(as_json=as_json)
        return
    if output is None:
        raise ParameterError(f"--output is required, e.g. `plurank fetch {name} -o votes.parquet`.")
    target = check_table(output)
    with progress(f"fetching {name}") as move:
        found = plurank.datasets.fetch(name, folder, titles=titles, random_state=seed, on_progress=move)
        write_table(found.comparisons.to_frame(), target)
    made = found.comparisons
    if as_json:
        sizes = {"n_users": made.n_users, "n_items": made.n_items, "n_comparisons": len(made)}
        emit_json({"output": str(output), "name": name, **sizes, "licence": found.licence, "citation": found.citation})
        return
    size = describe_size(len(made), made.n_users, made.n_items)
    out().print(f"Wrote {label(output)}: {size}.", soft_wrap=True)
    out().print(f"Next: plurank fit {label(output)} -o model.plurank", soft_wrap=True)


def _list_datasets(*, as_json: bool) -> None:
    known = plurank.datasets.names().to_dicts()
    if as_json:
        emit_json(known)
        return
    table = Table("name", "what", "people", "items", "licence", box=None, pad_edge=False)
    for row in known:
        table.add_row(row["name"], row["about"], f"{row['users']:,}", f"{row['items']:,}", row["licence"])
    out().print(table)


def convert_command(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            help="Ratings, votes, rankings, or answers stored by `plurank serve`.",
            callback=as_file,
        ),
    ],
    output: options.ComparisonsFile,
    to: Annotated[
        Literal["comparisons", "ratings"],
        typer.Option(help="Write comparisons; or ratings, votes and rankings as they are, one a row."),
    ] = "comparisons",
    pairs: Annotated[Pairs, typer.Option(help="Ratings: compare all pairs, or a random sample.")] = "full",
    pairs_per_rating: Annotated[
        float, typer.Option(metavar="N", help="With --pairs partial: pairs per rating of a user.")
    ] = PAIRS_PER_RATING,
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
    offered: options.Offered = None,
    as_json: options.JsonFlag = False,
) -> None:
    """Convert ratings or rankings to comparisons.

    Any two items to which a user gave different values make a comparison. Writes the columns user, winner,
    loser. With --to ratings, writes what was rated or ranked, one a row (user, item, rating or rank), for fits that
    model it directly. For a database of `plurank serve`, writes the valid answers and when they were received.

    \b
    Examples:
      plurank convert ratings.csv -o votes.csv
      plurank convert ratings.dat -o votes.parquet --pairs partial
      plurank convert ballots.soi -o votes.csv
      plurank convert ballots.csv -o votes.csv --offered all
      plurank convert wide.csv -o ratings.csv --to ratings
      plurank convert ideas.txt.feedback.db -o votes.csv

    \b
    Ratings (higher is better), in columns:
      user, item, rating    also userId, movieId; stars, score, vote
      user, and one column per item; empty cells are missing
      MovieLens (ratings.dat, u.data, ratings.csv)
      pol.is (votes.csv, participants-votes.csv)

    \b
    Rankings (1 is best; unranked items are left out without --offered):
      user, item, rank      also position, place
      PrefLib (.soc, .soi, .toc, .toi)
    Map any other name with --column, e.g. --column rating=liked.

    Reports excluded users and items: users with a single rating or equal ratings make no comparison.
    """
    if to == "ratings":
        given = {
            "--pairs": pairs != "full", "--pairs-per-rating": pairs_per_rating != PAIRS_PER_RATING,
            "--ties": ties != "ignore", "--offered": offered is not None, "--include-suspicious": include_suspicious,
            "--seed": seed != 0,
        }  # fmt: skip
        for name in (name for name, is_given in given.items() if is_given):
            advice = "Give it to plurank fit." if name == "--offered" else "Leave it out."
            raise ParameterError(f"{name} goes with --to comparisons, got --to ratings. {advice}")
        _convert_to_ratings(data, output, parse_columns(column), items, as_json=as_json)
        return
    target = check_table(output, data)
    _check_offered(offered, ties)
    if is_feedback(data):
        answers = read_answers(data, include_suspicious=include_suspicious)
        made = answers.comparisons()
        write_table(answers.to_frame(), target)
        _report_conversion(made, "answers", output, as_json=as_json)
        return
    columns = parse_columns(column)
    table = None if items is None else plurank.read_items(items)
    with progress(f"reading {data.name}"), about(data):
        kind, frame, excluded = _read_rated(data, columns)
        if offered is not None:
            made = _compare_offered(frame, kind, offered, columns, table)
        elif kind == "rankings":
            made = plurank.Comparisons.from_rankings(frame, ties, seed, columns=columns, items=table)
        else:
            made = plurank.Comparisons.from_ratings(
                frame, pairs, ties, seed, pairs_per_rating=pairs_per_rating, columns=columns, items=table
            )
        made = replace(made, excluded=(*excluded, *made.excluded, *_uncompared(made)))
        write_table(made.to_frame(), target)
    _report_conversion(made, kind, output, as_json=as_json)


def _convert_to_ratings(
    data: Path, output: Path, columns: dict[str, str] | None, items: Path | None, *, as_json: bool
) -> None:
    """Write ratings, votes or rankings in one form: a row for each item that a user rated or ranked."""
    if is_feedback(data):
        raise ParameterError(f"{data.name} holds answers to comparisons, no ratings. Leave --to ratings out.")
    target = check_table(output, data)
    table = None if items is None else plurank.read_items(items)
    with progress(f"reading {data.name}"), about(data):
        kind, frame, excluded = _read_rated(data, columns)
        read = plurank.Rankings if kind == "rankings" else plurank.Ratings
        said = read.from_frame(frame, columns=columns, items=table)
        write_table(said.to_frame(), target)
    left_out = (*excluded, *said.excluded)
    if as_json:
        sizes = {"n_users": said.n_users, "n_items": said.n_items, f"n_{kind}": len(said)}
        emit_json({"output": str(output), "kind": kind, **sizes, "excluded": [each.to_dict() for each in left_out]})
        return
    console = out()
    console.print(f"Wrote {label(output)}: {said.sizes}.", soft_wrap=True)
    for sentence in plurank_data.list_exclusions(left_out):
        console.print(f"! {sentence}", style="yellow")
    console.print(f"Next: plurank fit {label(output)} -o model.plurank", soft_wrap=True)


def _check_offered(offered: str | None, ties: RatingTies) -> None:
    if offered is not None and ties != "ignore":
        raise ParameterError(
            f"--offered goes with --ties ignore, as items not ranked are no ties; got --ties {ties}. Leave one out."
        )


def _compare_offered(
    frame: "pl.DataFrame", kind: str, offered: str, columns: dict[str, str] | None, items: Any
) -> "Comparisons":
    """Compare the items that users ranked, and each of them with all that were offered and not ranked."""
    if kind != "rankings":
        raise ParameterError(f"--offered is for rankings, got {kind}. Leave it out.")
    ranked = plurank.Rankings.from_frame(frame, offered=parse_offered(offered), columns=columns, items=items)
    return ranked.to_comparisons()


def _read_rated(
    data: Path, columns: dict[str, str] | None
) -> tuple[Literal["ratings", "rankings"], "pl.DataFrame", "tuple[Exclusion, ...]"]:
    """Read a file; its suffix, the columns named or the columns found decide between ratings and rankings."""
    from plurank.data.columns import has_role
    from plurank.data.formats import find_format, is_polis_matrix, ratings_in
    from plurank.data.frames import existing, read_numbered_table
    from plurank.data.readers import find_form, refuse_texts

    known = find_format(data)
    if known is not None:
        return known.form, known.read(existing(data)), ()
    frame = read_numbered_table(data)
    if not columns:
        refuse_texts(frame.columns)
    form = "ratings" if is_polis_matrix(frame) else find_form(frame.columns, columns)
    if form == "comparisons" and has_role(frame.columns, "loser", "left"):
        raise DataError("these are already comparisons; pass them to `plurank fit` directly.")
    if form == "rankings":
        return "rankings", frame, ()
    return "ratings", *ratings_in(frame, data)


def _uncompared(made: "Comparisons") -> "tuple[Exclusion, ...]":
    """Return the items that are in no comparison, which are not written, as an exclusion."""
    n_items = made.n_items + sum(entry.n for entry in made.excluded if entry.what == "item")
    return plurank_data.Exclusion.some("item", len(made.diagnose().uncompared_items), n_items, UNCOMPARED)


def _report_conversion(made: "Comparisons", kind: str, output: Path, *, as_json: bool) -> None:
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
    for sentence in plurank_data.list_exclusions(sorted(made.excluded, key=lambda entry: entry.what)):
        console.print(f"! {sentence}", style="yellow")
    console.print(f"Next: plurank show {label(output)}", soft_wrap=True)


def ingest_command(
    inputs: Annotated[
        list[str], typer.Argument(metavar="INPUT", help="Comparisons, ratings or rankings: files, globs or folders.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="STORE", help="Output folder for the store.")],
    memory: Annotated[str, typer.Option(metavar="SIZE", help="Approximate memory limit.")] = "2GB",
    ties: options.Ties = "half",
    offered: options.Offered = None,
    column: options.Column = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing store.")] = False,
    as_json: options.JsonFlag = False,
) -> None:
    """Convert files of any size into a store on disk.

    A store holds the comparisons, ratings or rankings of all inputs, validated and sorted by user, in files that
    need not fit into memory. Inputs are .csv, .tsv, .parquet or .jsonl files, plain or .gz, or folders of such files.

    Can be interrupted at any time: the same command resumes from STORE.part.

    \b
    Examples:
      plurank ingest votes.parquet -o votes.store
      plurank ingest 2023.csv.gz 2024.csv.gz -o votes.store --memory 8GB
      plurank ingest 'logs/*.parquet' -o votes.store --column user=judge
      plurank ingest ratings/ -o ratings.store
      plurank ingest ballots.parquet -o ballots.store --offered all

    \b
    Inputs have columns as for `plurank fit`, all in one of these forms:
      user, winner, loser      or user, left, right, winner
      user, item, rating       also votes of -1, 0 and 1
      user, item, rank         1 is best
    Files of pol.is, MovieLens (.dat) and PrefLib have to be read whole: fit
    them directly.
    """
    columns = parse_columns(column)
    hint = f"progress is stored in {output}.part; run the same command again to resume."
    with say_how_to_resume(lambda: hint), progress("reading", announce=True) as on_progress:
        store = plurank.ingest(
            inputs, output, columns=columns, ties=ties, offered=parse_offered(offered), memory=memory,
            overwrite=overwrite, on_progress=on_progress,
        )  # fmt: skip
    if as_json:
        emit_json({"output": str(output), **describe_store(store)})
    else:
        _print_store(store, output)


def _print_store(store: "Store | RatedStore", output: Path) -> None:
    console = out()
    if isinstance(store, plurank.RatedStore):
        size = store.sizes
    else:
        size = describe_size(len(store), store.n_users, store.n_items)
    console.print(f"Wrote {label(output)}: {size}, in {count(store.n_shards, 'shard')}.", soft_wrap=True)
    for sentence in plurank_data.list_exclusions(store.excluded):
        console.print(f"! {sentence}", style="yellow")
    console.print(f"Next: plurank show {label(output)}", soft_wrap=True)
