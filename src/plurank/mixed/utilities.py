"""A MixedRanking fitted to ratings, votes or rankings: draws from its posterior, and what they predict.

Ours. The draws are fitted attributes of the model, so that they are saved and loaded as all others are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from scipy.special import ndtr

from plurank.data.comparisons import Comparisons
from plurank.data.encoding import Labels, look_up
from plurank.data.rated import Rankings, RatedItems
from plurank.engine.local import one_blas_thread
from plurank.inference.posterior import LEVEL, Draws
from plurank.mixed.bradley_terry import mean_wins
from plurank.mixed.rated import LOG_ODDS
from plurank.mixed.rated_fields import DRAWN, ITEM_PRIOR
from plurank.models.base import board, weight_table
from plurank.models.person import Person
from plurank.models.prediction import refuse_unknown
from plurank.thurstone.blocks import Scale
from plurank.thurstone.draws import Draw, DrawnUsers, as_thresholds, level_chances, preference
from plurank.thurstone.exposure import Exposure
from plurank.thurstone.item_regression import ItemPrior
from plurank.thurstone.new_users import SEED, fold_in
from plurank.types import Codes, Floats, Integers
from plurank.validation import check_share

MOST_OF_CAMP = 500  # users who stand for a camp
REPEATS = 4  # times that new users are drawn for every draw of the items


@dataclass(frozen=True)
class UtilityPosterior:
    """Draws from the posterior of a fitted model, with its items and its rating scale.

    ``draws`` are those that predictions average over, ``by_rankings`` those without factors, whose weights are those of
    the model's rankings; they are the same unless predictions use factors.
    """

    draws: Sequence[Draw]
    by_rankings: Sequence[Draw]
    scale: Scale
    exposure: Exposure
    items: Labels

    @classmethod
    def of(cls, model: Any) -> "UtilityPosterior":
        """Collect the draws that are attributes of the model."""
        draws = [draw.centre() for draw in draws_of(model)]
        predicting = [draw for draw in draws if draw.share > 0]
        by_rankings = [draw for draw in draws if draw.shown]
        # what is said from now on is renumbered to levels, the groups of values, so that each is its own
        scale = Scale(np.arange(len(model.levels_), dtype=np.int32), model.levels_, model.level_counts_)
        return cls(predicting, by_rankings, scale, Exposure(model.exposures_), model.items_)

    def in_own_items(self, said: RatedItems) -> RatedItems:
        """Renumber items as in the model, and refuse those that it does not know; values become the nearest that the
        model knows."""
        values = self.scale.values  # coarse values of a fine scale, too, have thresholds between them
        codes = look_up(said.items, self.items, "item")
        rated = np.zeros(said.n_items, dtype=bool)
        rated[said.codes] = True
        refuse_unknown(said.items[rated & (codes < 0)].tolist())
        levels = said.levels
        if said.kind != "rank" and not len(values):  # a model of rankings takes the order of ratings
            return Rankings(said.offsets, codes[said.codes], levels, self.items, said.users, values)
        if said.kind != "rank":
            middle = (values[1:] + values[:-1]) / 2.0
            levels = np.searchsorted(middle, said.values).astype(np.int32)[said.levels]
        return replace(said, codes=codes[said.codes], levels=levels, items=self.items, values=values, texts=None)

    def users(self, said: Comparisons | RatedItems | None = None, people: Floats | None = None) -> list[DrawnUsers]:
        """Return the model's own users, or draws of those who said something about its items, to predict with.

        Of the latter there are several for every draw of the items, as what they said is decided by few utilities.
        """
        if said is None:
            return [draw.known() for draw in self.draws]
        return self.fold_in(said, people=people)

    def fold_in(
        self,
        said: Comparisons | RatedItems,
        repeats: int = REPEATS,
        seed: int = SEED,
        people: Floats | None = None,
    ) -> list[DrawnUsers]:
        """Draw users who said something so many times for every draw that predictions average over; people: their
        covariates (m, P)."""
        return self._fold_in(self.draws, said, repeats, seed, people)

    def _fold_in(
        self,
        draws: Sequence[Draw],
        said: Comparisons | RatedItems,
        repeats: int = REPEATS,
        seed: int = SEED,
        people: Floats | None = None,
    ) -> list[DrawnUsers]:
        with one_blas_thread():
            each = (fold_in(draws, said, self.scale, self.exposure, seed + n, people) for n in range(repeats))
            return [users for drawn in each for users in drawn]

    def draw_weights(self, said: Comparisons | RatedItems, people: Floats | None = None) -> Floats:
        """Draw the weights of users who said something and may have covariates (m, P), (draws, m, K)."""
        weights = np.array([each.weights for each in self._fold_in(self.by_rankings, said, people=people)])
        return weights / weights.sum(axis=2, keepdims=True)

    def draws_of(self, users: Sequence[DrawnUsers]) -> list[Draw]:
        """Return the draw of the items that belongs to each draw of users."""
        return [*self.draws] * (len(users) // len(self.draws))

    def weights(self, said: Comparisons | RatedItems, people: Floats | None = None) -> Floats:
        """Posterior means of users' weights, (m, K)."""
        return np.asarray(self.draw_weights(said, people).mean(axis=0))

    def probabilities(self, users: Sequence[DrawnUsers], rows: Codes, left: Codes, right: Codes) -> Floats:
        """P(left over right), (n,), for rows of users, -1 for unknown ones; of ratings, given that they differ."""
        return preference(self.draws_of(users), users, rows, left, right, rated=bool(self.scale.n_cuts))

    def utilities(self, users: Sequence[DrawnUsers], rows: Codes, items: Codes) -> Floats:
        """Expected utilities (n,) in log odds, for rows of users, -1 for unknown ones."""
        each = [draw.utilities(own, rows, items) for draw, own in zip(self.draws_of(users), users, strict=True)]
        return np.asarray(LOG_ODDS * np.mean(each, axis=0))

    def level_chances(self, users: Sequence[DrawnUsers], rows: Codes, items: Codes) -> Floats:
        """Probability of every level, (n, L), for rows of users, -1 for unknown ones."""
        return level_chances(self.draws_of(users), users, rows, items)

    def rank(self, users: Sequence[DrawnUsers], row: int, level: float = LEVEL) -> pl.DataFrame:
        """Rank all items for one user: columns item, score, rank, lower, upper."""
        n_items = len(self.items)
        rows, items = np.full(n_items, row, np.int32), np.arange(n_items, dtype=np.int32)
        pairs = zip(self.draws_of(users), users, strict=True)
        drawn = np.array([_own_utilities(draw, each, rows, items) for draw, each in pairs])
        mean = drawn.mean(axis=0)
        order = np.argsort(-mean, kind="stable")
        places = np.argsort(np.argsort(-drawn, axis=1, kind="stable"), axis=1) + 1
        tail = (1.0 - level) / 2.0
        lower, upper = np.quantile(places, (tail, 1.0 - tail), axis=0, method="nearest").astype(np.int64)
        place = np.empty(n_items, np.int64)
        place[order] = np.arange(1, n_items + 1)
        lower, upper = np.minimum(lower, place), np.maximum(upper, place)
        frame = board(self.items, order, mean_wins(LOG_ODDS * mean[:, None])[:, 0])
        return frame.with_columns(lower=lower[order], upper=upper[order])

    def scale_use(self) -> pl.DataFrame:
        """Describe how users use the rating scale; see ``MixedRanking.rating_scale``."""
        cuts = np.concatenate([as_thresholds(draw.cuts) for draw in self.draws])
        total = self.scale.counts.sum()
        return pl.DataFrame(
            {
                "value": self.scale.values,
                "ratings": self.scale.counts.astype(np.int64),
                "share": self.scale.counts / total,
                "threshold": [None, *cuts.mean(axis=0).tolist()],
                "spread": [None, *cuts.std(axis=0).tolist()],
            }
        )

    def agreement(self, camps: Codes, n_camps: int) -> Floats:
        """Draws (D, Q, K) of the expected share of every camp that would agree with every item, of those who would not
        pass; ``camps`` (M,) are the users' rankings. NaN for camps without users."""
        drawn = np.full((len(self.draws), len(self.items), n_camps), np.nan)
        for camp in range(n_camps):
            rows = np.flatnonzero(camps == camp)
            rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), MOST_OF_CAMP)).astype(np.int64)]
            if len(rows):
                drawn[:, :, camp] = [_share_agreeing(draw, rows) for draw in self.draws]
        return drawn


