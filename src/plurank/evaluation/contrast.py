"""Where rankings disagree."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurank.evaluation.ranking_error import places_of
from plurank.exceptions import ParameterError


def places_from_one(rankings: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the place of every item in every ranking (K, Q) as people count, (Q, K), 1 for the best."""
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
