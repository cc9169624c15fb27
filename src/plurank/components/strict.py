"""A strict ranking: the item it puts first is preferred, unless the choice is flipped.

Paper: section 3 (the ranking matrix sigma). Ours: the flip probability, because a ranking gives probability 0 to a
choice it does not explain, and real data have such choices.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from plurank.components.ordered import OrderedComponent, OrderKind, wins_by_lead
from plurank.evaluation.ranking_error import places_of
from plurank.statistics.pair_counts import PairCounts

Floats = NDArray[np.float64]
Rankings = NDArray[np.int64]
FIRST_FLIP = 0.05


def ranking_matrix(rankings: Rankings, lower: NDArray[np.int32], higher: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Give sigma for some pairs: (2 n_pairs, K), row 2 p for (lower, higher) and row 2 p + 1 for (higher, lower)."""
    places = places_of(rankings)
    forward = places[lower] < places[higher]
    sigma = np.empty((2 * len(lower), len(rankings)), dtype=bool)
    sigma[0::2] = forward
    sigma[1::2] = ~forward
    return sigma


def win_probabilities(agreeing: Floats, flip: float) -> Floats:
    """P(winner preferred), given a user's weight on rankings that put the winner first."""
    return flip + (1.0 - 2.0 * flip) * agreeing


@dataclass(frozen=True)
class Strict(OrderedComponent):
    """K strict rankings, and one probability that a choice goes against them."""

    flip: float

    @classmethod
    def begin(cls, rankings: Rankings) -> Self:
        """Take few choices for flipped at first."""
        return cls(rankings, FIRST_FLIP)

    def laws(self) -> Floats:
        """P(win) by lead in places, (K, 2 Q - 1)."""
        n_rankings, n_items = self.rankings.shape
        leads = np.sign(np.arange(1 - n_items, n_items))
        return np.tile(0.5 + (0.5 - self.flip) * leads, (n_rankings, 1))

    def improved(self, pairs: PairCounts, wins: Floats) -> Self:
        """Search for better orders, then count the choices that go against them."""
        moved = replace(self, rankings=self.better_orders(pairs, wins))
        by_lead = wins_by_lead(moved, pairs, wins)
        total = float(by_lead.sum())
        against = float(by_lead[:, : self.rankings.shape[1] - 1].sum())
        # away from zero by half a comparison, so that no comparison is impossible
        return replace(moved, flip=float(np.clip(against / total, 0.5 / (total + 1.0), 0.5)))


KIND = OrderKind(
    Strict, "flip", "flip_probability_", (), "at most a half",
    "an order, which comparisons follow but for a share of flips (strict)",
)  # fmt: skip
