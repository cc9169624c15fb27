"""What the tests of the data door share."""

import numpy as np
import polars as pl
import pytest

from plurank import Comparisons


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
    return Comparisons.from_arrays(
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
