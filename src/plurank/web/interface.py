"""The description of the interface, OpenAPI, with examples of the model's own items."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic_core import from_json
from starlette.responses import Response

import plurank
from plurank.web.refusals import json_answer
from plurank.web.served import Served

if TYPE_CHECKING:
    from plurank.web.app import Service

ABOUT = """A fitted model of plurank: the few rankings a population shares, and how much each person follows each.

An item or user is text or a number, as in the model; the text "7" finds the number 7 and vice versa, unless both exist.
Every error is `{"error": "one sentence"}`."""
JSON = "application/json"


def add(app: FastAPI, service: "Service", *, has_token: bool) -> None:
    """Serve the description at /openapi.json."""

    async def openapi() -> Response:
        return json_answer(await service.computer.run(_describe, app, service.served, has_token))

    app.add_api_route("/openapi.json", openapi, include_in_schema=False)


def _describe(app: FastAPI, served: Served, has_token: bool) -> dict[str, Any]:
    described = get_openapi(title="plurank", version=plurank.__version__, description=ABOUT, routes=app.routes)
    for path, (asked, status, answered) in _examples(served).items():
        (operation,) = described["paths"][path].values()
        if asked is not None:
            operation["requestBody"]["content"][JSON]["example"] = asked
        operation["responses"][status]["content"][JSON]["example"] = answered
    if has_token:
        described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        described["security"] = [{"token": []}]
    return described


def _examples(served: Served) -> dict[str, tuple[Any, str, Any]]:
    """Ask the model something small at every address."""
    first, second, *_ = served.items.labels
    user = served.users.labels[0] if served.users.labels else None
    pair, answer = {"left": first, "right": second}, {"winner": first, "loser": second}
    asks: dict[str, tuple[Any, Callable[[], Any]]] = {
        "/predict": (
            {"pairs": [{"user": user, **pair}]},
            lambda: {"probabilities": served.predict([(user, first, second)])},
        ),
        "/rank": ({"answers": [answer], "top": 2}, lambda: from_json(served.rank_for([(first, second)], 2))),
        "/fold-in": ({"answers": [answer]}, lambda: served.fold_in([(first, second)])),
        "/next-pair": ({"answers": [answer], "skip": [pair]}, lambda: served.next_pair([(first, second)], [])),
    }
    found: dict[str, tuple[Any, str, Any]] = {path: (asked, "200", ask()) for path, (asked, ask) in asks.items()}
    kept = {"id": "7f1c9a52", "user": "visitor 1", **answer}
    found["/feedback"] = (kept, "201", {"id": "7f1c9a52", "stored": True})
    health = {"status": "ok", "plurank": plurank.__version__, "model": served.describe(), "feedback": True}
    found["/health"] = (None, "200", health)
    found["/rankings"] = (None, "200", from_json(served.rankings(2)))
    return found
