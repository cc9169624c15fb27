"""choix: one Bradley-Terry ranking by iterative Luce spectral ranking of the win counts, regularised by alpha."""

import choix

from benchmarks.peers.case import Predict, Train
from benchmarks.peers.methods.one_ranking import predict_by_utility, win_counts

SETTINGS = [{"alpha": alpha} for alpha in (1e-4, 1e-3, 1e-2, 1e-1, 1.0)]


def fit(train: Train, seed: int, threads: int, *, alpha: float) -> Predict:  # noqa: ARG001
    counts = win_counts(train.pairs, train.n_items)
    return predict_by_utility(choix.ilsr_pairwise_dense(counts, alpha=alpha, max_iter=1000, tol=1e-6))
