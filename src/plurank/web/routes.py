"""The addresses of the service: parse, ask the model, answer."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, Query
from starlette.responses import Response

import plurank
from plurank.web import schemas
from plurank.web.feedback import GivenAnswer
from plurank.web.page_files import PageFile
from plurank.web.refusals import Refusal, json_answer, json_bytes

if TYPE_CHECKING:
    from plurank.web.app import Service

QUICK_PAIRS = 500  # take less time than handing them to another thread is worth
A_DAY = {"cache-control": "public, max-age=86400"}
REASONS = {
    400: "Not JSON.", 401: "No token, or the wrong one.", 408: "Too slow.", 413: "Too large.", 415: "Not JSON.",
    422: "Not what was expected.", 429: "Too many requests.", 503: "Too busy.",
}  # fmt: skip


def _errors(*statuses: int, **more: str) -> dict[int | str, dict[str, Any]]:
    reasons = {**{status: REASONS[status] for status in statuses}, **{int(k[1:]): text for k, text in more.items()}}
    return {status: {"model": schemas.ErrorAnswer, "description": text} for status, text in reasons.items()}


POSTED, FETCHED = _errors(*REASONS), _errors(401, 422, 429, 503)


def add_routes(app: FastAPI, service: "Service") -> None:
    """Add all addresses, those that are asked for most first, because they are looked through in this order."""
    for add in (_add_model, _add_people, _add_feedback, _add_page):
        add(app, service)


def _add_model(app: FastAPI, service: "Service") -> None:
    @app.post("/predict", response_model=schemas.PredictAnswer, responses=POSTED)
    async def predict(body: schemas.PredictRequest) -> Response:
        """Predict who prefers what. Somebody unknown is predicted as anybody of the population."""
        pairs = [(pair.user, pair.left, pair.right) for pair in body.pairs]
        run = service.computer.run_quick if len(pairs) <= QUICK_PAIRS else service.computer.run
        return json_answer({"probabilities": await run(service.served.predict, pairs)})

    @app.get("/health", response_model=schemas.HealthAnswer)
    async def health() -> Response:
        """Say that the service is there, and what it serves. Needs no token."""
        known = {"model": service.served.describe(), "feedback": service.batching is not None}
        return json_answer({"status": "ok", "plurank": plurank.__version__, **known})

    @app.get("/rankings", response_model=schemas.RankingsAnswer, responses=FETCHED)
    async def rankings(top: Annotated[int | None, Query(ge=1, le=10**9)] = None) -> Response:
        """List the rankings, the most followed first, with the best items of each."""
        return json_bytes(await service.computer.run(service.served.rankings, top))


def _add_people(app: FastAPI, service: "Service") -> None:
    @app.post("/rank", response_model=schemas.RankAnswer, responses=POSTED)
    async def rank(body: schemas.RankRequest) -> Response:
        """Order the items for a known user, for somebody who gave answers, or, with neither, for everybody."""
        served = service.served
        if body.answers is not None:
            return json_bytes(await service.computer.run(served.rank_for, _tuples(body.answers), body.top))
        found = served.remembered_rank(body.user, body.top)
        if found is None:
            found = await service.computer.run(served.rank, body.user, body.top)
        return json_bytes(found)

    @app.post("/fold-in", response_model=schemas.FoldInAnswer, responses=POSTED)
    async def fold_in(body: schemas.FoldInRequest) -> Response:
        """Tell how much somebody who gave answers follows each ranking. Nothing is kept."""
        return json_answer(await service.computer.run(service.served.fold_in, _tuples(body.answers)))

    @app.post("/next-pair", response_model=schemas.NextPairAnswer, responses=POSTED)
    async def next_pair(body: schemas.NextPairRequest) -> Response:
        """Choose the pair whose answer says most about somebody; left and right are null when all were asked."""
        skip = [(pair.left, pair.right) for pair in body.skip]
        return json_answer(await service.computer.run(service.served.next_pair, _tuples(body.answers), skip))


def _tuples(answers: list[schemas.Answer]) -> list[tuple[Any, Any]]:
    return [(answer.winner, answer.loser) for answer in answers]


FEEDBACK_ERRORS = {
    **POSTED,
    **_errors(
        s404="The service keeps no answers.", s409="The id stands for another answer.", s503="It could not be stored."
    ),
    200: {"model": schemas.FeedbackAnswer, "description": "It had been stored before."},
}


def _add_feedback(app: FastAPI, service: "Service") -> None:
    @app.post("/feedback", status_code=201, response_model=schemas.FeedbackAnswer, responses=FEEDBACK_ERRORS)
    async def feedback(body: schemas.FeedbackRequest) -> Response:
        """Keep an answer, for the next update of the model. Send it again, with the same id, until it is stored."""
        if service.batching is None:
            raise Refusal(404, "this service keeps no answers. Start it with --feedback to let it.")
        served = service.served
        answer = GivenAnswer(body.id, body.user, *served.own_answer(body.winner, body.loser), served.fingerprint)
        outcome = await service.batching.add(answer)
        if outcome == "conflict":
            raise Refusal(409, f"id {body.id!r} stands for another answer already. Give every answer an id of its own.")
        return json_answer({"id": body.id, "stored": outcome == "stored"}, 201 if outcome == "stored" else 200)


def _add_page(app: FastAPI, service: "Service") -> None:
    for path, file in service.page.items():
        app.add_api_route(path, _sender(file), include_in_schema=False)

    @app.get("/vega.js", include_in_schema=False)
    def vega() -> Response:
        return Response(service.vega.get(), headers=A_DAY, media_type="text/javascript")

    @app.get("/figures/rankings", response_model=schemas.Figure, responses={**FETCHED, **_errors(s404="No figures.")})
    async def figure() -> Response:
        """Draw the rankings: a Vega-Lite specification."""
        return json_bytes(await service.computer.run(service.served.figure))


def _sender(file: PageFile) -> Callable[[], Awaitable[Response]]:
    async def send_file() -> Response:
        return Response(file.content, headers={"cache-control": "no-cache"}, media_type=file.kind)

    return send_file
