"""What the service is told when it starts, and how its worker processes hear of it."""

import json
import os
import re
import secrets
from dataclasses import asdict, dataclass, field

from plurank.exceptions import ParameterError

VARIABLE = "PLURANK_SERVE"  # how worker processes, which start afresh, get the model's path and the settings
MOST_TEXT = 300  # characters of a title or question
ORIGIN = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+")


@dataclass(frozen=True)
class Settings:
    """How to serve a model.

    Parameters
    ----------
    feedback : str, optional
        A SQLite file or the URL of a database; None stores no answers.
    token : str, optional
        What clients must show; None for nothing.
    allow_origin : str, optional
        The one other web site whose pages may call, ``*`` for all.
    rate : float, default 6000
        Requests a minute from one address, in each worker; 0 for any number.
    max_body : int, default 1,000,000
        Bytes of a request.
    is_local : bool, default False
        Only for this machine, so that requests must be for it by address or as localhost.
    hide_results : bool, optional
        Serve questions only, and nothing about the population; by default where answers are stored.
    show_people : bool, default False
        Serve what the model knows about its own users to clients without a token.
    title, question : str, optional
        What the page says above the questions, instead of its own words.
    questions : int, optional
        How many questions a visitor is asked, None for any number.
    allow_frame : str, optional
        The web site whose pages may show this one in a frame, ``*`` for all.
    secret : str
        The key of cookies and of hashes of addresses; drawn anew at every start.
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
            raise ParameterError("the token must be plain ASCII text without line breaks, and not empty. Use another.")
        if not self.rate >= 0:
            raise ParameterError(f"the rate must be requests a minute, 0 for any number; got {self.rate}.")
        if self.max_body < 1:
            raise ParameterError(f"the most bytes of a request must be at least 1, got {self.max_body}.")
        if self.questions is not None and self.questions < 1:
            raise ParameterError(f"the number of questions must be an integer >= 1, got {self.questions}.")
        for name in ("title", "question"):
            text = getattr(self, name)
            if text is not None and not 0 < len(text.strip()) <= MOST_TEXT:
                raise ParameterError(f"--{name} must have 1 to {MOST_TEXT} characters, got {len(text.strip()):,}.")
        if self.allow_frame not in (None, "*") and not ORIGIN.fullmatch(str(self.allow_frame)):
            raise ParameterError(
                f"--allow-frame takes the origin of a web site, as in https://example.org, or *; got "
                f"{self.allow_frame!r:.80}."
            )

    @property
    def hides_results(self) -> bool:
        """Whether the service serves questions only."""
        return self.feedback is not None if self.hide_results is None else self.hide_results

    @property
    def shows_people(self) -> bool:
        """Whether clients that come in may ask about the model's own users."""
        return self.show_people or self.token is not None


def leave_for_workers(model: str, settings: Settings) -> None:
    """Put model and settings where worker processes find them."""
    os.environ[VARIABLE] = json.dumps({"model": model, "settings": asdict(settings), "parent": os.getpid()})


def found_by_worker() -> tuple[str, Settings, int]:
    """Return what the parent process left: the model's path, the settings, and the parent's own number."""
    left = json.loads(os.environ[VARIABLE])
    return left["model"], Settings(**left["settings"]), left["parent"]
