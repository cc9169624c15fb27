"""The likelihood of whole new users by particles that read their comparisons from left to right.

Wallach, Murray, Salakhutdinov and Mimno 2009, Algorithm 3. Ours: the particles have weights, as Buntine 2009 has them
and as a particle filter does, so that the estimate is right for many particles however few of the earlier tokens are
drawn again at a comparison; a bounded number of them keeps the work linear in the comparisons.
"""

import numpy as np
from numba import prange

from plurank.kernels.compiling import kernel, put

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
ENOUGH = 0.5  # of the particles, counted by how even their weights are; with fewer the heavy ones are copied


@kernel()
def _next_uniform(state):
    """Give the next draw in [0, 1) of the stream (SplitMix64) whose state (1,) is moved on."""
    state[0] += GOLDEN
    mixed = state[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * SECOND
    mixed ^= mixed >> np.uint64(31)
    return np.float64(mixed >> np.uint64(11)) * 2.0**-53


@kernel()
def _cumulate(prior, counts, likelihoods, cumulated):
    """``cumulated[:] = np.cumsum((prior + counts) * likelihoods)``; gives the last of them."""
    total = 0.0
    for k in range(counts.size):
        total += (prior[k] + counts[k]) * likelihoods[k]
        cumulated[k] = total
    return total


@kernel()
def _draw(cumulated, state):
    """Draw k with a chance of ``np.diff(cumulated)[k]``."""
    wanted = _next_uniform(state) * cumulated[-1]
    k = 0
    while k < cumulated.size - 1 and wanted >= cumulated[k]:
        k += 1
    return k


@kernel()
def _copy_heavy(weights, tokens, n_read, counts, state):
    """Copy particles in proportion to their weights, which sum to 1 (systematic resampling), and weigh all alike."""
    n = weights.size
    old_tokens, old_counts = tokens[:, :n_read].copy(), counts.copy()
    shift = _next_uniform(state)
    chosen = 0
    reached = weights[0]
    for r in range(n):
        while chosen < n - 1 and (shift + r) / n >= reached:
            chosen += 1
            reached += weights[chosen]
        put(old_tokens[chosen], tokens[r, :n_read])
        put(old_counts[chosen], counts[r])
    weights[:] = 1.0 / n


@kernel()
def _read_user(likelihoods, prior, seed, n_particles, most_redrawn):
    """Estimate the log-likelihood of one user's comparisons, likelihoods (n, K)."""
    n, n_rankings = likelihoods.shape
    state = np.full(1, seed)
    tokens = np.empty((n_particles, n), np.int32)
    counts = np.zeros((n_particles, n_rankings))
    weights = np.full(n_particles, 1.0 / n_particles)
    cumulated = np.empty(n_rankings)
    prior_total = prior.sum()
    value = 0.0
    turn = 0
    for e in range(n):
        n_redrawn = min(e, most_redrawn)
        mass = 0.0
        for r in range(n_particles):
            for t in range(n_redrawn):
                at = turn + t
                if at >= e:
                    at -= e
                counts[r, tokens[r, at]] -= 1.0
                _cumulate(prior, counts[r], likelihoods[at], cumulated)
                tokens[r, at] = _draw(cumulated, state)
                counts[r, tokens[r, at]] += 1.0
            weights[r] *= _cumulate(prior, counts[r], likelihoods[e], cumulated) / (prior_total + e)
            mass += weights[r]
            tokens[r, e] = _draw(cumulated, state)
            counts[r, tokens[r, e]] += 1.0
        turn = (turn + n_redrawn) % (e + 1)
        value += np.log(mass)
        if mass == 0.0:
            break
        square = 0.0
        for r in range(n_particles):
            weights[r] /= mass
            square += weights[r] * weights[r]
        if square * ENOUGH * n_particles > 1.0:
            _copy_heavy(weights, tokens, e + 1, counts, state)
    return value


@kernel(parallel=True)
def read_left_to_right(offsets, likelihoods, prior, seeds, n_particles, most_redrawn):
    """Estimate ``log E[prod_e sum_k theta_k likelihoods[e, k]]`` over theta ~ Dirichlet(prior), of every user, (M,).

    A particle has a token (ranking) for each comparison read so far. At comparison e it draws up to most_redrawn of the
    earlier tokens again, in turns, each from ``(prior_k + n_k) likelihoods[., k]``, n_k counting the other tokens; its
    weight is multiplied by ``sum_k (prior_k + n_k) likelihoods[e, k] / (sum prior + e)``; then it draws token e. The
    likelihood of e given those before is the growth of the weights' sum. likelihoods (n, K), prior (K,), seeds (M,)
    uint64, all that a user's draws depend on.
    """
    out = np.empty(offsets.size - 1)
    for u in prange(offsets.size - 1):
        own = likelihoods[offsets[u] : offsets[u + 1]]
        out[u] = _read_user(own, prior, seeds[u], n_particles, most_redrawn)
    return out
