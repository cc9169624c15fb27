"""Further observations: the draws that a fit left, moved to what has been said since, without the data behind them.

Ours. What earlier data said about an item is the draw itself and, over the draws of a chain, a covariance. Given the
users, a draw of the item is conditioned on new utilities as a Gaussian process is (Matheron's rule): with precision P,

    vector' = (P + sum phi phi^T)^-1 (P vector + sum phi (w + noise)),    noise ~ N(0, 1).

So an item that nobody has spoken about stays where it was, draw by draw, and others move as far as the new data say.
What earlier data said about a user is a Dirichlet distribution of weights and Gaussians of thresholds and factors, with
the moments over the chain's draws. New items and users come from the population as it was drawn. Utilities have no
origin and factors no directions of their own: both are made the same for the draws of a chain first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from plurank import kernels
from plurank.kernels.arrays import Keys
from plurank.thurstone.draws import Draw
from plurank.thurstone.new_users import Said, as_key
from plurank.types import Codes, Floats, Integers, Masks, Progress, silent

BURN_IN, SWEEPS = 30, 8  # before the first draw of a chain, and from one draw to the next
ENOUGH_DRAWS = 5  # of a chain for moments of its own
RATED = ("rated", "compared ratings")  # observations that say something about thresholds
LEAST_VARIANCE = 1e-4  # of a coordinate over draws
LEAST_COUNT, LARGEST_CONCENTRATION = 0.02, 1e4  # of Dirichlet distributions of weights


class Sizes(NamedTuple):
    """Numbers of items and users after an update; new ones come last."""

    n_items: int
    n_users: int


def update_draws(
    draws: Sequence[Draw],
    said: Sequence[Said],
    rows: Codes,
    sizes: Sizes,
    seed: Sequence[int],
    on_progress: Progress = silent,
) -> list[Draw]:
    """Return the draws, in their order, given what users, whose rows in the model are (m,), have said since."""
    found: list[Draw | None] = [None] * len(draws)
    groups = _group(draws)
    for n, group in enumerate(groups):
        on_progress("sampling", n / len(groups))
        updated = _update_chain([draws[number] for number in group], said, rows, sizes, [*seed, n])
        for number, draw in zip(group, updated, strict=True):
            found[number] = draw
    on_progress("sampling", 1.0)
    return [draw for draw in found if draw is not None]


def _group(draws: Sequence[Draw]) -> list[list[int]]:
    """Put the numbers of the draws of a chain together; those of all chains of a kind where each has few."""
    chains: dict[tuple[bool, int], list[int]] = {}
    for number, draw in enumerate(draws):
        chains.setdefault((bool(draw.item_factors.any()), draw.chain), []).append(number)
    kinds: dict[bool, list[list[int]]] = {}
    for (has_factors, _), numbers in chains.items():
        kinds.setdefault(has_factors, []).append(numbers)
    return [
        group
        for each in kinds.values()
        for group in (each if min(map(len, each)) >= ENOUGH_DRAWS else [[n for numbers in each for n in numbers]])
    ]


def _update_chain(
    draws: Sequence[Draw], said: Sequence[Said], rows: Codes, sizes: Sizes, seed: Sequence[int]
) -> list[Draw]:
    """Update the draws of one chain; users go on from draw to draw."""
    padding = draws[0].item_factors.shape[1], len(draws[0].coefficients)
    spreads = [draw.spread for draw in draws]
    draws = [draw.in_kernel_units for draw in standardise(draws)]
    known = KnownUsers.of(draws, rows)
    tables = np.array([_items_of(draw) for draw in draws])
    precisions = _precisions(tables)
    states = [_State.of(part, draws[0], known) for part in said]
    found: list[Draw] = []
    moved: Floats | float = 0.0  # of the items, beyond the draw they belong to
    for number, draw in enumerate(draws):
        rng = np.random.default_rng([*seed, number])
        items = _Items.of(tables[number], precisions, sizes.n_items, rng)
        table = items.table + moved
        for sweep in range(SWEEPS if number else BURN_IN):
            key = as_key(*seed, number, sweep)
            base = 0
            for state in states:
                state.draw_users(table, draw, known, key, base)
                base += len(state.vectors)
            table = items.condition(table, states, rng)
        moved = table - items.table
        updated = _replace_items(_replace_users(draw, states, rows, sizes, rng), table).pad(*padding)
        found.append(updated.rescale(spreads[number]) if updated.error else updated)
    return found


def standardise(draws: Sequence[Draw]) -> list[Draw]:
    """Return the draws of a chain with one origin of utilities and the same directions of factors, which no prediction
    notices, and without factors that no draw of the chain has."""
    n_factors = draws[0].item_factors.shape[1] if any(draw.item_factors.any() for draw in draws) else 0
    reference = draws[-1].item_factors[:, :n_factors]
    return [_standardise(draw, reference) for draw in draws]


def _standardise(draw: Draw, reference: Floats) -> Draw:
    n_factors = reference.shape[1]
    one, _, other = np.linalg.svd(draw.item_factors[:, :n_factors].T @ reference)
    turn, centred = one @ other, draw.centre()
    return replace(
        centred, item_factors=draw.item_factors[:, :n_factors] @ turn,
        user_factors=(draw.user_factors[:, :n_factors] @ turn).astype(draw.user_factors.dtype),
        coefficients=draw.coefficients[:, :n_factors] @ turn,
        item_prior=centred.item_prior and centred.item_prior.turn(turn),
    )  # fmt: skip


def _items_of(draw: Draw) -> Floats:
    """Scores and factors of items, (Q, K + F)."""
    return np.concatenate([draw.scores, draw.item_factors], axis=1)


def _precisions(draws: Floats) -> Floats:
    """Inverse covariances (m, D, D) of coordinates over draws (n, m, D); as draws are few, correlations are shrunk."""
    n, _, size = draws.shape
    centred = draws - draws.mean(axis=0)
    covariances = np.einsum("nmd,nme->mde", centred, centred) / max(n - 1, 1)
    keep = (n - 1) / (n - 1 + size)
    diagonal = np.arange(size)
    variances = covariances[:, diagonal, diagonal]
    covariances *= keep
    covariances[:, diagonal, diagonal] = variances + LEAST_VARIANCE
    return np.asarray(np.linalg.inv(covariances))


class KnownUsers(NamedTuple):
    """What earlier data said about users (m,): whether they are new, Dirichlet counts of weights (m, K), means (m, C)
    and precisions (m, C, C) of thresholds, and means and precisions of factors (m, F). Those of new users are void."""

    is_new: Masks
    counts: Floats
    cut_means: Floats
    cut_precisions: Floats
    factor_means: Floats
    factor_precisions: Floats

    @classmethod
    def of(cls, draws: Sequence[Draw], rows: Codes) -> Self:
        """Take the moments over draws."""
        is_new = rows >= len(draws[0].weights)
        at = np.where(is_new, 0, rows)
        weights, cuts, factors = (
            np.array([getattr(draw, name)[at] for draw in draws], np.float64)
            for name in ("weights", "cuts", "user_factors")
        )
        mean = weights.mean(axis=0)
        mean /= mean.sum(axis=1, keepdims=True)
        variance = np.maximum(weights.var(axis=0, ddof=1).sum(axis=1), 1e-9)
        total = (1.0 - (mean**2).sum(axis=1)) / variance - 1.0
        total = np.clip(total, np.mean([draw.counts.sum() for draw in draws]), LARGEST_CONCENTRATION)
        variances = factors.var(axis=0, ddof=1) + LEAST_VARIANCE
        return cls(
            is_new, np.maximum(total[:, None] * mean, LEAST_COUNT), cuts.mean(axis=0), _precisions(cuts),
            factors.mean(axis=0), 1.0 / variances,
        )  # fmt: skip

    def prior(self, part: Said, draw: Draw) -> tuple[kernels.UserPrior, Floats]:
        """Return the prior of the users of a part, and the means of their factors; new ones have the population's."""
        rows, new = part.rows, self.is_new[part.rows][:, None]
        means = np.where(new, part.exposure @ draw.coefficients, self.factor_means[rows])
        prior = kernels.UserPrior(
            np.where(new, draw.counts_of(part.people), self.counts[rows]),
            np.where(new, draw.cut_mean, self.cut_means[rows]),
            np.where(new[:, :, None], draw.cut_precision, self.cut_precisions[rows]),
            np.where(new, 1.0, self.factor_precisions[rows]),
        )
        return prior, means


