"""Rankings that are orders of the items, among them the paper's strict rankings.

Paper: section 3 (the ranking matrix sigma). Ours: the flip probability, because a ranking gives probability 0 to a
choice it does not explain, and real data have such choices; and fitting orders to expected wins.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from plurank import kernels, metrics
from plurank.choices import Mixing
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import index_pairs
from plurank.engine.blocks import cut_users
from plurank.types import Codes, Floats

# The comparisons by ordered pair instead of by user: what orders are fitted to.
#
# Ours. Row ``2 p + (winner > loser)`` is an ordered pair, as in the moments. Memory grows with the pairs that occur,
# never with the square of the items.


@dataclass(frozen=True)
class PairCounts:
    """Pairs (lower, higher) that occur, and for each ordered pair its comparisons: users, weights (or empty)."""

    n_items: int
    lower: NDArray[np.int32]
    higher: NDArray[np.int32]
    begins: NDArray[np.int64]
    users: NDArray[np.int32]
    weights: Floats

    @classmethod
    def of(cls, comparisons: Comparisons) -> Self:
        """Sort the comparisons by ordered pair."""
        c = comparisons
        rows, lower, higher = index_pairs(c.winners, c.losers, c.n_items)
        order, begins = kernels.group(rows, 2 * len(lower))
        weights = c.kernel_weights if c.weights is None else c.weights[order]
        return cls(c.n_items, lower, higher, begins, c.user_of_each()[order], weights)

    @cached_property
    def winners(self) -> NDArray[np.int32]:
        """The first item of every ordered pair, (W,)."""
        return np.stack([self.lower, self.higher], axis=1).ravel()

    @cached_property
    def losers(self) -> NDArray[np.int32]:
        """The second item of every ordered pair, (W,)."""
        return np.stack([self.higher, self.lower], axis=1).ravel()

    def expected_wins(self, probabilities: Floats, weights: Floats, user_concentration: Floats) -> Floats:
        """Share out the comparisons of every ordered pair among the rankings, (W, K), given user weights (M, K)."""
        return kernels.expected_wins(self.begins, self.users, self.weights, probabilities, weights, user_concentration)

    @cached_property
    def _by_item(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return kernels.group(self.winners, self.n_items)

    def meetings(self, wins: Floats) -> tuple[NDArray[np.int64], NDArray[np.int32], Floats, Floats]:
        """Lay wins (W, K) out by item: begins (Q + 1,), partners (W,), won and lost (W, K) against each."""
        order, begins = self._by_item
        return begins, self.losers[order], wins[order], wins[order ^ 1]


# Components that are orders: the probability to win depends on how many places apart two items stand.
#
# Ours. A component of this kind says where its own numbers begin (``begin``), how probable a win is by the gap between
# two places (``win_probabilities_by_gap``), and how both fit expected wins (``improved``); an ``OrderKind`` says how a
# model stores it.

REACH = 20  # places an item may move at once
MAX_SWEEPS = 10


class OrderPass(NamedTuple):
    """What one pass over the comparisons gives: the most probable weights (M, K), the log posterior of the orders, and
    the posterior concentration of each user's weights (M,)."""

    weights: Floats
    log_posterior: float
    user_concentration: Floats

    @property
    def means(self) -> Floats:
        """The posterior mean of the weights (M, K), taken for the most probable ones."""
        return self.weights


