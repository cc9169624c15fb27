"""Points on the simplex where rankings are fixed; sources: ``native/memberships.cpp``."""

import numpy as np

from plurank.kernels.arrays import check, most_of
from plurank.kernels.library import (
    CODES,
    FLOAT,
    FLOATS,
    INT,
    INTS,
    OUT_FLOATS,
    function,
)
from plurank.kernels.threads import run
from plurank.types import Codes, Floats, Integers

_map_user_weights = function(
    "map_user_weights", INT, INT, INTS, CODES, CODES, FLOATS, INT, CODES, INT, FLOAT, FLOATS, INT, FLOAT, OUT_FLOATS,
    OUT_FLOATS,
)  # fmt: skip
_memberships_memory = function("memberships_memory", INT, INT, returns=INT)
_regress_on_simplex = function("regress_on_simplex", INT, INT, FLOATS, INT, FLOATS, FLOAT, INT, OUT_FLOATS, OUT_FLOATS)


def map_user_weights(
    offsets: Integers,
    winners: Codes,
    losers: Codes,
    weights: Floats,
    places: Codes,
    flip: float,
    prior: Floats,
    init: Floats,
    max_rounds: int,
    tolerance: float,
) -> Floats:
    """Find each user's most probable memberships in strict rankings by EM.

    One comparison has probability ``flip + (1 - 2 flip) sum_k theta_k [places[winner, k] < places[loser, k]]``; a
    Dirichlet(prior) is meant in the softmax basis. places (Q, K), prior (K,), start (M, K) -> (M, K).
    """
    n_rankings = places.shape[1]
    check(offsets[-1] == len(winners) == len(losers) and len(weights) in (0, len(winners)))
    check(init.shape == (len(offsets) - 1, n_rankings) and prior.shape == (n_rankings,))
    theta = np.array(init, np.float64, order="C")
    columns = (offsets, winners, losers, weights, len(weights), np.ascontiguousarray(places), n_rankings)
    run(
        _map_user_weights, len(theta), 10 * len(winners) * n_rankings, *columns, flip, np.ascontiguousarray(prior),
        max_rounds, tolerance, theta, memory=_memberships_memory(n_rankings, most_of(offsets)) + 16,
    )  # fmt: skip
    return theta


def regress_on_simplex(gram: Floats, targets: Floats, tolerance: float, max_steps: int) -> Floats:
    """Minimise ``b @ gram @ b / 2 - targets[w] @ b`` over the simplex, for every row w.

    With gram = V V^T and targets = X V^T this is ``min |X[w] - b V|`` over b >= 0, sum b = 1. gram (K, K), targets
    (W, K) -> (W, K).
    """
    n_vertices = len(gram)
    check(gram.shape == (n_vertices, n_vertices) and targets.shape[1] == n_vertices)
    out = np.empty(targets.shape)
    given = np.ascontiguousarray(gram), n_vertices, np.ascontiguousarray(targets), tolerance, max_steps
    run(_regress_on_simplex, len(out), 20 * out.size * n_vertices, *given, out, memory=n_vertices)
    return out
