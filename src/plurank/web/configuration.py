"""Settings of the service, and how they reach its worker processes."""

import os
import re
import secrets
from dataclasses import dataclass, field

from pydantic import TypeAdapter

from plurank.exceptions import ParameterError
from plurank.validation import check_not_negative, check_whole, show_value

VARIABLE = "PLURANK_SERVE"  # passes the path of the model and the settings to worker processes
MAX_TEXT = 300  # characters of a title or question
ORIGIN = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+")


@dataclass(frozen=True)
class ServiceSettings:
    """How to serve a model.

    Parameters
    ----------
    feedback : str, optional
        SQLite file or URL of the feedback database; None stores no answers.
    token : str, optional
        Bearer token that clients must send; None for none.
    allow_origin : str, optional
        Allowed CORS origin, ``*`` for any.
    rate : float, default 6000
        Maximum number of requests per minute, per client and worker; 0 for unlimited.
    max_body : int, default 1,000,000
        Maximum number of bytes of a request.
    is_local : bool, default False
        Serve this machine only: the host of a request must be an IP address or localhost.
    hide_results : bool, optional
        Serve questions only, and nothing about the population; default: where answers are stored.
    show_people : bool, default False
        Serve data about individual users of the model to clients without a token.
    title, question : str, optional
        Texts of the page above the questions, instead of the default ones.
    questions : int, optional
        Number of questions per visitor; None for 20 in a survey, else unlimited.
    allow_frame : str, optional
        Origin whose pages may show this one in a frame, ``*`` for any.
    secret : str
        Key of cookies and of hashes of addresses; drawn at every start.
    """

    feedback: str | None = None
    token: str | None = None
    allow_origin: str | None = None
    rate: float = 6000.0
    max_body: int = 1_000_000
    is_local: bool = False
    hide_results: bool | None = None
    show_people: bool = False
    title: str | None = None
    question: str | None = None
    questions: int | None = None
    allow_frame: str | None = None
    secret: str = field(default_factory=lambda: secrets.token_hex(32), repr=False)

    def __post_init__(self) -> None:
        if self.token is not None and not (self.token and self.token.isascii() and self.token.isprintable()):
            raise ParameterError(parameter="token", expected="non-empty ASCII text without line breaks")
        check_not_negative("rate", self.rate)
        check_whole("max_body", self.max_body, least=1)
        if self.questions is not None:
            check_whole("questions", self.questions, least=1)
        _check_text("title", self.title)
        _check_text("question", self.question)
        if self.allow_frame not in (None, "*") and not ORIGIN.fullmatch(str(self.allow_frame)):
            expected = "the origin of a web site, such as https://example.org, or *"
            raise ParameterError(parameter="allow_frame", expected=expected, got=show_value(self.allow_frame))

    @property
    def hides_results(self) -> bool:
        """Whether the service serves questions only."""
        return self.feedback is not None if self.hide_results is None else self.hide_results

    @property
    def shows_people(self) -> bool:
        """Whether clients may ask about individual users of the model."""
        return self.show_people or self.token is not None


def _check_text(name: str, text: str | None) -> None:
    if text is not None and not 0 < len(text.strip()) <= MAX_TEXT:
        raise ParameterError(parameter=name, expected=f"1 to {MAX_TEXT} characters long", got=f"{len(text.strip()):,}")


@dataclass(frozen=True)
class WorkerConfiguration:
    """What the parent process passes to a worker: path of the model, settings, and its own process id."""

    model: str
    settings: ServiceSettings
    parent: int


def export_to_workers(model: str, settings: ServiceSettings) -> None:
    """Store model and settings in the environment of worker processes."""
    configuration = WorkerConfiguration(model, settings, os.getpid())
    os.environ[VARIABLE] = TypeAdapter(WorkerConfiguration).dump_json(configuration).decode()


def import_from_parent() -> WorkerConfiguration:
    """Return what the parent process stored."""
    return TypeAdapter(WorkerConfiguration).validate_json(os.environ[VARIABLE])
