"""Distances between rankings, matching of rankings, and where they disagree.

Paper: section 6.2 (the reconstruction error).
"""

from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from plurank.exceptions import ParameterError

# The paper's reconstruction error.


def ranking_error(estimated: Any, truth: Any) -> float:
    """Return the mean normalised Kendall distance between estimated and true rankings, after matching.

    Parameters
    ----------
    estimated, truth : array-like of shape (K, Q)
        Rankings, best first: item codes or labels, the same ones in both.

    Returns
    -------
    float
        0 where all rankings are equal, 1 where all are reversed.

    Raises
    ------
    ParameterError
        If the rankings are not as many, or not of the same items.

    References
    ----------
    W. Ding, P. Ishwar and V. Saligrama (2015), "A Topic Modeling Approach to Ranking", AISTATS, section 6.2: the l1
    distance of the columns of sigma divided by Q (Q - 1), after bipartite matching.

    Examples
    --------
    >>> import plurank
    >>> plurank.ranking_error([[2, 1, 0], [0, 1, 2]], [[0, 1, 2], [2, 1, 0]])
    0.0
    """
    order = align(estimated, truth)
    distances = kendall_distances(truth, [estimated[k] for k in order])
    return float(np.diagonal(distances).mean())


def places_of(rankings: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the place of every item in every ranking, (Q, K), 0 for the best."""
    return np.ascontiguousarray(np.argsort(rankings, axis=1).T.astype(np.int32))


def order_by_score(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the items by score (Q, K), best first, (K, Q)."""
    return np.argsort(-scores.T, axis=1, kind="stable")


# Label switching: rankings come in no particular order, so estimates are matched to the truth first.

MAX_EXHAUSTIVE = 6  # rankings of which all matchings are tried, 720


def kendall_tau(first: Any, second: Any) -> float:
    """Return Kendall's tau of two rankings.

    Parameters
    ----------
    first, second : array-like of shape (Q,)
        Rankings, best first: item codes or labels, the same ones in both.

    Returns
    -------
    float
        1 where they are equal, -1 where they are reversed.

    Raises
    ------
    ParameterError
        If the rankings are not of the same items.

    Examples
    --------
    >>> import plurank
    >>> plurank.kendall_tau(["tea", "milk", "juice"], ["juice", "milk", "tea"])
    -1.0
    """
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
    """Match estimated rankings to the truth, so that the sum of Kendall distances is smallest.

    Parameters
    ----------
    estimated, truth : array-like of shape (K, Q)
        Rankings, best first: item codes or labels, the same ones in both.

    Returns
    -------
    ndarray of int64, shape (K,)
        Positions: ``estimated[align(estimated, truth)]`` is in the order of the truth.

    Raises
    ------
    ParameterError
        If the rankings are not as many, or not of the same items.

    Examples
    --------
    >>> import plurank
    >>> plurank.align([[2, 1, 0], [0, 1, 2]], [[0, 1, 2], [2, 1, 0]]).tolist()
    [1, 0]
    """
    distances = kendall_distances(truth, estimated)
    if distances.shape[0] != distances.shape[1]:
        raise ParameterError(
            f"expected as many rankings as in the truth ({distances.shape[0]}), got {distances.shape[1]}."
        )
    if len(distances) > MAX_EXHAUSTIVE:
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


def places_from_one(rankings: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of every item in every ranking (K, Q) as people count, (Q, K), 1 for the best."""
    return places_of(rankings).astype(np.int64) + 1


class DividedItems(NamedTuple):
    """Item numbers (n,), and their places in every ranking (n, K), counted from 1."""

    items: NDArray[np.int64]
    places: NDArray[np.int64]


def most_divided_items(rankings: Any, n: int = 5) -> DividedItems:
    """Find at most ``n`` items whose places in rankings (K, Q) lie furthest apart, the most divided item first.

    Of items equally far apart, the one with the better best place comes first. Items with the same place in every
    ranking are left out, so one ranking has none.
    """
    orders = np.asarray(rankings)
    if orders.ndim != 2 or not len(orders) or (np.sort(orders, axis=1) != np.arange(orders.shape[1])).any():
        raise ParameterError("rankings must be item numbers, best first, each item once in every ranking.")
    places = places_from_one(orders)
    best, worst = places.min(axis=1), places.max(axis=1)
    items = np.lexsort((best, best - worst))  # stable, so the smaller item number comes first
    items = items[best[items] < worst[items]][:n]
    return DividedItems(items, places[items])


def disagreement(rankings: Any, shares: Any) -> NDArray[np.float64]:
    """Say how far apart rankings (K, Q) put every item, (Q,): the standard deviation of its places.

    Rankings count by their shares (K,), so that an item is contested where many people differ about it.
    """
    places, mass = places_of(np.asarray(rankings)) + 1.0, np.asarray(shares, dtype=np.float64)
    mean = places @ mass
    return np.sqrt(np.maximum((places - mean[:, None]) ** 2 @ mass, 0.0))
