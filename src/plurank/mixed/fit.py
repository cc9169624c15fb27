"""How a MixedRanking is fitted: choose priors, find a start, refine; and how later comparisons update it.

Ours.
"""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plurank.data.comparisons import Comparisons
from plurank.data.encoding import Labels, look_up, object_array
from plurank.data.split import Source, every_nth_user, weigh_observations
from plurank.elementary import log_expit
from plurank.inference.user_effects import choose_scale
from plurank.metrics.predictions import Influence
from plurank.metrics.rankings import align, places_of
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.checkpoint import Checkpoint
from plurank.mixed.init import Init, init_rankings
from plurank.mixed.orders import ORDERS
from plurank.mixed.prior_search import PriorChoice, choose_priors
from plurank.mixed.priors import Priors, mean_of
from plurank.mixed.refine import Refinement, hessian_off_peak, refine_orders, refine_scores
from plurank.mixed.users import UserPosterior, Users, UsersInMemory
from plurank.models.base import rows_among
from plurank.progress import Progress, silent
from plurank.random import as_generator, spawn
from plurank.topic.orders import OrderedComponent, PairCounts
from plurank.types import Floats

if TYPE_CHECKING:
    from plurank.mixed.estimator import MixedRanking


# How a MixedRanking is fitted: choose priors, find a start, refine, and keep what was found.

DEVIATING_SAMPLE = 50_000  # comparisons
INFLUENCE_SAMPLE = 250_000  # comparisons
SINGLE_PASSES = 20  # to fit one ranking for everybody
# where the climb of the priors begins: blends of scores are narrower than the scores, so that these spread more
FIRST_PRIORS = {
    "probability": {"concentration": 3.0, "score_scale": 1.0},
    "utility": {"concentration": 10.0, "score_scale": 2.0},
}
WEIGHING_ROUNDS = 50  # Newton steps of a user's weights; they stop by themselves


def fit_users(model: "MixedRanking", users: Users, kept: Checkpoint | None, on_progress: Progress) -> None:
    """Fit rankings to users; resume from a checkpoint where there is one."""
    children = _children(model)
    if kept is not None and kept.saved is not None:
        model.from_ratings_, priors, model.quality_ = kept.saved.rated, kept.saved.priors, kept.saved.quality
    else:
        model.from_ratings_ = _is_rated(model, users)
        priors, quality = _choose_priors(model, users, children[0], on_progress)
        # of scores; orders predict otherwise
        model.quality_ = quality.to_dict() if quality and model.component == "bradley-terry" else None
    source = users.source
    _fit_rankings(model, users, priors, children, on_progress, kept, with_errors=True)
    model.user_effect_scale_ = _choose_deviation(model, source, children[2])
    model.influence_ = _find_influence(model, source)


def choose_priors_of(model: "MixedRanking", users: Users) -> Priors:
    """Return the priors that a fit of the model would choose."""
    model.from_ratings_ = _is_rated(model, users)
    return _choose_priors(model, users, _children(model)[0], silent).priors


def fit_to_predict(model: "MixedRanking", users: Users, priors: Priors) -> None:
    """Fit rankings with given priors, and find nothing but what predictions need."""
    model.from_ratings_ = _is_rated(model, users)
    model.user_effect_scale_ = None
    _fit_rankings(model, users, priors, _children(model), silent)


def _children(model: "MixedRanking") -> list[np.random.Generator]:
    """Return generators for the priors, the init, the user effects, and all members but the first."""
    return spawn(as_generator(model.random_state), 2 + model.ensemble)


def _is_rated(model: "MixedRanking", users: Users) -> bool:
    return users.look_rated() if model.from_ratings is None else model.from_ratings


