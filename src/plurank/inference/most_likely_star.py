"""The star under which the comparisons it would imply are most likely.

Paper: section 6.4. Suppose a person gives star s to an item. Then the item was preferred to everything they rated lower
and lost to everything they rated higher, and ties are treated as when comparisons are made from ratings. The star whose
comparisons have the greatest likelihood is predicted.

Differences from the paper: the likelihood is that of a person with the weights fitted, a product over the comparisons.
"""

import numpy as np
from numpy.typing import NDArray

from plurank.choices import RatingTies

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
LEAST_CHANCE = 1e-12


def level_likelihoods(
    rows: Numbers, levels: Numbers, wins: Floats, coins: Floats, n_rows: int, n_levels: int, ties: RatingTies
) -> Floats:
    """Give the log-likelihood of what each level implies for each question, (n_rows, n_levels).

    Question rows[e] is about an item that would be preferred with probability wins[e] to one rated levels[e]; coins
    (n,) decide ties where ties are "random".
    """
    won, lost = (np.log(np.clip(p, LEAST_CHANCE, 1.0)) for p in (wins, 1.0 - wins))

    def sum_by_level(values: Floats) -> Floats:
        sums = np.bincount(rows * n_levels + levels, values, n_rows * n_levels)
        return sums.astype(np.float64, copy=False).reshape(n_rows, n_levels)

    above, below = sum_by_level(won), sum_by_level(lost)
    total = np.cumsum(above, axis=1) - above + np.cumsum(below[:, ::-1], axis=1)[:, ::-1] - below
    if ties == "both":
        total += above + below
    elif ties == "random":
        total += sum_by_level(np.where(coins < 0.5, won, lost))
    return total
