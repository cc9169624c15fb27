"""How much more the posterior of the scores curves over the width it has than at its peak.

Ours. Where nobody ever goes against a ranking its scores lie far apart, and the posterior is flat at its peak and steep
beyond: a Gaussian with the curvature of the peak would reach far over orders that no data speak for. The Gaussian
nearest to a posterior has the mean curvature over its own width as precision (variational inference); with a lead d of
variance t, ``E sigmoid'(d) = c sigmoid'(c d)`` nearly, ``c = (1 + pi t / 8)^-1/2`` (MacKay 1992): c times the curvature
at scores shrunk by c. Needs a few passes over the comparisons, and none but the first where errors are small; gives
what to add to the information about the scores, nothing where leads are of the size of the noise.
"""

import numpy as np
from numpy.typing import NDArray

from plurank.algorithms.crowd import Crowd
from plurank.components.bradley_terry import BradleyTerry
from plurank.components.score_prior import ScorePrior

Floats = NDArray[np.float64]
MAX_ROUNDS = 5
NEARLY_ONE = 0.95  # shrinking by less changes nothing
STANDS_STILL = 0.05  # relative change of the errors


def curvature_off_peak(crowd: Crowd, component: BradleyTerry, user_prior: Floats, score_prior: ScorePrior) -> Floats:
    """Give the mean curvature over the width of the posterior beyond that at its peak, at least 0, on the diagonals of
    (Q, K, K).

    The width is that of the middle one of a ranking's scores, and follows from the curvature in turns.
    """
    at_peak = crowd.weigh(component, user_prior, 0).curvature
    least = score_prior.evaluate(component.scores)[2]
    within, errors = at_peak, _typical_errors(at_peak + least)
    for _ in range(MAX_ROUNDS):
        shrink = 1.0 / np.sqrt(1.0 + np.pi / 8.0 * 2.0 * errors**2)  # a lead is between two scores
        if (shrink > NEARLY_ONE).all():
            break
        shrunk = BradleyTerry(shrink * component.scores, component.mixing)
        within = shrink * crowd.weigh(shrunk, user_prior, 0).curvature
        narrower = _typical_errors(within + least)
        still = bool((np.abs(narrower / errors - 1.0) < STANDS_STILL).all())
        errors = np.sqrt(errors * narrower)  # half way, for the wider the steeper and the steeper the narrower
        if still:
            break
    more: Floats = np.maximum(within - at_peak, 0.0)[:, :, None] * np.eye(at_peak.shape[1])
    return more


def _typical_errors(curvature: Floats) -> Floats:
    return np.sqrt(np.median(1.0 / curvature, axis=0))
