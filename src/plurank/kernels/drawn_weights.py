"""The likelihood with weights integrated out by draws; source, with the formulas: ``native/drawn_weights.cpp``."""

import numpy as np

from plurank.choices import Mixing
from plurank.kernels.arrays import check, most_of
from plurank.kernels.library import CODES, FLOATS, INT, INTS, OUT_FLOATS, function
from plurank.kernels.observed import N_LANES
from plurank.kernels.threads import run
from plurank.types import Codes, Floats, Integers

_weigh_draws = function(
    "weigh_draws", INT, INT, INTS, CODES, CODES, FLOATS, INT, FLOATS, INT, INT, FLOATS, FLOATS, INT, FLOATS,
    OUT_FLOATS, OUT_FLOATS, OUT_FLOATS, OUT_FLOATS, INT, OUT_FLOATS,
)  # fmt: skip
_weigh_draws_memory = function("weigh_draws_memory", INT, INT, INT, returns=INT)


def weigh_draws(
    offsets: Integers,
    winners: Codes,
    losers: Codes,
    weights: Floats,
    scores: Floats,
    mixing: Mixing,
    eta: Floats,
    draw_offsets: Floats,
    priors: Floats,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Weigh N draws of every user's weights by their prior and by what the user compared, given scores (Q, K).

    eta (M, K, N): standardised logits of the draws, N a multiple of 4. draw_offsets (M, N): minus the log density that
    proposed them. priors (M, 5, K): counts of users' Dirichlet priors; location and spread of the logits; and
    derivatives of these two in the counts. weights (n,) of comparisons,
    or empty. Returns the logarithm of every user's sum over draws (M,), up to what depends on the counts alone; shares
    of the draws (M, N); derivatives of the former in the counts (M, K); and gradients (n, K) in the scores of the
    winner of each comparison, those in the scores of the loser being the opposite.
    """
    n_users, n_rankings, n_draws = eta.shape
    check(len(offsets) == n_users + 1 and offsets[-1] == len(winners) == len(losers))
    check(len(weights) in (0, len(winners)) and scores.ndim == 2 and scores.shape[1] == n_rankings)
    check(draw_offsets.shape == (n_users, n_draws) and priors.shape == (n_users, 5, n_rankings))
    check(n_draws > 0 and n_draws % N_LANES == 0)
    values, shares = np.empty(n_users), np.empty((n_users, n_draws))
    in_counts, in_scores, most = np.empty((n_users, n_rankings)), np.empty((len(winners), n_rankings)), most_of(offsets)
    run(
        _weigh_draws, n_users, len(winners) * n_draws * (5.0 + n_rankings), offsets, winners, losers, weights,
        len(weights), scores, n_rankings, int(mixing == "utility"), eta, draw_offsets, n_draws, priors, values,
        shares, in_counts, in_scores, most, memory=_weigh_draws_memory(n_rankings, n_draws, most),
    )  # fmt: skip
    return values, shares, in_counts, in_scores
