"""What every test can use."""

import os

import numpy as np
import pytest
from hypothesis import settings

import plurank

pytest.register_assert_rewrite("tests.contracts.model_contract")

# several test processes share the cores: threads that wait must not keep a core busy
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
if "PYTEST_XDIST_WORKER" in os.environ and os.environ.get("PLURANK_PLAIN") != "1":
    import numba

    numba.set_num_threads(1)  # tests of threads ask for theirs

# the first call of a kernel may compile, which is no reason to fail
settings.register_profile("plurank", deadline=None, max_examples=40, database=None)
settings.load_profile("plurank")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def easy():
    """A simulated population that every method recovers: 3 rankings of 10 items."""
    return plurank.simulate(
        n_users=800, n_items=10, n_rankings=3, comparisons_per_user=50, random_state=1, mean_weights=[0.5, 0.3, 0.2]
    )


@pytest.fixture(scope="session")
def easy_model(easy):
    return plurank.TopicRanking(3, random_state=0).fit(easy.comparisons)
