"""How much people follow each ranking of a fit."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from plurank.data.comparisons import Comparisons
from plurank.data.encoding import look_up

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Followers:
    """How much people follow each ranking of a fit: weights (m + 1, K) and the evidence behind them (m + 1,), in the
    last row those of somebody unknown."""

    weights: Floats
    evidence: Floats

    def join(self, others: "Followers") -> "Followers":
        """Put others after these."""
        weights, evidence = np.vstack([self.weights[:-1], others.weights]), [self.evidence[:-1], others.evidence]
        return Followers(weights, np.concatenate(evidence))


def last_if_unknown(users: Codes, n_users: int) -> Codes:
    """Give the rows of users, -1 for unknown ones, among followers."""
    return np.where(users < 0, n_users, users).astype(np.int32)


def rows_among(asked: Comparisons, test: Comparisons) -> Codes:
    """Give for every test comparison the row of its user among the followers that were asked, (n,)."""
    return last_if_unknown(look_up(test.users, asked.users, "user"), asked.n_users)[test.user_of_each()]
