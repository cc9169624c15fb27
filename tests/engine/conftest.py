"""Populations in memory and in a store, and a cluster of two real worker processes."""

import warnings
from contextlib import contextmanager

import numpy as np
import polars as pl
import pytest

import plurank


def make_store(folder, weighted):
    """Give a store with text ids in no order, and the same comparisons in memory."""
    c = plurank.simulate(150, 8, 3, 20, random_state=5, mean_weights=[0.5, 0.3, 0.2]).comparisons
    frame = c.to_frame().with_columns(user="person " + pl.col("user").cast(pl.String))
    if weighted:
        frame = frame.with_columns(weight=np.random.default_rng(0).choice([0.5, 1.0, 2.0], len(frame)))
    file = folder / "votes.csv"
    frame.sample(fraction=1.0, shuffle=True, seed=0).write_csv(file)
    return plurank.ingest(file, folder / "votes.store"), plurank.read_comparisons(file)


@pytest.fixture(scope="session")
def stored(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("store"), weighted=False)


@pytest.fixture(scope="session")
def weighted_store(tmp_path_factory):
    return make_store(tmp_path_factory.mktemp("weighted"), weighted=True)


@contextmanager
def start_cluster(n_workers, threads_per_worker):
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=threads_per_worker, dashboard_address=None
        )
    yield cluster
    cluster.close()


@pytest.fixture(scope="package")  # ended after this folder: workers are busy even when nobody asks them anything
def cluster():
    with start_cluster(n_workers=2, threads_per_worker=1) as started:
        yield started
