"""Plain twin of ``kernels/drawn_weights.py``, where the docstring is."""

# ruff: noqa: D103
import itertools

import numpy as np

from plurank.choices import Mixing
from plurank.kernels.plain.common import ones_if_empty, sigmoid
from plurank.types import Codes, Floats, Integers

LEAST_CHANCE = 1e-15
LEAST_LOG = -700.0


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
    weights, (n_users, n_rankings, n_draws) = ones_if_empty(weights, len(winners)), eta.shape
    values, shares = np.empty(n_users), np.empty((n_users, n_draws))
    in_counts, in_scores = np.empty((n_users, n_rankings)), np.empty((len(winners), n_rankings))
    for u, own in enumerate(itertools.starmap(slice, itertools.pairwise(offsets))):
        counts, location, spread, location_slope, spread_slope = priors[u][:, :, None]
        v = location + spread * eta[u]
        log_theta = v - np.logaddexp.reduce(v, axis=0)
        theta = np.exp(log_theta)
        leads, weight = scores[winners[own]] - scores[losers[own]], weights[own, None]
        if mixing == "utility":
            x, slopes, f = leads, np.ones(leads.shape), leads @ theta
            likelihoods, residuals = -np.logaddexp(0.0, -f), weight * sigmoid(-f)
        else:
            x, slopes = sigmoid(leads), sigmoid(leads) * sigmoid(-leads)
            f = np.maximum(x @ theta, LEAST_CHANCE)
            likelihoods, residuals = np.log(f), weight / f
        logs = draw_offsets[u] + (counts * log_theta).sum(axis=0) + (weight * likelihoods).sum(axis=0)
        apart = logs - logs.max()
        shares[u] = np.where(apart > LEAST_LOG, np.exp(apart), 0.0)
        values[u] = logs.max() + np.log(shares[u].sum())
        shares[u] /= shares[u].sum()
        in_theta = x.T @ residuals
        in_v = counts + theta * (in_theta - (theta * in_theta).sum(axis=0) - counts.sum())
        in_counts[u] = (log_theta + in_v * (location_slope + spread_slope * eta[u])) @ shares[u]
        in_scores[own] = residuals @ (shares[u] * theta).T * slopes
    return values, shares, in_counts, in_scores
