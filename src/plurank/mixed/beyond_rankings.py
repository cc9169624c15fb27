"""What a fit says of users beyond the rankings that they follow: their own effects on items, and how much the gain over
one ranking rests on a few of them.

Ours.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from plurank.data.comparisons import Comparisons, draw_held_out
from plurank.data.encoding import look_up
from plurank.data.split import every_nth_user, weigh_observations
from plurank.elementary import log_expit
from plurank.engine.blocks import iterate_users
from plurank.inference.user_effects import HeldOutEffects, UserEffects, choose_scale, find_user_effects
from plurank.metrics.predictions import Influence
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.members import Member, predict
from plurank.mixed.priors import Priors
from plurank.mixed.refine import refine_scores
from plurank.mixed.users import Users
from plurank.random import draw_seed, spawn
from plurank.store.store import Store
from plurank.types import Codes, Floats

EFFECT_SAMPLE = 50_000  # comparisons that the scale of user effects is chosen by
EFFECT_SHARE, MOST_EFFECT_SPLITS = 0.5, 3  # of a user's comparisons that are held out for that, at most
ITEM_SHARE = 0.3  # of a user's items, where comparisons are made from ratings
MOST_KEPT = 5_000_000  # comparisons whose users' effects are kept
INFLUENCE_SAMPLE = 250_000  # comparisons
SINGLE_PASSES = 20  # to fit one ranking for everybody
Refit = Callable[[Comparisons, int], Sequence[Member]]  # fit comparisons with a seed, and the priors of the fit


def choose_effect_scale(
    refit: Refit, source: Comparisons | Store, least_users: int, rng: np.random.Generator, *, by_item: bool = False
) -> float | None:
    """Choose the scale of users' own effects on items by comparisons that are held out of fits with the same priors.

    The rankings must not know them: they would seem to leave nothing to say of users. by_item: hold out items of users,
    and predict how these compare with others, as comparisons made from ratings imply each other.
    """
    sample = every_nth_user(source, EFFECT_SAMPLE)
    users, trials = sample.user_of_each(), []
    for child in spawn(rng, int(np.clip(EFFECT_SAMPLE // max(len(sample), 1), 1, MOST_EFFECT_SPLITS))):
        if by_item:
            kept, unrelated = draw_held_out(sample, ITEM_SHARE, "item", child)
            held_out = ~kept & ~unrelated  # of comparisons of two items held out, effects say nothing
        else:
            shares = EFFECT_SHARE * child.random(sample.n_users)  # some are asked little, some much
            held_out = child.random(len(sample)) < shares[users]
            kept = ~held_out
        asked, test = sample.select(kept), sample.select(held_out)
        if not len(test) or asked.n_users < least_users:
            continue
        members = refit(asked, draw_seed(child))
        known, at = [member.users for member in members], asked.user_of_each()
        rows = look_up(test.users, asked.users, "user")[test.user_of_each()]
        chances = predict(members, known, at, asked.winners, asked.losers)
        predicted = predict(members, known, rows, test.winners, test.losers)
        trials.append(HeldOutEffects(asked, chances, test, users[held_out], rows, predicted))
    return choose_scale(trials)


def find_all_effects(members: Sequence[Member], scale: float | None, source: Comparisons | Store) -> UserEffects | None:
    """Find the effects of all users by what they said, unless that would be too much to keep."""
    if scale is None or len(source) > MOST_KEPT:
        return None
    parts, begin = [], 0
    for asked in iterate_users(source, labelled=False):
        rows = np.arange(begin, begin + asked.n_users, dtype=np.int32)
        own = find_user_effects(asked, _predict_own(members, rows, asked), scale)
        parts.append(own.renumber(rows, asked.n_items))
        begin += asked.n_users
    return UserEffects.join(parts, source.n_items)


def _predict_own(members: Sequence[Member], rows: Codes, asked: Comparisons) -> Floats:
    """Probability of what happened in comparisons (n,) by users of the fit, who are in these rows (m,)."""
    users = [member.users for member in members]
    return predict(members, users, rows[asked.user_of_each()], asked.winners, asked.losers)


def update_effects(
    members: Sequence[Member], scale: float | None, known: UserEffects | None, rows: Codes, more: Comparisons
) -> UserEffects | None:
    """Find the effects of users who said more, with what is known of them as the prior; those of all others stay.

    rows (m,) are those of the users at hand among all; there may be more of these, and more items, than before.
    """
    if scale is None or known is None:
        return None
    n_users = len(members[0].users.weights)
    before = known.renumber(np.arange(n_users), more.n_items)
    at_hand = np.full(n_users, -1)
    at_hand[rows] = np.arange(len(rows))
    newer = find_user_effects(more, _predict_own(members, rows, more), scale, before.renumber(at_hand, more.n_items))
    return before.replace(newer.renumber(rows, more.n_items))


def arrays_of(effects: UserEffects | None) -> dict[str, Any]:
    """Return user effects as a model keeps them."""
    if effects is None:
        return {"user_effect_keys": None, "user_effects": None, "user_effect_errors": None}
    return {
        "user_effect_keys": effects.keys,
        "user_effects": effects.values.astype(np.float32),
        "user_effect_errors": effects.errors.astype(np.float32),
    }


def find_influence(
    members: Sequence[Member], source: Comparisons | Store, rating_weight: float | None, tol: float
) -> dict[str, Any] | None:
    """Compare how well the fit and one ranking describe every user; of many users, every n-th.

    rating_weight: where comparisons count as made from ratings.
    """
    if len(members[0].users.mean_weights) == 1:
        return None
    sample = every_nth_user(source, INFLUENCE_SAMPLE)
    counted = sample if rating_weight is None else weigh_observations(sample, rating_weight)
    alone = Priors.vague(1)
    one = refine_scores(
        Users(counted, np.ones(1)), BradleyTerry(np.zeros((sample.n_items, 1))), alone.counts, alone.scores,
        max_iter=SINGLE_PASSES, tol=tol,
    ).component.scores[:, 0]  # fmt: skip
    users = sample.user_of_each()
    rows = look_up(sample.users, source.users, "user")[users]
    chances = predict(members, [member.users for member in members], rows, sample.winners, sample.losers)
    by_one = log_expit(one[sample.winners] - one[sample.losers])

    def sum_by_user(values: Floats) -> Floats:
        weighted = values if counted.weights is None else counted.weights * values
        return np.bincount(users, weighted, sample.n_users).astype(np.float64)

    gains, losses = (sum_by_user(better - by_one) for better in (np.log(np.maximum(chances, 1e-300)), np.log(0.5)))
    influence = Influence.of(gains, sum_by_user(np.ones(len(sample))), sample.users, losses)
    return None if influence is None else influence.to_dict()
