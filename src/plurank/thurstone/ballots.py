"""The likelihood of whole rankings of new users, by a particle filter.

Ours. A particle is a draw of the items and of a user. Utilities are drawn from the worst item up, each above the one
before, as in the simulator of Geweke, Hajivassiliou and Keane; particles whose order has become improbable are replaced
by copies of others. The mean of the products of probabilities is an unbiased estimate.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtr, ndtri

from plurank.data.rated import Rankings
from plurank.thurstone.draws import Draw, DrawnUsers
from plurank.types import Codes, Floats

SMALLEST = 1e-300
ENOUGH = 0.5  # effective share of the particles; with fewer the probable ones are copied


def log_likelihoods(
    draws: Sequence[Draw],
    said: Rankings,
    n_particles: int,
    rng: np.random.Generator,
    known: tuple[Sequence[DrawnUsers], Codes] | None = None,
) -> Floats:
    """Return the log probability of every user's ranking, (M,), averaged over draws of the items and of users.

    Users are drawn from the population: nothing else is known about them. But with ``known``, one draw of the model's
    users for every draw of the items and the rows (M,) of the users among them, -1 for others. ``n_particles`` for
    every draw. Of tied items no order is asked; the lowest group, such as items offered and not ranked, is below all
    others.
    """
    parts = []
    for draw in draws:
        weights = rng.dirichlet(np.maximum(draw.counts, 1e-6), n_particles)
        factors = rng.standard_normal((n_particles, draw.item_factors.shape[1]))
        parts.append(weights @ draw.scores.T + factors @ draw.item_factors.T)
    utilities = np.concatenate(parts)
    found = np.empty(said.n_users)
    for user in range(said.n_users):
        own = slice(said.offsets[user], said.offsets[user + 1])
        items = said.codes[own]
        if known is not None and known[1][user] >= 0:
            rows = np.full(len(items), known[1][user])
            each = [draw.utilities(drawn, rows, items) for draw, drawn in zip(draws, known[0], strict=True)]
            particles = np.repeat(each, n_particles, axis=0)
        else:
            particles = utilities[:, items]
        found[user] = _log_order(particles, said.levels[own], rng)
    return found


def _log_order(utilities: Floats, levels: Codes, rng: np.random.Generator) -> float:
    """Log probability of an order, given particles of expected utilities (n, own) of items sorted by level."""
    n, total, logs = len(utilities), 0.0, np.zeros(len(utilities))
    lower = np.full(n, -np.inf)
    groups = np.unique(levels)
    for place, level in enumerate(groups):
        means = utilities[:, levels == level]
        above = ndtr(means - lower[:, None])
        logs += np.log(np.maximum(above, SMALLEST)).sum(axis=1)
        shares = np.exp(logs - logs.max())
        if place + 1 == len(groups):
            return float(total + logs.max() + np.log(shares.mean()))
        if shares.sum() ** 2 < ENOUGH * n * (shares**2).sum():
            total += logs.max() + np.log(shares.mean())
            edges = np.cumsum(shares) / shares.sum()
            chosen = np.minimum(np.searchsorted(edges, (np.arange(n) + rng.random()) / n), n - 1)
            utilities, lower, logs = utilities[chosen], lower[chosen], np.zeros(n)
            means, above = means[chosen], above[chosen]
        drawn = means - ndtri(np.maximum(rng.random(means.shape) * above, SMALLEST))
        lower = np.maximum(drawn, lower[:, None]).max(axis=1)
    return float(total)
