"""Run native functions over ranges of units, on as many threads as there are cores.

Native functions release the GIL. Every unit (a block of users, a row, a ranking) has results of its own, so that these
do not depend on the number of threads. Threads that have nothing to do sleep.
"""

import math
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

LEAST_WORK = 100_000  # elementary steps, about a tenth of a millisecond, that are worth another thread
MOST_WORK = 200_000_000  # of one call, so that Ctrl-C is heard soon
TASKS_PER_THREAD = 4  # so that no thread waits long for the last

_n_threads = 0
_pool: ThreadPoolExecutor | None = None


def count_cores() -> int:
    """Return how many cores this process may use: by affinity and by the quota of a container."""
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text(encoding="ascii").split()
        return max(min(cores, math.ceil(int(quota) / int(period))), 1)
    except (OSError, ValueError):  # no such file, or no quota ("max")
        return cores


def get_num_threads() -> int:
    """Return on how many threads native functions run: ``PLURANK_NUM_THREADS``, or one a core."""
    global _n_threads
    if _n_threads == 0:
        _n_threads = _read_environment() or count_cores()
    return _n_threads


def _read_environment() -> int:
    """Return what ``PLURANK_NUM_THREADS`` asks for; 0 where it does not, or cannot be understood."""
    asked = os.environ.get("PLURANK_NUM_THREADS", "")
    if not asked or (asked.isascii() and asked.isdigit() and int(asked) > 0):
        return int(asked or 0)
    message = f"PLURANK_NUM_THREADS must be an integer >= 1, got {asked!r:.40}. One thread a core is used."
    warnings.warn(message, RuntimeWarning, stacklevel=3)
    return 0


def set_num_threads(n: int) -> None:
    """Let native functions of this process run on n threads from now on; results do not depend on it."""
    global _n_threads
    if n < 1:
        raise ValueError(f"n must be an integer >= 1, got {n}.")
    if n != _n_threads:
        _n_threads = n
        _forget_pool()


def _forget_pool() -> None:
    global _pool
    _pool = None  # what runs on it goes on; its threads end with it


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)  # threads do not survive a fork


def _open_pool() -> ThreadPoolExecutor:
    global _pool
    pool = _pool
    if pool is None:
        pool = _pool = ThreadPoolExecutor(max(get_num_threads() - 1, 1), "plurank-kernel")  # and the thread that asks
    return pool


def run(function: Callable[..., Any], n: int, work: float, *arguments: Any, memory: int = 0) -> None:
    """Call ``function(begin, end, *arguments)`` for ranges that cover 0, ..., n - 1.

    work: elementary steps of all units together. memory: numbers of scratch memory that a call takes as last argument.
    """

    def call(begin: int, end: int) -> None:
        function(begin, end, *arguments, *((np.empty(memory),) if memory else ()))

    n_threads = get_num_threads()
    ranges = _cut(n, work, n_threads)
    n_helpers = min(n_threads, len(ranges)) - 1
    if n_helpers < 1:
        for begin, end in ranges:
            call(begin, end)
        return
    shared, pool = _SharedRanges(ranges, call), _open_pool()
    try:
        for _ in range(n_helpers):
            pool.submit(shared.help)
        for begin, end in shared:
            call(begin, end)
    finally:  # also after Ctrl-C: nobody may go on while results are still written
        shared.finish()
    if shared.error is not None:
        raise shared.error


class _SharedRanges:
    """Ranges that the thread which asked and its helpers take in turns."""

    def __init__(self, ranges: list[tuple[int, int]], call: Callable[[int, int], None]) -> None:
        self.call = call
        self.error: Exception | None = None
        self._left, self._n_helping, self._changed = iter(ranges), 0, threading.Condition()

    def __iter__(self) -> Iterator[tuple[int, int]]:
        while (taken := self._take()) is not None:
            yield taken

    def _take(self, helping: int = 0) -> tuple[int, int] | None:
        with self._changed:
            taken = next(self._left, None)
            self._n_helping += helping if taken is not None else 0
            return taken

    def help(self) -> None:
        """Work on ranges, in another thread, as long as there are any."""
        while (taken := self._take(helping=1)) is not None:
            try:
                self.call(*taken)
            except Exception as error:
                self.error, self._left = error, iter(())
            finally:
                with self._changed:
                    self._n_helping -= 1
                    self._changed.notify_all()

    def finish(self) -> None:
        """Drop what nobody has begun, and wait for the helpers."""
        with self._changed:
            self._left = iter(())
            self._changed.wait_for(lambda: self._n_helping == 0)


def _cut(n: int, work: float, n_threads: int) -> list[tuple[int, int]]:
    """Cut 0, ..., n - 1 into ranges that keep the threads busy, and are short enough for Ctrl-C."""
    busy = min(TASKS_PER_THREAD * n_threads, work // LEAST_WORK)
    n_ranges = int(min(n, max(busy, work // MOST_WORK, 1)))
    return list(pairwise(n * part // n_ranges for part in range(n_ranges + 1))) if n else []