@dataclass
class _State:
    """Where the users of a part are: vectors (m, width), thresholds (m, C), utilities (n,)."""

    said: Said
    vectors: Floats
    cuts: Floats
    utilities: Floats

    @classmethod
    def of(cls, said: Said, draw: Draw, known: KnownUsers) -> Self:
        """Begin at the means of the priors."""
        prior, means = known.prior(said, draw)
        shape = draw.shape
        vectors, split = np.zeros((len(said.rows), shape.width)), 1 + shape.n_rankings
        vectors[:, 0], vectors[:, split : shape.size] = 1.0, means
        vectors[:, 1:split] = prior.counts / prior.counts.sum(axis=1, keepdims=True)
        return cls(said, vectors, prior.cut_mean.copy(), np.array(said.utilities, np.float64))

    def draw_users(self, table: Floats, draw: Draw, known: KnownUsers, key: Keys, base: int) -> None:
        """Draw users given items (Q, K + F)."""
        items = np.zeros((len(table), draw.shape.width))
        items[:, 1 : draw.shape.size] = table
        kernels.draw_users(
            self.said.data.observed, items, *known.prior(self.said, draw), key, base, self.vectors, self.cuts,
            self.utilities, draw.population().errors,
        )  # fmt: skip


@dataclass(frozen=True)
class _Items:
    """The items of a draw (Q, D) and the precisions (Q, D, D) of what earlier data said about them."""

    table: Floats
    precisions: Floats

    @classmethod
    def of(cls, known: Floats, precisions: Floats, n_items: int, rng: np.random.Generator) -> Self:
        """Append new items, drawn from the Gaussian of those known."""
        n_new, size = n_items - len(known), known.shape[1]
        precision = _precisions(known[:, None])[0]
        root = np.linalg.cholesky(precision)
        new = known.mean(axis=0) + np.linalg.solve(root.T, rng.standard_normal((size, n_new))).T
        return cls(np.concatenate([known, new]), np.concatenate([precisions, np.tile(precision, (n_new, 1, 1))]))

    def condition(self, table: Floats, states: Sequence[_State], rng: np.random.Generator) -> Floats:
        """Return the items (Q, D) given the users; those that nobody spoke about stay as they were drawn."""
        size = table.shape[1]
        products, sums = np.zeros((len(table), size, size)), np.zeros((len(table), size))
        for state in states:
            noisy = state.utilities + rng.standard_normal(len(state.utilities))
            added = kernels.sum_by_item(*state.said.data.by_item, state.vectors, noisy, 1 + size)
            products += np.triu(added[0][:, 1:, 1 : 1 + size])
            sums += added[1][:, 1 : 1 + size]
        some = products[:, np.arange(size), np.arange(size)].any(axis=1)
        upper, precisions = products[some], self.precisions[some]
        total = precisions + upper + np.triu(upper, 1).transpose(0, 2, 1)
        right = sums[some] + np.einsum("qde,qe->qd", precisions, self.table[some])
        found = self.table.copy()
        found[some] = np.linalg.solve(total, right[:, :, None])[:, :, 0]
        return found


