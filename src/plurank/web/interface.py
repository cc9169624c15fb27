"""The description of the interface, OpenAPI, with examples of the model's own items."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic_core import from_json
from starlette.responses import Response

import plurank
from plurank.web.refusals import json_answer

if TYPE_CHECKING:
    from plurank.web.app import Service

ABOUT = """A fitted model of plurank: the few rankings a population shares, and how much each person follows each.

An item or user is text or a number, as in the model; the text "7" finds the number 7 and vice versa, unless both exist.
Every error is `{"error": "one sentence"}`."""
JSON = "application/json"


def add(app: FastAPI, service: "Service") -> None:
    """Serve the description at /openapi.json."""

    async def openapi() -> Response:
        return json_answer(await service.computer.run(_describe, app, service))

    app.add_api_route("/openapi.json", openapi, include_in_schema=False)


def _describe(app: FastAPI, service: "Service") -> dict[str, Any]:
    described = get_openapi(title="plurank", version=plurank.__version__, description=ABOUT, routes=app.routes)
    for path, (asked, status, answered) in _examples(service).items():
        (operation,) = described["paths"][path].values()
        if asked is not None:
            operation["requestBody"]["content"][JSON]["example"] = asked
        operation["responses"][status]["content"][JSON]["example"] = answered
    if service.settings.token is not None:
        described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        described["security"] = [{"token": []}]
    return described


def _examples(service: "Service") -> dict[str, tuple[Any, str, Any]]:
    """Ask the model something small at every address that may tell."""
    served = service.served
    first, second, *_ = served.items.labels
    user = served.users.labels[0] if served.users.labels and service.permissions.people else None
    pair, answer = {"left": first, "right": second}, {"winner": first, "loser": second}
    asks: dict[str, tuple[Any, Callable[[], Any]]] = {
        "/predict": (
            {"pairs": [{"user": user, **pair}]},
            lambda: {"probabilities": served.predict([(user, first, second)])},
        ),
        "/rank": ({"answers": [answer], "top": 2}, lambda: from_json(served.rank_for([(first, second)], 2))),
        "/fold-in": ({"answers": [answer]}, lambda: served.fold_in([(first, second)])),
    }
    if not service.permissions.results:
        asks = {}
    found: dict[str, tuple[Any, str, Any]] = {path: (asked, "200", ask()) for path, (asked, ask) in asks.items()}
    texts = {"left_text": served.texts[0], "right_text": served.texts[1]}
    asked = {"answers": [answer], "skip": [pair]}
    is_survey = service.settings.hides_results
    found["/next-pair"] = (asked, "200", {**pair, **texts} if is_survey else served.next_pair([(first, second)], []))
    kept = {"id": "7f1c9a52", "user": "visitor 1", **answer}
    found["/feedback"] = (kept, "201", {"id": "7f1c9a52", "stored": True, "outcome": "stored"})
    health = {"status": "ok", "plurank": plurank.__version__, "model": served.describe(), "feedback": True}
    found["/health"] = (None, "200", health)
    if service.permissions.results:
        found["/rankings"] = (None, "200", from_json(served.rankings(2, show_few=service.permissions.people)))
    return found
