"""Training and test comparisons."""

from typing import Literal

import numpy as np

from plurank.data.checks import check_choice, is_number
from plurank.data.comparisons import Comparisons
from plurank.exceptions import DataError, ParameterError
from plurank.rng import RandomState, as_generator


def split(
    comparisons: Comparisons, test_size: float, by: Literal["comparison", "user"], random_state: RandomState
) -> tuple[Comparisons, Comparisons]:
    """Split at random; ``test_size`` of the comparisons or users, to the nearest one, are held out."""
    if not is_number(test_size) or not 0 < test_size < 1:
        raise ParameterError(f"test_size must lie between 0 and 1, got {test_size!r}.")
    check_choice("by", by, ("comparison", "user"))
    n = len(comparisons) if by == "comparison" else comparisons.n_users
    n_test = round(test_size * n)
    if not 0 < n_test < n:
        raise DataError(
            f"cannot hold out {test_size:g} of {n:,} {by}s: one side would be empty. "
            "Use more data or another test_size."
        )
    held_out = np.zeros(n, dtype=bool)
    held_out[as_generator(random_state).permutation(n)[:n_test]] = True
    if by == "user":
        held_out = np.repeat(held_out, np.diff(comparisons.offsets))
    return comparisons.select(~held_out), comparisons.select(held_out)
