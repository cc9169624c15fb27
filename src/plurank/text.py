"""Words that sentences everywhere share."""

import unicodedata
from collections.abc import Sequence
from typing import Any

UNSEEN = {"Cc", "Cs", "Cf", "Zl", "Zp"}  # control characters, unpaired surrogates, marks that change the direction
JOINERS = "\u200c\u200d"  # which some scripts and emoji need
ROUNDING = 1e-9  # that sums of shares may be off
MOST_REASON = 200  # characters of what a library says


def shorten(text: str, longest: int) -> str:
    """Return a text of at most ``longest`` characters, cut between words, with an ellipsis where something is left out.

    A first word that is too long by itself is cut within.
    """
    if len(text) <= longest:
        return text
    head = text[: max(longest, 1)]  # the cut is at the last space of these, so that "…" fits behind
    begin, space, _ = head.rpartition(" ")
    kept = begin.rstrip() if space and begin.strip() else head[:-1].rstrip()
    return f"{kept.rstrip(',;:.')}…"


def quote(text: str, longest: int | None = None) -> str:
    """Return a text in quotation marks, as statements stand in sentences; shortened as by :func:`shorten`."""
    return f"“{text if longest is None else shorten(text, longest)}”"


def label(value: Any) -> str:
    """Return an id as one line of text; what cannot be seen, or could take over a terminal, is spelled out."""
    return spell_controls(str(value)).strip() or "(empty)"


def spell_controls(text: str, but: str = "") -> str:
    """Return a text with its invisible characters spelled out, except for those of ``but``."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_spell(c) if c not in but else c for c in text)


def _spell(character: str) -> str:
    if character in JOINERS or unicodedata.category(character) not in UNSEEN:
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def percent(share: float) -> str:
    """Return a share as a whole percentage; only what is nothing or all is called 0% or 100%."""
    if ROUNDING < share < 0.005:
        return "under 1%"
    if 0.995 < share < 1 - ROUNDING:
        return "over 99%"
    return f"{share:.0%}"


def count(n: int, noun: str) -> str:
    """Return a number with its noun: "1 user", "2,000 users"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def people(n: int) -> str:
    """Return how many people: "1 person", "2,000 people"."""
    return "1 person" if n == 1 else f"{n:,} people"


def listing(words: Sequence[str]) -> str:
    """Join words as a sentence does: "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def describe_size(n_comparisons: int, n_users: int, n_items: int) -> str:
    """Return the size of data: "2,000 comparisons of 100 users and 8 items"."""
    return f"{count(n_comparisons, 'comparison')} of {count(n_users, 'user')} and {count(n_items, 'item')}"


def list_sizes(n_users: int, n_items: int, n_comparisons: int) -> str:
    """Return the size of data as a list: "100 users, 8 items, 2,000 comparisons"."""
    return f"{count(n_users, 'user')}, {count(n_items, 'item')}, {count(n_comparisons, 'comparison')}"


def describe_ties(n_comparisons: int, n_ties: int) -> str:
    """Return how ties are counted: "8,931 votes; 3,471 ties count half a win each way"."""
    verb = "tie counts" if n_ties == 1 else "ties count"
    return f"{count(n_comparisons - n_ties, 'vote')}; {n_ties:,} {verb} half a win each way"


def describe_spread(low: int, middle: float, high: int) -> str:
    """Return how many comparisons users made: the fewest, the median and the most."""
    return f"{low:,} each" if low == high else f"{low:,} to {high:,} each, median {middle:,.12g}"


def reason_of(error: BaseException) -> str:
    """Return why a library failed: the first line of its message, shortened, or at least the kind of error."""
    line = str(error).strip().strip("\"'").split("\n", 1)[0].rstrip(".")
    return (line if len(line) <= MOST_REASON else f"{line[:MOST_REASON]}...") or type(error).__name__
