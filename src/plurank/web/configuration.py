"""Settings of the service, and how they reach its worker processes."""

import json
import os
import re
import secrets
from dataclasses import asdict, dataclass, field

from plurank.exceptions import ParameterError

VARIABLE = "PLURANK_SERVE"  # passes the path of the model and the settings to worker processes
MAX_TEXT = 300  # characters of a title or question
ORIGIN = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+")


@dataclass(frozen=True)
class Settings:
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
            raise ParameterError("the token must be non-empty ASCII text without line breaks. Use another.")
        if not self.rate >= 0:
            raise ParameterError(f"rate must be a number of requests per minute >= 0 (0: unlimited), got {self.rate}.")
        if self.max_body < 1:
            raise ParameterError(f"max_body must be an integer >= 1, got {self.max_body}.")
        if self.questions is not None and self.questions < 1:
            raise ParameterError(f"questions must be an integer >= 1, got {self.questions}.")
        for name in ("title", "question"):
            text = getattr(self, name)
            if text is not None and not 0 < len(text.strip()) <= MAX_TEXT:
                raise ParameterError(f"--{name} must have 1 to {MAX_TEXT} characters, got {len(text.strip()):,}.")
        if self.allow_frame not in (None, "*") and not ORIGIN.fullmatch(str(self.allow_frame)):
            raise ParameterError(
                f"--allow-frame must be the origin of a web site, such as https://example.org, or *; got "
                f"{self.allow_frame!r:.80}."
            )

    @property
    def hides_results(self) -> bool:
        """Whether the service serves questions only."""
        return self.feedback is not None if self.hide_results is None else self.hide_results

    @property
    def shows_people(self) -> bool:
        """Whether clients may ask about individual users of the model."""
        return self.show_people or self.token is not None


def export_to_workers(model: str, settings: Settings) -> None:
    """Store model and settings in the environment of worker processes."""
    os.environ[VARIABLE] = json.dumps({"model": model, "settings": asdict(settings), "parent": os.getpid()})


def import_from_parent() -> tuple[str, Settings, int]:
    """Return what the parent process stored: the path of the model, the settings, and the parent's process id."""
    stored = json.loads(os.environ[VARIABLE])
    return stored["model"], Settings(**stored["settings"]), stored["parent"]
