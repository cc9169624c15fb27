"""New users: draws of their weights, factors and thresholds given what they said, with the items as they were drawn."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from plurank import kernels
from plurank.data.comparisons import Comparisons
from plurank.data.rated import RatedItems
from plurank.kernels.arrays import Keys
from plurank.thurstone.blocks import BlockData, Scale
from plurank.thurstone.comparisons import observe_certain, observe_with_errors
from plurank.thurstone.draws import Draw, DrawnUsers, as_thresholds
from plurank.thurstone.exposure import Exposure
from plurank.types import Floats, Integers

BURN_IN, SWEEPS = 30, 3  # before the first draw, and from one draw to the next
SEED = 20_261_118  # the same answers, the same draws


def _find_depths(observed: kernels.Observed) -> Integers:
    """Return how many items, each beaten by the next, are below every item, (n,)."""
    n = len(observed.codes)
    first = np.repeat(observed.offsets[:-1], np.diff(observed.offsets))
    of = np.repeat(np.arange(n), np.diff(observed.link_offsets))
    won = observed.links > 0
    ahead, behind = of[won], (first[of] + np.abs(observed.links) - 1)[won]
    depths = np.zeros(n, np.int64)
    while True:
        wanted = np.zeros(n, np.int64)
        np.maximum.at(wanted, ahead, depths[behind] + 1)
        if (wanted <= depths).all():
            return depths
        depths = np.maximum(depths, wanted)


def _first_utilities(depths: Integers, cuts: Floats | None) -> Floats:
    """Return utilities (n,) that agree with all comparisons, given how many items are below; with cuts (C,), as many
    thresholds are below, too."""
    if cuts is None:
        return 0.5 * (depths - (depths.mean() if len(depths) else 0.0))
    thresholds = as_thresholds(cuts)
    edges = np.concatenate([[thresholds[0] - 1.0], thresholds, [thresholds[-1] + 1.0]])
    return np.asarray((edges[depths] + edges[depths + 1]) / 2.0)


@dataclass(frozen=True)
class Said:
    """What some users said, as kernels take it: rows (m,) of the users, their observations, utilities (n,) that agree
    with these, the users' exposure (m, G), and their covariates (m, P), where they have any."""

    rows: Integers
    data: BlockData
    utilities: Floats
    exposure: Floats
    people: Floats | None = None

    def describe(self, people: Floats | None) -> "Said":
        """Return the same with covariates, given those (M, P) of all users."""
        return self if people is None else replace(self, people=people[self.rows])


def observe_users(
    said: Comparisons | RatedItems, scale: Scale, exposure: Exposure, cut_mean: Floats, *, with_errors: bool = False
) -> list[Said]:
    """Take ratings, rankings or comparisons as kernels do; ``cut_mean`` (C,) are typical thresholds, with_errors:
    whether comparisons have errors, as where the model was fitted to such.

    Comparisons count as made from ratings where the model was fitted to ratings, unless they are known not to be, or
    somebody's have more steps than the scale: such users stand apart.
    """
    everybody = np.arange(said.n_users)
    if not isinstance(said, Comparisons):
        data = BlockData.of(said, scale)
        return [Said(everybody, data, data.first_utilities(), exposure.of(data))]
    nothing = np.zeros((said.n_users, exposure.n))
    if with_errors:
        observed = observe_with_errors(said)
        return [Said(everybody, BlockData(observed, said.n_items), np.zeros(len(observed.codes)), nothing)]
    plain = observe_certain(said)
    depths = _find_depths(plain)
    if said.rated is False or not scale.n_cuts:
        return [Said(everybody, BlockData(plain, said.n_items), _first_utilities(depths, None), nothing)]
    owners = np.repeat(everybody, np.diff(plain.offsets))
    deep = np.bincount(owners, depths > scale.n_cuts, said.n_users) > 0
    if not deep.any():
        rated = observe_certain(said, rated=True)
        return [Said(everybody, BlockData(rated, said.n_items), _first_utilities(depths, cut_mean), nothing)]
    parts = [(deep, replace(said.take_users(deep), rated=False))]
    parts += [] if deep.all() else [(~deep, said.take_users(~deep))]
    return [
        replace(each, rows=np.flatnonzero(chosen))
        for chosen, part in parts
        for each in observe_users(part, scale, exposure, cut_mean)
    ]


def fold_in(
    draws: Sequence[Draw],
    said: Comparisons | RatedItems,
    scale: Scale,
    exposure: Exposure,
    seed: int = SEED,
    people: Floats | None = None,
) -> list[DrawnUsers]:
    """Draw new users, who may have covariates (m, P), once for every draw of the items; one chain goes on from draw to
    draw."""
    parts = [
        part.describe(people)
        for part in observe_users(said, scale, exposure, draws[0].cut_mean, with_errors=draws[0].error > 0.0)
    ]
    drawn = [_draw_users(draws, part, seed) for part in parts]
    if len(parts) == 1:
        return drawn[0]
    rows = np.concatenate([part.rows for part in parts])
    return [_put_together(each, rows, said.n_items) for each in zip(*drawn, strict=True)]


def _put_together(parts: Sequence[DrawnUsers], rows: Integers, n_items: int) -> DrawnUsers:
    """Put users together that were drawn apart; rows (m,) are their numbers."""
    order = np.argsort(rows)
    weights, factors, cuts = (
        np.concatenate([getattr(part, name) for part in parts])[order] for name in ("weights", "factors", "cuts")
    )
    starts = np.cumsum([0, *(len(part.weights) for part in parts)])
    keys = np.concatenate(
        [
            rows[part.keys // n_items + start] * n_items + part.keys % n_items
            for part, start in zip(parts, starts, strict=False)
        ]
    )
    own = np.concatenate([part.own for part in parts if part.own is not None])
    by_key = np.argsort(keys)
    return DrawnUsers(weights, factors, cuts, keys[by_key], own[by_key])


def _draw_users(draws: Sequence[Draw], said: Said, seed: int) -> list[DrawnUsers]:
    """Draw users who said something, starting from utilities that agree with it."""
    observed, n_items, n = said.data.observed, said.data.n_items, len(said.rows)
    utilities = np.array(said.utilities, np.float64)
    owners = np.repeat(np.arange(n, dtype=np.int64), np.diff(observed.offsets))
    keys = owners * n_items + observed.codes
    order = np.argsort(keys, kind="stable")
    cuts = np.tile(draws[0].cut_mean, (n, 1))
    shape = draws[0].shape
    vectors, split = np.zeros((n, shape.width)), 1 + shape.n_rankings
    vectors[:, 0], vectors[:, 1:split] = 1.0, draws[0].mean_weights
    found: list[DrawnUsers] = []
    before = -1
    for number, draw in enumerate(draws):
        population = draw.in_kernel_units.population()
        prior = kernels.UserPrior(draw.counts_of(said.people), population.cut_mean, population.cut_precision)
        means = np.ascontiguousarray(said.exposure @ draw.coefficients)
        for sweep in range(SWEEPS if draw.chain == before else BURN_IN):
            key = as_key(seed, number, sweep)
            kernels.draw_users(
                observed, population.items, prior, means, key, 0, vectors, cuts, utilities, population.errors
            )
        before = draw.chain
        weights, factors = vectors[:, 1:split].copy(), vectors[:, split : shape.size].copy()
        found.append(DrawnUsers(weights, factors, cuts.copy(), keys[order], draw.spread * utilities[order]))
    return found


def as_key(*numbers: int) -> Keys:
    """Return the key (1,) that belongs to some numbers."""
    return np.random.SeedSequence(numbers).generate_state(1, np.uint64).astype(np.uint64)
