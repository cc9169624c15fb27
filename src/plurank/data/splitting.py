"""Training and test comparisons."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.choices import SplitBy
from plurank.data.checks import check_choice, is_number
from plurank.data.comparisons import Comparisons
from plurank.data.observations import count_chances
from plurank.exceptions import DataError, ParameterError
from plurank.rng import RandomState, as_generator, draw_seed, uniforms_of
from plurank.wording import count

Marks = NDArray[np.bool_]


def split(
    comparisons: Comparisons, test_size: float, by: SplitBy, random_state: RandomState
) -> tuple[Comparisons, Comparisons]:
    """Split at random; ``test_size`` of the comparisons, of each user's items, or of the users are held out."""
    check_test_size(test_size)
    check_choice("by", by, SplitBy)
    rng = as_generator(random_state)
    if by == "item":
        kept, held_out = _split_items(comparisons, test_size, rng)
    else:
        kept, held_out = _split(comparisons, test_size, by, rng)
    if not kept.any() or not held_out.any():
        what = count(comparisons.n_users, "user") if by == "user" else count(len(comparisons), "comparison")
        raise DataError(
            f"cannot hold out {test_size:g} of {what} by {by}: one side would be empty. "
            "Use more data or another test_size."
        )
    return comparisons.select(kept), comparisons.select(held_out)


def check_test_size(test_size: Any) -> None:
    """Refuse what is no share that could be held out."""
    if not is_number(test_size) or not 0 < test_size < 1:
        raise ParameterError(f"test_size must lie between 0 and 1, got {test_size!r}.")


def _split(comparisons: Comparisons, share: float, by: str, rng: np.random.Generator) -> tuple[Marks, Marks]:
    n = comparisons.n_users if by == "user" else len(comparisons)
    held_out = np.zeros(n, dtype=bool)
    held_out[rng.permutation(n)[: round(share * n)]] = True
    if by == "user":
        held_out = np.repeat(held_out, np.diff(comparisons.offsets))
    return ~held_out, held_out


def _split_items(comparisons: Comparisons, share: float, rng: np.random.Generator) -> tuple[Marks, Marks]:
    """Draw items for every user; keep comparisons of items not drawn, hold out those of items drawn, drop the rest."""
    c = comparisons
    users, seed = c.user_of_each().astype(np.int64) * c.n_items, draw_seed(rng)
    first, second = (uniforms_of(seed, users + side) < share for side in (c.winners, c.losers))
    return ~(first | second), first & second


def too_few(comparisons: Comparisons) -> DataError:
    """Refuse comparisons of which none can be held out."""
    n_users = count(comparisons.n_users, "user")
    return DataError(
        f"{count(len(comparisons), 'comparison')} of {n_users} are too few to hold some out. "
        "Expected users with several comparisons each: ask people more, or fit a number of rankings of your choice."
    )


def hold_out(
    comparisons: Comparisons, share: float, rng: np.random.Generator
) -> tuple[Comparisons, Comparisons] | None:
    """Give comparisons to train on and others, as ``split_safely`` marks them; None where either would be empty."""
    kept, held_out = split_safely(comparisons, share, rng)
    if not kept.any() or not held_out.any():
        return None
    return comparisons.select(kept), comparisons.select(held_out)


def split_safely(
    comparisons: Comparisons, share: float, rng: np.random.Generator, rated: bool | None = None
) -> tuple[Marks, Marks]:
    """Mark comparisons to train on and to hold out so that no user's training comparisons imply the others.

    All comparisons of an item that was rated once have what was odd about that rating, so that of made comparisons
    items are held out (``rated``, or what the comparisons say themselves). Where nobody knows, items are held out of
    users whose comparisons agree with a ranking and are at least as many as items: single ones could be told from the
    others by transitivity. Of all others it is single comparisons. Nothing is held out of users with nothing left to
    train on.
    """
    c = comparisons
    if c.rated if rated is None else rated:
        each = np.ones(len(c), dtype=bool)
    else:
        agree = kernels.find_consistent(c.offsets, c.winners, c.losers, c.n_items)
        each = np.repeat(agree & (count_chances(c) > 0), np.diff(c.offsets))
    by_item, by_comparison = _split_items(c, share, rng), rng.random(len(c)) < share
    kept, held_out = np.where(each, by_item[0], ~by_comparison), np.where(each, by_item[1], by_comparison)
    users = c.user_of_each()
    return kept, held_out & (np.bincount(users[kept], minlength=c.n_users) > 0)[users]
