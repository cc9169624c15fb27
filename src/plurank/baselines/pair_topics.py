"""PairTopics: the paper's topics without rankings, to see what rankings are good for."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.choices import Detection
from plurank.data.comparisons import Comparisons
from plurank.data.split import every_nth_user
from plurank.engine.local import Engine
from plurank.inference.posterior import dirichlet_counts
from plurank.models.base import FitResult, RankingModel
from plurank.models.fields import COMMON, Field, Fields
from plurank.random import RandomState, as_generator, draw_seed
from plurank.topic.estimator import FLIP_SAMPLE, N_ROUNDS
from plurank.topic.moments import Moments, pair_moments
from plurank.topic.orders import FIRST_FLIP, win_probabilities
from plurank.topic.recover import REGRESSION_TOL, detect
from plurank.topic.rounding import estimate_ranking_matrix
from plurank.topic.weights import fit_topic_prior, flip_behind
from plurank.types import Codes, Floats, Integers, Progress
from plurank.validation import check_choice, check_whole

MAX_LEGS, ROUNDS, TOLERANCE = 40, 5, 1e-3  # of the weights' EM: rounds a leg, and the move in one that counts as none
LEAST_WEIGHT = 1e-12  # a weight of zero would stay zero whatever the user says
CERTAIN = 1e300  # concentration of probabilities that are taken as they are
STAGE = "weighing topics for every user"
CHUNK = 2**18  # comparisons whose K probabilities are looked up at once
OWN_FIELDS = {
    "flip_probability_": Field("f", (), "at most a half"),
    "pairs_": Field("i", ("pairs", 2), "not negative"),
    "preferences_": Field("f", ("pairs", "K"), "not negative"),
}


@dataclass(kw_only=True)
class TopicsFit(FitResult):
    """What a fit found, see the attributes of ``PairTopics``."""

    flip_probability: float
    pairs: Integers
    preferences: Floats


class PairTopics(RankingModel):
    """Topics over pairs: Algorithms 1 to 3 of the paper without Algorithm 4, so that a topic need not be a ranking.

    Topic k prefers i to j with probability ``B_ij,k / (B_ij,k + B_ji,k)``, for each pair on its own, moved away from 0
    and 1 by a flip probability that is fitted. Pairs that were never compared have probability one half. Memory grows
    with the number of pairs compared times K.

    Parameters
    ----------
    n_rankings : int, default=10
        Number of topics (K).
    detection : {"whitened", "projections", "printed"}, default="whitened"
        How novel pairs are detected, see ``TopicRanking``.
    random_state : int, numpy.random.Generator or None, default=None
        Seed.

    Attributes
    ----------
    pairs_ : ndarray of shape (n_pairs, 2)
        Item numbers of the pairs compared, the lower one first.
    preferences_ : ndarray of shape (n_pairs, K)
        Probability that each topic prefers the first item of a pair, before flips.
    flip_probability_ : float
        Probability of a choice against the topic that generated it.
    rankings_ : ndarray of shape (K, Q)
        Item numbers by mean probability to be preferred, best first; the most followed topic first.
    user_weights_ : ndarray of shape (M, K)
        Weights of every user on the topics.
    mean_weights_, concentration_ : ndarray of shape (K,), float
        Mean and concentration of the Dirichlet prior of user weights.
    items_, users_ : ndarray
        Labels of items (Q,) and users (M,).
    n_iter_, converged_ : int, bool
        1 and True: nothing is iterated.

    References
    ----------
    W. Ding, P. Ishwar and V. Saligrama (2015), "A Topic Modeling Approach to Ranking", AISTATS.

    Examples
    --------
    >>> import plurank
    >>> made = plurank.simulate(200, 5, 2, 40, random_state=0)
    >>> plurank.PairTopics(2, random_state=0).fit(made.comparisons).preferences_.shape
    (10, 2)
    """

    about = "topics of pairs, without ranking structure"
    pairs_: Integers
    preferences_: Floats
    flip_probability_: float

    def __init__(
        self, n_rankings: int = 10, detection: Detection = "whitened", *, random_state: RandomState = None
    ) -> None:
        self.n_rankings = n_rankings
        self.detection = detection
        self.random_state = random_state

    @property
    def fields(self) -> Fields:
        """What a fitted model consists of."""
        return {**COMMON, **OWN_FIELDS}

    def _fit(self, source: Comparisons, engine: Engine, on_progress: Progress) -> TopicsFit:  # noqa: ARG002
        rng = as_generator(self.random_state)
        on_progress("counting pairs", 0.0)
        moments = pair_moments(source, draw_seed(rng))
        novel = detect(moments, self.n_rankings, self.detection, rng=rng, on_progress=on_progress)
        matrix = estimate_ranking_matrix(novel.gram, novel.targets, moments.counts, REGRESSION_TOL)
        topics, mean = Topics.of(matrix, moments), matrix.sum(axis=0) / matrix.sum()
        sample = every_nth_user(source, FLIP_SAMPLE)
        rows, users, flip = topics.rows(sample.winners, sample.losers), sample.user_of_each(), FIRST_FLIP
        for turn in range(N_ROUNDS):
            on_progress(STAGE, turn / (N_ROUNDS + 1))
            _, concentration = fit_topic_prior(moments, topics.table(0.0)[:-1], flip)
            weights = topics.infer_weights(sample, flip, dirichlet_counts(mean, concentration))
            flip = flip_behind(mix(rows, users, topics.table(0.0), weights), sample.weights)
        weights = topics.infer_weights(source, flip, dirichlet_counts(mean, concentration))
        on_progress(STAGE, 1.0)
        return TopicsFit(
            rankings=np.argsort(-topics.mean_wins(FIRST_FLIP).T, axis=1, kind="stable"), user_weights=weights,
            mean_weights=mean, concentration=concentration, flip_probability=flip, pairs=topics.pairs,
            preferences=topics.preferences, n_iter=1, converged=True,
        )  # fmt: skip

    def check_parameters(self) -> None:
        """Raise a ParameterError where a parameter is not valid."""
        check_whole("n_rankings", self.n_rankings, 1)
        check_choice("detection", self.detection, Detection)

    def check_consistent(self) -> None:
        """Raise a ValueError where parameters are impossible, or pairs are not pairs of items in ascending order."""
        super().check_consistent()
        keys = self._topics().keys(*self.pairs_.T)
        ascending = (self.pairs_[:, 0] < self.pairs_[:, 1]).all() and (np.diff(keys) > 0).all()
        if not ascending or self.pairs_.max(initial=0) >= len(self.items_):
            raise ValueError("pairs_ are not pairs of items in ascending order")
        if len(self.preferences_) != len(self.pairs_) or (self.preferences_ > 1).any():
            raise ValueError("preferences_ are not probabilities, one row for every pair")

    def _topics(self) -> "Topics":
        return Topics(len(self.items_), self.pairs_, self.preferences_)

    def _infer_weights(self, comparisons: Comparisons) -> Floats:
        return self._topics().infer_weights(comparisons, self.flip_probability_, self.membership_prior.counts)

    def _win_probabilities(self, winners: Codes, losers: Codes) -> Floats:
        topics = self._topics()
        return topics.table(self.flip_probability_)[topics.rows(winners, losers)]

    def _item_scores(self, weights: Floats) -> Floats:
        return self._topics().mean_wins(self.flip_probability_) @ weights


@dataclass(frozen=True)
class Topics:
    """Topics over pairs (n_pairs, 2) of items: the probability (n_pairs, K) to prefer the first, before flips."""

    n_items: int
    pairs: Integers
    preferences: Floats

    @classmethod
    def of(cls, matrix: Floats, moments: Moments) -> Self:
        """Take preferences from the weighted ranking matrix (W, K)."""
        forward, total = matrix[0::2], matrix[0::2] + matrix[1::2]
        preferences = np.divide(forward, total, out=np.full_like(forward, 0.5), where=total > 0)
        return cls(moments.n_items, np.stack([moments.lower, moments.higher], axis=1).astype(np.int64), preferences)

    def table(self, flip: float) -> Floats:
        """Probabilities of ordered pairs, (W + 1, K): row 2 p + (left > right) of pair p; the last for all others."""
        table = np.full((2 * len(self.preferences) + 1, self.preferences.shape[1]), 0.5)
        table[0:-1:2], table[1::2] = self.preferences, 1.0 - self.preferences
        return win_probabilities(table, flip)

    def keys(self, lower: NDArray[Any], higher: NDArray[Any]) -> Integers:
        """Number pairs of items, in ascending order."""
        return lower.astype(np.int64) * self.n_items + higher

    def rows(self, left: Codes, right: Codes) -> Codes:
        """Return the row of every ordered pair (left, right) in the table, (n,)."""
        known = self.keys(*self.pairs.T)
        keys = self.keys(np.minimum(left, right), np.maximum(left, right))
        at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        return np.where(known[at] == keys, 2 * at + (left > right), 2 * len(known)).astype(np.int32)

    def infer_weights(self, comparisons: Comparisons, flip: float, prior: Floats) -> Floats:
        """Return the most probable weights of every user under a Dirichlet(prior), (M, K)."""
        rows = self.rows(comparisons.winners, comparisons.losers)
        return weigh_topics(comparisons, rows, self.table(flip), prior)

    def mean_wins(self, flip: float) -> Floats:
        """P(preferred to another item drawn at random), (Q, K)."""
        leads = self.table(flip)[0:-1:2] - 0.5
        sums = [
            np.bincount(self.pairs[:, 0], lead, self.n_items) - np.bincount(self.pairs[:, 1], lead, self.n_items)
            for lead in leads.T
        ]
        return 0.5 + np.stack(sums, axis=1) / (self.n_items - 1)


def weigh_topics(comparisons: Comparisons, rows: Codes, table: Floats, prior: Floats) -> Floats:
    """Find each user's most probable weights by EM, (M, K), in the same basis as ``infer_weights``.

    ``n_k = sum_e r_k(e)``, ``theta_k = (n_k + prior_k) / (N + sum prior)``. Every few rounds the users whose weights
    stand still are left out, so that nobody's weights depend on who else is there.
    """
    c = comparisons
    weights = np.tile(np.maximum(prior / prior.sum(), LEAST_WEIGHT), (c.n_users, 1))
    moving, lengths, counts = np.arange(c.n_users), np.diff(c.offsets), c.kernel_weights
    for _ in range(MAX_LEGS):
        begins = np.concatenate([[0], np.cumsum(lengths)])
        before = weights[moving]
        after = _take_rounds(begins, rows, counts, table, prior, before)
        weights[moving] = after
        keep = np.abs(after - before).max(axis=1) >= TOLERANCE
        if not keep.any():
            break
        staying = np.repeat(keep, lengths)
        moving, lengths, rows = moving[keep], lengths[keep], rows[staying]
        counts = counts[staying] if counts.size else counts
    return weights


def _take_rounds(
    begins: NDArray[np.int64], rows: Codes, counts: Floats, table: Floats, prior: Floats, weights: Floats
) -> Floats:
    certain = np.full(len(table), CERTAIN)
    for _ in range(ROUNDS):
        # the kernel shares out a pair's comparisons among users; here users and pairs have changed places
        shared = kernels.expected_wins(begins, rows, counts, weights, table, certain)
        weights = np.maximum(shared + prior, LEAST_WEIGHT)
        weights /= weights.sum(axis=1, keepdims=True)
    return weights


def mix(rows: Codes, users: Codes, table: Floats, weights: Floats) -> Floats:
    """``out[e] = (table[rows[e]] * weights[users[e]]).sum()``, some comparisons at a time."""
    parts = [
        np.einsum("ek,ek->e", table[rows[begin : begin + CHUNK]], weights[users[begin : begin + CHUNK]])
        for begin in range(0, len(rows), CHUNK)
    ]
    return np.concatenate(parts)
