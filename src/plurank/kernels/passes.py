"""One pass over the comparisons: update every user's memberships, and collect what they say about the rankings.

The sources, with the formulas, are ``native/mixture.cpp`` and ``native/utility.cpp``.
"""

from typing import Any, NamedTuple

import numpy as np

from plurank.kernels.arrays import check, most_of
from plurank.kernels.library import (
    CODES,
    FLOATS,
    INT,
    INTS,
    OUT_FLOATS,
    function,
)
from plurank.kernels.threads import run
from plurank.types import Codes, Floats, Integers

FARTHEST = 100.0  # from 0 that a score may lie for all leads to be at most LONGEST_LEAD, see native/mixture.cpp
N_LANES = 4

_USERS = (INT, INT, INTS, INTS, CODES, CODES, FLOATS, INT)  # blocks; edges, offsets, winners, losers, weights
_PRIOR = (FLOATS, INT, INT)  # prior, step between users, rounds
_SUMS = (OUT_FLOATS, OUT_FLOATS, OUT_FLOATS, INT, OUT_FLOATS, OUT_FLOATS, OUT_FLOATS, OUT_FLOATS)
_probability_pass = function("probability_pass", *_USERS, FLOATS, INT, INT, INT, *_PRIOR, *_SUMS)
_utility_pass = function("utility_pass", *_USERS, FLOATS, INT, INT, *_PRIOR, *_SUMS)
_places_pass = function(
    "places_pass", *_USERS, CODES, FLOATS, INT, INT, *_PRIOR, OUT_FLOATS, OUT_FLOATS, OUT_FLOATS, OUT_FLOATS
)
_mixture_memory = function("mixture_memory", INT, INT, returns=INT)
_utility_memory = function("utility_memory", INT, INT, INT, returns=INT)
_sum_tree = function("sum_tree", INT, INT, OUT_FLOATS, INT, INT)


Passed = tuple[Floats, float, Floats, Floats, Floats, Floats, Floats]  # see probability_pass


class _Users(NamedTuple):
    """Arguments that all passes begin with, checked."""

    arguments: tuple[Integers, Integers, Codes, Codes, Floats, int]
    prior: tuple[Floats, int]
    n_blocks: int
    most: int  # comparisons of one user

    @classmethod
    def of(
        cls,
        edges: Integers,
        offsets: Integers,
        winners: Codes,
        losers: Codes,
        weights: Floats,
        theta: Floats,
        prior: Floats,
    ) -> "_Users":
        n_users, n_rankings = theta.shape
        check(len(offsets) == n_users + 1 and offsets[-1] == len(winners) == len(losers))
        check(len(weights) in (0, len(winners)) and prior.shape in ((1, n_rankings), (n_users, n_rankings)))
        check(len(edges) < 2 or (edges[0] == 0 and edges[-1] == n_users))
        return cls(
            (edges, offsets, winners, losers, np.ascontiguousarray(weights), len(weights)),
            (np.ascontiguousarray(prior), 0 if len(prior) == 1 else n_rankings),
            max(len(edges) - 1, 0),
            most_of(offsets),
        )


def probability_pass(
    edges: Integers,
    offsets: Integers,
    winners: Codes,
    losers: Codes,
    weights: Floats,
    scores: Floats,
    init: Floats,
    prior: Floats,
    n_rounds: int,
    informed: bool,
) -> Passed:
    """Mix probabilities: ``P(i over j) = sum_k theta_k p_k``, ``p_k = sigmoid(scores_ik - scores_jk)``.

    Users are cut into blocks by edges, whose sums are added as a tree. start (M, K) is where n_rounds Newton steps
    begin, prior (1, K) or (M, K). Returns theta (M, K); the log posterior of the scores with theta integrated out; its
    gradient (Q, K); its Hessian (Q, K), as if one saw which ranking makes a comparison; posterior mean (M, K) and
    posterior concentration (M,) of each user's memberships; and where ``informed`` the information about each item's
    scores (Q, K, K): products of gradients, summed.
    """
    far = bool((np.abs(scores) > FARTHEST).any())
    table = _pad(scores if far else np.exp(scores), 0.0 if far else 1.0)
    users = _Users.of(edges, offsets, winners, losers, weights, init, prior)
    memory = _mixture_memory(scores.shape[1], users.most)
    return _pass_over(_probability_pass, users, (table, int(far)), scores, init, n_rounds, informed, memory)


