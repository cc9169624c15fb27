"""How labels and numbers stand in figures and sentences."""

import textwrap
import unicodedata
from collections.abc import Sequence
from typing import Any

from plurank.text import shorten

UNSEEN = {"Cc", "Cs", "Cf", "Zl", "Zp"}  # control characters, halves of characters, marks that turn text round
JOINER = "\u200d"  # holds some emoji together


def label(value: Any, longest: int | None = None) -> str:
    """Show an id as one line of text, what cannot be seen spelled out, shortened to some columns."""
    text = "".join(_spell(c) for c in str(value)).strip() or "(empty)"
    return text if longest is None else fit(text, longest)


def fit(text: str, columns: int) -> str:
    """Shorten a text to some columns, between words; a character of East Asian scripts takes two."""
    return shorten(text, _characters(text, columns))


def wrap(text: str, columns: int, most_lines: int) -> str:
    """Break a text into lines of some columns, and shorten what is longer than they hold."""
    width = _characters(text, columns)
    return "\n".join(textwrap.wrap(text, width, max_lines=most_lines, placeholder="…"))


def _characters(text: str, columns: int) -> int:
    """Return how many characters of a text fill some columns."""
    width = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
    return max(1, columns * len(text) // max(width, 1)) if width > len(text) else columns


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
