"""smurff: Macau, Bayesian factorisation of stars with side information on users: which items they rated."""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import smurff
from scipy.sparse import coo_matrix, csr_matrix

from benchmarks.peers.case import Floats, Predict, Train
from benchmarks.peers.methods import smurff_bpmf
from benchmarks.peers.methods.smurff_bpmf import BURN_IN, SAMPLES

SETTINGS = smurff_bpmf.SETTINGS


def fit(train: Train, seed: int, threads: int, *, num_latent: int, precision: float) -> Predict:
    assert train.ratings is not None
    users, items, ratings = (train.ratings[name].to_numpy() for name in ("user", "item", "rating"))
    shape = (train.n_users, train.n_items)
    stars = coo_matrix((ratings - ratings.mean(), (users, items)), shape=shape)
    rated = csr_matrix((np.ones(len(ratings)), (users, items)), shape=shape)
    with tempfile.TemporaryDirectory() as folder:
        session = smurff.TrainSession(
            priors=["macau", "normal"], num_latent=num_latent, burnin=BURN_IN, nsamples=SAMPLES, seed=seed,
            num_threads=threads, verbose=0, save_name=str(Path(folder) / "samples.hdf5"), save_freq=1,
        )  # fmt: skip
        session.addTrainAndTest(stars, None, smurff.FixedNoise(precision))
        session.addSideInfo(0, rated, direct=True)
        session.run()
        samples = session.makePredictSession().samples
        table = sum(sample.predict((Ellipsis, Ellipsis)) for sample in samples) / len(samples)

    def predict(asked: pl.DataFrame, questions: pl.DataFrame) -> Floats:  # noqa: ARG001
        who, left, right = (questions[name].to_numpy() for name in ("user", "left", "right"))
        return table[who, left] - table[who, right]

    return predict
