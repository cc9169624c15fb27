"""Answers that come in: as the model spells them, into the database, and what became of each."""

from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from plurank.web import schemas
from plurank.web.answers import GivenAnswer
from plurank.web.refusals import Refusal, json_answer
from plurank.web.visitors import Origin

if TYPE_CHECKING:
    from plurank.web.app import Service
    from plurank.web.batching import Batching


async def store_one(service: "Service", body: Any, origin: Origin) -> Response:
    """Store one answer, or withdraw it."""
    batching = _require_batching(service)
    outcome = await batching.add(_as_given(service, body, origin))
    if outcome == "conflict":
        raise Refusal(409, _conflict(body.id))
    if outcome == "learned":
        raise Refusal(409, f"answer {body.id!r} cannot be withdrawn: a model has learned from it already.")
    is_new = outcome == "stored"
    return json_answer({"id": body.id, "stored": is_new, "outcome": outcome}, 201 if is_new else 200)


async def store_several(service: "Service", body: Any, origin: Origin) -> Response:
    """Store or withdraw several answers; one that is rejected does not keep the others out."""
    batching = _require_batching(service)
    found: list[dict[str, Any]] = []
    given = []
    for answer in body.answers:
        try:
            given.append(_as_given(service, answer, origin))
            found.append({"id": answer.id})
        except Refusal as refusal:
            found.append({"id": answer.id, "outcome": "rejected", "error": refusal.sentence})
    outcomes = iter(await batching.add_all(given))
    for row in found:
        if "outcome" not in row:
            row["outcome"] = next(outcomes)
            row["error"] = _conflict(row["id"]) if row["outcome"] == "conflict" else None
    return json_answer({"answers": found})


def _require_batching(service: "Service") -> "Batching":
    if service.batching is None:
        raise Refusal(404, "this service stores no answers. Start it with --feedback to let it.")
    return service.batching


def _as_given(service: "Service", body: schemas.FeedbackRequest, origin: Origin) -> GivenAnswer:
    served = service.served
    said = served.own_answer(body.winner, body.loser)
    return GivenAnswer(body.id, body.user, *said, served.fingerprint, *origin, withdrawn=body.withdrawn)


def _conflict(id: str) -> str:
    return f"id {id!r} stands for another answer already. Give every answer an id of its own."
