"""PairTopics: the paper's topics without rankings, to see what rankings are good for."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.blas import one_blas_thread
from plurank.choices import Detection
from plurank.data.comparisons import Comparisons
from plurank.data.split import every_nth_user
from plurank.engine.local import LocalEngine
from plurank.engine.sources import as_comparisons
from plurank.models.base import RankingModel
from plurank.models.fields import COMMON, Field, Fields
from plurank.progress import Progress, silent
from plurank.random import RandomState, as_generator, draw_seed
from plurank.topic.estimator import FLIP_SAMPLE, N_WEIGHING_ROUNDS
from plurank.topic.moments import Moments, pair_moments
from plurank.topic.orders import FIRST_FLIP, win_probabilities
from plurank.topic.prior import fit_topic_prior
from plurank.topic.recover import REGRESSION_TOL, detect
from plurank.topic.rounding import estimate_ranking_matrix
from plurank.topic.user_weights import flip_behind
from plurank.types import Codes, Floats
from plurank.validation import check_choice, check_whole

MAX_LEGS, ROUNDS, TOLERANCE = 40, 5, 1e-3  # of the weights' EM: rounds a leg, and the move in one that counts as none
LEAST_WEIGHT = 1e-12  # a weight of zero would stay zero whatever the user says
CERTAIN = 1e300  # evidence behind probabilities that are taken as they are
CHUNK = 2**18  # comparisons whose K probabilities are looked up at once
OWN_FIELDS = {
    "flip_probability_": Field("f", (), "at most a half"),
    "pairs_": Field("i", ("pairs", 2), "not negative"),
    "preferences_": Field("f", ("pairs", "K"), "not negative"),
}


class PairTopics(RankingModel):
    """Topics over pairs: Algorithms 1 to 3 of the paper without Algorithm 4, so that no topic need be a ranking.

    Topic k prefers i to j with probability ``B_ij,k / (B_ij,k + B_ji,k)``, for each pair on its own, pulled away from 0
    and 1 by a flip probability that is fitted. Pairs that were never compared are even. Memory grows with the pairs
    compared times K.

    Parameters: ``n_rankings`` (K), the number of topics; ``detection`` of novel pairs, ``whitened`` (ours) or
    ``projections`` (the paper's Algorithm 2); ``random_state``.

    After ``fit``, the most followed topic first: ``pairs_`` (n_pairs, 2) item numbers, the lower one first, and
    ``preferences_`` (n_pairs, K), how often each topic prefers the first; ``flip_probability_``; ``rankings_`` (K, Q)
    item numbers by the mean probability to be preferred, best first; ``user_weights_`` (M, K); ``mean_weights_`` (K,)
    and ``concentration_``, the Dirichlet prior; ``items_``, ``users_``; ``n_iter_``, 1, and ``converged_``, True,
    because there is nothing to repeat.
    """

    about = "topics of pairs, without ranking structure"
    pairs_: NDArray[np.int64]
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

    def fit(self, X: Any, y: None = None, *, on_progress: Progress = silent) -> Self:  # noqa: ARG002
        """Detect novel pairs (Algorithm 2), regress all others on them (Algorithm 3), then weigh topics for all."""
        self._check_parameters()
        comparisons = as_comparisons(X)
        rng = as_generator(self.random_state)
        # one thread, so that sums in matrix products have one order; the kernels use all cores
        with one_blas_thread():
            on_progress("counting pairs", 0.0)
            moments = pair_moments(comparisons, draw_seed(rng))
            novel = detect(moments, self.n_rankings, self.detection, rng=rng, on_progress=on_progress)
            matrix = estimate_ranking_matrix(novel.gram, novel.targets, moments.counts, REGRESSION_TOL)
            self._keep(comparisons, moments, matrix)
            self._weigh_topics(comparisons, moments, on_progress)
        self._keep_votes(comparisons, LocalEngine())
        self._order_rankings()
        return self

    def _check_parameters(self) -> None:
        check_whole("n_rankings", self.n_rankings, 1)
        check_choice("detection", self.detection, Detection)

    def check_consistent(self) -> None:
        """Raise a ValueError where parameters are impossible, or pairs are not pairs of items in ascending order."""
        super().check_consistent()
        keys = self._keys(*self.pairs_.T)
        ascending = (self.pairs_[:, 0] < self.pairs_[:, 1]).all() and (np.diff(keys) > 0).all()
        if not ascending or self.pairs_.max(initial=0) >= len(self.items_):
            raise ValueError("pairs_ are not pairs of items in ascending order")
        if len(self.preferences_) != len(self.pairs_) or (self.preferences_ > 1).any():
            raise ValueError("preferences_ are not probabilities, one row for every pair")

    def _keep(self, comparisons: Comparisons, moments: Moments, matrix: Floats) -> None:
        self.items_, self.users_ = comparisons.items, comparisons.users
        self.data_ = comparisons.summary()
        self.pairs_ = np.stack([moments.lower, moments.higher], axis=1).astype(np.int64)
        forward, total = matrix[0::2], matrix[0::2] + matrix[1::2]
        self.preferences_ = np.divide(forward, total, out=np.full_like(forward, 0.5), where=total > 0)
        self.mean_weights_ = matrix.sum(axis=0) / matrix.sum()
        self.flip_probability_ = FIRST_FLIP
        self.rankings_ = np.argsort(-self._mean_wins().T, axis=1, kind="stable")
        self.n_iter_, self.converged_ = 1, True

    def _weigh_topics(self, comparisons: Comparisons, moments: Moments, on_progress: Progress) -> None:
        """Fit concentration and flip probability in turns on some of the users, then the weights of all."""
        sample = every_nth_user(comparisons, FLIP_SAMPLE)
        rows, users = self._rows_of(sample.winners, sample.losers), sample.user_of_each()
        for turn in range(N_WEIGHING_ROUNDS):
            on_progress("weighing topics for every user", turn / (N_WEIGHING_ROUNDS + 1))
            _, self.concentration_ = fit_topic_prior(moments, self._table(0.0)[:-1], self.flip_probability_)
            agreeing = mix(rows, users, self._table(0.0), self._infer_weights(sample))
            self.flip_probability_ = flip_behind(agreeing, sample.weights)
        self.user_weights_ = self._infer_weights(comparisons)
        on_progress("weighing topics for every user", 1.0)

    def _table(self, flip: float | None = None) -> Floats:
        """Probabilities of ordered pairs, (W + 1, K): row 2 p + (left > right) of pair p; the last for all others."""
        table = np.full((2 * len(self.preferences_) + 1, self.preferences_.shape[1]), 0.5)
        table[0:-1:2], table[1::2] = self.preferences_, 1.0 - self.preferences_
        return win_probabilities(table, self.flip_probability_ if flip is None else flip)

    def _keys(self, lower: NDArray[Any], higher: NDArray[Any]) -> NDArray[np.int64]:
        return lower.astype(np.int64) * len(self.items_) + higher

    def _rows_of(self, left: Codes, right: Codes) -> Codes:
        """Return the row of every ordered pair (left, right) in the table, (n,)."""
        known = self._keys(*self.pairs_.T)
        keys = self._keys(np.minimum(left, right), np.maximum(left, right))
        at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        return np.where(known[at] == keys, 2 * at + (left > right), 2 * len(known)).astype(np.int32)

    def _infer_weights(self, comparisons: Comparisons) -> Floats:
        c = comparisons
        prior = self._prior()
        return weigh_topics(c, self._rows_of(c.winners, c.losers), self._table(), prior)

    def _token_likelihoods(self, winners: Codes, losers: Codes) -> Floats:
        return self._table()[self._rows_of(winners, losers)]

    def _mean_wins(self) -> Floats:
        """P(preferred to another item drawn at random), (Q, K)."""
        n_items, leads = len(self.items_), self._table()[0:-1:2] - 0.5
        sums = [
            np.bincount(self.pairs_[:, 0], lead, n_items) - np.bincount(self.pairs_[:, 1], lead, n_items)
            for lead in leads.T
        ]
        return 0.5 + np.stack(sums, axis=1) / (n_items - 1)

    def _item_scores(self, weights: Floats) -> Floats:
        return self._mean_wins() @ weights


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
