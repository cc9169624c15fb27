"""The fits that the predictions of a MixedRanking average over: the rankings and the users of each.

Ours.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from plurank.data.comparisons import Comparisons
from plurank.inference.posterior import dirichlet_counts
from plurank.mixed.bradley_terry import BradleyTerry
from plurank.mixed.priors import mean_of
from plurank.models.prediction import Memberships
from plurank.topic.orders import OrderedComponent
from plurank.types import Codes, Floats

MEMBERSHIP_ROUNDS = 50  # Newton steps of a user's weights; they stop by themselves


class Member(NamedTuple):
    """One of the fits that predictions average over: its rankings and its users."""

    component: BradleyTerry | OrderedComponent
    users: Memberships

    def fold_in(self, comparisons: Comparisons, counts: Floats | None = None) -> Memberships:
        """Infer the weights of other users; counts (m, K): of their Dirichlet prior, if it is not everybody's."""
        mean, concentration = self.users.mean_weights, self.users.concentration
        prior = dirichlet_counts(mean, concentration)[None] if counts is None else counts
        init = np.broadcast_to(prior / prior.sum(axis=1, keepdims=True), (comparisons.n_users, len(mean)))
        seen = self.component.update_memberships(comparisons, init, prior, MEMBERSHIP_ROUNDS)
        own = Memberships(seen.means, seen.user_concentration, mean, concentration)
        return own if counts is None else own.replace_unknown(np.diff(comparisons.offsets) == 0, counts)


def members_of(
    component: BradleyTerry | OrderedComponent, users: Memberships, member_scores: Floats, member_weights: Floats
) -> list[Member]:
    """Return all members, given the first one and the scores and weights of the others."""
    others = [
        Member(BradleyTerry(scores, component.mixing), users._replace(weights=weights, mean_weights=mean_of(weights)))
        for scores, weights in zip(member_scores, member_weights, strict=True)
    ]
    return [Member(component, users), *others]


def predict(members: Sequence[Member], users: Sequence[Memberships], rows: Codes, left: Codes, right: Codes) -> Floats:
    """P(left over right), (n,), averaged over the members, for rows of users, -1 for unknown ones."""
    each = [
        member.component.probabilities(*own.table(rows), left, right)
        for member, own in zip(members, users, strict=True)
    ]
    return np.mean(each, axis=0)
