"""How a MixedRanking is fitted: choose the priors, find where to start, refine; and how later comparisons update it.

Ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from plurank import metrics
from plurank.choices import ComponentName, Mixing
from plurank.data.comparisons import Comparisons
from plurank.data.split import look_rated, weigh_observations
from plurank.inference.posterior import dirichlet_counts
from plurank.inference.user_effects import UserEffects
from plurank.mixed.beyond_rankings import (
    arrays_of,
    choose_effect_scale,
    find_all_effects,
    find_influence,
    update_effects,
)
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.checkpoint import Checkpoint
from plurank.mixed.components import ORDERS
from plurank.mixed.expected_scores import Expected, expect_scores
from plurank.mixed.init import Init, init_rankings
from plurank.mixed.members import MEMBERSHIP_ROUNDS, Member, members_of
from plurank.mixed.prior_search import PriorChoice, choose_priors
from plurank.mixed.priors import Priors, ScorePrior, mean_of
from plurank.mixed.refine import Refinement, hessian_off_peak, refine_orders, refine_scores
from plurank.mixed.users import Users
from plurank.models.base import FitResult
from plurank.models.prediction import Memberships
from plurank.random import RandomState, as_generator, draw_seed, spawn
from plurank.regression.coefficients import Coefficients
from plurank.store.store import Store
from plurank.topic.orders import OrderedComponent, PairCounts
from plurank.types import Codes, Floats, Integers, Progress, silent


@dataclass(frozen=True)
class Settings:
    """The parameters of a ``MixedRanking``, under the same names."""

    n_rankings: int
    component: ComponentName
    mixing: Mixing
    init: Init
    concentration: float | None
    score_scale: float | None
    from_ratings: bool | None
    ensemble: int
    max_iter: int
    tol: float
    random_state: RandomState

    def is_rated(self, source: Comparisons | Store) -> bool:
        """Check whether comparisons count as made from ratings."""
        return look_rated(source) if self.from_ratings is None else self.from_ratings

    def generators(self) -> "Generators":
        """Return one generator per purpose, all from the one seed."""
        priors, init, user_effects, *members, people = spawn(as_generator(self.random_state), 3 + self.ensemble)
        return Generators(priors, init, user_effects, members, people)


class Generators(NamedTuple):
    """Random generators of a fit: for the choice of priors, the initial scores, the user effects, one for each member
    of the ensemble but the first, and for the regression on covariates."""

    priors: np.random.Generator
    init: np.random.Generator
    user_effects: np.random.Generator
    members: list[np.random.Generator]
    people: np.random.Generator


@dataclass(kw_only=True)
class MixedFit(FitResult):
    """What a fit found, see the attributes of ``MixedRanking``."""

    component: BradleyTerry | OrderedComponent
    scores: Floats
    user_concentration: Floats
    concentration_error: float
    score_scale: float
    rating_weight: float
    from_ratings: bool
    log_posterior: Floats
    member_scores: Floats
    member_weights: Floats
    score_errors: Floats | None = None
    score_correlations: Floats | None = None
    quality: dict[str, Any] | None = None
    influence: dict[str, Any] | None = None
    user_effect_scale: float | None = None
    known_effect_scale: float | None = None
    user_effect_keys: Integers | None = None
    user_effects: Floats | None = None
    user_effect_errors: Floats | None = None
    selection: dict[str, Any] | None = None
    coefficients: Floats | None = None
    coefficient_draws: Floats | None = None
    people_concentration: float | None = None
    slope_scale: float | None = None
    item_coefficients: Floats | None = None
    item_covariances: Floats | None = None
    item_rest: Floats | None = None

    def members(self) -> list["Member"]:
        """Return the fits that predictions average over."""
        own = Memberships(self.user_weights, self.user_concentration, self.mean_weights, self.concentration)
        return members_of(self.component, own, self.member_scores, self.member_weights)


def fit_users(
    settings: Settings,
    users: Users,
    checkpoint: Checkpoint | None,
    on_progress: Progress,
    design: Floats | None = None,
    features: Floats | None = None,
) -> MixedFit:
    """Fit rankings to users, resuming from a checkpoint where there is one, and examine what they say of the users.

    design: covariates (M, P) that their weights may depend on. features: those (Q, P) of the items.
    """
    generators = settings.generators()
    if checkpoint is not None and checkpoint.saved is not None:
        saved = checkpoint.saved
        rated, priors, quality = saved.rated, saved.priors, saved.quality
    else:
        rated = settings.is_rated(users.source)
        priors, predictions = _choose_priors(settings, users, rated, generators.priors, on_progress)
        # of scores; orders predict otherwise
        quality = predictions.to_dict() if predictions and settings.component == "bradley-terry" else None
    if checkpoint is not None:
        checkpoint.rated, checkpoint.quality = rated, quality
    found = _fit_rankings(
        settings, users, rated, priors, generators, on_progress, checkpoint, design, features, with_errors=True
    )
    found.quality = quality
    _look_beyond_rankings(settings, found, priors, users.source, generators.user_effects)
    return found


def _look_beyond_rankings(
    settings: Settings, found: MixedFit, priors: Priors, source: Comparisons | Store, rng: np.random.Generator
) -> None:
    """Find what users say beyond their rankings, and whether the rankings rest on a few users."""

    def refit(comparisons: Comparisons, seed: int) -> list[Member]:
        own, fresh = replace(settings, random_state=seed), priors.with_rankings(settings.n_rankings)
        return _fit_rankings(own, Users(comparisons), found.from_ratings, fresh, own.generators(), silent).members()

    members = found.members()
    found.user_effect_scale = found.known_effect_scale = choose_effect_scale(refit, source, settings.n_rankings, rng)
    if found.from_ratings and found.user_effect_scale is not None:
        found.known_effect_scale = choose_effect_scale(refit, source, settings.n_rankings, rng, by_item=True)
    vars(found).update(arrays_of(find_all_effects(members, found.known_effect_scale, source)))
    found.influence = find_influence(members, source, found.rating_weight if found.from_ratings else None, settings.tol)


def choose_priors_of(settings: Settings, users: Users) -> Priors:
    """Return the priors that a fit would choose."""
    return _choose_priors(settings, users, settings.is_rated(users.source), settings.generators().priors, silent).priors


def fit_to_predict(settings: Settings, users: Users, priors: Priors) -> MixedFit:
    """Fit rankings with given priors, and find nothing but what predictions need."""
    return _fit_rankings(settings, users, settings.is_rated(users.source), priors, settings.generators(), silent)


def _choose_priors(
    settings: Settings, users: Users, rated: bool, rng: np.random.Generator, on_progress: Progress
) -> PriorChoice:
    given = {name: getattr(settings, name) for name in ("concentration", "score_scale")}
    free = tuple(name for name, value in given.items() if value is None)
    known = {name: float(value) for name, value in given.items() if value is not None}
    priors = Priors.first(settings.n_rankings, settings.mixing, **known)
    return choose_priors(users, priors, settings.mixing, free, rated=rated, rng=rng, on_progress=on_progress)


def _fit_rankings(
    settings: Settings,
    users: Users,
    rated: bool,
    priors: Priors,
    generators: Generators,
    on_progress: Progress,
    checkpoint: Checkpoint | None = None,
    design: Floats | None = None,
    features: Floats | None = None,
    *,
    with_errors: bool = False,
) -> MixedFit:
    """Fit rankings and weights, and the ensemble's other members, with given priors."""
    users = users.count_as_observed(priors.rating_weight) if rated else users
    refined, own, priors = _fit_scores(settings, users, priors, generators.init, on_progress, checkpoint)
    refined, expected = _expect_scores(settings, own, refined, priors, features)
    if design is not None and settings.n_rankings > 1:
        found = _finish_regressed(settings, own, refined, priors, design, expected, generators.people)
    elif settings.component == "bradley-terry":
        error_prior = expected.shift(_error_prior(settings, priors)) if with_errors else None
        found = _finish_scores(own, refined, priors, error_prior)
    else:
        found = _finish_orders(settings, own, refined.component, priors, on_progress)
    others = [
        _fit_member(settings, users, priors, found["rankings"], features, rng, on_progress)
        for rng in generators.members
    ]
    if expected.regression is not None:
        found["item_coefficients"], found["item_covariances"] = (
            expected.regression.table,
            expected.regression.covariances,
        )
        found["item_rest"] = expected.regression.rest
    return MixedFit(
        **found,
        **_stack_members(others, found["scores"].shape, users.source.n_users),
        concentration=priors.concentration,
        concentration_error=priors.concentration_error,
        score_scale=priors.score_scale,
        rating_weight=priors.rating_weight,
        from_ratings=rated,
    )


