"""How a MixedRanking is fitted to ratings, votes and rankings: choose the numbers of rankings and factors on held-out
observations, sample the posterior, and summarise it.

Ours. Rankings, weights and their intervals are those of chains without factors, of all that found the same rankings as
the best one. Predictions average over draws of these chains, of chains with factors, or of both, whichever predicts
held-out observations best.
"""

from collections.abc import Sequence
from dataclasses import InitVar, dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from plurank.choices import Auto
from plurank.engine.local import Engine
from plurank.metrics.predictions import Quality
from plurank.mixed.candidates import AUTO_NUMBERS, Choice, search
from plurank.mixed.membership_regression import compose, weights_of
from plurank.mixed.rated_candidates import RatedCandidates
from plurank.mixed.rated_fields import DRAWN, ITEM_PRIOR
from plurank.models.base import FitResult
from plurank.random import RandomState, as_generator, draw_seed
from plurank.regression.coefficients import Coefficients
from plurank.regression.ridge import FeatureMatrix
from plurank.text import count
from plurank.thurstone.blocks import RatedSource, Scale
from plurank.thurstone.chains import ChainResult, Length, Moments, run_chains
from plurank.thurstone.diagnostics import Convergence
from plurank.thurstone.draws import Draw
from plurank.thurstone.exposure import Exposure
from plurank.thurstone.sampler import Observations, Shape, find_exposure
from plurank.types import Floats, Integers, Progress, silent

LOG_ODDS = 1.702 / np.sqrt(2.0)  # of a difference of 1 between expected utilities: ndtr(x) is about expit(1.702 x)
N_DRAWS = 40  # that predictions average over
# Of comparisons, whose predictions rest on utilities as they were drawn, so many more if they take no more bytes.
MOST_DRAWS, SMALL_BYTES = 160, 10**8
LEAST_CHAINS = 2
# Sweeps for each iteration allowed: where observations are few, sweeps cost little, and intervals need more of them.
MOST_SWEEPS, SOME_SWEEPS, FEW_OBSERVATIONS, MANY_OBSERVATIONS = 8.0, 3.0, 100_000, 200_000
COST_OF_USER = 3  # in a sweep, in observations
SLOWNESS_OF_ORDERS = 2  # orders say less than ratings how far rankings lie apart, and chains move more slowly
FEW_FACTORS, MANY_FACTORS, ENOUGH = 5, 10, 300_000  # factors, and observations for many of them
OBSERVED = {"rank": "rankings", "vote": "votes", "rating": "ratings", "comparison": "comparisons"}
MOST_BYTES = 2 * 10**9  # of draws of users; where users are many, fewer draws are kept
FEWEST_DRAWS = 10
WITH_FACTORS = 1000  # the first number of chains with factors


@dataclass(frozen=True)
class RatedSettings:
    """The parameters of a fit to ratings, as those of ``MixedRanking``."""

    n_rankings: int | Auto
    n_factors: int | Auto
    n_chains: int
    max_iter: int
    random_state: RandomState


@dataclass(kw_only=True)
class RatedFit(FitResult):
    """What a fit to ratings found, see the attributes of ``MixedRanking``; ``arrays`` are the draws and what they need.

    What only fits to comparisons find is empty.
    """

    observed: str
    scores: Floats
    score_errors: Floats
    score_correlations: Floats
    user_concentration: Floats
    concentration_error: float
    score_scale: float
    log_posterior: Floats
    convergence: dict[str, Any]
    explained: dict[str, Any] | None
    selection: dict[str, Any] | None
    quality: dict[str, Any] | None
    member_scores: Floats
    member_weights: Floats
    from_ratings: bool
    rating_weight: float = 1.0
    influence: None = None
    user_effect_scale: None = None
    arrays: InitVar[dict[str, Any]]

    def __post_init__(self, arrays: dict[str, Any]) -> None:
        for name, value in arrays.items():
            setattr(self, name.removesuffix("_"), value)


def as_arrays(draws: list[Draw], scale: Scale, exposure: Exposure) -> dict[str, Any]:
    """Return the fitted attributes that hold the draws."""
    return {
        **{name: np.array([getattr(draw, part) for draw in draws]) for name, (part, _) in DRAWN.items()},
        "draw_chains_": np.array([draw.chain for draw in draws], np.int64),
        "draw_shares_": np.array([draw.share for draw in draws]),
        "draw_shown_": np.array([draw.shown for draw in draws]),
        "exposures_": exposure.directions,
        "level_groups_": scale.groups.astype(np.int64),
        "levels_": scale.values,
        "level_counts_": scale.counts,
        **as_compared(draws),
    }