def utility_pass(
    edges: Integers,
    offsets: Integers,
    winners: Codes,
    losers: Codes,
    weights: Floats,
    scores: Floats,
    init: Floats,
    prior: Floats,
    n_rounds: int,
    informed: bool,
) -> Passed:
    """Mix utilities: ``P(i over j) = sigmoid(sum_k theta_k (scores_ik - scores_jk))``; see :func:`probability_pass`."""
    users = _Users.of(edges, offsets, winners, losers, weights, init, prior)
    memory = _utility_memory(scores.shape[1], users.most, len(scores))
    return _pass_over(_utility_pass, users, (_pad(scores, 0.0),), scores, init, n_rounds, informed, memory)


def _pass_over(
    native: Any,
    users: _Users,
    table: tuple[Any, ...],
    scores: Floats,
    init: Floats,
    n_rounds: int,
    informed: bool,
    memory: int,
) -> Passed:
    n_items, n_rankings = scores.shape
    check(n_rankings == init.shape[1])
    width = -(-n_rankings // N_LANES) * N_LANES
    theta, means = np.array(init, order="C"), np.array(init, order="C")
    concentration, values = np.zeros(len(init)), np.zeros((users.n_blocks, 1))
    sums = np.zeros((users.n_blocks, n_items, 2, width))
    information = np.zeros((users.n_blocks, n_items if informed else 0, n_rankings, width))
    work = len(users.arguments[2]) * (n_rankings * (n_rankings + 10) + 40) * (1 + n_rounds / 4) / 10
    run(
        native, users.n_blocks, work, *users.arguments, *table, n_items, n_rankings, *users.prior, n_rounds,
        theta, values, sums, int(informed), information, means, concentration, memory=memory,
    )  # fmt: skip
    by_item = add_blocks(sums)
    gradient, hessian = (by_item[:, part, :n_rankings].copy() for part in range(2))
    log_posterior = float(add_blocks(values)[0])
    information = add_blocks(information)[:, :, :n_rankings].copy()  # without what all blocks held
    return theta, log_posterior, gradient, hessian, means, concentration, information


def places_pass(
    edges: Integers,
    offsets: Integers,
    winners: Codes,
    losers: Codes,
    weights: Floats,
    places: Codes,
    by_gap: Floats,
    init: Floats,
    prior: Floats,
    n_rounds: int,
) -> tuple[Floats, float, Floats]:
    """Mix probabilities that depend on how far apart two items stand: ``p_k = by_gap[k, place_j - place_i + Q - 1]``.

    places (Q, K), by_gap (K, 2 Q - 1). Returns theta (M, K), the log posterior of the orders, and the posterior
    concentration of each user's memberships (M,).
    """
    n_items, n_rankings = places.shape
    check(n_rankings == init.shape[1] and by_gap.shape == (n_rankings, 2 * n_items - 1))
    users = _Users.of(edges, offsets, winners, losers, weights, init, prior)
    theta, concentration, values = np.array(init, order="C"), np.zeros(len(init)), np.zeros((users.n_blocks, 1))
    run(
        _places_pass, users.n_blocks, len(winners) * n_rankings**2, *users.arguments, np.ascontiguousarray(places),
        np.ascontiguousarray(by_gap), n_items, n_rankings, *users.prior, n_rounds, theta, values, concentration,
        memory=_mixture_memory(n_rankings, users.most),
    )  # fmt: skip
    return theta, float(add_blocks(values)[0]), concentration


def _pad(table: Floats, value: float) -> Floats:
    """Return rows that are filled up to whole lanes."""
    n_rows, n_columns = table.shape
    padded = np.full((n_rows, -(-n_columns // N_LANES) * N_LANES), value)
    padded[:, :n_columns] = table
    return padded


def add_blocks(parts: Floats) -> Floats:
    """Sum over the first axis as a tree, so that 2^j neighbours can be summed elsewhere; parts are used up."""
    if not len(parts):
        return np.zeros(parts.shape[1:])
    size = parts[0].size
    run(_sum_tree, size, parts.size, parts, len(parts), size)
    return parts[0]