def _fit_scores(
    settings: Settings,
    users: Users,
    priors: Priors,
    rng: np.random.Generator,
    on_progress: Progress,
    checkpoint: Checkpoint | None = None,
    init: Init | None = None,
) -> tuple[Refinement[BradleyTerry], Users, Priors]:
    """Initialise and refine the scores.

    The mean of the users' Dirichlet prior is empirical Bayes: the mean of the initial weights, fixed in the refinement.
    """
    if checkpoint is not None and checkpoint.saved is not None:
        users, state = checkpoint.resume(users)
        component, memory = BradleyTerry(state.scores, settings.mixing), None
    else:
        begun = init_rankings(
            users, settings.n_rankings, settings.mixing, init or settings.init, priors, rng=rng, on_progress=on_progress
        )
        priors = replace(priors, mean=begun.mean_weights)
        # the initialisation knows some users only
        users, state, component = users.begin(priors.mean), None, begun.component
        memory = begun.memory.copy(users.total_weight)
    refined = refine_scores(
        users, component, priors.counts, priors.scores,
        max_iter=settings.max_iter, tol=settings.tol, on_progress=on_progress, resumed=state, memory=memory,
        on_pass=None if checkpoint is None else partial(checkpoint.keep, users, priors),
    )  # fmt: skip
    return refined, users, priors


