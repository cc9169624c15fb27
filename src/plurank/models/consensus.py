"""What all camps like, dislike and dispute, as a table with uncertainty and sample sizes.

Camps are people: a camp is everybody who follows the same ranking most. What it likes is judged by agree/disagree votes
where there are any: at least 60% of every camp agree. Otherwise by order: the item is in the top third for every camp.
The order of a camp is its ranking or, with utility mixing, where hardly anybody follows a ranking alone, the average
blend of its people.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurank.data.encoding import as_series
from plurank.inference.common_ground import (
    Agreement,
    control_false_discoveries,
    draw_camps,
    find_agreement,
    find_common_ground,
)
from plurank.models.votes import AGREE, DISAGREE, PASS
from plurank.types import Floats
from plurank.validation import check_share

if TYPE_CHECKING:
    from plurank.mixed.leaderboard import ScoredRankings
    from plurank.models.base import RankingModel


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
    """Return a row per item, the one that the least favourable camp ranks best first; those with few votes last."""
    check_share("level", level)
    n_items, n_rankings = model.scores_.shape
    blends = [np.eye(n_rankings)]
    if model.mixing_ == "utility" and n_rankings > 1:
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
    drawn = model.draw_agreement()
    return find_agreement(
        model.camp_votes_[..., AGREE], model.camp_votes_[..., DISAGREE], model.dissenter_votes_, level, drawn
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
    """Return a row per ranking: how many people follow it most, and nearly alone, and how many votes they cast."""
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
