"""How many votes stand behind users, items and camps: the sample sizes shown next to every statement.

A vote is what a person did once: a comparison answered (by its weight, so that a tie counted as two halves is one
vote), or an item rated.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from plurank import data, kernels
from plurank.data.coded import RatingTable
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import Labels, look_up
from plurank.data.rated import Rankings, RatedItems
from plurank.engine.blocks import Group, cut_users, groups_of, number_groups, read_users
from plurank.engine.local import Engine
from plurank.store.rated import RatedStore
from plurank.store.store import Store
from plurank.types import Codes, Floats, Integers

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


def count_votes(
    model: "RankingModel", source: Comparisons | RatedItems | Store | RatedStore, engine: Engine
) -> VoteCounts:
    """Count the votes that a model was fitted to, or updated with; users and items are numbered as in the source."""
    if isinstance(source, (RatedItems, RatedStore)):
        return _count_rated(model, source)
    ratings = None if isinstance(source, Store) else source.ratings
    if ratings is not None:
        rated_items = look_up(ratings.item_labels, source.items, "item")
        users = np.diff(ratings.offsets)[look_up(source.users, ratings.user_labels, "user")]
        items = np.bincount(rated_items[ratings.items], minlength=source.n_items)
        votes = Votes.of(model, ratings.user_labels, ratings.item_labels, lambda: [(0, ratings)])
        is_vote = ratings.kind != "rank" and data.is_agreement(ratings.values)
        return VoteCounts(users.astype(np.int64), items, items, *(_count_by_camp(model, votes) if is_vote else ()))
    # answers to a survey are comparisons, whatever the model was fitted to
    rated = bool(getattr(model, "from_ratings_", source.rated)) and source.rated is not False
    parts = list(engine.map(_count_block, (source, rated), groups_of(source, engine.least_units)))
    items = np.rint(np.sum([on_items for _, on_items, _ in parts], axis=0)).astype(np.int64)
    people = np.sum([of_items for _, _, of_items in parts], axis=0)
    return VoteCounts(np.concatenate([by_users for by_users, _, _ in parts]), items, people)


def _count_rated(model: "RankingModel", source: RatedItems | RatedStore) -> VoteCounts:
    """Count ratings, votes or ranked items, those of a store group by group of users."""

    def read() -> Iterator[tuple[int, RatingTable]]:
        for group in groups_of(source):
            said = read_users(source, group)
            ranked = said.without_unranked() if isinstance(said, Rankings) else said
            yield group.users[0], ranked.table()

    users, items = [], np.zeros(source.n_items, np.int64)
    for _, said in read():
        users.append(np.diff(said.offsets))
        items += np.bincount(said.items, minlength=len(items))
    by_user = np.concatenate(users)
    if source.kind != "vote":
        return VoteCounts(by_user, items, items)
    return VoteCounts(by_user, items, items, *_count_by_camp(model, Votes.of(model, source.users, source.items, read)))


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


Rated = tuple[Integers, Floats, Floats]  # items, rates of dissent and votes, (n,) each
Part = tuple[Integers, Integers, Floats]  # users, items and votes of 1, 0 and -1, (n,) each; all votes of some users


class Votes(NamedTuple):
    """Votes in parts, each the first user and a table, and the numbers that users and items have in a model, -1 for
    those that it does not know."""

    read: Callable[[], Iterable[tuple[int, RatingTable]]]
    users: Codes
    items: Codes

    @classmethod
    def of(
        cls, model: "RankingModel", users: Labels, items: Labels, read: Callable[[], Iterable[tuple[int, RatingTable]]]
    ) -> "Votes":
        """Look up the users (M,) and items (Q,) that votes are numbered by."""
        return cls(read, look_up(users, model.users_, "user"), look_up(items, model.items_, "item"))

    def parts(self, *, clear: bool = False) -> Iterator[Part]:
        """Return votes numbered as in the model; with ``clear`` only those of 1 and -1."""
        for begin, said in self.read():
            users = self.users[begin + said.user_of_each()].astype(np.int64)
            items = self.items[said.items].astype(np.int64)
            keep = (users >= 0) & (items >= 0)  # people whose answers are all alike have no camp
            if clear:
                keep &= said.values != 0
            yield users[keep], items[keep], said.values[keep]


def _count_by_camp(model: "RankingModel", votes: Votes) -> tuple[Integers, Integers]:
    """Count who agrees, passes and disagrees, by item and by the ranking that people follow most, (Q, K, 3), and the
    dissenters who agree and disagree, (Q, 2)."""
    shape = (len(model.items_), len(model.mean_weights_), 3)
    camps = model.user_weights_.argmax(axis=1)
    counts = np.zeros(int(np.prod(shape)), np.int64)
    for users, items, said in votes.parts():
        cells = np.ravel_multi_index((items, camps[users], (1 - said).astype(np.int64)), shape)
        counts += np.bincount(cells, minlength=len(counts))
    return counts.reshape(shape), count_dissenters(lambda: votes.parts(clear=True), shape[0])


def add_votes(known: Integers | None, more: Integers | None, codes: Any, size: int) -> Integers | None:
    """Add counts that came with an update to those known, renumbered; unknown where either is."""
    if known is None or more is None:
        return None
    total = np.zeros((size, *known.shape[1:]), np.int64)
    total[: len(known)] = known
    np.add.at(total, codes, more)
    return total


def count_dissenters(parts: Callable[[], Iterable[Part]], n_items: int) -> Integers:
    """Count the dissenters who agree and disagree with every item, (Q, 2), from votes of 1 and -1.

    Somebody dissents by voting against the majority of the others. The dissenters of an item are the
    twentieth of its voters who dissent most on all other items, so that nobody is one for their vote on that item.
    """
    net, n_votes = np.zeros(n_items), np.zeros(n_items, np.int64)
    for _, items, votes in parts():
        net += np.bincount(items, votes, n_items)
        n_votes += np.bincount(items, minlength=n_items)
    most = np.maximum(LEAST_DISSENTERS, np.ceil(DISSENTERS * n_votes))
    kept: Rated = np.empty(0, np.int64), np.empty(0), np.empty(0)
    for users, items, votes in parts():
        rates = _rate_dissent(users, -votes * (net[items] - votes) / np.maximum(n_votes[items] - 1, 1))
        pairs = zip(kept, (items, rates, votes), strict=True)
        kept = _keep_dissenters(*(np.concatenate(pair) for pair in pairs), most=most)
    items, _, votes = kept
    return np.stack([np.bincount(items[votes * sign > 0], minlength=n_items) for sign in (1, -1)], axis=1)


def _rate_dissent(users: Integers, against: Floats) -> Floats:
    """Return how much the user of every vote dissents on other items, (n,)."""
    own = users - users.min(initial=np.iinfo(np.int64).max)
    total, cast = np.bincount(own, against), np.bincount(own)
    # somebody with hardly any other votes is nobody's dissenter
    return np.asarray((total[own] - against) / (cast[own] - 1 + LEAST_DISSENTERS))


def _keep_dissenters(items: Integers, rates: Floats, votes: Floats, *, most: Floats) -> Rated:
    """Keep the votes with the highest rates, so many of every item, (Q,); of equal rates the first."""
    order = np.lexsort((-rates, items))
    n_votes = np.bincount(items, minlength=len(most))
    first = np.cumsum(n_votes) - n_votes
    places = np.arange(len(items)) - first[items[order]]  # among the voters of the item
    kept = order[places < most[items[order]]]
    return items[kept], rates[kept], votes[kept]