def _expect_scores(
    settings: Settings, users: Users, refined: Refinement[BradleyTerry], priors: Priors, features: Floats | None
) -> tuple[Refinement[BradleyTerry], Expected]:
    """Let scores follow features (Q, P) of the items, where there are any and they say something."""
    if features is None or settings.component != "bradley-terry":
        return refined, Expected()

    def refine(component: BradleyTerry, expected: Expected) -> Refinement[BradleyTerry]:
        prior = expected.shift(priors.scores)
        return refine_scores(users, component, priors.counts, prior, max_iter=settings.max_iter, tol=settings.tol)

    return expect_scores(users, refined, priors.counts, _error_prior(settings, priors), features, refine)


def _error_prior(settings: Settings, priors: Priors) -> ScorePrior:
    """Return the prior that errors of scores count on."""
    return priors.wide_scores if settings.score_scale is None else priors.scores


def _finish_scores(
    users: Users,
    refined: Refinement[BradleyTerry],
    priors: Priors,
    error_prior: ScorePrior | None,
    counts: Floats | None = None,
) -> dict[str, Any]:
    """Return the scores, with their errors where these have a prior, and the users' posterior.

    counts: the Dirichlet counts (M, K) of users with covariates; all others have the same. Empirical Bayes once more:
    the mean of the users' Dirichlet prior becomes the mean of their current weights.
    """
    component, mean = refined.component, users.mean_weights()
    counts = dirichlet_counts(mean, priors.concentration)[None] if counts is None else counts
    more = None if error_prior is None else hessian_off_peak(users, component, counts, error_prior)
    known = users.finish(component, counts, MEMBERSHIP_ROUNDS)
    found = {**_outcome(refined, mean, known.means), "scores": component.scores}
    if error_prior is not None and more is not None:
        found["score_errors"], found["score_correlations"] = error_prior.errors(known.information + more)
    return {**found, "user_concentration": known.user_concentration}


