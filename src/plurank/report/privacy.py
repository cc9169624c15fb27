"""Counts of people that cannot give anybody away."""

from collections.abc import Sequence
from typing import Any

FEWEST = 5  # people in a group whose size is stated
FEWER = f"fewer than {FEWEST}"


def is_few(n: int, fewest: int = FEWEST) -> bool:
    """Check whether so few people are behind a count that it could tell who they are."""
    return 0 < n < fewest


def show_count(n: int, fewest: int = FEWEST) -> str:
    """Show how many people; a few are "fewer than 5", but nobody is 0."""
    return FEWER if is_few(n, fewest) else f"{n:,}"


def show_rounded(n: int) -> int | str:
    """Show about how many people, so that no total less the others states a small group."""
    return n if n == 0 else FEWER if is_few(n) else f"about {FEWEST * round(n / FEWEST):,}"


def show_parts(counts: Sequence[int], fewest: int = FEWEST) -> list[str]:
    """Show the sizes of groups that add up to a known total.

    Where one is too small to state, the others are rounded, or the total less the others would state it.
    """
    if not any(is_few(n, fewest) for n in counts):
        return [f"{n:,}" for n in counts]
    return [str(show_rounded(n)) for n in counts]


def say_people(shown: str) -> str:
    """Put a noun behind a count as shown: "1 person", "fewer than 5 people"."""
    return "nobody" if shown == "0" else "1 person" if shown == "1" else f"{shown} people"


def hide_few(rows: Sequence[dict[str, Any]], field: str, fewest: int) -> list[dict[str, Any]]:
    """Mark rows of a figure with fewer people than ``fewest``, and draw them all alike."""
    few = [0 < row[field] < fewest for row in rows]
    return [
        {**row, "few": is_few, field: fewest - 1 if is_few else row[field]}
        for row, is_few in zip(rows, few, strict=True)
    ]
