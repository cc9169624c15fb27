"""Words that sentences everywhere share."""

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


def count(n: int, noun: str) -> str:
    """Say how many: "1 user", "2,000 users"."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def describe_size(n_comparisons: int, n_users: int, n_items: int) -> str:
    """Say how much there is: "2,000 comparisons of 100 users and 8 items"."""
    return f"{count(n_comparisons, 'comparison')} of {count(n_users, 'user')} and {count(n_items, 'item')}"


def list_sizes(n_users: int, n_items: int, n_comparisons: int) -> str:
    """Say how much there is, one after the other: "100 users, 8 items, 2,000 comparisons"."""
    return f"{count(n_users, 'user')}, {count(n_items, 'item')}, {count(n_comparisons, 'comparison')}"


def describe_ties(n_comparisons: int, n_ties: int) -> str:
    """Say how ties are counted: "8,931 votes; 3,471 ties count half a win each way"."""
    verb = "tie counts" if n_ties == 1 else "ties count"
    return f"{count(n_comparisons - n_ties, 'vote')}; {n_ties:,} {verb} half a win each way"


def describe_spread(low: int, middle: float, high: int) -> str:
    """Say how many comparisons users made: the fewest, the median and the most."""
    return f"{low:,} each" if low == high else f"{low:,} to {high:,} each, median {middle:,.12g}"


def reason_of(error: BaseException) -> str:
    """Say why a library failed: the first line of its message, shortened, or at least the kind of error."""
    line = str(error).strip().strip("\"'").split("\n", 1)[0].rstrip(".")
    return (line if len(line) <= MOST_REASON else f"{line[:MOST_REASON]}...") or type(error).__name__