def _fit_rankings(
    model: "MixedRanking",
    users: Users,
    priors: Priors,
    children: list[np.random.Generator],
    on_progress: Progress,
    kept: Checkpoint | None = None,
    *,
    with_errors: bool = False,
) -> None:
    """Fit rankings and weights, and the ensemble's other members, with given priors."""
    model.rating_weight_ = priors.rating_weight
    users = users.count_as_observed(model.rating_weight_) if model.from_ratings_ else users
    fitted, users, priors = _fit_scores(model, users, priors, model.init, children[1], on_progress, kept)
    model.items_, model.users_ = users.source.items, users.source.users
    if model.component == "bradley-terry":
        _keep_scores(model, users, fitted, priors, with_errors)
    else:
        assert isinstance(users, UsersInMemory)
        _keep_orders(model, users, _refine_orders(model, users, fitted, priors, on_progress), priors)
    _add_members(model, users, priors, children[3:], on_progress)


def _choose_deviation(model: "MixedRanking", source: Source, rng: np.random.Generator) -> float | None:
    """Choose how far people deviate from the rankings they follow, by comparisons held out of some users' ones."""
    sample = every_nth_user(source, DEVIATING_SAMPLE)
    shares = rng.random(sample.n_users)  # some are asked little, some much
    held_out = rng.random(len(sample)) < shares[sample.user_of_each()]
    if held_out.all() or not held_out.any():
        return None
    asked, test = sample.select(~held_out), sample.select(held_out)
    people, rows = model.followers(asked), rows_among(asked, test)
    chances, predicted = (
        model.probabilities(people, who, c.winners, c.losers)
        for who, c in ((asked.user_of_each(), asked), (rows, test))
    )
    return choose_scale(asked, chances, rows, test, predicted)


def _find_influence(model: "MixedRanking", source: Source) -> dict[str, Any] | None:
    """Compare how well the model and one ranking describe every person, of many people every n-th."""
    if model.n_rankings == 1:
        return None
    sample = every_nth_user(source, INFLUENCE_SAMPLE)
    counted = weigh_observations(sample, model.rating_weight_) if model.from_ratings_ else sample
    alone = Priors.vague(1)
    one = refine_scores(
        UsersInMemory(counted, np.ones((sample.n_users, 1))), BradleyTerry(np.zeros((sample.n_items, 1))),
        alone.counts, alone.scores, max_iter=SINGLE_PASSES, tol=model.tol,
    ).component.scores[:, 0]  # fmt: skip
    users = sample.user_of_each()
    rows = look_up(sample.users, model.users_, "user")[users]
    chances = model.probabilities(model.followers(), rows, sample.winners, sample.losers)
    by_one = log_expit(one[sample.winners] - one[sample.losers])

    def sum_by_user(values: Floats) -> Floats:
        weighted = values if counted.weights is None else counted.weights * values
        return np.bincount(users, weighted, sample.n_users).astype(np.float64)

    gains, losses = (sum_by_user(better - by_one) for better in (np.log(np.maximum(chances, 1e-300)), np.log(0.5)))
    found = Influence.of(gains, sum_by_user(np.ones(len(sample))), sample.users, losses)
    return None if found is None else found.to_dict()


def _choose_priors(model: "MixedRanking", users: Users, rng: np.random.Generator, on_progress: Progress) -> PriorChoice:
    given = {name: getattr(model, name) for name in ("concentration", "score_scale")}
    free = tuple(name for name, value in given.items() if value is None)
    known = {name: float(value) for name, value in given.items() if value is not None}
    priors = Priors.vague(model.n_rankings, **{**FIRST_PRIORS[model.mixing], **known})
    return choose_priors(users, priors, model.mixing, free, rated=model.from_ratings_, rng=rng, on_progress=on_progress)


