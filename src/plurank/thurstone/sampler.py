"""Gibbs sampling: one sweep draws every user given the items, every item given the users, and the priors given both.

Ours. Users are cut into fixed blocks, whose sums are added as a tree, and every user and item has random numbers of its
own, so that a chain does not depend on threads, shards or workers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from plurank import kernels
from plurank.engine.blocks import group_units, sum_tree
from plurank.engine.local import Engine, LocalEngine
from plurank.store.rated import RatedStore
from plurank.thurstone import hyperparameters as hyper
from plurank.thurstone import joint_move
from plurank.thurstone.blocks import Block, BlockData, RatedSource, Scale, cut_blocks, read_block
from plurank.thurstone.exposure import (
    N_ITERATIONS,
    Exposure,
    finish_directions,
    first_directions,
    sum_of_items,
    sum_of_users,
)
from plurank.thurstone.hyperparameters import Population, UserSums
from plurank.thurstone.item_regression import ItemRegression
from plurank.thurstone.people import PeopleRegression, counts_of
from plurank.types import Floats

FIRST_SCALE = 0.3  # of item vectors
# Sweeps from one move along the ridge to the next where observations are many: moves are short there, and each costs a
# quarter of a sweep.
MOVE_EVERY, MANY_OBSERVATIONS = 3, 200_000
UNITS_EVERY = 3  # sweeps from one change of units to the next, where comparisons have errors
# Sweeps until the prior of weights is drawn, too: rankings begin so near together that it would follow weights to the
# vertices first, and return by tiny steps only.
WARM_UP = 50


class UserState(NamedTuple):
    """Where a chain is with a block's users: vectors (m, width), thresholds (m, C), utilities (n,); and their exposure
    (m, G), which stays. Utilities of ratings are not kept, nor anything of users that no sweep has seen."""

    vectors: Floats
    cuts: Floats
    utilities: Floats | None = None
    exposure: Floats | None = None


class ItemSums(NamedTuple):
    """Sums over users that items are drawn from: products of user vectors (Q, D, width), and vectors times utilities
    (Q, width)."""

    products: Floats
    sums: Floats

    def merge(self, other: "ItemSums") -> "ItemSums":
        """Add the sums over other users."""
        return ItemSums(self.products + other.products, self.sums + other.sums)


class SweepSums(NamedTuple):
    """Sums over a block's users; those of items and logarithms of weights (K,) also with weights raised to a power."""

    items: ItemSums
    users: UserSums
    raised: tuple[ItemSums, Floats] | None

    def merge(self, other: "SweepSums") -> "SweepSums":
        """Add the sums over other users."""
        raised = None
        if self.raised is not None and other.raised is not None:
            raised = self.raised[0].merge(other.raised[0]), self.raised[1] + other.raised[1]
        return SweepSums(self.items.merge(other.items), self.users.merge(other.users), raised)


@dataclass
class Observations:
    """Ratings or rankings in blocks. Those in memory are arranged once, those of a store in every sweep."""

    source: RatedSource
    scale: Scale
    engine: Engine = field(default_factory=LocalEngine)
    blocks: list[Block] = field(init=False)
    _kept: dict[int, BlockData] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.blocks = cut_blocks(self.source.offsets)

    @classmethod
    def of(cls, source: RatedSource, engine: Engine | None = None) -> "Observations":
        """Look at the scale that is used."""
        runner = LocalEngine() if engine is None else engine
        return cls(source, find_scale(source, runner), runner)

    def __getstate__(self) -> dict[str, Any]:
        return {"source": self.source, "scale": self.scale, "engine": LocalEngine(), "blocks": self.blocks, "_kept": {}}

    @property
    def has_errors(self) -> bool:
        """Whether these are comparisons, which may contradict each other."""
        return self.source.kind == "comparison"

    def read(self, block: Block) -> BlockData:
        """Return the observations of a block."""
        if block.number in self._kept:
            return self._kept[block.number]
        found = BlockData.of(read_block(self.source, block), self.scale)
        if not isinstance(self.source, RatedStore):
            self._kept[block.number] = found
        return found

    def reduce(self, task: Callable[..., Any], *arguments: Any) -> Any:
        """Add up what ``task(data, *arguments)`` returns for every block."""
        return self.engine.reduce(partial(_run_task, task), (self, arguments), self.blocks, np.add)


