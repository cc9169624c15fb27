"""How sure the model is: intervals for places and for user weights.

Ours. Scores are about Gaussian around their most probable values, with the information about them as precision;
a user's weights are about Dirichlet, with the evidence behind them as concentration.
"""

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bounds = tuple[NDArray[np.int64], NDArray[np.int64]]
LEVEL = 0.9  # of all intervals, unless another is asked for
N_DRAWS = 400
NEAR_AN_END = 2.0  # a Beta with such a shape has much of its mass at an end
SEED = 20_261_115  # of the draws that intervals are made of: the same model, the same intervals


def place_bounds(scores: Floats, errors: Floats, level: float) -> Bounds:
    """Best and worst place, counted from 1, of items with scores (Q,) and standard errors (Q,)."""
    return _bounds(scores, scores + errors * _noise(len(scores)), level)


def user_place_bounds(
    scores: Floats,
    errors: Floats,
    correlations: Floats,
    weights: Floats,
    followed: Floats,
    level: float,
    own: tuple[Floats, Floats] | None = None,
) -> Bounds:
    """Best and worst place of items for a user who ranks them by ``scores @ weights``.

    scores and errors (Q, K); correlations (K, K) of the errors between rankings; followed (N_DRAWS, K), what the
    weights may be; own: what the user adds to the scores, and its errors, (Q,) each.
    """
    shift, spread = own or (0.0, 0.0)
    values, vectors = np.linalg.eigh(correlations)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    variances = np.zeros((len(followed), len(scores)))
    for column in root.T:  # one at a time: all together would not fit into memory
        variances += (followed @ (errors * column).T) ** 2
    drawn = followed @ scores.T + np.sqrt(variances + np.square(spread)) * _noise(len(scores))
    return _bounds(scores @ weights + shift, drawn + shift, level)


def _noise(n: int) -> Floats:
    return np.random.default_rng(SEED).standard_normal((N_DRAWS, n))


def draw_user(weights: Floats, evidence: float) -> Floats:
    """Draw one user's weights (N_DRAWS, K); with infinite evidence they are what they are."""
    if not np.isfinite(evidence):
        return np.tile(weights, (N_DRAWS, 1))
    return np.random.default_rng([SEED, 1]).dirichlet(np.maximum(evidence * weights, 1e-3), size=N_DRAWS)


def _bounds(scores: Floats, drawn: Floats, level: float) -> Bounds:
    """Quantiles of places over draws (n_draws, Q), widened to the places by the scores (Q,) themselves."""
    places = _places(drawn)
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(places, (tail, 1.0 - tail), axis=0, method="nearest").astype(np.int64)
    own = _places(scores[None])[0]
    return np.minimum(low, own), np.maximum(high, own)


def _places(scores: Floats) -> NDArray[np.int32]:
    order = np.argsort(-scores, axis=1, kind="stable")
    places = np.empty(order.shape, np.int32)
    np.put_along_axis(places, order, np.arange(1, scores.shape[1] + 1, dtype=np.int32)[None], axis=1)
    return places


def weight_bounds(weights: Floats, evidence: Floats, level: float) -> tuple[Floats, Floats]:
    """Lower and upper bounds of user weights (M, K), from each weight's Beta distribution.

    A weight whose density is high near 0 has the lower bound 0, one whose density is high near 1 the upper bound 1.
    """
    first = np.maximum(evidence[:, None] * weights, 1e-9)
    second = np.maximum(evidence[:, None] * (1.0 - weights), 1e-9)
    low, high = first <= NEAR_AN_END, second <= NEAR_AN_END
    tail = 1.0 - level
    lower = scipy.special.betaincinv(first, second, np.where(high & ~low, tail, tail / 2.0))
    upper = scipy.special.betaincinv(first, second, np.where(low & ~high, level, 1.0 - tail / 2.0))
    lower, upper = np.where(low, 0.0, lower), np.where(high, 1.0, upper)
    return np.minimum(lower, weights), np.maximum(upper, weights)
