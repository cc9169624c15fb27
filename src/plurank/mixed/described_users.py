"""Weights of users whose covariates are known, and who answered some questions.

Ours. Covariates give every user a prior of their own, often with a concentration far below that of everybody without
them. A variational posterior then takes the first answers for certain; here the mean and the concentration of the
weights come from draws that count by their likelihood (importance sampling), some of them from what one answer by each
of the rankings would make of the prior. All users have the same random numbers, so
that what is inferred of one does not depend on who else is asked.
"""

import numpy as np

from plurank.data.comparisons import Comparisons
from plurank.elementary import expit, log_expit
from plurank.inference.posterior import Draws, propose_weights, weigh_draws
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.models.prediction import Memberships
from plurank.types import Floats

N_DRAWS = 512
FEWEST_DRAWS = 20.0  # effective ones, or the variational posterior stays
MOST_ANSWERS = 1000  # of a user; the variational posterior of more is as good
LEAST_COUNT, LEAST_CHANCE, MOST_CERTAIN = 1e-3, 1e-300, 1e9
SEED = 20_261_119


def average_draws(component: BradleyTerry, comparisons: Comparisons, counts: Floats, found: Memberships) -> Memberships:
    """Return memberships by draws, of a variational posterior ``found`` of users with Dirichlet priors, counts (m, K).

    Users without answers stay as they are.
    """
    c, utility = comparisons, component.mixing == "utility"
    leads = component.scores[c.winners] - component.scores[c.losers]
    features, repeats = leads if utility else expit(leads), np.ones(len(c)) if c.weights is None else c.weights
    weights, concentration, sizes = found.weights.copy(), found.user_concentration.copy(), np.diff(c.offsets)
    near = np.maximum(weights * concentration[:, None], LEAST_COUNT)
    for user in np.flatnonzero((sizes > 0) & (sizes <= MOST_ANSWERS)).tolist():
        own = slice(c.offsets[user], c.offsets[user + 1])
        prior = np.maximum(counts[user], LEAST_COUNT)
        logs, shares = propose_weights(prior, near[user], N_DRAWS, SEED, [*(prior + np.eye(len(prior)))])
        mixed = np.exp(logs) @ features[own].T
        likelihoods = log_expit(mixed) if utility else np.log(np.maximum(mixed, LEAST_CHANCE))
        draws = weigh_draws(logs, shares + likelihoods @ repeats[own])
        if draws.shares @ draws.shares * FEWEST_DRAWS <= 1.0:
            weights[user], concentration[user] = draws.mean, _concentration_of(draws)
    return found._replace(weights=weights, user_concentration=concentration)


def _concentration_of(draws: Draws) -> float:
    """Return the concentration of the Dirichlet that has the mean and the total variance of draws."""
    mean = draws.mean
    variance = float(draws.shares @ ((draws.weights - mean) ** 2).sum(axis=1))
    most = float(1.0 - mean @ mean)  # of weights that are all 0 or 1
    return (
        float(np.clip(most / max(variance, most / MOST_CERTAIN) - 1.0, LEAST_COUNT, MOST_CERTAIN))
        if most
        else MOST_CERTAIN
    )
