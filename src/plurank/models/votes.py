"""How many votes stand behind users, items and camps: the sample sizes shown next to every statement.

A vote is what a person did once: a comparison answered (by its weight, so that a tie counted as two halves is one
vote), or an item rated.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.blocks import group_users
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import look_up
from plurank.data.ratings import Rated, is_agreement
from plurank.data.store import Store
from plurank.engine.local import Engine
from plurank.engine.sources import map_users
from plurank.inference.agreement import count_dissenters

if TYPE_CHECKING:
    from plurank.models.base import RankingModel

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
AGREE, PASS, DISAGREE = 0, 1, 2  # along the last axis of votes by camp


class VoteCounts(NamedTuple):
    """Votes of every user (M,), on every item (Q,), how many people cast these (Q,), and, for agree/disagree votes, by
    item and camp (Q, K, 3), and of dissenters who agree and disagree (Q, 2)."""

    users: Counts
    items: Counts
    people: Counts
    camps: Counts | None = None
    dissenters: Counts | None = None


def count_votes(model: "RankingModel", source: Comparisons | Store, engine: Engine) -> VoteCounts:
    """Count the votes that a model was fitted to, or updated with; users and items are numbered as in the source."""
    ratings = None if isinstance(source, Store) else source.ratings
    if ratings is not None:
        rated_items = look_up(ratings.item_labels, source.items, "item")
        users = np.diff(ratings.offsets)[look_up(source.users, ratings.user_labels, "user")]
        items = np.bincount(rated_items[ratings.items], minlength=source.n_items)
        return VoteCounts(users.astype(np.int64), items, items, *_count_by_camp(model, ratings))
    rated = bool(getattr(model, "rated_", source.rated))
    parts = list(map_users(source, _count_block, rated, engine))
    items = np.rint(np.sum([on_items for _, on_items, _ in parts], axis=0)).astype(np.int64)
    people = np.sum([of_items for _, _, of_items in parts], axis=0)
    return VoteCounts(np.concatenate([by_users for by_users, _, _ in parts]), items, people)


def _count_block(rated: bool, _: int, users: Comparisons) -> tuple[Counts, Floats, Counts]:
    """Count the votes of some users, (m,), those on all items, (Q,), and the people who cast these, (Q,)."""
    c, people, n_rated = users, np.zeros(users.n_items, np.int64), []
    for group in group_users(c.offsets):  # some at a time, so that little is held
        part = c.block(*group.users)
        columns = (part.offsets, part.winners, part.losers, part.kernel_weights)
        offsets, items, __ = kernels.signed_item_counts(*columns, part.n_items)
        people += np.bincount(items, minlength=c.n_items)
        n_rated.append(np.diff(offsets).astype(np.int64))
    if rated:
        return np.concatenate([np.empty(0, np.int64), *n_rated]), people.astype(np.float64), people
    on_items = sum(np.bincount(side, c.weights, c.n_items) for side in (c.winners, c.losers))
    return np.rint(c.weights_of_users()).astype(np.int64), np.asarray(on_items, dtype=np.float64), people


def _count_by_camp(model: "RankingModel", ratings: Rated) -> tuple[Counts, Counts] | tuple[None, None]:
    """Count who agrees, passes and disagrees, by item and by the ranking that people follow most, (Q, K, 3), and the
    dissenters who agree and disagree, (Q, 2)."""
    if not is_agreement(ratings.values):
        return None, None
    shape = (len(model.items_), len(model.mean_weights_), 3)
    users = look_up(ratings.user_labels, model.users_, "user")[ratings.user_of_each()].astype(np.int64)
    items = look_up(ratings.item_labels, model.items_, "item")[ratings.items].astype(np.int64)
    known = (users >= 0) & (items >= 0)  # people whose answers are all alike have no camp
    users, items, votes = users[known], items[known], ratings.values[known]
    camps = model.user_weights_.argmax(axis=1)[users]
    cells = np.ravel_multi_index((items, camps, (1 - votes).astype(np.int64)), shape)
    clear = votes != 0
    dissenters = count_dissenters(users[clear], items[clear], votes[clear], len(model.users_), len(model.items_))
    return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape), dissenters


def add_votes(known: Counts | None, more: Counts | None, codes: Any, size: int) -> Counts | None:
    """Add counts that came with an update to those known, renumbered; unknown where either is."""
    if known is None or more is None:
        return None
    total = np.zeros((size, *known.shape[1:]), np.int64)
    total[: len(known)] = known
    np.add.at(total, codes, more)
    return total
