"""Run native functions over ranges of units, on as many threads as there are cores.

Native functions release the GIL. Every unit (a block of users, a row, a ranking) has results of its own, so that these
do not depend on the number of threads. Threads that have nothing to do sleep.
"""

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
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
        asked = os.environ.get("PLURANK_NUM_THREADS", "")
        _n_threads = int(asked) if asked.isascii() and asked.isdigit() and int(asked) > 0 else count_cores()
    return _n_threads


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
    if _pool is None:
        _pool = ThreadPoolExecutor(get_num_threads(), "plurank-kernel")
    return _pool


def run(function: Callable[..., Any], n: int, work: float, *arguments: Any, memory: int = 0) -> None:
    """Call ``function(begin, end, *arguments)`` for ranges that cover 0, ..., n - 1.

    work: elementary steps of all units together. memory: numbers of scratch memory that a call takes as last argument.
    """
    n_threads = get_num_threads()
    ranges = _cut(n, work, n_threads)

    def call(begin: int, end: int) -> None:
        function(begin, end, *arguments, *((np.empty(memory),) if memory else ()))

    if n_threads == 1 or len(ranges) == 1:
        for begin, end in ranges:
            call(begin, end)
        return
    pool = _open_pool()
    tasks = [pool.submit(call, begin, end) for begin, end in ranges]
    try:
        for task in tasks:
            task.result()
    finally:  # also after Ctrl-C: nobody may go on while results are still written
        for task in tasks:
            task.cancel()
        wait(tasks)


def _cut(n: int, work: float, n_threads: int) -> list[tuple[int, int]]:
    """Cut 0, ..., n - 1 into ranges that keep the threads busy, and are short enough for Ctrl-C."""
    busy = min(TASKS_PER_THREAD * n_threads, work // LEAST_WORK)
    n_ranges = int(min(n, max(busy, work // MOST_WORK, 1)))
    return list(pairwise(n * part // n_ranges for part in range(n_ranges + 1))) if n else []
