"""A strict ranking: the item it puts first is preferred, unless the choice is flipped.

Paper: section 3 (the ranking matrix sigma). Ours: the flip probability, because a ranking gives probability 0 to a
choice it does not explain, and real data have such choices.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Rankings = NDArray[np.int64]


def places_of(rankings: Rankings) -> NDArray[np.int32]:
    """Give the place of every item in every ranking, (Q, K), 0 for the best."""
    return np.ascontiguousarray(np.argsort(rankings, axis=1).T.astype(np.int32))


def ranking_matrix(rankings: Rankings, lower: NDArray[np.int32], higher: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Give sigma for some pairs: (2 n_pairs, K), row 2 p for (lower, higher) and row 2 p + 1 for (higher, lower)."""
    places = places_of(rankings)
    forward = places[lower] < places[higher]
    sigma = np.empty((2 * len(lower), len(rankings)), dtype=bool)
    sigma[0::2] = forward
    sigma[1::2] = ~forward
    return sigma


def win_probabilities(agreeing: Floats, flip: float) -> Floats:
    """P(winner preferred), given a user's weight on rankings that put the winner first."""
    return flip + (1.0 - 2.0 * flip) * agreeing