def _run_task(task: Callable[..., Any], shared: tuple[Observations, tuple[Any, ...]], block: Block) -> Any:
    observations, arguments = shared
    return task(observations.read(block), *arguments)


def find_scale(source: RatedSource, engine: Engine) -> Scale:
    """Group the values of ratings into levels; rankings and comparisons have no scale."""
    if source.kind in ("rank", "comparison"):
        return Scale(np.zeros(0, np.int32), np.zeros(0), np.zeros(0))
    counts = engine.reduce(_count_levels, source, cut_blocks(source.offsets), np.add)
    return Scale.of(source.values, counts)


def _count_levels(source: RatedSource, block: Block) -> Floats:
    levels = read_block(source, block).levels
    return np.bincount(levels, minlength=len(source.values)).astype(np.float64)


def _count_items(data: BlockData) -> Floats:
    return np.bincount(data.observed.codes, minlength=data.n_items).astype(np.float64)


def find_exposure(observations: Observations, rng: np.random.Generator) -> Exposure:
    """Find the leading directions of who rated what, by subspace iteration; none where all rated alike."""
    n_items, n_users = observations.source.n_items, observations.source.n_users
    counts = observations.reduce(_count_items)
    if n_items < 3 or n_users < 3 or (counts == n_users).all():
        return Exposure.none(n_items)
    scale = 1.0 / np.sqrt(np.maximum(counts, 1.0))[:, None]
    directions = first_directions(n_items, rng)
    for _ in range(N_ITERATIONS):
        directions = np.linalg.qr(scale * observations.reduce(_exposed_products, scale * directions))[0]
    products = directions.T @ (scale * observations.reduce(_exposed_products, scale * directions))
    return finish_directions(directions, counts, n_users, products)


def _exposed_products(data: BlockData, table: Floats) -> Floats:
    return sum_of_items(data, sum_of_users(data, table))


def _exposure_products(data: BlockData, exposure: Exposure) -> Floats:
    own = exposure.of(data)
    return own.T @ own


class Shape(NamedTuple):
    """Numbers of rankings and factors of a chain."""

    n_rankings: int
    n_factors: int

    @property
    def size(self) -> int:
        """Length of item and user vectors: popularity, rankings, factors."""
        return 1 + self.n_rankings + self.n_factors

    @property
    def width(self) -> int:
        """Length of item and user vectors as kernels have them."""
        return kernels.padded(self.size)


