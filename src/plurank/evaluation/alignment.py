"""Label switching: rankings come in no particular order, so estimates are matched to the truth first."""

from itertools import permutations
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from plurank.exceptions import ParameterError

FEW = 6  # rankings: all ways to match them are tried, 720


def kendall_tau(first: Any, second: Any) -> float:
    """Kendall's tau of two rankings (items, best first): 1 the same, -1 reversed."""
    return 1.0 - 2.0 * float(kendall_distances([first], [second])[0, 0])


def kendall_distances(first: Any, second: Any) -> NDArray[np.float64]:
    """Share of pairs ordered differently between all rankings of two sets, (K1, K2)."""
    a, b = _as_places(first, second)
    if a.shape[1] < 2:
        return np.zeros((len(a), len(b)))
    n_pairs = a.shape[1] * (a.shape[1] - 1) // 2
    return np.array([[_count_inversions(y[np.argsort(x)]) / n_pairs for y in b] for x in a])


def _count_inversions(order: NDArray[np.int64]) -> int:
    """Count the pairs of 0, 1, ..., n - 1 that stand in the wrong order, in O(n log n): bit by bit, the highest first.

    Two numbers are told apart by the highest bit in which they differ. While numbers are sorted by the bits above it,
    those that share these bits stand together, in their old order: a pair is wrong where a 1 stands before a 0.
    """
    n_wrong = 0
    for bit in reversed(range(len(order).bit_length())):
        ones = (order >> bit) & 1
        before = np.cumsum(ones) - ones
        begins = order >> (bit + 1) << (bit + 1)  # where the numbers with the same higher bits stand
        n_wrong += int((before - before[begins])[ones == 0].sum())
        order = order[np.argsort(order >> bit, kind="stable")]
    return n_wrong


def align(estimated: Any, truth: Any) -> NDArray[np.int64]:
    """Match rankings by bipartite matching: ``estimated[align(estimated, truth)]`` is in the order of the truth."""
    distances = kendall_distances(truth, estimated)
    if distances.shape[0] != distances.shape[1]:
        raise ParameterError(
            f"expected as many rankings as in the truth ({distances.shape[0]}), got {distances.shape[1]}."
        )
    if len(distances) > FEW:
        return scipy.optimize.linear_sum_assignment(distances)[1].astype(np.int64)
    ways = np.array(list(permutations(range(len(distances)))), dtype=np.int64)
    best: NDArray[np.int64] = ways[distances[np.arange(len(distances)), ways].sum(axis=1).argmin()]
    return best


def _as_places(first: Any, second: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Turn rankings of any labels into places of the same items."""
    labels: dict[Any, int] = {}
    both = []
    try:
        for rankings in (first, second):
            rows = [[labels.setdefault(label, len(labels)) for label in np.asarray(row).tolist()] for row in rankings]
            both.append(rows)
    except (TypeError, ValueError):  # no rows, or items that are no items
        raise ParameterError("rankings must be lists of items, best first, one for each ranking.") from None
    sizes = {len(row) for rows in both for row in rows} | {len(set(row)) for rows in both for row in rows}
    if not all(both) or sizes != {len(labels)}:
        raise ParameterError("rankings must be of the same items, each item once in every ranking.")
    a, b = (np.argsort(np.array(rows, dtype=np.int64), axis=1) for rows in both)
    return a, b
