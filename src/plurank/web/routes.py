"""The endpoints of the service, and their description with examples at /openapi.json."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import FastAPI, Query
from fastapi.openapi.utils import get_openapi
from pydantic_core import from_json
from starlette.requests import Request
from starlette.responses import Response

import plurank
from plurank.web import schemas
from plurank.web.responses import RequestError, bytes_response, json_response
from plurank.web.security import SENDER, Sender

if TYPE_CHECKING:
    from plurank.web.application import Service

INLINE_PAIRS = 500  # so many are predicted sooner than they are handed to a thread
N_QUESTIONS = 20  # of a survey, unless the settings have a number
REASONS = {
    400: "Not JSON.", 401: "Missing or wrong token.", 403: "Hidden by the settings of the service.",
    408: "The request arrived too slowly.", 413: "The request is too large.", 415: "Not JSON.",
    422: "The request is not valid.", 429: "Rate limit exceeded.", 503: "The service is busy.",
}  # fmt: skip
CANNOT_STORE = "answers cannot be stored"
JSON = "application/json"
ABOUT = """A fitted plurank model: the few rankings a population shares, and how much each person follows each.

Ids of items and users are text or numbers, as in the model; the text "7" finds the number 7 and vice versa, unless both
exist. Every error is `{"error": "one sentence"}`."""


def _errors(*statuses: int, **more: str) -> dict[int | str, dict[str, Any]]:
    reasons = {**{status: REASONS[status] for status in statuses}, **{int(k[1:]): text for k, text in more.items()}}
    return {status: {"model": schemas.ErrorResponse, "description": text} for status, text in reasons.items()}


POST_ERRORS, GET_ERRORS = _errors(*REASONS), _errors(401, 403, 422, 429, 503)
FEEDBACK_RESPONSES = {
    **POST_ERRORS,
    **_errors(
        s404="The service stores no answers.",
        s409="The id belongs to another answer, or a model has already learned from the answer to withdraw.",
        s503="The feedback database is unavailable; nothing was stored.",
    ),
    200: {
        "model": schemas.FeedbackResponse | schemas.FeedbackBatchResponse,
        "description": "The answer was known already, or withdrawn; for several answers, the outcome of each.",
    },
}


def add_routes(app: FastAPI, service: "Service") -> None:
    """Add all endpoints, the most frequently used first, because they are searched in this order."""
    for add in (_add_model, _add_new_users, _add_survey):
        add(app, service)


def _add_model(app: FastAPI, service: "Service") -> None:
    @app.post("/predict", response_model=schemas.PredictResponse, responses=POST_ERRORS)
    async def predict(body: schemas.PredictRequest) -> Response:
        """Predict which item of each pair a user prefers. Unknown users get the population average."""
        service.permissions.check_results()
        service.permissions.check_people(*(pair.user for pair in body.pairs))
        pairs = [(pair.user, pair.left, pair.right) for pair in body.pairs]
        predict = service.model.predict
        found = predict(pairs) if len(pairs) <= INLINE_PAIRS else await service.threads.run(predict, pairs)
        return json_response({"probabilities": found})

    @app.get("/health", response_model=schemas.HealthResponse)
    async def health() -> Response:
        """Check that the service is up, what it serves, and whether answers can be stored. Needs no token."""
        known = {"model": service.model.describe(), "feedback": service.feedback is not None}
        is_failing = service.feedback is not None and service.feedback.is_failing
        return json_response({"status": CANNOT_STORE if is_failing else "ok", "plurank": plurank.__version__, **known})

    @app.get("/rankings", response_model=schemas.RankingsResponse, responses=GET_ERRORS)
    async def rankings(top: Annotated[int | None, Query(ge=1, le=10**9)] = None) -> Response:
        """List the rankings, the most followed first, with their top items, their camps and common ground.

        One to four people are given as "fewer than 5", unless data about individual users is shown.
        """
        service.permissions.check_results()
        rankings = partial(service.model.rankings, show_few=service.permissions.people)
        return bytes_response(await service.threads.run(rankings, top))

    @app.get(
        "/figures/rankings",
        response_model=schemas.FigureSpec,
        responses={**GET_ERRORS, **_errors(s404="There are no figures.")},
    )
    async def figure() -> Response:
        """Return a figure of the rankings as a Vega-Lite specification."""
        service.permissions.check_results()
        return bytes_response(await service.threads.run(service.model.figure))


def _add_new_users(app: FastAPI, service: "Service") -> None:
    @app.post("/rank", response_model=schemas.RankResponse, responses=POST_ERRORS)
    async def rank(body: schemas.RankRequest) -> Response:
        """Return the leaderboard of a known user, of a new user with answers, or, with neither, of the population."""
        service.permissions.check_results()
        service.permissions.check_people(body.user)
        model = service.model
        if body.answers is not None:
            return bytes_response(await service.threads.run(model.rank_new, _pairs(body.answers), body.top))
        found = model.rank_if_cached(body.user, body.top)
        if found is None:
            found = await service.threads.run(model.rank, body.user, body.top)
        return bytes_response(found)

    @app.post("/fold-in", response_model=schemas.FoldInResponse, responses=POST_ERRORS)
    async def fold_in(body: schemas.FoldInRequest) -> Response:
        """Estimate how much a new user with answers follows each ranking. Nothing is stored."""
        service.permissions.check_results()
        return json_response(await service.threads.run(service.model.fold_in, _pairs(body.answers)))

    @app.post("/next-pair", response_model=schemas.NextPairResponse, responses=POST_ERRORS)
    async def next_pair(body: schemas.NextPairRequest, request: Request) -> Response:
        """Choose the most informative pair to ask a new user; left and right are null when all pairs were asked.

        In a survey, every item gets its turn, and visitors with different names get different pairs.
        """
        skip = [(pair.left, pair.right) for pair in body.skip]
        model, answers = service.model, _pairs(body.answers)
        if not service.settings.hides_results:
            return json_response(await service.threads.run(model.next_pair, answers, skip))
        visitor = body.visitor or _sender(request).visitor or ""
        return json_response(await service.threads.run(model.next_survey_pair, answers, skip, visitor, service.asked))


def _pairs(answers: list[schemas.Answer]) -> list[tuple[Any, Any]]:
    return [(answer.winner, answer.loser) for answer in answers]


def _sender(request: Request) -> Sender:
    sender: Sender = request.scope.get(SENDER, Sender())
    return sender


def _add_survey(app: FastAPI, service: "Service") -> None:
    @app.post("/feedback", status_code=201, response_model=schemas.FeedbackResponse, responses=FEEDBACK_RESPONSES)
    async def feedback(body: schemas.FeedbackBody, request: Request) -> Response:
        """Store one or several answers for the next update of the model.

        Repeat the request, with the same id, until it succeeds; each id counts once. Each of several answers has an
        outcome of its own; those that are stored are stored in one transaction. With `withdrawn`, an answer no longer
        counts.
        """
        writer = service.feedback
        if writer is None:
            raise RequestError(404, "this service stores no answers. Start it without --no-feedback to store them.")
        if isinstance(body, schemas.FeedbackBatch):
            return await writer.store_batch(body, _sender(request), service.model)
        return await writer.store_one(body, _sender(request), service.model)

    @app.get("/survey", response_model=schemas.SurveyResponse, responses=GET_ERRORS)
    async def survey() -> Response:
        """Return what a page needs before it asks its questions."""
        settings, items = service.settings, service.model.describe_items()
        n_pairs = items["n_items"] * (items["n_items"] - 1) // 2
        asked = settings.questions or (N_QUESTIONS if settings.hides_results else None)
        texts = {"title": settings.title, "question": settings.question}
        shown = {"hide_results": settings.hides_results, "feedback": service.feedback is not None}
        return json_response({**texts, "questions": None if asked is None else min(asked, n_pairs), **shown, **items})


def add_openapi(app: FastAPI, service: "Service") -> None:
    """Serve the description of all endpoints at /openapi.json."""

    async def openapi() -> Response:
        return json_response(await service.threads.run(_describe_api, app, service))

    app.add_api_route("/openapi.json", openapi, include_in_schema=False)


def _describe_api(app: FastAPI, service: "Service") -> dict[str, Any]:
    described = get_openapi(title="plurank", version=plurank.__version__, description=ABOUT, routes=app.routes)
    for path, (request, status, response) in _examples(service).items():
        (operation,) = described["paths"][path].values()
        if request is not None:
            operation["requestBody"]["content"][JSON]["example"] = request
        operation["responses"][status]["content"][JSON]["example"] = response
    if service.settings.token is not None:
        described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        described["security"] = [{"token": []}]
    return described


def _examples(service: "Service") -> dict[str, tuple[Any, str, Any]]:
    """Return request, status and response by path, with items of the model; no results where these are hidden."""
    model, permissions = service.model, service.permissions
    first, second, *_ = model.items.ids
    user = model.users.ids[0] if model.users.ids and permissions.people else None
    pair, answer = {"left": first, "right": second}, {"winner": first, "loser": second}
    answers = [(first, second)]
    texts = {"left_text": model.texts[0], "right_text": model.texts[1]}
    asked = {**pair, **texts} if service.settings.hides_results else model.next_pair(answers, [])
    stored = {"id": "7f1c9a52", "stored": True, "outcome": "stored"}
    health = {"status": "ok", "plurank": plurank.__version__, "model": model.describe(), "feedback": True}
    found: dict[str, tuple[Any, str, Any]] = {
        "/next-pair": ({"answers": [answer], "skip": [pair]}, "200", asked),
        "/feedback": ({"id": "7f1c9a52", "user": "visitor 1", **answer}, "201", stored),
        "/health": (None, "200", health),
    }
    if permissions.results:
        probabilities = {"probabilities": model.predict([(user, first, second)])}
        found["/predict"] = ({"pairs": [{"user": user, **pair}]}, "200", probabilities)
        found["/rank"] = ({"answers": [answer], "top": 2}, "200", from_json(model.rank_new(answers, 2)))
        found["/fold-in"] = ({"answers": [answer]}, "200", model.fold_in(answers))
        found["/rankings"] = (None, "200", from_json(model.rankings(2, show_few=permissions.people)))
    return found
