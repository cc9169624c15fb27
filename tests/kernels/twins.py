"""Calling a native function and its plain twin on the same small input."""

from importlib import import_module

import numpy as np
from hypothesis import strategies as st

from plurank import kernels

NOTHING = np.empty(0)
NOTHING.setflags(write=False)


def agree(fast, plain, rtol=1e-9, atol=1e-12):
    """Whole numbers are equal, other numbers equal up to the order of summation."""
    fast, plain = (x if isinstance(x, tuple) else (x,) for x in (fast, plain))
    assert len(fast) == len(plain)
    for a, b in zip(fast, plain, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape
        if a.dtype.kind == "f":
            np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)
        else:
            np.testing.assert_array_equal(a, b)


def twin_of(name):
    """The plain twin of a native function: the function of that name in the module of that name."""
    return getattr(import_module(getattr(kernels, name).__module__.replace("kernels.", "kernels.plain.")), name)


def _copy(array):
    """A copy that can be written to only where the array can."""
    copy = array.copy()
    copy.setflags(write=array.flags.writeable)
    return copy


def both(name, *arguments, **tolerance):
    """Call a kernel and its twin on copies, check that they agree, and give the kernel's answer."""
    answers = [
        function(*(_copy(a) if isinstance(a, np.ndarray) else a for a in arguments))
        for function in (getattr(kernels, name), twin_of(name))
    ]
    agree(*answers, **tolerance)
    return answers[0]


@st.composite
def users_and_items(draw, most_users=6, most_each=9):
    """offsets, winners, losers, weights (empty or not), number of items and a generator for whatever else is needed."""
    per_user = draw(st.lists(st.integers(0, most_each), max_size=most_users))
    n_items = draw(st.integers(2, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    offsets = np.concatenate([[0], np.cumsum(per_user)]).astype(np.int64)
    n = int(offsets[-1])
    winners = rng.integers(0, n_items, n).astype(np.int32)
    losers = ((winners + rng.integers(1, n_items, n)) % n_items).astype(np.int32)
    weights = rng.uniform(0.1, 3.0, n) if draw(st.booleans()) else NOTHING
    for column in (offsets, winners, losers, weights):
        column.setflags(write=False)  # as those of Comparisons
    return offsets, winners, losers, weights, n_items, rng
