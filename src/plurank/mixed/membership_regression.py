"""How weights depend on covariates, for a fit to comparisons: choose, fit and draw the coefficients of a regression.

Ours. Weights are integrated out by importance sampling (``drawn_weights``), given the scores. Concentrations of which
few answers say little are found by climbing in steps, each with weights drawn anew; all else by Newton's method. What
users are predicted by are these coefficients; intervals are from draws together with the scores (``joint_chain``).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln

from plurank.data.comparisons import Comparisons
from plurank.data.encoding import look_up
from plurank.data.split import every_nth_user, weigh_observations
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.drawn_weights import ProposedWeights
from plurank.mixed.joint_chain import draw_tables
from plurank.mixed.joint_density import ComparedUsers
from plurank.mixed.priors import ScorePrior
from plurank.mixed.users import Users
from plurank.regression.coefficients import Coefficients
from plurank.regression.density import (
    CONCENTRATION_ERROR,
    CONCENTRATION_SHARE,
    DrawnWeights,
    RegressionDensity,
)
from plurank.regression.sampling import Mode, draw_gaussian, find_mode
from plurank.thurstone.draws import Draw
from plurank.types import Floats

MOST_COMPARISONS = 200_000  # that a regression is fitted to
MOST_CELLS, MOST_NUMBERS = 3_000_000, 2_000_000  # comparisons times draws, and weights that are drawn
MOST_DRAWS, FEWEST_DRAWS = 256, 32  # of each user's weights
REDRAWS = 2  # times that weights are drawn anew, given better coefficients
CLEAR_ERROR = 0.15  # of the logarithm of the concentration, below which Newton's method finds it
LONGEST_STEP, MOST_STEPS = math.log(10.0) / 4.0, 8  # of the logarithm of the concentration
N_COMPOSED = 240  # draws of coefficients by composition
FEW_USERS = 1000  # who tell where to begin
LEAST_ERROR = 0.3  # of the logarithm of a concentration that a fit without covariates had
SMALLEST_WEIGHT = 1e-30  # in single precision
COMPOSITION_SEED = 20_261_118
GIVEN = 1e-4  # standard deviation of the logarithm of a concentration that is given
WIDE = 1.0  # standard deviation of slopes that intervals count on, at least
SCALES = (0.15, 0.5, 1.5)  # of slopes, that are tried
N_FOLDS, CHOICE_USERS, CHOICE_DRAWS = 4, 3000, 48
CLEAR_GAIN = 2.0  # standard errors


@dataclass(frozen=True)
class Regression:
    """Coefficients, the standard deviation of slopes that they were fitted with, and the standard error of the
    logarithm of the concentration, given the scores."""

    coefficients: Coefficients
    scale: float
    concentration_error: float


@dataclass(frozen=True)
class Sample:
    """Users that a regression is fitted to: comparisons that count as what was observed, and covariates (M, P)."""

    comparisons: Comparisons
    design: Floats
    seed: int
    most_draws: int = MOST_DRAWS

    def count_draws(self, n_rankings: int) -> int:
        """Return how many draws of each user's weights there are time for."""
        affordable = min(
            MOST_CELLS // max(len(self.comparisons), 1), MOST_NUMBERS // (self.comparisons.n_users * n_rankings)
        )
        return int(np.clip(affordable, FEWEST_DRAWS, self.most_draws))

    def limit(self, most: int) -> "Sample":
        """Return these users or, of many, every n-th."""
        n = len(self.design)
        if n <= most:
            return self
        rows = np.arange(n) % -(-n // most) == 0
        return replace(self, comparisons=self.comparisons.take_users(rows), design=self.design[rows])

    def weigh(self, component: BradleyTerry, priors: Sequence[Floats]) -> DrawnWeights:
        """Draw weights of users who have one of some priors."""
        rng, n = np.random.default_rng(self.seed), self.count_draws(component.scores.shape[1])
        return ProposedWeights.of(component, self.comparisons, priors, n, rng).weigh(component, self.design)


def sample_people(users: Users, design: Floats, seed: int) -> Sample:
    """Take all users or, of many, every n-th, with comparisons that count as what was observed."""
    comparisons = every_nth_user(users.source, MOST_COMPARISONS)
    rows = look_up(comparisons.users, users.source.users, "user")
    if users.rating_weight is not None:
        comparisons = weigh_observations(comparisons, users.rating_weight)
    return Sample(comparisons, design[rows], seed)


def fit_regression(component: BradleyTerry, sample: Sample, init: Coefficients, scale: float) -> Regression:
    """Fit coefficients given the scores; the concentration is the most probable one."""
    free, error = _fit_free(component, sample, init, scale)
    if error < CLEAR_ERROR:
        for _ in range(REDRAWS):
            free, error = _fit_free(component, sample, free, scale)
        return Regression(free, scale, error)
    return _climb_concentration(component, sample, free, scale, min(2.0 * error, LONGEST_STEP))


def _climb_concentration(
    component: BradleyTerry, sample: Sample, init: Coefficients, scale: float, step: float
) -> Regression:
    """Climb to the most probable concentration in steps of its logarithm, and take the top of a parabola there."""
    found: dict[int, tuple[float, Coefficients]] = {}
    median = CONCENTRATION_SHARE * len(init.counts)

    def log_posterior(n: int) -> float:
        if abs(n) > MOST_STEPS:
            return -math.inf
        if n not in found:
            near = found.get(n - 1) or found.get(n + 1) or (0.0, init)
            alpha = init.concentration * math.exp(n * step)
            found[n] = _fit_given(component, sample, near[1]._replace(concentration=alpha), scale)
        apart = math.log(found[n][1].concentration / median) / CONCENTRATION_ERROR
        return found[n][0] - 0.5 * apart**2

    best = 0
    while (higher := max((best, best - 1, best + 1), key=log_posterior)) != best:
        best = higher
    below, peak, above = (log_posterior(each) for each in (best - 1, best, best + 1))
    curvature = 2.0 * peak - below - above
    chosen = found[best][1]
    if not 0.0 < curvature < math.inf:
        return Regression(chosen, scale, CONCENTRATION_ERROR)
    moved = chosen.concentration * math.exp(step * (above - below) / (2.0 * curvature))
    settled = _fit_given(component, sample, chosen._replace(concentration=moved), scale)[1]
    return Regression(settled, scale, min(step / math.sqrt(curvature), CONCENTRATION_ERROR))


def _fit_free(component: BradleyTerry, sample: Sample, init: Coefficients, scale: float) -> tuple[Coefficients, float]:
    """Fit coefficients and concentration together, and give the error of the latter's logarithm. Where answers are few,
    the concentration is too near to that which weights were drawn with, and its error too small."""
    weights = sample.weigh(component, [init.counts_of(sample.design)])
    density = RegressionDensity(weights.blocks(), scale)
    mode = find_mode(density, init)
    covariance = np.linalg.inv(mode.root @ mode.root.T)
    return density.from_vector(mode.vector), float(np.sqrt(covariance[0, 0]))


def _fit_given(component: BradleyTerry, sample: Sample, init: Coefficients, scale: float) -> tuple[float, Coefficients]:
    """Fit a table given the concentration of init; return the log marginal likelihood of the concentration, too."""
    found, alpha = init, init.concentration
    for _ in range(REDRAWS):
        density, mode = _find_table(component, sample, found, scale)
        found = density.from_vector(mode.vector)._replace(concentration=alpha)
    value = density.evaluate(mode.vector).value - float(np.log(np.diag(mode.root)[1:]).sum())
    return value, found


def draw_coefficients(
    regression: Regression, component: BradleyTerry, sample: Sample, score_prior: ScorePrior | None
) -> Floats:
    """Draw tables (D, 1 + P, K) from their posterior together with scores and concentration. score_prior: of the
    scores, where it is known."""
    users = ComparedUsers(sample.comparisons, sample.design, component.mixing)
    rng = np.random.default_rng([sample.seed, 1])
    return draw_tables(users, component.scores, regression.coefficients, score_prior, rng)


def _find_table(
    component: BradleyTerry, sample: Sample, init: Coefficients, scale: float
) -> tuple[RegressionDensity, Mode]:
    """Find the most probable table given the concentration of init, which weights are drawn by, too."""
    weights = sample.weigh(component, [init.counts_of(sample.design)])
    density = RegressionDensity(weights.blocks(), scale, (init.concentration, GIVEN))
    return density, find_mode(density, init)


def choose_slope_scale(component: BradleyTerry, sample: Sample, plain: Floats) -> float | None:
    """Choose the standard deviation of slopes by users held out; None where covariates predict nothing.

    plain: the counts (K,) that all users have without covariates.
    """
    constant = Coefficients.constant(plain, sample.design.shape[1])
    sample = replace(sample.limit(CHOICE_USERS), most_draws=CHOICE_DRAWS)
    first = _fit_free(component, sample, constant, SCALES[1])[0]
    weights = sample.weigh(component, [plain[None], first.counts_of(sample.design)])
    return choose_slope_scale_by(weights, constant, np.random.default_rng([sample.seed, 2]))


def choose_slope_scale_by(weights: DrawnWeights, constant: Coefficients, rng: np.random.Generator) -> float | None:
    """Choose the scale by the likelihood of users held out, given draws of all users' weights."""
    n = len(weights.design)
    folds = rng.permutation(n) % N_FOLDS
    values = np.zeros((1 + len(SCALES), n))
    for fold in range(N_FOLDS):
        train, test = weights.take(folds != fold), weights.take(folds == fold)
        held_out = RegressionDensity(test.blocks(), 1.0)
        # covariates of which nothing follows: the same fit without them
        alone = RegressionDensity(train._replace(design=train.design[:, :0]).blocks(), 1.0)
        init = constant._replace(table=constant.table[:1])
        best = alone.from_vector(find_mode(alone, init).vector)
        nothing = test._replace(design=test.design[:, :0])
        values[0, folds == fold] = RegressionDensity(nothing.blocks(), 1.0).log_likelihoods(best)
        found = best._replace(table=np.vstack([best.table, constant.slopes]))
        for number, scale in enumerate(SCALES):
            density = RegressionDensity(train.blocks(), scale)
            found = density.from_vector(find_mode(density, found).vector)
            values[1 + number, folds == fold] = held_out.log_likelihoods(found)
    gains = values[1:] - values[0]
    best_scale = int(np.argmax(gains.sum(axis=1)))
    gain = gains[best_scale]
    clear = gain.sum() > CLEAR_GAIN * math.sqrt(n) * gain.std()
    return SCALES[best_scale] if clear else None


def weights_of(draws: Sequence[Draw], design: Floats) -> DrawnWeights:
    """Take the weights of users with covariates (M, P) as chains drew them, with their prior divided out."""
    weights = np.stack([draw.weights for draw in draws], axis=1).astype(np.float64)
    logs = np.log(np.maximum(weights, SMALLEST_WEIGHT))
    counts = np.array([draw.counts for draw in draws])
    constants = gammaln(counts.sum(axis=1)) - gammaln(counts).sum(axis=1)
    return DrawnWeights(design, logs, -(logs * counts).sum(axis=2) - constants)


def compose(weights: DrawnWeights, init: Coefficients, error: float) -> Floats:
    """Draw tables (D, 1 + P, K), given draws of every user's weights by a model without covariates.

    The draws count by how probable the regression makes them, so that weights drawn towards the mean of all users do
    not hide what covariates tell. error: of the logarithm of the concentration that the model was fitted with.
    """
    density = RegressionDensity(weights.blocks(), WIDE, (init.concentration, max(error, LEAST_ERROR)))
    mode = find_mode(density, init)
    drawn = draw_gaussian(mode, N_COMPOSED, np.random.default_rng(COMPOSITION_SEED))
    return np.array([density.from_vector(vector).table for vector in drawn])
