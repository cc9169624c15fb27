"""Choose the priors on comparisons held out inside the training data.

Ours. The marginal likelihood cannot be trusted where comparisons come from ratings: it collapses to hard or to uniform
weights. So some comparisons are held out (see ``split_safely``), the rest is fitted with larger and smaller values, and
what predicts best is kept. Where comparisons come from ratings, what an item rated is worth is chosen first, and where
they are few nothing else is. Priors that were chosen have to hold in a fit from nothing, too. What they predict of the
comparisons held out is reported, beside what one ranking for everybody predicts.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurank.algorithms.crowd import Crowd, InMemory
from plurank.algorithms.refine_by_likelihood import refine_scores
from plurank.algorithms.start_rankings import from_items
from plurank.choices import Mixing
from plurank.components.bradley_terry import BradleyTerry
from plurank.data.comparisons import Comparisons
from plurank.data.observations import weigh_observations
from plurank.data.splitting import split_safely
from plurank.evaluation.quality import Quality
from plurank.inference.priors import Priors
from plurank.progress import Progress, silent
from plurank.rng import spawn

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
ENOUGH = 250_000  # comparisons to choose by
SPLIT_SAMPLE, MOST_SPLITS = 100_000, 3  # small data are split several times
LEAST_HELD_OUT = 20  # comparisons, or nothing can be chosen
# Observations, where comparisons are made from ratings: what is left without the items held out, 64 %, is then so thin
# that it asks for narrower scores than the whole does, and the first priors are better than those chosen.
LEAST_PER_SCORE = 25
MANY_OBSERVATIONS = 100_000  # are enough for any number of scores: most are of items that have far more than the mean
SHARE = 0.2
FIRST_PASSES, PASSES, TOL = 20, 10, 1e-5  # with the given priors, then with any others
JUDGED_PASSES = 20  # with those chosen, to say how well they predict
COLD_PASSES = 40  # from no fit before, with those chosen and with the first
LEAST_GAIN = 1e-4  # of the log-likelihood per comparison, or a prior stays where it is
STEP = 10**0.5  # between neighbouring values
# Wider scores and less various people predict nearly alike (the variance of a utility is about spread^2 /
# concentration), so one move goes along this ridge; where steps of that length miss its top, the last one finds it.
MOVES = (
    {"concentration": 1.0},
    {"concentration": 2.0, "spread": 1.0},
    {"spread": 1.0},
    {"concentration": 1.0, "spread": 1.0},
)
MAX_ROUNDS = 3
MOST_WORTH = 8.0  # comparisons that an item rated counts as
RANGES = {"spread": (0.03, 33.0), "concentration": (0.03, 1100.0)}


@dataclass(frozen=True)
class Split:
    """Training comparisons, the held-out ones with the rows of their users in the table of weights, and a start.

    Held-out comparisons have counts (n,) and are of these users (n,) of the sample.
    """

    train: Comparisons
    held_out: tuple[Codes, Codes, Codes]
    counts: Floats
    users: Codes
    scores: Floats
    weights: Floats
    rated: bool


class Chosen(NamedTuple):
    """Priors, and how well fits with them predicted comparisons held out, None where none could be."""

    priors: Priors
    quality: Quality | None = None


def choose_priors(
    crowd: Crowd,
    priors: Priors,
    mixing: Mixing,
    free: tuple[str, ...],
    *,
    rated: bool = False,
    rng: np.random.Generator,
    on_progress: Progress = silent,
) -> Chosen:
    """Climb from the given priors to ones that predict better, moving those named in ``free``.

    rated: whether the comparisons come from ratings, see ``weigh_observations``.
    """
    n_rankings = len(priors.mean)
    moves = [move for move in MOVES if set(move) <= set(free) and (n_rankings > 1 or "concentration" not in move)]
    if not moves and not (rated and n_rankings > 1):
        return Chosen(priors)
    sample = crowd.sample(n_rankings, ENOUGH, rng, rated=rated)
    least = min(LEAST_PER_SCORE * sample.n_items * n_rankings, MANY_OBSERVATIONS)
    if rated and weigh_observations(sample).total_weight < least:
        moves = []
    splits = _splits(sample, n_rankings, mixing, rated, rng)
    if not splits:
        return Chosen(priors)
    cold = splits
    priors, splits, best = _choose_worth(splits, priors, mixing, rated)
    first = priors
    n_tried, n_idle = 1, 0
    gains: dict[tuple[float, ...], float] = {}  # of neighbours that were tried
    for move in moves * MAX_ROUNDS:
        start = priors
        for sign in (1.0, -1.0):
            while (moved := _move(priors, move, sign)) is not None:
                on_progress("choosing priors", 1.0 - 0.9**n_tried)
                logs = _predict(moved, splits, mixing)
                n_tried += 1
                gain, error = _gain(logs - best, splits)
                if gain <= max(LEAST_GAIN, error):
                    gains[_place(moved)] = gain
                    break
                priors, best, gains = moved, logs, {_place(priors): -gain}
            if priors is not start:
                break
        n_idle = n_idle + 1 if priors is start else 1
        if n_idle == len(moves):
            break
    priors = _between(priors, gains)
    if priors is not first and _is_worse(priors, first, cold, mixing):
        priors = first
    return Chosen(priors, _judge(priors, splits[0], mixing))


def _is_worse(priors: Priors, first: Priors, splits: list[Split], mixing: Mixing) -> bool:
    """Tell whether fits that begin with these priors, as the last one will, predict clearly worse than with the first.

    Those that were tried began where a fit with the first priors had ended. With many rankings wide scores may gain
    from there, and be far from as good where they are all that a fit ever knew.
    """
    logs, before = (_predict(p, splits, mixing, COLD_PASSES) for p in (priors, first))
    gain, error = _gain(logs - before, splits)
    return gain < -error


def _judge(priors: Priors, split: Split, mixing: Mixing) -> Quality:
    """Hold what the chosen priors predict against one ranking, fitted to the same comparisons."""
    single = replace(split, scores=np.zeros((split.train.n_items, 1)), weights=np.ones((split.train.n_users, 1)))
    chances = _chances(split, priors, mixing, JUDGED_PASSES)
    by_one = _chances(single, replace(Priors.vague(1), worth=priors.worth), "probability", JUDGED_PASSES)
    return Quality.of(len(split.train), np.minimum(chances, 1.0), np.minimum(by_one, 1.0), split.counts)


def _move(priors: Priors, move: dict[str, float], sign: float) -> Priors | None:
    """Multiply some priors; None where one would leave its range."""
    values = {name: getattr(priors, name) * STEP ** (sign * power) for name, power in move.items()}
    within = all(RANGES[name][0] <= value <= RANGES[name][1] for name, value in values.items())
    return replace(priors, **values) if within else None


def _splits(sample: Comparisons, n_rankings: int, mixing: Mixing, rated: bool, rng: np.random.Generator) -> list[Split]:
    n_splits = int(np.clip(SPLIT_SAMPLE // len(sample), 1, MOST_SPLITS))
    splits = [_split(sample, n_rankings, mixing, rated, child) for child in spawn(rng, n_splits)]
    return [split for split in splits if split is not None]


def _split(sample: Comparisons, n_rankings: int, mixing: Mixing, rated: bool, rng: np.random.Generator) -> Split | None:
    kept, held_out = split_safely(sample, SHARE, rng, rated)
    users = sample.user_of_each()
    trained = np.zeros(sample.n_users, dtype=bool)
    trained[users[kept]] = True
    if held_out.sum() < LEAST_HELD_OUT:
        return None
    train = sample.select(kept)
    rows = (np.cumsum(trained) - 1).astype(np.int32)[users[held_out]]
    counts = np.ones(int(held_out.sum())) if sample.weights is None else sample.weights[held_out]
    start = from_items(weigh_observations(train) if rated else train, n_rankings, mixing, rng)
    return Split(
        train, (rows, sample.winners[held_out], sample.losers[held_out]), counts, users[held_out], *start, rated
    )


def _fit(split: Split, priors: Priors, mixing: Mixing, n_passes: int) -> tuple[BradleyTerry, InMemory]:
    train = weigh_observations(split.train, priors.worth) if split.rated else split.train
    crowd, point = InMemory(train, split.weights), BradleyTerry(split.scores, mixing)
    return refine_scores(crowd, point, priors.counts, priors.scores, max_iter=n_passes, tol=TOL).component, crowd


def _choose_worth(
    splits: list[Split], priors: Priors, mixing: Mixing, rated: bool
) -> tuple[Priors, list[Split], Floats]:
    """Double what an item rated is worth while that predicts better; give the splits, warm, and the log-likelihoods of
    what they hold out.

    A worth that leaves all rankings alike is too small, so that larger ones are tried whatever they gain.
    """
    begun, alike = _warm(splits, priors, mixing)
    best = _predict(priors, begun, mixing)
    worth = priors.worth
    while rated and len(priors.mean) > 1 and (worth := 2.0 * worth) <= MOST_WORTH:
        dearer = replace(priors, worth=worth)
        tried, still_alike = _warm(splits, dearer, mixing)
        logs = _predict(dearer, tried, mixing)
        gain, error = _gain(logs - best, splits)
        if gain > max(LEAST_GAIN, error):
            priors, begun, best, alike = dearer, tried, logs, still_alike
        elif not alike:
            break
    return priors, begun, best


def _warm(splits: list[Split], priors: Priors, mixing: Mixing) -> tuple[list[Split], bool]:
    """Start from a fit with the given priors, unless its rankings are alike (also said): with other priors they would
    stay so."""
    warm, some_alike = [], False
    for split in splits:
        component, crowd = _fit(split, priors, mixing, FIRST_PASSES)
        alike = component.are_alike
        warm.append(split if alike else replace(split, scores=component.scores, weights=crowd.weights))
        some_alike |= alike
    return warm, some_alike


def _predict(priors: Priors, splits: list[Split], mixing: Mixing, n_passes: int = PASSES) -> Floats:
    """Fit every training part and give the log-likelihoods of all held-out comparisons.

    Always from the split's own start: from the fit of the last trial, rankings that became alike would stay so.
    """
    chances = np.concatenate([_chances(split, priors, mixing, n_passes) for split in splits])
    return np.log(np.maximum(chances, 1e-300))


def _chances(split: Split, priors: Priors, mixing: Mixing, n_passes: int) -> Floats:
    """Fit the training part, and give the probabilities of what happened in the held-out comparisons, (n,)."""
    component, crowd = _fit(split, priors, mixing, n_passes)
    return component.probabilities(crowd.weights, crowd.evidence, *split.held_out)


def _place(priors: Priors) -> tuple[float, ...]:
    """Where priors are among all that can be tried, in steps."""
    return tuple(round(float(np.log(getattr(priors, name)) / np.log(STEP)), 3) for name in RANGES)


def _between(priors: Priors, gains: dict[tuple[float, ...], float]) -> Priors:
    """Move each prior to the top of the parabola through its value and its neighbours', where all were tried."""
    moved = priors
    for name in RANGES:
        near = (_move(priors, {name: 1.0}, sign) for sign in (-1.0, 1.0))
        below, above = (None if p is None else gains.get(_place(p)) for p in near)
        if below is not None and above is not None and below + above < 0.0:
            move = float(np.clip((below - above) / (2.0 * (below + above)), -0.5, 0.5))
            moved = _move(moved, {name: move}, 1.0) or moved
    return moved


def _gain(gains: Floats, splits: list[Split]) -> tuple[float, float]:
    """Mean gain per held-out comparison, and its standard error over users."""
    counts, users = (np.concatenate([getattr(split, name) for split in splits]) for name in ("counts", "users"))
    mean = float(np.average(gains, weights=counts))
    error = float(np.sqrt((np.bincount(users, counts * (gains - mean)) ** 2).sum()) / counts.sum())
    return mean, error