def _share_agreeing(draw: Draw, rows: Integers) -> Floats:
    """Share (Q,) of some users who would agree, the highest level, of those who would agree or disagree, the lowest."""
    utilities = draw.weights[rows] @ draw.scores.T + draw.user_factors[rows] @ draw.item_factors.T
    thresholds = as_thresholds(draw.cuts[rows])
    agree = ndtr(utilities - thresholds[:, -1:]).sum(axis=0)
    return np.asarray(agree / (agree + ndtr(thresholds[:, :1] - utilities).sum(axis=0)))


def draws_of(model: Any) -> list[Draw]:
    """Return all draws that are attributes of a model, those that predict and those of its rankings."""
    slopes = model.draw_slopes_
    slopes = np.zeros((len(model.draw_chains_), 0, 0)) if slopes is None else slopes
    more = (
        model.draw_chains_.tolist(),
        model.draw_shares_.tolist(),
        model.draw_shown_.tolist(),
        slopes,
        _priors(model),
    )
    return [
        Draw(
            **{part: getattr(model, name)[n] for name, (part, _) in DRAWN.items()},
            chain=chain, share=share, shown=shown, slopes=own, item_prior=prior, **_compared(model, n),
        )
        for n, (chain, share, shown, own, prior) in enumerate(zip(*more, strict=True))
    ]  # fmt: skip


