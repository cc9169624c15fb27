"""What draws of coefficients say of groups: shares of the rankings, and differences between groups.

Ours. A share is the expected weight of a ranking in a population whose covariates are given: the mean over its members
of their expected weights. Every draw of the coefficients gives one, so that intervals hold their joint uncertainty.
"""

from typing import NamedTuple

import numpy as np

from plurank.regression.coefficients import softmax
from plurank.types import Floats

MOST_PEOPLE = 2000  # that an average is taken over; of more, evenly spaced ones


class Interval(NamedTuple):
    """Means over draws, and bounds of a central interval, (..., K) each."""

    mean: Floats
    lower: Floats
    upper: Floats

    @classmethod
    def of(cls, draws: Floats, level: float) -> "Interval":
        """Summarise draws, one on the first axis."""
        tail = (1.0 - level) / 2.0
        lower, upper = np.quantile(draws, (tail, 1.0 - tail), axis=0)
        return cls(draws.mean(axis=0), lower, upper)


def some_rows(design: Floats) -> Floats:
    """Return rows of covariates to average over: all or, of many, evenly spaced ones."""
    rows = np.linspace(0, len(design) - 1, min(len(design), MOST_PEOPLE)).astype(np.int64)
    return np.asarray(design[rows], np.float64)


def draw_shares(tables: Floats, design: Floats, sizes: Floats | None = None) -> Floats:
    """Return expected weights (D, K) for every draw of a table (D, 1 + P, K), averaged over people (m, P) or, with
    sizes (m,), over groups of people."""
    sizes = np.ones(len(design)) if sizes is None else sizes
    shares = sizes / sizes.sum()
    drawn = [shares @ softmax(table[0] + design @ table[1:]) for table in tables]
    return np.minimum(drawn, 1.0)  # sums in floating point may exceed it


def probability_of_direction(differences: Floats) -> Floats:
    """Posterior probability (K,) that differences (D, K) have the sign that most draws have."""
    above, below = (differences > 0.0).mean(axis=0), (differences < 0.0).mean(axis=0)
    return np.asarray(np.maximum(above, below) + 0.5 * (1.0 - above - below))
