"""How a MixedRanking of ratings, votes or rankings learns from further data, without those seen before.

Ours. ``thurstone/update.py`` moves the draws; here their items and users are numbered, and what the model says of
rankings and weights follows: of items and users that something was said about anew, of all others it stays.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from plurank.data.comparisons import Comparisons
from plurank.data.encoding import Labels, join_labels, look_up
from plurank.data.rated import RatedItems
from plurank.mixed.rated import LOG_ODDS, as_compared, concentrations, explain_variance
from plurank.mixed.rated_fields import DRAWN, ITEM_PRIOR
from plurank.mixed.utilities import UtilityPosterior, draws_of
from plurank.random import RandomState, as_generator, draw_seed
from plurank.thurstone.draws import Draw
from plurank.thurstone.exposure import Exposure
from plurank.thurstone.new_users import observe_users
from plurank.thurstone.update import Sizes, update_draws
from plurank.types import Codes, Floats, Masks, Progress

SEED = 20_261_119  # where the model has no seed of its own


def update_rated(model: Any, more: Comparisons | RatedItems, people: Any, on_progress: Progress) -> dict[str, Any]:
    """Learn what users have said since; return the fitted attributes that change, by name. people: a table with
    covariates of new users."""
    items, _ = join_labels(model.items_, more.items, "item")
    users, rows = join_labels(model.users_, more.users, "user")
    before: UtilityPosterior = model.posterior
    grown = replace(before, items=items, exposure=_grow(before.exposure, len(items)))
    said = _in_own_items(grown, more)
    described = _describe_people(model, users[len(model.users_) :], people)
    own = None if described is None else described[rows].astype(np.float64)
    typical = before.draws[0]
    seen = observe_users(said, grown.scale, grown.exposure, typical.cut_mean, with_errors=typical.error > 0.0)
    parts = [part.describe(own) for part in seen]
    sizes = Sizes(len(items), len(users))
    n_updates = 0 if model.data_ is None else model.data_["n_updates"]
    seed = [_seed_of(model.random_state), n_updates]
    draws = update_draws(draws_of(model), parts, rows, sizes, seed, on_progress)
    attributes: dict[str, Any] = {
        name: np.array([getattr(draw, part) for draw in draws]) for name, (part, _) in DRAWN.items()
    }
    priors = [draw.item_prior for draw in draws if draw.item_prior is not None]
    attributes |= {
        name: np.array([getattr(prior, part) for prior in priors]) for name, part in ITEM_PRIOR.items() if priors
    }
    attributes |= as_compared(draws)
    attributes["exposures_"] = grown.exposure.directions
    attributes["level_counts_"] = before.scale.counts + _count_new_levels(said, len(before.scale.counts))
    touched = np.zeros(len(items), dtype=bool)
    for part in parts:
        touched[part.data.observed.codes] = True
    touched[len(model.items_) :] = True
    shown = [draw for draw in draws if draw.shown]
    attributes |= _describe_items(model, before.by_rankings, shown, touched)
    attributes |= _describe_users(model, shown, rows, len(users))
    if model.explained_ is not None:
        attributes["explained_"] = explain_variance(shown, [draw for draw in draws if draw.share > 0])
    for name, field in (("member_scores_", len(items)), ("member_weights_", len(users))):
        attributes[name] = np.zeros((0, field, len(model.mean_weights_)))
    return {**attributes, "items_": items, "users_": users, "people_": described}


def _describe_people(model: Any, new: Labels, people: Any) -> Floats | None:
    """Return the covariates (M, P) of all users, where the model has any."""
    known, more = model.people_, model.describe_users(new, people)
    return None if known is None or more is None else np.vstack([known, more.astype(np.float32)])


def _seed_of(random_state: RandomState) -> int:
    return SEED if random_state is None else draw_seed(as_generator(random_state))


def _in_own_items(posterior: UtilityPosterior, more: Comparisons | RatedItems) -> Comparisons | RatedItems:
    """Renumber items as in the model, which knows them all."""
    if isinstance(more, RatedItems):
        return posterior.in_own_items(more)
    codes = look_up(more.items, posterior.items, "item")
    return replace(more, winners=codes[more.winners], losers=codes[more.losers], items=posterior.items, texts=None)


def _grow(exposure: Exposure, n_items: int) -> Exposure:
    """Append new items, which say nothing about their users' factors."""
    return Exposure(np.pad(exposure.directions, ((0, n_items - len(exposure.directions)), (0, 0))))


def _count_new_levels(said: Comparisons | RatedItems, n_levels: int) -> Floats:
    if isinstance(said, Comparisons) or not n_levels:
        return np.zeros(n_levels)
    return np.bincount(said.levels, minlength=n_levels).astype(np.float64)


def _describe_items(model: Any, before: Sequence[Draw], after: Sequence[Draw], touched: Masks) -> dict[str, Any]:
    """Summarise the items that something was said about, (Q,) marks: scores, their errors, and the rankings."""
    known = [draw.scores - draw.scores.mean() for draw in before]  # whose origin the draws have now
    drawn = np.array([draw.scores - old.mean(axis=0) for draw, old in zip(after, known, strict=True)])
    n_new = len(touched) - len(model.scores_)
    scores, errors = (np.pad(table, ((0, n_new), (0, 0))) for table in (model.scores_, model.score_errors_))
    scores[touched] = (LOG_ODDS * drawn.mean(axis=0) + model.scores_.mean(axis=0))[touched]
    errors[touched] = LOG_ODDS * drawn.std(axis=0, ddof=1)[touched]
    rankings = np.argsort(-scores, axis=0, kind="stable").T.astype(np.int64)
    return {"scores_": scores, "score_errors_": errors, "rankings_": rankings}


def _describe_users(model: Any, shown: Sequence[Draw], rows: Codes, n_users: int) -> dict[str, Any]:
    """Summarise the users who said something, whose rows are (m,): their weights and what these rest on."""
    drawn = np.array([draw.weights[rows] for draw in shown], np.float64)
    mean = drawn.mean(axis=0)
    n_new = n_users - len(model.users_)
    weights, totals = np.pad(model.user_weights_, ((0, n_new), (0, 0))), np.pad(model.user_concentration_, (0, n_new))
    weights[rows] = mean / mean.sum(axis=1, keepdims=True)
    totals[rows] = concentrations(mean, (drawn**2).sum(axis=2).mean(axis=0))
    return {"user_weights_": weights, "user_concentration_": totals}