def _fit_scores(
    model: "MixedRanking",
    users: Users,
    priors: Priors,
    init: Init,
    rng: np.random.Generator,
    on_progress: Progress,
    kept: Checkpoint | None = None,
) -> tuple[Refinement[BradleyTerry], Users, Priors]:
    """Start and refine; the prior's mean is that of the start's weights."""
    if kept is not None and kept.saved is not None:
        users, state = kept.go_on(users)
        component, memory = BradleyTerry(state.scores, model.mixing), None
    else:
        found_init = init_rankings(
            users, model.n_rankings, model.mixing, init, priors, rng=rng, on_progress=on_progress
        )
        priors = replace(priors, mean=found_init.mean_weights)
        # the start knows some users only
        users, state, component = users.begin(priors.mean), None, found_init.component
        memory = found_init.memory.copy(users.total_weight)
    fitted = refine_scores(
        users, component, priors.counts, priors.scores,
        max_iter=model.max_iter, tol=model.tol, on_progress=on_progress,
        resumed=state, memory=memory,
        on_pass=None if kept is None else partial(kept.keep, users, model.from_ratings_, priors, model.quality_),
    )  # fmt: skip
    return fitted, users, priors


def _keep_scores(
    model: "MixedRanking", users: Users, fitted: Refinement[BradleyTerry], priors: Priors, with_errors: bool
) -> None:
    _keep(model, users, fitted, priors)
    model.scores_, counts = fitted.component.scores, model.weight_prior()[None]
    more = hessian_off_peak(users, fitted.component, counts, priors.scores) if with_errors else None
    known = users.finish(fitted.component, counts, WEIGHING_ROUNDS)
    _keep_weights(model, known.means, known.user_concentration)
    if more is not None:
        model.score_errors_, model.score_correlations_ = priors.scores.errors(known.information + more)


def _refine_orders(
    model: "MixedRanking", users: UsersInMemory, fitted: Refinement[BradleyTerry], priors: Priors, on_progress: Progress
) -> Refinement[OrderedComponent]:
    """Turn scores into orders and refine these."""
    orders = ORDERS[model.component].component.begin(fitted.component.rankings)
    return refine_orders(users, orders, priors.counts, max_iter=model.max_iter, tol=model.tol, on_progress=on_progress)


def _keep_orders(
    model: "MixedRanking", users: UsersInMemory, fitted: Refinement[OrderedComponent], priors: Priors
) -> None:
    _keep(model, users, fitted, priors)
    component = fitted.component
    ORDERS[model.component].keep(model, component)
    seen = component.update_memberships(users.comparisons, users.weights, model.weight_prior()[None], WEIGHING_ROUNDS)
    _keep_weights(model, seen.means, seen.user_concentration)
    model.scores_ = -places_of(model.rankings_).astype(np.float64)
    model.score_errors_ = component.place_errors(
        PairCounts.of(users.comparisons), seen.weights, seen.user_concentration
    )
    model.score_correlations_ = np.eye(len(model.rankings_))


def _keep(model: "MixedRanking", users: Users, fitted: Refinement[Any], priors: Priors) -> None:
    model.rankings_ = fitted.component.rankings
    model.mean_weights_ = users.mean_weights()
    model.concentration_, model.score_scale_ = priors.concentration, priors.score_scale
    model.log_posterior_ = np.array(fitted.history)
    model.n_iter_, model.converged_ = len(fitted.history), bool(fitted.converged)


def _keep_weights(model: "MixedRanking", weights: Floats, user_concentration: Floats) -> None:
    model.user_weights_ = weights / weights.sum(axis=1, keepdims=True)
    model.user_concentration_ = user_concentration


def _add_members(
    model: "MixedRanking", users: Users, priors: Priors, children: list[np.random.Generator], on_progress: Progress
) -> None:
    """Fit again from other starts, with rankings in the order of the first fit's."""
    n_items, n_rankings = model.scores_.shape
    model.member_scores_ = np.empty((len(children), n_items, n_rankings))
    model.member_weights_ = np.empty((len(children), users.source.n_users, n_rankings))
    for member, rng in enumerate(children):
        fresh = replace(priors, mean=np.full(n_rankings, 1.0 / n_rankings))
        fitted, own_users, own = _fit_scores(model, users, fresh, "random", rng, on_progress)
        order = align(fitted.component.rankings, model.rankings_)
        model.member_scores_[member] = fitted.component.scores[:, order]
        known = own_users.finish(fitted.component, own.counts, WEIGHING_ROUNDS)
        model.member_weights_[member] = known.means[:, order]


