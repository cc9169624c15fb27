"""Words that sentences everywhere share."""


def count(n: int, noun: str) -> str:
    """Say how many: "1 user", "2,000 users"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def describe_size(n_comparisons: int, n_users: int, n_items: int) -> str:
    """Say how much there is: "2,000 comparisons of 100 users and 8 items"."""
    return f"{count(n_comparisons, 'comparison')} of {count(n_users, 'user')} and {count(n_items, 'item')}"


def describe_spread(low: int, middle: float, high: int) -> str:
    """Say how many comparisons users made: the fewest, the median and the most."""
    return f"{low:,} each" if low == high else f"{low:,} to {high:,} each, median {middle:,.12g}"
