"""Plain twins of ``kernels/mixing.py``, where the docstrings are."""

# ruff: noqa: D103
import numpy as np

from plurank.kernels.plain.common import by_lead, sigmoid
from plurank.types import Codes, Floats


def mix_probabilities(rows: Codes, left: Codes, right: Codes, scores: Floats, theta: Floats) -> Floats:
    return np.minimum((theta[rows] * sigmoid(scores[left] - scores[right])).sum(axis=1), 1.0)


def mix_utilities(
    rows: Codes, left: Codes, right: Codes, scores: Floats, theta: Floats, concentration: Floats
) -> Floats:
    apart = scores[left] - scores[right]
    mean = (theta[rows] * apart).sum(axis=1)
    variance = np.maximum((theta[rows] * apart**2).sum(axis=1) - mean**2, 0.0) / (concentration[rows] + 1.0)
    return sigmoid(mean / np.sqrt(1.0 + np.pi / 8.0 * variance))


def mix_places(rows: Codes, left: Codes, right: Codes, places: Codes, by_gap: Floats, theta: Floats) -> Floats:
    return np.minimum((theta[rows] * by_lead(left, right, places, by_gap)).sum(axis=1), 1.0)


def mean_wins(scores: Floats, opponents: Floats) -> Floats:
    return sigmoid(scores[:, None] - opponents).mean(axis=1)
