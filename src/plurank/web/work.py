"""Where a worker process computes: in one thread at a time, so that all others can wait for the network.

Kernels that run on several cores cannot be started from two threads at once with each of numba's threading layers. More
cores are used by more worker processes.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from plurank.web.refusals import Refusal

Result = TypeVar("Result")
MOST_WAITING = 200  # more would wait for longer than anybody does
BUSY = threading.Lock()  # held by whoever computes in this process


class Computer:
    """Runs what takes time in a thread of its own, and what is quick at once if nothing else runs."""

    def __init__(self) -> None:
        self.n_waiting = 0
        self.start()

    def start(self) -> None:
        """Make the thread, which an application that was closed and is opened again lacks."""
        self.pool = ThreadPoolExecutor(1, "plurank-compute")

    async def run(self, work: Callable[..., Result], *given: Any) -> Result:
        """Compute in the other thread, when it is our turn; refuse where too many are waiting."""
        if self.n_waiting >= MOST_WAITING:
            sentence = f"{MOST_WAITING} others are waiting for an answer that takes time. Try again later."
            raise Refusal(503, sentence, retry_after="5")
        self.n_waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self.pool, _hold_and_run, work, given)
        finally:
            self.n_waiting -= 1

    async def run_quick(self, work: Callable[..., Result], *given: Any) -> Result:
        """Compute here and now, unless something else is computed: then after that."""
        if not BUSY.acquire(blocking=False):
            return await self.run(work, *given)
        try:
            return work(*given)
        finally:
            BUSY.release()

    def close(self) -> None:
        """Finish what runs, and drop what waits."""
        self.pool.shutdown(wait=True, cancel_futures=True)


def _hold_and_run(work: Callable[..., Result], given: tuple[Any, ...]) -> Result:
    with BUSY:
        return work(*given)
