"""Choose the priors on comparisons held out inside the training data.

Ours. The marginal likelihood cannot be trusted where comparisons come from ratings: it collapses to hard or to uniform
weights. So some comparisons are held out (see ``split_safely``), the rest is fitted with larger and smaller values, and
what predicts best is kept. Every fit begins where the one it is compared with ended, and is made for one split after
the other until the gain or loss is clear. Where comparisons come from ratings, what an item rated is worth is chosen
first, and where they are few nothing else is. Priors that were chosen have to hold in a fit from nothing, too. What
they predict of the comparisons held out is reported, beside what one ranking for everybody predicts.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from plurank.choices import Mixing
from plurank.data.comparisons import Comparisons
from plurank.data.split import split_safely, weigh_observations
from plurank.metrics.predictions import Quality
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.init import from_items
from plurank.mixed.priors import Priors
from plurank.mixed.refine import QuasiNewton, refine_scores
from plurank.mixed.users import Users
from plurank.random import spawn
from plurank.types import Codes, Floats, Progress, silent

PRIOR_SAMPLE = 100_000  # comparisons to choose by
SPLIT_SAMPLE, MOST_SPLITS = 100_000, 3  # small data are split several times
LEAST_HELD_OUT = 20  # comparisons, or nothing can be chosen
# Observations, where comparisons are made from ratings: what is left without the items held out, 64 %, is then so thin
# that it asks for narrower scores than the whole does, and the first priors are better than those chosen.
LEAST_PER_SCORE = 25
MANY_OBSERVATIONS = 100_000  # are enough for any number of scores: most are of items that have far more than the mean
SHARE = 0.2
# Passes from a split's own init, then from the fit with the priors before. Many comparisons settle sooner.
FEW_PASSES, MANY_PASSES, LARGE = (30, 6), (18, 4), 50_000
TOL = 1e-5
SINGLE_PASSES = 20  # of one ranking for everybody
CLEAR_GAIN, CLEAR_LOSS = 4.0, 2.0  # standard errors, or another split is looked at
LEAST_GAIN = 1e-4  # of the log-likelihood per comparison, or a prior stays where it is
STEP = 10**0.5  # between neighbouring values
# Wider scores and less various people predict nearly alike (the variance of a utility is about spread^2 /
# concentration), so one move goes along this ridge; where steps of that length miss its top, the last one finds it.
MOVES = (
    {"concentration": 1.0},
    {"concentration": 2.0, "score_scale": 1.0},
    {"score_scale": 1.0},
    {"concentration": 1.0, "score_scale": 1.0},
)
MAX_ROUNDS = 3
# On the ridge predictions hardly differ, but weights do: the lower the concentration, the nearer users are to single
# rankings. So the point on it is also held against what is usual, a log-normal prior of the concentration per ranking.
USUAL_CONCENTRATION, USUAL_ERROR = 2 / 3, 1.0
RIDGE_STEP = 10**0.25
MOST_WORTH = 8.0  # comparisons that an item rated counts as
# beyond a concentration of about 100 the Dirichlet is as good as Gaussian: wider scores say the same
RANGES = {"score_scale": (0.03, 33.0), "concentration": (0.03, 110.0)}
Place = tuple[float, ...]


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


class PriorChoice(NamedTuple):
    """Priors, and how well fits with them predicted comparisons held out, None where none could be."""

    priors: Priors
    quality: Quality | None = None


def choose_priors(
    users: Users,
    priors: Priors,
    mixing: Mixing,
    free: tuple[str, ...],
    *,
    rated: bool = False,
    rng: np.random.Generator,
    on_progress: Progress = silent,
) -> PriorChoice:
    """Climb from the given priors to ones that predict better, moving those named in ``free``.

    rated: whether the comparisons come from ratings, see ``weigh_observations``.
    """
    n_rankings = len(priors.mean)
    moves = [move for move in MOVES if set(move) <= set(free) and (n_rankings > 1 or "concentration" not in move)]
    is_free = n_rankings > 1 and "concentration" in free
    if is_free:
        priors = replace(priors, concentration_error=USUAL_ERROR)
    if not moves and not (rated and n_rankings > 1):
        return PriorChoice(priors)
    sample = users.sample(n_rankings, PRIOR_SAMPLE, rng, rated=rated)
    least = min(LEAST_PER_SCORE * sample.n_items * n_rankings, MANY_OBSERVATIONS)
    if rated and weigh_observations(sample).total_weight < least:
        moves = []
    splits = _splits(sample, n_rankings, mixing, rated, rng)
    if not splits:
        return PriorChoice(priors)
    fits = _choose_worth(splits, priors, mixing, rated)
    top, gains = _climb(fits, moves, on_progress)
    priors = _between(top, gains)
    if is_free and moves:
        fits.begin_at(top, priors)
        priors = _settle_on_ridge(fits, priors, with_scale="score_scale" in free)
    if _place(priors) != _place(fits.first) and _is_worse(priors, fits):
        priors = fits.first
    return PriorChoice(priors, _judge(priors, fits))


class Fit(NamedTuple):
    """Where a fit of a split ended, so that others can begin there, and the log-likelihoods of what is held out."""

    end: Split
    memory: QuasiNewton
    logs: Floats


class Fits:
    """Fits of the splits with any priors, each made once, when it is asked for.

    The fit with the first priors begins at a split's own init, any other where the one it is compared with ended.
    """

    def __init__(self, splits: list[Split], first: Priors, mixing: Mixing) -> None:
        self.splits, self.first, self.mixing = splits, first, mixing
        self.cold_passes, self.passes = MANY_PASSES if len(splits[0].train) > LARGE else FEW_PASSES
        self.any_alike = False  # of the rankings fitted with the first priors
        self._before: dict[Place, Priors] = {}
        self._fits: dict[tuple[Place, int], Fit] = {}
        self._cold: dict[tuple[Place, int], Floats] = {}

    def gain(self, moved: Priors, priors: Priors, *, from_all: bool = False) -> tuple[float, float]:
        """Return the gain per held-out comparison of priors moved from others, and its standard error."""
        self.begin_at(priors, moved)
        clear = (np.inf, np.inf) if from_all else (CLEAR_GAIN, CLEAR_LOSS)
        return _compare(partial(self.predict, moved), partial(self.predict, priors), self.splits, *clear)

    def begin_at(self, priors: Priors, moved: Priors) -> None:
        """Let the fit with priors that were moved begin where the one with others ended, unless it has been made."""
        self._before.setdefault(_place(moved), priors)

    def predict(self, priors: Priors, n: int) -> Floats:
        """Return the log-likelihoods of what split n holds out, (n,)."""
        return self._fit(priors, n).logs

    def predict_cold(self, priors: Priors, n: int) -> Floats:
        """Return the same, of a fit that begins at the split's own init."""
        key = _place(priors), n
        if key[0] == _place(self.first):
            return self.predict(priors, n)
        if key not in self._cold:
            self._cold[key] = _fit(self.splits[n], priors, self.mixing, self.cold_passes).logs
        return self._cold[key]

    def _fit(self, priors: Priors, n: int) -> Fit:
        key = _place(priors), n
        if key not in self._fits:
            is_first = key[0] == _place(self.first)
            self._fits[key] = self._fit_first(n) if is_first else self._fit_next(priors, self._before[key[0]], n)
        return self._fits[key]

    def _fit_first(self, n: int) -> Fit:
        found = _fit(self.splits[n], self.first, self.mixing, self.cold_passes)
        if not self._is_alike(found):
            return found
        self.any_alike = True  # with other priors they would stay so
        return found._replace(end=self.splits[n], memory=QuasiNewton())

    def _fit_next(self, priors: Priors, before: Priors, n: int) -> Fit:
        there = self._fit(before, n)
        init = rescale(there.end.scores, before.concentration, priors.concentration)
        found = _fit(replace(there.end, scores=init), priors, self.mixing, self.passes, there.memory.copy())
        return found._replace(end=there.end, memory=there.memory) if self._is_alike(found) else found

    def _is_alike(self, fit: Fit) -> bool:
        return BradleyTerry(fit.end.scores, self.mixing).are_alike


