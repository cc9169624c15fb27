"""plurank's MixedRanking with one ranking for all: Bradley-Terry with a prior chosen on held-out comparisons."""

from typing import Any

from benchmarks.peers.case import Predict, Train
from benchmarks.peers.methods import plurank_mixed

SETTINGS: list[dict[str, Any]] = [{}]


def fit(train: Train, seed: int, threads: int) -> Predict:
    return plurank_mixed.fit(train, seed, threads, n_rankings=1)
