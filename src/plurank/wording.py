"""Words that sentences everywhere share."""


def count(n: int, noun: str) -> str:
    """Say how many: "1 user", "2,000 users"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
