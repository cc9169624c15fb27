"""Candidates for the numbers of rankings and factors of a fit to ratings, votes or rankings: how well each predicts.

Ours. Every candidate is one short chain (of ballots: one for each fold of voters) with the same training data. Ratings
and votes are judged by pairs of held-out items of the same user, rankings by whole ballots of voters that the chain has
not seen: a ballot says more of how its voter differs than a few pairs do.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import logsumexp

from plurank.choices import Mixing
from plurank.data.comparisons import draw_held_out
from plurank.data.encoding import look_up
from plurank.data.rated import Rankings, RatedItems
from plurank.data.split import some_users
from plurank.mixed.candidates import Candidates, Predictions
from plurank.mixed.membership_regression import choose_slope_scale_by, weights_of
from plurank.random import as_generator, draw_seed
from plurank.regression.coefficients import Coefficients
from plurank.thurstone.ballots import log_likelihoods
from plurank.thurstone.blocks import RatedSource
from plurank.thurstone.chains import Length, run_chain
from plurank.thurstone.comparisons import Compared
from plurank.thurstone.draws import Draw, preference
from plurank.thurstone.sampler import Observations, Shape, find_exposure
from plurank.types import Codes, Floats

if TYPE_CHECKING:
    from plurank.mixed.rated import RatedSettings

SAMPLE = 400_000  # observations that choices are made by
SHARE = 0.2  # of a user's items that are held out
CHOICE_LENGTH, BALLOT_LENGTH = Length(60, 10, 4), Length(150, 10, 10)  # orders take longer to find what voters share
COMPARED_LENGTH = Length(150, 50, 4)  # as do comparisons
MOST_PAIRS = 10  # for each item held out
LEAST_HELD_OUT = 20  # pairs, or nothing is chosen
FOLDS, ENOUGH_VOTERS = 4, 2000  # of voters; if so many are in one fold, it is enough
PARTICLES = 40  # for every draw, of a ballot
BY_ERRORS = 0.02  # log-likelihood of a choice; with Gumbel errors and one ranking, at most 0.012 in eight simulations


class HeldOutPairs(NamedTuple):
    """Pairs of held-out items of the same user: rows of users (n,), preferred and other items (n,), all numbered as in
    the training data."""

    train: RatedItems | Compared
    rows: Codes
    winners: Codes
    losers: Codes

    @classmethod
    def of(cls, sample: RatedItems | Compared, rng: np.random.Generator) -> "HeldOutPairs | None":
        """Hold out a share of every user's items; None where that leaves nothing to predict."""
        if isinstance(sample, Compared):
            return cls.of_comparisons(sample, rng)
        held_out = sample.draw_held_out(SHARE, "item", rng)
        left = np.bincount(sample.user_of_each()[~held_out], minlength=sample.n_users)
        held_out &= (left > 0)[sample.user_of_each()]
        if not held_out.any():
            return None
        train, test = sample.select(~held_out), sample.select(held_out)
        pairs = compare_some(test, rng)
        if len(pairs[0]) < LEAST_HELD_OUT:
            return None
        return cls(train, look_up(test.users, train.users, "user")[pairs[0]], pairs[1], pairs[2])

    @classmethod
    def of_comparisons(cls, sample: Compared, rng: np.random.Generator) -> "HeldOutPairs | None":
        """Hold out comparisons as they are."""
        kept, held_out = draw_held_out(sample.comparisons, SHARE, "comparison", rng)
        train, test = sample.comparisons.select(kept), sample.comparisons.select(held_out)
        rows = look_up(test.users, train.users, "user")[test.user_of_each()]
        known = rows >= 0
        if known.sum() < LEAST_HELD_OUT:
            return None
        return cls(Compared(train), rows[known], test.winners[known], test.losers[known])


