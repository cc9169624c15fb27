"""What reading or conversion left out, so that nothing is dropped silently."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, Literal

from plurank.text import count

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

    @classmethod
    def some(cls, what: Excludable, n: int, total: int, reason: str) -> "tuple[Exclusion, ...]":
        """Return an exclusion, or nothing where nothing was left out."""
        return (cls(what, int(n), int(total), reason),) if n else ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def list_exclusions(excluded: Iterable[Exclusion]) -> list[str]:
    """Return one sentence for each kind left out, with all reasons: "48 of 234 users left out: 31 ..., 17 ..."."""
    sentences = []
    for (what, total), some in groupby(excluded, key=lambda entry: (entry.what, entry.total)):
        entries = list(some)
        if len(entries) == 1:
            sentences.append(f"{entries[0]}.")
            continue
        reasons = ", ".join(f"{entry.n:,} {entry.reason}" for entry in entries)
        n = sum(entry.n for entry in entries)
        sentences.append(f"{n:,} of {count(total, what)} left out: {reasons}.")
    return sentences


def check_exclusions(value: Any) -> bool:
    """Check whether plain values, read from a file, are exclusions."""
    names = {"what": str, "n": int, "total": int, "reason": str}
    return isinstance(value, list) and all(
        isinstance(entry, dict)
        and entry.keys() == names.keys()
        and all(type(entry[name]) is kind for name, kind in names.items())
        for entry in value
    )
