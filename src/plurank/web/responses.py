"""Error responses: a status and one sentence as JSON, whatever goes wrong with a request."""

import logging
from collections.abc import Sequence
from typing import Any

from fastapi.exceptions import RequestValidationError
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.responses import Response

from plurank.exceptions import PlurankError
from plurank.web import schemas

LOG = logging.getLogger("plurank.web")
NO_STORE = {"cache-control": "no-store"}
EXAMPLES = "See GET /openapi.json for examples."
HTTP_MESSAGES = {
    400: f"expected JSON, in UTF-8 and not deeply nested. {EXAMPLES}",
    404: "no such endpoint. GET /openapi.json lists all endpoints.",
    405: "method not allowed. GET /openapi.json lists the methods of all endpoints.",
}
# names that pydantic adds to a location for members of a union, which are not part of the request
BODY_FORMS = (schemas.SINGLE, schemas.BATCH)
UNION_MEMBERS = ("int", "float", "str", "constrained-int", "constrained-float", "constrained-str")


class RequestError(Exception):
    """A request that cannot be served: a status, one sentence, and additional headers."""

    def __init__(self, status: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message.encode("utf-8", "backslashreplace").decode()  # JSON escapes may be unpaired surrogates
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def response(self) -> Response:
        """Return the response to send."""
        return json_response({"error": self.message}, self.status, self.headers)


def json_response(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a response with a value as JSON; infinities and NaN are null."""
    return bytes_response(to_json(value, inf_nan_mode="null"), status, headers)


def bytes_response(content: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return a response with JSON that is serialised already."""
    return Response(content, status, {**NO_STORE, **(headers or {})}, media_type="application/json")


def as_request_error(error: Exception) -> RequestError:
    """Return the error response for any exception; unexpected ones are logged, and the client sees no details."""
    if isinstance(error, RequestError):
        return error
    if isinstance(error, RequestValidationError):
        return _validation_error(error.errors())
    if isinstance(error, PlurankError):
        return RequestError(422, str(error))
    if isinstance(error, HTTPException):
        headers = {name.replace("-", "_"): value for name, value in (error.headers or {}).items()}
        return RequestError(error.status_code, HTTP_MESSAGES.get(error.status_code, str(error.detail)), **headers)
    LOG.error("Internal error while serving a request.", exc_info=error)
    return RequestError(500, "internal error; the log of the service has the details. This is a bug, please report it.")


def _validation_error(errors: Sequence[Any]) -> RequestError:
    """Describe the first of pydantic's validation errors: where, what was expected, and what came."""
    first = errors[0]
    if first["type"] == "json_invalid":
        return RequestError(400, f"expected JSON; at byte {first['loc'][-1]}: {first['ctx']['error']}. {EXAMPLES}")
    location = _format_location(first["loc"])
    if first["type"] == "missing":
        return RequestError(422, f"{location} is missing. {EXAMPLES}")
    if first["type"] == "extra_forbidden":
        return RequestError(422, f"{location} is not a known field. Remove it. {EXAMPLES}")
    return RequestError(422, f"{location}: {_expected(first)}, got {_format_value(first.get('input'))}. {EXAMPLES}")


def _expected(error: Any) -> str:
    if any(part in UNION_MEMBERS for part in error["loc"]):
        return "expected an id (a string or a finite number)"
    text = error["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
    return text[0].lower() + text[1:]


def _format_location(location: Sequence[str | int]) -> str:
    """Return ("body", "pairs", 3, "left") as "pairs[3].left"."""
    text = ""
    for part in location[1:]:
        if part not in (*UNION_MEMBERS, *BODY_FORMS):
            text += f"[{part}]" if isinstance(part, int) else f".{part:.60}"
    return text.removeprefix(".") or "the body"


def _format_value(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else f"a list of {len(value):,}"
    return {None: "null"}.get(value) or ascii(value)[:60]