def compare_some(said: RatedItems, rng: np.random.Generator) -> tuple[Codes, Codes, Codes]:
    """Compare some pairs of items of the same user with different levels: rows of users, better and worse items."""
    sizes = np.diff(said.offsets)
    first = np.repeat(np.arange(len(said)), np.repeat(np.minimum(sizes - 1, MOST_PAIRS), sizes))
    users = said.user_of_each()
    step = 1 + (rng.random(len(first)) * (sizes[users[first]] - 1)).astype(np.int64)
    begin = said.offsets[:-1][users[first]]
    second = begin + (first - begin + step) % sizes[users[first]]
    pairs = np.unique(np.stack([np.minimum(first, second), np.maximum(first, second)], axis=1), axis=0)
    worse, better = pairs.T  # sorted by level
    clear = said.levels[worse] < said.levels[better]
    better, worse = better[clear], worse[clear]
    return users[better], said.codes[better], said.codes[worse]


class RatedCandidates(Candidates):
    """Candidates for the numbers of rankings and factors."""

    @property
    def unit(self) -> str:
        """What predictions are counted by."""
        return "comparison" if self.rankings is None else "choice"

    def __init__(self, source: RatedSource, settings: "RatedSettings", typical: int) -> None:
        rng = as_generator(draw_seed(as_generator(settings.random_state)))
        self.sample = some_users(source, SAMPLE, rng)  # type: ignore[arg-type]
        sample: Any = self.sample
        self.rankings: Rankings | None = sample if isinstance(sample, Rankings) else None
        self.typical = typical
        self.held_out = HeldOutPairs.of(sample, rng)
        self.found: dict[tuple[Mixing, int], Predictions] = {}
        self.trials: dict[Shape, Floats] = {}
        self.ballots: dict[Shape, Floats] = {}
        self.draws: dict[Shape, list[Draw]] = {}
        self.seed = draw_seed(rng)
        self.length = COMPARED_LENGTH if isinstance(sample, Compared) else CHOICE_LENGTH
        if self.held_out is not None:
            self.observations = Observations.of(self.held_out.train)
            self.exposure = find_exposure(self.observations, rng)

    @property
    def enough(self) -> bool:
        """Whether anything can be said: of ballots, by others' ballots."""
        return self.held_out is not None and (self.rankings is None or self.rankings.n_users > 1)

    @property
    def most_rankings(self) -> int:
        """The largest number of rankings that there are users for, and items: of more, weights are not determined."""
        return 1 if self.held_out is None else min(self.held_out.train.n_users, self.sample.n_items)

    def attempt(self, shape: Shape) -> Floats:
        """Fit one chain and return the probabilities of pairs that were held out, (n,)."""
        if shape not in self.trials:
            assert self.held_out is not None
            self.draws[shape] = run_chain(self.observations, shape, [self.seed, 0], self.exposure, self.length).draws
            self.trials[shape] = self._predict(shape, self.held_out.rows)
        return self.trials[shape]

    def _predict(self, shape: Shape, rows: Codes) -> Floats:
        """Probabilities of pairs that were held out, (n,), of rows of users, -1 for unknown ones."""
        draws, is_rated = self.draws[shape], bool(self.observations.scale.n_cuts)
        assert self.held_out is not None
        return preference(draws, [draw.known() for draw in draws], rows, *self.held_out[2:], rated=is_rated)

    def evaluate(self, mixing: Mixing, n_rankings: int) -> Predictions:
        """Fit a number of rankings, and sum the log-likelihoods of what was held out by user."""
        if (mixing, n_rankings) not in self.found:
            by_what = self._evaluate_pairs if self.rankings is None else self._evaluate_ballots
            self.found[mixing, n_rankings] = by_what(mixing, n_rankings)
        return self.found[mixing, n_rankings]

    def _evaluate_pairs(self, mixing: Mixing, n_rankings: int) -> Predictions:  # noqa: ARG002
        assert self.held_out is not None
        shape, n = Shape(n_rankings, 0), self.sample.n_users
        probabilities = self.attempt(shape)
        nobody = np.full(len(self.held_out.rows), -1, dtype=self.held_out.rows.dtype)
        users = look_up(self.held_out.train.users, self.sample.users, "user")[self.held_out.rows]
        own = np.zeros((n, 2, 2))
        own[:, 0, 0] = np.bincount(users, np.log(probabilities), n)
        own[:, 0, 1] = np.bincount(users, minlength=n)
        by_mean = np.bincount(users, np.log(self._predict(shape, nobody)), n).astype(np.float64)
        return Predictions(own, by_mean)

    def _evaluate_ballots(self, mixing: Mixing, n_rankings: int) -> Predictions:  # noqa: ARG002
        """Sum by voter what is predicted of whole ballots. Voters differ if that is better than by one ranking, and by
        more than what several rankings gain where errors are not normal."""
        own, one = np.zeros((self.sample.n_users, 2, 2)), self._predict_ballots(Shape(1, 0))
        own[:, 1] = self._predict_ballots(Shape(n_rankings, 0))
        return Predictions(own, one[:, 0] + (BY_ERRORS * one[:, 1] if n_rankings > 1 else 0.0))

    def _predict_ballots(self, shape: Shape) -> Floats:
        """Log-likelihood of the whole ballots of voters in each fold, given the others, and how often these voters
        chose, (M, 2); 0 of voters that are not asked."""
        if shape in self.ballots:
            return self.ballots[shape]
        ballots = self.rankings
        assert ballots is not None
        rng = np.random.default_rng([self.seed, 2])  # the same folds for all candidates
        folds = rng.permutation(np.arange(ballots.n_users) % FOLDS)
        found, choices = np.zeros((ballots.n_users, 2)), count_choices(ballots)
        for fold in range(FOLDS if ballots.n_users < FOLDS * ENOUGH_VOTERS else 1):
            asked = np.flatnonzero((folds == fold) & (choices > 0))
            if len(asked) > ENOUGH_VOTERS:
                asked = np.sort(rng.permutation(asked)[:ENOUGH_VOTERS])
            if not len(asked):
                continue
            others = Observations.of(ballots.take_users(folds != fold))
            draws = run_chain(others, shape, [self.seed, 1 + fold], self.exposure, BALLOT_LENGTH).draws
            voters = ballots.take_users(np.isin(np.arange(ballots.n_users), asked))
            found[asked] = np.column_stack([log_likelihoods(draws, voters, PARTICLES, rng), choices[asked]])
        self.ballots[shape] = found
        return found

    def find_help(self, n_rankings: int, people: Floats | None, source: RatedSource) -> bool:
        """Check on held-out users whether covariates (M, P) of the source's users predict their weights."""
        if people is None or n_rankings == 1:
            return False
        assert self.held_out is not None
        plain = Shape(n_rankings, 0)
        self.attempt(plain)
        draws = self.draws[plain]
        rows = look_up(self.held_out.train.users, source.users, "user")
        constant = Coefficients.constant(np.mean([draw.counts for draw in draws], axis=0), people.shape[1])
        rng = np.random.default_rng([self.seed, 1])
        return choose_slope_scale_by(weights_of(draws, people[rows]), constant, rng) is not None

    def choose_parts(self, n_rankings: int, n_factors: int) -> tuple[list[Shape], Floats]:
        """Choose whose draws predictions average over: chains without factors, with them, or both; and return the
        probabilities of pairs that were held out."""
        plain, full = Shape(n_rankings, 0), Shape(n_rankings, n_factors)
        parts = [[plain], [full], [plain, full]] if n_factors else [[plain]]
        best = max(parts, key=self._log_likelihood) if n_factors else parts[0]
        return best, np.mean([self.attempt(shape) for shape in best], axis=0)

    def _log_likelihood(self, shapes: list[Shape]) -> float:
        """Log-likelihood of what was held out, on average over draws of these shapes."""
        if self.rankings is not None:
            logs = [self._predict_ballots(shape)[:, 0] for shape in shapes]
            return float((logsumexp(logs, axis=0) - np.log(len(shapes))).mean())
        return float(np.log(np.mean([self.attempt(shape) for shape in shapes], axis=0)).mean())


def count_choices(ballots: Rankings) -> Floats:
    """Count how often each voter chose an item before others, (M,)."""
    users, levels = ballots.user_of_each(), ballots.levels
    lowest = levels == levels[np.maximum(ballots.offsets[:-1], 0)][users]  # sorted by level
    return np.bincount(users[~lowest], minlength=ballots.n_users).astype(np.float64)
