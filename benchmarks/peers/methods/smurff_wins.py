"""smurff: Bayesian probabilistic matrix factorisation of win shares, from comparisons alone."""

from typing import Any

from benchmarks.peers.case import Predict, Train
from benchmarks.peers.methods import smurff_bpmf
from benchmarks.peers.methods.win_shares import as_stars

SETTINGS = smurff_bpmf.SETTINGS


def fit(train: Train, seed: int, threads: int, **setting: Any) -> Predict:
    return smurff_bpmf.fit(as_stars(train), seed, threads, **setting)
