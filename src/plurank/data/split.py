"""Samples of users, training and test comparisons, and how many observations comparisons of ratings count as."""

from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.comparisons import Comparisons, draw_held_out
from plurank.data.encoding import Labels
from plurank.data.rated import RatedItems
from plurank.exceptions import DataError
from plurank.text import count
from plurank.types import Masks

# Some of the users, where all would be more than is needed.

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
    def take_users(self, chosen: Masks) -> Comparisons: ...  # noqa: D102
    def summary(self) -> dict[str, Any]: ...  # noqa: D102


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


# How many observations a user's comparisons count as.
#
# Ours. n ratings, or a ranking of n items, make up to n (n - 1) / 2 comparisons, but each item was observed once: the
# error of one rating is in all comparisons of its item. So a comparison counts less, the more other comparisons of the
# same user share its items, and all together count as n - 1 observations, or a few times that where users were sure.
# Counted in full they would dominate the priors, and weights would seem far too certain.

MAX_EXCEPTIONS = 0.01  # as a share of the users, or of the comparisons
ENOUGH_TO_LOOK = 2_000_000  # comparisons
CHANCES = 20  # comparisons that could have contradicted others are the least to go by


def look_rated(source: Source) -> bool:
    """Check whether comparisons are made from ratings or rankings, or, where that is unknown, seem to be.

    Then hardly anybody who could contradict themselves does, and hardly any comparison is repeated. Of many users,
    every n-th is looked at.
    """
    if source.rated is not None:
        return source.rated
    c = every_nth_user(source, ENOUGH_TO_LOOK)
    chances = count_chances(c)
    telling = chances > 0
    if chances.sum() < CHANCES:
        return False
    consistent = kernels.find_consistent(c.offsets, c.winners, c.losers, c.n_items)
    if (~consistent[telling]).mean() > MAX_EXCEPTIONS:
        return False
    n_repeated = kernels.find_duplicates(c.offsets, c.winners, c.losers, c.n_items)
    if c.weights is not None:
        n_repeated += np.maximum(c.weights - 1.0, 0.0).sum()
    return bool(n_repeated <= MAX_EXCEPTIONS * len(c))


def weigh_observations(comparisons: Comparisons, rating_weight: float = 1.0) -> Comparisons:
    """Let a comparison count as ``1 / (1 + (m - 1) / (2 rating_weight))``.

    m is the number of comparisons that the user has of its items, on average.

    All n (n - 1) / 2 of a user who rated n items then count as n - 1 at a rating weight of 1, and as nearly
    ``rating_weight`` times that above. Comparisons that share no item count in full.
    """
    c = comparisons
    meetings = kernels.count_meetings(c.offsets, c.winners, c.losers, c.kernel_weights, c.n_items)
    shares = 1.0 / (1.0 + np.maximum(meetings - 1.0, 0.0) / (2.0 * rating_weight))
    return replace(c, weights=shares if c.weights is None else c.weights * shares)


def count_chances(comparisons: Comparisons) -> NDArray[np.int64]:
    """Return how many comparisons of each user others can imply or contradict, (M,): those beyond a spanning tree."""
    return np.maximum(np.diff(comparisons.offsets) - count_items(comparisons) + 1, 0)


def count_items(comparisons: Comparisons) -> NDArray[np.int64]:
    """Return the number of items each user compared, (M,)."""
    c = comparisons
    return np.diff(kernels.signed_item_counts(c.offsets, c.winners, c.losers, c.kernel_weights, c.n_items)[0])


def say_too_few(said: Comparisons | RatedItems) -> str:
    """Say that none of these comparisons or ratings can be held out, without a full stop."""
    size = f"{count(len(said), getattr(said, 'noun', 'comparison'))} of {count(said.n_users, 'user')}"
    return f"{size} {'is' if len(said) == 1 else 'are'} too few to hold some out"


def too_few(said: Comparisons | RatedItems) -> DataError:
    """Raise an error for comparisons or ratings of which none can be held out."""
    return DataError(
        f"{say_too_few(said)}. Expected users with several {getattr(said, 'noun', 'comparison')}s each: ask people "
        "more, or fit a number of rankings of your choice."
    )


def hold_out(
    comparisons: Comparisons, share: float, rng: np.random.Generator
) -> tuple[Comparisons, Comparisons] | None:
    """Return comparisons to train on and others, as ``split_safely`` marks them; None where either would be empty."""
    kept, held_out = split_safely(comparisons, share, rng)
    if not kept.any() or not held_out.any():
        return None
    return comparisons.select(kept), comparisons.select(held_out)


def split_safely(
    comparisons: Comparisons, share: float, rng: np.random.Generator, rated: bool | None = None
) -> tuple[Masks, Masks]:
    """Mark comparisons to train on and to hold out so that no user's training comparisons imply the others.

    The error of a rating is in all comparisons of its item, so items are held out of comparisons made from ratings
    (``rated``, by default as the comparisons say). Where that is unknown, items are held out of users whose comparisons
    agree with a ranking and are at least as many as items: single ones would follow from the others by transitivity.
    Single comparisons are held out of all other users, and nothing of users with nothing left to train on.
    """
    c = comparisons
    if c.rated if rated is None else rated:
        each = np.ones(len(c), dtype=bool)
    else:
        agree = kernels.find_consistent(c.offsets, c.winners, c.losers, c.n_items)
        each = np.repeat(agree & (count_chances(c) > 0), np.diff(c.offsets))
    by_item, by_comparison = draw_held_out(c, share, "item", rng), rng.random(len(c)) < share
    kept, held_out = np.where(each, by_item[0], ~by_comparison), np.where(each, by_item[1], by_comparison)
    users = c.user_of_each()
    return kept, held_out & (np.bincount(users[kept], minlength=c.n_users) > 0)[users]
