"""What every test can use."""

import os

import numpy as np
import pytest
from hypothesis import settings

import plurank
from plurank.kernels.threads import set_num_threads

pytest.register_assert_rewrite("tests.contracts.model_contract")

if "PYTEST_XDIST_WORKER" in os.environ:
    set_num_threads(1)  # several test processes share the cores; tests of threads ask for theirs

# The same examples in every run of `make test`, so that a red build is the change's; `make test-long` draws others.
settings.register_profile("plurank", deadline=None, max_examples=40, database=None, derandomize=True)
settings.register_profile("random", parent=settings.get_profile("plurank"), derandomize=False, max_examples=200)
settings.load_profile(os.environ.get("PLURANK_EXAMPLES", "plurank"))


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
