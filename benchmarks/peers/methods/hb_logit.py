"""numpyro: hierarchical Bayes logit. Utilities of a person are Gaussian, with mean and covariance of the population.

The population is drawn by NUTS, together with everybody's utilities. The covariance is full (a Wishart prior), or, with
some number of factors and always with many items, that of the factors plus a diagonal. People, known and new alike,
are then found given each draw of the population, and probabilities averaged over draws.
"""

import os

os.environ.setdefault("NPROC", os.environ.get("OMP_NUM_THREADS", "1"))  # XLA takes all cores otherwise
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import jax
import numpy as np
import numpyro
import numpyro.distributions as dist
import polars as pl
from numpy.typing import NDArray
from numpyro.infer import MCMC, NUTS
from numpyro.infer.initialization import init_to_median

from benchmarks.peers.case import Floats, Predict, Train
from benchmarks.peers.methods.gaussian_people import Population, log_odds

SETTINGS = [  # weight: what a comparison counts as; those of ratings and rankings are not independent
    {"factors": None, "weight": 1.0},
    {"factors": None, "weight": 0.5},
    {"factors": 5, "weight": 1.0},
    {"factors": 5, "weight": 0.5},
    {"factors": 5, "weight": 0.3},
]
MOST_FULL, MANY = 40, 10  # a covariance of more items than this has this many factors
WARM_UP, SAMPLES, DEPTH, DRAWS = 150, 150, 7, 10

Ints = NDArray[np.int64]


def fit(train: Train, seed: int, threads: int, *, factors: int | None, weight: float) -> Predict:  # noqa: ARG001
    jax.clear_caches()  # every fit compiles anew, and would keep what it compiled
    full = factors is None and train.n_items <= MOST_FULL
    n_factors = train.n_items if full else factors or MANY
    people, users = np.unique(train.pairs["user"].to_numpy(), return_inverse=True)
    sides = [users * train.n_items + train.pairs[side].to_numpy() for side in ("winner", "loser")]
    cells, places = np.unique(np.concatenate(sides), return_inverse=True)
    winners, losers = np.split(places, 2)
    kernel = NUTS(model, max_tree_depth=DEPTH, init_strategy=init_to_median)
    chain = MCMC(kernel, num_warmup=WARM_UP, num_samples=SAMPLES, progress_bar=False)
    shape = (len(people), train.n_items, n_factors)
    chain.run(jax.random.PRNGKey(seed), cells, winners, losers, shape, full, weight)
    draws = populations_of({name: np.asarray(values) for name, values in chain.get_samples().items()})

    def predict(asked: pl.DataFrame, questions: pl.DataFrame) -> Floats:
        told = asked if len(asked) else train.pairs
        odds = np.array([log_odds(population, told, questions, weight) for population in draws])
        chances = np.clip((1.0 / (1.0 + np.exp(-odds))).mean(axis=0), 1e-9, 1.0 - 1e-9)
        return np.log(chances) - np.log1p(-chances)

    return predict


def model(cells: Ints, winners: Ints, losers: Ints, shape: tuple[int, int, int], full: bool, weight: float) -> None:
    """Comparisons of cells (a user's item, as one number) by users with utilities of their own.

    ``shape`` is the number of users, items and factors. Only cells that were compared have a deviation of their own:
    of others nothing is known but the prior.
    """
    n_users, n_items, n_factors = shape
    level = numpyro.sample("level", dist.HalfNormal(2.0))
    mean = numpyro.deterministic("mean", level * numpyro.sample("means", _normal(n_items)))
    spread = numpyro.sample("spread", dist.LogNormal(0.0, 0.5))
    sizes = 1.0 if full else numpyro.sample("sizes", dist.HalfNormal(1.0).expand([n_factors]).to_event(1))
    scales = spread * sizes / np.sqrt(n_factors)
    loadings = numpyro.deterministic("loadings", scales * numpyro.sample("weights", _normal(n_items, n_factors)))
    people = numpyro.sample("people", _normal(n_users, n_factors))
    utilities = (mean + people @ loadings.T).reshape(-1)[cells]
    if not full:
        own = numpyro.sample("own", dist.LogNormal(np.log(0.5), 0.5))
        utilities = utilities + own * numpyro.sample("deviations", _normal(len(cells)))
    leads = utilities[winners] - utilities[losers]
    numpyro.factor("comparisons", weight * jax.nn.log_sigmoid(leads).sum())


def _normal(*shape: int) -> dist.Distribution:
    return dist.Normal(0.0, 1.0).expand(shape).to_event(len(shape))


def populations_of(samples: dict[str, Floats]) -> list[Population]:
    """Give populations of some samples, evenly apart."""
    chosen = np.linspace(0, SAMPLES - 1, DRAWS).astype(int)
    own = samples.get("own", np.zeros(SAMPLES))
    double = {name: samples[name].astype(np.float64) for name in ("mean", "loadings")}
    return [Population(double["mean"][n], double["loadings"][n], float(own[n])) for n in chosen]
