"""Comparisons that users were asked one by one, as a chain takes them: two utilities each, with errors of their own.

Ours. With utility mixing ``P(i over j) = Phi((f_i - f_j) / sqrt(2))``, f the expected utilities, which is nearly the
logistic model that fits to comparisons have. With probability mixing each comparison is made by one of the rankings,
which is drawn with the weights integrated in.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from plurank import kernels
from plurank.choices import Mixing
from plurank.data.comparisons import Comparisons
from plurank.types import Codes, Floats, Integers


def observe_each(comparisons: Comparisons) -> kernels.Observed:
    """Give every comparison two utilities of its own, the winner's and the loser's."""
    n = len(comparisons)
    codes = np.stack([comparisons.winners, comparisons.losers], axis=1).ravel().astype(np.int32)
    first = 2 * (np.arange(n) - np.repeat(comparisons.offsets[:-1], np.diff(comparisons.offsets)))
    links = np.stack([first + 2, -(first + 1)], axis=1).ravel().astype(np.int32)
    return kernels.Observed(
        "compared", 2 * comparisons.offsets, codes, np.zeros(0, np.int32), np.arange(2 * n + 1, dtype=np.int64), links
    )
