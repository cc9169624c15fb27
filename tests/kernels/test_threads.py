"""Ranges of units on threads: all of them, each once, whatever happens on the way."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from plurank.kernels import library, threads


@pytest.fixture
def n_threads():
    """A number of threads that is as before after the test."""
    before = threads.get_num_threads()
    yield threads.set_num_threads
    threads.set_num_threads(before)


@pytest.mark.parametrize("work", [0, 1e5, 1e6, 1e12])
@pytest.mark.parametrize("n", [0, 1, 7, 1000])
@pytest.mark.parametrize("threaded", [1, 2, 5])
def test_every_unit_is_done_once(n, work, threaded, n_threads):
    n_threads(threaded)
    done = np.zeros(n, dtype=int)

    def count(begin, end, array, scratch):
        assert len(scratch) == 3
        array[begin:end] += 1

    threads.run(count, n, work, done, memory=3)
    assert (done == 1).all()


def test_long_work_is_cut_even_for_one_thread_so_that_ctrl_c_is_heard(n_threads):
    n_threads(1)
    ranges = []
    threads.run(lambda begin, end: ranges.append((begin, end)), 1000, 50 * threads.MOST_WORK)
    assert len(ranges) == 50


def test_an_error_in_another_thread_is_raised_where_it_was_asked_for(n_threads):
    n_threads(2)
    failed = threading.Event()

    def work(begin, end):
        if threading.current_thread() is not threading.main_thread():
            failed.set()
            raise ZeroDivisionError
        failed.wait()

    with pytest.raises(ZeroDivisionError):
        threads.run(work, 100, 1e9)


def test_ctrl_c_waits_for_what_runs_and_drops_the_rest(n_threads):
    n_threads(2)
    running, started = set(), threading.Event()

    def work(begin, end):
        running.add(begin)
        if threading.current_thread() is not threading.main_thread():
            started.set()  # a helper is at work
        try:
            time.sleep(0.2)
        finally:
            running.discard(begin)

    def interrupt():
        started.wait()
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            threads.run(work, 1000, 1000 * threads.MOST_WORK)
    finally:
        signal.signal(signal.SIGINT, before)
    assert not running


def test_threads_do_not_survive_a_fork_and_are_made_anew(n_threads):
    n_threads(2)
    threads.run(lambda begin, end: None, 100, 1e9)
    assert threads._pool is not None
    threads._forget_pool()  # as a child process does
    threads.run(lambda begin, end: None, 100, 1e9)


@pytest.mark.parametrize(("asked", "expected"), [("", 0), ("3", 3), ("0", None), ("many", None), ("-1", None)])
def test_the_environment_may_ask_for_a_number_of_threads(asked, expected, monkeypatch):
    monkeypatch.setenv("PLURANK_NUM_THREADS", asked)
    if expected is None:
        with pytest.warns(RuntimeWarning, match="PLURANK_NUM_THREADS must be an integer >= 1"):
            assert threads._read_environment() == 0
    else:
        assert threads._read_environment() == expected


def test_fewer_threads_than_one_are_refused():
    with pytest.raises(ValueError, match="n must be an integer >= 1, got 0"):
        threads.set_num_threads(0)


def test_a_containers_quota_counts_as_cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    for text, expected in (("150000 100000", 2), ("max 100000", 8), ("5000 100000", 1)):
        monkeypatch.setattr(threads.Path, "read_text", lambda _, text=text, **__: text)
        assert threads.count_cores() == expected


def test_kernels_that_do_not_exist_are_not_asked_for_silently(monkeypatch):
    monkeypatch.setenv("PLURANK_KERNELS", "avx1024")
    with pytest.warns(RuntimeWarning, match="PLURANK_KERNELS must be one of avx2, baseline, plain, got 'avx1024'"):
        assert library.choose_library()[0] == library.ACTIVE
