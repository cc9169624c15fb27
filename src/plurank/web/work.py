"""Where a worker process computes: in threads of their own, so that the network never waits.

Native functions release Python's lock, so that several requests are computed at once on several cores.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from plurank.kernels.threads import get_num_threads
from plurank.web.refusals import Refusal

Result = TypeVar("Result")
MOST_WAITING = 200  # more would wait for longer than anybody does


class Computer:
    """Runs what takes time in other threads, one for every core."""

    def __init__(self) -> None:
        self.n_waiting = 0
        self.start()

    def start(self) -> None:
        """Make the threads, which an application that was closed and is opened again lacks."""
        self.pool = ThreadPoolExecutor(get_num_threads(), "plurank-compute")

    async def run(self, work: Callable[..., Result], *given: Any) -> Result:
        """Compute in another thread; refuse where too many are waiting."""
        if self.n_waiting >= MOST_WAITING:
            sentence = f"{MOST_WAITING} others are waiting for an answer that takes time. Try again later."
            raise Refusal(503, sentence, retry_after="5")
        self.n_waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self.pool, work, *given)
        finally:
            self.n_waiting -= 1

    def close(self) -> None:
        """Finish what runs, and drop what waits."""
        self.pool.shutdown(wait=True, cancel_futures=True)
