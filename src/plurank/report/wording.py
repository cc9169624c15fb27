"""How labels and numbers stand in figures and sentences."""

import textwrap
import unicodedata

from plurank.text import shorten


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
