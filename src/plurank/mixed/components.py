"""Mallows orders, and the kinds of orders that a ranking of a MixedRanking may be.

Ours.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from plurank.elementary import minimise
from plurank.topic.orders import STRICT, OrderedComponent, OrderKind, PairCounts, wins_by_lead
from plurank.types import Floats

# Mallows: neighbours in a ranking are often swapped, distant items seldom.
#
# Paper: not in this paper; the model M4 of its authors' later work. With ``h(n) = n / (1 - phi^n)`` an item d places
# ahead wins with probability ``h(d + 1) - h(d)``: the marginal of a Mallows model with dispersion phi, 0 for a strict
# order and 1 for chance.

MIN_UPSET_PROBABILITY = 1e-9  # of the lower item against the higher one
FIRST_DISPERSION = 0.9
DISPERSIONS = (1e-6, 1.0 - 1e-6)


@dataclass(frozen=True)
class Mallows(OrderedComponent):
    """K orders with a dispersion each, (K,)."""

    dispersion: Floats

    @classmethod
    def begin(cls, rankings: NDArray[np.int64]) -> Self:
        """Take orders for rather loose at first."""
        return cls(rankings, np.full(len(rankings), FIRST_DISPERSION))

    def win_probabilities_by_gap(self) -> Floats:
        """P(win) by lead in places, (K, 2 Q - 1)."""
        return np.stack([win_probability_by_gap(phi, self.rankings.shape[1]) for phi in self.dispersion])

    def improved(self, pairs: PairCounts, wins: Floats) -> Self:
        """Search for better orders, then take the most likely dispersion of each."""
        moved = replace(self, rankings=self.better_orders(pairs, wins))
        by_lead = wins_by_lead(moved, pairs, wins)
        dispersion = [_fit_dispersion(counts, old) for counts, old in zip(by_lead, self.dispersion, strict=True)]
        return replace(moved, dispersion=np.array(dispersion))


def win_probability_by_gap(phi: float, n_items: int) -> Floats:
    """P(win) for leads of -(Q - 1) to Q - 1 places, (2 Q - 1,); a lead of 0 does not occur and has 1/2."""
    # h(d + 1) - h(d) - 1 = (d + 1) phi^(d+1) / (1 - phi^(d+1)) - d phi^d / (1 - phi^d), without cancellation
    n = np.arange(1, n_items + 1)
    tail = n * phi**n / -np.expm1(n * np.log(phi))
    ahead = np.clip(1.0 + np.diff(tail), 0.5, 1.0 - MIN_UPSET_PROBABILITY)
    return np.concatenate([1.0 - ahead[::-1], [0.5], ahead])


def _fit_dispersion(counts: Floats, old: float) -> float:
    """Maximise the likelihood of wins by lead, (2 Q - 1,), over the dispersion; never below the old one's."""
    n_items = (len(counts) + 1) // 2

    def loss(phi: float) -> float:
        return -float(counts @ np.log(win_probability_by_gap(phi, n_items)))

    found = minimise(loss, *DISPERSIONS, 1e-6)
    return found if loss(found) <= loss(old) else float(old)


MALLOWS = OrderKind(
    Mallows, "dispersion", "dispersion_", ("K",), "between 0 and 1",
    "an order; items far apart in it are seldom mixed up (mallows)",
)  # fmt: skip


ORDERS: dict[str, OrderKind] = {"mallows": MALLOWS, "strict": STRICT}
