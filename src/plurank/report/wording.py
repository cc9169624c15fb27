"""How labels and numbers stand in figures and sentences."""

import unicodedata
from collections.abc import Sequence
from typing import Any

UNSEEN = {"Cc", "Cs", "Cf", "Zl", "Zp"}  # control characters, halves of characters, marks that turn text round
JOINER = "\u200d"  # holds some emoji together


def label(value: Any, longest: int | None = None) -> str:
    """Show an id as one line of text, what cannot be seen spelled out, cut after some characters."""
    text = "".join(_spell(c) for c in str(value)).strip() or "(empty)"
    return text if longest is None or len(text) <= longest else f"{text[: longest - 1].rstrip()}…"


def _spell(character: str) -> str:
    if character == JOINER or unicodedata.category(character) not in UNSEEN:
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def percent(share: float) -> str:
    """Show a share as a percentage, with a decimal where it is small."""
    return f"{share:.0%}" if share >= 0.095 or share == 0 else f"{share:.1%}" if share >= 0.0005 else "under 0.1%"


def people(n: int) -> str:
    """Say how many people: "1 person", "2,000 people"."""
    return "1 person" if n == 1 else f"{n:,} people"


def listing(words: Sequence[str]) -> str:
    """Join words as a sentence does: "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
