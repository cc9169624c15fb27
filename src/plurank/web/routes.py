"""The addresses of the service: parse, ask the model, answer."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, Query
from starlette.requests import Request
from starlette.responses import Response

import plurank
from plurank.web import schemas
from plurank.web.door import ORIGIN
from plurank.web.page_files import PageFile
from plurank.web.refusals import json_answer, json_bytes
from plurank.web.storing import store_one, store_several
from plurank.web.visitors import Origin

if TYPE_CHECKING:
    from plurank.web.app import Service

QUICK_PAIRS = 500  # take less time than handing them to another thread is worth
N_QUESTIONS = 20  # of a survey, unless it says otherwise
A_DAY = {"cache-control": "public, max-age=86400"}
REASONS = {
    400: "Not JSON.", 401: "No token, or the wrong one.", 403: "Not to be revealed.", 408: "Too slow.",
    413: "Too large.", 415: "Not JSON.", 422: "Not what was expected.", 429: "Too many requests.", 503: "Too busy.",
}  # fmt: skip
STORAGE_FAILS = "answers cannot be stored"


def _errors(*statuses: int, **more: str) -> dict[int | str, dict[str, Any]]:
    reasons = {**{status: REASONS[status] for status in statuses}, **{int(k[1:]): text for k, text in more.items()}}
    return {status: {"model": schemas.ErrorAnswer, "description": text} for status, text in reasons.items()}


POSTED, FETCHED = _errors(*REASONS), _errors(401, 403, 422, 429, 503)


def add_routes(app: FastAPI, service: "Service") -> None:
    """Add all addresses, those that are asked for most first, because they are looked through in this order."""
    for add in (_add_model, _add_people, _add_feedback, _add_page):
        add(app, service)


def _add_model(app: FastAPI, service: "Service") -> None:
    @app.post("/predict", response_model=schemas.PredictAnswer, responses=POSTED)
    async def predict(body: schemas.PredictRequest) -> Response:
        """Predict who prefers what. Somebody unknown is predicted as anybody of the population."""
        service.permissions.check_results()
        service.permissions.check_people(*(pair.user for pair in body.pairs))
        pairs = [(pair.user, pair.left, pair.right) for pair in body.pairs]
        predict = service.served.predict
        found = predict(pairs) if len(pairs) <= QUICK_PAIRS else await service.computer.run(predict, pairs)
        return json_answer({"probabilities": found})

    @app.get("/health", response_model=schemas.HealthAnswer)
    async def health() -> Response:
        """Say that the service is there, what it serves, and whether answers can be stored. Needs no token."""
        known = {"model": service.served.describe(), "feedback": service.batching is not None}
        fails = service.batching is not None and service.batching.is_failing
        return json_answer({"status": STORAGE_FAILS if fails else "ok", "plurank": plurank.__version__, **known})

    @app.get("/rankings", response_model=schemas.RankingsAnswer, responses=FETCHED)
    async def rankings(top: Annotated[int | None, Query(ge=1, le=10**9)] = None) -> Response:
        """List the rankings, the most followed first, with the best items of each, and what all camps share.

        One to four people are given as "fewer than 5", unless people are shown.
        """
        service.permissions.check_results()
        rankings = partial(service.served.rankings, show_few=service.permissions.people)
        return json_bytes(await service.computer.run(rankings, top))


def _add_people(app: FastAPI, service: "Service") -> None:
    @app.post("/rank", response_model=schemas.RankAnswer, responses=POSTED)
    async def rank(body: schemas.RankRequest) -> Response:
        """Order the items for a known user, for somebody who gave answers, or, with neither, for everybody."""
        service.permissions.check_results()
        service.permissions.check_people(body.user)
        served = service.served
        if body.answers is not None:
            return json_bytes(await service.computer.run(served.rank_for, _tuples(body.answers), body.top))
        found = served.remembered_rank(body.user, body.top)
        if found is None:
            found = await service.computer.run(served.rank, body.user, body.top)
        return json_bytes(found)

    @app.post("/fold-in", response_model=schemas.FoldInAnswer, responses=POSTED)
    async def fold_in(body: schemas.FoldInRequest) -> Response:
        """Say how much somebody who gave answers follows each ranking. Nothing is stored."""
        service.permissions.check_results()
        return json_answer(await service.computer.run(service.served.fold_in, _tuples(body.answers)))

    @app.post("/next-pair", response_model=schemas.NextPairAnswer, responses=POSTED)
    async def next_pair(body: schemas.NextPairRequest, request: Request) -> Response:
        """Choose the pair whose answer says most about somebody; left and right are null when all were asked.

        In a survey every item gets its turn, and people with other names are asked other pairs.
        """
        skip = [(pair.left, pair.right) for pair in body.skip]
        served, answers = service.served, _tuples(body.answers)
        if not service.settings.hides_results:
            return json_answer(await service.computer.run(served.next_pair, answers, skip))
        visitor = body.visitor or _origin(request).visitor or ""
        return json_answer(await service.computer.run(served.survey_pair, answers, skip, visitor, service.asked))


def _tuples(answers: list[schemas.Answer]) -> list[tuple[Any, Any]]:
    return [(answer.winner, answer.loser) for answer in answers]


def _origin(request: Request) -> Origin:
    origin: Origin = request.scope.get(ORIGIN, Origin())
    return origin


FEEDBACK_ERRORS = {
    **POSTED,
    **_errors(
        s404="The service stores no answers.", s409="The id stands for another answer.", s503="It could not be stored."
    ),
    200: {
        "model": schemas.FeedbackAnswer | schemas.FeedbackBatchAnswer,
        "description": "It had been stored before, or was withdrawn; or what became of each of several answers.",
    },
}


def _add_feedback(app: FastAPI, service: "Service") -> None:
    @app.post("/feedback", status_code=201, response_model=schemas.FeedbackAnswer, responses=FEEDBACK_ERRORS)
    async def feedback(body: schemas.FeedbackBody, request: Request) -> Response:
        """Store an answer, or several, for the next update of the model.

        Send it again, with the same id, until it is stored; each id counts once. Of several answers each has an outcome
        of its own, and those that are stored are stored together. With `withdrawn` an answer is taken back.
        """
        store = store_several if isinstance(body, schemas.FeedbackBatch) else store_one
        return await store(service, body, _origin(request))


def _add_page(app: FastAPI, service: "Service") -> None:
    for path, file in service.page.items():
        app.add_api_route(path, _sender(file), include_in_schema=False)

    @app.get("/survey", response_model=schemas.SurveyAnswer, responses=FETCHED)
    async def survey() -> Response:
        """Say what a page must know before it asks its questions."""
        settings, items = service.settings, service.served.describe_items()
        n_pairs = items["n_items"] * (items["n_items"] - 1) // 2
        asked = settings.questions or (N_QUESTIONS if settings.hides_results else None)
        texts = {"title": settings.title, "question": settings.question}
        shown = {"hide_results": settings.hides_results, "feedback": service.batching is not None}
        return json_answer({**texts, "questions": None if asked is None else min(asked, n_pairs), **shown, **items})

    @app.get("/vega.js", include_in_schema=False)
    def vega() -> Response:
        return Response(service.vega.get(), headers=A_DAY, media_type="text/javascript")

    @app.get("/figures/rankings", response_model=schemas.Figure, responses={**FETCHED, **_errors(s404="No figures.")})
    async def figure() -> Response:
        """Draw the rankings: a Vega-Lite specification."""
        service.permissions.check_results()
        return json_bytes(await service.computer.run(service.served.figure))


def _sender(file: PageFile) -> Callable[[], Awaitable[Response]]:
    async def send_file() -> Response:
        return Response(file.content, headers={"cache-control": "no-cache"}, media_type=file.kind)

    return send_file
