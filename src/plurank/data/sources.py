"""What a model is given: comparisons in memory, a frame that becomes comparisons, or a store."""

from collections.abc import Iterator
from typing import Any

from plurank.data.blocks import group_users
from plurank.data.comparisons import Comparisons
from plurank.data.store import Store


def as_comparisons(X: Any) -> Comparisons:
    """Take Comparisons, or a frame or a store that can become Comparisons."""
    if isinstance(X, Store):
        return X.to_comparisons()
    return X if isinstance(X, Comparisons) else Comparisons.from_frame(X)


def as_source(X: Any) -> Comparisons | Store:
    """Take a store as it is, and anything else as Comparisons."""
    return X if isinstance(X, Store) else as_comparisons(X)


def pieces_of(X: Any, *, labelled: bool = True) -> Iterator[Comparisons]:
    """Give comparisons at once, and those of a store group by group of users."""
    if not isinstance(X, Store):
        yield as_comparisons(X)
        return
    for group in group_users(X.offsets):
        yield X.block(*group.users, labelled=labelled)