@dataclass(frozen=True)
class OrderedComponent(ABC):
    """K orders of the items, (K, Q), best first."""

    rankings: NDArray[np.int64]
    mixing: ClassVar[Mixing] = "probability"

    @classmethod
    @abstractmethod
    def begin(cls, rankings: NDArray[np.int64]) -> Self:
        """Return orders to start from."""

    @abstractmethod
    def win_probabilities_by_gap(self) -> Floats:
        """P(win) by lead in places, (K, 2 Q - 1): column d + Q - 1 for an item d places ahead of the other."""

    @abstractmethod
    def improved(self, pairs: PairCounts, wins: Floats) -> Self:
        """Explain expected wins (W, K) at least as well: better orders and better numbers."""

    def update_memberships(self, comparisons: Comparisons, init: Floats, prior: Floats, n_rounds: int) -> OrderPass:
        """Improve all users' weights by n_rounds Newton steps each."""
        c = comparisons
        edges = cut_users(c.offsets, 0)
        columns = (c.offsets, c.winners, c.losers, c.kernel_weights)
        orders = (metrics.places_of(self.rankings), self.win_probabilities_by_gap())
        return OrderPass(*kernels.places_pass(edges, *columns, *orders, init, prior, n_rounds))

    def probabilities(self, weights: Floats, _: Floats, rows: Codes, left: Codes, right: Codes) -> Floats:
        """P(left over right), (n,), for rows of a table of weights (m, K); their concentration changes nothing."""
        return kernels.mix_places(
            rows, left, right, metrics.places_of(self.rankings), self.win_probabilities_by_gap(), weights
        )

    def chances(self, winners: Codes, losers: Codes) -> Floats:
        """P(winner over loser) in every ranking, (n, K)."""
        return np.take_along_axis(
            self.win_probabilities_by_gap().T, self.leads(winners, losers) + self.rankings.shape[1] - 1, axis=0
        )

    def leads(self, winners: Codes, losers: Codes) -> NDArray[np.int64]:
        """How many places the winner stands ahead of the loser, (n, K)."""
        places = metrics.places_of(self.rankings).astype(np.int64)
        return places[losers] - places[winners]

    def better_orders(self, pairs: PairCounts, wins: Floats) -> NDArray[np.int64]:
        """Search near the orders for ones that explain expected wins (W, K) better."""
        return kernels.improve_orders(
            self.rankings, *pairs.meetings(wins), np.log(self.win_probabilities_by_gap()), REACH, MAX_SWEEPS
        )

    def place_errors(self, pairs: PairCounts, weights: Floats, user_concentration: Floats) -> Floats:
        """Standard deviations of the places, (Q, K), given user weights (M, K) and their concentration (M,)."""
        wins = pairs.expected_wins(self.chances(pairs.winners, pairs.losers), weights, user_concentration)
        return kernels.place_errors(
            self.rankings, *pairs.meetings(wins), np.log(self.win_probabilities_by_gap()), REACH
        )

    def mean_wins(self) -> Floats:
        """P(preferred to another item drawn at random), (Q, K)."""
        n_items = self.rankings.shape[1]
        # summed by lead; an item at place a leads by -a to Q - 1 - a
        behind = np.cumsum(self.win_probabilities_by_gap(), axis=1)
        behind = np.concatenate([np.zeros((len(behind), 1)), behind], axis=1)
        first = n_items - 1 - metrics.places_of(self.rankings)
        sums = np.take_along_axis(behind.T, first + n_items, axis=0) - np.take_along_axis(behind.T, first, axis=0)
        return (sums - 0.5) / (n_items - 1)


class OrderKind(NamedTuple):
    """A class of orders and all that a model needs to know of it: its own number, the attribute of the model that keeps
    this, with its shape in K and numbers and a rule of ``models/fields.py``, and what such a ranking is, in words."""

    component: type[OrderedComponent]
    number: str
    attribute: str
    shape: tuple[str | int, ...]
    rule: str
    about: str


def wins_by_lead(component: OrderedComponent, pairs: PairCounts, wins: Floats) -> Floats:
    """Sum expected wins (W, K) by the winner's lead in places, (K, 2 Q - 1)."""
    n_rankings, n_items = component.rankings.shape
    columns = component.leads(pairs.winners, pairs.losers) + n_items - 1
    return np.stack(
        [np.bincount(columns[:, k], weights=wins[:, k], minlength=2 * n_items - 1) for k in range(n_rankings)]
    )


Rankings = NDArray[np.int64]
FIRST_FLIP = 0.05


def describe_flips(flip_probability: float) -> str:
    """Return what a flip probability means."""
    return f"{100 * flip_probability:.2g}% of comparisons contradict the user's rankings"


def ranking_matrix(rankings: Rankings, lower: NDArray[np.int32], higher: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return sigma for some pairs: (2 n_pairs, K), row 2 p for (lower, higher) and row 2 p + 1 for (higher, lower)."""
    places = metrics.places_of(rankings)
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

    def win_probabilities_by_gap(self) -> Floats:
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


STRICT = OrderKind(
    Strict, "flip", "flip_probability_", (), "at most a half",
    "an order, which comparisons follow but for a share of flips (strict)",
)  # fmt: skip
