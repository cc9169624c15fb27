"""Items as people read them, in sentences (names as they are, statements in quotation marks) and in figures."""

import re
import textwrap
import unicodedata
from collections.abc import Iterable, Sequence

from plurank.models.base import RankingModel
from plurank.text import label, listing, quote, shorten

LONGEST_NAME = 32  # characters; a longer text is a statement
STATEMENTS = 0.25  # of all items, from which on they are a poll of statements
LONGEST_QUOTE = 80
AMBIGUOUS = re.compile(r"[,;.!?]| and ")  # what would run together with the sentence around it


def text_of(model: RankingModel, code: int) -> str:
    """Return what to show for an item, on one line; line breaks and rows of spaces in a text are one space."""
    text = model.item_text(int(code))
    return label(text if model.item_texts_ is None else " ".join(text.split()))


def texts_of(model: RankingModel, codes: Iterable[int]) -> list[str]:
    """Return what to show for some items."""
    return [text_of(model, code) for code in codes]


def has_statements(model: RankingModel) -> bool:
    """Check whether items are statements rather than names, and so belong in lists rather than in sentences."""
    n_items = len(model.items_)
    return sum(is_statement(text_of(model, code)) for code in range(n_items)) > STATEMENTS * n_items


def is_statement(text: str) -> bool:
    """Check whether a text is too long to stand in a sentence as a name does."""
    return len(text) > LONGEST_NAME


def mention(texts: Sequence[str]) -> str:
    """Name some items in a sentence; in quotation marks, and shortened, where they could run together."""
    if any(is_statement(text) or AMBIGUOUS.search(text) for text in texts):
        return listing([quote(text.rstrip(" ."), LONGEST_QUOTE) for text in texts])
    return listing(texts)


def fit_text(text: str, columns: int) -> str:
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
