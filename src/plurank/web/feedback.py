"""Store the answers that clients send: validate them, write them to the database, and report each outcome."""

from typing import Any

from starlette.responses import Response

from plurank.web import schemas
from plurank.web.database import FeedbackStore, FeedbackUnavailable, GivenAnswer, Outcome
from plurank.web.responses import LOG, RequestError, json_response
from plurank.web.runtime import WorkerThreads
from plurank.web.security import Sender
from plurank.web.service import ModelService

MAX_PENDING_WRITES = 5_000  # writes that may wait for the database


class FeedbackWriter:
    """Writes answers to the database; a response is sent only after the commit.

    Every request is a transaction of its own, in one thread, because SQLite has one writer at a time.
    """

    def __init__(self, store: FeedbackStore) -> None:
        self.store, self.threads = store, WorkerThreads(1, MAX_PENDING_WRITES)
        self.is_failing = False  # the last write failed

    async def store_one(self, answer: schemas.FeedbackRequest, sender: Sender, model: ModelService) -> Response:
        """Store or withdraw one answer."""
        (outcome,) = await self._write([_as_given(answer, sender, model)])
        if outcome == "conflict":
            raise RequestError(409, _conflict(answer.id))
        if outcome == "learned":
            raise RequestError(409, f"answer {answer.id!r} cannot be withdrawn: a model has already learned from it.")
        is_new = outcome == "stored"
        return json_response({"id": answer.id, "stored": is_new, "outcome": outcome}, 201 if is_new else 200)

    async def store_batch(self, batch: schemas.FeedbackBatch, sender: Sender, model: ModelService) -> Response:
        """Store or withdraw several answers in one transaction; those that are rejected do not affect the others."""
        rows: list[dict[str, Any]] = []
        given = []
        for answer in batch.answers:
            try:
                given.append(_as_given(answer, sender, model))
                rows.append({"id": answer.id})
            except RequestError as error:
                rows.append({"id": answer.id, "outcome": "rejected", "error": error.message})
        outcomes = iter(await self._write(given) if given else ())
        for row in rows:
            if "outcome" not in row:
                row["outcome"] = next(outcomes)
                row["error"] = _conflict(row["id"]) if row["outcome"] == "conflict" else None
        return json_response({"answers": rows})

    async def _write(self, answers: list[GivenAnswer]) -> list[Outcome]:
        try:
            outcomes = await self.threads.run(self.store.add, answers)
        except RequestError:  # too many writes are waiting
            raise
        except Exception as error:
            self.is_failing = True
            details = None if isinstance(error, FeedbackUnavailable) else error
            LOG.error("Answers could not be stored: %s", error, exc_info=details)
            message = "the feedback database is unavailable; this answer was not stored. Send it again later."
            raise RequestError(503, message, retry_after="5") from error
        self.is_failing = False
        return outcomes

    def close(self) -> None:
        """Close the connections to the database."""
        self.store.close()


def _as_given(answer: schemas.FeedbackRequest, sender: Sender, model: ModelService) -> GivenAnswer:
    pair = model.normalise_answer(answer.winner, answer.loser)
    return GivenAnswer(answer.id, answer.user, *pair, model.fingerprint, *sender, withdrawn=answer.withdrawn)


def _conflict(id: str) -> str:
    return f"id {id!r} already belongs to another answer. Use a unique id for every answer."
