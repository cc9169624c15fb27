"""Every user's weights, and the flip probability, given strict rankings.

Paper: section 6.3 infers user weights given the rankings. Ours: a ranking gives probability 0 to what it does not
explain, so each comparison is reversed with a small flip probability, fitted by maximum likelihood.
"""

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.comparisons import Comparisons
from plurank.elementary import minimise
from plurank.metrics.rankings import places_of
from plurank.topic.orders import win_probabilities
from plurank.types import Floats

MAX_ROUNDS = 200
TOLERANCE = 1e-4
N_BINS = 4096


def infer_weights(
    comparisons: Comparisons,
    rankings: NDArray[np.int64],
    flip: float,
    prior: Floats,
    init: Floats | None = None,
) -> Floats:
    """Return the most probable weights of every user under a Dirichlet(prior), (M, K); see the kernel for the basis."""
    c = comparisons
    begin = np.tile(prior / prior.sum(), (c.n_users, 1)) if init is None else init
    # a weight of zero would stay zero whatever the user says
    begin = np.maximum(begin, 1e-12)
    return kernels.map_user_weights(
        c.offsets,
        c.winners,
        c.losers,
        c.kernel_weights,
        places_of(rankings),
        flip,
        prior,
        begin,
        MAX_ROUNDS,
        TOLERANCE,
    )


def fit_flip(comparisons: Comparisons, rankings: NDArray[np.int64], weights: Floats) -> float:
    """Fit the flip probability, given user weights (M, K)."""
    c = comparisons
    n_rankings, n_items = rankings.shape
    wins = np.tile(np.arange(2 * n_items - 1) >= n_items, (n_rankings, 1)).astype(np.float64)  # by lead in places
    shares = kernels.mix_places(c.user_of_each(), c.winners, c.losers, places_of(rankings), wins, weights)
    return flip_behind(shares, c.weights)


def flip_behind(shares: Floats, counts: Floats | None) -> float:
    """Maximise ``sum_e log(flip + (1 - 2 flip) s_e)``, s_e how much of the user agrees with comparison e, (n,).

    s is sorted into fine bins first, so that the search does not touch the comparisons again. The estimate is kept
    away from zero by half a comparison, so that no comparison is impossible.
    """
    # a sum of weights can round to a little more than 1, which the histogram would leave out
    agreeing = np.minimum(shares, 1.0)
    mass, edges = np.histogram(agreeing, bins=N_BINS, range=(0.0, 1.0), weights=counts)
    sums, _ = np.histogram(
        agreeing, bins=N_BINS, range=(0.0, 1.0), weights=agreeing * (1.0 if counts is None else counts)
    )
    centres = np.divide(sums, mass, out=(edges[:-1] + edges[1:]) / 2, where=mass > 0)
    least = 0.5 / (mass.sum() + 1.0)

    def loss(flip: float) -> float:
        return -float(mass @ np.log(win_probabilities(centres, flip)))

    return minimise(loss, least, 0.5, 1e-7)
