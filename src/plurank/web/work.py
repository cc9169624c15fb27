"""Where a worker process computes: in one thread at a time, so that all others can wait for the network.

Kernels that run on several cores cannot be started from two threads at once with each of numba's threading layers. More
cores are used by more worker processes.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")
BUSY = threading.Lock()  # held by whoever computes in this process


class Computer:
    """Runs what takes time in a thread of its own, and what is quick at once if nothing else runs."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Make the thread, which an application that was closed and is opened again lacks."""
        self.pool = ThreadPoolExecutor(1, "plurank-compute")

    async def run(self, work: Callable[..., Result], *given: Any) -> Result:
        """Compute in the other thread."""
        return await asyncio.get_running_loop().run_in_executor(self.pool, _hold_and_run, work, given)

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
