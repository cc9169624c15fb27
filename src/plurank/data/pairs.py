"""Number the pairs of items that were ever compared."""

import numpy as np
from numpy.typing import NDArray

from plurank import kernels

Codes = NDArray[np.int32]


def index_pairs(winners: Codes, losers: Codes, n_items: int) -> tuple[Codes, Codes, Codes]:
    """Number the unordered pairs that occur, sorted: rows (n,), lower (n_pairs,) and higher item (n_pairs,).

    Row ``2 p`` is pair p won by its lower item, row ``2 p + 1`` by its higher one, so ``row ^ 1`` is the reverse. A
    table of all pairs is made only where it is no larger than the comparisons themselves.
    """
    low, high = np.minimum(winners, losers), np.maximum(winners, losers)
    if n_items * n_items <= 4 * len(winners) + 65536:
        keys = low.astype(np.int64) * n_items + high
        there = np.zeros(n_items * n_items, np.bool_)
        there[keys] = True
        pairs = np.flatnonzero(there)
        lower, higher = pairs // max(n_items, 1), pairs % max(n_items, 1)
        number = (np.cumsum(there) - 1).astype(np.int32)[keys]
    else:
        by_high, _ = kernels.group(high, n_items)  # a radix sort: by the higher item, then by the lower one
        by_low, _ = kernels.group(low[by_high], n_items)
        order = by_high[by_low]
        sorted_low, sorted_high = low[order], high[order]
        is_new = np.ones(len(order), np.bool_)
        is_new[1:] = (sorted_low[1:] != sorted_low[:-1]) | (sorted_high[1:] != sorted_high[:-1])
        lower, higher = sorted_low[is_new], sorted_high[is_new]
        number = np.empty(len(order), np.int32)
        number[order] = np.cumsum(is_new) - 1
    return 2 * number + (winners > losers), lower.astype(np.int32), higher.astype(np.int32)
