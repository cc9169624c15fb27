"""What a request gets that cannot be served: one sentence, as JSON."""

from typing import Any

from pydantic_core import to_json
from starlette.responses import Response

NO_STORE = {"cache-control": "no-store"}


class Refusal(Exception):
    """A request that is refused: a status, one sentence, and headers if the client should know more."""

    def __init__(self, status: int, sentence: str, **headers: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence.encode("utf-8", "backslashreplace").decode()  # half characters came in by JSON escapes
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}

    def answer(self) -> Response:
        """Give the answer to send."""
        return json_answer({"error": self.sentence}, self.status, self.headers)


def json_answer(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Give a value as JSON."""
    return json_bytes(to_json(value, inf_nan_mode="null"), status, headers)


def json_bytes(content: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Give JSON that is ready to send."""
    return Response(content, status, {**NO_STORE, **(headers or {})}, media_type="application/json")
