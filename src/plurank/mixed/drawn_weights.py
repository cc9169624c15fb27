"""Draws of the weights of users who compared items, each with how much it counts, for a regression on covariates.

Ours. Weights come from Dirichlets near each user's posterior and from the prior, and count by the likelihood
of the user's comparisons over how often they were proposed. So scores, or the prior of the weights, may change, and the
same draws serve again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from plurank.data.comparisons import Comparisons
from plurank.elementary import log_expit
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.regression.coefficients import draw_log_dirichlets
from plurank.regression.density import DrawnWeights
from plurank.types import Floats

LEAST_COUNT = 1e-3
BLOCK_CELLS = 2**21  # comparisons times draws that are looked at at once
ROUNDS = 50


@dataclass(frozen=True)
class ProposedWeights:
    """Users' comparisons, logarithms of proposed weights (M, N, K), and of the density that proposed them, (M, N)."""

    comparisons: Comparisons
    logs: Floats
    densities: Floats

    @classmethod
    def of(
        cls,
        component: BradleyTerry,
        comparisons: Comparisons,
        priors: Sequence[Floats],
        n_draws: int,
        rng: np.random.Generator,
    ) -> "ProposedWeights":
        """Draw weights of all users, who may have any of some priors, (1, K) or (M, K) Dirichlet counts each."""
        proposals = np.stack([each for prior in priors for each in propose(component, comparisons, prior)], axis=1)
        chosen = np.arange(n_draws) % len(proposals[0])
        logs = draw_log_dirichlets(proposals[:, chosen], rng)
        shares = np.bincount(chosen, minlength=len(proposals[0])) / n_draws
        return cls(comparisons, logs, log_mixture(proposals, shares, logs))

    def weigh(self, component: BradleyTerry, design: Floats) -> DrawnWeights:
        """Say how much every draw counts, by rankings with these scores."""
        return DrawnWeights(design, self.logs, self.log_likelihoods(component) - self.densities)

    def log_likelihoods(self, component: BradleyTerry) -> Floats:
        """Log-likelihood of every user's comparisons by each of the weights, (M, N)."""
        c, n_draws = self.comparisons, self.logs.shape[1]
        scores = component.scores
        leads = scores[c.winners] - scores[c.losers]
        x = leads if component.mixing == "utility" else np.exp(log_expit(leads))
        counts = np.ones(len(c)) if c.weights is None else c.weights
        sizes = np.diff(c.offsets)
        order = np.argsort(sizes, kind="stable")
        found = np.zeros(self.logs.shape[:2])
        begin = int(np.searchsorted(sizes[order], 1))
        while begin < len(order):
            most = BLOCK_CELLS // (int(sizes[order[begin]]) * n_draws)
            longest = sizes[order[min(begin + most, len(order) - 1)]]
            users = order[begin : begin + max(BLOCK_CELLS // (int(longest) * n_draws), 1)]
            places = np.arange(int(sizes[users[-1]]))
            own = places < sizes[users, None]
            rows = np.where(own, c.offsets[users, None] + places, 0)
            mixed = np.matmul(x[rows], np.exp(self.logs[users]).transpose(0, 2, 1))
            logs = log_expit(mixed) if component.mixing == "utility" else np.log(np.maximum(mixed, 1e-300))
            found[users] = np.matmul(np.where(own, counts[rows], 0.0)[:, None, :], logs)[:, 0, :]
            begin += len(users)
        return found


def propose(component: BradleyTerry, comparisons: Comparisons, prior: Floats) -> list[Floats]:
    """Return a user's prior, and twice what is near their posterior: counts (M, K)."""
    prior = np.broadcast_to(np.maximum(prior, LEAST_COUNT), (comparisons.n_users, prior.shape[1]))
    init = prior / prior.sum(axis=1, keepdims=True)
    seen = component.update_memberships(comparisons, init, prior, ROUNDS)
    near = np.maximum(seen.user_concentration[:, None] * seen.means, LEAST_COUNT)
    return [prior, near, near]


def log_mixture(proposals: Floats, shares: Floats, logs: Floats) -> Floats:
    """Log density (M, N) of mixtures of Dirichlets (M, J, K), without ``prod_k 1 / theta_k``: in the softmax basis."""
    constants = gammaln(proposals.sum(axis=2)) - gammaln(proposals).sum(axis=2)
    with np.errstate(divide="ignore"):
        each = np.matmul(logs, proposals.transpose(0, 2, 1)) + constants[:, None, :] + np.log(shares)
    top = each.max(axis=2)
    return np.asarray(top + np.log(np.exp(each - top[:, :, None]).sum(axis=2)))