def rescale(scores: Floats, before: float, after: float) -> Floats:
    """Rescale what rankings do not share, so that people differ as much as before with another concentration: the
    variance of weights is inverse to the concentration plus 1."""
    shared = scores.mean(axis=1, keepdims=True)
    return shared + np.sqrt((after + 1.0) / (before + 1.0)) * (scores - shared)


def _climb(fits: Fits, moves: list[dict[str, float]], on_progress: Progress) -> tuple[Priors, dict[Place, float]]:
    """Move priors while that predicts better; return them, and the gains of the neighbours that were tried."""
    priors, n_tried, n_idle = fits.first, 1, 0
    tried: set[Place] = set()
    for move in moves * MAX_ROUNDS:
        init = priors
        for sign in (1.0, -1.0):
            while (moved := _move(priors, move, sign)) is not None:
                on_progress("choosing priors", 1.0 - 0.9**n_tried)
                n_tried += 1
                gain, error = fits.gain(moved, priors)
                if gain <= max(LEAST_GAIN, error):
                    tried.add(_place(moved))
                    break
                priors, tried = moved, {_place(priors)}
            if priors is not init:
                break
        n_idle = n_idle + 1 if priors is init else 1
        if n_idle == len(moves):
            break
    near = (_move(priors, {name: 1.0}, sign) for name in RANGES for sign in (1.0, -1.0))
    known = (moved for moved in near if moved is not None and _place(moved) in tried)
    # the top between neighbours needs more than the sign of a gain
    return priors, {_place(moved): fits.gain(moved, priors, from_all=True)[0] for moved in known}


