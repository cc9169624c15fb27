"""How many votes stand behind users, items and camps: the sample sizes shown next to every statement.

A vote is what a person did once: a comparison answered (by its weight, so that a tie counted as two halves is one
vote), or an item rated.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from plurank import data, kernels
from plurank.data.coded import RatingTable
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import look_up
from plurank.data.rated import Rankings, RatedItems
from plurank.engine.blocks import Group, cut_users, groups_of, number_groups, read_users
from plurank.engine.local import Engine
from plurank.store.store import Store
from plurank.types import Floats, Integers

if TYPE_CHECKING:
    from plurank.models.base import RankingModel

AGREE, PASS, DISAGREE = 0, 1, 2  # along the last axis of votes by camp
DISSENTERS = 0.05  # of an item's voters: those who most often vote against the majority on other items
LEAST_DISSENTERS = 5  # of them, where there are so many voters


class VoteCounts(NamedTuple):
    """Votes of every user (M,), on every item (Q,), how many people cast these (Q,), and, for agree/disagree votes, by
    item and camp (Q, K, 3), and of dissenters who agree and disagree (Q, 2)."""

    users: Integers
    items: Integers
    people: Integers
    camps: Integers | None = None
    dissenters: Integers | None = None


def count_votes(model: "RankingModel", source: Comparisons | Store | RatedItems, engine: Engine) -> VoteCounts:
    """Count the votes that a model was fitted to, or updated with; users and items are numbered as in the source."""
    if isinstance(source, RatedItems):
        said = source.table() if not isinstance(source, Rankings) else source.without_unranked().table()
        items = np.bincount(said.items, minlength=source.n_items)
        return VoteCounts(np.diff(said.offsets), items, items, *_count_by_camp(model, said))
    ratings = None if isinstance(source, Store) else source.ratings
    if ratings is not None:
        rated_items = look_up(ratings.item_labels, source.items, "item")
        users = np.diff(ratings.offsets)[look_up(source.users, ratings.user_labels, "user")]
        items = np.bincount(rated_items[ratings.items], minlength=source.n_items)
        return VoteCounts(users.astype(np.int64), items, items, *_count_by_camp(model, ratings))
    # answers to a survey are comparisons, whatever the model was fitted to
    rated = bool(getattr(model, "from_ratings_", source.rated)) and source.rated is not False
    parts = list(engine.map(_count_block, (source, rated), groups_of(source, engine.least_units)))
    items = np.rint(np.sum([on_items for _, on_items, _ in parts], axis=0)).astype(np.int64)
    people = np.sum([of_items for _, _, of_items in parts], axis=0)
    return VoteCounts(np.concatenate([by_users for by_users, _, _ in parts]), items, people)


def _count_block(given: tuple[Comparisons | Store, bool], group: Group) -> tuple[Integers, Floats, Integers]:
    """Count the votes of a group's users, (m,), those on all items, (Q,), and the people who cast these, (Q,)."""
    source, rated = given
    c, people, n_rated = read_users(source, group), np.zeros(source.n_items, np.int64), []
    for few in number_groups(c.offsets, cut_users(c.offsets, 0)):  # some at a time, so that little is held
        part = read_users(c, few)
        columns = (part.offsets, part.winners, part.losers, part.kernel_weights)
        offsets, items, __ = kernels.signed_item_counts(*columns, part.n_items)
        people += np.bincount(items, minlength=c.n_items)
        n_rated.append(np.diff(offsets).astype(np.int64))
    if rated:
        return np.concatenate([np.empty(0, np.int64), *n_rated]), people.astype(np.float64), people
    on_items = sum(np.bincount(side, c.weights, c.n_items) for side in (c.winners, c.losers))
    return np.rint(c.weights_of_users()).astype(np.int64), np.asarray(on_items, dtype=np.float64), people


def _count_by_camp(model: "RankingModel", ratings: RatingTable) -> tuple[Integers, Integers] | tuple[None, None]:
    """Count who agrees, passes and disagrees, by item and by the ranking that people follow most, (Q, K, 3), and the
    dissenters who agree and disagree, (Q, 2)."""
    if ratings.kind == "rank" or not data.is_agreement(ratings.values):
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


def add_votes(known: Integers | None, more: Integers | None, codes: Any, size: int) -> Integers | None:
    """Add counts that came with an update to those known, renumbered; unknown where either is."""
    if known is None or more is None:
        return None
    total = np.zeros((size, *known.shape[1:]), np.int64)
    total[: len(known)] = known
    np.add.at(total, codes, more)
    return total


def count_dissenters(users: Integers, items: Integers, votes: Floats, n_users: int, n_items: int) -> Integers:
    """Count the dissenters who agree and disagree with every item, (Q, 2), from votes of 1 and -1, (n,).

    Somebody dissents by voting against the majority of the others. The dissenters of an item are the
    twentieth of its voters who dissent most on all other items, so that nobody is one for their vote on that item.
    """
    net, n_votes = np.bincount(items, votes, n_items), np.bincount(items, minlength=n_items)
    against = -votes * (net[items] - votes) / np.maximum(n_votes[items] - 1, 1)
    total, cast = np.bincount(users, against, n_users), np.bincount(users, minlength=n_users)
    # somebody with hardly any other votes is nobody's dissenter
    rates = (total[users] - against) / (cast[users] - 1 + LEAST_DISSENTERS)
    order = np.lexsort((-rates, items))
    first = np.cumsum(n_votes) - n_votes
    places = np.empty(len(items), np.int64)
    places[order] = np.arange(len(items)) - first[items[order]]  # among the voters of the item
    member = places < np.maximum(LEAST_DISSENTERS, np.ceil(DISSENTERS * n_votes))[items]
    return np.stack([np.bincount(items[member & (votes * sign > 0)], minlength=n_items) for sign in (1, -1)], axis=1)
