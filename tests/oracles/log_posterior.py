"""The posterior of user weights, and of scores with the weights integrated out, for few data only."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logsumexp

from tests.oracles.small_data import users_of


def log_probabilities(mixing, scores, theta, winners, losers):
    """log P(winner over loser), (n,), for rows of weights (n, K)."""
    leads = scores[winners] - scores[losers]
    if mixing == "utility":
        return log_expit((theta * leads).sum(axis=1))
    return np.log((theta * expit(leads)).sum(axis=1))


def log_posterior(mixing, c, scores, theta, prior):
    """``sum weight log P + sum prior log theta``, with prior (1, K) or (M, K)."""
    counts = np.ones(len(c)) if c.weights is None else c.weights
    logs = log_probabilities(mixing, scores, theta[users_of(c)], c.winners, c.losers)
    return counts @ logs + (prior * np.log(theta)).sum()


def curvature_in_theta(mixing, c, scores, theta, prior):
    """Minus the second derivatives of one user's log posterior in theta, (K, K), comparison by comparison."""
    bend = np.diag(prior / theta**2)
    for e in range(len(c)):
        lead, count = scores[c.winners[e]] - scores[c.losers[e]], 1.0 if c.weights is None else c.weights[e]
        if mixing == "utility":
            bend += count * expit(theta @ lead) * expit(-theta @ lead) * np.outer(lead, lead)
        else:
            bend += count * np.outer(expit(lead), expit(lead)) / (theta @ expit(lead)) ** 2
    return bend


def log_marginal(mixing, c, scores, theta, prior):
    """The log posterior plus the logarithm of the volume of every user's weights in the softmax basis (Laplace)."""
    n_rankings = theta.shape[1]
    along = np.linalg.qr(np.column_stack([np.ones(n_rankings), np.eye(n_rankings)[:, 1:]]))[0][:, 1:]
    value = log_posterior(mixing, c, scores, theta, prior)
    for u in range(c.n_users):
        jacobian = (np.diag(theta[u]) - np.outer(theta[u], theta[u])) @ along
        bend = curvature_in_theta(mixing, c.block(u, u + 1), scores, theta[u], prior[u])
        value += 0.5 * np.log(n_rankings) - 0.5 * np.linalg.slogdet(jacobian.T @ bend @ jacobian)[1]
    return value


def slope_in_theta(log_posterior_of, theta, step=1e-6):
    """Central differences of a function of theta (K,), which need not lie on the simplex."""
    moves = step * np.eye(len(theta)) * theta
    return np.array([(log_posterior_of(theta + m) - log_posterior_of(theta - m)) / (2 * m.sum()) for m in moves])


def best_theta(log_posterior_of, n_rankings):
    """The maximum over the simplex, by a solver that knows nothing about the problem."""
    found = minimize(
        lambda theta: -log_posterior_of(theta),
        np.full(n_rankings, 1.0 / n_rankings),
        jac=lambda theta: -slope_in_theta(log_posterior_of, theta),
        method="SLSQP",
        bounds=[(1e-6, 1.0)] * n_rankings,
        constraints={"type": "eq", "fun": lambda theta: theta.sum() - 1.0},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert found.success, found.message
    return found.x


def integrate_on_grid(mixing, c, scores, prior, step=0.25, reach=25.0):
    """Log of the integral over one user's weights in the softmax basis, their mean (K,) and their total variance.

    The sum over a grid of all weights whose logarithms differ from the last one's by less than reach.
    """
    axis = np.arange(-reach, reach, step)
    free = np.meshgrid(*[axis] * (len(prior) - 1), indexing="ij")
    logs = np.stack([*(column.ravel() for column in free), np.zeros(free[0].size)], axis=1)
    logs -= logsumexp(logs, axis=1, keepdims=True)
    theta, values = np.exp(logs), logs @ prior
    for e in range(len(c)):
        count = 1.0 if c.weights is None else c.weights[e]
        values += count * log_probabilities(mixing, scores, theta, c.winners[[e]], c.losers[[e]])
    total = logsumexp(values)
    shares = np.exp(values - total)
    mean = shares @ theta
    return total + (len(prior) - 1) * np.log(step), mean, float((shares @ theta**2 - mean**2).sum())