def _settle_on_ridge(fits: Fits, priors: Priors, *, with_scale: bool) -> Priors:
    """Move along the ridge to the most probable concentration; return it with the standard error of its logarithm.

    The log posterior is that of what one split holds out, averaged over the splits, and of the usual concentration.
    """
    n_held_out = float(np.mean([split.counts.sum() for split in fits.splits]))
    usual = USUAL_CONCENTRATION * len(priors.mean)
    fits.passes *= 2  # what rankings have of their own changes a lot
    found: dict[int, float] = {}

    def at(step: float) -> Priors | None:
        if step == 0:
            return priors
        return _move_on_ridge(priors, priors.concentration * RIDGE_STEP**step, with_scale=with_scale)

    def log_posterior(step: int) -> float:
        moved = at(step)
        if moved is None:
            return -math.inf
        if step not in found:
            fits.begin_at(at(step - int(np.sign(step))) or priors, moved)
            gain = fits.gain(moved, priors, from_all=True)[0] if step else 0.0
            found[step] = n_held_out * gain - 0.5 * (math.log(moved.concentration / usual) / USUAL_ERROR) ** 2
        return found[step]

    step = 0
    while (best := max((step, step - 1, step + 1), key=log_posterior)) != step:
        step = best
    below, peak, above = (log_posterior(each) for each in (step - 1, step, step + 1))
    curvature = 2.0 * peak - below - above
    if not 0.0 < curvature < math.inf:
        return replace(at(step) or priors, concentration_error=USUAL_ERROR)
    settled = at(step + (above - below) / (2.0 * curvature)) or priors
    return replace(settled, concentration_error=min(math.log(RIDGE_STEP) / curvature**0.5, USUAL_ERROR))


def _move_on_ridge(priors: Priors, concentration: float, *, with_scale: bool) -> Priors | None:
    """Change the concentration and, with it, the scale, so that utilities vary as much between users as before; None
    where one would leave its range."""
    ratio = ((concentration + 1.0) / (priors.concentration + 1.0)) ** 0.5 if with_scale else 1.0
    score_scale = priors.score_scale * ratio
    moved = {"concentration": concentration, **({"score_scale": score_scale} if with_scale else {})}
    return replace(priors, concentration=concentration, score_scale=score_scale) if _is_within(moved) else None


def _is_worse(priors: Priors, fits: Fits) -> bool:
    """Check whether a fit that begins with these priors, as the last one will, predicts clearly worse than with the
    first.

    Those that were tried began where a fit with the first priors had ended. With many rankings wide scores may gain
    from there, and be far from as good where they are all that a fit ever knew.
    """
    chosen, first = (partial(fits.predict_cold, p) for p in (priors, fits.first))
    gain, error = _compare(chosen, first, fits.splits, 0.0, CLEAR_LOSS)
    return gain < -error


def _compare(
    trial: Callable[[int], Floats], best: Callable[[int], Floats], splits: list[Split], better: float, worse: float
) -> tuple[float, float]:
    """Return the mean gain of a trial per held-out comparison and its standard error, from as many splits as it takes
    to be so many standard errors better or worse; both predict split n."""
    gains: list[Floats] = []
    gain = error = 0.0
    for n in range(len(splits)):
        gains.append(trial(n) - best(n))
        gain, error = _gain(np.concatenate(gains), splits[: n + 1])
        if gain > better * error or gain < -worse * error:
            break
    return gain, error


