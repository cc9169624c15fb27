"""Inference for single users; sources: ``native/left_to_right.cpp``, ``variational.cpp``, ``user_effects.cpp``."""

import numpy as np

from plurank.kernels.arrays import Keys, check, most_of
from plurank.kernels.library import (
    FLOAT,
    FLOATS,
    INT,
    INTS,
    KEYS,
    OUT_FLOATS,
    function,
)
from plurank.kernels.threads import run
from plurank.types import Floats, Integers

_read_left_to_right = function(
    "read_left_to_right", INT, INT, INTS, FLOATS, FLOATS, INT, KEYS, INT, INT, OUT_FLOATS, OUT_FLOATS
)
_particles_memory = function("particles_memory", INT, INT, INT, returns=INT)
_infer_dirichlets = function(
    "infer_dirichlets", INT, INT, INTS, FLOATS, FLOATS, INT, FLOATS, INT, INT, FLOAT, OUT_FLOATS, OUT_FLOATS, OUT_FLOATS
)
_solve_user_effects = function(
    "solve_user_effects", INT, INT, INTS, INTS, INTS, INTS, FLOATS, FLOATS, FLOATS, OUT_FLOATS, OUT_FLOATS, OUT_FLOATS
)
_effects_memory = function("effects_memory", INT, INT, returns=INT)


def read_left_to_right(
    offsets: Integers, likelihoods: Floats, prior: Floats, seeds: Keys, n_particles: int, most_redrawn: int
) -> Floats:
    """Estimate ``log E[prod_e sum_k theta_k likelihoods[e, k]]`` over theta ~ Dirichlet(prior), of every user, (M,).

    likelihoods (n, K), prior (K,); seeds (M,) are all that a user's draws depend on.
    """
    n_rankings = len(prior)
    check(likelihoods.shape == (offsets[-1], n_rankings) and len(seeds) == len(offsets) - 1)
    out = np.empty(len(offsets) - 1)
    run(
        _read_left_to_right, len(out), 10 * likelihoods.size * n_particles * (1 + most_redrawn), offsets,
        np.ascontiguousarray(likelihoods), np.ascontiguousarray(prior), n_rankings, seeds, n_particles, most_redrawn,
        out, memory=_particles_memory(n_rankings, n_particles, most_of(offsets)),
    )  # fmt: skip
    return out


def infer_dirichlets(
    offsets: Integers,
    likelihoods: Floats,
    weights: Floats,
    prior: Floats,
    init: Floats,
    max_rounds: int,
    tolerance: float,
) -> tuple[Floats, Floats]:
    """Fit a Dirichlet(gamma) to every user's posterior, and return the comparisons' part of the variational bound.

    Rounds end when gamma moves by at most tolerance, relative to its sum. likelihoods (n, K), weights (n,) or empty,
    prior (K,), start (M, K) -> gamma (M, K), values (M,).
    """
    n_rankings = len(prior)
    check(likelihoods.shape == (offsets[-1], n_rankings) and init.shape == (len(offsets) - 1, n_rankings))
    check(len(weights) in (0, len(likelihoods)))
    gammas, values = np.array(init, np.float64, order="C"), np.zeros(len(init))
    run(
        _infer_dirichlets, len(gammas), 50 * likelihoods.size, offsets, np.ascontiguousarray(likelihoods), weights,
        len(weights), np.ascontiguousarray(prior), n_rankings, max_rounds, tolerance, gammas, values,
        memory=2 * n_rankings,
    )  # fmt: skip
    return gammas, values


def solve_user_effects(
    offsets: Integers,
    edges: Integers,
    ahead: Integers,
    behind: Integers,
    counts: Floats,
    odds: Floats,
    precision: Floats,
) -> tuple[Floats, Floats]:
    """Maximise ``sum_e counts_e log sigmoid(odds_e + x_ahead - x_behind) - sum_k precision_k x_k^2 / 2``
    for every user.

    Comparisons (n,) are in the order of users, by offsets (M + 1,); ahead and behind are places in x (n_own,), as is
    precision, of which every user has a part of their own, by edges (M + 1,). Returns x and
    the diagonal of the Hessian.
    """
    check(offsets[-1] == len(ahead) == len(behind) == len(counts) == len(odds) and len(edges) == len(offsets))
    check(edges[-1] == len(precision))
    x, hessian = np.zeros(edges[-1]), np.empty(edges[-1])
    columns = (np.ascontiguousarray(column) for column in (offsets, edges, ahead, behind, counts, odds, precision))
    run(
        _solve_user_effects, len(offsets) - 1, 500 * len(odds), *columns, x, hessian,
        memory=_effects_memory(most_of(edges), most_of(offsets)) + 64,
    )  # fmt: skip
    return x, hessian
