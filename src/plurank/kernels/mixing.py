"""What mixed rankings predict; sources: ``native/mixing.cpp``."""

import numpy as np

from plurank.kernels.arrays import check
from plurank.kernels.library import (
    CODES,
    FLOATS,
    INT,
    OUT_FLOATS,
    function,
)
from plurank.kernels.threads import run
from plurank.types import Codes, Floats

_PAIRS = (INT, INT, CODES, CODES, CODES)  # range; rows of memberships, left, right
_mix_probabilities = function("mix_probabilities", *_PAIRS, FLOATS, FLOATS, INT, OUT_FLOATS)
_mix_utilities = function("mix_utilities", *_PAIRS, FLOATS, FLOATS, FLOATS, INT, OUT_FLOATS)
_mix_places = function("mix_places", *_PAIRS, CODES, FLOATS, FLOATS, INT, INT, OUT_FLOATS)
_mean_wins = function("mean_wins", INT, INT, FLOATS, FLOATS, INT, INT, OUT_FLOATS)


def _check_rows(rows: Codes, left: Codes, right: Codes, theta: Floats, n_items: int, n_rankings: int) -> None:
    check(len(rows) == len(left) == len(right) and theta.shape[1] == n_rankings)
    for codes, size in ((rows, len(theta)), (left, n_items), (right, n_items)):
        check(not len(codes) or (codes.min() >= 0 and codes.max() < size))


def mix_probabilities(rows: Codes, left: Codes, right: Codes, scores: Floats, theta: Floats) -> Floats:
    """``out[e] = (theta[rows[e]] / (1 + exp(scores[right[e]] - scores[left[e]]))).sum()``, at most 1."""
    _check_rows(rows, left, right, theta, *scores.shape)
    out, tables = np.empty(len(left)), (np.ascontiguousarray(scores), np.ascontiguousarray(theta))
    pairs = (np.ascontiguousarray(codes) for codes in (rows, left, right))
    run(_mix_probabilities, len(out), 10 * len(out) * theta.shape[1], *pairs, *tables, theta.shape[1], out)
    return out


def mix_utilities(
    rows: Codes, left: Codes, right: Codes, scores: Floats, theta: Floats, concentration: Floats
) -> Floats:
    """Average ``sigmoid(theta . x)``, x = scores[left] - scores[right], over Dirichlet(n theta), n the concentration.

    With v = (theta . x^2 - (theta . x)^2) / (n + 1), the variance: ``sigmoid(theta . x / sqrt(1 + pi v / 8))``.
    """
    _check_rows(rows, left, right, theta, *scores.shape)
    check(len(concentration) == len(theta))
    out = np.empty(len(left))
    tables = (np.ascontiguousarray(table) for table in (scores, theta, concentration))
    pairs = (np.ascontiguousarray(codes) for codes in (rows, left, right))
    run(_mix_utilities, len(out), 5 * len(out) * (theta.shape[1] + 5), *pairs, *tables, theta.shape[1], out)
    return out


def mix_places(rows: Codes, left: Codes, right: Codes, places: Codes, by_gap: Floats, theta: Floats) -> Floats:
    """``out[e] = sum_k theta[rows[e], k] by_gap[k, places[right[e], k] - places[left[e], k] + Q - 1]``, at most 1."""
    _check_rows(rows, left, right, theta, *places.shape)
    check(by_gap.shape == (places.shape[1], 2 * len(places) - 1))
    out = np.empty(len(left))
    tables = (np.ascontiguousarray(table) for table in (places, by_gap, theta))
    pairs = (np.ascontiguousarray(codes) for codes in (rows, left, right))
    run(_mix_places, len(out), 3 * len(out) * theta.shape[1], *pairs, *tables, *places.shape, out)
    return out


def mean_wins(scores: Floats, opponents: Floats) -> Floats:
    """``out[i, k] = (1 / (1 + exp(opponents[:, k] - scores[i, k]))).mean()``; scores (n, K), opponents (m, K)."""
    check(scores.shape[1] == opponents.shape[1])
    out = np.empty(scores.shape)
    given = np.ascontiguousarray(scores), np.ascontiguousarray(opponents.T), scores.shape[1], len(opponents)
    run(_mean_wins, len(out), 5 * out.size * len(opponents), *given, out)
    return out
