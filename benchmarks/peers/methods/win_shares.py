"""What methods that take stars can see of comparisons: how much more often an item won than lost, for each user."""

from dataclasses import replace

import polars as pl

from benchmarks.peers.case import Train


def win_shares(pairs: pl.DataFrame) -> pl.DataFrame:
    """Give (user, item, rating), ratings from -2 to 2: nearer to 0 the fewer comparisons an item was in."""
    sides = [pairs.select("user", item=side, won=pl.lit(won)) for side, won in (("winner", 1.0), ("loser", -1.0))]
    each = pl.concat(sides).group_by("user", "item").agg(rating=2.0 * pl.col("won").sum() / (pl.len() + 1))
    return each.sort("user", "item")


def as_stars(train: Train) -> Train:
    """Put win shares in the place of stars."""
    return replace(train, ratings=win_shares(train.pairs))
