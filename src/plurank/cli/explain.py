"""``plurank explain``: who follows which ranking, by covariates, and what each ranking rewards."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import plurank
from plurank.cli import options
from plurank.cli.inputs import as_file
from plurank.cli.output import emit_json, out, progress
from plurank.cli.tables import shares_tables
from plurank.exceptions import DataError

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

MOST_SHOWN = 3  # covariates that `plurank show` prints
TOO_NARROW = (
    "The intervals leave out the uncertainty of the rankings and may be too narrow. Those of a fit with the table "
    "include it: plurank fit --people FILE."
)


def explain_command(
    model: options.ModelFile,
    people: Annotated[
        Path | None,
        typer.Option(
            "--people",
            metavar="FILE",
            help="Table of people, for models fitted without one: user, and a column for each covariate.",
            callback=as_file,
        ),
    ] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option("--attribute", metavar="NAME", help="Show this covariate only. Repeatable."),
    ] = None,
    level: Annotated[
        float, typer.Option("--level", metavar="X", help="Probability that an interval holds the share.")
    ] = 0.9,
    features: Annotated[
        bool,
        typer.Option("--features", help="Show what each ranking rewards, by features of the items."),
    ] = False,
    as_json: options.JsonFlag = False,
) -> None:
    """Show who follows which ranking, by covariates, or what each ranking rewards.

    Prints the share of every ranking for each level of a covariate, with intervals, and the number of people.
    Levels with fewer than five people are not shown. The model has covariates if it was fitted with
    `plurank fit --people`. For any other model name a table of people; fitting with it estimates better.
    With --features, prints by how much features of the items raise their scores in each ranking, in log odds compared
    with an average item; the model has features if it was fitted with `plurank fit --features`.

    \b
    Examples:
      plurank explain model.plurank
      plurank explain model.plurank --attribute age --attribute style
      plurank explain model.plurank --people people.csv
      plurank explain model.plurank --features
      plurank explain model.plurank --json
    """
    if features:
        _explain_features(model, people, attribute, level, as_json=as_json)
        return
    with progress("estimating shares"):
        fitted = plurank.load(model)
        found = _find_effects(fitted, model, people, attribute, level)
    if as_json:
        emit_json(found.to_dicts())
        return
    print_effects(out(), found)
    is_sampled = getattr(fitted, "draw_scores_", None) is not None  # its weights were drawn together with the rankings
    if people is not None and getattr(fitted, "covariates", None) is None and not is_sampled:
        out().print(TOO_NARROW, style="dim")


def _explain_features(
    file: Path, people: Path | None, attributes: list[str] | None, level: float, *, as_json: bool
) -> None:
    """Print what each ranking rewards, by some features or by all."""
    import polars as pl

    if people is not None:
        raise DataError("--people is about users, --features about items. Name one of them.")
    loaded: Any = plurank.load(file)
    design = getattr(loaded, "item_features", None)
    if design is None:
        raise DataError(
            f"{file.name} was fitted without features of its items. Fit with a table of them: "
            "`plurank fit votes.csv --features items.csv`."
        )
    found = loaded.item_effects(level)
    if attributes:
        found = pl.concat(found.filter(pl.col("attribute") == design.attribute(name).name) for name in attributes)
    emit_json(found.to_dicts()) if as_json else print_item_effects(out(), found)


def _find_effects(
    model: Any, file: Path, people: Path | None, attributes: list[str] | None, level: float
) -> "pl.DataFrame":
    """Return the effects of some covariates, or of all."""
    import polars as pl

    if people is None and getattr(model, "covariates", None) is None:
        raise DataError(
            f"{file.name} was fitted without covariates. Name a table of people with --people, or fit with one: "
            "`plurank fit votes.csv --people people.csv`."
        )

    def find(name: str | None) -> "pl.DataFrame":
        return model.effects(name, level) if people is None else plurank.explain(model, people, name, level=level)

    return pl.concat(map(find, attributes)) if attributes else find(None)


def print_effects(console: "Console", found: "pl.DataFrame", most: int | None = None) -> None:
    """Print the shares of the rankings by covariate; of ``most`` of them, those with the largest clear differences."""
    import polars as pl

    from plurank.report.effects import describe_effects, describe_limits, order_attributes, pivot

    order = order_attributes(found)[:most]
    shown = found.filter(pl.col("attribute").is_in(order))
    console.print(shares_tables(console, *pivot(shown, short=True)))
    _, rest_in_words = describe_effects(found)
    if most is None and rest_in_words:
        console.print(rest_in_words)
    console.print(describe_limits(found), style="dim")


def print_item_effects(console: "Console", found: "pl.DataFrame", most: int | None = None) -> None:
    """Print what each ranking rewards; of ``most`` features, those with the largest clear effects."""
    import polars as pl

    from plurank.report.effects import order_features, pivot_items

    clear = order_features(found)
    if found.select((pl.col("effect") == 0.0).all()).item():
        console.print("Features do not predict the scores of items held out: no ranking is known to reward any.")
        return
    if not clear:
        console.print("No ranking clearly rewards any of the features: all intervals contain 0.")
    rest = [name for name in found["attribute"].unique(maintain_order=True) if name not in clear]
    order = clear[:most] if most is not None else [*clear, *rest]
    if not order:
        return
    console.print(shares_tables(console, *pivot_items(found, order)))
    console.print("In log odds, compared with an item that is average in all features.", style="dim")
