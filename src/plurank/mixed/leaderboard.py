"""Where items stand, in a ranking and for a person, and how sure that is."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from plurank.choices import Mixing, MixingChoice
from plurank.data.encoding import look_up
from plurank.elementary import expit
from plurank.exceptions import DataError
from plurank.inference.posterior import (
    LEVEL,
    draw_user,
    place_bounds,
    weight_bounds,
)
from plurank.inference.user_effects import UserEffects, log_odds
from plurank.mixed.bradley_terry import MANY_OPPONENTS, BradleyTerry, mean_wins, win_gradients
from plurank.models.base import RankingModel, board, check_ranking, weight_table
from plurank.models.sklearn_api import check_is_fitted
from plurank.topic.orders import OrderedComponent
from plurank.types import Floats
from plurank.validation import check_share

if TYPE_CHECKING:
    from plurank.models.committee import Committee

PAIRS_AT_ONCE = 1_000_000


class ScoredRankings(RankingModel, loadable=False):
    """A model whose rankings have scores with errors, and whose users have weights with a posterior concentration."""

    mixing: MixingChoice
    scores_: Floats
    score_errors_: Floats
    score_correlations_: Floats
    user_concentration_: Floats

    @property
    @abstractmethod
    def mixing_(self) -> Mixing:
        """How rankings are mixed, as given or chosen."""

    @abstractmethod
    def _component(self) -> BradleyTerry | OrderedComponent:
        """What the rankings are."""

    def _item_scores(self, weights: Floats) -> Floats:
        if self.mixing_ == "utility":
            return mean_wins((self.scores_ @ weights)[:, None])[:, 0]
        return self._wins_by_ranking() @ weights

    def rank_person(self, weights: Floats, followed: Floats, own: UserEffects | None) -> pl.DataFrame:
        """Rank all items for one person, with what their own answers add."""
        if own is None:
            return super().rank_person(weights, followed, own)
        scores, shift = self._with_effects(
            weights, *own.table(self.known_effect_scale_ or self.user_effect_scale_ or 0.0)
        )
        frame = board(self.items_, np.argsort(-scores, kind="stable"), scores)
        return self._with_places(frame, weights, followed, shift)

    def _with_effects(self, weights: Floats, own: Floats, errors: Floats) -> tuple[Floats, tuple[Floats, Floats]]:
        """``_item_scores`` of somebody with user effects, and how far these move what ``_place_scores`` says."""
        if self.mixing_ == "utility":
            return mean_wins((self.scores_ @ weights + own)[:, None])[:, 0], (own, errors)
        before = self._item_scores(weights)
        scores = self._wins_with_effects(weights, own, before)
        return scores, (scores - before, scores * (1.0 - scores) * errors)

    def _wins_with_effects(self, weights: Floats, own: Floats, before: Floats) -> Floats:
        """P(preferred to another item), (Q,), of somebody with user effects (Q,), given what it is without; of many
        items, evenly spaced ones are the opponents."""
        component, n_items = self._component(), len(own)
        n_others = min(n_items, MANY_OPPONENTS)
        others = np.argsort(before, kind="stable")[np.linspace(0, n_items - 1, n_others).astype(int)].astype(np.int32)
        wins, step = np.empty(n_items), max(PAIRS_AT_ONCE // n_others, 1)
        for begin in range(0, n_items, step):
            items = np.arange(begin, min(begin + step, n_items), dtype=np.int32)
            left, right = np.repeat(items, n_others), np.tile(others, len(items))
            chances = component.probabilities(weights[None], np.full(1, np.inf), np.zeros_like(left), left, right)
            shifted = np.where(left == right, 0.0, expit(log_odds(chances) + own[left] - own[right]))
            met = n_others - np.isin(items, others)
            wins[items] = shifted.reshape(-1, n_others).sum(axis=1) / met
        return wins

    def _wins_by_ranking(self) -> Floats:
        """P(preferred to another item drawn at random) for every item in every ranking, (Q, K)."""
        known = self.__dict__.get("_wins")  # of these scores, or of those of an earlier fit
        if known is None or known[0] is not self.scores_:
            component = self._component()
            wins = mean_wins(self.scores_) if isinstance(component, BradleyTerry) else component.mean_wins()
            known = self._wins = (self.scores_, wins)
        wins_now: Floats = known[1]
        return wins_now

    def rank(self, user: Any = None, *, weights: Any = None) -> pl.DataFrame:
        """Rank all items for one user, best first, with intervals of the ranks.

        Parameters
        ----------
        user : label or None, default=None
            A user of the model; None ranks by the mean weights.
        weights : array-like of shape (K,) or None, default=None
            Weights of somebody else, such as a row of what ``transform`` returned; they take precedence over ``user``.

        Returns
        -------
        polars.DataFrame
            Columns item, score, rank, lower, upper. The score is the probability to be preferred to another item drawn
            at random; lower and upper bound the rank with 90% probability.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If the model does not know the user.
        ParameterError
            If the weights are not K numbers >= 0 that sum to 1.

        Examples
        --------
        >>> import plurank
        >>> made = plurank.simulate(100, 4, 1, 20, rankings=[[2, 0, 3, 1]], random_state=0)
        >>> model = plurank.MixedRanking(1, random_state=0).fit(made.comparisons)
        >>> model.rank().select("item", "rank", "lower", "upper").row(0)
        (2, 1, 1, 1)
        """
        check_is_fitted(self)
        drawn = None if user is None or weights is not None else self._rank_by_draws(user)
        if drawn is not None:
            return drawn
        followed = self.weights_of(user, weights)
        if user is None or weights is not None:
            return self.rank_person(followed, draw_user(followed, np.inf), None)
        row = int(look_up([user], self.users_, "user")[0])
        own = None if self.known_effects is None else self.known_effects.of_user(row)
        return self.rank_person(followed, draw_user(followed, float(self.user_concentration_[row])), own)

    def _rank_by_draws(self, user: Any) -> pl.DataFrame | None:  # noqa: ARG002
        """Rank all items for a known user by draws from the posterior; None for a model that has none."""
        return None

    def _place_scores(self) -> tuple[Floats, Floats, Floats]:
        if self.mixing_ == "utility":
            return self.scores_, self.score_errors_, self.score_correlations_
        wins = self._wins_by_ranking()  # what adds up is the probability to win
        return wins, win_gradients(self.scores_, wins) * self.score_errors_, self.score_correlations_

    def leaderboard(self, ranking: int = 1) -> pl.DataFrame:
        """Return one of the rankings, best item first, with intervals of the ranks.

        Parameters
        ----------
        ranking : int, default=1
            Number of the ranking, from 1; the first is followed most.

        Returns
        -------
        polars.DataFrame
            Columns item, score, rank, lower, upper; see ``rank``.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ParameterError
            If there is no such ranking.

        Examples
        --------
        >>> import plurank
        >>> made = plurank.simulate(100, 4, 1, 20, rankings=[[2, 0, 3, 1]], random_state=0)
        >>> model = plurank.MixedRanking(1, random_state=0).fit(made.comparisons)
        >>> model.leaderboard(1)["item"].to_list()
        [2, 0, 3, 1]
        """
        check_is_fitted(self)
        check_ranking(ranking, len(self.rankings_))
        k = ranking - 1
        order = self.rankings_[k]
        lower, upper = place_bounds(self.scores_[:, k], self.score_errors_[:, k], LEVEL)
        frame = board(self.items_, order, self._wins_by_ranking()[:, k])
        return frame.with_columns(lower=lower[order], upper=upper[order])

    def common_ground(self, level: float = LEVEL) -> pl.DataFrame:
        """Find the items that all camps like, dislike and dispute, with uncertainty and sample sizes.

        Nothing rests on point estimates of ranks: probabilities are those of the posterior of the scores, or of the
        shares of agree/disagree votes where the data are such votes. A camp is the users who follow the same ranking
        most; its order is that ranking or, with ``mixing="utility"``, the average mixture of its users.

        Parameters
        ----------
        level : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        polars.DataFrame
            One row per item, ordered by ``bridging``, those with few votes last: item, text, votes, people (who cast
            them), enough_votes (at least 10, of at least 5 people); label, one of "liked by all camps", "disliked by
            all camps", "contested", "same position in all rankings", "undecided" and "not enough votes"; the
            probabilities liked_by_all (for votes: at least 60% agree in every camp, and of those who dissent most
            often; otherwise: in the top third for every camp), disliked_by_all, contested (by one camp and against
            another), same_place (within a fifth of all ranks), top_third_of_all and bottom_third_of_all; worst_ranking,
            the camp that ranks the item lowest (from 1), worst_rank with worst_rank_lower and worst_rank_upper;
            bridging, that rank between 0 (last) and 1 (first), with bridging_lower and bridging_upper; for votes also
            least_agreeing, the camp that agrees least, least_agreement with bounds, its share, and the same of the camp
            that agrees most.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        ParameterError
            If ``level`` is not between 0 and 1.

        Notes
        -----
        Each list of labels is the largest one whose expected share of false entries is at most 5% (a Bayesian false
        discovery rate), of items whose own probability is at least 0.9.

        Examples
        --------
        >>> import plurank
        >>> made = plurank.simulate(200, 12, 2, comparisons_per_user=30, random_state=0)
        >>> model = plurank.MixedRanking(2, random_state=0).fit(made.comparisons)
        >>> model.common_ground().select("item", "votes", "label").height
        12
        """
        from plurank.models.consensus import common_ground

        check_is_fitted(self)
        return common_ground(self, level)

    def committee(
        self,
        size: int | None = None,
        cost: Any = None,
        budget: float | None = None,
        *,
        top: int | None = None,
        level: float = LEVEL,
    ) -> "Committee":
        """Choose a few items so that as many users as possible find one that they rank highly.

        Parameters
        ----------
        size : int or None, default=None
            The most items to choose; may be left out where there is a budget.
        cost : mapping, array-like of shape (Q,) or None, default=None
            What every item costs, by label or in the order of ``items_``.
        budget : float or None, default=None
            What all chosen items together may cost; needs ``cost``.
        top : int or None, default=None
            How many of a user's items count as ranked highly; None takes the first tenth, rounded up.
        level : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        Committee
            ``items``, ``texts``, ``share_served`` with ``lower`` and ``upper``, and ``left_out``, by camp. The best
            committee where all can be tried, otherwise a greedy one, improved by exchanges: ``guarantee`` says how much
            of the best possible coverage it has at least.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If ``cost`` lacks items.
        ParameterError
            If neither ``size`` nor ``budget`` is given, only one of ``cost`` and ``budget`` is, the cheapest item is
            beyond the budget, a number is out of range, or the model has no users.

        Examples
        --------
        >>> import plurank
        >>> made = plurank.simulate(200, 12, 2, comparisons_per_user=30, random_state=0)
        >>> model = plurank.MixedRanking(2, random_state=0).fit(made.comparisons)
        >>> chosen = model.committee(2)
        >>> len(chosen.items), chosen.guarantee
        (2, 1.0)
        """
        from plurank.models.committee import choose_items

        check_is_fitted(self)
        return choose_items(self, size, cost, budget, top, level)

    def weight_intervals(self, user: Any, level: float = LEVEL) -> pl.DataFrame:
        """Return the weights of one user of the model, with credible intervals.

        Parameters
        ----------
        user : label
            A user of the model.
        level : float, default=0.9
            Probability of the intervals.

        Returns
        -------
        polars.DataFrame
            Columns ranking (from 1), weight, lower, upper.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        DataError
            If the model does not know the user.
        ParameterError
            If ``level`` is not between 0 and 1.

        Examples
        --------
        >>> import plurank
        >>> made = plurank.simulate(100, 5, 2, 20, random_state=0)
        >>> model = plurank.MixedRanking(2, random_state=0).fit(made.comparisons)
        >>> model.weight_intervals(0).columns
        ['ranking', 'weight', 'lower', 'upper']
        """
        check_is_fitted(self)
        check_share("level", level)
        if user is None:
            raise DataError("expected a user of the model, got None.")
        row, code = self.weights_of(user, None), look_up([user], self.users_, "user")
        lower, upper = weight_bounds(row[None], self.user_concentration_[code], level, self.membership_prior)
        return weight_table(row, lower[0], upper[0])

    def _own_values(self) -> dict[str, Any]:
        return {"interval_level": LEVEL}

    def _ranking_values(self, k: int, *, items: bool) -> dict[str, Any]:
        return self.leaderboard(k + 1).select("score", "lower", "upper").to_dict(as_series=False) if items else {}

    def _item_lists(self) -> dict[str, Any]:
        # where uncertainty is known, places alone are not reported
        return {"common_ground": self.common_ground().to_dicts(), "most_divided": []}

    def _user_values(self, user: Any) -> dict[str, Any]:
        intervals = [list(row) for row in self.weight_intervals(user).select("lower", "upper").rows()]
        return {"weight_intervals": intervals, "interval_level": LEVEL}
