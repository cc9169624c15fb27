"""Some of the users, where all would be more than is needed."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from plurank.data.comparisons import Comparisons
from plurank.data.encoding import Labels

Marks = NDArray[np.bool_]
ENOUGH_PER_SCORE = 100  # comparisons
OBSERVED_PER_SCORE = 26  # of what comparisons made from ratings count as; see LEAST_PER_SCORE of choose_priors
ENOUGH_USERS = 50  # for each ranking


class Source(Protocol):
    """Comparisons wherever they lie, as far as users are drawn from them."""

    def __len__(self) -> int: ...
    @property
    def n_users(self) -> int: ...  # noqa: D102
    @property
    def n_items(self) -> int: ...  # noqa: D102
    @property
    def rated(self) -> bool | None: ...  # noqa: D102
    @property
    def items(self) -> Labels: ...  # noqa: D102
    @property
    def users(self) -> Labels: ...  # noqa: D102
    @property
    def offsets(self) -> NDArray[np.int64]: ...  # noqa: D102
    def take_users(self, chosen: Marks) -> Comparisons: ...  # noqa: D102


def some_users(source: Source, enough: int, rng: np.random.Generator, least_users: int = 1) -> Comparisons:
    """Draw users until they and their comparisons are enough; all of them where there are no more."""
    chosen = np.ones(source.n_users, dtype=bool)
    if len(source) > enough and source.n_users > least_users:
        sizes = np.diff(source.offsets)
        order = rng.permutation(source.n_users)
        n_users = max(1 + int(np.searchsorted(np.cumsum(sizes[order]), enough)), least_users)
        chosen[order[n_users:]] = False
    return source.take_users(chosen)


def every_nth_user(source: Source, enough: int) -> Comparisons:
    """Take every n-th user, so that there are about as many comparisons as are enough; no draw is needed."""
    step = 1 + len(source) // enough
    return source.take_users(np.arange(source.n_users) % step == 0)


def sample_for_scores(
    source: Source, n_rankings: int, enough: int, rng: np.random.Generator, observed: float | None
) -> Comparisons:
    """Draw users whose comparisons are enough, and can tell good scores of K rankings from bad ones.

    observed: where comparisons made from ratings shall count as what was observed, which takes more of them, how much
    of a comparison that is on average; else None.
    """
    n_scores = source.n_items * n_rankings
    enough = max(enough, ENOUGH_PER_SCORE * n_scores)
    if observed is not None:
        enough = max(enough, int(OBSERVED_PER_SCORE * n_scores / observed))
    return some_users(source, enough, rng, ENOUGH_USERS * n_rankings)