def _judge(priors: Priors, fits: Fits) -> Quality:
    """Hold what the chosen priors predict against one ranking, fitted to the same comparisons."""
    split = fits.splits[0]
    single = replace(split, scores=np.zeros((split.train.n_items, 1)), weights=np.ones((split.train.n_users, 1)))
    alone = replace(Priors.vague(1), rating_weight=priors.rating_weight)
    by_one = _fit(single, alone, "probability", SINGLE_PASSES).logs
    chances, by_one = (np.minimum(np.exp(logs), 1.0) for logs in (fits.predict_cold(priors, 0), by_one))
    return Quality.of(len(split.train), chances, by_one, split.counts)


def _move(priors: Priors, move: dict[str, float], sign: float) -> Priors | None:
    """Multiply some priors; None where one would leave its range."""
    values = {name: getattr(priors, name) * STEP ** (sign * power) for name, power in move.items()}
    return replace(priors, **values) if _is_within(values) else None


def _is_within(values: dict[str, float]) -> bool:
    return all(RANGES[name][0] <= value <= RANGES[name][1] for name, value in values.items())


def _splits(sample: Comparisons, n_rankings: int, mixing: Mixing, rated: bool, rng: np.random.Generator) -> list[Split]:
    n_splits = int(np.clip(SPLIT_SAMPLE // len(sample), 1, MOST_SPLITS))
    splits = [_make_split(sample, n_rankings, mixing, rated, child) for child in spawn(rng, n_splits)]
    return [split for split in splits if split is not None]


def _make_split(
    sample: Comparisons, n_rankings: int, mixing: Mixing, rated: bool, rng: np.random.Generator
) -> Split | None:
    kept, held_out = split_safely(sample, SHARE, rng, rated)
    users = sample.user_of_each()
    trained = np.zeros(sample.n_users, dtype=bool)
    trained[users[kept]] = True
    if held_out.sum() < LEAST_HELD_OUT:
        return None
    train = sample.select(kept)
    rows = (np.cumsum(trained) - 1).astype(np.int32)[users[held_out]]
    counts = np.ones(int(held_out.sum())) if sample.weights is None else sample.weights[held_out]
    init = from_items(weigh_observations(train) if rated else train, n_rankings, mixing, rng)
    return Split(
        train, (rows, sample.winners[held_out], sample.losers[held_out]), counts, users[held_out], *init, rated
    )


def _fit(split: Split, priors: Priors, mixing: Mixing, n_passes: int, memory: QuasiNewton | None = None) -> Fit:
    """Fit the training part, and predict what is held out."""
    train = weigh_observations(split.train, priors.rating_weight) if split.rated else split.train
    users, init, memory = (
        Users(train, split.weights),
        BradleyTerry(split.scores, mixing),
        memory or QuasiNewton(),
    )
    component = refine_scores(
        users, init, priors.counts, priors.scores, max_iter=n_passes, tol=TOL, memory=memory
    ).component
    chances = component.probabilities(users.weights, users.user_concentration, *split.held_out)
    end = replace(split, scores=component.scores, weights=users.weights)
    return Fit(end, memory, np.log(np.maximum(chances, 1e-300)))


def _choose_worth(splits: list[Split], priors: Priors, mixing: Mixing, rated: bool) -> Fits:
    """Double what an item rated is worth while that predicts better; return the fits with it.

    A worth that leaves all rankings alike is too small, so that larger ones are tried whatever they gain.
    """
    best = Fits(splits, priors, mixing)
    rating_weight = priors.rating_weight
    while rated and len(priors.mean) > 1 and (rating_weight := 2.0 * rating_weight) <= MOST_WORTH:
        trial = Fits(splits, replace(priors, rating_weight=rating_weight), mixing)
        logs, before = (partial(fits.predict, fits.first) for fits in (trial, best))
        gain, error = _compare(logs, before, splits, CLEAR_GAIN, CLEAR_LOSS)
        if gain > max(LEAST_GAIN, error):
            best = trial
        elif not best.any_alike:
            break
    return best


def _place(priors: Priors) -> Place:
    """Where priors are among all that can be tried, in steps."""
    return tuple(round(float(np.log(getattr(priors, name)) / np.log(STEP)), 3) for name in RANGES)


def _between(priors: Priors, gains: dict[Place, float]) -> Priors:
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
