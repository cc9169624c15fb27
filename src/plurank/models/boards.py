"""Orders of items and weights of rankings as tables for people, who count rankings from 1."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank.data.checks import check_whole
from plurank.data.encoding import Labels, as_series
from plurank.exceptions import ParameterError

Floats = NDArray[np.float64]


def check_ranking(ranking: int, n_rankings: int) -> None:
    """Refuse what is not the number of a ranking, counted from 1."""
    if check_whole("ranking", ranking, 1) > n_rankings:
        raise ParameterError(f"ranking must be at most {n_rankings}, the number of rankings; got {ranking}.")


def board(items: Labels, order: NDArray[np.int64], scores: Floats) -> pl.DataFrame:
    """List items in an order: columns item, score, rank."""
    frame = pl.DataFrame({"score": scores[order], "rank": np.arange(1, len(order) + 1)})
    return frame.select(as_series(items[order], "item"), "score", "rank")


def weight_table(weights: Floats, lower: Floats, upper: Floats) -> pl.DataFrame:
    """List a person's weights with their bounds, (K,) each: columns ranking, weight, lower, upper."""
    rankings = np.arange(1, len(weights) + 1)
    return pl.DataFrame({"ranking": rankings, "weight": weights, "lower": lower, "upper": upper})