@dataclass
class Chain:
    """A Markov chain of the posterior. ``sweep`` moves it on.

    observations: the data. shape: of the model. seed: of all its random numbers. exposure: what factors are regressed
    on. prior: precisions (Q, D, D), and precisions times means (Q, D), of items whose prior is known. people: how
    weights depend on covariates, where these are known. items: how item vectors depend on features, where these are.
    """

    observations: Observations
    shape: Shape
    seed: Sequence[int]
    exposure: Exposure
    prior: tuple[Floats, Floats] | None = None
    people: PeopleRegression | None = None
    items: ItemRegression | None = None
    population: Population = field(init=False)
    states: list[UserState] = field(init=False)
    n_sweeps: int = 0
    log_likelihoods: list[float] = field(default_factory=list)
    move_size: joint_move.Step = field(default_factory=joint_move.Step)
    error_size: joint_move.Step = field(default_factory=joint_move.Step)
    unit_size: joint_move.Step = field(default_factory=joint_move.Step)

    def __post_init__(self) -> None:
        rng = self._generator()
        source, scale, (n_rankings, n_factors) = self.observations.source, self.observations.scale, self.shape
        size, n_cuts = self.shape.size, scale.n_cuts
        items = np.zeros((source.n_items, self.shape.width))
        items[:, :size] = FIRST_SCALE * rng.standard_normal((source.n_items, size))
        self.first_cuts = hyper.first_cuts(scale.counts) if n_cuts else np.zeros(0)
        self.population = Population(
            items, np.zeros(size), np.eye(size), hyper.first_counts(n_rankings), self.first_cuts, 2.0 * np.eye(n_cuts),
            np.zeros((self.exposure.n, n_factors)),
        )  # fmt: skip
        if self.observations.has_errors:
            self.population = self.population._replace(error=hyper.FIRST_ERROR)
        if self.people is not None:
            self.population = self.population._replace(slopes=np.zeros((self.people.n_covariates, n_rankings)))
        if self.items is not None:
            self.population = self.population._replace(item_slopes=np.zeros((self.items.n_columns, size)))
        if self.exposure.n and n_factors:
            self.exposure_products = self.observations.reduce(_exposure_products, self.exposure)
        else:
            self.exposure, self.exposure_products = Exposure.none(source.n_items), np.zeros((0, 0))
            self.population = self.population._replace(coefficients=np.zeros((0, n_factors)))
        self.states = [self._begin(block, rng) for block in self.observations.blocks]

    def _generator(self) -> np.random.Generator:
        return np.random.default_rng([*self.seed, self.n_sweeps])

    def _begin(self, block: Block, rng: np.random.Generator) -> UserState:
        """Return the first state of a block's users; weights are drawn from a uniform prior."""
        n, (n_rankings, _) = block.end - block.begin, self.shape
        vectors = np.zeros((n, self.shape.width))
        vectors[:, 0] = 1.0
        vectors[:, 1 : 1 + n_rankings] = rng.dirichlet(np.ones(n_rankings), n)
        return UserState(vectors, np.tile(self.first_cuts, (n, 1)))

    def _design_of(self, block: Block) -> Floats | None:
        """Return the covariates (m, P) of the users of a block, which travel with it; None without any."""
        return None if self.people is None else self.people.design[block.begin : block.end]

    def begin_at(self, other: "Chain") -> None:
        """Begin where a chain with as many rankings and without factors is; factors remain as they are."""
        before, known = self.population, 1 + self.shape.n_rankings
        mean, precision = before.item_mean.copy(), before.item_precision.copy()
        mean[:known], precision[:known, :known] = other.population.item_mean, other.population.item_precision
        items = before.items.copy()
        items[:, :known] = other.population.items[:, :known]
        shared = {
            name: getattr(other.population, name) for name in ("counts", "cut_mean", "cut_precision", "slopes", "error")
        }
        self.population = before._replace(items=items, item_mean=mean, item_precision=precision, **shared)
        if self.items is not None and other.items is not None:
            self.items.begin_at(other.items)
            before.item_slopes[:, :known] = other.population.item_slopes
        for state, start in zip(self.states, other.states, strict=True):
            state.vectors[:, :known] = start.vectors[:, :known]
            state.cuts[:] = start.cuts

    def sweep(self) -> None:
        """Draw users, items and priors once."""
        self.n_sweeps += 1
        rng = self._generator()
        key = rng.integers(2**63, size=1).astype(np.uint64)
        power = self.move_size.draw(rng) if self._moves_on_ridge() else 1.0
        errors = self._try_errors(rng)
        shared = _Shared(self.observations, self.shape, self.population, self.exposure, key, power, errors)
        engine, blocks = self.observations.engine, self.observations.blocks
        units = list(zip(blocks, self.states, map(self._design_of, blocks), strict=True))
        states: list[list[UserState]] = []
        parts = engine.map(_sweep_blocks, shared, group_units(units, engine.least_units))
        sums = sum_tree(_collect(parts, states), SweepSums.merge)
        self.states = [state for some in states for state in some]
        self.log_likelihoods.append(sums.users.log_likelihood)
        if self.observations.has_errors:
            sums = sums._replace(items=self._move_error(sums, errors, rng))
        item_key = rng.integers(2**63, size=1).astype(np.uint64)
        users, items = sums.users, self._draw_items(sums.items, item_key)
        if sums.raised is not None:
            users, items = self._move_on_ridge(users, items, sums.raised, power, item_key, rng)
        self.population = self._draw_population(users, items[0], rng)
        if self.prior is None:
            self._shift(rng)

    def _moves_on_ridge(self) -> bool:
        """Whether this sweep tries to move along the ridge."""
        every = MOVE_EVERY if len(self.observations.source) >= MANY_OBSERVATIONS else 1
        others = self.prior is not None or self._moves_units()
        return self.shape.n_rankings > 1 and not others and self.n_sweeps % every == 0

    def _moves_units(self) -> bool:
        """Whether this sweep tries to change units together with the errors of comparisons."""
        own = self.observations.has_errors and self.prior is None and self.items is None
        return own and self.n_sweeps % UNITS_EVERY == 0

    def _try_errors(self, rng: np.random.Generator) -> Floats:
        """Return the standard deviation of errors of comparisons, and one to try, (2,)."""
        if not self.observations.has_errors:
            return kernels.NO_ERRORS
        size = self.unit_size if self._moves_units() else self.error_size
        return np.array([1.0, size.draw(rng)]) * self.population.error

    def _draw_items(self, sums: ItemSums, key: Any) -> tuple[Floats, float]:
        """Draw items (Q, width), and return the log-likelihood of utilities with items integrated out."""
        before = self.population
        precision, right = self.prior or (before.item_precision, before.item_precision @ before.item_mean)
        if self.items is not None and self.prior is None:
            right = self.items.means(before.item_mean, before.item_slopes) @ precision
        items, logs = kernels.draw_items(*sums, precision, right, key)
        return items, float(logs.sum())

    def _move_on_ridge(
        self,
        users: UserSums,
        items: tuple[Floats, float],
        raised: tuple[ItemSums, Floats],
        power: float,
        item_key: Any,
        rng: np.random.Generator,
    ) -> tuple[UserSums, tuple[Floats, float]]:
        """Raise all weights to a power, or leave them; return the sums over users and the items that follow."""
        raised_sums, log_weights = raised
        counts, slopes, gain = self._raise_prior(users, log_weights, power)
        raised_items = self._draw_items(raised_sums, item_key)
        chance = float(np.exp(min(gain + raised_items[1] - items[1], 0.0)))
        taken = bool(rng.random() < chance)
        self.move_size.adapt(chance, taken)
        if not taken:
            return users, items
        for weights in self._weights():
            weights[:] = joint_move.raise_weights(weights, power)
        self.population = self.population._replace(counts=counts, slopes=slopes)
        return users._replace(log_weights=log_weights), raised_items

    def _move_error(self, sums: SweepSums, errors: Floats, rng: np.random.Generator) -> ItemSums:
        """Move the errors of comparisons, or leave them (Metropolis); return the sums that items are drawn from.

        One of two ways: utilities stay; or what is expected of them grows with the errors, and how far they are from
        that stays. Comparisons say little of how errors and users' own utilities share what is not expected, so that
        either way alone is slow (interweaving, Y. Yu and X.-L. Meng 2011).
        """
        users, before, growth = sums.users, self.population, float(errors[1] / errors[0])
        gain, size = hyper.log_gain_of_errors(errors) - users.log_likelihood, self.error_size
        if self._moves_units():
            scales = self._item_scales(rng)
            gain += users.log_likelihood_in_units
            gain += hyper.log_gain_of_units(before.item_precision, scales, growth)
            size = self.unit_size
        else:
            gain += users.log_likelihood_tried
        chance = float(np.exp(min(gain, 0.0)))
        taken = bool(rng.random() < chance)
        size.adapt(chance, taken)
        if not taken:
            return sums.items
        self.population = before._replace(error=float(errors[1]))
        return self._change_units(sums.items, growth) if self._moves_units() else sums.items

    def _change_units(self, sums: ItemSums, growth: float) -> ItemSums:
        """Let items, and what is expected of utilities, grow by a factor."""
        before, size = self.population, self.shape.size
        for block, state in zip(self.observations.blocks, self.states, strict=True):
            observed = self.observations.read(block).observed
            owners = np.repeat(np.arange(len(state.vectors)), np.diff(observed.offsets))
            expected = np.einsum("nd,nd->n", before.items[observed.codes], state.vectors[owners])
            assert state.utilities is not None
            state.utilities[:] += (growth - 1.0) * expected
        products = sums.products[:, :, :size]
        products = np.triu(products) + np.triu(products, 1).transpose(0, 2, 1)
        more = np.einsum("qde,qe->qd", products, before.items[:, :size])
        self.population = before._replace(
            items=growth * before.items, item_mean=growth * before.item_mean,
            item_precision=before.item_precision / growth**2,
        )  # fmt: skip
        added = np.zeros_like(sums.sums)
        added[:, :size] = (growth - 1.0) * more
        return sums._replace(sums=sums.sums + added)

    def _raise_prior(self, users: UserSums, log_weights: Floats, power: float) -> tuple[Floats, Floats, float]:
        """Return the counts (K,) and slopes (P, K) that go with weights raised to a power, and by how much the log
        density of weights and their prior grows."""
        population = self.population
        counts, log_jacobian = joint_move.raise_counts(population.counts, power)
        if self.people is None:
            before = joint_move.Weights(users.n, users.log_weights, population.counts)
            after = before._replace(log_weights=log_weights, counts=counts)
            return counts, population.slopes, joint_move.log_ratio(before, after, power, log_jacobian)
        weights, slopes = self._weights(), power * population.slopes
        if not (np.isfinite(counts).all() and (counts > 0.0).all()):
            return population.counts, population.slopes, -np.inf
        raised = [joint_move.raise_weights(block, power) for block in weights]
        gain = self.people.log_density(counts, slopes, raised)
        gain -= self.people.log_density(population.counts, population.slopes, weights)
        n_moved = (users.n + self.people.n_covariates) * (len(counts) - 1)
        return counts, slopes, gain + n_moved * float(np.log(power)) + log_jacobian

    def counts_of_users(self) -> Floats:
        """The Dirichlet counts of all users, (K,) where they are the same for all, else (M, K)."""
        counts, slopes = self.population.counts, self.population.slopes
        return counts if self.people is None else counts_of(counts, slopes, self.people.design)

    def _weights(self) -> list[Floats]:
        """The weights of users in blocks, (m, K) each, as they lie in their vectors."""
        return [state.vectors[:, 1 : 1 + self.shape.n_rankings] for state in self.states]

    def _shift(self, rng: np.random.Generator) -> None:
        """Draw the origin of utilities: popularity and thresholds move together, which no observation notices.

        One at a time they would move slowly. The means of their priors move, too, so that only priors of these count.
        """
        population = self.population
        precision = hyper.ITEM_COUNT * population.item_precision[0, 0]
        pull = -hyper.ITEM_COUNT * population.item_precision[0] @ population.item_mean
        if len(population.cut_mean):
            precision += hyper.CUT_COUNT * population.cut_precision[0, 0]
            pull -= hyper.CUT_COUNT * population.cut_precision[0] @ (population.cut_mean - self.first_cuts)
        shift = float(pull / precision + rng.standard_normal() / np.sqrt(precision))
        population.items[:, 0] += shift
        population.item_mean[0] += shift
        population.cut_mean[:1] += shift
        for state in self.states:
            state.cuts[:, :1] += shift
            if state.utilities is not None:
                state.utilities[:] += shift

    def _draw_population(self, users: UserSums, items: Floats, rng: np.random.Generator) -> Population:
        before, table = self.population, items[:, : self.shape.size]
        mean, precision, item_slopes = before.item_mean, before.item_precision, before.item_slopes
        if self.prior is None:
            scales = self._item_scales(rng)
            if self.items is not None:
                mean, precision, item_slopes = self.items.draw(table, scales, rng)
            else:
                mean, precision = hyper.draw_normal_wishart(
                    len(table), table.sum(axis=0), table.T @ table, np.zeros(self.shape.size), hyper.ITEM_COUNT,
                    hyper.ITEM_FREEDOM, scales, rng,
                )  # fmt: skip
        cut_mean, cut_precision = before.cut_mean, before.cut_precision
        if len(cut_mean):
            cut_mean, cut_precision = hyper.draw_normal_wishart(
                users.n, users.cuts, users.cut_products, self.first_cuts, hyper.CUT_COUNT, hyper.CUT_FREEDOM,
                hyper.CUT_SCALE, rng,
            )  # fmt: skip
        counts, slopes = before.counts, before.slopes
        if self.n_sweeps > WARM_UP:
            counts, slopes = self._draw_counts(users, rng)
        coefficients = hyper.draw_exposure_effects(
            users.exposed_factors, self.exposure_products, before.coefficient_precision, rng
        )
        return Population(
            items, mean, precision, counts, cut_mean, cut_precision, *coefficients, slopes, item_slopes, before.error
        )

    def _item_scales(self, rng: np.random.Generator) -> Floats:
        """Draw the inverse scale of the prior of items' precision, (D,): fixed where thresholds tell how far rankings
        lie apart. Orders and comparisons hardly do, and a fixed scale would pull rankings together."""
        if self.observations.scale.n_cuts:
            return np.full(self.shape.size, hyper.ITEM_SCALE)
        return hyper.draw_item_scales(self.population.item_precision, rng)

    def _draw_counts(self, users: UserSums, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw the Dirichlet counts (K,) of users, and the slopes (P, K) of their logarithms on covariates."""
        before = self.population
        if self.people is None or self.shape.n_rankings == 1:
            return hyper.draw_counts(before.counts, users.n, users.log_weights, rng), before.slopes
        return self.people.draw(before.counts, before.slopes, self._weights(), rng)

    @property
    def vectors(self) -> Floats:
        """The vectors of all users, (M, D)."""
        return np.concatenate([state.vectors[:, : self.shape.size] for state in self.states])

    @property
    def cuts(self) -> Floats:
        """The thresholds of all users, (M, C), as the first and the logarithms of the gaps."""
        return np.concatenate([state.cuts for state in self.states])


Unit = tuple[Block, UserState, Floats | None]  # a block, its users, and their covariates (m, P)


class _Shared(NamedTuple):
    """What all blocks need for a sweep."""

    observations: Observations
    shape: Shape
    population: Population
    exposure: Exposure
    key: Any
    power: float
    errors: Floats


def _collect(results: Any, states: list[Any]) -> Any:
    """Pass sums on, and keep the states."""
    for state, sums in results:
        states.append(state)
        yield sums


def _sweep_blocks(shared: _Shared, units: Sequence[Unit]) -> tuple[list[UserState], SweepSums]:
    """Do a sweep of neighbouring blocks, of which one sum travels back."""
    states: list[UserState] = []
    parts = _collect((_sweep_block(shared, unit) for unit in units), states)
    return states, sum_tree(parts, SweepSums.merge)


def _sweep_block(shared: _Shared, unit: Unit) -> tuple[UserState, SweepSums]:
    """Draw the users of a block, and sum what items and priors are drawn from."""
    block, before, design = unit
    shape, population = shared.shape, shared.population
    data = shared.observations.read(block)
    vectors, cuts = before.vectors.copy(), before.cuts.copy()
    utilities = data.first_utilities() if before.utilities is None else before.utilities.copy()
    exposure = shared.exposure.of(data) if before.exposure is None else before.exposure
    counts = population.counts
    if design is not None:
        counts = counts_of(counts, population.slopes, design)
    prior = kernels.UserPrior(counts, population.cut_mean, population.cut_precision)
    means = np.ascontiguousarray(exposure @ population.coefficients)
    logs = kernels.draw_users(
        data.observed, population.items, prior, means, shared.key, block.begin, vectors, cuts, utilities,
        shared.errors,
    )  # fmt: skip
    items = ItemSums(*kernels.sum_by_item(*data.by_item, vectors, utilities, shape.size))
    n_weights = 1 + shape.n_rankings
    raised = None
    if shared.power != 1.0:
        others, weights = vectors.copy(), vectors[:, 1:n_weights]
        others[:, 1:n_weights] = joint_move.raise_weights(weights, shared.power)
        raised = (
            ItemSums(*kernels.sum_by_item(*data.by_item, others, utilities, shape.size)),
            joint_move.raised_log_sums(weights, shared.power),
        )
    users = UserSums.of(vectors[:, 1:n_weights], cuts, vectors[:, n_weights : shape.size], exposure, logs)
    kept = None if data.observed.kind == "rated" else utilities
    return UserState(vectors, cuts, kept, exposure), SweepSums(items, users, raised)
