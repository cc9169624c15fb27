"""BLAS has one thread as long as any fit runs, and as many as before after the last."""

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from plurank.engine.local import one_blas_thread

np.ones((2, 2)) @ np.ones((2, 2))  # BLAS is loaded


def n_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_the_limit_holds_until_the_last_of_several_fits_has_ended():
    with threadpool_limits(2, "blas"):
        before = n_threads()
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        assert n_threads() == {1}
        first.__exit__(None, None, None)
        assert n_threads() == {1}, "the other fit still runs"
        second.__exit__(None, None, None)
        assert n_threads() == before