def _replace_items(draw: Draw, table: Floats) -> Draw:
    """Return the draw with other items, (Q, K + F)."""
    n_rankings = draw.scores.shape[1]
    return replace(draw, scores=table[:, :n_rankings], item_factors=table[:, n_rankings:])


def _replace_users(draw: Draw, states: Sequence[_State], rows: Codes, sizes: Sizes, rng: np.random.Generator) -> Draw:
    """Return the draw with users as they are now; rows (m,) are their numbers in the draw.

    Thresholds of which nothing was said stay as they were; those of new users are the population's.
    """
    split, size = 1 + draw.shape.n_rankings, draw.shape.size
    parts: dict[str, Any] = {"weights": draw.weights, "user_factors": draw.user_factors, "cuts": draw.cuts}
    grown: dict[str, Any] = {
        name: np.pad(table, ((0, sizes.n_users - len(table)), (0, 0))) for name, table in parts.items()
    }
    for state in states:
        at = rows[state.said.rows]
        grown["weights"][at] = state.vectors[:, 1:split]
        grown["user_factors"][at] = state.vectors[:, split:size]
        if state.said.data.observed.kind in RATED:
            grown["cuts"][at] = state.cuts
        else:
            new = at[at >= len(draw.weights)]
            root = np.linalg.cholesky(draw.cut_precision)
            noise = rng.standard_normal((len(draw.cut_mean), len(new)))
            grown["cuts"][new] = draw.cut_mean + np.linalg.solve(root.T, noise).T
    if draw.own is not None:
        grown["keys"], grown["own"] = _replace_own(draw, states, rows, sizes.n_items)
    return replace(draw, **grown)


def _replace_own(draw: Draw, states: Sequence[_State], rows: Codes, n_items: int) -> tuple[Integers, Floats]:
    """Return keys and utilities of the items that users compared; newer ones replace older ones."""
    assert draw.own is not None
    users, items = np.divmod(draw.keys, len(draw.scores))
    older = users * n_items + items
    said = [(rows[state.said.rows].astype(np.int64), state.said.data.observed) for state in states]
    newer = np.concatenate([np.repeat(at, np.diff(seen.offsets)) * n_items + seen.codes for at, seen in said])
    kept = ~np.isin(older, newer)
    keys = np.concatenate([older[kept], newer])
    own = np.concatenate([draw.own[kept], *(state.utilities for state in states)])
    order = np.argsort(keys, kind="stable")
    return keys[order], own[order].astype(np.float32)
