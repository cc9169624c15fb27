"""Answers that arrive together are stored together: one wait for the disk is enough for all of them."""

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from plurank.web.answers import FeedbackUnavailable, GivenAnswer, Outcome
from plurank.web.refusals import Refusal

if TYPE_CHECKING:
    from plurank.web.feedback import FeedbackStore

LOG = logging.getLogger("plurank.web")
MOST_WAITING = 5_000
Waiting = tuple[GivenAnswer, "asyncio.Future[Outcome]"]


class Batching:
    """Hands answers to a store, all that are waiting at a time; nobody hears of success before the store has it."""

    def __init__(self, store: "FeedbackStore") -> None:
        self.store = store
        self.waiting: list[Waiting] = []
        self.writing: asyncio.Task[None] | None = None
        self.is_failing = False  # the last answers could not be stored

    async def add(self, answer: GivenAnswer) -> Outcome:
        """Store an answer."""
        return (await self.add_all([answer]))[0]

    async def add_all(self, answers: Sequence[GivenAnswer]) -> list[Outcome]:
        """Store answers, all in one transaction."""
        if not answers:
            return []
        if len(self.waiting) >= MOST_WAITING:
            raise unavailable()
        loop = asyncio.get_running_loop()
        futures: list[asyncio.Future[Outcome]] = [loop.create_future() for _ in answers]
        self.waiting += zip(answers, futures, strict=True)
        if self.writing is None:
            self.writing = asyncio.create_task(self._write())
        return list(await asyncio.gather(*futures))

    async def _write(self) -> None:
        try:
            while self.waiting:
                together, self.waiting = self.waiting, []
                await self._write_together(together)
        finally:
            self.writing = None

    async def _write_together(self, together: list[Waiting]) -> None:
        try:
            outcomes = await run_in_threadpool(self.store.add, [answer for answer, _ in together])
        except Exception as error:
            self.is_failing = True
            LOG.error("Answers could not be stored: %s", error)
            if not isinstance(error, FeedbackUnavailable):
                LOG.exception("This is our fault.")
            settle(together, None)
        else:
            self.is_failing = False
            settle(together, outcomes)


def settle(together: list[Waiting], outcomes: list[Outcome] | None) -> None:
    """Tell everybody who still waits what became of their answer; without outcomes nothing was stored."""
    for n, (_, future) in enumerate(together):
        if future.done():  # the client went away
            continue
        if outcomes is None:
            future.set_exception(unavailable())
        else:
            future.set_result(outcomes[n])


def unavailable() -> Refusal:
    """Refuse an answer that could not be stored."""
    sentence = "the database of answers is full, busy or lost; this answer was not stored. Send it again later."
    return Refusal(503, sentence, retry_after="5")
