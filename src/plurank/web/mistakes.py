"""What went wrong with a request, in one sentence."""

import logging
from collections.abc import Sequence
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from plurank.exceptions import PlurankError
from plurank.web import schemas
from plurank.web.refusals import Refusal

LOG = logging.getLogger("plurank.web")
SEE = "GET /openapi.json has examples."
HTTP = {
    400: f"expected JSON, in UTF-8 and not deeply nested; got something else. {SEE}",
    404: "there is nothing at this address. GET /openapi.json lists the addresses.",
    405: "this address does not take this method. GET /openapi.json lists what does.",
}
# the names of alternatives, which are no part of a place
FORMS = (schemas.ONE, schemas.BATCH)
ALTERNATIVES = ("int", "float", "str", "constrained-int", "constrained-float", "constrained-str")


def refuse(error: Exception) -> Refusal:
    """Give the answer to an error, whatever it is."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, RequestValidationError):
        return _refuse_shape(error.errors())
    if isinstance(error, PlurankError):
        return Refusal(422, str(error))
    if isinstance(error, HTTPException):
        headers = {name.replace("-", "_"): value for name, value in (error.headers or {}).items()}
        return Refusal(error.status_code, HTTP.get(error.status_code, str(error.detail)), **headers)
    LOG.error("A request failed.", exc_info=error)
    return Refusal(500, "this is our fault, not yours; the service's log has the details. Please report it.")


def _refuse_shape(errors: Sequence[Any]) -> Refusal:
    """Say what is wrong with the first part of a request that is not as expected."""
    first = errors[0]
    if first["type"] == "json_invalid":
        return Refusal(400, f"expected JSON; at byte {first['loc'][-1]}: {first['ctx']['error']}. {SEE}")
    place = _spell(first["loc"])
    if first["type"] == "missing":
        return Refusal(422, f"{place} is missing. {SEE}")
    if first["type"] == "extra_forbidden":
        return Refusal(422, f"{place} is not expected here. Leave it out; {SEE}")
    return Refusal(422, f"{place}: {_expected(first)}, got {_shown(first.get('input'))}. {SEE}")


def _expected(error: Any) -> str:
    if any(part in ALTERNATIVES for part in error["loc"]):
        return "expected an id, which is text or a finite number"
    text = error["msg"].removeprefix("Value error, ").replace("Input should be", "expected")
    return text[0].lower() + text[1:]


def _spell(location: Sequence[str | int]) -> str:
    """Write ("body", "pairs", 3, "left") as pairs[3].left."""
    spelled = ""
    for part in location[1:]:
        if part not in (*ALTERNATIVES, *FORMS):
            spelled += f"[{part}]" if isinstance(part, int) else f".{part:.60}"
    return spelled.removeprefix(".") or "the body"


def _shown(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else f"a list of {len(value):,}"
    return {None: "null"}.get(value) or ascii(value)[:60]
