"""New users: draws of their weights, factors and thresholds given what they said, with the items as they were drawn."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from plurank import kernels
from plurank.data.comparisons import Comparisons
from plurank.data.rated import RatedItems
from plurank.thurstone.blocks import BlockData, Scale
from plurank.thurstone.draws import Draw, DrawnUsers
from plurank.thurstone.exposure import Exposure
from plurank.types import Codes, Floats, Masks

BURN_IN, SWEEPS = 30, 3  # before the first draw, and from one draw to the next
SEED = 20_261_118  # the same answers, the same draws


def observe_comparisons(comparisons: Comparisons) -> kernels.Observed:
    """Turn comparisons into what they say about utilities: which of two is larger.

    Answers of a user that contradict each other, directly or in a circle, say nothing and are left out.
    """
    n_items = comparisons.n_items
    users = comparisons.user_of_each().astype(np.int64)
    sides = users * n_items + comparisons.winners, users * n_items + comparisons.losers
    keys = np.unique(np.concatenate(sides))
    ahead, behind = (np.searchsorted(keys, side) for side in sides)
    sound = ~_contradicted(ahead, behind, len(keys))
    pairs = np.unique(np.stack([ahead[sound], behind[sound]], axis=1), axis=0)
    offsets = np.searchsorted(keys, np.arange(comparisons.n_users + 1, dtype=np.int64) * n_items).astype(np.int64)
    first = offsets[:-1][keys // n_items]  # where the items of the owner begin
    of = np.concatenate([pairs[:, 0], pairs[:, 1]])
    place = np.concatenate([pairs[:, 1], pairs[:, 0]]) - first[of] + 1
    links = np.where(np.arange(len(of)) < len(pairs), place, -place).astype(np.int32)
    order = np.argsort(of, kind="stable")
    link_offsets = np.append(0, np.cumsum(np.bincount(of, minlength=len(keys)))).astype(np.int64)
    codes = (keys % n_items).astype(np.int32)
    return kernels.Observed("compared", offsets, codes, np.zeros(0, np.int32), link_offsets, links[order])


def _contradicted(ahead: Codes, behind: Codes, n: int) -> Masks:
    """Mark comparisons (n,) that lie on a circle."""
    graph = csr_array((np.ones(len(ahead), np.int8), (ahead, behind)), shape=(n, n))
    _, component = connected_components(graph, directed=True, connection="strong")
    return np.asarray(component[ahead] == component[behind])


def _first_utilities(observed: kernels.Observed) -> Floats:
    """Return utilities (n,) that agree with all comparisons: how many items one after the other are below."""
    n = len(observed.codes)
    sizes = np.diff(observed.offsets)
    first = np.repeat(observed.offsets[:-1], sizes)
    of = np.repeat(np.arange(n), np.diff(observed.link_offsets))
    won = observed.links > 0
    ahead, behind = of[won], (first[of] + np.abs(observed.links) - 1)[won]
    depth = np.zeros(n)
    while True:
        wanted = np.zeros(n)
        np.maximum.at(wanted, ahead, depth[behind] + 1.0)
        if (wanted <= depth).all():
            return 0.5 * (depth - depth.mean() if n else depth)
        depth = np.maximum(depth, wanted)


def fold_in(
    draws: Sequence[Draw], said: Comparisons | RatedItems, scale: Scale, exposure: Exposure, seed: int = SEED
) -> list[DrawnUsers]:
    """Draw new users, once for every draw of the items; one chain goes on from draw to draw."""
    if isinstance(said, Comparisons):
        observed = observe_comparisons(said)
        utilities, exposed = _first_utilities(observed), np.zeros((said.n_users, exposure.n))
    else:
        data = BlockData.of(said, scale)
        observed, utilities, exposed = data.observed, data.first_utilities(), exposure.of(data)
    n = said.n_users
    owners = np.repeat(np.arange(n, dtype=np.int64), np.diff(observed.offsets))
    keys = owners * said.n_items + observed.codes
    order = np.argsort(keys, kind="stable")
    found: list[DrawnUsers] = []
    cuts = np.tile(draws[0].cut_mean, (n, 1))
    shape = draws[0].shape
    vectors, split = np.zeros((n, shape.width)), 1 + shape.n_rankings
    vectors[:, 0], vectors[:, 1:split] = 1.0, draws[0].mean_weights
    before = -1
    for number, draw in enumerate(draws):
        population = draw.population()
        prior = kernels.UserPrior(population.counts, population.cut_mean, population.cut_precision)
        means = np.ascontiguousarray(exposed @ draw.coefficients)
        for sweep in range(SWEEPS if draw.chain == before else BURN_IN):
            key = np.array([_key(seed, number, sweep)], np.uint64)
            kernels.draw_users(observed, population.items, prior, means, key, 0, vectors, cuts, utilities)
        before = draw.chain
        found.append(
            DrawnUsers(
                vectors[:, 1:split].copy(), vectors[:, split : shape.size].copy(), cuts.copy(), keys[order],
                utilities[order],
            )
        )  # fmt: skip
    return found


def _key(seed: int, draw: int, sweep: int) -> int:
    return int(np.random.SeedSequence([seed, draw, sweep]).generate_state(1, np.uint64)[0])