def update_scores(model: "MixedRanking", new: Comparisons, on_progress: Progress) -> None:
    """Refine scores and the weights of the users at hand, with the earlier posterior as the prior.

    Earlier comparisons count as a Gaussian around the scores, with their standard errors, and as a Dirichlet around
    each known user's weights, with their evidence as concentration.
    """
    items, item_codes = _join_labels(model.items_, new.items, "item")
    user_ids, user_codes = _join_labels(model.users_, new.users, "user")
    n_new_items, n_new_users = len(items) - len(model.items_), len(user_ids) - len(model.users_)
    c = Comparisons(item_codes[new.winners], item_codes[new.losers], new.offsets, items, new.users, new.weights)
    known = np.maximum(model.user_concentration_, model.concentration_)[:, None] * model.user_weights_
    counts = np.vstack([known, np.tile(model.weight_prior(), (n_new_users, 1))])[user_codes]
    vague = Priors(model.mean_weights_, model.concentration_, model.score_scale_).scores
    precision = np.pad(vague.precision_beyond(model.score_errors_), ((0, n_new_items), (0, 0)))

    def refine(scores: Floats, weights: Floats) -> tuple[Refinement[BradleyTerry], UserPosterior, Floats]:
        all_scores = np.pad(scores, ((0, n_new_items), (0, 0)))
        prior = replace(vague, known=(all_scores, precision))
        mean = mean_of(weights) if len(weights) else model.mean_weights_  # a blank model has no users yet
        init = np.vstack([weights, np.tile(mean, (n_new_users, 1))])
        users = UsersInMemory(c, init[user_codes])
        fitted = refine_scores(
            users, BradleyTerry(all_scores, model.mixing), counts, prior,
            max_iter=model.max_iter, tol=model.tol, on_progress=on_progress,
        )  # fmt: skip
        seen = users.finish(fitted.component, counts, WEIGHING_ROUNDS)
        init[user_codes] = seen.means
        return fitted, seen, init

    members = [refine(*member) for member in zip(model.member_scores_, model.member_weights_, strict=True)]
    fitted, seen, weights = refine(model.scores_, model.user_weights_)
    model.items_, model.users_ = items, user_ids
    _keep_updated(model, fitted, weights)
    later = replace(vague, known=(model.scores_, precision))
    model.score_errors_, model.score_correlations_ = later.errors(seen.information)
    model.user_concentration_ = np.pad(model.user_concentration_, (0, n_new_users))
    model.user_concentration_[user_codes] = seen.user_concentration
    _keep_members(model, [(member.component.scores, own) for member, _, own in members])


def _keep_updated(model: "MixedRanking", fitted: Refinement[BradleyTerry], weights: Floats) -> None:
    model.scores_, model.rankings_ = fitted.component.scores, fitted.component.rankings
    model.user_weights_, model.mean_weights_ = weights, mean_of(weights)
    model.n_iter_, model.converged_ = len(fitted.history), bool(fitted.converged)
    model.log_posterior_ = np.array(fitted.history)


def _keep_members(model: "MixedRanking", members: list[tuple[Floats, Floats]]) -> None:
    model.member_scores_ = np.array([scores for scores, _ in members]).reshape(len(members), *model.scores_.shape)
    model.member_weights_ = np.array([own for _, own in members]).reshape(len(members), *model.user_weights_.shape)


def _join_labels(known: Labels, new: Labels, name: str) -> tuple[Labels, NDArray[np.int32]]:
    """Append labels that are not known yet; gives all labels and the number of each new one among them."""
    codes = look_up(new, known, name)
    fresh = new[codes < 0]
    codes = codes.copy()
    codes[codes < 0] = len(known) + np.arange(len(fresh), dtype=np.int32)
    if known.dtype.kind in "iuf" and known.dtype == new.dtype:
        return np.concatenate([known, fresh]), codes
    return object_array([*known.tolist(), *fresh.tolist()]), codes
