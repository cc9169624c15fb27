"""Answers that people give to the service, as they go into a database and come out of it."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, NamedTuple

from plurank.exceptions import PlurankError

if TYPE_CHECKING:
    from plurank.web.labels import Label

Outcome = Literal["stored", "known", "conflict", "withdrawn", "learned"]
SAID = ("user", "winner", "loser")


@dataclass(frozen=True)
class GivenAnswer:
    """One answer: the client's id of it, who gave it, what won and lost, and the model that was served.

    ``visitor``, ``first_seen`` and ``address`` say from where it came, None where that is not known. A ``withdrawn``
    answer is a retraction: it marks the answer with the same id, or keeps it out if it comes later.
    """

    id: str
    user: str
    winner: "Label"
    loser: "Label"
    model: str = ""
    visitor: str | None = None
    first_seen: str | None = None
    address: str | None = None
    withdrawn: bool = False
    received: str | None = None  # now, unless said

    def row(self) -> dict[str, str | None]:
        """Return the row that stores it."""
        now = self.received or datetime.now(UTC).isoformat()
        said = {name: json.dumps(getattr(self, name)) for name in SAID}
        origin = {"visitor": self.visitor, "first_seen": self.first_seen, "address": self.address}
        when = {"received": now, "withdrawn": now if self.withdrawn else None}
        return {"id": self.id, **said, "model": self.model, **origin, **when}


class StoredAnswer(NamedTuple):
    """An answer as it is read back."""

    id: str
    received: str
    user: "Label"
    winner: "Label"
    loser: "Label"
    visitor: str | None
    first_seen: str | None
    address: str | None
    batch: str | None


class FeedbackUnavailable(PlurankError):
    """The database is full, locked or lost."""
