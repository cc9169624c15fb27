"""cornac: matrix factorisation of win shares, from comparisons alone."""

from typing import Any

from benchmarks.peers.case import Predict, Train
from benchmarks.peers.methods import cornac_mf
from benchmarks.peers.methods.win_shares import as_stars

SETTINGS = cornac_mf.SETTINGS


def fit(train: Train, seed: int, threads: int, **setting: Any) -> Predict:
    return cornac_mf.fit(as_stars(train), seed, threads, **setting)
