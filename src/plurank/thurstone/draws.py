"""Draws from the posterior, and what is predicted by averaging over them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from scipy.special import ndtr

from plurank.thurstone.comparisons import Compared
from plurank.thurstone.hyperparameters import NO_SLOPES, Population
from plurank.thurstone.item_regression import ItemPrior
from plurank.thurstone.people import counts_of
from plurank.thurstone.sampler import Chain, Shape
from plurank.types import Codes, Floats, Integers

BLOCK = 2**18  # questions that are predicted at once
LEAST_CHANCE = 1e-9  # of anything predicted


@dataclass(frozen=True)
class Draw:
    """One draw: scores (Q, K) and factors (Q, F) of items; weights (M, K), factors (M, F) and thresholds (M, C) of
    users; their priors: Dirichlet counts (K,), mean (C,) and precision (C, C) of thresholds, coefficients (G, F); the
    number of the chain; the share that the draw has in predictions; whether its rankings are those shown; slopes (P, K)
    of the logarithms of counts on covariates, and what is expected of items, where covariates or features are known.

    Of comparisons also the standard deviation of their errors, and that of users' utilities around what is expected,
    in units in which the difference of two has a variance of 2; and the utilities (n,) of items that users compared,
    by sorted keys ``row * Q + item`` (n,).
    """

    scores: Floats
    item_factors: Floats
    weights: Floats
    user_factors: Floats
    cuts: Floats
    counts: Floats
    cut_mean: Floats
    cut_precision: Floats
    coefficients: Floats
    chain: int = 0
    share: float = 1.0
    shown: bool = True
    slopes: Floats = field(default_factory=lambda: NO_SLOPES)
    item_prior: ItemPrior | None = None
    error: float = 0.0
    spread: float = 1.0
    keys: Any = None
    own: Floats | None = None

    @classmethod
    def of(cls, chain: Chain, number: int = 0) -> "Draw":
        """Take over where a chain is; popularity becomes part of all scores."""
        first = 1 + chain.shape.n_rankings
        population, table, users = chain.population, chain.population.items[:, : chain.shape.size], chain.vectors
        single = np.float32  # users are many
        prior = None
        if chain.items is not None:
            means = population.item_mean, population.item_slopes
            prior = ItemPrior.of(*means, population.item_precision, chain.shape.n_rankings)
        draw = cls(
            table[:, :1] + table[:, 1:first], table[:, first:].copy(), users[:, 1:first].astype(single),
            users[:, first:].astype(single), chain.cuts.astype(single), population.counts, population.cut_mean,
            population.cut_precision, population.coefficients, number, slopes=population.slopes, item_prior=prior,
            **_own_of(chain),
        )  # fmt: skip
        return draw.rescale(population.unit) if draw.error else draw

    def rescale(self, factor: float) -> "Draw":
        """Measure utilities in other units; for data without thresholds."""
        return replace(
            self, scores=factor * self.scores, item_factors=factor * self.item_factors, error=factor * self.error,
            spread=factor * self.spread, own=None if self.own is None else np.float32(factor) * self.own,
            item_prior=self.item_prior and self.item_prior.rescale(factor),
        )  # fmt: skip

    @property
    def in_kernel_units(self) -> "Draw":
        """The same in the units of kernels: a user's utilities have a standard deviation of 1 around what is
        expected."""
        return self if self.spread == 1.0 else self.rescale(1.0 / self.spread)

    def reorder(self, order: Integers) -> "Draw":
        """Put the rankings into this order."""
        slopes = self.slopes[:, order] if len(self.slopes) else self.slopes
        prior = self.item_prior and self.item_prior.reorder(order)
        return replace(
            self, scores=self.scores[:, order], weights=self.weights[:, order], counts=self.counts[order],
            slopes=slopes, item_prior=prior,
        )  # fmt: skip

    def centre(self) -> "Draw":
        """Move the origin of utilities to the mean score, which changes no prediction: a chain draws it anew in every
        sweep, and users would have to follow from draw to draw."""
        origin = self.scores.mean()
        first = np.zeros(self.cuts.shape[1])
        first[:1] = origin
        cuts = (self.cuts - first).astype(self.cuts.dtype)
        prior = self.item_prior and self.item_prior.shift(float(origin))
        own = None if self.own is None else self.own - np.float32(origin)
        return replace(
            self, scores=self.scores - origin, own=own, cuts=cuts, cut_mean=self.cut_mean - first, item_prior=prior
        )

    def pad(self, n_factors: int, n_exposed: int) -> "Draw":
        """Add factors that are 0, and coefficients of exposure that are."""
        more = n_factors - self.item_factors.shape[1]
        coefficients = np.zeros((n_exposed, n_factors))
        coefficients[: len(self.coefficients), : self.coefficients.shape[1]] = self.coefficients
        widened = (np.pad(table, ((0, 0), (0, more))) for table in (self.item_factors, self.user_factors))
        item_factors, user_factors = widened
        prior = self.item_prior and self.item_prior.pad(n_factors)
        return replace(
            self, item_factors=item_factors, user_factors=user_factors, coefficients=coefficients, item_prior=prior
        )

    @property
    def shape(self) -> Shape:
        """Numbers of rankings and factors."""
        return Shape(self.scores.shape[1], self.item_factors.shape[1])

    def population(self) -> Population:
        """Return what new users are drawn from, with items as kernels take them."""
        n_items, size = len(self.scores), self.shape.size
        items = np.zeros((n_items, self.shape.width))
        items[:, 1 : 1 + self.scores.shape[1]] = self.scores
        items[:, 1 + self.scores.shape[1] : size] = self.item_factors
        return Population(
            items, np.zeros(size), np.eye(size), self.counts, self.cut_mean, self.cut_precision, self.coefficients,
            slopes=self.slopes, error=self.error,
        )  # fmt: skip

    def counts_of(self, design: Floats | None) -> Floats:
        """Return the Dirichlet counts of users with covariates (m, P), (m, K); of users without, (K,)."""
        return self.counts if design is None or not len(self.slopes) else counts_of(self.counts, self.slopes, design)

    @property
    def mean_weights(self) -> Floats:
        """Mean of the prior of user weights, (K,)."""
        return self.counts / self.counts.sum()

    def known(self) -> "DrawnUsers":
        """Return the users that the chain has drawn."""
        return DrawnUsers(self.weights, self.user_factors, self.cuts, self.keys, self.own)

    def utilities(self, users: "DrawnUsers", rows: Codes, items: Codes) -> Floats:
        """Expected utilities (n,) of items for users given by their rows, -1 for unknown ones."""
        found = np.empty(len(rows))
        unknown = self.scores @ self.mean_weights
        for begin in range(0, len(rows), BLOCK):
            own = slice(begin, begin + BLOCK)
            row, item = rows[own], items[own]
            value = (
                np.einsum("nk,nk->n", users.weights[row], self.scores[item]) if len(users.weights) else unknown[item]
            )
            if self.item_factors.shape[1] and len(users.weights):
                value += np.einsum("nk,nk->n", users.factors[row], self.item_factors[item])
            found[own] = np.where(row < 0, unknown[item], value)
        return found


def _own_of(chain: Chain) -> dict[str, Any]:
    """Return what draws of comparisons have beside others."""
    source = chain.observations.source
    if not isinstance(source, Compared):
        return {}
    own = np.concatenate([state.utilities for state in chain.states]).astype(np.float32)
    return {"error": chain.population.error, "keys": source.keys, "own": own}


@dataclass(frozen=True)
class DrawnUsers:
    """One draw of users: weights (m, K), factors (m, F), thresholds (m, C); and, of items that they have said something
    about, by sorted keys ``row * Q + item`` (n,), the utilities themselves (n,)."""

    weights: Floats
    factors: Floats
    cuts: Floats
    keys: Any = None
    own: Floats | None = None

    def join(self, others: "DrawnUsers") -> "DrawnUsers":
        """Put others after these."""
        pairs = ((getattr(self, f.name), getattr(others, f.name)) for f in fields(self)[:3])
        return DrawnUsers(*(np.concatenate([one, other]) for one, other in pairs))

    def thresholds(self) -> Floats:
        """Return the thresholds themselves, (m, C)."""
        return as_thresholds(self.cuts)


def as_thresholds(cuts: Floats) -> Floats:
    """Return thresholds (..., C), ascending, given the first and the logarithms of the gaps."""
    cuts = np.asarray(cuts, np.float64)
    return np.cumsum(np.concatenate([cuts[..., :1], np.exp(cuts[..., 1:])], axis=-1), axis=-1)


def preference(
    draws: Sequence[Draw], users: Sequence[DrawnUsers], rows: Codes, left: Codes, right: Codes, *, rated: bool = False
) -> Floats:
    """P(left over right), (n,), averaged over draws, for rows of users, -1 for unknown ones.

    Where they are rated, it is the probability that left has the higher rating, given that ratings differ.
    """
    found = np.empty(len(rows))
    compare = _higher_level if rated else _higher_utility
    for begin in range(0, len(rows), BLOCK):
        own = slice(begin, begin + BLOCK)
        parts = [
            draw.share * compare(draw, each, rows[own], left[own], right[own])
            for draw, each in zip(draws, users, strict=True)
        ]
        above, below = np.sum(parts, axis=0)
        found[own] = above / (above + below)
    n = len(draws)
    certain = any(each.own is not None for each in users) and not draws[0].error
    least = max(LEAST_CHANCE, 0.1 / n) if certain else LEAST_CHANCE
    return np.clip(found, least, 1.0 - least)


def _higher_utility(draw: Draw, users: DrawnUsers, rows: Codes, left: Codes, right: Codes) -> Floats:
    """Probability that the left, and that the right item has the higher utility, (2, n)."""
    mean, variance = zip(*(_side(draw, users, rows, side) for side in (left, right)), strict=True)
    unknown = rows < 0
    more = _spread_of_unknown(draw, left, right) if unknown.any() else 0.0  # they differ from the mean as users differ
    total = variance[0] + variance[1] + np.where(unknown, more, 0.0) + draw.error**2
    lead = mean[0] - mean[1]
    above = np.where(total > 0, ndtr(lead / np.sqrt(np.maximum(total, 1e-12))), lead > 0)
    return np.stack([above, 1.0 - above])


def _higher_level(draw: Draw, users: DrawnUsers, rows: Codes, left: Codes, right: Codes) -> Floats:
    """Probability that the left, and that the right item has the higher rating, (2, n)."""
    thresholds = _thresholds_of(draw, users, rows)
    first, second = (_level_chances(draw, users, rows, side, thresholds) for side in (left, right))
    below_first, below_second = (np.cumsum(each, axis=1) - each for each in (first, second))
    tiny = LEAST_CHANCE**2  # so that something is left to compare
    above, below = (first * below_second).sum(axis=1), (second * below_first).sum(axis=1)
    return np.stack([above + tiny, below + tiny])


def _thresholds_of(draw: Draw, users: DrawnUsers, rows: Codes) -> Floats:
    """Thresholds (n, C) for rows of users; unknown ones have typical thresholds."""
    typical = as_thresholds(draw.cut_mean)
    if not len(users.cuts):
        return np.broadcast_to(typical, (len(rows), len(typical)))
    return np.where((rows < 0)[:, None], typical, as_thresholds(users.cuts[rows]))


def _level_chances(draw: Draw, users: DrawnUsers, rows: Codes, items: Codes, thresholds: Floats) -> Floats:
    """Probability of every level, (n, C + 1), given thresholds (n, C); 0 or 1 where the utility itself is drawn."""
    mean, variance = _side(draw, users, rows, items)
    if (rows < 0).any():
        variance = variance + np.where(rows < 0, _spread_of_utility(draw, items), 0.0)
    scale = np.sqrt(np.maximum(variance, 1e-12))[:, None]
    above = ndtr((mean[:, None] - thresholds) / scale)
    ends = np.ones((len(rows), 1)), np.zeros((len(rows), 1))
    return -np.diff(np.concatenate([ends[0], above, ends[1]], axis=1), axis=1)


def _side(draw: Draw, users: DrawnUsers, rows: Codes, items: Codes) -> tuple[Floats, Floats]:
    """Return mean and variance of utilities, (n,) each: of items that users have spoken about, their own draw."""
    mean, variance = draw.utilities(users, rows, items), np.full(len(rows), draw.spread**2)
    if users.keys is None or users.own is None or not len(users.keys):
        return mean, variance
    wanted = rows.astype(np.int64) * len(draw.scores) + items
    at = np.minimum(np.searchsorted(users.keys, wanted), len(users.keys) - 1)
    is_own = users.keys[at] == wanted
    return np.where(is_own, users.own[at], mean), np.where(is_own, 0.0, variance)


def _spread_of_unknown(draw: Draw, left: Codes, right: Codes) -> Floats:
    """Variance (n,) of the difference of two utilities over users."""
    return _spread(draw, draw.scores[left] - draw.scores[right], draw.item_factors[left] - draw.item_factors[right])


def _spread_of_utility(draw: Draw, items: Codes) -> Floats:
    """Variance (n,) of a utility over users."""
    return _spread(draw, draw.scores[items], draw.item_factors[items])


def _spread(draw: Draw, scores: Floats, factors: Floats) -> Floats:
    """Variance (n,) of ``scores . theta + factors . z`` over users, (n, K) and (n, F)."""
    mean, total = draw.mean_weights, draw.counts.sum()
    return np.asarray((scores**2 @ mean - (scores @ mean) ** 2) / (total + 1.0) + (factors**2).sum(axis=1))


def level_chances(draws: Sequence[Draw], users: Sequence[DrawnUsers], rows: Codes, items: Codes) -> Floats:
    """Probability of every level, (n, C + 1), averaged over draws, for rows of users, -1 for unknown ones."""
    found = np.empty((len(rows), len(draws[0].cut_mean) + 1))
    total = sum(draw.share for draw in draws)
    for begin in range(0, len(rows), BLOCK):
        own = slice(begin, begin + BLOCK)
        parts = [
            draw.share * _level_chances(draw, each, rows[own], items[own], _thresholds_of(draw, each, rows[own]))
            for draw, each in zip(draws, users, strict=True)
        ]
        found[own] = np.sum(parts, axis=0) / total
    return found