def _compared(model: Any, n: int) -> dict[str, Any]:
    """What a draw of comparisons has beside others; utilities are in units in which errors and spread make up 2."""
    if model.draw_errors_ is None:
        return {}
    error = float(model.draw_errors_[n])
    spread = float(np.sqrt(1.0 - error**2 / 2.0))
    return {"error": error, "spread": spread, "keys": model.compared_keys_, "own": model.draw_own_[n]}


def _priors(model: Any) -> list[ItemPrior] | list[None]:
    """What every draw expects of items with features, where the model knows any."""
    if model.draw_score_slopes_ is None:
        return [None] * len(model.draw_chains_)
    parts = {part: getattr(model, name) for name, part in ITEM_PRIOR.items()}
    return [ItemPrior(**{part: values[n] for part, values in parts.items()}) for n in range(len(model.draw_chains_))]


def _own_utilities(draw: Draw, users: DrawnUsers, rows: Codes, items: Codes) -> Floats:
    """Utilities (n,) of items for a user, drawn where the user has said something about the item, else expected."""
    found = draw.utilities(users, rows, items)
    if users.keys is not None and users.own is not None and len(users.keys):
        wanted = rows.astype(np.int64) * len(draw.scores) + items
        at = np.minimum(np.searchsorted(users.keys, wanted), len(users.keys) - 1)
        found = np.where(users.keys[at] == wanted, users.own[at], found)
    return found


class RatedPerson(Person):
    """One person with a few answers, by a model that was fitted to ratings, votes or rankings."""

    def __init__(self, model: Any, answers: Comparisons | RatedItems, people: Floats | None = None) -> None:
        super().__init__(model, answers)  # type: ignore[arg-type]
        self._posterior, self._people = model.posterior, people

    @cached_property
    def _users(self) -> list[DrawnUsers]:
        """Draws of the person to predict with."""
        return list(self._posterior.users(self._answers, self._people))

    @cached_property
    def _draws(self) -> list[Draws]:
        weights = self._posterior.draw_weights(self._answers, self._people)[:, 0]
        return [Draws(weights, np.full(len(weights), 1.0 / len(weights)))]

    def weight_intervals(self, level: float = LEVEL) -> pl.DataFrame:
        """Return the weights with credible intervals.

        Parameters
        ----------
        level : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        polars.DataFrame
            Columns ranking (from 1), weight, lower, upper.

        Raises
        ------
        ParameterError
            If ``level`` is not between 0 and 1.
        """
        check_share("level", level)
        draws = self._draws[0]
        return weight_table(draws.mean, *draws.bounds(level))

    def rank(self) -> pl.DataFrame:
        """Rank all items for the person, best first, with intervals of the ranks.

        Returns
        -------
        polars.DataFrame
            Columns item, score, rank, lower, upper.
        """
        return self._posterior.rank(self._users, 0)

    def _by_rankings(self, left: Codes, right: Codes) -> Floats:
        rows = np.zeros(len(left), np.int32)
        return np.asarray(self._posterior.probabilities(self._users, rows, left, right))

    def _answered(self) -> list[tuple[int, int]]:
        return super()._answered() if isinstance(self._answers, Comparisons) else []
