"""Bradley-Terry: every ranking gives every item a score, and the higher score wins more often.

Ours. Two ways to mix. ``probability`` (the paper's meaning): each comparison is made by one of the rankings, ``P(i over
j) = sum_k theta_k sigmoid(s_ik - s_jk)``. ``utility``: each person blends the scores into one taste, ``P(i over j) =
sigmoid(sum_k theta_k (s_ik - s_jk))``.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurank import kernels, metrics
from plurank.choices import Mixing
from plurank.data.comparisons import Comparisons
from plurank.elementary import expit
from plurank.engine.blocks import (
    Edges,
    cut_users,
    group_blocks,
    sum_tree,
)
from plurank.types import Codes, Floats

ALIKE = 0.2  # the spread of rankings' own scores, as a share of the spread of all
MANY_OPPONENTS = 2048  # an item meets no more when it is scored


class ScoreSums(NamedTuple):
    """What users say about the scores, added up.

    log_posterior: without the scores' prior, weights integrated out; gradient: its gradient, (Q, K).
    hessian: the diagonal of the expected negative Hessian given the memberships, (Q, K): of probabilities as if one saw
    which ranking makes a comparison, so smooth but too large where that is uncertain.
    information: one K x K block per item, (Q, K, K), if asked for: outer products of the gradients of its comparisons,
    summed (the empirical Fisher information); noisy, but it knows how an item's scores in the rankings go together.
    """

    log_posterior: float
    gradient: Floats
    hessian: Floats
    information: Floats

    def merge(self, other: "ScoreSums") -> "ScoreSums":
        """Add what other users say."""
        return ScoreSums(
            self.log_posterior + other.log_posterior,
            self.gradient + other.gradient,
            self.hessian + other.hessian,
            self.information + other.information,
        )


class ScorePass(NamedTuple):
    """What one pass over the comparisons gives: sums over users, and of every user the most probable weights (M, K),
    their posterior mean (M, K), and its concentration (M,)."""

    sums: ScoreSums
    weights: Floats
    means: Floats
    user_concentration: Floats

    @classmethod
    def join(cls, parts: list["ScorePass"]) -> "ScorePass":
        """Put groups of users together."""
        if len(parts) == 1:
            return parts[0]
        sums = sum_tree((part.sums for part in parts), ScoreSums.merge)
        return cls(sums, *(np.concatenate(columns) for columns in zip(*(part[1:] for part in parts), strict=True)))


def cut_for_scores(offsets: NDArray[np.int64], n_items: int, n_rankings: int) -> Edges:
    """Cut users into the blocks whose sums are added up."""
    return cut_users(offsets, 16 * n_items * n_rankings)


@dataclass(frozen=True)
class BradleyTerry:
    """K rankings with scores (Q, K), the logarithms of Bradley-Terry strengths."""

    scores: Floats
    mixing: Mixing = "probability"

    @property
    def rankings(self) -> NDArray[np.int64]:
        """Items by score, (K, Q), best first."""
        return metrics.order_by_score(self.scores)

    @property
    def are_alike(self) -> bool:
        """Whether several rankings are nearly one and the same."""
        own = self.scores - self.scores.mean(axis=1, keepdims=True)
        return self.scores.shape[1] > 1 and bool(own.std() < ALIKE * self.scores.std())

    def update_memberships(
        self,
        comparisons: Comparisons,
        init: Floats,
        prior: Floats,
        n_rounds: int,
        *,
        informed: bool = False,
        edges: Edges | None = None,
    ) -> ScorePass:
        """Improve all users' weights by n_rounds Newton steps each, and collect what they say about the scores.

        prior: (1, K) or (M, K) Dirichlet counts. ``informed`` asks for the information about the scores. ``edges`` of
        blocks, where these users are a part of all.
        """
        edges = cut_for_scores(comparisons.offsets, *self.scores.shape) if edges is None else edges
        n_items, n_rankings = self.scores.shape
        width = -(-n_rankings // 4) * 4  # kernels fill rows up to four numbers
        groups = group_blocks(edges, (16 + (8 * n_rankings if informed else 0)) * n_items * width)
        parts = []
        for group in groups:
            own = slice(group[0], group[-1])
            users = comparisons if len(groups) == 1 else comparisons.block(group[0], group[-1])
            rows = prior if len(prior) == 1 else prior[own]
            parts.append(self._update_blocks(users, group - group[0], init[own], rows, n_rounds, informed))
        return ScorePass.join(parts)

    def _update_blocks(
        self, comparisons: Comparisons, edges: Edges, init: Floats, prior: Floats, n_rounds: int, informed: bool
    ) -> ScorePass:
        run = kernels.utility_pass if self.mixing == "utility" else kernels.probability_pass
        c = comparisons
        columns = (edges, c.offsets, c.winners, c.losers, c.kernel_weights)
        weights, value, gradient, hessian, means, user_concentration, information = run(
            *columns, self.scores, init, prior, n_rounds, informed
        )
        return ScorePass(ScoreSums(value, gradient, hessian, information), weights, means, user_concentration)

    def chances(self, winners: Codes, losers: Codes) -> Floats:
        """P(winner over loser) in every ranking, (n, K)."""
        return expit(self.scores[winners] - self.scores[losers])

    def probabilities(
        self, weights: Floats, user_concentration: Floats, rows: Codes, left: Codes, right: Codes
    ) -> Floats:
        """P(left over right), (n,), for rows of a table of weights (m, K), averaged over what they may be.

        user_concentration (m,) is that of the Dirichlet around them; a mixture of probabilities has its mean there.
        """
        if self.mixing == "utility":
            return kernels.mix_utilities(rows, left, right, self.scores, weights, user_concentration)
        return kernels.mix_probabilities(rows, left, right, self.scores, weights)


def mean_wins(scores: Floats) -> Floats:
    """P(preferred to another item), (Q, K), of scores; of many items, evenly spaced ones are the opponents."""
    n_items = len(scores)
    if n_items <= MANY_OPPONENTS:
        wins = kernels.mean_wins(np.ascontiguousarray(scores), np.ascontiguousarray(scores))
        return (wins * n_items - 0.5) / (n_items - 1)
    rows = np.linspace(0, n_items - 1, MANY_OPPONENTS).astype(int)
    return kernels.mean_wins(np.ascontiguousarray(scores), np.ascontiguousarray(np.sort(scores, axis=0)[rows]))


def win_gradients(scores: Floats, wins: Floats) -> Floats:
    """How fast the probability to win grows with the score, (Q, K)."""
    found = np.empty_like(scores)
    for k in range(scores.shape[1]):
        grid, first = np.unique(scores[:, k], return_index=True)
        gradient = np.gradient(wins[first, k], grid) if len(grid) > 1 else np.full(1, 0.25)  # that of the logistic at 0
        found[:, k] = gradient[np.searchsorted(grid, scores[:, k])]
    return found
