"""smurff: Bayesian probabilistic matrix factorisation of stars, less their mean, averaged over samples."""

import tempfile
from pathlib import Path

import polars as pl
import smurff
from scipy.sparse import coo_matrix

from benchmarks.peers.case import Floats, Predict, Train

SETTINGS = [  # precision: of a star's noise; smurff's own BPMF session has 5
    {"num_latent": 10, "precision": 5.0},
    {"num_latent": 10, "precision": 1.0},
    {"num_latent": 10, "precision": 0.3},
    {"num_latent": 3, "precision": 1.0},
    {"num_latent": 20, "precision": 1.0},
]
BURN_IN, SAMPLES = 100, 200


def fit(train: Train, seed: int, threads: int, *, num_latent: int, precision: float) -> Predict:
    assert train.ratings is not None
    users, items, ratings = (train.ratings[name].to_numpy() for name in ("user", "item", "rating"))
    stars = coo_matrix((ratings - ratings.mean(), (users, items)), shape=(train.n_users, train.n_items))
    with tempfile.TemporaryDirectory() as folder:
        session = smurff.TrainSession(
            num_latent=num_latent, burnin=BURN_IN, nsamples=SAMPLES, seed=seed, num_threads=threads, verbose=0,
            save_name=str(Path(folder) / "samples.hdf5"), save_freq=1,
        )  # fmt: skip
        session.addTrainAndTest(stars, None, smurff.FixedNoise(precision))
        session.run()
        samples = session.makePredictSession().samples
        table = sum(sample.predict((Ellipsis, Ellipsis)) for sample in samples) / len(samples)

    def predict(asked: pl.DataFrame, questions: pl.DataFrame) -> Floats:  # noqa: ARG001
        who, left, right = (questions[name].to_numpy() for name in ("user", "left", "right"))
        return table[who, left] - table[who, right]

    return predict
