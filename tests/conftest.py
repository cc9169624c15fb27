"""What every test can use."""

import os

import numpy as np
import polars as pl
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


@pytest.fixture
def path(tmp_path):
    """Where to save a model."""
    return tmp_path / "model.plurank"


def _assert_same(left, right):
    """Two sets of comparisons are equal in every array, with labels of the same type."""
    for name in ("winners", "losers", "offsets"):
        np.testing.assert_array_equal(getattr(left, name), getattr(right, name), strict=True)
    for name in ("items", "users"):
        assert getattr(left, name).dtype == getattr(right, name).dtype
        assert getattr(left, name).tolist() == getattr(right, name).tolist()
    assert (left.weights is None) == (right.weights is None)
    if left.weights is not None:
        np.testing.assert_array_equal(left.weights, right.weights, strict=True)


@pytest.fixture(scope="session")
def assert_same():
    return _assert_same


@pytest.fixture(scope="session")
def triples():
    """Comparisons as a list of (user, winner, loser) or, with weights, (user, winner, loser, weight)."""
    return lambda comparisons: comparisons.to_frame().rows()


@pytest.fixture
def small():
    """Three users and four items; user b has one comparison, user c a weight."""
    return plurank.Comparisons.from_arrays(
        ["a", "b", "a", "c", "c"],
        ["x", "y", "y", "z", "z"],
        ["y", "x", "z", "x", "w"],
        weights=[1, 1, 1, 1, 2.5],
    )


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file of a temporary folder and give its path."""

    def write_file(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


@pytest.fixture
def frame():
    """A plain frame of three comparisons."""
    return pl.DataFrame({"user": ["a", "b", "a"], "winner": ["x", "y", "y"], "loser": ["y", "x", "z"]})


@pytest.fixture
def file(tmp_path):
    """Write a text to a file of a name, and return its path."""

    def write(name, text):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write