def _finish_regressed(
    settings: Settings,
    users: Users,
    refined: Refinement[BradleyTerry],
    priors: Priors,
    design: Floats,
    expected: Expected,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Let weights depend on covariates where these predict them, and refine the scores with what users then have as
    their prior; return what was found, with draws of the coefficients."""
    from plurank.mixed.membership_regression import (
        FEW_USERS,
        WIDE,
        choose_slope_scale,
        draw_coefficients,
        fit_regression,
        sample_people,
    )

    error_prior = expected.shift(_error_prior(settings, priors))
    plain = dirichlet_counts(users.mean_weights(), priors.concentration)
    sample = sample_people(users, design, draw_seed(rng))
    scale = choose_slope_scale(refined.component, sample, plain)
    init = Coefficients.constant(plain, design.shape[1])
    regression = fit_regression(refined.component, sample.limit(FEW_USERS), init, scale or WIDE)
    if scale is None:
        found = _finish_scores(users, refined, priors, error_prior)
    else:
        counts = regression.coefficients.counts_of(design)
        again = refine_scores(
            users, refined.component, counts, expected.shift(priors.scores), max_iter=settings.max_iter,
            tol=settings.tol,
        )  # fmt: skip
        regression = fit_regression(again.component, sample, regression.coefficients, scale)
        found = _finish_scores(users, again, priors, error_prior, regression.coefficients.counts_of(design))
    score_prior = None if settings.score_scale is None else priors.scores
    draws = draw_coefficients(regression, found["component"], sample, score_prior)
    return {
        **found,
        "coefficients": regression.coefficients.table,
        "people_concentration": regression.coefficients.concentration,
        "coefficient_draws": draws,
        "slope_scale": scale or 0.0,
    }


def _finish_orders(
    settings: Settings, users: Users, scores: BradleyTerry, priors: Priors, on_progress: Progress
) -> dict[str, Any]:
    """Turn scores into orders, refine these, and return them with the users' posterior."""
    assert isinstance(users.source, Comparisons)
    limits = {"max_iter": settings.max_iter, "tol": settings.tol, "on_progress": on_progress}
    orders = ORDERS[settings.component].component.begin(scores.rankings)
    refined, weights = refine_orders(users.source, users.weights, orders, priors.counts, **limits)  # type: ignore[arg-type]
    component, mean = refined.component, Users(users.source, weights).mean_weights()
    prior = dirichlet_counts(mean, priors.concentration)[None]
    seen = component.update_memberships(users.source, weights, prior, MEMBERSHIP_ROUNDS)
    pairs = PairCounts.of(users.source)
    return {
        **_outcome(refined, mean, seen.means),
        "user_concentration": seen.user_concentration,
        "scores": -metrics.places_of(component.rankings).astype(np.float64),
        "score_errors": component.place_errors(pairs, seen.weights, seen.user_concentration),
        "score_correlations": np.eye(len(component.rankings)),
    }


def _outcome(refined: Refinement[Any], mean: Floats, weights: Floats) -> dict[str, Any]:
    """Return what scores and orders have in common."""
    return {
        "component": refined.component,
        "rankings": refined.component.rankings,
        "mean_weights": mean,
        "user_weights": weights / weights.sum(axis=1, keepdims=True),
        "log_posterior": np.array(refined.history),
        "n_iter": len(refined.history),
        "converged": bool(refined.converged),
    }


def _fit_member(
    settings: Settings,
    users: Users,
    priors: Priors,
    rankings: Any,
    features: Floats | None,
    rng: np.random.Generator,
    on_progress: Progress,
) -> tuple[Floats, Floats]:
    """Fit again from random scores; return scores and weights with rankings in the order of the first fit's."""
    fresh = priors.with_rankings(settings.n_rankings)
    refined, own, priors = _fit_scores(settings, users, fresh, rng, on_progress, init="random")
    refined, _ = _expect_scores(settings, own, refined, priors, features)
    order = metrics.align(refined.component.rankings, rankings)
    known = own.finish(refined.component, priors.counts, MEMBERSHIP_ROUNDS)
    return refined.component.scores[:, order], known.means[:, order]


def _stack_members(members: Sequence[tuple[Floats, Floats]], shape: tuple[int, int], n_users: int) -> dict[str, Any]:
    """Put scores (Q, K) and weights (M, K) of the other members into one array each."""
    return {
        "member_scores": np.array([scores for scores, _ in members]).reshape(len(members), *shape),
        "member_weights": np.array([weights for _, weights in members]).reshape(len(members), n_users, shape[1]),
    }


def observe(comparisons: Comparisons, from_ratings: bool | None, rated: bool, rating_weight: float) -> Comparisons:
    """Let comparisons made from ratings count as what was observed; if unknown, they are as in the fit.

    from_ratings is the parameter, rated what the fit took its comparisons for.
    """
    if comparisons.rated is False:  # users were asked these pairs, whatever the model was fitted to
        return comparisons
    known = from_ratings is None and comparisons.rated is not None
    is_rated = comparisons.rated if known else rated
    return weigh_observations(comparisons, rating_weight) if is_rated else comparisons


@dataclass(frozen=True)
class Known:
    """What an update goes on from: priors, the fits that are averaged, and the errors of the scores (Q, K).

    codes (m,) are those of the users at hand among all, known and new; n_items and n_users count all. new_counts are
    those of the Dirichlet priors of new users, if these have covariates.
    """

    priors: Priors
    members: Sequence[Member]
    errors: Floats
    codes: Codes
    n_items: int
    n_users: int
    new_counts: Floats | None = None
    effect_scale: float | None = None
    effects: UserEffects | None = None


def update_fit(
    settings: Settings, known: Known, more: Comparisons, comparisons: Comparisons, on_progress: Progress
) -> dict[str, Any]:
    """Refine scores and the weights of the users at hand, with the earlier posterior as the prior.

    Earlier comparisons count as a Gaussian around the scores, with their standard errors, and as a Dirichlet around
    each known user's weights, with its concentration. comparisons: more, counted as what was observed.
    """
    first, codes = known.members[0].users, known.codes
    n_new_items, n_new_users = known.n_items - len(known.errors), known.n_users - len(first.weights)
    counts = np.maximum(first.user_concentration, first.concentration)[:, None] * first.weights
    fresh = known.new_counts
    if fresh is None:
        fresh = np.tile(dirichlet_counts(first.mean_weights, first.concentration), (n_new_users, 1))
    counts = np.vstack([counts, fresh])[codes]
    vague, wide = known.priors.scores, _error_prior(settings, known.priors)
    precision = np.pad(wide.precision_beyond(known.errors), ((0, n_new_items), (0, 0)))

    def refine(member: Member) -> tuple[Refinement[BradleyTerry], Floats, Floats, Floats]:
        assert isinstance(member.component, BradleyTerry)
        weights, mean = member.users.weights, member.users.mean_weights
        mean = mean_of(weights) if len(weights) else mean  # a blank model has no users yet
        scores = np.pad(member.component.scores, ((0, n_new_items), (0, 0)))
        weights = np.vstack([weights, np.tile(mean, (n_new_users, 1))])
        users = Users(comparisons, weights[codes])
        refined = refine_scores(
            users, BradleyTerry(scores, settings.mixing), counts, replace(vague, known=(scores, precision)),
            max_iter=settings.max_iter, tol=settings.tol, on_progress=on_progress,
        )  # fmt: skip
        seen = users.finish(refined.component, counts, MEMBERSHIP_ROUNDS)
        weights[codes] = seen.means
        return refined, weights, seen.user_concentration, seen.information

    others = [refine(member) for member in known.members[1:]]
    refined, weights, concentration, information = refine(known.members[0])
    scores = refined.component.scores
    errors, correlations = replace(wide, known=(scores, precision)).errors(information)
    user_concentration = np.pad(first.user_concentration, (0, n_new_users))
    user_concentration[codes] = concentration
    weights_of_others = [(other.component.scores, own) for other, own, _, _ in others]
    now = Memberships(weights, user_concentration, mean_of(weights), first.concentration)
    stacked = _stack_members(weights_of_others, scores.shape, known.n_users)
    members = members_of(refined.component, now, *stacked.values())
    return {
        **arrays_of(update_effects(members, known.effect_scale, known.effects, codes.astype(np.int32), more)),
        "scores": scores, "rankings": refined.component.rankings,
        "score_errors": errors, "score_correlations": correlations,
        "user_weights": weights, "mean_weights": mean_of(weights), "user_concentration": user_concentration,
        "log_posterior": np.array(refined.history), "n_iter": len(refined.history),
        "converged": bool(refined.converged),
        **stacked,
    }  # fmt: skip
