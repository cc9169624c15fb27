"""More comparisons for a fitted MixedRanking, without the ones it has seen."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from plurank.algorithms.crowd import InMemory, Known
from plurank.algorithms.refine_by_likelihood import Refinement, refine_scores
from plurank.components.bradley_terry import BradleyTerry
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import Labels, look_up, object_array
from plurank.inference.priors import Priors, mean_of
from plurank.progress import Progress

if TYPE_CHECKING:
    from plurank.models.mixed_ranking import MixedRanking

Floats = NDArray[np.float64]
WEIGHING_ROUNDS = 10  # Newton steps, from weights that are nearly right


def update_scores(model: "MixedRanking", new: Comparisons, on_progress: Progress) -> None:
    """Refine scores and the weights of the users at hand, with the earlier posterior as the prior.

    Earlier comparisons count as a Gaussian around the scores, with their standard errors, and as a Dirichlet around
    each known user's weights, with their evidence as concentration.
    """
    items, item_codes = _join_labels(model.items_, new.items, "item")
    users, user_codes = _join_labels(model.users_, new.users, "user")
    n_new_items, n_new_users = len(items) - len(model.items_), len(users) - len(model.users_)
    c = Comparisons(item_codes[new.winners], item_codes[new.losers], new.offsets, items, new.users, new.weights)
    known = np.maximum(model.user_evidence_, model.concentration_)[:, None] * model.user_weights_
    counts = np.vstack([known, np.tile(model._prior(), (n_new_users, 1))])[user_codes]
    vague = Priors(model.mean_weights_, model.concentration_, model.spread_).scores
    precision = np.pad(vague.precision_beyond(model.score_errors_), ((0, n_new_items), (0, 0)))

    def refine(scores: Floats, weights: Floats) -> tuple[Refinement[BradleyTerry], Known, Floats]:
        all_scores = np.pad(scores, ((0, n_new_items), (0, 0)))
        prior = replace(vague, known=(all_scores, precision))
        mean = mean_of(weights) if len(weights) else model.mean_weights_  # a blank model has no users yet
        start = np.vstack([weights, np.tile(mean, (n_new_users, 1))])
        crowd = InMemory(c, start[user_codes])
        fitted = refine_scores(
            crowd, BradleyTerry(all_scores, model.mixing), counts, prior,
            max_iter=model.max_iter, tol=model.tol, on_progress=on_progress,
        )  # fmt: skip
        seen = crowd.finish(fitted.component, counts, WEIGHING_ROUNDS)
        start[user_codes] = seen.means
        return fitted, seen, start

    members = [refine(*member) for member in zip(model.member_scores_, model.member_weights_, strict=True)]
    fitted, seen, weights = refine(model.scores_, model.user_weights_)
    model.items_, model.users_ = items, users
    _keep(model, fitted, weights)
    later = replace(vague, known=(model.scores_, precision))
    model.score_errors_, model.score_correlations_ = later.errors(seen.information)
    model.user_evidence_ = np.pad(model.user_evidence_, (0, n_new_users))
    model.user_evidence_[user_codes] = seen.evidence
    _keep_members(model, [(member.component.scores, own) for member, _, own in members])


def _keep(model: "MixedRanking", fitted: Refinement[BradleyTerry], weights: Floats) -> None:
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
