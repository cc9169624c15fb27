"""How well a MixedRanking of ratings or rankings predicts ratings themselves and whole ballots.

Ours. Pairs of items are evaluated as for all models, see ``models/prediction.py``.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from plurank.data.rated import Rankings, RatedItems
from plurank.mixed.utilities import UtilityPosterior
from plurank.random import RandomState, as_generator, draw_seed
from plurank.thurstone.ballots import log_likelihoods
from plurank.thurstone.draws import LEAST_CHANCE
from plurank.types import Codes, Floats

PARTICLES = 20  # for every draw, of a ballot
MOST_PREFIXES = 2**21  # observations of answers so far that are held at once
SEED = 0


def evaluate_directly(posterior: UtilityPosterior, said: RatedItems, rows: Codes) -> dict[str, float]:
    """Measure predictions of test ratings or ballots of users, whose rows in the model are (M,), -1 for unknown ones:
    of ratings rating_log_likelihood, rmse and mae, the means over ratings, of rankings ballot_log_likelihood, the mean
    over users.
    """
    known = posterior.users()
    if isinstance(said, Rankings):
        rng = np.random.default_rng(SEED)
        logs = log_likelihoods(posterior.draws, said, PARTICLES, rng, (known, rows))
        return {"ballot_log_likelihood": float(logs.mean())}
    chances = posterior.level_chances(known, rows[said.user_of_each()], said.codes)
    errors = chances @ posterior.scale.values - posterior.scale.values[said.levels]
    return {
        "rating_log_likelihood": float(_log_of(chances, said).mean()),
        "rmse": float(np.sqrt((errors**2).mean())),
        "mae": float(np.abs(errors).mean()),
    }


def score_sequences(
    posterior: UtilityPosterior, said: RatedItems, n_particles: int, random_state: RandomState
) -> float:
    """Return the mean log-likelihood of what new users say, one after the other: per rating, or per ballot."""
    rng = as_generator(random_state)
    if isinstance(said, Rankings):
        each = -(-n_particles // len(posterior.draws))
        return float(log_likelihoods(posterior.draws, said, each, rng).mean())
    seed = draw_seed(rng)
    logs = [_log_next(posterior, part, n_particles, seed) for part in _cut_users(said)]
    return float(np.concatenate(logs).mean())


def _cut_users(said: RatedItems) -> Iterator[RatedItems]:
    """Return users some at a time, so that the answers before each of theirs are not too many."""
    sizes = np.diff(said.offsets)
    group = np.cumsum(sizes * (sizes + 1) // 2) // MOST_PREFIXES
    edges = [0, *(np.flatnonzero(np.diff(group)) + 1).tolist(), said.n_users]
    return (said.block(begin, end) for begin, end in pairwise(edges))


def _log_next(posterior: UtilityPosterior, said: RatedItems, n_particles: int, seed: int) -> Floats:
    """Log probability of every rating, (n,), given the user's ratings of the items numbered before."""
    before = _answers_before(said)
    users = posterior.fold_in(before, -(-n_particles // len(posterior.draws)), seed)
    rows = np.arange(len(said), dtype=np.int32)
    chances = posterior.level_chances(users, rows, said.codes)
    return _log_of(chances, said)


def _log_of(chances: Floats, said: RatedItems) -> Floats:
    """Log probability of every rating, (n,), given those of all levels (n, L)."""
    return np.asarray(np.log(np.maximum(chances[np.arange(len(said)), said.levels], LEAST_CHANCE)))


def _answers_before(said: RatedItems) -> RatedItems:
    """Return one user for every observation, who said what its user did about items with smaller numbers."""
    parts, sizes = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for begin, end in pairwise(said.offsets):
        own = said.codes[begin:end]
        earlier = own[None, :] < own[:, None]
        parts.append(begin + np.nonzero(earlier)[1])
        sizes.append(earlier.sum(axis=1))
    rows = np.concatenate(parts)
    offsets = np.append(0, np.cumsum(np.concatenate(sizes)))
    return replace(
        said, offsets=offsets, codes=said.codes[rows], levels=said.levels[rows], users=np.arange(len(said)), excluded=()
    )
