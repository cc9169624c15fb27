"""What reading or conversion left out, so that nobody and nothing is dropped silently."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from plurank.wording import count

Excludable = Literal["user", "item", "row"]


@dataclass(frozen=True)
class Exclusion:
    """``n`` of ``total`` users, items or rows that were left out, and why: "cast a single vote", for instance."""

    what: Excludable
    n: int
    total: int
    reason: str

    def __str__(self) -> str:
        return f"{self.n:,} of {count(self.total, self.what)} left out: {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def check_exclusions(value: Any) -> bool:
    """Check whether plain values, read from a file, are exclusions."""
    names = {"what": str, "n": int, "total": int, "reason": str}
    return isinstance(value, list) and all(
        isinstance(entry, dict)
        and entry.keys() == names.keys()
        and all(type(entry[name]) is kind for name, kind in names.items())
        for entry in value
    )