def as_compared(draws: Sequence[Draw]) -> dict[str, Any]:
    """Return the fitted attributes that draws of comparisons have beside those of others."""
    if draws[0].own is None:
        return {}
    return {
        "draw_errors_": np.array([draw.error for draw in draws]),
        "draw_own_": np.array([draw.own for draw in draws]),
        "compared_keys_": draws[0].keys,
    }


def _count_sweeps(source: RatedSource, shape: Shape, max_iter: int) -> int:
    """Return the number of sweeps of a chain; those with factors predict only, and intervals need no more of them."""
    if len(source) >= MANY_OBSERVATIONS:
        return max_iter
    cost = len(source) + COST_OF_USER * source.n_users
    predicts_only = shape.n_factors > 0 and source.kind != "comparison"  # whose errors are found slowly
    most = SOME_SWEEPS if predicts_only else MOST_SWEEPS
    slow = SLOWNESS_OF_ORDERS if source.kind == "rank" and not shape.n_factors else 1
    return slow * int(max_iter * np.clip(FEW_OBSERVATIONS / cost, SOME_SWEEPS, most))


def fit_rated(
    source: RatedSource,
    settings: RatedSettings,
    engine: Engine,
    on_progress: Progress = silent,
    people: Floats | None = None,
    features: FeatureMatrix | None = None,
) -> RatedFit:
    """Choose what is "auto", sample, and summarise; people: covariates (M, P) of the users; features: of the items."""
    rng = as_generator(settings.random_state)
    seed = draw_seed(rng)
    choice, shapes, quality, helps = _choose(source, replace(settings, random_state=seed), on_progress, people)
    own_people = people if helps else None
    observations = Observations.of(source, engine)
    exposure = find_exposure(observations, np.random.default_rng([seed, 1]))
    plain = Shape(shapes[0].n_rankings, 0)
    wanted = [plain, *(shape for shape in shapes if shape != plain)]  # rankings are those of chains without factors
    n_draws = _count_draws(source, wanted[-1], observations.scale)
    n_each = -(-n_draws // (len(shapes) * settings.n_chains))
    found: dict[Shape, tuple[list[ChainResult], Convergence]] = {}
    for number, shape in enumerate(wanted):
        progress = _part_of(on_progress, number, len(wanted))
        length, inits = Length.of(_count_sweeps(source, shape, settings.max_iter), n_each), None
        if shape != plain:
            length, inits = length.shorten(), [result.chain for result in found[plain][0]]
        found[shape] = run_chains(
            observations, shape, [seed, 2 + number], exposure, length, settings.n_chains, progress, own_people, inits,
            features,
        )  # fmt: skip
    n_factors = wanted[-1].n_factors
    exposure = exposure if n_factors else Exposure.none(source.n_items)
    best = found[plain][0][0]
    shown = [result for result in found[plain][0] if best.moments.agrees(result.moments)]
    draws = [
        replace(
            draw.pad(n_factors, exposure.n), chain=WITH_FACTORS * number + draw.chain, share=float(shape in shapes),
            shown=any(result is each for each in shown),
        )
        for number, shape in enumerate(wanted)
        for result in found[shape][0]
        for draw in result.draws
    ]  # fmt: skip
    by_rankings = [draw for draw in draws if draw.shown]
    predicting = [draw for draw in draws if draw.share]
    moments = reduce(Moments.merge, (result.moments for result in shown))
    return _summarise(
        source, moments, len(shown), best.log_likelihoods, found[shapes[-1]][1], selection=choice, quality=quality,
        arrays={
            **as_arrays(draws, observations.scale, exposure), **_regression_of(shown, draws, people, helps),
            **_item_regression_of(shown, draws),
        },
        explained=explain_variance(by_rankings, predicting) if n_factors else None,
    )  # fmt: skip


def _regression_of(shown: list[ChainResult], draws: list[Draw], people: Floats | None, helps: bool) -> dict[str, Any]:
    """Return the fitted attributes that say how weights depend on covariates, which chains know if that helps."""
    if people is None or draws[0].scores.shape[1] == 1:
        return {}
    if not helps:
        by_rankings = [draw for draw in draws if draw.shown]
        counts = np.mean([draw.counts for draw in by_rankings], axis=0)
        init = Coefficients.constant(counts, people.shape[1])
        error = float(np.std([np.log(draw.counts.sum()) for draw in by_rankings]))
        composed = compose(weights_of(by_rankings, people), init, error)
        return {
            "coefficients_": composed.mean(axis=0), "coefficient_draws_": composed,
            "people_concentration_": float(counts.sum()), "slope_scale_": 0.0,
        }  # fmt: skip
    tables = np.concatenate([result.tables for result in shown])
    return {
        "draw_slopes_": np.array([draw.slopes for draw in draws]),
        "coefficients_": tables.mean(axis=0),
        "coefficient_draws_": tables,
        "people_concentration_": float(np.mean([draw.counts.sum() for draw in draws if draw.shown])),
        "slope_scale_": float(np.sqrt((tables[:, 1:] ** 2).mean())),
    }


def _item_regression_of(shown: list[ChainResult], draws: list[Draw]) -> dict[str, Any]:
    """Return the fitted attributes that say how scores and factors depend on features of the items, if they do."""
    tables = LOG_ODDS * np.concatenate([result.item_tables for result in shown])
    if not len(tables):
        return {}
    priors = [draw.item_prior for draw in draws if draw.item_prior is not None]
    own = [(prior.score_root**2).sum(axis=1) for prior, draw in zip(priors, draws, strict=True) if draw.shown]
    apart = tables - tables.mean(axis=0)
    return {
        "item_coefficients_": tables.mean(axis=0),
        "item_covariances_": np.einsum("nfk,ngk->kfg", apart, apart) / max(len(tables) - 1, 1),
        "item_rest_": LOG_ODDS * np.sqrt(np.mean(own, axis=0)),
        **{name: np.array([getattr(prior, part) for prior in priors]) for name, part in ITEM_PRIOR.items()},
    }


def _part_of(on_progress: Progress, number: int, n: int) -> Progress:
    return lambda stage, done: on_progress(stage, (number + done) / n)


def _count_draws(source: RatedSource, shape: Shape, scale: Scale) -> int:
    """Return how many draws to keep in all."""
    each = 4 * max(source.n_users, 1) * (shape.size - 1 + scale.n_cuts)
    if source.kind == "comparison":
        each += 4 * len(source)
        if SMALL_BYTES // each > N_DRAWS:
            return int(min(SMALL_BYTES // each, MOST_DRAWS))
    return int(np.clip(MOST_BYTES // each, FEWEST_DRAWS, N_DRAWS))


def _choose(
    source: RatedSource, settings: RatedSettings, on_progress: Progress, people: Floats | None
) -> tuple[dict[str, Any] | None, list[Shape], dict[str, Any] | None, bool]:
    """Choose the numbers of rankings and factors; return the choice, the shapes to average over, the quality, and
    whether covariates of users help to predict them."""
    numbers = AUTO_NUMBERS if settings.n_rankings == "auto" else (settings.n_rankings,)
    candidates = RatedCandidates(source, settings, numbers[-1])
    n_factors = settings.n_factors
    if n_factors == "auto":
        n_factors = MANY_FACTORS if len(source) >= ENOUGH else FEW_FACTORS
    if not candidates.enough:
        n_said = len(getattr(source, "comparisons", source))  # not of the items that were compared
        few = f"{count(source.n_users, 'user')} with {count(n_said, 'observation')} are too few to hold some out"
        answer = f"{few}, so that nothing was chosen: {count(numbers[0], 'ranking')}, no factors."
        choice = Choice(numbers[0], "utility", answer, [], None)
        given = settings.n_factors if settings.n_factors != "auto" else 0
        return (choice.to_dict() if len(numbers) > 1 else None), [Shape(numbers[0], given)], None, False
    selection = None
    n_rankings = numbers[0]
    if len(numbers) > 1:
        found = search(candidates, numbers, ("utility",), on_progress)
        n_rankings, selection = found.n_rankings, found.to_dict()
    on_progress("trying factors", 0.9)
    if settings.n_factors == "auto":
        shapes, own = candidates.choose_parts(n_rankings, n_factors)
    else:
        shapes = [Shape(n_rankings, n_factors)]
        own = candidates.attempt(shapes[0])
    one = candidates.attempt(Shape(1, 0))
    assert candidates.held_out is not None
    quality = Quality.of(len(candidates.held_out.train), own, one)
    return selection, shapes, quality.to_dict(), candidates.find_help(n_rankings, people, source)


def _summarise(
    source: RatedSource, moments: Moments, n_chains: int, log_likelihoods: Floats, convergence: Convergence, **rest: Any
) -> RatedFit:
    """Summarise the rankings that are shown: posterior means, standard deviations and correlations."""
    n = moments.n
    scores, products = moments.scores / n, moments.products / n
    covariances = products - scores[:, :, None] * scores[:, None, :]
    weights = moments.weights / n
    counts = moments.counts / n
    total = float(counts.sum())
    return RatedFit(
        rankings=np.argsort(-scores, axis=0, kind="stable").T.astype(np.int64),
        user_weights=weights / weights.sum(axis=1, keepdims=True),
        mean_weights=counts / total,
        concentration=total,
        concentration_error=min(float(np.std(moments.logs)), 1.0),
        n_iter=convergence.n_sweeps,
        converged=convergence.converged,
        observed=OBSERVED[source.kind],
        from_ratings=source.kind != "comparison",
        scores=LOG_ODDS * scores,
        score_errors=LOG_ODDS * np.sqrt(moments.variances(n_chains)),
        score_correlations=_mean_correlations(covariances),
        user_concentration=concentrations(weights, moments.squares / n),
        score_scale=max(float(LOG_ODDS * scores.std()), 1e-6),
        log_posterior=log_likelihoods,
        convergence=convergence.to_dict(),
        member_scores=np.zeros((0, *scores.shape)),
        member_weights=np.zeros((0, *weights.shape)),
        **rest,
    )


def _mean_correlations(covariances: Floats) -> Floats:
    """Mean over items (Q, K, K) of the correlations between rankings, (K, K)."""
    scales = np.sqrt(np.maximum(np.diagonal(covariances, axis1=1, axis2=2), 1e-300))
    mean = (covariances / scales[:, :, None] / scales[:, None, :]).mean(axis=0)
    mean[np.diag_indices(len(mean))] = 1.0
    return np.asarray((mean + mean.T) / 2.0)


def concentrations(mean: Floats, squares: Floats) -> Floats:
    """The n (M,) for which Dirichlet(n mean) has the total variance of each user's weights: mean (M, K) of weights, and
    of the sum of their squares (M,)."""
    within = (mean**2).sum(axis=1)
    variance = np.maximum(squares - within, 1e-12)
    return np.asarray(np.clip((1.0 - within) / variance - 1.0, 0.0, 1e6))


MOST_EXPLAINED = 2000  # users, and items, whose utilities are looked at


def explain_variance(plain: Sequence[Draw], full: Sequence[Draw]) -> dict[str, Any]:
    """Return how much of the variance of users' expected utilities between items the rankings alone explain, for all
    users together and as quantiles over users."""
    users = _pick(len(full[0].weights))
    rest, whole = _unexplained(plain, full, users)
    quantiles = np.quantile(1.0 - rest / np.maximum(whole, 1e-300), (0.1, 0.5, 0.9))
    return {
        "share": float(1.0 - rest.sum() / max(whole.sum(), 1e-300)),
        "n_users": len(users),
        "user_quantiles": [float(value) for value in quantiles],
    }


def explain_users(plain: Sequence[Draw], full: Sequence[Draw]) -> tuple[Floats, Floats]:
    """Return the variance of every user's expected utilities between items, (M,), and the share of it that the rankings
    alone explain, (M,)."""
    n_users = len(full[0].weights)
    if not full[0].item_factors.shape[1]:
        plain = full
    blocks = [np.arange(begin, min(begin + MOST_EXPLAINED, n_users)) for begin in range(0, n_users, MOST_EXPLAINED)]
    rest, whole = np.concatenate([_unexplained(plain, full, users) for users in blocks], axis=1)
    return whole / len(_pick(len(full[0].scores))), 1.0 - rest / np.maximum(whole, 1e-300)


def _pick(n: int) -> Integers:
    """Return numbers below n, all or evenly spread."""
    return np.linspace(0, n - 1, min(n, MOST_EXPLAINED)).astype(np.int64)


def _unexplained(plain: Sequence[Draw], full: Sequence[Draw], users: Integers) -> tuple[Floats, Floats]:
    """Sums of squares of users' expected utilities around their means: beyond the rankings, and of all, (m,) each."""
    items = _pick(len(full[0].scores))

    def expect(draws: Sequence[Draw]) -> Floats:
        total = sum(
            draw.weights[users] @ draw.scores[items].T + draw.user_factors[users] @ draw.item_factors[items].T
            for draw in draws
        )
        mean = np.asarray(total) / len(draws)
        return np.asarray(mean - mean.mean(axis=1, keepdims=True))

    wanted, got = expect(full), expect(plain)
    return ((wanted - got) ** 2).sum(axis=1), (wanted**2).sum(axis=1)
