"""What all camps like, dislike and dispute, as a table with uncertainty and sample sizes.

Camps are people: a camp is everybody who follows the same ranking most. What it likes is judged by agree/disagree votes
where there are any: at least 60% of every camp agree. Otherwise by order: the item is in the top third for every camp.
The order of a camp is its ranking or, with utility mixing, where hardly anybody follows a ranking alone, the average
blend of its people.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank import kernels
from plurank.data.comparisons import Comparisons
from plurank.data.encoding import as_series, look_up
from plurank.data.ratings import RatingTable, is_agreement
from plurank.engine.blocks import Group, cut_users, groups_of, number_groups, read_users
from plurank.engine.local import Engine
from plurank.inference.common_ground import (
    Agreement,
    control_false_discoveries,
    count_dissenters,
    draw_camps,
    find_agreement,
    find_common_ground,
)
from plurank.store.store import Store
from plurank.types import Floats, Integers
from plurank.validation import check_share

if TYPE_CHECKING:
    from plurank.mixed.leaderboard import ScoredRankings
    from plurank.models.base import RankingModel


# How many votes stand behind users, items and camps: the sample sizes shown next to every statement.
#
# A vote is what a person did once: a comparison answered (by its weight, so that a tie counted as two halves is one
# vote), or an item rated.

AGREE, PASS, DISAGREE = 0, 1, 2  # along the last axis of votes by camp


class VoteCounts(NamedTuple):
    """Votes of every user (M,), on every item (Q,), how many people cast these (Q,), and, for agree/disagree votes, by
    item and camp (Q, K, 3), and of dissenters who agree and disagree (Q, 2)."""

    users: Integers
    items: Integers
    people: Integers
    camps: Integers | None = None
    dissenters: Integers | None = None


def count_votes(model: "RankingModel", source: Comparisons | Store, engine: Engine) -> VoteCounts:
    """Count the votes that a model was fitted to, or updated with; users and items are numbered as in the source."""
    ratings = None if isinstance(source, Store) else source.ratings
    if ratings is not None:
        rated_items = look_up(ratings.item_labels, source.items, "item")
        users = np.diff(ratings.offsets)[look_up(source.users, ratings.user_labels, "user")]
        items = np.bincount(rated_items[ratings.items], minlength=source.n_items)
        return VoteCounts(users.astype(np.int64), items, items, *_count_by_camp(model, ratings))
    rated = bool(getattr(model, "from_ratings_", source.rated))
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


def add_votes(known: Integers | None, more: Integers | None, codes: Any, size: int) -> Integers | None:
    """Add counts that came with an update to those known, renumbered; unknown where either is."""
    if known is None or more is None:
        return None
    total = np.zeros((size, *known.shape[1:]), np.int64)
    total[: len(known)] = known
    np.add.at(total, codes, more)
    return total


LEAST_VOTES = 10  # on an item, below which nothing is said of it
LEAST_PEOPLE = 5  # who cast them
HANDFUL = 10  # people; a ranking that fewer follow most may be the opinion of these alone
N_BLENDS = 50
PURE = 0.8  # the weight from which somebody follows a ranking nearly alone
LIKED, DISLIKED, CONTESTED, SAME = (
    "liked by all camps",
    "disliked by all camps",
    "contested",
    "same position in all rankings",
)
UNDECIDED, TOO_FEW = "undecided", "not enough votes"


def common_ground(model: "ScoredRankings", level: float) -> pl.DataFrame:
    """Return a row an item, the one that the least favourable camp ranks best first; those with few votes last."""
    check_share("level", level)
    n_items, n_rankings = model.scores_.shape
    blends = [np.eye(n_rankings)]
    if model.mixing == "utility" and n_rankings > 1:
        blends = draw_camps(model.user_weights_, model.user_concentration_, N_BLENDS)
    found = find_common_ground(model.scores_, model.score_errors_, model.score_correlations_, blends, level)
    votes = model.item_votes_
    enough = has_enough_votes(model)
    levels = _agreement(model, level)
    by = found if levels is None else levels
    labels = np.full(n_items, UNDECIDED, dtype=object)
    lists = [(SAME, found.same), (CONTESTED, by.contested)] if n_rankings > 1 else []
    for name, probabilities in (*lists, (DISLIKED, by.disliked), (LIKED, by.liked)):  # the last word counts
        labels[control_false_discoveries(probabilities, enough)] = name
    labels[~enough] = TOO_FEW
    rank, lower, upper = found.worst_rank
    frame = pl.DataFrame(
        {
            "votes": _counts(votes, n_items),
            "people": _counts(model.item_people_, n_items),
            "enough_votes": enough,
            "label": pl.Series(labels.tolist(), dtype=pl.String),
            "liked_by_all": by.liked,
            "disliked_by_all": by.disliked,
            "contested": by.contested,
            "same_place": found.same,
            "top_third_of_all": found.liked,
            "bottom_third_of_all": found.disliked,
            "worst_ranking": found.worst_ranking + 1,
            "worst_rank": rank,
            "worst_rank_lower": lower.astype(np.int64),
            "worst_rank_upper": upper.astype(np.int64),
            "bridging": _position(rank, n_items),
            "bridging_lower": _position(upper, n_items),
            "bridging_upper": _position(lower, n_items),
            **_extreme_agreement(levels),
        }
    )
    named = frame.select(as_series(model.items_, "item"), _texts_of_items(model), pl.all())
    return named.sort("enough_votes", "bridging", descending=True, maintain_order=True)


def _counts(counts: NDArray[np.int64] | None, size: int) -> pl.Series:
    """Hold counts as a column, nulls where they are unknown."""
    return pl.Series([None] * size if counts is None else counts, dtype=pl.Int64)


def has_enough_votes(model: "RankingModel") -> NDArray[np.bool_]:
    """Return which items have enough votes of enough people for anything to be said of them, (Q,).

    None has where a file of an earlier version does not say how many there were.
    """
    if model.item_votes_ is None or model.item_people_ is None:
        return np.zeros(len(model.items_), dtype=bool)
    return (model.item_votes_ >= LEAST_VOTES) & (model.item_people_ >= LEAST_PEOPLE)


def _position(rank: Floats, n_items: int) -> Floats:
    """Turn ranks into a score: 1 for the first, 0 for the last of all items."""
    return 1.0 - (rank - 1.0) / max(n_items - 1, 1)


def _texts_of_items(model: "RankingModel") -> pl.Series:
    texts = [str(item) for item in model.items_.tolist()] if model.item_texts_ is None else model.item_texts_
    return pl.Series("text", texts, dtype=pl.String)


def _extreme_agreement(levels: Agreement | None) -> dict[str, Any]:
    """The camps that agree least and most, and their shares with bounds; no columns without agree/disagree votes."""
    if levels is None:
        return {}
    found: dict[str, Any] = {}
    for word, camp in (
        ("least", np.where(np.isnan(levels.share), np.inf, levels.share).argmin(axis=1)),
        ("most", np.where(np.isnan(levels.share), -np.inf, levels.share).argmax(axis=1)),
    ):
        found[f"{word}_agreeing"] = camp + 1
        for end, part in (("", levels.share), ("_lower", levels.lower), ("_upper", levels.upper)):
            values = np.take_along_axis(part, camp[:, None], axis=1)[:, 0]
            found[f"{word}_agreement{end}"] = pl.Series(values, nan_to_null=True)
    return found


def _agreement(model: "RankingModel", level: float) -> Agreement | None:
    if model.camp_votes_ is None or model.dissenter_votes_ is None:
        return None
    return find_agreement(
        model.camp_votes_[..., AGREE], model.camp_votes_[..., DISAGREE], model.dissenter_votes_, level
    )


def agreement(model: "RankingModel", level: float) -> pl.DataFrame:
    """Return a row for every item and camp; empty where there are no agree/disagree votes."""
    check_share("level", level)
    levels = _agreement(model, level)
    n_items, n_rankings = len(model.items_), len(model.mean_weights_)
    if levels is None or model.camp_votes_ is None:
        rows, counts, shares = np.empty(0, np.int64), np.empty((0, 3), np.int64), np.empty((3, 0))
        rankings = rows
    else:
        rows, rankings = np.repeat(np.arange(n_items), n_rankings), np.tile(np.arange(1, n_rankings + 1), n_items)
        counts, shares = model.camp_votes_.reshape(-1, 3), np.stack([part.ravel() for part in levels[:3]])
    return pl.DataFrame(
        [
            as_series(model.items_, "item").gather(rows),
            _texts_of_items(model).gather(rows),
            pl.Series("ranking", rankings),
            *(
                pl.Series(name, counts[:, n])
                for name, n in (("agree", AGREE), ("passed", PASS), ("disagree", DISAGREE))
            ),
            *(pl.Series(name, shares[n], nan_to_null=True) for n, name in enumerate(("share", "lower", "upper"))),
        ]
    )


def camps(model: "RankingModel") -> pl.DataFrame:
    """Return a row a ranking: how many people follow it most, and nearly alone, and how many votes they cast."""
    n_rankings = len(model.mean_weights_)
    main, weight = model.user_weights_.argmax(axis=1), model.user_weights_.max(axis=1)
    people, pure = (np.bincount(chosen, minlength=n_rankings) for chosen in (main, main[weight >= PURE]))
    votes = None if model.user_votes_ is None else np.bincount(main, model.user_votes_, n_rankings).astype(np.int64)
    return pl.DataFrame(
        {
            "ranking": np.arange(1, n_rankings + 1),
            "share": model.mean_weights_,
            "people": people,
            "people_80": pure,
            "votes": _counts(votes, n_rankings),
        }
    )
