"""What the service is told when it starts, and how its worker processes hear of it."""

import json
import os
from dataclasses import asdict, dataclass

from plurank.exceptions import ParameterError

VARIABLE = "PLURANK_SERVE"  # how worker processes, which start afresh, get the model's path and the settings


@dataclass(frozen=True)
class Settings:
    """How to serve a model.

    ``feedback``: a SQLite file or the URL of a database, None to keep no answers; ``token``: what clients must show,
    None for nothing; ``allow_origin``: the one other web site whose pages may call, ``*`` for all; ``rate``: requests a
    minute from one address, in each worker, 0 for any number; ``max_body``: bytes of a request; ``is_local``: only for
    this machine, so that requests must be for it by address or as localhost.
    """

    feedback: str | None = None
    token: str | None = None
    allow_origin: str | None = None
    rate: float = 6000.0
    max_body: int = 1_000_000
    is_local: bool = False

    def __post_init__(self) -> None:
        if self.token is not None and not (self.token and self.token.isascii() and self.token.isprintable()):
            raise ParameterError("the token must be plain ASCII text without line breaks, and not empty. Use another.")
        if not self.rate >= 0:
            raise ParameterError(f"the rate must be requests a minute, 0 for any number; got {self.rate}.")
        if self.max_body < 1:
            raise ParameterError(f"the most bytes of a request must be at least 1, got {self.max_body}.")


def leave_for_workers(model: str, settings: Settings) -> None:
    """Put model and settings where worker processes find them."""
    os.environ[VARIABLE] = json.dumps({"model": model, "settings": asdict(settings), "parent": os.getpid()})


def found_by_worker() -> tuple[str, Settings, int]:
    """Give what the parent process left: the model's path, the settings, and the parent's own number."""
    left = json.loads(os.environ[VARIABLE])
    return left["model"], Settings(**left["settings"]), left["parent"]
